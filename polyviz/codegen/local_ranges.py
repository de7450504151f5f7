"""Which private variables of whole numbers C may keep in less than 64 bits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.codegen.bodies import private_name
from polyviz.codegen.dtypes import type_named
from polyviz.codegen.expressions_c import CExpressionPrinter
from polyviz.codegen.ranges import scalar_ranges
from polyviz.errors import CodegenError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from polyviz.codegen.ranges import Range
    from polyviz.model.expression import Expression, Instruction
    from polyviz.model.plan import Plan
    from polyviz.model.scop import Scop


def ranges_of_locals(
    scop: Scop, plan: Plan, types: Mapping[str, str], bodies: Mapping[str, Sequence[Instruction]]
) -> dict[str, Range]:
    """The values of the private variables of ``plan`` that take less than 64 bits, by the names of their copies."""
    names = [private_name(scop, name) for name in plan.locals]
    whole = [name for name in names if type_named(types[name]).kind in "iu"]

    def values(node: Expression, known: Mapping[str, Range]) -> Range | None:
        printer = CExpressionPrinter(types, {}, lambda element, _: element.array)
        printer.ranges = known
        try:
            return printer.value(node).values
        except CodegenError:
            # It is raised again, with its place, when the statement is printed.
            return None

    return scalar_ranges(bodies.values(), whole, values)

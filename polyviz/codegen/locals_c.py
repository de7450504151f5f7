"""Temporaries that live inside a loop: one variable, or a few cells where neighbouring iterations run together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.codegen.bodies import private_name
from polyviz.codegen.dtypes import C_TYPE_NAMES
from polyviz.codegen.loops import instances
from polyviz.codegen.ranges import narrowest
from polyviz.model.expression import Element, walk

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from polyviz.codegen.arrays_c import ArrayPrinter
    from polyviz.codegen.expressions_c import CExpressionPrinter
    from polyviz.codegen.loops import Block
    from polyviz.model.expression import Instruction
    from polyviz.model.plan import Plan
    from polyviz.model.scop import Scop


class LocalPrinter:
    """Prints what the blocks of one function declare."""

    def __init__(
        self, scop: Scop, plan: Plan, dtypes: Mapping[str, str], arrays: ArrayPrinter, printer: CExpressionPrinter
    ) -> None:
        self.scop = scop
        self.windows = {expansion.array: expansion.window for expansion in plan.expansions}
        self.dtypes = dtypes
        self.arrays = arrays
        self.printer = printer

    def declarations(self, block: Block, bodies: Mapping[str, Sequence[Instruction]]) -> list[str]:
        """A line for each private copy that ``block`` declares and that some statement in it uses."""
        used = {
            part.array
            for instance in instances(block)
            if instance.statement in bodies
            for instruction in bodies[instance.statement]
            for part in walk(instruction)
            if isinstance(part, Element)
        }
        copies = [(name, private_name(self.scop, name)) for name in block.declares]
        return [self._declaration(name, copy) for name, copy in copies if copy in used]

    def _declaration(self, name: str, copy: str) -> str:
        values = self.printer.ranges.get(copy)
        kind = C_TYPE_NAMES[self.dtypes[copy] if values is None else narrowest(values).name]
        window = self.windows.get(name, 0)
        return f"{kind} {self.arrays.identifier(copy)}{f'[{window}]' if window else ''};"

"""Statement bodies with common factors taken out of their sums, where the plan wants it and the types allow it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.codegen.bodies import planned_body
from polyviz.codegen.typing import infer
from polyviz.model.expression import Assign, Constant, Element, Expression, children
from polyviz.model.terms import factored

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from polyviz.codegen.typing import Environment
    from polyviz.model.expression import Instruction
    from polyviz.model.plan import Plan
    from polyviz.model.program import FloatingPoint
    from polyviz.model.scop import Scop


def planned_bodies(
    scop: Scop, plan: Plan, environment: Environment, floating_point: FloatingPoint
) -> dict[str, Sequence[Instruction]]:
    """The body of every statement as ``plan`` wants it: see ``planned_body``, and ``factored`` where sums may be
    reordered and everything in them is a number with a fraction, of one width: a sum of narrow cells would be rounded,
    or infinite, before a factor makes it wider."""
    bodies: dict[str, Sequence[Instruction]] = {one.name: planned_body(scop, plan, one) for one in scop.statements}
    if floating_point == "reassociate":
        for name in plan.factored:
            bodies[name] = tuple(_factored(instruction, environment) for instruction in bodies[name])
    return bodies


def _factored(instruction: Instruction, environment: Environment) -> Instruction:
    if not isinstance(instruction, Assign):
        return instruction
    types = {infer(part, environment) for part in _parts(instruction.value)}
    fits = len(types) == 1 and all(one.is_real and not one.is_integral for one in types)
    return factored(instruction) if fits else instruction


def _parts(expression: Expression) -> Iterator[Expression]:
    """``expression`` and what it is made of, but for the numbers in it and the subscripts of its cells."""
    if isinstance(expression, Constant):
        return
    yield expression
    if not isinstance(expression, Element):
        for child in children(expression):
            assert isinstance(child, Expression)
            yield from _parts(child)

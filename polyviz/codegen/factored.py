"""Statement bodies with shorter sums and without quotients, where the plan wants it and the types allow it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from polyviz.codegen.bodies import planned_body
from polyviz.codegen.cancelling import is_exact
from polyviz.codegen.quotients import with_quotients
from polyviz.codegen.typing import infer
from polyviz.model.expression import Assign, Constant, Element, Expression, children
from polyviz.model.late_terms import latest_last
from polyviz.model.reciprocals import multiplied
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
    """The body of every statement as ``plan`` wants it: see ``planned_body``, and where last bits may differ and
    everything is a number with a fraction, ``multiplied``, ``factored`` and with late terms last; quotients are as
    ``with_quotients`` has them.

    Where a last bit decides, about a whole number or about zero, perhaps in another statement, all stay as they are.

    Sums are of one width: a factor that is written as a number is one of 64 bits, and cells of 32 bits would be added
    up, and perhaps infinite, before they meet it.
    """
    bodies: dict[str, Sequence[Instruction]] = {one.name: planned_body(scop, plan, one) for one in scop.statements}
    if floating_point == "reassociate" and not is_exact(scop, environment):
        changes = [(name, multiplied, 2) for name in plan.multiplied]
        changes += [(name, factored, 1) for name in plan.factored]
        changes += [(found.statement, partial(latest_last, waits=dict(found.waits)), 2) for found in plan.late]
        for name, change, widths in changes:
            fits = [_fits(one, environment, widths) for one in bodies[name]]
            bodies[name] = tuple(change(one) if fit else one for one, fit in zip(bodies[name], fits, strict=True))
    return with_quotients(scop, bodies)


def _fits(instruction: Instruction, environment: Environment, widths: int) -> bool:
    """Whether it assigns a number with a fraction that is computed from nothing else, of so many ``widths`` at most: no
    last bit decides about a whole."""
    if not isinstance(instruction, Assign):
        return False
    types = {infer(part, environment) for part in _parts(instruction.value)}
    both = (infer(instruction.target, environment), *types)
    return len(types) <= widths and all(one.is_real and not one.is_integral for one in both)


def _parts(expression: Expression) -> Iterator[Expression]:
    """``expression`` and what it is made of, but for the numbers in it and the subscripts of its cells."""
    if isinstance(expression, Constant):
        return
    yield expression
    if not isinstance(expression, Element):
        for child in children(expression):
            assert isinstance(child, Expression)
            yield from _parts(child)

"""What expressions over iterators and sizes are as a loop goes on, but in some iterations at its ends.

``i - 1 if i > 0 else n - 1`` is ``i - 1`` where ``i - 1 >= 0``, which is every iteration but the first. isl tells
whether the others are few: none of them has many iterations before it (or behind it) in the loop.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.analysis.affine_values import affine_value
from polyviz.model.expression import (
    Binary,
    Call,
    Compare,
    Conditional,
    Constant,
    Expression,
    Logical,
    Name,
    Unary,
    children,
    rebuild,
    walk,
)
from polyviz.model.linear import linear_terms
from polyviz.model.truth import is_decided, joined

if TYPE_CHECKING:
    from polyviz.analysis.strides import Row
    from polyviz.model.expression import Node
    from polyviz.model.scop import Statement

ENDS = 4
"""Iterations at one end of a loop that may differ from the others."""
SHORTEST = 4 * ENDS
"""Loops that never have more iterations are left as they are."""
_PURE = (Binary, Call, Compare, Conditional, Constant, Logical, Name, Unary)


@dataclass
class Insider:
    """Finds what expressions of ``statement`` are in most iterations of the loop that moves ``along``.

    ``holds`` are linear expressions that are not negative in these, as found so far.
    """

    statement: Statement
    along: Row
    holds: list[Expression] = field(default_factory=list)

    def is_long(self) -> bool:
        """Whether the loop may have more than a few iterations."""
        domain = self.statement.domain
        whole = all(step.denominator == 1 for step in self.along)
        return whole and not domain.intersect(self._moved(domain, SHORTEST)).is_empty()

    def inside(self, node: Expression, *, remainders: bool) -> Expression:
        """``node`` as it is in those iterations; ``remainders``: of the remainders in it, too."""
        match node:
            case Compare((operator,), (left, right)):
                left, right = (self.inside(one, remainders=remainders) for one in (left, right))
                truth = self._truth(operator, left, right)
                return Compare((operator,), (left, right)) if truth is None else Constant(truth)
            case Call("min" | "max" as function, (left, right)):
                left, right = (self.inside(one, remainders=remainders) for one in (left, right))
                smaller = self._truth(function, left, right)
                if smaller is None:
                    return Call(function, (left, right))
                return left if smaller == (function == "min") else right
            case Conditional(condition, body, otherwise):
                return self._chosen(condition, body, otherwise, remainders=remainders)
            case Logical(operator, operands):
                return joined(operator, tuple(self.inside(one, remainders=remainders) for one in operands))
            case Binary("%", value, Name(modulus)) if remainders:
                return self._remainder(self.inside(value, remainders=True), modulus)
            case Unary("not", operand) if is_decided(found := self.inside(operand, remainders=remainders)):
                return Constant(found == Constant(False))

        def inside(part: Node) -> Node:
            assert isinstance(part, Expression)
            return self.inside(part, remainders=remainders)

        rebuilt = rebuild(node, inside)
        assert isinstance(rebuilt, Expression)
        return rebuilt

    def _chosen(
        self, condition: Expression, body: Expression, otherwise: Expression, *, remainders: bool
    ) -> Expression:
        decided = self.inside(condition, remainders=remainders)
        if is_decided(decided) and _is_whole(body) and _is_whole(otherwise):
            # What is not chosen asks nothing of the iterations.
            return self.inside(body if decided == Constant(True) else otherwise, remainders=remainders)
        return Conditional(decided, *(self.inside(one, remainders=remainders) for one in (body, otherwise)))

    def _remainder(self, value: Expression, modulus: str) -> Expression:
        terms = linear_terms(value)
        if terms is None or modulus in self.statement.iterators or self._motion(value) != 1:
            return Binary("%", value, Name(modulus))
        self.holds += [value, Binary("-", Name(modulus), Binary("+", value, Constant(1)))]
        return value

    def _truth(self, operator: str, left: Expression, right: Expression) -> bool | None:
        """What a comparison says in most iterations, None where that may be either; for ``min`` and ``max`` whether the
        first is not greater, or else the second is not."""
        for truth, hold in _cases(operator, left, right):
            motion = self._motion(hold)
            if abs(motion) == 1 and self._fails_at_an_end(hold, int(motion)):
                self.holds.append(hold)
                return truth
        return None

    def _motion(self, value: Expression) -> Fraction:
        """By how much a linear ``value`` changes from one iteration to the next; 0 for what is not linear."""
        changes = dict(zip(self.statement.iterators, self.along, strict=True))
        terms = linear_terms(value) or {}
        return sum((changes.get(name, Fraction(0)) * factor for name, factor in terms.items()), Fraction(0))

    def _fails_at_an_end(self, hold: Expression, motion: int) -> bool:
        """Whether ``hold``, which grows by ``motion``, is negative in a few iterations of the loop at most."""
        value = affine_value(self.statement, hold)
        if value is None:
            return False
        domain = self.statement.domain
        fails = domain.intersect(isl.Set.from_basic_set(value.neg_basic_set()))
        return bool(fails.intersect(self._moved(domain, motion * ENDS)).is_empty())

    def _moved(self, instances: isl.Set, count: int) -> isl.Set:
        """``instances`` that many iterations further on."""
        shift = isl.MultiAff.identity(instances.get_space().map_from_set())
        for position, step in enumerate(self.along):
            moved = shift.get_aff(position).add_constant_val(isl.Val(int(step) * count))
            shift = shift.set_aff(position, moved)
        return instances.apply(isl.Map.from_multi_aff(shift))


def is_of_names(node: Node) -> bool:
    """Whether ``node`` is made of iterators, sizes and numbers alone."""
    return all(isinstance(part, _PURE) for part in walk(node))


def _is_whole(node: Expression) -> bool:
    """Whether ``node`` is a whole number of 64 bits, whichever of its values it has."""
    match node:
        case Constant(value):
            return isinstance(value, int) and not isinstance(value, bool)
        case Name():
            return True
        case Conditional(_, body, otherwise):
            return _is_whole(body) and _is_whole(otherwise)
        case Unary("-" | "+") | Binary("+" | "-" | "*" | "//" | "%") | Call("min" | "max"):
            return all(isinstance(part, Expression) and _is_whole(part) for part in children(node))
    return False


def _cases(operator: str, left: Expression, right: Expression) -> list[tuple[bool, Expression]]:
    """What a comparison can say, each with what is not negative where it does."""
    if linear_terms(left) is None or linear_terms(right) is None:
        return []
    more, less = Binary("-", left, right), Binary("-", right, left)
    above, below = (Binary("-", one, Constant(1)) for one in (more, less))
    match operator:
        case "<":
            return [(True, below), (False, more)]
        case "<=":
            return [(True, less), (False, above)]
        case ">":
            return [(True, above), (False, less)]
        case ">=":
            return [(True, more), (False, below)]
        case "min" | "max":
            return [(True, less), (False, more)]
        case "==":
            return [(False, above), (False, below)]
        case "!=":
            return [(True, above), (True, below)]
    return []

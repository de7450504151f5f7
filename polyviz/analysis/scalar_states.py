"""Sets of values that the whole numbers of a program may have at a point of it, as isl sets over these numbers.

A state is a set with one dimension per scalar; iterators of the loops around and sizes are its parameters. Whatever is
not linear is taken as anything. Numbers are computed in 64 bits: a value is followed only where it cannot grow by more
than a size in each step, so that it does not wrap around before a program has run for years.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from itertools import pairwise
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.analysis.affine_values import sum_of
from polyviz.model.expression import (
    Binary,
    Call,
    Compare,
    Constant,
    Element,
    Expression,
    Logical,
    Name,
    Unary,
    rebuild,
)
from polyviz.model.linear import added, linear_terms, scaled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from polyviz.model.expression import Node
    from polyviz.model.linear import Terms

_SET = isl.dim_type.set
_PARAMETER = isl.dim_type.param
_SMALL = 2**40
_WEIGHT = 4
"""Up to how many small numbers are added up."""
_NEGATED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
_COMPARED: dict[str, Callable[[isl.PwAff, isl.PwAff], isl.Set]] = {
    "<": isl.PwAff.lt_set,
    "<=": isl.PwAff.le_set,
    ">": isl.PwAff.gt_set,
    ">=": isl.PwAff.ge_set,
    "==": isl.PwAff.eq_set,
    "!=": isl.PwAff.ne_set,
}


@dataclass(frozen=True, slots=True)
class States:
    """The states over ``scalars``, in the order of the dimensions of ``space``; ``sizes`` are the parameters that are
    lengths of arrays.

    >>> space = isl.Space.create_from_names(isl.DEFAULT_CONTEXT, set=["j"], params=["n"])
    >>> states = States(("j",), space, ("n",))
    >>> falling = states.where(isl.Set.universe(space), Compare((">=",), (Element("j"), Constant(0))), holds=True)
    >>> print(states.assigned(falling, "j", Binary("-", Element("j"), Constant(1))))
    [n] -> { [j] : j >= -1 }
    """

    scalars: tuple[str, ...]
    space: isl.Space
    sizes: tuple[str, ...]

    def value(self, node: Expression) -> isl.PwAff | None:
        """What ``node`` is in each state; None where that is not linear."""
        node = self._named(node)
        if (terms := linear_terms(node)) is not None:
            found = sum_of(terms, self.space, self.scalars)
            return None if found is None else isl.PwAff.from_aff(found)
        match node:
            case Binary("+" | "-" as operator, left, right):
                ends = self.value(left), self.value(right)
                if ends[0] is None or ends[1] is None:
                    return None
                return ends[0].add(ends[1]) if operator == "+" else ends[0].sub(ends[1])
            case Binary("//" | "%" as operator, left, Constant(int(divisor))) if divisor > 0:
                whole = self.value(left)
                if whole is None:
                    return None
                quotient = whole.scale_down_val(isl.Val(divisor)).floor()
                return quotient if operator == "//" else whole.sub(quotient.scale_val(isl.Val(divisor)))
            case Call("int", (inner,)):
                return self.value(inner)
            case Call("min" | "max" as function, arguments):
                values = [self.value(one) for one in arguments]
                known = [one for one in values if one is not None]
                join = isl.PwAff.min if function == "min" else isl.PwAff.max
                return reduce(join, known) if len(known) == len(values) else None
        return None

    def where(self, state: isl.Set, condition: Expression, *, holds: bool) -> isl.Set:
        """The states in ``state`` in which ``condition`` may be true, or false."""
        match condition:
            case Constant(bool(truth)):
                return state if truth == holds else isl.Set.empty(self.space)
            case Unary("not", operand):
                return self.where(state, operand, holds=not holds)
            case Logical(operator, operands):
                return self._joined(state, operands, all_of=(operator == "and") == holds, holds=holds)
            case Compare(operators, operands):
                pairs = zip(operators, pairwise(operands), strict=True)
                parts = [self._compared(operator, *pair, holds=holds) for operator, pair in pairs]
                if holds:
                    return reduce(isl.Set.intersect, parts, state)
                return reduce(isl.Set.union, (state.intersect(part) for part in parts))
        return state

    def _joined(
        self, state: isl.Set, operands: tuple[Expression, ...], *, all_of: bool, holds: bool
    ) -> isl.Set:
        """Where all operands are as ``holds`` says, or one is and those before it are not."""
        found = isl.Set.empty(self.space)
        for operand in operands:
            if not all_of:
                found = found.union(self.where(state, operand, holds=holds))
            state = self.where(state, operand, holds=holds == all_of)
        return state if all_of else found.coalesce()

    def _compared(self, operator: str, left: Expression, right: Expression, *, holds: bool) -> isl.Set:
        ends = self.value(left), self.value(right)
        name = operator if holds else _NEGATED.get(operator, "")
        if ends[0] is None or ends[1] is None or name not in _COMPARED:
            return isl.Set.universe(self.space)
        return _COMPARED[name](ends[0], ends[1])

    def assigned(self, state: isl.Set, scalar: str, value: Expression) -> isl.Set:
        """The states after ``scalar = value`` in ``state``; nothing changes where it is none of the scalars."""
        if scalar not in self.scalars:
            return state
        found = self.value(value) if self._grows_slowly(value, state) else None
        if found is None:
            return self.forgotten(state, (scalar,))
        everything = isl.MultiPwAff.from_multi_aff(isl.MultiAff.identity_on_domain_space(self.space))
        return state.apply(isl.Map.from_multi_pw_aff(everything.set_pw_aff(self.scalars.index(scalar), found)))

    def forgotten(self, state: isl.Set, scalars: tuple[str, ...]) -> isl.Set:
        """``state`` without what is known of ``scalars``."""
        for scalar in self.scalars:
            if scalar in scalars:
                state = state.eliminate(_SET, self.scalars.index(scalar), 1)
        return state

    def differences(self, condition: Expression) -> Iterator[isl.PwAff]:
        """The two sides of the comparisons in ``condition``, one taken from the other."""
        match condition:
            case Unary("not", operand):
                yield from self.differences(operand)
            case Logical(_, operands):
                for operand in operands:
                    yield from self.differences(operand)
            case Compare(_, operands):
                for left, right in pairwise(operands):
                    ends = self.value(left), self.value(right)
                    if ends[0] is not None and ends[1] is not None:
                        yield ends[0].sub(ends[1])

    def _grows_slowly(self, value: Expression, state: isl.Set) -> bool:
        """Whether ``value`` is no sum of values that might all be large."""
        terms, divisor = self._quotient(value)
        if terms is None:
            parts: tuple[Expression, ...] = ()
            match value:
                case Binary("%", left, Constant()):
                    parts = (left,)
                case Call("min" | "max", arguments):
                    parts = arguments
            return bool(parts) and all(self._grows_slowly(part, state) for part in parts)
        own = {name: number for name, number in terms.items() if name in self.scalars and number}
        if not own:
            return True
        others = {name for name, number in terms.items() if name and number} - own.keys()
        weight = sum(Fraction(abs(number), divisor) for number in own.values())
        if weight > _WEIGHT or not others.issubset(self.sizes):
            return False
        return (len(own) == 1 and weight <= 1) or all(self._is_small(state, name) for name in own)

    def _quotient(self, value: Expression) -> tuple[Terms | None, int]:
        """The linear combination and the number that ``value`` is the quotient of: ``low + (high - low) // 2`` is
        ``(low + high) // 2``."""
        node = self._named(value)
        match node:
            case Call("int", (inner,)):
                return self._quotient(inner)
            case Binary("//", left, Constant(int(divisor))) if divisor > 0:
                return linear_terms(left), divisor
            case Binary("+", left, Binary("//", right, Constant(int(divisor)))) if divisor > 0:
                return added(scaled(linear_terms(left), divisor), linear_terms(right)), divisor
        return linear_terms(node), 1

    def _is_small(self, state: isl.Set, scalar: str) -> bool:
        """Whether ``scalar`` is at most the length of an array, and no large number below zero."""
        own = self._of({scalar: 1})
        if not state.intersect(own.lt_set(self._of({"": -_SMALL}))).is_empty():
            return False
        above = own.gt_set(self._of({"": _SMALL}))
        within = [above.intersect(own.gt_set(self._of({size: 1}))) for size in self.sizes]
        return any(bool(state.intersect(outside).is_empty()) for outside in (above, *within))

    def _of(self, terms: Terms) -> isl.PwAff:
        found = sum_of(terms, self.space, self.scalars)
        assert found is not None
        return isl.PwAff.from_aff(found)

    def _named(self, node: Expression) -> Expression:
        """``node`` with names in the place of the scalars."""

        def named(part: Node) -> Node:
            if isinstance(part, Element) and part.array in self.scalars and not part.subscripts:
                return Name(part.array)
            return rebuild(part, named)

        found = named(node)
        assert isinstance(found, Expression)
        return found

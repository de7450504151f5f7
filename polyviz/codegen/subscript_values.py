"""What whole numbers a subscript can be, from the values of what it is made of.

Bounds of the arithmetic as numba does it on 64 bits: sums, differences and products are right whatever the signs,
since they wrap around together; whatever depends on the sign of a number is followed only where none is negative.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from polyviz.codegen.ranges import chosen_range, computed_range, joined, within
from polyviz.model.expression import Binary, Call, Compare, Conditional, Constant, Element, Name, Unary, walk

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from polyviz.codegen.ranges import Range
    from polyviz.model.expression import Expression

LARGEST = 2**62
"""Numbers beyond this are left alone: sums of them might wrap around."""

RealRange = tuple[float, float]
"""The least and the greatest value of what need not be whole."""
SLACK = 2.0**-40
"""What each operation between numbers in double precision is trusted to be off by, relative to its result: far more
than it rounds, in whatever order it is done."""
_MADE_WHOLE: dict[str, Callable[[float], int]] = {"int": math.trunc, "math.floor": math.floor, "math.ceil": math.ceil}

Facts = frozenset[tuple["Expression", "Expression", int]]
"""Pairs ``(greater, lesser, least)`` with ``greater - lesser >= least``."""


@dataclass(frozen=True, slots=True)
class SubscriptValues:
    """The values of expressions from those of names (iterators, parameters, whole scalars), of array elements, and of
    ``reals``, scalars that need not be whole.

    >>> values = SubscriptValues({"c": (0, 9)}, {"w": (1, 5)})
    >>> weight = Element("w", (Name("i"),))
    >>> values.of(Binary("-", Name("c"), weight))
    (-5, 8)
    >>> values.of(Binary("-", Name("c"), weight), facts_of(Compare(("<=",), (weight, Name("c")))))
    (0, 8)
    >>> values.of(Call("int", (Binary("*", Name("c"), Constant(0.7)),)))
    (0, 6)
    """

    names: Mapping[str, Range]
    elements: Mapping[str, Range] = field(default_factory=dict)
    reals: Mapping[str, RealRange] = field(default_factory=dict)

    def of(self, node: Expression, facts: Facts = frozenset()) -> Range | None:
        """The least and the greatest value of ``node`` where ``facts`` hold; None where they are not known."""
        found = self._found(node, facts)
        return found if within(found, (-LARGEST, LARGEST)) else None

    def _found(self, node: Expression, facts: Facts) -> Range | None:
        match node:
            case Constant(bool()):
                return None
            case Constant(int(value)):
                return value, value
            case Name(name) | Element(name, ()):
                return self.names.get(name)
            case Element(array):
                return self.elements.get(array)
            case Unary("-", operand):
                return computed_range("-", (0, 0), self.of(operand, facts))
            case Binary("//" | "%" as operator, left, right):
                return _divided(operator, self.of(left, facts), self.of(right, facts))
            case Binary(operator, left, right):
                found = computed_range(operator, self.of(left, facts), self.of(right, facts))
                return _at_least(found, node, facts)
            case Call():
                return self._called(node, facts)
            case Conditional(_, body, otherwise):
                return joined((self.of(body, facts), self.of(otherwise, facts)))
        return None

    def _called(self, node: Call, facts: Facts) -> Range | None:
        match node:
            case Call("min" | "max" as function, (left, right)):
                ranges = self.of(left, facts), self.of(right, facts)
                return chosen_range(function, *ranges) if all(map(_not_negative, ranges)) else None
            case Call(function, (operand,)) if function in _MADE_WHOLE:
                ends, rounded = self.real(operand), _MADE_WHOLE[function]
                return None if ends is None else (rounded(ends[0]), rounded(ends[1]))
        return None

    def real(self, node: Expression) -> RealRange | None:
        """The least and the greatest value of ``node``, computed in double precision; None where they are not known."""
        whole = self.of(node)
        if whole is not None:
            return _widened(whole)
        match node:
            case Constant(float(value)):
                return _widened((value,))
            case Element(name, ()):
                return self.reals.get(name)
            case Unary("-", operand):
                return _computed("-", (0.0, 0.0), self.real(operand))
            case Binary(operator, left, right):
                return _computed(operator, self.real(left), self.real(right))
        return None


def facts_of(condition: Expression) -> Facts:
    """What a comparison of two numbers tells of their difference."""
    match condition:
        case Compare((operator,), (left, right)):
            match operator:
                case "<=" | "<":
                    return frozenset({(right, left, int(operator == "<"))})
                case ">=" | ">":
                    return frozenset({(left, right, int(operator == ">"))})
    return frozenset()


def steady_facts(facts: Facts, written: frozenset[str]) -> Facts:
    """Those of ``facts`` that stay true whatever happens between the comparison and its use."""
    return frozenset(fact for fact in facts if not _mentions(fact[0], written) and not _mentions(fact[1], written))


def _mentions(node: Expression, arrays: frozenset[str]) -> bool:
    return any(isinstance(part, Element) and part.array in arrays for part in walk(node))


def _at_least(found: Range | None, node: Binary, facts: Facts) -> Range | None:
    """``found`` without what a fact about the difference ``node`` rules out."""
    if found is None or node.operator != "-":
        return found
    told = [least for greater, lesser, least in facts if (greater, lesser) == (node.left, node.right)]
    least = max(told, default=None)
    return found if least is None or least > found[1] else (max(found[0], least), found[1])


def _divided(operator: str, left: Range | None, right: Range | None) -> Range | None:
    if left is None or right is None or left[0] < 0 or right[0] <= 0:
        return None
    if operator == "//":
        return left[0] // right[1], left[1] // right[0]
    return 0, min(left[1], right[1] - 1)


def _computed(operator: str, left: RealRange | None, right: RealRange | None) -> RealRange | None:
    """The values of ``left operator right``, which lie between those at the ends; None where they are not known."""
    if left is None or right is None or (operator == "/" and right[0] <= 0 <= right[1]):
        return None
    pairs = [(one, other) for one in left for other in right]
    match operator:
        case "+":
            return _widened([one + other for one, other in pairs])
        case "-":
            return _widened([one - other for one, other in pairs])
        case "*":
            return _widened([one * other for one, other in pairs])
        case "/":
            return _widened([one / other for one, other in pairs])
    return None


def _widened(values: Sequence[float]) -> RealRange | None:
    """All of ``values``, with what they may be off by; None for numbers too large to be made whole."""
    low, high = min(values), max(values)
    if low < -LARGEST or high > LARGEST or math.isnan(low + high):
        return None
    return low - abs(low) * SLACK, high + abs(high) * SLACK


def _not_negative(values: Range | None) -> bool:
    return values is not None and values[0] >= 0

"""How large the numbers in subscripts and bounds of kernels can be, so that 32 bits are used where they are enough.

Every printed number is bounded by ``scale * M + constant``, where M is the largest size of a call: of its parameters,
extents, host loops, and of the cells from the first to the last one of an array. The host compares that with 2^31.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING

from polyviz.model.device_program import IndexBound
from polyviz.model.expression import (
    Binary,
    Call,
    Compare,
    Conditional,
    Constant,
    Element,
    Expression,
    Logical,
    Name,
    Node,
    Unary,
    children,
    rebuild,
)
from polyviz.model.linear import linear_terms

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

WIDE = "wide "
"""What the names of iterators begin with where they are numbers of the user's arithmetic, which has 64 bits."""


@dataclass(frozen=True, slots=True)
class Magnitude:
    """At most ``scale * M + constant``, whatever the sign."""

    scale: Fraction = Fraction(0)
    constant: int = 0

    def __add__(self, other: Magnitude) -> Magnitude:
        return Magnitude(self.scale + other.scale, self.constant + other.constant)

    def times(self, factor: int) -> Magnitude:
        """The product with a number.

        >>> Magnitude(Fraction(1), 2).times(-3)
        Magnitude(scale=Fraction(3, 1), constant=6)
        """
        return Magnitude(self.scale * abs(factor), self.constant * abs(factor))

    def over(self, divisor: int) -> Magnitude:
        """The quotient, rounded to either side."""
        return Magnitude(self.scale / abs(divisor), ceil(Fraction(self.constant, abs(divisor))) + 1)


SIZE = Magnitude(Fraction(1))


def largest(found: Iterable[Magnitude]) -> Magnitude:
    """A bound for all of them.

    >>> largest([Magnitude(Fraction(1), 0), Magnitude(Fraction(0), 5)])
    Magnitude(scale=Fraction(1, 1), constant=5)
    """
    known = list(found)
    return Magnitude(
        max((one.scale for one in known), default=Fraction(0)),
        max((one.constant for one in known), default=0),
    )


class IndexWidth:
    """Watches what one kernel computes with iterators, whose magnitudes ``known`` holds; ``bound`` is for all of it."""

    def __init__(self, known: Mapping[str, Magnitude]) -> None:
        self.known = dict(known)
        self._largest: Magnitude | None = SIZE

    @property
    def bound(self) -> IndexBound | None:
        """The bound, None where something has none that is known."""
        found = self._largest
        return None if found is None else IndexBound(ceil(found.scale), found.constant)

    def note(self, node: Expression) -> Magnitude | None:
        """The magnitude of ``node``, which counts; names that are not known have 64 bits and count nothing."""
        found = self._of(node)
        self._count(found)
        return found

    def _count(self, found: Magnitude | None) -> None:
        self._largest = None if found is None or self._largest is None else largest([self._largest, found])

    def note_subscripts(self, node: Node) -> None:
        """Let the linear subscripts inside ``node`` count."""
        if isinstance(node, Element):
            for subscript in node.subscripts:
                if is_narrow(subscript):
                    self.note(subscript)
        for child in children(node):
            self.note_subscripts(child)

    def name(self, name: str, *values: Expression, beyond: int = 0) -> None:
        """``name`` lies between ``values``, or ``beyond`` further."""
        found = [self.note(value) for value in values]
        sure = [one for one in found if one is not None]
        if len(sure) == len(found):
            self.known[name] = largest(sure) + Magnitude(constant=beyond)

    def _of(self, node: Expression) -> Magnitude | None:
        match node:
            case Constant(int(value)):
                return Magnitude(constant=abs(value))
            case Name(name):
                return self.known.get(name, Magnitude())
            case Unary(_, operand):
                return self._of(operand)
            case Binary(operator, left, right):
                return self._binary(operator, left, right)
            case Call("min" | "max", operands) | Compare(_, operands) | Logical(_, operands):
                return self._all(operands)
            case Conditional(condition, body, otherwise):
                return self._all((condition, body, otherwise))
        return None

    def _all(self, nodes: Iterable[Expression]) -> Magnitude | None:
        found = [self._of(node) for node in nodes]
        sure = [one for one in found if one is not None]
        return largest(sure) if len(sure) == len(found) else None

    def _binary(self, operator: str, left: Expression, right: Expression) -> Magnitude | None:
        sides = self._of(left), self._of(right)
        if sides[0] is None or sides[1] is None:
            return None
        match operator, left, right:
            case ("+" | "-", _, _):
                return sides[0] + sides[1]
            case ("*", _, Constant(int(factor))):
                return sides[0].times(factor)
            case ("*", Constant(int(factor)), _):
                return sides[1].times(factor)
            case ("//", _, Constant(int(divisor))) if divisor:
                self._count(sides[0])
                return sides[0].over(divisor)
            case ("%", _, Constant(int(divisor))) if divisor:
                self._count(sides[0])
                return Magnitude(constant=abs(divisor))
        return None


def is_narrow(subscript: Expression) -> bool:
    """Whether ``subscript`` is a sum of multiples of names, so that its numbers are as small as itself.

    >>> is_narrow(Binary("*", Constant(2), Name("i"))), is_narrow(Binary("*", Name("i"), Name("j")))
    (True, False)
    """
    return linear_terms(subscript) is not None


def widened(node: Node, spelled: Callable[[str], None]) -> Node:
    """``node`` with other names for the integers that are not in subscripts; ``spelled`` is told of each.

    >>> found = widened(Binary("*", Name("i"), Element("A", (Name("i"),))), print)
    i
    >>> found.left, found.right.subscripts
    (Name(name='wide i'), (Name(name='i'),))
    """
    if isinstance(node, Name):
        spelled(node.name)
        return Name(f"{WIDE}{node.name}")
    if isinstance(node, Element) and all(map(is_narrow, node.subscripts)):
        return node
    return rebuild(node, lambda part: widened(part, spelled))


def narrowed(node: Expression) -> Expression:
    """``node`` with the names that its integers have without ``widened``.

    >>> narrowed(widened(Binary("+", Name("i"), Constant(1)), len))
    Binary(operator='+', left=Name(name='i'), right=Constant(value=1))
    """
    if isinstance(node, Name):
        return Name(node.name.removeprefix(WIDE))
    found = rebuild(node, lambda part: narrowed(part) if isinstance(part, Expression) else part)
    assert isinstance(found, Expression)
    return found

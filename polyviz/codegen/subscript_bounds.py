"""Between which values a subscript lies that does not move evenly: it was clamped, or is a remainder or a small number.

``min(max(int(x[i]), 0), n - 2)`` is at least the smaller of 0 and ``n - 2``, and at most ``n - 2``, whatever ``x`` is.
Where these are in range, so is every subscript of the loop.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from polyviz.codegen.block_place import expression_of
from polyviz.codegen.ranges import range_of
from polyviz.codegen.wraps import replaced
from polyviz.model.expression import Assign, Binary, Branch, Call, Constant, Element, Expression, Name, walk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from polyviz.codegen.dtypes import Type
    from polyviz.model.expression import Instruction

MOST_VALUES = 4
"""Values that bound one subscript on one side; more of them would take longer to test than they save."""
_LONGEST = 64
"""Parts of an expression that is put in the place of a variable."""
_FEW_BITS = 16
"""Numbers of so many bits have bounds that an array may well be made for, as a table for the values of a pixel."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """A whole number is at least the smallest of ``least`` and at most the largest of ``greatest``; where one of them
    is empty, nothing is known of that side."""

    least: tuple[Expression, ...]
    greatest: tuple[Expression, ...]

    @property
    def known(self) -> bool:
        """Whether both sides are."""
        return bool(self.least and self.greatest)


UNKNOWN = Bounds((), ())


def bounds_of(
    node: Expression,
    ends: Mapping[str, tuple[Expression, Expression]],
    fixed: frozenset[Expression],
    dtype_of: Callable[[Element], Type | None],
) -> Bounds:
    """The bounds of ``node`` in loops whose variables have the ``ends``, and in which ``fixed`` elements stay the same.

    >>> clamped = Call("min", (Call("max", (Element("k"), Constant(0))), Name("last")))
    >>> bounds_of(clamped, {}, frozenset(), lambda element: None)
    Bounds(least=(Constant(value=0), Name(name='last')), greatest=(Name(name='last'),))
    """

    def inside(part: Expression) -> Bounds:
        return bounds_of(part, ends, fixed, dtype_of)

    match node:
        case Constant(int() as value) if not isinstance(value, bool):
            return Bounds((node,), (node,))
        case Name(name):
            first, last = ends.get(name, (node, node))
            return Bounds((first,), (last,))
        case Element() if node in fixed:
            return Bounds((node,), (node,))
        case Element():
            return _of_few_bits(dtype_of(node))
        case Binary("+" | "-" | "*" as operator, left, right):
            return _computed(operator, inside(left), inside(right))
        case Binary("%", _, right):
            return _remainder(inside(right))
        case Binary("&", _, Constant(int() as mask)) if mask >= 0:
            return Bounds((Constant(0),), (Constant(mask),))
        case Call("min" | "max" as function, arguments) if len(arguments) > 1:
            return _chosen(function, [inside(argument) for argument in arguments])
    return UNKNOWN


def _of_few_bits(scalar: Type | None) -> Bounds:
    if scalar is None or not scalar.is_integral or scalar.bits > _FEW_BITS:
        return UNKNOWN
    values = range_of(scalar)
    return UNKNOWN if values is None else Bounds((Constant(values[0]),), (Constant(values[1]),))


def _computed(operator: str, left: Bounds, right: Bounds) -> Bounds:
    """The bounds of a sum, a difference or a product: those of a product are among all products of bounds."""
    if operator == "*":
        if not (left.known and right.known):
            return UNKNOWN
        every = _pairs(operator, (*left.least, *left.greatest), (*right.least, *right.greatest))
        return Bounds(every, every)
    low, high = (right.least, right.greatest) if operator == "+" else (right.greatest, right.least)
    return Bounds(_pairs(operator, left.least, low), _pairs(operator, left.greatest, high))


def _pairs(operator: str, left: Sequence[Expression], right: Sequence[Expression]) -> tuple[Expression, ...]:
    made = dict.fromkeys(_binary(operator, *pair) for pair in product(dict.fromkeys(left), dict.fromkeys(right)))
    return tuple(made) if len(made) <= MOST_VALUES else ()


def _binary(operator: str, left: Expression, right: Expression) -> Expression:
    match operator, left, right:
        case _, Constant(int(first)), Constant(int(second)):
            return Constant({"+": first + second, "-": first - second, "*": first * second}[operator])
        case "+" | "-", _, Constant(0):
            return left
    return Binary(operator, left, right)


def _remainder(divisor: Bounds) -> Bounds:
    """The bounds of a remainder, which has the sign of its divisor."""
    if not divisor.known:
        return UNKNOWN
    ends = tuple(_binary("-", value, Constant(1)) for value in divisor.greatest)
    below = () if all(_is_positive(value) for value in divisor.least) else divisor.least
    return Bounds((Constant(0), *below), (Constant(0), *ends))


def _is_positive(value: Expression) -> bool:
    return isinstance(value, Constant) and isinstance(value.value, int) and value.value > 0


def _chosen(function: str, arguments: Sequence[Bounds]) -> Bounds:
    """The bounds of ``min`` or ``max``: one side is that of any of them, the other needs them all."""
    if function == "min":
        return Bounds(
            _all([part.least for part in arguments]), _any([part.greatest for part in arguments])
        )
    return Bounds(_any([part.least for part in arguments]), _all([part.greatest for part in arguments]))


def _all(sides: Sequence[tuple[Expression, ...]]) -> tuple[Expression, ...]:
    values = tuple(dict.fromkeys(value for side in sides for value in side))
    return values if all(sides) and len(values) <= MOST_VALUES else ()


def _any(sides: Sequence[tuple[Expression, ...]]) -> tuple[Expression, ...]:
    """The shortest of those that are known; the last of these, since what is clamped is written first."""
    known = [side for side in reversed(sides) if side]
    return min(known, key=len) if known else ()


def written_out_subscripts(
    body: Sequence[Instruction], defined: dict[Expression, Expression]
) -> Iterator[tuple[Element, Element]]:
    """The elements in ``body``, each with what it is where variables in its subscripts stand for their values.

    ``defined`` has the values of variables before the body, and afterwards those behind it.
    """
    for line in body:
        if isinstance(line, Branch):
            yield from _in_branch(line, defined)
            continue
        yield from _elements(walk(line), defined)
        if isinstance(line, Assign) and not line.target.subscripts:
            _define(line, defined)


def _in_branch(line: Branch, defined: dict[Expression, Expression]) -> Iterator[tuple[Element, Element]]:
    yield from _elements(walk(line.condition), defined)
    for part in (line.then, line.otherwise):
        yield from written_out_subscripts(part, dict(defined))
    for node in walk(line):
        if isinstance(node, Assign):
            defined.pop(node.target, None)


def _elements(nodes: Iterator[object], defined: Mapping[Expression, Expression]) -> Iterator[tuple[Element, Element]]:
    for node in nodes:
        if isinstance(node, Element):
            subscripts = tuple(expression_of(replaced(subscript, defined)) for subscript in node.subscripts)
            yield node, Element(node.array, subscripts, node.affine, node.span)


def _define(line: Assign, defined: dict[Expression, Expression]) -> None:
    written = expression_of(replaced(line.assigned, defined))
    defined.pop(line.target, None)
    if sum(1 for _ in walk(written)) <= _LONGEST:
        defined[line.target] = written

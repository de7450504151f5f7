"""What whole numbers an expression can have, as far as the types of its operands tell.

numba computes with 64 bits whatever the operands are. Eight cells of ``int8`` add up to a number that 16 bits hold, and
a vector has room for four times as many of those: where no intermediate value can leave a narrow type, C may compute in
it, and a private variable may be of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from polyviz.codegen.dtypes import BOOL, INT8, INT16, INT32, INT64, UINT8, Type
from polyviz.codegen.typing import assignments
from polyviz.model.expression import Element, walk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from polyviz.model.expression import Assign, Expression, Instruction

Range = tuple[int, int]
"""The least and the greatest value."""

EXACT_IN_DOUBLES: Range = (-(2**53), 2**53)
"""Whole numbers that compare as doubles as they do as whole numbers."""


def range_of(scalar: Type) -> Range | None:
    """All values of a whole type; None for other types.

    >>> range_of(INT8)
    (-128, 127)
    """
    if scalar == BOOL:
        return 0, 1
    if not scalar.is_integral:
        return None
    limits = np.iinfo(scalar.name)
    return int(limits.min), int(limits.max)


def within(inner: Range | None, outer: Range | None) -> bool:
    """Whether all values of ``inner`` are known and in ``outer``."""
    return inner is not None and outer is not None and outer[0] <= inner[0] and inner[1] <= outer[1]


def joined(ranges: Iterable[Range | None]) -> Range | None:
    """A range with all values of ``ranges``; None where one of them is not known."""
    found = list(ranges)
    known = [part for part in found if part is not None]
    if not known or len(known) < len(found):
        return None
    return min(low for low, _ in known), max(high for _, high in known)


def computed_range(operator: str, left: Range | None, right: Range | None) -> Range | None:
    """The values of ``left operator right`` without wrapping; None where they are not known.

    >>> computed_range("-", (0, 255), (0, 255))
    (-255, 255)
    """
    if left is None or right is None:
        return None
    (a, b), (c, d) = left, right
    match operator:
        case "+":
            return a + c, b + d
        case "-":
            return a - d, b - c
        case "*":
            products = (a * c, a * d, b * c, b * d)
            return min(products), max(products)
    return None


def absolute_range(values: Range | None) -> Range | None:
    """The absolute values of ``values``."""
    if values is None:
        return None
    low, high = values
    return max(low, -high, 0), max(abs(low), abs(high))


def chosen_range(function: str, left: Range | None, right: Range | None) -> Range | None:
    """The values of ``min`` or ``max`` of two numbers.

    >>> chosen_range("min", (0, 2040), (255, 255))
    (0, 255)
    """
    if left is None or right is None:
        return None
    choose = min if function == "min" else max
    return choose(left[0], right[0]), choose(left[1], right[1])


def narrowest(values: Range | None) -> Type:
    """The smallest type that holds ``values``; a signed one, but for bytes, with which C computes as with ``int``.

    >>> narrowest((-300, 5)).name, narrowest((0, 255)).name, narrowest(None).name
    ('int16', 'uint8', 'int64')
    """
    return next((scalar for scalar in (INT8, UINT8, INT16, INT32) if within(values, range_of(scalar))), INT64)


def scalar_ranges(
    bodies: Iterable[Sequence[Instruction]],
    names: Iterable[str],
    value_range: Callable[[Expression, Mapping[str, Range]], Range | None],
) -> dict[str, Range]:
    """The values of the variables among ``names`` that take less than 64 bits.

    ``value_range`` tells the values of an expression from those of the variables that are known. A variable that is
    computed from itself is left alone.
    """
    assigned = [one for body in bodies for one in assignments(body)]
    sources = {name: [one for one in assigned if one.target.array == name] for name in names}
    own = {name: ones for name, ones in sources.items() if ones and not any(map(_is_update, ones))}
    found: dict[str, Range] = {}
    while True:
        tried = {
            name: joined(value_range(one.value, found) for one in ones)
            for name, ones in own.items()
            if name not in found
        }
        known = {name: values for name, values in tried.items() if values and narrowest(values) != INT64}
        if not known:
            return found
        found.update(known)


def _is_update(assign: Assign) -> bool:
    """Whether ``assign`` computes a variable from itself."""
    name = assign.target.array
    return assign.operator is not None or any(
        isinstance(part, Element) and part.array == name for part in walk(assign.value)
    )

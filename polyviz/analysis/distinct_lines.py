"""How many lines of memory a tile of a loop nest touches, and which loop saves most when it runs longer.

The distinct lines model, in the form that Shirako, Hayashi, Sarkar use (CC 2017, section 4.2), with a closed formula
per group of uniformly generated references. A line stands for one memory transaction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.model.isl_callbacks import pieces_of
from polyviz.model.superposition import LineCost

if TYPE_CHECKING:
    from collections.abc import Iterable

    from polyviz.model.scop import Access, Statement

LINE_ELEMENTS = 32
"""Elements per transaction: 128 bytes of single precision."""
TILE = 32
"""The trip count at which costs are compared."""
_STEP = Fraction(1, 1024)
"""Half the width of the central difference, in iterations."""

Sizes = Sequence[int | Fraction]

Subscript = tuple[tuple[int, ...], tuple[int, ...], int]
"""Coefficients of the iterators, coefficients of the parameters, constant."""


@dataclass(frozen=True, slots=True)
class ReferenceGroup:
    """References to one array whose subscripts differ in constants only.

    ``coefficients`` per dimension of the array and iterator; ``spread`` per dimension the range of the constants.
    """

    array: str
    coefficients: tuple[tuple[int, ...], ...]
    spread: tuple[int, ...]

    def lines(self, sizes: Sizes, line_elements: int) -> Fraction:
        """The lines touched by ``sizes`` iterations of each loop.

        >>> group = ReferenceGroup("A", ((1, 0), (0, 1)), (0, 0))
        >>> group.lines((32, 32), 32)
        Fraction(63, 1)
        """
        ranges = [
            1 + sum(abs(factor) * (size - 1) for factor, size in zip(row, sizes, strict=True)) + spread
            for row, spread in zip(self.coefficients, self.spread, strict=True)
        ]
        return prod(ranges[:-1]) * Fraction(ranges[-1] + line_elements - 1, line_elements)


def line_cost(statement: Statement, tile: int = TILE, line_elements: int = LINE_ELEMENTS) -> LineCost:
    """The cost of ``statement`` when every loop around it runs ``tile`` iterations.

    References that are no affine functions count as one line per iteration; scalars count nothing.
    """
    model = _Model(statement, line_elements)
    sizes = [tile] * len(statement.iterators)
    derivatives = {
        iterator: model.derivative(sizes, place) for place, iterator in enumerate(statement.iterators)
    }
    contiguous = model.contiguous()
    # Of equals the innermost: it is where the source already runs along memory.
    best = min(reversed(contiguous), key=derivatives.__getitem__, default=None)
    return LineCost(
        statement.name, tile, model.lines(sizes), model.memory_cost(sizes), derivatives, contiguous, best
    )


class _Model:
    """The cost of one statement as a function of trip counts."""

    def __init__(self, statement: Statement, line_elements: int) -> None:
        self._statement = statement
        self._line_elements = line_elements
        self._groups, self._scattered = reference_groups(statement)

    def lines(self, sizes: Sizes) -> Fraction:
        """The distinct lines of all references."""
        total = sum((group.lines(sizes, self._line_elements) for group in self._groups), Fraction(0))
        return total + self._scattered * prod(sizes)

    def memory_cost(self, sizes: Sizes) -> Fraction:
        """Lines per iteration."""
        return self.lines(sizes) / prod(sizes)

    def derivative(self, sizes: Sizes, place: int) -> Fraction:
        """How the cost changes with the trip count of one loop: the central difference."""
        longer = [size + _STEP * (position == place) for position, size in enumerate(sizes)]
        shorter = [size - _STEP * (position == place) for position, size in enumerate(sizes)]
        return (self.memory_cost(longer) - self.memory_cost(shorter)) / (2 * _STEP)

    def contiguous(self) -> tuple[str, ...]:
        """The iterators in the last subscript of some reference."""
        iterators = self._statement.iterators
        return tuple(
            name
            for place, name in enumerate(iterators)
            if any(group.coefficients[-1][place] for group in self._groups)
        )


def reference_groups(statement: Statement) -> tuple[tuple[ReferenceGroup, ...], int]:
    """The array references of ``statement`` by group, and how many references have no affine subscripts."""
    found: dict[tuple[object, ...], list[tuple[Subscript, ...]]] = {}
    scattered = 0
    for access in _arrays_only(statement.accesses):
        subscripts = _subscripts(access)
        if subscripts is None:
            scattered += 1
            continue
        key = (access.array, tuple((iterators, parameters) for iterators, parameters, _ in subscripts))
        found.setdefault(key, []).append(subscripts)
    return tuple(_group(str(key[0]), members) for key, members in found.items()), scattered


def _group(array: str, members: Sequence[tuple[Subscript, ...]]) -> ReferenceGroup:
    coefficients = tuple(iterators for iterators, _, _ in members[0])
    constants = [[constant for _, _, constant in subscripts] for subscripts in members]
    spread = tuple(max(column) - min(column) for column in zip(*constants, strict=True))
    return ReferenceGroup(array, coefficients, spread)


def _arrays_only(accesses: Iterable[Access]) -> Iterable[Access]:
    return (access for access in accesses if access.relation.dim(isl.dim_type.out) > 0)


def _subscripts(access: Access) -> tuple[Subscript, ...] | None:
    """The subscripts as integer rows; None for an access that is no single affine function."""
    if not access.exact or not access.relation.is_single_valued():
        return None
    pieces = [piece for _, piece in pieces_of(isl.PwMultiAff.from_map(access.relation))]
    if len(pieces) != 1:
        return None
    return tuple(
        _subscript(pieces[0].get_aff(place)) for place in range(access.relation.dim(isl.dim_type.out))
    )


def _subscript(function: isl.Aff) -> Subscript:
    def row(kind: isl.dim_type) -> tuple[int, ...]:
        return tuple(
            int(function.get_coefficient_val(kind, place).get_num_si()) for place in range(function.dim(kind))
        )

    return row(isl.dim_type.in_), row(isl.dim_type.param), int(function.get_constant_val().get_num_si())

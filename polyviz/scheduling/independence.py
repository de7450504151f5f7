"""New rows must add something: linear independence of the rows that a node already has."""

from __future__ import annotations

from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyviz.scheduling.rows import AffineRow

Vector = tuple[int, ...]


def rank(rows: Sequence[Vector]) -> int:
    """The number of linearly independent vectors among ``rows``.

    >>> rank([(1, 0), (2, 0)])
    1
    """
    return len(_echelon(rows))


def complement(rows: Sequence[Vector], size: int) -> list[Vector]:
    """Vectors that are orthogonal to ``rows``; a row is dependent on ``rows`` when it is orthogonal to all of them.

    >>> complement([(1, 0, 0)], 3)
    [(0, 1, 0), (0, 0, 1)]
    >>> complement([(1, 1)], 2)
    [(1, -1)]
    """
    echelon = _echelon(rows)
    free = [column for column in range(size) if column not in echelon]
    basis = []
    for column in free:
        vector = [Fraction(0)] * size
        vector[column] = Fraction(1)
        for pivot, row in echelon.items():
            vector[pivot] = -row[column]
        basis.append(_integers(vector))
    return basis


def spread(rows: Sequence[Vector]) -> int:
    """How many points with whole coordinates there are for each that independent ones of ``rows`` give an iteration.

    >>> spread([(1, 0), (3, 1)])
    1
    >>> spread([(1, 0), (3, 2)])
    2
    """
    chosen: list[Vector] = []
    for row in rows:
        if rank([*chosen, row]) > len(chosen):
            chosen.append(row)
    columns = [list(column) for column in zip(*chosen, strict=True)]
    result = 1
    for place in range(len(chosen)):
        columns.sort(key=lambda column: (column[place] == 0, abs(column[place])))
        while len(columns) > 1 and columns[1][place]:
            least = columns[0]
            for column in columns[1:]:
                times = column[place] // least[place]
                column[:] = [value - times * other for value, other in zip(column, least, strict=True)]
            columns.sort(key=lambda column: (column[place] == 0, abs(column[place])))
        result *= abs(columns.pop(0)[place])
    return result


def iterator_rows(rows: Sequence[AffineRow]) -> list[Vector]:
    """The iterator coefficients of ``rows``."""
    return [row.iterators for row in rows]


def _echelon(rows: Sequence[Vector]) -> dict[int, list[Fraction]]:
    """Reduced row echelon form: pivot column to row."""
    echelon: dict[int, list[Fraction]] = {}
    for row in rows:
        rest = [Fraction(value) for value in row]
        for pivot, known in echelon.items():
            if rest[pivot]:
                rest = [value - rest[pivot] * other for value, other in zip(rest, known, strict=True)]
        column = next((place for place, value in enumerate(rest) if value), None)
        if column is None:
            continue
        new = [value / rest[column] for value in rest]
        for pivot, known in echelon.items():
            if factor := known[column]:
                echelon[pivot] = [value - factor * other for value, other in zip(known, new, strict=True)]
        echelon[column] = new
    return echelon


def _integers(vector: list[Fraction]) -> Vector:
    scale = lcm(*(value.denominator for value in vector))
    sign = 1 if next(value for value in vector if value) > 0 else -1
    return tuple(int(value * scale) * sign for value in vector)

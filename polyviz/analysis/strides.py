"""How each access moves through memory when one scheduled loop advances.

The linear parts of schedule rows and subscripts are small integer matrices; moving along one row while all others stay
put is a direction in the iteration space, and the subscripts' change along it says how local the access is.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

import islpy as isl

from polyviz.model.isl_callbacks import pieces_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyviz.model.scop import Access, Statement

Row = tuple[Fraction, ...]
Locality = Literal["temporal", "unit", "strided"]


@dataclass(frozen=True, slots=True)
class AccessMotion:
    """An access and its subscripts' change per step of one loop (one number per dimension of the array)."""

    access: Access
    change: Row

    @property
    def locality(self) -> Locality:
        """``temporal``: the same cell; ``unit``: a neighbour in the last dimension; ``strided``: elsewhere."""
        if not any(self.change):
            return "temporal"
        if not any(self.change[:-1]) and abs(self.change[-1]) == 1:
            return "unit"
        return "strided"


def statement_rows(rows: isl.MultiUnionPwAff, statement: Statement) -> list[Row]:
    """The linear part, over the statement's iterators, of each row of a partial schedule."""
    return [statement_row(rows.get_at(position), statement) for position in range(rows.dim(isl.dim_type.out))]


def statement_row(row: isl.UnionPwAff, statement: Statement) -> Row:
    """The linear part of one schedule row over the statement's iterators; zeros where it has no value."""
    count = len(statement.iterators)
    pieces = row.intersect_domain(isl.UnionSet.from_set(statement.domain)).get_pw_aff_list()
    return _first_piece(pieces.get_at(0), count) if pieces.n_pw_aff() else (Fraction(0),) * count


def access_rows(access: Access, count: int) -> list[Row] | None:
    """The linear part of each subscript over ``count`` iterators; None for an access that is not a function."""
    rows = _access_rows(access.relation, count)
    return None if rows is None else [*rows]


@lru_cache(maxsize=1024)  # every loop of a candidate order asks for them again
def _access_rows(relation: isl.Map, count: int) -> tuple[Row, ...] | None:
    if not relation.is_single_valued() or relation.is_empty():
        return None
    subscripts = isl.PwMultiAff.from_map(relation)
    rank = relation.dim(isl.dim_type.out)
    return tuple(_first_piece(subscripts.get_pw_aff(position), count) for position in range(rank))


def motions(
    statement: Statement, rows: Sequence[Row], member: int, *, parts: bool = False
) -> list[AccessMotion] | None:
    """The motion of every array access of ``statement`` when row ``member`` of its complete ``rows`` advances by one.

    With ``parts`` subscripts that are told apart move as what they are made of, of which the last walks through memory;
    otherwise they have no motion. None when the row cannot advance on its own (the statement does not move in that
    loop).

    >>> identity = [(Fraction(1), Fraction(0)), (Fraction(0), Fraction(1))]
    >>> direction(identity, 1)
    (Fraction(0, 1), Fraction(1, 1))
    """
    along = direction(rows, member)
    if along is None:
        return None
    result = []
    for access in statement.accesses:
        cells = access.apart if parts and access.apart is not None else access.relation
        subscripts = _access_rows(cells, len(statement.iterators)) if cells.dim(isl.dim_type.out) else None
        if subscripts is not None:
            change = tuple(_dot(subscript, along) for subscript in subscripts)
            result.append(AccessMotion(access, change))
    return result


def direction(rows: Sequence[Row], member: int) -> Row | None:
    """The step in the iteration space that advances row ``member`` by one and leaves all other rows alone.

    None when the rows do not determine it: the member depends on the others.
    """
    return _direction(tuple(rows), member)


@lru_cache(maxsize=512)
def _direction(rows: tuple[Row, ...], member: int) -> Row | None:
    if not rows or not any(rows[member]):
        return None
    others = [row for position, row in enumerate(rows) if position != member]
    basis = _reduced(others)
    if not any(_remainder(rows[member], basis)):
        return None
    system = [*((row, Fraction(0)) for row in basis), (rows[member], Fraction(1))]
    return _solve(system, len(rows[member]))


def rank(rows: Sequence[Row]) -> int:
    """The number of linearly independent rows.

    >>> rank([(Fraction(1), Fraction(2)), (Fraction(2), Fraction(4))])
    1
    """
    return len(_reduced(rows))


def _first_piece(affine: isl.PwAff, count: int) -> Row:
    for _, piece in pieces_of(affine):
        values = [piece.get_coefficient_val(isl.dim_type.in_, position) for position in range(count)]
        return tuple(Fraction(value.get_num_si(), value.get_den_val().get_num_si()) for value in values)
    return (Fraction(0),) * count


def _dot(left: Row, right: Row) -> Fraction:
    return sum((one * other for one, other in zip(left, right, strict=True) if one and other), Fraction(0))


def _reduced(rows: Sequence[Row]) -> list[Row]:
    """Row echelon form without zero rows."""
    basis: list[Row] = []
    for row in rows:
        remainder = _remainder(row, basis)
        if any(remainder):
            basis.append(remainder)
    return basis


def _remainder(row: Row, basis: Sequence[Row]) -> Row:
    """What the rows of ``basis``, each zero where those before it begin, leave of ``row``."""
    for known in basis:
        pivot = next(position for position, value in enumerate(known) if value)
        if row[pivot]:
            factor = row[pivot] / known[pivot]
            row = tuple(value - factor * base if base else value for value, base in zip(row, known, strict=True))
    return row


def _solve(system: Sequence[tuple[Row, Fraction]], count: int) -> Row:
    """One solution of independent equations ``row . x = value``, free unknowns at zero."""
    rows = [[*list(row), value] for row, value in system]
    pivots: list[int] = []
    for position in range(len(rows)):
        pivot = next(column for column in range(count) if rows[position][column])
        scale = rows[position][pivot]
        if scale != 1:
            rows[position] = [value / scale for value in rows[position]]
        for other in range(len(rows)):
            if other != position and rows[other][pivot]:
                factor = rows[other][pivot]
                rows[other] = [
                    value - factor * base if base else value
                    for value, base in zip(rows[other], rows[position], strict=True)
                ]
        pivots.append(pivot)
    solution = [Fraction(0)] * count
    for position, pivot in enumerate(pivots):
        solution[pivot] = rows[position][count]
    return tuple(solution)

"""The order of the source as scattering functions, and what is left of it inside loops that are already chosen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.analysis.loop_kinds import Term
from polyviz.analysis.times import times_by_statement
from polyviz.model.isl_callbacks import pieces_of
from polyviz.model.superposition import Dimension
from polyviz.transform.tree import row_texts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from polyviz.model.scop import Scop

Moment = int | Term | str
"""One entry of a time: a constant, a single iterator, or the text of another affine function."""


@dataclass(frozen=True, slots=True)
class SourceOrder:
    """The times of all statements in the order of the source, one entry per dimension of time."""

    times: Mapping[str, tuple[Moment, ...]]
    iterators: Mapping[str, tuple[str, ...]]

    @classmethod
    def of(cls, scop: Scop) -> SourceOrder:
        """The order in which ``scop`` was written."""
        times = times_by_statement(scop.schedule.get_map())
        return cls(
            {name: _moments(time) for name, time in times.items()},
            {statement.name: statement.iterators for statement in scop.statements},
        )

    def remaining(
        self, names: Sequence[str], known: Sequence[Mapping[str, Term]]
    ) -> dict[str, tuple[Dimension, ...]]:
        """The order of ``names`` inside loops with the rows ``known``, ending in a scalar.

        An entry is left out where all statements agree on it, or where a known row already fixes it for all.
        """
        found = self._remaining(tuple(names), 0, known)
        return {name: _with_end(dimensions) for name, dimensions in found.items()}

    def _remaining(
        self, names: tuple[str, ...], position: int, known: Sequence[Mapping[str, Term]]
    ) -> dict[str, tuple[Dimension, ...]]:
        if position == self._length:
            return dict.fromkeys(names, ())
        entries = {name: self.times[name][position] for name in names}
        constants = {entry for entry in entries.values() if isinstance(entry, int)}
        if len(constants) > 1 and all(isinstance(entry, int) for entry in entries.values()):
            return self._split(entries, sorted(constants), position, known)
        below = self._remaining(names, position + 1, known)
        if _is_fixed(entries, known):
            return below
        return {name: (self._dimension(name, entries[name]), *below[name]) for name in names}

    def _split(
        self,
        entries: Mapping[str, Moment],
        constants: Sequence[int],
        position: int,
        known: Sequence[Mapping[str, Term]],
    ) -> dict[str, tuple[Dimension, ...]]:
        found: dict[str, tuple[Dimension, ...]] = {}
        for number, constant in enumerate(constants):
            here = tuple(name for name, entry in entries.items() if entry == constant)
            place = Dimension("scalar", str(number))
            below = self._remaining(here, position + 1, known)
            found.update({name: (place, *dimensions) for name, dimensions in below.items()})
        return found

    @property
    def _length(self) -> int:
        return len(next(iter(self.times.values()), ()))

    def _dimension(self, name: str, entry: Moment) -> Dimension:
        if isinstance(entry, Term):
            return Dimension("loop", entry.text(self.iterators[name]))
        return Dimension("loop", str(entry))


def _with_end(dimensions: tuple[Dimension, ...]) -> tuple[Dimension, ...]:
    """A scalar ends the function, which one that tells statements apart does by itself."""
    if dimensions and dimensions[-1].kind == "scalar":
        return dimensions
    return (*dimensions, Dimension("scalar", "0"))


def _is_fixed(entries: Mapping[str, Moment], known: Sequence[Mapping[str, Term]]) -> bool:
    """Whether equal values of some known row make all ``entries`` equal."""
    if all(isinstance(entry, int) for entry in entries.values()):
        return True
    return any(_agrees(entries, row) for row in known)


def _agrees(entries: Mapping[str, Moment], row: Mapping[str, Term]) -> bool:
    """Whether the entries are the row itself, in one direction and with one shift for all statements."""
    differences = set()
    for name, entry in entries.items():
        if not isinstance(entry, Term) or entry.iterator != row[name].iterator:
            return False
        direction = entry.sign * row[name].sign
        differences.add((direction, entry.shift - direction * row[name].shift))
    return len(differences) == 1


def _moments(time: isl.Map) -> tuple[Moment, ...]:
    functions = isl.MultiUnionPwAff.from_union_map(isl.UnionMap.from_map(time))
    name = time.get_tuple_name(isl.dim_type.in_) or ""
    return tuple(_moment(functions.get_at(place), name) for place in range(time.dim(isl.dim_type.out)))


def _moment(row: isl.UnionPwAff, name: str) -> Moment:
    pieces = pieces_of(row.get_pw_aff_list().get_at(0))
    simple = _simple(pieces[0][1]) if len(pieces) == 1 else None
    return row_texts(row)[name] if simple is None else simple


def _simple(function: isl.Aff) -> Moment | None:
    """A constant or a single iterator; None for any other function."""
    if function.dim(isl.dim_type.div) or any(_coefficients(function, isl.dim_type.param)):
        return None
    constant, factors = (
        int(function.get_constant_val().to_python()),
        _coefficients(function, isl.dim_type.in_),
    )
    moving = [place for place, factor in enumerate(factors) if factor]
    if not moving:
        return constant
    if len(moving) == 1 and abs(factors[moving[0]]) == 1:
        return Term(moving[0], factors[moving[0]], constant)
    return None


def _coefficients(function: isl.Aff, kind: isl.dim_type) -> list[int]:
    return [int(function.get_coefficient_val(kind, place).to_python()) for place in range(function.dim(kind))]

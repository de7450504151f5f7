"""Scattering functions as an isl schedule tree: scalars become sequences, loops become bands.

Block loops, thread loops and sequential loops stand in bands of their own. Dimensions that the loops around already fix
make no loop.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import takewhile
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.model.superposition import Dimension, affine_function

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from polyviz.model.superposition import Scattering

TILE, POINT = "tile", "point"
_END = Dimension("scalar", "0")
_Rows = tuple[tuple[str, Dimension], ...]


def tree_of(domain: isl.UnionSet, scatterings: Mapping[str, Scattering]) -> isl.Schedule:
    """The order of ``scatterings`` over ``domain`` as a tree.

    Tiled dimensions stand under a mark ``tile``, what is inside them under a mark ``point``. A reduction that would
    add up out of order stays with the loops that follow it.

    >>> tree = tree_of(isl.UnionSet("{ S[i] : 0 <= i < 9 }"), {"S": (Dimension("loop", "i", tile=4),)})
    >>> print(tree.get_root().child(0).child(0).band_get_partial_schedule())
    [{ S[i] -> [(floor((i)/4))] }]
    """
    parts = domain.get_set_list()
    sets = {part.get_tuple_name(): part for part in map(parts.get_at, range(parts.n_set()))}
    usable = {name: tuple(dimension for dimension in scatterings[name] if dimension.ordered) for name in sets}
    node = isl.Schedule.from_domain(domain).get_root().child(0)
    return (
        _Planter(sets, usable)
        .plant(node, tuple(name for name in scatterings if name in sets), 0)
        .get_schedule()
    )


@dataclass(slots=True)
class _Planter:
    domains: Mapping[str, isl.Set]
    scatterings: Mapping[str, Scattering]
    _fixed: list[_Rows] = field(default_factory=list)
    _tiled: bool = False

    def plant(self, node: isl.ScheduleNode, names: tuple[str, ...], position: int) -> isl.ScheduleNode:
        """``node`` with everything from dimension ``position`` on below it; the result stands where ``node`` stood."""
        if all(position >= len(self.scatterings[name]) for name in names):
            return node
        rows = self._rows(names, position)
        if all(dimension.kind == "scalar" for _, dimension in rows):
            return self._sequence(node, rows, position)
        if self._is_fixed(rows):
            return self.plant(node, names, position + 1)
        return self._band(node, names, position)

    def _rows(self, names: Sequence[str], position: int) -> _Rows:
        return tuple(
            (name, self.scatterings[name][position] if position < len(self.scatterings[name]) else _END)
            for name in names
        )

    def _is_fixed(self, rows: _Rows) -> bool:
        """Whether an outer loop without tiles has the same value for all statements."""
        return any(
            all(dict(known)[name].expression == dimension.expression for name, dimension in rows)
            for known in self._fixed
        )

    def _sequence(self, node: isl.ScheduleNode, rows: _Rows, position: int) -> isl.ScheduleNode:
        values = sorted({int(dimension.expression) for _, dimension in rows})
        if len(values) == 1:
            return self.plant(node, tuple(name for name, _ in rows), position + 1)
        branches = [
            tuple(name for name, dimension in rows if int(dimension.expression) == value) for value in values
        ]
        filters = isl.UnionSetList.alloc(isl.DEFAULT_CONTEXT, len(branches))
        for branch in branches:
            filters = filters.add(self._universe(branch))
        sequence = node.insert_sequence(filters)
        for place, branch in enumerate(branches):
            inner = _Planter(self.domains, self.scatterings, list(self._fixed))
            sequence = inner.plant(sequence.child(place).child(0), branch, position + 1).parent().parent()
        return sequence

    def _band(self, node: isl.ScheduleNode, names: tuple[str, ...], position: int) -> isl.ScheduleNode:
        members = self._members(names, position)
        tiles = members[0][0][1].tile is not None
        marked = TILE if tiles else POINT if self._tiled else ""
        self._tiled = tiles
        if not tiles:
            self._fixed += members
        band = node.insert_partial_schedule(self._partial(names, members))
        band = self.plant(band.child(0), names, position + len(members)).parent()
        return band.insert_mark(isl.Id(marked)) if marked else band

    def _members(self, names: tuple[str, ...], position: int) -> list[_Rows]:
        """The dimensions from ``position`` on that belong into one band."""
        length = max(len(self.scatterings[name]) for name in names)
        rows = [self._rows(names, place) for place in range(position, length)]
        kind = _band_kind(rows[0])
        return list(takewhile(lambda here: _band_kind(here) == kind and not self._is_fixed(here), rows))

    def _partial(self, names: tuple[str, ...], members: Sequence[_Rows]) -> isl.MultiUnionPwAff:
        functions = isl.UnionPwAffList.alloc(isl.DEFAULT_CONTEXT, len(members))
        for member in members:
            texts = dict(member)
            row = isl.UnionPwAff.empty(self.domains[names[0]].get_space().params())
            for name in names:
                row = row.union_add(affine_function(self.domains[name], texts[name].tiled_expression))
            functions = functions.add(row)
        space = self.domains[names[0]].get_space().params().set_from_params()
        return isl.MultiUnionPwAff.from_union_pw_aff_list(
            space.add_dims(isl.dim_type.set, len(members)), functions
        )

    def _universe(self, names: Sequence[str]) -> isl.UnionSet:
        whole = isl.UnionSet.from_set(self.domains[names[0]])
        for name in names[1:]:
            whole = whole.union(isl.UnionSet.from_set(self.domains[name]))
        return isl.UnionSet.universe(whole)


def _band_kind(rows: _Rows) -> tuple[str, str, bool]:
    """What must be equal for dimensions to share a band."""
    loop = next((dimension for _, dimension in rows if dimension.kind == "loop"), None)
    return ("scalar", "", False) if loop is None else ("loop", loop.role, loop.tile is not None)

"""Tiles of read-only arrays in shared memory: what the threads of a block read more than once is copied once.

Source: Verdoolaege et al., *Polyhedral parallel code generation for CUDA* (TACO 2013), section 5: footprints of a
tile as boxes, and a test for reuse. The first sequential loop of a thread is cut into tiles; before each, all threads
of the block copy.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from math import prod
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.mapping.gpu_space import floor_of, remainder_of, thread_instances, with_value
from polyviz.model.device import DeviceBarrier, DeviceKernel, PromotedArray, PromotedTiles, coordinate
from polyviz.model.isl_limits import at_most
from polyviz.model.schedule import Decision

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from polyviz.model.scop import Scop, Statement

TILE = 32
"""Iterations of the sequential loop that share one copy."""
TILE_PARAMETER = coordinate("tile", "0")
"""The parameter for the first iteration of a tile."""
BUDGET = 48 * 1024
"""Bytes of shared memory that a block may use on every device without asking."""
_CELL = 8
_OPERATIONS = 200_000
"""What isl may spend on one kernel."""
_COPY, _COPIED, _RUN, _USED = range(4)
_BEFORE, _OWN, _AFTER = range(3)


def promoted(scop: Scop, kernel: DeviceKernel) -> tuple[DeviceKernel, list[Decision]]:
    """``kernel`` with tiles of what its first fitting statement reads in shared memory, and why or why not."""
    decisions: list[Decision] = []
    try:
        with at_most(_OPERATIONS):
            return _first_fitting(scop, kernel, decisions), decisions
    except isl.Error:
        text = "arrays stay in global memory: isl would need too long to find their tiles"
        return kernel, [Decision("promotion", text, kernel.statements)]


def _first_fitting(scop: Scop, kernel: DeviceKernel, decisions: list[Decision]) -> DeviceKernel:
    for name in kernel.statements:
        found = _Promotion(scop, kernel, scop.statement(name), decisions).result()
        if found is not None:
            return found
    return kernel


@dataclass(frozen=True, slots=True)
class _Promotion:
    scop: Scop
    kernel: DeviceKernel
    statement: Statement
    decisions: list[Decision]

    @property
    def _name(self) -> str:
        return self.statement.name

    def result(self) -> DeviceKernel | None:
        """The kernel with the tiles; None where the statement does not fit."""
        row = self._sequential_row()
        places = self._places() if row is not None else None
        if row is None or places is None:
            return None
        tile = floor_of(row, TILE).apply_range(isl.Map(f"{{ [v] -> [{TILE}v] }}"))
        arrays = self._within_budget(tuple(self._arrays(row, tile)))
        return self._rebuilt(tile, places, arrays) if arrays else None

    def _own(self) -> isl.Set:
        """What one thread runs of the statement."""
        kernel = self.kernel
        return thread_instances(
            kernel.instances[self._name], self._name, kernel.blocks, kernel.threads, kernel.points
        )

    def _sequential_row(self) -> isl.Map | None:
        """The first value of a thread's time that changes; None where blocks do not fix where threads are."""
        kernel = self.kernel
        fixed = {point.thread for point in kernel.points if self._name in point.statements}
        if (
            not fixed
            or {axis.axis for axis in kernel.threads} != fixed
            or any(t.statement == self._name for t in kernel.trees)
        ):
            return None
        order = kernel.order[self._name]
        for place in range(kernel.uniform, order.dim(isl.dim_type.out)):
            value = _component(order, place)
            values = value.intersect_domain(self._own()).range()
            if not values.lexmin().is_equal(values.lexmax()):
                return value
        return None

    def _places(self) -> dict[str, int] | None:
        """Whether each other statement of a thread comes before or after the whole loop; None when neither."""
        kernel = self.kernel
        places = {self._name: _OWN}
        for other in kernel.statements:
            if other == self._name:
                continue
            own, theirs = (
                kernel.order[name].intersect_domain(kernel.instances[name]) for name in (self._name, other)
            )
            same = self._prefix(self._name).apply_range(self._prefix(other).reverse())
            pairs = same.intersect_domain(self._own()).intersect_range(
                thread_instances(kernel.instances[other], other, kernel.blocks, kernel.threads, kernel.points)
            )
            before = pairs.intersect(own.lex_gt_map(theirs))
            after = pairs.intersect(own.lex_lt_map(theirs))
            if not before.is_empty() and not after.is_empty():
                return None
            places[other] = _BEFORE if after.is_empty() else _AFTER
        return places

    def _prefix(self, name: str) -> isl.Map:
        order = self.kernel.order[name]
        uniform = self.kernel.uniform
        return order.project_out(isl.dim_type.out, uniform, order.dim(isl.dim_type.out) - uniform)

    def _arrays(self, row: isl.Map, tile: isl.Map) -> Iterator[PromotedArray]:
        written = {
            access.array
            for name in self.kernel.statements
            for access in self.scop.statement(name).accesses
            if access.kind == "write"
        }
        read = [access.array for access in self.statement.accesses if access.kind == "read"]
        for array in dict.fromkeys(read):
            if array not in written and self.scop.array(array).rank:
                found = self._footprint(array, row, tile)
                if found is not None:
                    yield found

    def _footprint(self, array: str, row: isl.Map, tile: isl.Map) -> PromotedArray | None:
        """The box of cells that a block reads of ``array`` in one tile; None where it has no fixed size."""
        relation = self._access(array)
        if relation is None:
            return None
        kernel = self.kernel
        universe = isl.Set.universe(self.statement.domain.get_space())
        block = thread_instances(universe, self._name, kernel.blocks, (), ())
        for number, rows in enumerate(kernel.host):
            block = block.intersect(with_value(rows[self._name], coordinate("host", str(number))).domain())
        iterations = isl.Map(f"{{ [v] -> [t] : t <= v < t + {TILE} }}")
        inside = block.intersect(with_value(row.apply_range(iterations), TILE_PARAMETER).domain())
        box = inside.apply(relation)
        lower: list[isl.PwAff] = []
        extents: list[int] = []
        for axis in range(box.dim(isl.dim_type.set)):
            found = _side(box, axis)
            if found is None or self._room < len(extents):
                self._decide(
                    array, "stays in global memory: what a block reads in a tile is no box of fixed size"
                )
                return None
            lower.append(found[0])
            extents.append(found[1])
        return self._worthwhile(array, relation, tile, tuple(lower), tuple(extents))

    @property
    def _room(self) -> int:
        """How many values of the time there are for the subscripts of a copy."""
        return int(self.kernel.order[self._name].dim(isl.dim_type.out)) - self.kernel.uniform - 1

    def _access(self, array: str) -> isl.Map | None:
        """All reads of ``array``, whatever the domain; None where one is not exact."""
        reads = [one for one in self.statement.accesses if one.kind == "read" and one.array == array]
        if not all(one.exact for one in reads):
            return None
        return reduce(isl.Map.union, (one.relation.gist_domain(self.statement.domain) for one in reads))

    def _worthwhile(
        self,
        array: str,
        relation: isl.Map,
        tile: isl.Map,
        lower: tuple[isl.PwAff, ...],
        extents: tuple[int, ...],
    ) -> PromotedArray | None:
        reads = self.kernel.threads_per_block * TILE
        cells = prod(extents)
        if reads <= cells:
            self._decide(array, f"stays in global memory: a tile has {cells} cells and is read {reads} times")
            return None
        times = self._prefix(self._name).flat_range_product(tile)
        domain = self.kernel.instances[self._name]
        block = thread_instances(domain, self._name, self.kernel.blocks, (), ())
        cells_of_tile = times.intersect_domain(block).reverse().apply_range(relation)
        reason = f"{cells} cells of a tile are read {reads} times by the threads of a block"
        return PromotedArray(array, extents, lower, cells_of_tile, reason)

    def _within_budget(self, arrays: tuple[PromotedArray, ...]) -> tuple[PromotedArray, ...]:
        kept, left = [], BUDGET
        for one in sorted(arrays, key=lambda found: prod(found.extents)):
            size = _CELL * prod(one.extents)
            if size > left:
                self._decide(
                    one.array, f"stays in global memory: its tile of {size} bytes is over the budget"
                )
                continue
            left -= size
            kept.append(one)
            box = " x ".join(map(str, one.extents))
            self._decide(one.array, f"a tile of {box} cells lives in shared memory: {one.reason}")
        return tuple(kept)

    def _decide(self, array: str, text: str) -> None:
        self.decisions.append(Decision("promotion", f"{array} {text}", (self._name,)))

    def _rebuilt(
        self, tile: isl.Map, places: Mapping[str, int], arrays: tuple[PromotedArray, ...]
    ) -> DeviceKernel:
        kernel = self.kernel
        uniform = kernel.uniform
        order = {
            name: _spread(old, uniform, places[name], tile if name == self._name else None)
            for name, old in kernel.order.items()
        }
        zeros = (0, 0, 0)
        barriers = tuple(replace(one, times=_widened(one.times, uniform, zeros)) for one in kernel.barriers)
        trees = tuple(
            replace(
                one,
                begin=_widened(one.begin, uniform, zeros),
                join=_widened(one.join, uniform, zeros),
                finish_order=_spread(one.finish_order, uniform, 0, None),
            )
            for one in kernel.trees
        )
        times = self._prefix(self._name).flat_range_product(tile)
        every = kernel.instances[self._name].apply(times)
        length = order[self._name].dim(isl.dim_type.out)
        waits = tuple(
            DeviceBarrier(f"{label}{kernel.number}", _tile_times(every, uniform, slot, length), why)
            for label, slot, why in (
                ("copied", _COPIED, "the tiles are in shared memory"),
                ("used", _USED, "the tiles have been read"),
            )
        )
        tiles = PromotedTiles(self._name, tile, arrays, _OWN, _COPY, length)
        return replace(
            kernel, order=order, barriers=(*barriers, *waits), trees=trees, uniform=uniform + 3, tiles=tiles
        )


def copies(kernel: DeviceKernel, tiles: PromotedTiles) -> Iterator[tuple[PromotedArray, isl.Map]]:
    """What one thread copies for each promoted array: times, tiles and cells, mapped to the time of the kernel.

    The threads along x share the last subscript, those along y the one before, so that neighbours copy neighbours.
    """
    for number, array in enumerate(tiles.arrays):
        cells = array.cells.wrap().flatten()
        before = array.cells.dim(isl.dim_type.in_)
        shared = _dealt(cells, array, before, kernel)
        whole = isl.Map.identity(shared.get_space().map_from_set()).intersect_domain(shared)
        rank = len(array.extents)
        order = whole.insert_dims(isl.dim_type.out, before, 1).insert_dims(isl.dim_type.out, before - 1, 1)
        order = order.fix_val(isl.dim_type.out, before - 1, isl.Val(tiles.place))
        order = order.fix_val(isl.dim_type.out, before + 1, isl.Val(tiles.slot - number))
        missing = tiles.length - before - 2 - rank
        zeros = isl.Set(f"{{ [{', '.join(['0'] * missing)}] }}")
        yield array, order.flat_range_product(isl.Map.from_domain_and_range(order.domain(), zeros))


def _dealt(cells: isl.Set, array: PromotedArray, before: int, kernel: DeviceKernel) -> isl.Set:
    """The part of ``cells`` that one thread copies."""
    space = isl.Set.universe(cells.get_space())
    tile = _component(isl.Map.identity(cells.get_space().map_from_set()), before - 1)
    result = cells.intersect(with_value(tile, TILE_PARAMETER).domain())
    sizes = {axis.axis: axis.size for axis in kernel.threads}
    for axis, size in sizes.items():
        place = len(array.extents) - 1 - "xyz".index(axis)
        if place < 0:
            here = isl.Map.from_domain_and_range(space, isl.Set("{ [0] }"))
        else:
            value = _component(isl.Map.identity(cells.get_space().map_from_set()), before + place)
            first = isl.Map.from_domain_and_range(space, isl.Set.from_pw_aff(array.lower[place]))
            here = value.flat_range_product(first).apply_range(isl.Map("{ [a, l] -> [a - l] }"))
            here = here if array.extents[place] <= size else remainder_of(here, size)
        result = result.intersect(with_value(here, coordinate("thread", axis)).domain())
    parameter = result.find_dim_by_name(isl.dim_type.param, TILE_PARAMETER)
    return result.project_out(isl.dim_type.param, parameter, 1)


def _component(order: isl.Map, place: int) -> isl.Map:
    length = order.dim(isl.dim_type.out)
    first = order.project_out(isl.dim_type.out, place + 1, length - place - 1)
    return first.project_out(isl.dim_type.out, 0, place)


def _side(box: isl.Set, axis: int) -> tuple[isl.PwAff, int] | None:
    """The first value of ``box`` along ``axis`` and how many there are; None when that is no fixed number."""
    try:
        low, high = box.dim_min(axis), box.dim_max(axis)
    except isl.Error:  # no bound
        return None
    size = _constant((high - low + 1).coalesce())
    return None if size is None or low.n_piece() != 1 else (low, size)


def _constant(size: isl.PwAff) -> int | None:
    """The number that ``size`` is everywhere; None when it is none."""
    if size.n_piece() != 1 or not size.is_cst():
        return None
    return int(size.max_val().to_python())


def _spread(order: isl.Map, uniform: int, place: int, tile: isl.Map | None) -> isl.Map:
    """``order`` with the place among the loops, the tile and the slot after its uniform values."""
    length = order.dim(isl.dim_type.out)
    head = order.project_out(isl.dim_type.out, uniform, length - uniform)
    rest = order.project_out(isl.dim_type.out, 0, uniform)
    domain = isl.Set.universe(order.get_space().domain())
    middle = tile if tile is not None else isl.Map.from_domain_and_range(domain, isl.Set("{ [0] }"))
    before = isl.Map.from_domain_and_range(domain, isl.Set(f"{{ [{place}] }}"))
    slot = isl.Map.from_domain_and_range(domain, isl.Set(f"{{ [{_RUN}] }}"))
    return reduce(isl.Map.flat_range_product, (head, before, middle, slot, rest))


def _widened(times: isl.Set, place: int, values: tuple[int, ...]) -> isl.Set:
    result = times.insert_dims(isl.dim_type.set, place, len(values))
    for number, value in enumerate(values):
        result = result.fix_val(isl.dim_type.set, place + number, isl.Val(value))
    return result


def _tile_times(every: isl.Set, uniform: int, slot: int, length: int) -> isl.Set:
    """The times of a barrier: ``every`` holds the uniform values and the tile."""
    placed = _widened(every, uniform, (_OWN,))
    return _widened(placed, uniform + 2, (slot, *[0] * (length - uniform - 3))).coalesce()

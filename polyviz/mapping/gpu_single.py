"""One order for blocks and threads alike: the rules of PPCG.

Source: Verdoolaege et al., *Polyhedral parallel code generation for CUDA* (TACO 2013), section 4: the outermost band
with parallel loops is cut into tiles, at most two of its parallel loops go to blocks and at most three to threads, the
innermost to x; what is around it runs on the host, what is inside in each thread.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import islpy as isl

from polyviz.analysis.parallelism import BandProperties, band_properties
from polyviz.mapping.gpu_space import context_of, grid_of, on_host, points_of
from polyviz.model.device import DeviceKernel, DevicePlan, SpaceAxis, plain_name
from polyviz.model.schedule import Decision
from polyviz.transform.tree import bands, kind_of, members, path_of, row_texts, statements_under

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from polyviz.model.dependences import Dependences
    from polyviz.model.schedule import Schedule
    from polyviz.model.scop import Scop
    from polyviz.model.superposition import Axis

THREADS: Mapping[int, tuple[int, ...]] = {0: (), 1: (256,), 2: (16, 16), 3: (4, 4, 16)}
"""Threads of a block with so many axes, outermost first."""
_AXES: tuple[Axis, ...] = ("z", "y", "x")


def single_kernels(
    scop: Scop,
    dependences: Dependences,
    schedule: Schedule,
    tile: Sequence[int] | Literal[False] | None,
    *,
    wavefronts: bool = True,
    threads: Sequence[int] | None = None,
) -> DevicePlan:
    """The kernels of a schedule without a second level; ``tile`` gives the tiles of the block loops.

    ``threads`` are those of a block along x, y, z; the axes that it leaves out have as many as usual.
    ``wavefronts`` lets the host run bands without a parallel loop front by front; without it one thread runs them.
    Loops that never run need no kernel.
    """
    if not scop.statements:
        return DevicePlan((), {})
    properties = {
        path: found
        for (path, _), found in zip(
            bands(schedule.tree), band_properties(scop, dependences, schedule.tree), strict=True
        )
    }
    search = _Search(scop, properties, tuple(tile) if tile else (), wavefronts, tuple(threads or ()))
    search.visit(schedule.tree.get_root(), ())
    return DevicePlan(tuple(search.kernels), search.launches, tuple(search.decisions))


@dataclass(slots=True)
class _Search:
    """A walk from the root: ``steps`` are the positions and sequential loops of the host so far."""

    scop: Scop
    properties: Mapping[tuple[int, ...], BandProperties]
    tile: tuple[int, ...]
    wavefronts: bool
    threads: tuple[int, ...]
    decisions: list[Decision] = field(default_factory=list)
    kernels: list[DeviceKernel] = field(default_factory=list)
    launches: dict[int, isl.Map] = field(default_factory=dict)

    def visit(self, node: isl.ScheduleNode, steps: tuple[int | isl.UnionPwAff, ...]) -> None:
        """Make the kernels under ``node``."""
        kind = kind_of(node)
        if kind in ("sequence", "set"):
            for position in range(node.n_children()):
                self.visit(node.child(position), (*steps, position))
        elif kind == "band":
            self._band(node, steps)
        elif kind == "leaf":
            self._kernel(node, steps, ())
        else:
            self.visit(node.child(0), steps)

    def _band(self, node: isl.ScheduleNode, steps: tuple[int | isl.UnionPwAff, ...]) -> None:
        chosen = self._parallel(node)
        if chosen:
            self._kernel(node, steps, chosen)
        elif self.wavefronts and self._found(node).permutable and node.band_n_member() > 1:
            self._wavefront(node, steps)
        elif node.band_n_member() > 1 and self._parallel_below(node):
            rows = members(node)
            split = node.band_split(1)
            self._split(split, (*steps, rows[0]))
        elif self._parallel_below(node):
            self.visit(node.child(0), (*steps, *members(node)))
        else:
            text = "no loop is coincident (here a sum ties its steps), so one thread of one block runs everything"
            self.decisions.append(Decision("serial", text, statements_under(node)))
            self._kernel(node, steps, ())

    def _wavefront(self, node: isl.ScheduleNode, steps: tuple[int | isl.UnionPwAff, ...]) -> None:
        """No loop of the band is parallel, but all of them are once their sum, a wavefront, runs on the host."""
        rows = members(node)
        text = "no loop is coincident, so the host runs along wavefronts: the sum of all loops of the band"
        self.decisions.append(Decision("wavefront", text, statements_under(node)))
        sum_of_rows = rows[0]
        for row in rows[1:]:
            sum_of_rows = sum_of_rows.add(row)
        self._kernel(node, (*steps, sum_of_rows), tuple(range(1, len(rows))))

    def _split(self, node: isl.ScheduleNode, steps: tuple[int | isl.UnionPwAff, ...]) -> None:
        """The rest of a band whose first member runs on the host: its facts hold where they stand."""
        rest = node.child(0)
        found = self._found(node)
        whole, own = self.properties, path_of(node)
        depth = len(own)
        moved = {
            (*own, 0, *path[depth:]): one for path, one in whole.items() if path[:depth] == own and path != own
        }
        below = BandProperties(False, found.members[1:], found.statements, found.depth + 1)
        self.properties = {**whole, **moved, path_of(rest): below}
        self._band(rest, steps)
        self.properties = whole  # what comes beside the band stands where it stood

    def _found(self, node: isl.ScheduleNode) -> BandProperties:
        return self.properties[path_of(node)]

    def _parallel(self, node: isl.ScheduleNode) -> tuple[int, ...]:
        """The members of a band that may become blocks and threads: all parallel ones where loops can be permuted."""
        found = self._found(node)
        if found.permutable:
            return tuple(place for place, member in enumerate(found.members) if member.coincident)
        leading = []
        for place, member in enumerate(found.members):
            if not member.parallel:
                break
            leading.append(place)
        return tuple(leading)

    def _parallel_below(self, node: isl.ScheduleNode) -> bool:
        path = path_of(node)
        return any(
            member.parallel
            for other, found in self.properties.items()
            if other[: len(path)] == path
            for member in found.members
        )

    def _kernel(
        self, node: isl.ScheduleNode, steps: tuple[int | isl.UnionPwAff, ...], chosen: tuple[int, ...]
    ) -> None:
        number, names = len(self.kernels), statements_under(node)
        rows = members(node) if kind_of(node) == "band" else ()
        outer = chosen[:3]
        loops = [step for step in steps if not isinstance(step, int)]
        host = tuple(self._rows(step, names) for step in loops)
        threads = self._axes([rows[place] for place in outer], names, self._sizes(len(outer)))
        blocks = self._blocks([rows[place] for place in outer[:2]], names, threads)
        points = points_of(blocks, threads)
        domains = {name: on_host(self._domain(name), name, host) for name in names}
        self.kernels.append(
            DeviceKernel(
                number=number,
                statements=names,
                host=host,
                host_names=tuple(
                    plain_name([row_texts(step)[name] for name in names], f"step{place}")
                    for place, step in enumerate(loops)
                ),
                blocks=blocks,
                threads=threads,
                points=points,
                instances=domains,
                order=self._order(node, names),
                uniform=0,
                context=context_of(self.scop, domains, blocks, threads, points),
                grid=grid_of(domains, blocks),
            )
        )
        self.launches[number] = self._launches(steps, names)

    def _sizes(self, count: int) -> tuple[int, ...]:
        """Threads along ``count`` axes, outermost first; those of the user come first along x."""
        usual = THREADS[count]
        given = self.threads[:count]
        return (*usual[: count - len(given)], *reversed(given))

    def _axes(
        self, rows: Sequence[isl.UnionPwAff], names: Sequence[str], sizes: Sequence[int]
    ) -> tuple[SpaceAxis, ...]:
        axes = _AXES[len(_AXES) - len(rows) :]
        return tuple(
            SpaceAxis(axis, size, self._rows(row, names), row_texts(row))
            for axis, row, size in zip(axes, rows, sizes, strict=True)
        )

    def _blocks(
        self, rows: Sequence[isl.UnionPwAff], names: Sequence[str], threads: Sequence[SpaceAxis]
    ) -> tuple[SpaceAxis, ...]:
        sizes = [
            self.tile[min(place, len(self.tile) - 1)] if self.tile else threads[place].size
            for place in range(len(rows))
        ]
        return self._axes(rows, names, sizes)

    def _order(self, node: isl.ScheduleNode, names: Sequence[str]) -> Mapping[str, isl.Map]:
        whole = node.get_subtree_schedule_union_map()
        found = {name: whole.intersect_domain(isl.UnionSet.from_set(self._domain(name))) for name in names}
        maps = {
            name: one.get_map_list().get_at(0).gist_domain(self._domain(name)) for name, one in found.items()
        }
        longest = max(one.dim(isl.dim_type.out) for one in maps.values())
        return {name: _padded(one.reset_tuple_id(isl.dim_type.out), longest) for name, one in maps.items()}

    def _launches(self, steps: Sequence[int | isl.UnionPwAff], names: Sequence[str]) -> isl.Map:
        result: isl.Map | None = None
        for name in names:
            domain = self._domain(name)
            unit = isl.Map.from_domain_and_range(domain, isl.Set("{ [] }"))
            values, times = unit, unit
            for step in steps:
                if isinstance(step, int):
                    row = isl.Map.from_domain_and_range(domain, isl.Set(f"{{ [{step}] }}"))
                else:
                    row = self._rows(step, names)[name].intersect_domain(domain)
                    values = values.flat_range_product(row)
                times = times.flat_range_product(row)
            pairs = values.reverse().apply_range(times)
            result = pairs if result is None else result.union(pairs)
        assert result is not None
        return result.coalesce()

    def _rows(self, row: isl.UnionPwAff, names: Sequence[str]) -> Mapping[str, isl.Map]:
        """``row`` as one map into a value per statement."""
        return {
            name: isl.Map.from_pw_aff(row.extract_pw_aff(_space_of(self._domain(name), row))).gist_domain(
                self._domain(name)
            )
            for name in names
        }

    def _domain(self, name: str) -> isl.Set:
        return self.scop.statement(name).domain


def _space_of(domain: isl.Set, row: isl.UnionPwAff) -> isl.Space:
    space = domain.get_space().align_params(row.get_space())
    return space.from_domain().add_dims(isl.dim_type.out, 1)


def _padded(order: isl.Map, length: int) -> isl.Map:
    missing = length - order.dim(isl.dim_type.out)
    zeros = isl.Set(f"{{ [{', '.join(['0'] * missing)}] }}")
    return order.flat_range_product(isl.Map.from_domain_and_range(order.domain(), zeros))

"""A superposition as kernels: its block loops become the grid, its thread loops threads, its phases time.

The thread coordinates stand behind the phases in the order of time, so that barriers are never under a condition on a
thread (Shirako, Hayashi, Sarkar (CC 2017), section 3.3, and the pitfall their listings show).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from itertools import takewhile
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.analysis.reductions import find_reductions
from polyviz.mapping.gpu_space import context_of, grid_of, on_host, points_of, thread_instances, with_row
from polyviz.model.device import DeviceBarrier, DeviceKernel, DevicePlan, SpaceAxis, TreeReduction, plain_name
from polyviz.model.isl_limits import with_known_quotients
from polyviz.model.superposition import affine_map

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from polyviz.analysis.reductions import Reduction
    from polyviz.model.device import Point
    from polyviz.model.scop import Scop
    from polyviz.model.superposition import Axis, Dimension, Scattering, SuperposedKernel, Superposition

SLOTS = 8
"""Times between one position of the phases and the next: what happens there, in its order, is numbered from 0."""
BEGIN, RUN, JOIN, FINISH, WAIT = range(5)
_FROM_OUTSIDE: tuple[Axis, ...] = ("z", "y", "x")


def superposed_kernels(scop: Scop, superposition: Superposition) -> DevicePlan:
    """The kernels of ``superposition``, in the order of their launches."""
    builders = [_Builder(scop, superposition, kernel) for kernel in superposition.kernels]
    return DevicePlan(
        tuple(builder.kernel() for builder in builders),
        {builder.source.number: builder.launches() for builder in builders},
    )


@dataclass(frozen=True, slots=True)
class _Builder:
    scop: Scop
    superposition: Superposition
    source: SuperposedKernel

    def kernel(self) -> DeviceKernel:
        """The kernel, with barriers where they are needed."""
        host = self._host()
        blocks = self._axes(self.superposition.outer, self.source.tiles)
        threads = self._axes(self.superposition.regular, self.source.threads)
        points = points_of(blocks, threads)
        domains = {name: on_host(self._domain(name), name, host) for name in self.source.statements}
        order = {name: self._order(name) for name in self.source.statements}
        return DeviceKernel(
            number=self.source.number,
            statements=self.source.statements,
            host=host,
            host_names=tuple(
                plain_name(tuple(rows.values()), f"step{number}")
                for number, rows in enumerate(self.source.blocks.under)
            ),
            blocks=blocks,
            threads=threads,
            points=points,
            instances=domains,
            order=order,
            uniform=self._uniform,
            context=context_of(self.scop, domains, blocks, threads, points),
            grid=grid_of(domains, blocks),
            barriers=self._barriers(domains, order),
            phases=tuple(map(str, self.source.phases)),
            trees=tuple(self._trees(blocks, threads, points, domains)),
        )

    def launches(self) -> isl.Map:
        """From the values of the host loops to the time of the launch."""
        name = self.source.statements[0]
        before = list(
            takewhile(lambda one: one.axis is None and one.tile is None, self.superposition.outer[name])
        )
        result: isl.Map | None = None
        for name in self.source.statements:
            domain = self._domain(name)
            rows = [one.expression for one in self.superposition.outer[name][: len(before)]]
            loops = [
                one.expression for one in self.superposition.outer[name][: len(before)] if one.kind == "loop"
            ]
            values = affine_map(domain, *loops).intersect_domain(domain)
            pairs = values.reverse().apply_range(affine_map(domain, *rows))
            result = pairs if result is None else result.union(pairs)
        assert result is not None
        return result.coalesce()

    def _domain(self, name: str) -> isl.Set:
        return self.scop.statement(name).domain

    def _row(self, name: str, text: str) -> isl.Map:
        return affine_map(self._domain(name), text)

    def _host(self) -> tuple[Mapping[str, isl.Map], ...]:
        return tuple(
            {name: self._row(name, text) for name, text in rows.items()} for rows in self.source.blocks.under
        )

    def _axes(
        self, scatterings: Mapping[str, Scattering], sizes: Mapping[Axis, int]
    ) -> tuple[SpaceAxis, ...]:
        axes = []
        for axis in _FROM_OUTSIDE:
            texts = {
                name: dimension.expression
                for name in self.source.statements
                for dimension in scatterings[name]
                if dimension.axis == axis and not dimension.reduction
            }
            if axis in sizes:
                rows = {name: self._row(name, text) for name, text in texts.items()}
                axes.append(SpaceAxis(axis, sizes[axis], rows, texts))
        return tuple(axes)

    @property
    def _uniform(self) -> int:
        return max(len(self._phase(name)) for name in self.source.statements)

    def _phase(self, name: str) -> list[Dimension]:
        """The time between barriers: what stands before the first thread loop, without the loops of the host."""
        host = [rows[name] for rows in self.source.blocks.under]
        kept: list[Dimension] = []
        for one in self._before_threads(name):
            if one.kind == "loop" and one.expression in host:
                kept.pop()  # its position among the parts of the whole is the same for the kernel
            else:
                kept.append(one)
        return kept

    def _before_threads(self, name: str) -> list[Dimension]:
        """What one thread alone runs has its phases where the statements with threads have theirs."""
        before = {
            other: list(takewhile(lambda one: one.axis is None, self.superposition.regular[other]))
            for other in self.source.statements
            if self._has_threads(other)
        }
        if name in before:
            return before[name]
        longest = max(map(len, before.values()), default=1)
        kept = list(self.superposition.regular[name][:longest])
        while kept[-1].kind == "loop":  # a loop of its own: a phase ends with a position
            kept.pop()
        return kept

    def _has_threads(self, name: str) -> bool:
        return any(one.axis for one in self.superposition.regular[name])

    def _phase_texts(self, name: str) -> list[str]:
        """Positions are spread, so that barriers and the steps of a shared accumulation find room between them."""
        texts = [
            str(SLOTS * int(one.expression)) if one.kind == "scalar" else one.expression
            for one in self._phase(name)
        ]
        return [*texts, *["0"] * (self._uniform - len(texts))]

    def _order(self, name: str, slot: int = RUN) -> isl.Map:
        scattering = self.superposition.regular[name]
        space = {one.axis: one.expression for one in scattering if one.axis is not None and not one.reduction}
        axes = [space.get(axis, "0") for axis in _FROM_OUTSIDE]
        rest = self._rest(name)
        longest = max(len(self._rest(other)) for other in self.source.statements)
        phase = self._phase_texts(name)
        last = len(self._phase(name)) - 1
        phase[last] = str(int(phase[last]) + slot)
        texts = [*phase, *axes, *rest, *["0"] * (longest - len(rest))]
        return affine_map(self._domain(name), *texts)

    def _rest(self, name: str) -> list[str]:
        """The order inside one thread: shared accumulations first, since one thread makes them alone, then the rest.

        Only a position among statements comes before them, so that these have loops of their own. A loop would not do:
        one thread that makes a whole sum would not add up in the order of the source.
        """
        scattering = self.superposition.regular[name]
        if not self._has_threads(name):
            return [one.expression for one in scattering[len(self._before_threads(name)) :]]
        last = max(place for place, one in enumerate(scattering) if one.axis)
        shared = [one.expression for one in scattering if one.reduction and one.ordered]
        own = scattering[last + 1 :]
        position = [one.expression for one in own[:1] if one.kind == "scalar"]
        return [*position, *shared, *(one.expression for one in own[len(position) :])]

    def _barriers(
        self, domains: Mapping[str, isl.Set], order: Mapping[str, isl.Map]
    ) -> tuple[DeviceBarrier, ...]:
        barriers = []
        for number, barrier in enumerate(self.source.needed_barriers):
            assert barrier.protects is not None
            names = self.source.phases[barrier.before].statements
            place = 2 * barrier.depth
            length = order[names[0]].dim(isl.dim_type.out)
            around = self._around(barrier.before, place)
            whole = reduce(
                isl.Set.union, (_time_before(domains[name], order[name], place) for name in around)
            )
            position = SLOTS * int(self._phase(names[0])[place].expression) + WAIT
            fixed = _at(whole, position, length)
            label = f"barrier{self.source.number}_{number}"
            barriers.append(DeviceBarrier(label, fixed, barrier.protects.explanation))
        return tuple(barriers)

    def _around(self, phase: int, place: int) -> list[str]:
        """The statements inside all the sequential loops around a place: those whose phase starts as that one's."""
        name = self.source.phases[phase].statements[0]
        start = self._phase_texts(name)[:place]
        kinds = [one.kind for one in self._phase(name)[:place]]
        return [
            other
            for other in self.source.statements
            if [one.kind for one in self._phase(other)[:place]] == kinds
            and all(
                mine == theirs
                for mine, theirs, kind in zip(start, self._phase_texts(other), kinds, strict=False)
                if kind == "scalar"
            )
        ]

    def _trees(
        self,
        blocks: Sequence[SpaceAxis],
        threads: Sequence[SpaceAxis],
        points: Sequence[Point],
        domains: Mapping[str, isl.Set],
    ) -> Iterator[TreeReduction]:
        """The accumulations that threads share: each in a phase of nothing else, into one cell per thread and phase."""
        operators = {found.statement: found for found in find_reductions(self.scop)}
        for phase in self.source.phases:
            shared = {name: self._reduction_row(name) for name in phase.statements}
            if any(row is None or name not in operators for name, row in shared.items()):
                continue
            for name, row in shared.items():
                assert row is not None
                tree = self._tree(operators[name], row, domains[name])
                size = next(axis.size for axis in threads if axis.axis == tree.axis)
                if size & (size - 1) == 0 and self._has_one_cell(
                    tree, blocks, threads, points, domains[name]
                ):
                    yield tree

    def _reduction_row(self, name: str) -> Dimension | None:
        return next((one for one in self.superposition.regular[name] if one.reduction), None)

    def _tree(self, found: Reduction, dimension: Dimension, domain: isl.Set) -> TreeReduction:
        name = found.statement
        assert dimension.axis is not None
        place = len(self._phase(name)) - 1
        position = SLOTS * int(self._phase(name)[place].expression)
        order = self._order(name)
        before = _time_before(domain, order, place)
        length = order.dim(isl.dim_type.out)
        forall = [
            one.expression for one in self.superposition.regular[name] if one.axis and not one.reduction
        ]
        cells = affine_map(self._domain(name), *self._phase_texts(name), *forall).intersect_domain(domain)
        return TreeReduction(
            statement=name,
            array=found.array,
            operator=found.operator,
            axis=dimension.axis,
            row=self._row(name, dimension.expression),
            begin=_at(before, position + BEGIN, length),
            join=_at(before, position + JOIN, length),
            finish=_last_of_each(cells),  # it knows whether its value is the last of all
            finish_order=self._order(name, FINISH),
        )

    def _has_one_cell(
        self,
        tree: TreeReduction,
        blocks: Sequence[SpaceAxis],
        threads: Sequence[SpaceAxis],
        points: Sequence[Point],
        domain: isl.Set,
    ) -> bool:
        own = thread_instances(
            domain, tree.statement, blocks, with_row(threads, tree.statement, tree), points
        )
        writes = next(
            access for access in self.scop.statement(tree.statement).accesses if access.kind == "write"
        )
        phase = affine_map(self._domain(tree.statement), *self._phase_texts(tree.statement))
        return bool(phase.intersect_domain(own).reverse().apply_range(writes.relation).is_single_valued())


def _last_of_each(cells: isl.Map) -> isl.Set:
    """Of the instances that ``cells`` maps to one value the last one, for every value.

    Those without a later one: isl has no maximum for some instances that strides and a disjunction make.

    >>> print(_last_of_each(isl.Map("{ S[i, j] -> [i] : 0 <= i < 9 and i < j < 20 }")))
    { S[i, j = 19] : 0 <= i <= 8 }
    """
    instances = with_known_quotients(cells.domain())
    earlier = isl.Map.lex_lt(instances.get_space()).intersect(cells.apply_range(cells.reverse())).domain()
    return instances.subtract(with_known_quotients(earlier)).coalesce()


def _time_before(domain: isl.Set, order: isl.Map, place: int) -> isl.Set:
    """The values of the time before position ``place`` at which instances of ``domain`` run."""
    return domain.apply(order).project_out(isl.dim_type.set, place, order.dim(isl.dim_type.out) - place)


def _at(times: isl.Set, position: int, length: int) -> isl.Set:
    """``times`` followed by ``position`` and by zeros up to ``length`` values."""
    place = times.dim(isl.dim_type.set)
    whole = times.insert_dims(isl.dim_type.set, place, length - place)
    whole = whole.fix_val(isl.dim_type.set, place, isl.Val(position))
    for behind in range(place + 1, length):
        whole = whole.fix_val(isl.dim_type.set, behind, isl.Val(0))
    return whole.coalesce()

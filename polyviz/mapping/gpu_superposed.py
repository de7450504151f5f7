"""A superposition as kernels: its block loops become the grid, its thread loops threads, its phases time.

The thread coordinates stand behind the phases in the order of time, so that barriers are never under a condition on a
thread (Shirako, Hayashi, Sarkar (CC 2017), section 3.3, and the pitfall their listings show).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.mapping.gpu_space import context_of, grid_of, on_host, points_of
from polyviz.model.device import DeviceBarrier, DeviceKernel, DevicePlan, SpaceAxis, plain_name
from polyviz.model.superposition import affine_map

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from polyviz.model.scop import Scop
    from polyviz.model.superposition import Axis, Dimension, Scattering, Superposition, SuperposedKernel

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
            context=context_of(self.scop, domains, blocks, threads),
            grid=grid_of(domains, blocks),
            barriers=self._barriers(domains, order),
            phases=tuple(map(str, self.source.phases)),
        )

    def launches(self) -> isl.Map:
        """From the values of the host loops to the time of the launch."""
        name = self.source.statements[0]
        before = list(takewhile(lambda one: one.axis is None and one.tile is None, self.superposition.outer[name]))
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
        return list(self.superposition.regular[name][:longest])

    def _has_threads(self, name: str) -> bool:
        return any(one.axis for one in self.superposition.regular[name])

    def _phase_texts(self, name: str) -> list[str]:
        """Positions are doubled, so that barriers find room between them."""
        texts = [
            str(2 * int(one.expression)) if one.kind == "scalar" else one.expression for one in self._phase(name)
        ]
        return [*texts, *["0"] * (self._uniform - len(texts))]

    def _order(self, name: str) -> isl.Map:
        scattering = self.superposition.regular[name]
        space = {one.axis: one.expression for one in scattering if one.axis is not None and not one.reduction}
        axes = [space.get(axis, "0") for axis in _FROM_OUTSIDE]
        rest = self._rest(name)
        longest = max(len(self._rest(other)) for other in self.source.statements)
        texts = [*self._phase_texts(name), *axes, *rest, *["0"] * (longest - len(rest))]
        return affine_map(self._domain(name), *texts)

    def _rest(self, name: str) -> list[str]:
        """The order inside one thread: shared accumulations first, since one thread makes them alone, then the rest."""
        scattering = self.superposition.regular[name]
        if not self._has_threads(name):
            return [one.expression for one in scattering[len(self._before_threads(name)) :]]
        last = max(place for place, one in enumerate(scattering) if one.axis)
        shared = [one.expression for one in scattering if one.reduction and one.ordered]
        own = [one.expression for one in scattering[last + 1 :]]
        return [*own[:1], *shared, *own[1:]]

    def _barriers(
        self, domains: Mapping[str, isl.Set], order: Mapping[str, isl.Map]
    ) -> tuple[DeviceBarrier, ...]:
        barriers = []
        for number, barrier in enumerate(self.source.needed_barriers):
            assert barrier.protects is not None
            names = self.source.phases[barrier.before].statements
            place = 2 * barrier.depth
            length = order[names[0]].dim(isl.dim_type.out)
            times = [self._time_after(domains[name], order[name], place, length) for name in self._around(barrier.before, place)]
            whole = times[0]
            for other in times[1:]:
                whole = whole.union(other)
            position = 2 * int(self._phase(names[0])[place].expression) + 1
            fixed = whole.insert_dims(isl.dim_type.set, place, length - place)
            fixed = fixed.fix_val(isl.dim_type.set, place, isl.Val(position))
            for behind in range(place + 1, length):
                fixed = fixed.fix_val(isl.dim_type.set, behind, isl.Val(0))
            label = f"barrier{self.source.number}_{number}"
            barriers.append(DeviceBarrier(label, fixed.coalesce(), barrier.protects.explanation))
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

    @staticmethod
    def _time_after(domain: isl.Set, order: isl.Map, place: int, length: int) -> isl.Set:
        return domain.apply(order).project_out(isl.dim_type.set, place, length - place)



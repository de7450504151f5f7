"""Cards of the kernels of a program, with what the emulator counted where it has run."""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING

from polyviz.codegen.expressions_python import PythonExpressionPrinter
from polyviz.codegen.index import simplified
from polyviz.model.device import coordinate
from polyviz.model.kernel_card import AccessRow, KernelCard
from polyviz.model.words import plural

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from polyviz.model.device_program import AccessCount, AccessSite, KernelText
    from polyviz.model.program import Program

    Steps = Mapping[str, tuple[int, ...]]


def kernel_cards(
    program: Program, counts: Sequence[AccessCount] = (), steps: Steps | None = None
) -> tuple[KernelCard, ...]:
    """One card per kernel of ``program``, which is for a device; ``counts`` are those of the emulator.

    ``steps``: cells from one value of each subscript to the next, by array, as the latest call had them.
    """
    assert program.device is not None
    apart = {name for name, kind in program.types.items() if kind.layout != "C"}
    known = {name: found for name, found in (steps or {}).items() if name in apart}
    return tuple(_card(kernel, counts, apart, known) for kernel in program.device.kernels)


def _card(kernel: KernelText, counts: Sequence[AccessCount], apart: set[str], known: Steps) -> KernelCard:
    host = {coordinate("host", str(one.axis)): one.name for one in kernel.arguments if one.kind == "host"}
    printer = PythonExpressionPrinter(host, lambda element, _: element.array)
    x, y, z = (printer.expression(simplified(size)) for size in kernel.grid)
    rows = [row for site in kernel.sites for row in _rows(site, counts, known)]
    own = dict.fromkeys(site.array for site in kernel.sites if site.memory == "global" and site.array in apart)
    return KernelCard(
        name=kernel.name,
        statements=kernel.statements,
        grid=(x, y, z),
        block=kernel.block,
        threads=kernel.axes,
        phases=kernel.phases,
        barriers=kernel.barriers,
        promotions=kernel.promotions,
        accesses=tuple(rows),
        layouts=tuple(_layout(name, known.get(name)) for name in own),
        host=tuple(host.values()),
    )


def _layout(name: str, steps: tuple[int, ...] | None) -> str:
    if steps is None:
        return f"{name} may lie in any order: what is said of its cells holds for C order"
    in_order = list(map(abs, steps)) == sorted(map(abs, steps), reverse=True)
    how = "lies in C order with gaps, as a slice does" if in_order else "is not in C order"
    first = f"{name}[{', '.join('0' * len(steps))}]"
    told = [_neighbour(name, axis, steps) for axis in range(len(steps))]
    return f"{name} {how}: from {first} it is {', '.join(told)}"


def _neighbour(name: str, axis: int, steps: tuple[int, ...]) -> str:
    """How far the next cell along ``axis`` is."""
    subscripts = ", ".join("1" if place == axis else "0" for place in range(len(steps)))
    back = " back" if steps[axis] < 0 else ""
    return f"{plural(abs(steps[axis]), 'cell')}{back} to {name}[{subscripts}]"


def _rows(site: AccessSite, counts: Sequence[AccessCount], known: Steps) -> list[AccessRow]:
    """The access with what is known of it, once for its reads and once for its writes where both were counted."""
    found = [count for count in counts if count.site == site.number]
    motion = site.access.motion(site.itemsize, _steps(site, known))
    bare = AccessRow(
        site.statement,
        site.line,
        site.text,
        site.mode,
        site.memory,
        motion.kind,
        motion.expected if site.memory == "global" else None,
        strides=motion.strides,
        piece=motion.piece,
    )
    return [_counted(bare, count) for count in found] or [bare]


def _steps(site: AccessSite, known: Steps) -> tuple[int, ...] | None:
    if site.memory == "shared":
        return tuple(prod(site.extents[axis + 1 :]) for axis in range(len(site.extents)))
    return known.get(site.array)


def _counted(row: AccessRow, count: AccessCount) -> AccessRow:
    return replace(
        row,
        mode="write" if count.write else "read",
        counted=count.transactions_per_request if row.memory == "global" else None,
        requests=count.requests,
        lanes=count.lanes / count.requests,
        conflicts=count.conflicts / count.requests,
        moved=count.moved,
    )

"""Cards of the kernels of a program, with what the emulator counted where it has run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.codegen.expressions_python import PythonExpressionPrinter
from polyviz.codegen.index import simplified
from polyviz.model.kernel_card import AccessRow, KernelCard, expected_transactions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyviz.model.device_program import AccessCount, AccessSite, DeviceProgram, KernelText


def kernel_cards(program: DeviceProgram, counts: Sequence[AccessCount] = ()) -> tuple[KernelCard, ...]:
    """One card per kernel of ``program``; ``counts`` are those of the emulator."""
    return tuple(_card(kernel, counts) for kernel in program.kernels)


def _card(kernel: KernelText, counts: Sequence[AccessCount]) -> KernelCard:
    printer = PythonExpressionPrinter({}, lambda element, _: element.array)
    x, y, z = (printer.expression(simplified(size)).replace("@host_", "step") for size in kernel.grid)
    rows = [row for site in kernel.sites for row in _rows(site, kernel, counts)]
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
    )


def _rows(site: AccessSite, kernel: KernelText, counts: Sequence[AccessCount]) -> list[AccessRow]:
    found = [count for count in counts if count.site == site.number]
    expected = None
    if site.memory == "global":
        expected = expected_transactions(site.kind, site.strides, site.itemsize, kernel.block[0])
    bare = AccessRow(
        site.statement,
        site.line,
        site.text,
        site.mode,
        site.memory,
        site.kind,
        expected,
        strides=site.strides,
    )
    return [_counted(bare, count) for count in found] or [bare]


def _counted(row: AccessRow, count: AccessCount) -> AccessRow:
    return AccessRow(
        row.statement,
        row.line,
        row.text,
        "write" if count.write else "read",
        row.memory,
        row.kind,
        row.expected,
        counted=count.transactions_per_request if row.memory == "global" else None,
        requests=count.requests,
        lanes=count.lanes / count.requests,
        conflicts=count.conflicts / count.requests,
        moved=count.moved,
        strides=row.strides,
    )

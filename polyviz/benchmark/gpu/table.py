"""The suite as Markdown: what the emulator counted and the compiler reports, or what a device took."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

from polyviz.model.warp_access import COUNTED
from polyviz.model.words import plural
from polyviz.runtime.statistics import median_interval
from polyviz.views.tables import seconds

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from polyviz.benchmark.gpu.counts import Counted, Resources
    from polyviz.benchmark.gpu.timed import Timed

REFERENCE = "superposition"
"""The schedule that the others are compared with."""
_COUNTS = (
    "**No times stand here: nothing ran on a GPU.** The CUDA text of every kernel ran in the emulator, thread by "
    "thread on the processor, which verified the result against the loops as written and found no race. Counted were, "
    "for global memory: transactions (segments of 128 bytes) per request of a warp, 1 being perfect for 4-byte "
    "elements and 32 the worst; transactions in all; then barriers passed by blocks, rounds lost to bank conflicts in "
    f"shared memory, and launches. At most {COUNTED} executions of an access between two barriers count."
)
_RESOURCES = (
    "What NVIDIA's compiler reports without a device, for the largest kernel of each program: registers per thread, "
    "bytes of shared memory per block, bytes spilled, and the lowest occupancy that registers, shared memory and block "
    "size allow."
)
_TIMES = (
    "Medians with their 95 % intervals, by the device's own clock: the kernels alone, and with moving all arrays there "
    "and back at every call. The variants of a kernel took turns, round by round, and ratios are taken within a round. "
    "Every result was verified against the loops as written, in the first run and in the last."
)


def counts_markdown(where: str, settings: str, rows: Sequence[Counted]) -> str:
    """The document of a run without a device."""
    parts = [
        "# Kernels of blocks and threads, counted",
        f"Made by `polyviz bench --suite gpu`: {where}.",
        settings,
    ]
    header = (
        "kernel",
        "schedule",
        "verified",
        "per request",
        "transactions",
        "barriers",
        "conflicts",
        "launches",
        "remark",
    )
    amounts = {(row.kernel, row.schedule): [float(row.transactions)] for row in rows if row.verified}
    compared = [f"- {text}" for text in _compared(amounts, "the transactions of")]
    parts += [
        _COUNTS,
        _table(header, [_counts(row) for row in rows]),
        *(["\n".join(compared)] if compared else []),
    ]
    compiled = [row for row in rows if row.resources]
    if compiled:
        names = [one.architecture for one in compiled[0].resources]
        parts += ["## Resources", _RESOURCES]
        parts.append(
            _table(
                ("kernel", "schedule", *names),
                [[row.kernel, row.schedule, *map(_resources, row.resources)] for row in compiled],
            )
        )
    return "\n\n".join(parts) + "\n"


def _counts(row: Counted) -> list[str]:
    if row.per_request is None:
        return [row.kernel, row.schedule, "yes" if row.verified else "**no**", *[""] * 5, row.remark]
    return [
        row.kernel,
        row.schedule,
        "yes" if row.verified else "**no**",
        f"{row.per_request:.2f}",
        str(row.transactions),
        str(row.barriers),
        str(row.conflicts),
        str(row.launches),
        row.remark,
    ]


def _resources(found: Resources) -> str:
    spilled = f", {found.spilled} B spilled" if found.spilled else ""
    return f"{found.registers} registers, {found.shared} B shared{spilled}, occupancy {found.occupancy:.0%}"


def times_markdown(where: str, settings: str, rows: Sequence[Timed]) -> str:
    """The document of a run on a device."""
    header = ("kernel", "variant", "verified", "kernels only", "with transfers", "remark")
    cells = [
        [
            row.kernel,
            row.schedule,
            "yes" if row.verified else "no",
            _time(row.alone),
            _time(row.together),
            row.remark,
        ]
        for row in rows
    ]
    amounts = {(row.kernel, row.schedule): row.alone for row in rows if row.verified and row.alone}
    compared = "\n".join(f"- {text}" for text in _compared(amounts, "the time of the kernels alone of"))
    title = "# Kernels of blocks and threads on a device"
    return (
        "\n\n".join(
            [
                title,
                f"Made by `polyviz bench --suite gpu` on {where}.",
                settings,
                _TIMES,
                _table(header, cells),
                *([compared] if compared else []),
            ]
        )
        + "\n"
    )


def _compared(amounts: Mapping[tuple[str, str], Sequence[float]], what: str) -> Iterator[str]:
    """Per variant how much it takes in the mean against the reference, over the kernels that both of them have.

    The ratio of a kernel is the median of those within each round.
    """
    for variant in dict.fromkeys(variant for _, variant in amounts if variant != REFERENCE):
        ratios = [
            statistics.median(one / other for one, other in zip(mine, amounts[kernel, REFERENCE], strict=False))
            for (kernel, name), mine in amounts.items()
            if name == variant and all(mine) and all(amounts.get((kernel, REFERENCE), [0.0]))
        ]
        if ratios:
            yield (
                f"{variant}: {statistics.geometric_mean(ratios):.2f} times {what} {REFERENCE}, the geometric mean over "
                f"{plural(len(ratios), 'kernel')}, from {min(ratios):.2f} to {max(ratios):.2f} times"
            )


def _time(samples: Sequence[float]) -> str:
    if not samples:
        return ""
    first, last = median_interval(samples)
    return f"{seconds(statistics.median(samples))} [{seconds(first)}, {seconds(last)}]"


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)

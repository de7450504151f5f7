"""The survey as Markdown: scheduler by kernel, times, growth, and every fallback with its reason."""

from __future__ import annotations

import math
import statistics
from typing import TYPE_CHECKING

from polyviz.benchmark.survey.picture import can_be_drawn

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from polyviz.benchmark.survey.findings import Finding
    from polyviz.benchmark.survey.growth import Growth

_READING = (
    "Each cell lists the bands of the schedule in depth-first order, before tiling, and the seconds from analysed "
    "loops to a checked schedule. One letter is one loop: `p` parallel, `r` parallel but for a reduction, "
    "`s` sequential. The loops of a band in parentheses may be permuted and tiled. Every schedule was checked exactly, "
    "compiled to C and run on the mini size, which is also what schedulers that choose by sizes were told; its result "
    "agreed with the loops as written where the cell does not say otherwise."
)


def markdown(
    machine: str, versions: Mapping[str, str], findings: Sequence[Finding], growth: Sequence[Growth]
) -> str:
    """The whole document."""
    parts = [
        "# What the schedulers find",
        f"Made by `polyviz bench --suite schedulers` on {'; '.join(machine.splitlines())}.",
    ]
    parts.append("; ".join(f"{name} {text}" for name, text in versions.items()) + ".")
    if findings:
        schedulers = _unique(finding.scheduler for finding in findings)
        parts += [
            "## Kernels",
            _READING,
            _kernels(findings, schedulers),
            "## Seconds",
            _seconds(findings, schedulers),
        ]
        parts += _remarks(findings)
    if growth:
        parts += ["## Growth with the number of statements", _GROWTH_READING]
        parts += ["![Seconds by number of statements](schedulers.svg)"] if can_be_drawn(growth) else []
        parts.append(_growth(growth))
    return "\n\n".join(parts) + "\n"


_GROWTH_READING = (
    "Seconds to schedule a chain of two-dimensional sweeps, each reading the two before it; the dependence analysis "
    "stands apart. The last column is the exponent between the two longest programs: 2 is quadratic."
)


def _kernels(findings: Sequence[Finding], schedulers: Sequence[str]) -> str:
    cells = {(finding.kernel, finding.scheduler): finding.text for finding in findings}
    rows = [
        [kernel, *(cells.get((kernel, scheduler), "") for scheduler in schedulers)]
        for kernel in _unique(finding.kernel for finding in findings)
    ]
    return _table(["kernel", *schedulers], rows)


def _seconds(findings: Sequence[Finding], schedulers: Sequence[str]) -> str:
    rows = []
    for scheduler in schedulers:
        own = [finding for finding in findings if finding.scheduler == scheduler]
        times = [finding.seconds for finding in own if finding.seconds is not None]
        verified = sum(finding.verified for finding in own)
        shown = [f"{statistics.median(times):.2f}", f"{max(times):.2f}"] if times else ["", ""]
        rows.append([scheduler, *shown, f"{verified} of {len(own)}"])
    return _table(["scheduler", "median", "worst", "verified"], rows)


def _remarks(findings: Sequence[Finding]) -> list[str]:
    lines = [
        f"- {finding.kernel}, {finding.scheduler}: {' '.join(finding.remarks)}"
        for finding in findings
        if finding.remarks
    ]
    return ["## Fallbacks and failures", "\n".join(lines)] if lines else []


def _growth(growth: Sequence[Growth]) -> str:
    sizes = sorted({one.statements for one in growth})
    rows = [["dependences", *_dependence_cells(growth, sizes), ""]]
    for scheduler in _unique(one.scheduler for one in growth):
        own = {one.statements: one for one in growth if one.scheduler == scheduler}
        cells = [own[size].text if size in own else "" for size in sizes]
        rows.append([scheduler, *cells, exponent(list(own.values()))])
    return _table(["statements", *map(str, sizes), "exponent"], rows)


def _dependence_cells(growth: Sequence[Growth], sizes: Sequence[int]) -> list[str]:
    times = {one.statements: one.dependence_seconds for one in growth if one.dependence_seconds is not None}
    return [f"{times[size]:.2f} s" if size in times else "" for size in sizes]


def exponent(growth: Sequence[Growth]) -> str:
    """The power of the number of statements that the time follows between the two longest programs.

    >>> from polyviz.benchmark.survey.growth import Growth
    >>> exponent([Growth(100, "isl", 1.0, 1.0), Growth(200, "isl", 1.0, 4.0)])
    '2.0'
    """
    known = sorted((one.statements, one.seconds) for one in growth if one.seconds)
    if len(known) < 2:
        return ""
    (few, short), (many, long) = known[-2:]
    return f"{math.log(long / short) / math.log(many / few):.1f}"


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


def _unique(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))

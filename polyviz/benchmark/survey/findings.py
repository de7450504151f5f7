"""What one scheduler finds for one kernel, and whether the result runs: the job of a worker process and its record."""

from __future__ import annotations

import inspect
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from polyviz import gallery
from polyviz.analysis import dependences
from polyviz.api.comparing import compare
from polyviz.api.extracting import extract
from polyviz.runtime.binding import Binder
from polyviz.scheduling import schedule

if TYPE_CHECKING:
    from collections.abc import Mapping

    from polyviz.model.schedule import Band

TARGET = "c"
SIZE = "mini"
RUN_LIMIT = 120.0
"""Seconds that scheduling, compiling and the verified run of one kernel may take together."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One scheduler on one kernel.

    ``bands`` are in depth-first order, one letter per loop (`letters`), in parentheses where the loops may be permuted.
    ``seconds`` is the time from analysed loops to a checked schedule. ``verified`` tells whether the compiled kernel
    computed what the loops as written compute; ``remarks`` holds fallbacks, or the reason when there is no result.
    """

    kernel: str
    scheduler: str
    bands: tuple[str, ...]
    seconds: float | None
    verified: bool
    remarks: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The cell of a table.

        >>> Finding("gemm", "pluto", ("(pps)",), 0.123, True).text
        '(pps) 0.12 s'
        """
        if self.seconds is None:
            return "failed"
        shown = " ".join(self.bands) or "no loop"
        return f"{shown} {self.seconds:.2f} s" + ("" if self.verified else ", **not verified**")

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Finding:
        """The finding from its fields as plain data."""
        return cls(**{**data, "bands": tuple(data["bands"]), "remarks": tuple(data["remarks"])})


def examine(kernel: str, scheduler: str) -> Finding:
    """Schedule a kernel of the gallery and run the result once, verified; a job.

    >>> examine("mvt", "original").bands
    ('(p)', '(r)', '(p)', '(r)')
    """
    entry = gallery.kernel(kernel)
    arguments = entry.arguments(SIZE, seed=1)
    part = extract(entry.function)
    found = dependences(part)
    sizes = Binder(part, inspect.signature(entry.function)).bind(arguments, {}).parameters
    started = time.perf_counter()
    order = schedule(part, scheduler, dependences=found, sizes=sizes)
    seconds = time.perf_counter() - started
    comparison = compare(
        entry.function,
        *arguments,
        schedules={scheduler: order},
        targets=(TARGET,),
        baselines=("python",),
        repeats=1,
    )
    row = next(row for row in comparison.rows if not row.is_baseline)
    remarks = [decision.text for decision in order.decisions if decision.step == "fallback"]
    if not row.verified:
        remarks.append(row.note)
    return Finding(
        kernel, scheduler, tuple(map(letters, order.bands)), seconds, bool(row.verified), tuple(remarks)
    )


def letters(band: Band) -> str:
    """The loops of a band: p parallel, r parallel but for a reduction, s sequential."""
    word = "".join(
        "p" if member.coincident else "r" if member.reduction_parallel else "s" for member in band.members
    )
    return f"({word})" if band.permutable else word

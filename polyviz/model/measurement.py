"""What was measured: samples and verdicts, never a bare number."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from polyviz.model.display import Displayable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from polyviz.model.program import FloatingPoint
    from polyviz.model.roofline import Roofline

Status = Literal["ok", "refused", "failed", "wrong", "timeout", "crashed", "cancelled", "unavailable"]


@dataclass(frozen=True, slots=True)
class Measurement:
    """Repeated timings of one variant in one run: seconds per call, and the 95 % interval of their median.

    ``kernels``: seconds of the kernels alone where they ran on a device; all other times include the transfers.
    """

    samples: tuple[float, ...]
    median: float
    interval: tuple[float, float]
    note: str = ""
    kernels: float | None = None


@dataclass(frozen=True, slots=True)
class VariantRow:
    """One line of a comparison.

    ``schedule`` and ``target`` name the variant; a baseline has schedule ``original`` and its tool as target.
    ``verified`` is True when every output agreed with the original loop, False when one did not, None when nothing
    was compared. ``speedup`` is against ``baseline``, with its interval from paired samples. ``compile_seconds`` is
    kept apart from ``measurement``: 0.0 where what was compiled before was kept, None where nothing is compiled.
    ``source`` is the generated text; ``floating_point`` the contract it was verified under; ``exact`` tells whether
    every output was the same bit for bit, ``outside`` whether it failed since a subscript left its array.
    """

    schedule: str
    target: str
    status: Status
    verified: bool | None
    measurement: Measurement | None = None
    speedup: float | None = None
    speedup_interval: tuple[float, float] | None = None
    compile_seconds: float | None = None
    note: str = ""
    source: str = ""
    is_baseline: bool = False
    floating_point: FloatingPoint = "reassociate"
    exact: bool | None = None
    outside: bool = False

    @property
    def median(self) -> float | None:
        """Seconds per call, or None when nothing was timed."""
        return None if self.measurement is None else self.measurement.median

    @property
    def interval(self) -> tuple[float, float] | None:
        """95 % interval of the median in seconds; None where the times support none."""
        found = None if self.measurement is None else self.measurement.interval
        return found if found is not None and all(map(math.isfinite, found)) else None

    @property
    def label(self) -> str:
        """``schedule/target`` as shown in tables and charts."""
        return f"{self.schedule}/{self.target}"


@dataclass(frozen=True, slots=True, repr=False)
class ComparisonData(Displayable):
    """All rows of a comparison with what is needed to read them honestly.

    ``baseline`` labels the row that speedups refer to; ``best`` the fastest verified row, or None when the fastest
    ones cannot be told apart; ``machine`` and ``sizes`` say what ran where. ``roofline`` is None where the speed of the
    machine was never measured, or the work cannot be counted.
    """

    name: str
    rows: tuple[VariantRow, ...]
    baseline: str | None
    best: str | None
    machine: str
    sizes: Mapping[str, int]
    notes: tuple[str, ...] = ()
    roofline: Roofline | None = None

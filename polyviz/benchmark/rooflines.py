"""What each kernel achieves of the machine's limit, which limit that is, and what holds the others back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from polyviz.gallery import kernels
from polyviz.model.roofline import limit_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from polyviz.benchmark.records import KernelRecord, Results, VariantRecord
    from polyviz.model.roofline import Limit, Work

GOAL = 1.5
"""The ratio to the best peer that is aimed at; what stays below gets a line that says why."""
STENCIL_GOAL = 2.0
"""The same for stencils: peers do not tile the time."""
NEAR = 0.8
"""From this share of a limit on, the limit is the reason."""
DECISIONS_SHOWN = 3
SHORT = 2e-4
"""Seconds below which starting threads takes a good part of a run."""


@dataclass(frozen=True, slots=True)
class Achieved:
    """One kernel under its roof: its work, its limit, the fastest variant of polyviz and the best peer."""

    kernel: str
    work: Work
    limit: Limit
    own: VariantRecord | None
    peer: VariantRecord | None

    @property
    def share(self) -> float | None:
        """What the fastest variant of polyviz achieves of the limit."""
        return self.share_in(None if self.own is None else self.own.median)

    @property
    def peer_share(self) -> float | None:
        """What the best peer achieves."""
        return self.share_in(None if self.peer is None else self.peer.median)

    @property
    def best_share(self) -> float | None:
        """What that variant achieves in its fastest round. The limits are those of the fastest run, too: neighbours on
        the same host slow programs that wait for caches down, and not the loop that measures the peak."""
        return self.share_in(None if self.own is None else self.own.shortest)

    @property
    def best_peer_share(self) -> float | None:
        """What the best peer achieves in its fastest round."""
        return self.share_in(None if self.peer is None else self.peer.shortest)

    def share_in(self, seconds: float | None) -> float | None:
        """What a run of so many ``seconds`` achieves of the limit."""
        return None if seconds is None else self.limit.share(seconds)


def achieved(results: Results) -> tuple[Achieved, ...]:
    """Every kernel whose work was counted; none where the machine was not measured."""
    peaks = results.peaks
    if peaks is None or results.settings.dtype not in peaks.multiply_add:
        return ()
    return tuple(
        Achieved(
            record.kernel,
            record.work,
            limit_of(record.work, peaks, results.settings.dtype),
            record.best_own,
            record.best_peer,
        )
        for record in results.kernels
        if record.work is not None and record.work.operations
    )


def goal_of(name: str) -> float:
    """The ratio that is aimed at for a kernel of the gallery, or for loops of another name.

    >>> goal_of("gemm"), goal_of("heat-3d"), goal_of("mine")
    (1.5, 2.0, 1.5)
    """
    known = next((one for one in kernels() if one.name == name), None)
    return STENCIL_GOAL if known is not None and known.category == "stencil" else GOAL


def held_back(record: KernelRecord, found: Achieved | None) -> str:
    """What holds the fastest variant of polyviz back, in one sentence without a full stop."""
    reasons = list(_reasons(record, found))
    own = record.best_own
    near = found is not None and (found.best_share or 0.0) >= NEAR
    if not near and own is not None and own.decisions and not own.obstacles:
        reasons.append(f"decided was: {'; '.join(dict.fromkeys(own.decisions[-DECISIONS_SHOWN:]))}")
    return "; ".join(reasons) or "nothing was found that explains it"


def _reasons(record: KernelRecord, found: Achieved | None) -> Iterator[str]:
    own = record.best_own
    if found is not None and found.share is not None:
        text = f"at {found.share:.0%} of the {found.limit.bottleneck}"
        if (found.best_share or 0.0) >= NEAR:
            text += "" if found.share >= NEAR else f", {found.best_share:.0%} in its fastest round"
            yield f"{text}: nearly all that this machine can do"
            return
        yield text
    if own is None:
        yield "no variant could be timed"
        return
    if own.median is not None and own.median < SHORT:
        yield f"a run takes {own.median * 1e6:.0f} µs, of which calling it and waking threads is a good part"
    yield from own.obstacles
    if found is not None and not own.obstacles and found.limit.bottleneck != "multiply-add peak":
        yield "arrays cross the memory bus more often than once, or latency is not hidden"

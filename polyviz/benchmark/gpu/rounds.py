"""All variants of one kernel on a device: each in a process of its own, timed in rounds that take them in turns.

A device grows warm and changes its clock, and others may use it: within a round everybody meets the same device.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from polyviz.benchmark.failures import first_line
from polyviz.benchmark.gpu.timed import Timed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyviz.benchmark.workers import Workers

RUN_LIMIT = 280.0
"""Seconds for one job: scheduling, compiling and the verified run of a variant, or one sample of it."""
_JOBS = "polyviz.benchmark.gpu.times"


@dataclass(frozen=True, slots=True)
class Race:
    """``variants`` of ``kernel`` on data of ``size`` and ``dtype``, ``repeats`` rounds of those that are right.

    ``workers`` has a process per variant, which goes on from kernel to kernel.
    """

    workers: Workers
    kernel: str
    size: str
    dtype: str
    repeats: int
    samples: dict[str, list[tuple[float, float]]] = field(default_factory=dict)

    def rows(self, variants: Sequence[str]) -> list[Timed]:
        """What came out for each of ``variants``, in their order; whoever fails drops out of the rounds."""
        failed = {variant: remark for variant in variants if (remark := self._remark("prepare", variant))}
        racing = [variant for variant in variants if variant not in failed]
        self.samples.update((variant, []) for variant in racing)
        for number in range(self.repeats):
            start = number % max(1, len(racing))
            for variant in racing[start:] + racing[:start]:
                remark = self._remark("sample", variant)
                if remark:
                    failed[variant] = remark
            racing = [variant for variant in racing if variant not in failed]
        for variant in racing:
            if remark := self._remark("verify", variant):
                failed[variant] = f"right in its first run, wrong in the last one: {remark}"
        return [self._row(variant, failed.get(variant)) for variant in variants]

    def _remark(self, job: str, variant: str) -> str:
        """Do a job; what is wrong with the variant, empty where nothing is."""
        arguments = (self.kernel, variant, self.size, self.dtype)
        label = f"{variant} on {self.kernel}"
        try:
            found: Any = self.workers.run(
                variant, f"{_JOBS}:{job}", *arguments, time_limit=RUN_LIMIT, label=label
            )
        except Exception as error:  # what a library raises is a row like any other
            return first_line(error)
        if job == "sample":
            self.samples[variant].append(found)
            return ""
        return str(found)

    def _row(self, variant: str, remark: str | None) -> Timed:
        if remark is not None:
            return Timed(self.kernel, variant, False, remark=remark)
        alone, together = (tuple(sample[place] for sample in self.samples[variant]) for place in range(2))
        return Timed(self.kernel, variant, True, alone, together)

"""What a device took for one variant of one kernel."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Timed:
    """One variant of one kernel: seconds of the kernels ``alone``, and ``together`` with transfers, round by round.

    Variants of a kernel have the same rounds. ``remark`` tells why there are no times, or what is wrong.
    """

    kernel: str
    schedule: str
    verified: bool
    alone: tuple[float, ...] = ()
    together: tuple[float, ...] = ()
    remark: str = ""

    @property
    def text(self) -> str:
        """What came out, in a line.

        >>> Timed("gemm", "isl", True, (0.001, 0.002, 0.009), (0.01, 0.02, 0.03)).text
        'kernels 2 ms, with transfers 20 ms'
        """
        if not self.alone:
            return self.remark
        medians = [statistics.median(samples) * 1e3 for samples in (self.alone, self.together)]
        return f"kernels {medians[0]:.3g} ms, with transfers {medians[1]:.3g} ms"

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Timed:
        """The times from their fields as plain data."""
        return cls(**{**data, "alone": tuple(data["alone"]), "together": tuple(data["together"])})

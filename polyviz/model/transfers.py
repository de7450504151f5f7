"""What moved between the memory of the host and that of a device, what did not have to, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from polyviz.model.display import Displayable

Direction = Literal["to device", "from device"]


@dataclass(frozen=True, slots=True)
class TransferCount:
    """One array in one direction for one ``reason``: how often it was ``moved``, or not, and the bytes together."""

    array: str
    direction: Direction
    moved: bool
    reason: str
    times: int
    bytes: int


@dataclass(frozen=True, slots=True, repr=False)
class TransferLog(Displayable):
    """All transfers that calls of kernels asked for, those that were saved included."""

    rows: tuple[TransferCount, ...] = ()

    @property
    def moved_bytes(self) -> int:
        """Bytes that went over the bus."""
        return sum(row.bytes for row in self.rows if row.moved)

    @property
    def saved_bytes(self) -> int:
        """Bytes that would have gone over the bus had every call moved its arrays there and back."""
        return sum(row.bytes for row in self.rows if not row.moved)


@dataclass(frozen=True, slots=True)
class DeviceTimes:
    """Milliseconds of one call by the device's own clock: moving data there, the kernels, moving data back.

    >>> DeviceTimes(1.0, 2.0, 0.5, 4096).total
    3.5
    """

    to_device: float
    kernels: float
    from_device: float
    moved_bytes: int

    @property
    def total(self) -> float:
        """Milliseconds with transfers."""
        return self.to_device + self.kernels + self.from_device

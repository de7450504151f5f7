"""Arrays that stay on the device between calls, transfers that are left out because of that, and a log of both.

The rules are those of PRL (Reddy, *Polyhedral Compilation for Domain Specific Languages*, 2019, chapter 4): a transfer
to the device is redundant while the host has not written, one back while the host does not read. NumPy does not tell
when a program reads or writes an array, so a promise about the host takes these forms:

- An array that is not kept: the host may read and write it. Every call moves it there, and back where it is written.
- ``keep(A)`` (*host_nowrite*): A moves there once. The promise is enforced: NumPy refuses to write A, whatever A is a
  view of, and every view made from then on. ``with writing(A):`` is the way to write it; it moves again afterwards.
- ``keep(A, host_noread=True)``: besides, what kernels write comes back at ``fetch(A)`` or ``release(A)`` only; until
  then the host holds older values.
- ``keep(A, host_noaccess=True)``: what kernels write never comes back.

One hole remains: a view of A made *before* ``keep(A)`` can still write. Up to 512 elements of A, evenly spread, are
compared before a transfer is left out. That finds a view that was written as a whole, not one that changed elsewhere.
"""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from polyviz.errors import ArgumentError, DeviceWarning
from polyviz.model.transfers import Direction, TransferCount, TransferLog
from polyviz.runtime.device_errors import explained_failures
from polyviz.runtime.write_lock import WriteLocks, can_be_locked

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

SAMPLE = 512
"""Elements that are compared to notice a write through an old view."""

_NOT_KEPT = "not kept"
_FIRST = "kept, moved once"
_STAYS = "kept, the host has not written it"
_WRITTEN_BY_HOST = "the host wrote it"
_OLD_VIEW = "the host wrote it through an old view"
_READ_BY_HOST = "the host may read it"
_NOT_READ = "the host does not read it"
_ASKED = "asked for"
_OTHER_DEVICE = "another device uses it"
_MADE = "made on the device"
_RESULT = "the result of the call"


@dataclass(slots=True)
class _Kept:
    """An array of the host with its copy on the device; at least one of the two holds the newest values."""

    array: NDArray[Any]
    host_noread: bool
    host_noaccess: bool
    copy: Any = None
    host_is_current: bool = True
    sample: bytes = b""
    reason: str = _FIRST
    name: str = "?"

    @property
    def device_is_current(self) -> bool:
        return self.copy is not None


class DeviceMemory:
    """The arrays that a process keeps on its device; ``polyviz.device`` is the one that kernels use."""

    def __init__(self) -> None:
        self._kept: dict[int, _Kept] = {}
        self._locks = WriteLocks()
        self._counts: dict[tuple[str, Direction, bool, str], tuple[int, int]] = {}

    # What people call.

    def keep(self, *arrays: NDArray[Any], host_noread: bool = False, host_noaccess: bool = False) -> None:
        """``arrays`` stay on the device from their next use on, and are locked against writing on the host.

        Raises ArgumentError, keeping none, for what cannot be kept: other things than NumPy arrays, memory that NumPy
        cannot lock, arrays that share memory with each other or with one that is kept. Without a device the arrays are
        locked all the same, so that a notebook does the same everywhere; a DeviceWarning says that nothing is saved.
        """
        for number, array in enumerate(arrays):
            self._check(array, [*arrays[:number], *(kept.array for kept in self._kept.values())])
        _warn_without_device()
        for array in arrays:
            self._locks.lock(array)
            self._kept[id(array)] = _Kept(array, host_noread or host_noaccess, host_noaccess)

    def release(self, *arrays: NDArray[Any]) -> None:
        """``arrays``, or all, are the host's again, with the newest values; their copies on the device are gone.

        Raises DeviceError when values cannot be brought back; the arrays are released with their older values then.
        """
        chosen = [self._known(array) for array in arrays] if arrays else list(self._kept.values())
        try:
            self._bring_back([kept for kept in chosen if not kept.host_noaccess], "released")
        finally:
            for kept in chosen:
                del self._kept[id(kept.array)]
                self._locks.unlock(kept.array)

    def fetch(self, *arrays: NDArray[Any]) -> None:
        """The host holds the newest values of ``arrays``, or of all; they stay on the device.

        Raises DeviceError when values cannot be brought back; no array was changed then.
        """
        chosen = [self._known(array) for array in arrays] if arrays else list(self._kept.values())
        self._bring_back(chosen, _ASKED)

    @contextmanager
    def writing(self, array: NDArray[Any]) -> Iterator[NDArray[Any]]:
        """``array`` may be written inside the block: its newest values are on the host, and move again afterwards."""
        kept = self._known(array)
        self._bring_back([kept], _ASKED)
        try:
            with self._locks.opened(array):
                yield array
        finally:
            kept.copy, kept.reason = None, _WRITTEN_BY_HOST

    @contextmanager
    def resident(
        self, *arrays: NDArray[Any], host_noread: bool = False, host_noaccess: bool = False
    ) -> Iterator[DeviceMemory]:
        """``arrays`` are kept inside the block and released at its end, also when it ends with an error."""
        self.keep(*arrays, host_noread=host_noread, host_noaccess=host_noaccess)
        try:
            yield self
        finally:
            left = [array for array in arrays if id(array) in self._kept]
            if left:  # without arrays, all that others keep would be released
                self.release(*left)

    @property
    def log(self) -> TransferLog:
        """What moved so far and what did not have to."""
        return TransferLog(tuple(TransferCount(*key, *count) for key, count in self._counts.items()))

    def clear_log(self) -> None:
        """Count from zero."""
        self._counts.clear()

    # What kernels ask.

    def keeps(self, array: object) -> bool:
        """Whether ``array`` stays on the device."""
        return id(array) in self._kept

    @property
    def is_used(self) -> bool:
        """Whether any array stays on the device."""
        return bool(self._kept)

    def is_ahead(self, array: object) -> bool:
        """Whether the newest values of ``array`` are on the device only."""
        found = self._kept.get(id(array))
        return found is not None and not found.host_is_current

    def place(self, name: str, array: NDArray[Any]) -> Any:
        """A copy of ``array`` on the device with its newest values; the one that is there already, if it is kept."""
        import cupy

        kept = self._kept.get(id(array))
        if kept is None:
            self._settle(array)
            self._note(name, "to device", array.nbytes, moved=True, reason=_NOT_KEPT)
            return cupy.asarray(array, order="K")
        kept.name = name
        if kept.device_is_current and kept.copy.device.id != cupy.cuda.Device().id:
            self._bring_back([kept], _OTHER_DEVICE)
            kept.copy, kept.reason = None, _OTHER_DEVICE
        if kept.device_is_current and kept.host_is_current and _sample(array) != kept.sample:
            kept.copy, kept.reason = None, _OLD_VIEW
        if not kept.device_is_current:
            copy = cupy.asarray(array, order="K")
            kept.copy, kept.sample = copy, _sample(array)
            self._note(name, "to device", array.nbytes, moved=True, reason=kept.reason)
        else:
            self._note(name, "to device", array.nbytes, moved=False, reason=_STAYS)
        return kept.copy

    def comes_back(self, array: NDArray[Any]) -> bool:
        """Whether what a kernel writes to ``array`` moves to the host at the end of the call."""
        kept = self._kept.get(id(array))
        return kept is None or not kept.host_noread

    def wrote(self, name: str, array: NDArray[Any]) -> None:
        """A call has written ``array`` and ended well; what comes back is on the host."""
        kept = self._kept.get(id(array))
        back = self.comes_back(array)
        reason = _NOT_KEPT if kept is None else _READ_BY_HOST if back else _NOT_READ
        self._note(name, "from device", array.nbytes, moved=back, reason=reason)
        if kept is not None:
            kept.host_is_current, kept.sample = back, _sample(array)
            return
        for other in self._sharing(array):
            other.copy, other.reason = None, _WRITTEN_BY_HOST

    @property
    def moved_bytes(self) -> int:
        """Bytes that went over the bus so far."""
        return self.log.moved_bytes

    def handed_back(self, name: str, size: int) -> None:
        """A new array of ``size`` bytes is what the call gives."""
        self._note(name, "from device", size, moved=True, reason=_RESULT)

    def made(self, name: str, size: int) -> None:
        """An array of ``size`` bytes was made on the device and did not have to move."""
        self._note(name, "to device", size, moved=False, reason=_MADE)

    def give_up(self, arrays: Iterable[Any]) -> list[str]:
        """A call that writes ``arrays`` has failed: their copies cannot be trusted any more.

        The names of those whose newest values were on the device only; the host goes on with older ones.
        """
        lost = []
        for kept in filter(None, (self._kept.get(id(array)) for array in arrays)):
            if not kept.host_is_current:
                lost.append(kept.name)
            kept.copy, kept.host_is_current, kept.reason = None, True, "the device failed"
        return lost

    def write(self, array: NDArray[Any], values: NDArray[Any]) -> None:
        """Replace the content of an array of the host, locked or not."""
        if id(array) not in self._kept:
            array[...] = values
            return
        with self._locks.opened(array):
            array[...] = values

    # How it is done.

    def _check(self, array: object, others: list[NDArray[Any]]) -> None:
        if not isinstance(array, np.ndarray):
            raise ArgumentError(
                f"Only NumPy arrays can be kept on the device, not {type(array).__name__}.",
                hint="An array of CuPy lives there already and is used in place.",
            )
        if array.ndim == 0 or not array.dtype.isnative or not array.flags.aligned:
            raise ArgumentError(
                "This array cannot be kept on the device: kernels work on a converted copy of it.",
                hint="Pass np.ascontiguousarray(A, dtype=A.dtype.newbyteorder('=')) to keep and to the kernels.",
            )
        if not can_be_locked(array):
            raise ArgumentError(
                "This array cannot be kept on the device: NumPy does not own its memory and cannot lock it.",
                hint="Keep a copy: A.copy().",
            )
        if any(np.may_share_memory(array, other) for other in others):
            raise ArgumentError(
                "This array shares memory with one that is kept on the device already.",
                hint="Keep the larger one, or release the first.",
            )

    def _known(self, array: object) -> _Kept:
        if id(array) not in self._kept:
            raise ArgumentError(
                "This array is not kept on the device.", hint="polyviz.device.keep(A) does that."
            )
        return self._kept[id(array)]

    def _sharing(self, array: NDArray[Any]) -> list[_Kept]:
        return [kept for kept in self._kept.values() if np.may_share_memory(kept.array, array)]

    def _settle(self, array: NDArray[Any]) -> None:
        """Where ``array`` is a view of something kept, the host has to hold its newest values."""
        self._bring_back(self._sharing(array), "another view of it is used")

    def _bring_back(self, chosen: list[_Kept], reason: str) -> None:
        newer = [kept for kept in chosen if not kept.host_is_current]
        if not newer:
            return
        import cupy

        with explained_failures(lambda: self.give_up(kept.array for kept in newer)):
            values = [cupy.asnumpy(kept.copy) for kept in newer]
        for kept, value in zip(newer, values, strict=True):
            self.write(kept.array, value)
            kept.host_is_current, kept.sample = True, _sample(kept.array)
            self._note(kept.name, "from device", value.nbytes, moved=True, reason=reason)

    def _note(self, name: str, direction: Direction, size: int, *, moved: bool, reason: str) -> None:
        key = (name, direction, moved, reason)
        times, together = self._counts.get(key, (0, 0))
        self._counts[key] = (times + 1, together + size)


def _warn_without_device() -> None:
    from polyviz.runtime.cuda import cuda_availability

    available, reason = cuda_availability()
    if not available:
        warnings.warn(
            f"There is no device to keep arrays on: {reason}. They are locked as they would be with one, and no "
            "transfer is saved.",
            DeviceWarning,
            stacklevel=3,
        )


def _sample(array: NDArray[Any]) -> bytes:
    """Up to ``SAMPLE`` elements, evenly spread."""
    if not array.size:
        return b""
    found: NDArray[Any] = array.flat[:: max(1, array.size // SAMPLE)]
    return found.tobytes()


device = DeviceMemory()
"""The memory of the device as kernels of this process use it."""
resident = device.resident

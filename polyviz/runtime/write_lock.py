"""NumPy arrays locked against writing while another memory holds their values."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray


@dataclass(slots=True)
class _Lock:
    """One array that is locked, how often, and whether it was writeable before."""

    array: NDArray[Any]
    writeable: bool
    count: int = 0


class WriteLocks:
    """Takes the permission to write from arrays and from all arrays they are views of, and gives it back.

    Guaranteed: as long as an array is locked, NumPy refuses to write through it, through the arrays it is a view of,
    and through every view of these made from now on. Not covered: views that existed before, and code outside NumPy
    that holds an address.

    >>> locks, values = WriteLocks(), np.zeros(3)
    >>> locks.lock(values)
    >>> values[0] = 1.0
    Traceback (most recent call last):
    ValueError: assignment destination is read-only
    >>> locks.unlock(values)
    >>> values[0] = 1.0
    """

    def __init__(self) -> None:
        self._locks: dict[int, _Lock] = {}

    def lock(self, array: NDArray[Any]) -> None:
        """Nobody writes ``array`` until :meth:`unlock`; locks are counted."""
        for one in _chain(array):
            found = self._locks.setdefault(id(one), _Lock(one, bool(one.flags.writeable)))
            found.count += 1
            one.flags.writeable = False

    def unlock(self, array: NDArray[Any]) -> None:
        """The permissions are as they were, unless another lock needs them to stay away."""
        chain = _chain(array)
        # NumPy makes a view writeable only while the owner of the memory is.
        self._open(chain)
        for one in chain:
            found = self._locks[id(one)]
            found.count -= 1
            if found.count:
                one.flags.writeable = False
            else:
                del self._locks[id(one)]

    def _open(self, chain: list[NDArray[Any]]) -> None:
        for one in reversed(chain):
            one.flags.writeable = self._locks[id(one)].writeable

    @contextmanager
    def opened(self, array: NDArray[Any]) -> Iterator[None]:
        """``array`` may be written inside the block, if it could be before it was locked."""
        chain = _chain(array)
        self._open(chain)
        try:
            yield
        finally:
            for one in chain:
                one.flags.writeable = False


def can_be_locked(array: NDArray[Any]) -> bool:
    """Whether the permission to write can be given back: NumPy must be able to tell that the memory is writeable."""
    owner: Any = _chain(array)[-1].base
    if owner is None or not array.flags.writeable:
        return True
    try:
        return not memoryview(owner).readonly
    except TypeError:
        return False


def _chain(array: NDArray[Any]) -> list[NDArray[Any]]:
    """``array`` and everything it is a view of, the owner of the memory last."""
    found = [array]
    while isinstance(found[-1].base, np.ndarray):
        found.append(found[-1].base)
    return found

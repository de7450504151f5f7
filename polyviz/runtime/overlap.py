"""Whether arrays share memory, on the host or on a CUDA device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.exceptions import TooHardError

if TYPE_CHECKING:
    from numpy.typing import NDArray

OVERLAP_WORK = 100_000
"""Candidate solutions NumPy may look at to tell whether two views share a byte; more would take seconds."""


def lives_on_device(value: object) -> bool:
    """Whether ``value`` is an array of CuPy or of another library that shares arrays on a CUDA device."""
    return not isinstance(value, np.ndarray) and hasattr(value, "__cuda_array_interface__")


def is_array(value: object) -> bool:
    """Whether ``value`` is an array of NumPy, or one on a device."""
    return isinstance(value, np.ndarray) or lives_on_device(value)


def _reach_on_device(array: Any) -> range:
    """The addresses from the first to the last byte of an array on a device."""
    first = last = int(array.__cuda_array_interface__["data"][0])
    for stride, extent in zip(array.strides, array.shape, strict=True):
        ends = (0, stride * (extent - 1))
        first, last = first + min(ends), last + max(ends)
    return range(first, last + array.itemsize)


def _share_on_device(one: Any, other: Any) -> bool:
    if not (lives_on_device(one) and lives_on_device(other) and one.size and other.size):
        return False
    first, second = _reach_on_device(one), _reach_on_device(other)
    return first.start < second.stop and second.start < first.stop


def share_memory(one: NDArray[Any], other: NDArray[Any]) -> bool:
    """Whether some byte belongs to both; views so tangled that NumPy gives up count as sharing."""
    if lives_on_device(one) or lives_on_device(other):
        return _share_on_device(one, other)
    if not np.may_share_memory(one, other):
        return False
    try:
        return np.shares_memory(one, other, max_work=OVERLAP_WORK)  # type: ignore[arg-type]  # any bound will do
    except TooHardError:
        return True


def overlaps_itself(array: NDArray[Any]) -> bool:
    """Whether two different subscripts reach the same memory (broadcast views, overlapping windows)."""
    if array.flags.c_contiguous or not array.size:
        return False
    axes = sorted(
        (abs(stride), extent) for stride, extent in zip(array.strides, array.shape, strict=True) if extent > 1
    )
    reach = array.itemsize
    for stride, extent in axes:
        # Sufficient and, for the views NumPy makes by slicing, exact: each axis steps over all inner ones.
        if stride < reach:
            return True
        reach += stride * (extent - 1)
    return False

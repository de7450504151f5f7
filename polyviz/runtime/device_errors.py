"""What can go wrong on a device, in sentences for the person in front of the notebook."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from polyviz.errors import DeviceError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_STICKY = (
    *("illegal", "launchfailure", "launchfailed", "launchtimeout", "hardwarestack", "assert", "misaligned"),
    *("invalidpc", "invalidaddressspace", "eccuncorrectable", "contextisdestroyed"),
)
"""Parts of the names of errors after which a process cannot use its device any more, as CUDA's two interfaces spell
them: ``cudaErrorLaunchTimeout``, ``CUDA_ERROR_LAUNCH_TIMEOUT``."""


@contextmanager
def explained_failures(abandon: Callable[[], Sequence[str]]) -> Iterator[None]:
    """Turns the errors of CuPy inside the block into DeviceError.

    ``abandon`` is called after one of them; it gives the names of arrays whose newest values are lost.
    """
    import cupy

    known = (
        cupy.cuda.memory.OutOfMemoryError,
        cupy.cuda.driver.CUDADriverError,
        cupy.cuda.runtime.CUDARuntimeError,
    )
    try:
        yield
    except known as error:
        raise _explained(error, abandon()) from error


def told(lost: Sequence[str]) -> str:
    """What a failure left of the arrays of the host.

    >>> told([])
    'No host array was changed.'
    """
    if not lost:
        return "No host array was changed."
    return f"The newest values of {', '.join(lost)} were on the device only and are lost; the host holds older ones."


def _explained(error: Exception, lost: Sequence[str]) -> DeviceError:
    import cupy

    if isinstance(error, cupy.cuda.memory.OutOfMemoryError):
        message = "The device has not enough memory for the arrays."
        hint = "Pass smaller arrays, or release kept ones with polyviz.device.release()."
    else:
        message = "The device failed while kernels ran."
        hint = "The target 'emulated' finds races and subscripts out of range in the same text."
        if any(part in str(error).lower().replace("_", "") for part in _STICKY):
            hint = f"CUDA cannot be used in this process any more: restart the kernel of the notebook. {hint}"
    reason = " ".join([str(error), *getattr(error, "__notes__", ())])
    return DeviceError(message, reason=reason, hint=f"{told(lost)} {hint}")

"""Arrays of a device for programs that run elsewhere: copies in the memory of the host."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from polyviz.runtime.binding import Binder
from polyviz.runtime.device_errors import explained_failures
from polyviz.runtime.overlap import lives_on_device

if TYPE_CHECKING:
    import inspect

    from polyviz.model.scop import Scop
    from polyviz.runtime.bound import Bound


def bind_on_host(
    scop: Scop, signature: inspect.Signature | None, arguments: tuple[Any, ...]
) -> tuple[Bound, tuple[str, ...]]:
    """The values of a call with arrays of a device as copies on the host, and a sentence where there are such.

    Raises what ``Binder.bind`` raises, also for arrays that overlap on the device, and DeviceError.
    """
    binder = Binder(scop, signature)
    if not any(map(lives_on_device, arguments)):
        return binder.bind(arguments, {}), ()
    there = Binder(scop, signature, on_device=True).bind(arguments, {})
    names = [name for name, value in there.given.items() if lives_on_device(value)]
    note = (
        f"{', '.join(names)}: on a CUDA device; all variants ran on copies in the memory of the host, so times of the "
        "target cuda hold transfers, which its notes tell apart"
    )
    return binder.bind(tuple(map(on_host, arguments)), {}), (note,)


def on_host(value: Any) -> Any:
    """A copy of an array of a device, in the order that it has there; anything else as it is. Raises DeviceError.

    >>> on_host(3)
    3
    """
    if not lives_on_device(value):
        return value
    import cupy

    with explained_failures(list):
        return cupy.asnumpy(cupy.asarray(value), order="A")

"""The host's side of a device program: which kernels to launch, with which grid and which arguments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from polyviz.errors import ArgumentError
from polyviz.model.device_program import HostBranch, HostLoop, HostSequence, HostStep, KernelText, Launch
from polyviz.runtime.evaluate import evaluate, evaluate_integer
from polyviz.runtime.failures import failed_test

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from polyviz.model.device_program import DeviceProgram
    from polyviz.model.program import Program, ProgramArgument

LARGEST_GRID = (2**31 - 1, 65535, 65535)
"""Blocks along x, y and z that every device takes; kernels go on past the last two by themselves."""


@dataclass(frozen=True, slots=True)
class LaunchCall:
    """One launch: the kernel, the numbers of blocks along x, y, z, and the values of the host's loops."""

    kernel: int
    grid: tuple[int, int, int]
    host: tuple[int, ...]


def launch_calls(program: DeviceProgram, parameters: Mapping[str, int]) -> Iterator[LaunchCall]:
    """The launches in their order; empty grids are left out.

    Raises ArgumentError for a grid that no device takes.
    """
    for launch, values in _walk(program.host, dict(parameters)):
        kernel = program.kernels[launch.kernel]
        host = tuple(evaluate_integer(value, values) for value in launch.values)
        known = {**parameters, **dict(zip(kernel.host, host, strict=True))}
        grid = _grid(kernel, known)
        if all(grid):
            yield LaunchCall(launch.kernel, grid, host)


def _grid(kernel: KernelText, values: Mapping[str, int]) -> tuple[int, int, int]:
    wanted = [max(0, evaluate_integer(count, values)) for count in kernel.grid]
    if wanted[0] > LARGEST_GRID[0]:
        raise ArgumentError(
            f"{kernel.name} would need {wanted[0]} blocks along x; a device takes {LARGEST_GRID[0]}.",
            hint="Use larger tiles.",
        )
    x, y, z = (min(count, most) for count, most in zip(wanted, LARGEST_GRID, strict=True))
    return x, y, z


def _walk(step: HostStep, values: dict[str, int]) -> Iterator[tuple[Launch, dict[str, int]]]:
    match step:
        case HostSequence(steps):
            for one in steps:
                yield from _walk(one, values)
        case HostBranch(condition, then, otherwise):
            chosen = then if evaluate(condition, values) else otherwise
            if chosen is not None:
                yield from _walk(chosen, values)
        case HostLoop(iterator, start, stop, stride, body):
            first, last = evaluate_integer(start, values), evaluate_integer(stop, values)
            for value in range(first, last, stride):
                yield from _walk(body, {**values, iterator: value})
        case Launch():
            yield step, values


def largest_size(device: DeviceProgram, values: Mapping[str, Any], parameters: Mapping[str, int]) -> int:
    """The largest number that bounds of loops and places in arrays are made of in one call."""
    found = [abs(value) for value in parameters.values()]
    for name in device.arrays:
        array = values[name]
        steps = [abs(step) // array.itemsize for step in array.strides]
        found += [
            *array.shape,
            *steps,
            sum((size - 1) * step for size, step in zip(array.shape, steps, strict=True)),
        ]
    return max(found, default=0)


def is_narrow(kernel: KernelText, call: LaunchCall, largest: int) -> bool:
    """Whether 32 bits hold every subscript of a launch, and no block has to go on beyond the grid.

    No size of the call is above ``largest``.
    """
    most = max([largest, *map(abs, call.host)])
    whole = all(count < limit for count, limit in zip(call.grid[1:], LARGEST_GRID[1:], strict=True))
    return whole and kernel.index is not None and kernel.index.fits(most)


def raise_failure(program: Program, values: Mapping[str, Any]) -> None:
    """Raise what a kernel told: a subscript out of range, a step of 0; ``values`` hold its cell."""
    assert program.device is not None
    number = int(values[program.device.failure][0]) if program.device.failure else 0
    if number:
        raise failed_test(program.failures[number - 1])


def scalar_of(
    argument: ProgramArgument, values: Mapping[str, Any], parameters: Mapping[str, int], *, narrow: bool = False
) -> Any:
    """The number passed for an argument that every launch gets the same, in the type the kernel takes.

    Sizes have 32 bits for a ``narrow`` kernel, 64 otherwise.
    """
    size = np.int32 if narrow else np.int64
    if argument.kind == "parameter":
        return size(parameters[argument.name])
    if argument.kind == "extent":
        return size(values[argument.name].shape[argument.axis])
    if argument.kind == "stride":
        array = values[argument.name]
        return size(array.strides[argument.axis] // array.itemsize)
    return np.dtype(argument.dtype).type(values[argument.name])


def host_value(argument: ProgramArgument, call: LaunchCall, *, narrow: bool = False) -> Any:
    """The value of a loop of the host that ``call`` passes, in 32 bits for a ``narrow`` kernel."""
    return (np.int32 if narrow else np.int64)(call.host[argument.axis])


def steps_of(array: Any) -> tuple[int, ...]:
    """Cells from one value of each subscript to the next, on the host or on a device.

    >>> import numpy as np
    >>> steps_of(np.zeros((3, 4), order="F"))
    (1, 3)
    """
    return tuple(step // array.dtype.itemsize for step in array.strides)

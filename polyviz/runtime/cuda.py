"""The target ``cuda``: kernels compiled by NVRTC and launched through CuPy.

NumPy arrays are moved to the device and, where they are written, back when everything has ended well, so that they hold
either the old or the complete new values; CuPy arrays are used in place. ``residency`` leaves transfers out.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from polyviz.codegen.preamble_cuda import with_wide_indices
from polyviz.errors import ArgumentError, DeviceError, ToolchainError
from polyviz.model.transfers import DeviceTimes
from polyviz.runtime.device_code import load_kernels
from polyviz.runtime.device_errors import explained_failures, told
from polyviz.runtime.device_host import (
    host_value,
    is_narrow,
    largest_size,
    launch_calls,
    raise_failure,
    scalar_of,
    steps_of,
)
from polyviz.runtime.evaluate import evaluate
from polyviz.runtime.execute import plain_arrays, result_of, write_back
from polyviz.runtime.overlap import lives_on_device
from polyviz.runtime.residency import device as device_memory

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from polyviz.model.device_program import DeviceProgram
    from polyviz.model.program import LocalArray, Program, ProgramArgument
    from polyviz.runtime.device_host import LaunchCall
    from polyviz.runtime.residency import DeviceMemory

GPU_WHEEL = "cupy-cuda13x"
_INSTEAD = "the target 'emulated' runs the same text"


def cuda_availability() -> tuple[bool, str]:
    """Whether kernels can run on a device here, and on which, or what is missing."""
    if find_spec("cupy") is None:
        return False, f"CuPy is not installed: pip install {GPU_WHEEL}"
    try:
        import cupy

        if not cupy.is_available():
            return False, _what_is_missing()
        name = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)["name"].decode()
    except Exception as error:  # a broken installation fails in many ways
        return False, f"CuPy or the CUDA driver does not work ({error}); {_INSTEAD}"
    return True, f"{name}, through CuPy {cupy.__version__}"


def _what_is_missing() -> str:
    """Why CuPy finds no device: no driver, one that is too old, or no GPU."""
    import cupy

    driver, needed = cupy.cuda.runtime.driverGetVersion(), cupy.cuda.runtime.runtimeGetVersion()
    if driver == 0:
        return f"there is no CUDA driver: install NVIDIA's driver where there is a GPU; {_INSTEAD}"
    if driver // 1000 < needed // 1000:
        return (
            f"the driver is too old: it knows CUDA {_version(driver)}, and this CuPy needs CUDA {needed // 1000}: "
            f"update the driver, or install the CuPy for CUDA {driver // 1000}; {_INSTEAD}"
        )
    return f"CuPy finds no CUDA device, though there is a driver for CUDA {_version(driver)}; {_INSTEAD}"


def _version(number: int) -> str:
    return f"{number // 1000}.{number % 1000 // 10}"


class CudaRunner:
    """Runs a device program on the current device; ``times`` holds those of the latest run."""

    def __init__(self, program: Program, memory: DeviceMemory = device_memory) -> None:
        available, reason = cuda_availability()
        if not available:
            raise ToolchainError("The target 'cuda' cannot run here.", reason=reason)

        assert program.device is not None
        self.program = program
        self.device: DeviceProgram = program.device
        self.memory = memory
        self.times: DeviceTimes | None = None
        self.steps: dict[str, tuple[int, ...]] = {}
        """Of the latest run: cells from one value of each subscript to the next, by array that is not in C order."""
        self._launched = False
        self._known: tuple[Mapping[str, int], list[LaunchCall]] | None = None
        self._kernels: dict[tuple[int, bool], list[Any]] = {}
        started = time.perf_counter()
        self._loaded(narrow=True)
        self.compile_seconds = time.perf_counter() - started
        self.notes: tuple[str, ...] = (reason,)

    def _loaded(self, *, narrow: bool) -> list[Any]:
        """The kernels on the current device, with subscripts of 32 bits or of 64; another device needs its own code."""
        import cupy

        key = (cupy.cuda.Device().id, narrow)
        if key not in self._kernels:
            text = self.program.text if narrow else with_wide_indices(self.program.text)
            self._kernels[key] = load_kernels(replace(self.program, text=text))
        return self._kernels[key]

    def __call__(self, given: Mapping[str, Any], parameters: Mapping[str, int]) -> Any:
        """Run in place.

        Raises DeviceError, with the arrays of the host as they were, when the device fails, and ArgumentError for an
        array that lives on another device.
        """
        self._check_devices(given)
        self._launched = False
        try:
            with explained_failures(lambda: self._abandoned(given)):
                return self._run(given, parameters)
        except DeviceError:
            raise
        except BaseException as error:
            lost = self._abandoned(given)
            if lost:
                error.add_note(told(lost))
            raise

    def _abandoned(self, given: Mapping[str, Any]) -> list[str]:
        """The arrays whose newest values a call that broke off took with it; none before its first launch."""
        return self.memory.give_up(given[name] for name in self.program.written) if self._launched else []

    def _check_devices(self, given: Mapping[str, Any]) -> None:
        import cupy

        here = cupy.cuda.Device().id
        for name, value in given.items():
            if not lives_on_device(value):
                continue
            there = cupy.asarray(value).device.id
            if there != here:
                raise ArgumentError(
                    f"{name} lives on device {there}, and the kernel runs on device {here}.",
                    hint=f"Call it inside `with cupy.cuda.Device({there}):`, or move the array.",
                )

    def _run(self, given: Mapping[str, Any], parameters: Mapping[str, int]) -> Any:
        import cupy

        arrays, copied = plain_arrays(given)
        host = {**given, **arrays}
        # The host works out what to launch before the clock starts: a short kernel would wait for it.
        calls = self._launches(parameters)
        moved = self.memory.moved_bytes
        marks = [cupy.cuda.Event() for _ in range(5)]
        marks[0].record()
        there = {name: self._there(name, host, parameters) for name in self.device.arrays}
        marks[1].record()
        ready = self._ready(calls, {**host, **there}, parameters)
        marks[2].record()
        for launch in ready:
            self._launched = True
            launch.start()
        marks[3].record()
        raise_failure(self.program, there)
        back = {name: cupy.asnumpy(there[name]) for name in self._returning(host)}
        marks[4].record()
        marks[4].synchronize()
        self._finish(host, back)
        there_, run, back_ = (
            float(cupy.cuda.get_elapsed_time(marks[start], marks[end]))
            for start, end in ((0, 1), (2, 3), (3, 4))
        )
        self.times = DeviceTimes(there_, run, back_, self.memory.moved_bytes - moved)
        write_back(self.program, host, copied)
        return result_of(self.program, {**there, **host})

    def _there(self, name: str, host: Mapping[str, Any], parameters: Mapping[str, int]) -> Any:
        """The array on the device: itself where it is there, a copy with the same strides otherwise."""
        import cupy

        if name in self.device.cells:
            return cupy.asarray(np.array(host.get(name, 0)).astype(self.program.types[name].dtype))
        if name in host:
            value = host[name]
            return self.memory.place(name, value) if isinstance(value, np.ndarray) else cupy.asarray(value)
        local = next(local for local in self.program.locals if local.name == name)
        made = _made(local, {**host, **parameters})
        self.memory.made(name, made.nbytes)
        return made

    def _returning(self, host: Mapping[str, Any]) -> list[str]:
        """What the caller sees and lives on the host: written arguments, scalars, and arrays handed back."""
        found = [
            name
            for name in self.program.written
            if isinstance(host[name], np.ndarray) and self.memory.comes_back(host[name])
        ]
        made = {local.name for local in self.program.locals}
        return [*found, *self.device.cells, *(name for name in self.program.results if name in made)]

    def _finish(self, host: dict[str, Any], back: Mapping[str, Any]) -> None:
        """Everything has come back: the host's arrays change now, all of them, whatever key is pressed."""
        written = [name for name in self.program.written if isinstance(host[name], np.ndarray)]
        try:
            self._replace(host, back, written)
        except KeyboardInterrupt:
            self._replace(host, back, written)
            raise
        for name in written:
            self.memory.wrote(name, host[name])
        for name in self.device.cells:
            host[name] = back[name][()].item()
        for local in self.program.locals:
            if local.name in back:
                host[local.name] = back[local.name]
                self.memory.handed_back(local.name, back[local.name].nbytes)

    def _replace(self, host: Mapping[str, Any], back: Mapping[str, Any], written: Sequence[str]) -> None:
        for name in written:
            if name in back:
                self.memory.write(host[name], back[name])

    def _launches(self, parameters: Mapping[str, int]) -> list[LaunchCall]:
        """What to launch for ``parameters``; a call with those of the one before does not ask again."""
        if self._known is None or self._known[0] != parameters:
            self._known = dict(parameters), list(launch_calls(self.device, parameters))
        return self._known[1]

    def _ready(
        self, calls: Sequence[LaunchCall], values: Mapping[str, Any], parameters: Mapping[str, int]
    ) -> list[_Launch]:
        """Every launch of a call, with its arguments as CuPy takes them."""
        apart = [name for name, kind in self.program.types.items() if kind.layout != "C" and name in values]
        self.steps = {name: steps_of(values[name]) for name in apart}
        largest = largest_size(self.device, values, parameters)
        fixed: dict[tuple[int, bool], list[Any]] = {}
        ready = []
        for call in calls:
            kernel = self.device.kernels[call.kernel]
            narrow = is_narrow(kernel, call, largest)
            if (call.kernel, narrow) not in fixed:
                fixed[call.kernel, narrow] = [
                    None if one.kind == "host" else _value(one, values, parameters, narrow=narrow)
                    for one in kernel.arguments
                ]
            arguments = tuple(
                host_value(one, call, narrow=narrow) if one.kind == "host" else value
                for one, value in zip(kernel.arguments, fixed[call.kernel, narrow], strict=True)
            )
            loaded = self._loaded(narrow=narrow)[call.kernel]
            ready.append(_Launch(kernel.name, loaded, call.grid, kernel.block, arguments))
        return ready


@dataclass(frozen=True, slots=True)
class _Launch:
    """One launch: the kernel's name and machine code, blocks, threads of a block, and arguments."""

    name: str
    kernel: Any
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    arguments: tuple[Any, ...]

    def start(self) -> None:
        try:
            self.kernel(self.grid, self.block, self.arguments)
        except Exception as error:
            error.add_note(f"It was told at the launch of {self.name}, {self.grid} blocks of {self.block} threads.")
            raise


def _value(
    argument: ProgramArgument, values: Mapping[str, Any], parameters: Mapping[str, int], *, narrow: bool
) -> Any:
    if argument.kind in ("array", "cell"):
        return values[argument.name]
    return scalar_of(argument, values, parameters, narrow=narrow)


def _made(local: LocalArray, values: Mapping[str, Any]) -> Any:
    """An array that the source creates itself, made on the device with what it holds at first."""
    import cupy

    shape = tuple(int(evaluate(extent, values)) for extent in local.extents)
    if local.values is not None:
        return cupy.array(local.values, dtype=local.dtype)
    if local.function == "full" and local.fill is not None:
        return cupy.full(shape, evaluate(local.fill, values), dtype=local.dtype)
    return getattr(cupy, local.function)(shape, dtype=local.dtype)

"""The target ``cuda``: kernels compiled by NVRTC and launched through CuPy.

NumPy arrays are moved to the device and, where they are written, back when everything has ended well, so that they hold
either the old or the complete new values; CuPy arrays are used in place.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from polyviz.errors import DeviceError, ToolchainError
from polyviz.runtime.device_host import launch_calls, scalar_of
from polyviz.runtime.execute import make_locals, plain_arrays, result_of, write_back

if TYPE_CHECKING:
    from collections.abc import Mapping

    from polyviz.model.device_program import DeviceProgram
    from polyviz.model.program import Program
    from polyviz.runtime.device_host import LaunchCall


@dataclass(frozen=True, slots=True)
class DeviceTimes:
    """Milliseconds of one call by the device's own clock: moving data there, the kernels, moving data back."""

    to_device: float
    kernels: float
    from_device: float
    moved_bytes: int


def cuda_availability() -> tuple[bool, str]:
    """Whether kernels can run on a device here, and on which, or what is missing."""
    if find_spec("cupy") is None:
        return False, "CuPy is not installed: pip install cupy-cuda13x"
    import cupy

    try:
        if not cupy.is_available():
            return (
                False,
                "CuPy finds no CUDA device (no GPU, or no driver); the target 'emulated' runs the same text",
            )
        name = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)["name"].decode()
    except Exception as error:  # CuPy's own errors, when the driver does not fit
        return False, f"the CUDA driver does not work ({error})"
    return True, f"{name}, through CuPy {cupy.__version__}"


class CudaRunner:
    """Runs a device program on the current device; ``times`` holds those of the latest run."""

    def __init__(self, program: Program) -> None:
        available, reason = cuda_availability()
        if not available:
            raise ToolchainError("The target 'cuda' cannot run here.", reason=reason)
        import cupy

        assert program.device is not None
        self.program = program
        self.device: DeviceProgram = program.device
        self.times: DeviceTimes | None = None
        contract = "true" if program.floating_point == "reassociate" else "false"
        started = time.perf_counter()
        try:
            module = cupy.RawModule(
                code=program.text, options=("--std=c++17", f"--fmad={contract}"), backend="nvrtc"
            )
            self._kernels = [module.get_function(kernel.name) for kernel in self.device.kernels]
        except Exception as error:
            raise ToolchainError(
                "The device's compiler refuses the generated text.", reason=str(error)
            ) from error
        self.compile_seconds = time.perf_counter() - started
        self.notes: tuple[str, ...] = (reason,)

    def __call__(self, given: Mapping[str, Any], parameters: Mapping[str, int]) -> Any:
        """Run in place; raises DeviceError, with the arrays of the host as they were, when the device fails."""
        import cupy

        try:
            return self._run(given, parameters)
        except cupy.cuda.memory.OutOfMemoryError as error:
            raise DeviceError(
                "The device has not enough memory for the arrays.",
                reason=str(error),
                hint="No host array was changed.",
            ) from error
        except (cupy.cuda.driver.CUDADriverError, cupy.cuda.runtime.CUDARuntimeError) as error:
            raise DeviceError(
                "The device failed.", reason=str(error), hint="No host array was changed."
            ) from error

    def _run(self, given: Mapping[str, Any], parameters: Mapping[str, int]) -> Any:
        import cupy

        arrays, copied = plain_arrays(given)
        host = {**given, **arrays, **make_locals(self.program.locals, {**given, **parameters})}
        marks = [cupy.cuda.Event() for _ in range(4)]
        marks[0].record()
        there = {name: self._there(name, host) for name in self.device.arrays}
        marks[1].record()
        for call in launch_calls(self.device, parameters):
            self._launch(call, {**host, **there}, parameters)
        marks[2].record()
        back = {name: cupy.asnumpy(there[name]) for name in self._returning(host)}
        marks[3].record()
        marks[3].synchronize()
        for name, values in back.items():
            if name in self.device.cells:
                host[name] = values[()].item()
            else:
                host[name][...] = values
        moved = sum(array.nbytes for name, array in there.items() if array is not host.get(name))
        there_, run, back_ = (
            cupy.cuda.get_elapsed_time(marks[place], marks[place + 1]) for place in range(3)
        )
        self.times = DeviceTimes(there_, run, back_, moved + sum(array.nbytes for array in back.values()))
        write_back(self.program, host, copied)
        return result_of(self.program, host)

    def _there(self, name: str, host: Mapping[str, Any]) -> Any:
        """The array on the device: itself where it is there, a copy with the same strides otherwise."""
        import cupy

        value = host.get(name, 0)
        if isinstance(value, cupy.ndarray):
            return value
        if name in self.device.cells:
            return cupy.asarray(np.array(value).astype(self.program.types[name].dtype))
        return cupy.asarray(value, order="K")

    def _returning(self, host: Mapping[str, Any]) -> list[str]:
        """What the caller sees and lives on the host: written arguments, scalars, and arrays handed back."""
        seen = {*self.program.written, *self.device.cells, *self.program.results}
        return [
            name
            for name in self.device.arrays
            if name in seen and (name in self.device.cells or isinstance(host.get(name), np.ndarray))
        ]

    def _launch(self, call: LaunchCall, values: Mapping[str, Any], parameters: Mapping[str, int]) -> None:
        kernel = self.device.kernels[call.kernel]
        arguments = tuple(
            values[argument.name]
            if argument.kind in ("array", "cell")
            else scalar_of(argument, values, call, parameters)
            for argument in kernel.arguments
        )
        self._kernels[call.kernel](call.grid, kernel.block, arguments)

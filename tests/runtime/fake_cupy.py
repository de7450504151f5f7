"""A strict stand-in for the part of CuPy that kernels use.

Its arrays live behind a wall: nothing converts them to NumPy but ``asnumpy``. Kernels are Python functions by name.
Memory is limited, every transfer is written down, and any step can be made to fail.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable


class OutOfMemoryError(MemoryError):
    """As ``cupy.cuda.memory.OutOfMemoryError``."""


class CUDADriverError(RuntimeError):
    """As ``cupy.cuda.driver.CUDADriverError``."""


class CUDARuntimeError(RuntimeError):
    """As ``cupy.cuda.runtime.CUDARuntimeError``."""


class DeviceArray:
    """As ``cupy.ndarray``; ``values`` is the memory of the device, for the kernels of the tests only."""

    def __init__(self, values: np.ndarray, device: int = 0) -> None:
        self.values = values
        self.device = SimpleNamespace(id=device)
        self.shape, self.strides, self.dtype = values.shape, values.strides, values.dtype
        self.itemsize, self.nbytes, self.ndim, self.size = (
            values.itemsize,
            values.nbytes,
            values.ndim,
            values.size,
        )
        self.flags = SimpleNamespace(c_contiguous=values.flags.c_contiguous)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {
            "shape": self.shape,
            "typestr": self.dtype.str,
            "data": (self.values.ctypes.data, False),
            "version": 3,
        }

    def __array__(self, *_: object, **__: object) -> np.ndarray:
        raise TypeError("Implicit conversion to a NumPy array is not allowed.")


@dataclass
class FakeGpu:
    """The device: what it has, what it was asked to do, and which step fails next.

    ``kernels`` take the lists of their arrays and of their numbers. ``failures`` maps a step (``to device``,
    ``from device``, ``launch``, ``synchronize``) to how often it works before it fails, and the error.
    """

    kernels: dict[str, Callable[[list[np.ndarray], list[Any]], None]] = field(default_factory=dict)
    capacity: int = 10**9
    threads: int = 1024
    devices: int = 1
    driver: int = 13000
    runtime: int = 13000
    steps: list[tuple[str, int]] = field(default_factory=list)
    failures: dict[str, tuple[int, BaseException]] = field(default_factory=dict)
    current: int = 0
    capability: str = "90"
    clock: float = 0.0

    def array(self, values: Any, device: int = 0) -> DeviceArray:
        """An array that somebody has put on the device."""
        return DeviceArray(np.array(values), device)

    def moves(self, direction: str) -> int:
        """How often something moved ``to device`` or ``from device``."""
        return sum(step == direction for step, _ in self.steps)

    def step(self, kind: str, size: int = 0) -> None:
        """Something happens, or fails."""
        if kind in self.failures:
            left, error = self.failures[kind]
            if left == 0:
                del self.failures[kind]
                raise error
            self.failures[kind] = (left - 1, error)
        self.clock += 1.0
        self.steps.append((kind, size))

    def _asarray(self, value: Any, order: str | None = None) -> DeviceArray:
        if isinstance(value, DeviceArray):
            return value
        if not isinstance(value, np.ndarray) or order not in (None, "K"):
            raise TypeError(f"a test moves {type(value).__name__} in order {order}")
        if value.nbytes > self.capacity:
            raise OutOfMemoryError(f"Out of memory allocating {value.nbytes} bytes")
        self.step("to device", value.nbytes)
        return DeviceArray(np.array(value, order="K"), self.current)

    def _asnumpy(self, array: DeviceArray, order: str = "C") -> np.ndarray:
        if not isinstance(array, DeviceArray):
            raise TypeError("only arrays of the device come back")
        self.step("from device", array.nbytes)
        return array.values.copy(order)

    def _filled(self, function: str) -> Callable[..., DeviceArray]:
        return lambda *arguments, **options: DeviceArray(
            getattr(np, function)(*arguments, **options), self.current
        )

    def module(self) -> ModuleType:
        """What ``import cupy`` gives."""
        made = ModuleType("cupy")
        made.__spec__ = ModuleSpec("cupy", None)
        made.__version__ = "14.0"
        made.ndarray = DeviceArray
        made.asarray, made.asnumpy = self._asarray, self._asnumpy
        made.empty, made.zeros, made.ones, made.full = map(self._filled, ("empty", "zeros", "ones", "full"))
        made.is_available = lambda: self.devices > 0 and self.driver >= self.runtime // 1000 * 1000
        made.RawModule = partial(_Module, self)
        made.cuda = SimpleNamespace(
            Event=lambda: _Event(self),
            Device=lambda: SimpleNamespace(id=self.current, compute_capability=self.capability),
            get_elapsed_time=lambda first, second: second.time - first.time,
            memory=SimpleNamespace(OutOfMemoryError=OutOfMemoryError),
            driver=SimpleNamespace(CUDADriverError=CUDADriverError),
            runtime=SimpleNamespace(
                CUDARuntimeError=CUDARuntimeError,
                driverGetVersion=lambda: self.driver,
                runtimeGetVersion=lambda: self.runtime,
                getDeviceProperties=lambda number: {"name": b"Imaginary GPU"},
            ),
        )
        return made


class _Event:
    def __init__(self, gpu: FakeGpu) -> None:
        self._gpu = gpu
        self.time = -1.0

    def record(self) -> None:
        self.time = self._gpu.clock

    def synchronize(self) -> None:
        if self.time < 0:
            raise CUDARuntimeError("cudaErrorInvalidResourceHandle: the event was not recorded")
        self._gpu.step("synchronize")


class _Module:
    """As ``cupy.RawModule`` with a file: machine code that holds the kernels by name."""

    def __init__(self, gpu: FakeGpu, *, path: str) -> None:
        self._gpu = gpu
        self._path = Path(path)

    def get_function(self, name: str) -> _Kernel:
        code = self._path.read_bytes()
        if not code.startswith((b"\x7fELF", b"//")):
            raise CUDADriverError("CUDA_ERROR_INVALID_IMAGE: device kernel image is invalid")
        if name.encode() not in code:
            raise CUDADriverError(f"CUDA_ERROR_NOT_FOUND: {name}")
        return _Kernel(self._gpu, name, self._gpu.current)


class _Kernel:
    def __init__(self, gpu: FakeGpu, name: str, device: int) -> None:
        self._gpu = gpu
        self._name = name
        self._device = device
        self.max_threads_per_block = gpu.threads

    def __call__(self, grid: tuple[int, ...], block: tuple[int, ...], arguments: tuple[Any, ...]) -> None:
        assert len(grid) == len(block) == 3
        assert all(isinstance(size, int) and size > 0 for size in (*grid, *block))
        assert isinstance(arguments, tuple)
        if self._device != self._gpu.current:
            raise CUDADriverError("CUDA_ERROR_INVALID_HANDLE: invalid resource handle")
        for value in arguments:
            if not isinstance(value, DeviceArray | np.generic):
                raise TypeError(f"Unsupported type {type(value)}")
            if isinstance(value, DeviceArray) and value.device.id != self._gpu.current:
                raise CUDARuntimeError("cudaErrorIllegalAddress: an illegal memory access was encountered")
        self._gpu.step("launch")
        arrays = [value.values for value in arguments if isinstance(value, DeviceArray)]
        self._gpu.kernels[self._name](arrays, [value for value in arguments if isinstance(value, np.generic)])

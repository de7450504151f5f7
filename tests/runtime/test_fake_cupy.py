"""The device of the tests has what CuPy has, under the same names and with the same parameters, and nothing else."""

from __future__ import annotations

import inspect
from types import ModuleType, SimpleNamespace

import pytest

from tests.runtime.fake_cupy import CUDARuntimeError, DeviceArray, FakeGpu, OutOfMemoryError

cupy = pytest.importorskip("cupy")


def names(value, path=""):
    """Every public name below ``value``, with what it stands for."""
    if isinstance(value, ModuleType | SimpleNamespace):
        for name, inner in vars(value).items():
            if not name.startswith("__"):
                yield from names(inner, f"{path}.{name}")
        return
    yield path.removeprefix("."), value


FAKE = dict(names(FakeGpu().module()))


def real(path):
    found = cupy
    for name in path.split("."):
        found = getattr(found, name)
    return found


def words(path):
    """The parameters of a function of CuPy: from its signature, or from the first line of what it says of itself."""
    found = real(path)
    try:
        return set(inspect.signature(found).parameters)
    except ValueError:
        return set((found.__doc__ or "").replace("=", " ").replace("(", " ").replace(",", " ").split())


@pytest.mark.parametrize("path", FAKE)
def test_cupy_has_everything_that_the_device_of_the_tests_has(path):
    assert callable(real(path)) or inspect.isclass(real(path)) or inspect.ismodule(real(path))


@pytest.mark.parametrize("path", ["asarray", "asnumpy", "full", "zeros"])
def test_parameters_have_the_names_of_cupy(path):
    asked = {
        "asarray": {"order"},
        "asnumpy": {"order"},
        "full": {"shape", "dtype"},
        "zeros": {"shape", "dtype"},
    }
    assert asked[path] <= words(path)


@pytest.mark.parametrize(
    ("path", "attributes"),
    [
        ("RawModule", ("get_function", "file_path")),
        ("RawKernel", ("max_threads_per_block", "__call__")),
        ("cuda.Event", ("record", "synchronize")),
        ("cuda.Device", ("id", "compute_capability")),
        ("ndarray", ("device", "strides", "itemsize", "nbytes", "__cuda_array_interface__")),
    ],
)
def test_attributes_that_kernels_use_are_there(path, attributes):
    assert [name for name in attributes if not hasattr(real(path), name)] == []


def test_times_are_milliseconds_from_the_earlier_event_to_the_later():
    text = cupy.cuda.get_elapsed_time.__doc__
    assert "start_event, end_event" in text
    assert "milliseconds" in text


def test_errors_are_of_the_same_kind():
    assert issubclass(cupy.cuda.memory.OutOfMemoryError, MemoryError)
    assert issubclass(OutOfMemoryError, MemoryError)
    assert issubclass(cupy.cuda.runtime.CUDARuntimeError, RuntimeError)
    assert issubclass(CUDARuntimeError, RuntimeError)


def test_arrays_of_a_device_do_not_turn_into_arrays_of_the_host():
    import numpy as np

    with pytest.raises(TypeError, match="Implicit conversion"):
        np.asarray(DeviceArray(np.ones(2)))

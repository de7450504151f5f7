"""Cells for blocks and threads on a machine without a GPU: compared in the emulator, shown, explained."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import pytest

import polyviz as pv
from polyviz.api.targets import _cuda
from polyviz.errors import ToolchainError
from polyviz.model.transfers import DeviceTimes
from polyviz.notebook import session
from polyviz.runtime.nvrtc import nvrtc_availability
from polyviz.views.schema import MIME
from tests.runtime.fake_cupy import CUDARuntimeError, FakeGpu

PRODUCT = """\
for i in range(N):
    for j in range(N):
        C[i, j] = 0.0
        for k in range(N):
            C[i, j] += A[i, k] * B[k, j]
"""


@pytest.fixture
def gpu(monkeypatch):
    """A device that exists in Python only; its kernel doubles the array."""
    available, reason = nvrtc_availability()
    if not available:
        pytest.skip(reason)

    def double(arrays, _numbers):
        arrays[0][...] *= 2.0

    fake = FakeGpu({"kernel_cell_0": double})
    monkeypatch.setitem(sys.modules, "cupy", fake.module())
    _cuda.cache_clear()
    yield fake
    _cuda.cache_clear()


DOUBLE = "for i in range(N):\n    there[i] = 2.0 * there[i]"


def test_arrays_of_cupy_are_used_in_place_by_a_cell(notebook, gpu) -> None:
    notebook.namespace["there"] = gpu.array(np.ones(12))
    notebook.run(f"%%polyopt -s isl -t cuda --no-verify\n{DOUBLE}")
    np.testing.assert_array_equal(notebook["there"].values, np.full(12, 2.0))
    assert gpu.moves("to device") == gpu.moves("from device") == 0


def test_a_cell_is_verified_on_copies_of_arrays_of_cupy(notebook, gpu, monkeypatch) -> None:
    class RecordedError(Exception):
        pass

    def race(given, *_others):
        raise RecordedError(given)

    monkeypatch.setattr(session, "Race", race)
    notebook.namespace["there"] = gpu.array(np.ones(12))
    notebook.error(f"%%polyopt -s isl -t cuda\n{DOUBLE}")
    (given,) = notebook["_error"].args
    assert type(given["there"]) is np.ndarray
    np.testing.assert_array_equal(notebook["there"].values, np.ones(12))


@pytest.mark.slow
def test_arrays_of_cupy_are_compared_on_copies(gpu) -> None:
    def double(there):
        for i in range(there.shape[0]):
            there[i] = 2.0 * there[i]

    there = gpu.array(np.ones(12))
    found = pv.compare(double, there, schedules=["isl"], targets=["python"], baselines=(), repeats=1)
    assert [row.verified for row in found.rows] == [True]
    assert any("there: on a CUDA device; all variants ran on copies" in note for note in found.data.notes)
    np.testing.assert_array_equal(there.values, np.ones(12))
    assert gpu.moves("from device") == 1


def test_arrays_of_cupy_that_overlap_are_not_compared(gpu) -> None:
    def shifted(A, B):
        for i in range(A.shape[0]):
            B[i] = 2.0 * A[i]

    A = gpu.array(np.ones(12))
    with pytest.raises(pv.OverlapError, match="A and B overlap"):
        pv.compare(shifted, A, A, schedules=["isl"], targets=["python"])


def test_an_inspector_takes_arrays_of_cupy(gpu) -> None:
    def double(there):
        for i in range(there.shape[0]):
            there[i] = 2.0 * there[i]

    assert pv.inspect(double, gpu.array(np.ones(12))).counts == {"S0": 12}


@pytest.mark.slow
def test_two_mappings_are_compared_without_a_device(notebook) -> None:
    result = notebook.run(f"%%polyopt -s superposition,isl -t emulated --compare\n{PRODUCT}")
    np.testing.assert_allclose(notebook["C"], notebook["A"] @ notebook["B"])
    rows = {row.label: row for row in result.comparison.rows if not row.is_baseline}
    assert list(rows) == ["superposition/emulated", "isl/emulated"]
    assert all(row.verified and row.median is None for row in rows.values())
    assert all("transactions per request" in row.note for row in rows.values())
    text = repr(result)
    assert "Verdict: no winner: nothing but the loop as written was timed." in text
    assert "kernel_cell_0: S0, S1; grid" in text
    shown = result._repr_mimebundle_()
    assert "Blocks and threads" in shown["text/html"]
    kinds = [section["model"]["kind"] for section in shown[MIME]["sections"] if section["model"]]
    assert {"comparison", "device"} <= set(kinds)


@pytest.mark.slow
def test_one_view_alone(notebook) -> None:
    shown = repr(notebook.run(f"%%polyopt -s isl -t emulated --show device\n{PRODUCT}"))
    assert "Who runs what:" in shown
    assert "One order for blocks and threads:" in shown
    assert "What the compiler reports without a device" in shown
    taught = repr(notebook.run(f"%%polyopt -s isl -t emulated --no-verify --show teaching\n{PRODUCT}"))
    assert "@cuda.jit" in taught
    assert "C[i, j] += A[i, k] * B[k, j]  # line 6" in taught


def test_a_processor_has_no_blocks_to_show(notebook) -> None:
    shown = repr(notebook.run(f"%%polyopt -t python --no-verify --show device\n{PRODUCT}"))
    assert "The target python has no blocks and threads: choose -t emulated or cuda." in shown


def test_a_missing_device_is_a_sentence_and_the_notebook_goes_on(notebook, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)
    _cuda.cache_clear()
    before = notebook["C"].copy()
    shown = notebook.error(f"%%polyopt -t cuda\n{PRODUCT}")
    _cuda.cache_clear()
    assert isinstance(notebook["_error"], ToolchainError)
    assert "Why: CuPy is not installed: pip install cupy-cuda13x" in shown
    np.testing.assert_array_equal(notebook["C"], before)
    assert notebook.run("1 + 1") == 2


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"capacity": 8}, "The device has not enough memory for the arrays."),
        ({"threads": 32}, "A block of kernel_cell_0 is too large"),
        (
            {"failures": {"launch": (0, CUDARuntimeError("cudaErrorLaunchFailure: unspecified"))}},
            "CUDA cannot be used in this process any more: restart the kernel",
        ),
        (
            {"failures": {"from device": (0, CUDARuntimeError("cudaErrorUnknown"))}},
            "The device failed while kernels ran.",
        ),
    ],
)
def test_what_goes_wrong_on_a_device_is_a_sentence_and_the_notebook_goes_on(
    notebook, gpu, change, sentence
) -> None:
    for name, value in change.items():
        setattr(gpu, name, value)
    notebook.namespace["there"] = np.ones(12)
    assert sentence in notebook.error(f"%%polyopt -s isl -t cuda --no-verify\n{DOUBLE}")
    np.testing.assert_array_equal(notebook["there"], np.ones(12))
    gpu.capacity, gpu.threads = 10**9, 1024
    notebook.run(f"%%polyopt -s isl -t cuda --no-verify\n{DOUBLE}")
    np.testing.assert_array_equal(notebook["there"], np.full(12, 2.0))


def test_the_time_in_place_is_told_apart(notebook, monkeypatch) -> None:
    result = notebook.run(f"%%polyopt -t python --no-verify\n{PRODUCT}")
    times = DeviceTimes(2.0, 1.5, 3.0, 4096)
    monkeypatch.setattr(pv.Kernel, "device_times", times)
    part = replace(result.parts[0], seconds=0.01)
    assert part.title.endswith("ran in place in 10.0 ms (kernels 1.50 ms, transfers 5.00 ms for 4.00 KiB)")

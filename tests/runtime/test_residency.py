"""Arrays that stay on a device: what moves, what does not have to, and what the host holds after a failure."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import numpy as np
import pytest

import polyviz as pv
from polyviz.api.targets import _cuda
from polyviz.errors import ArgumentError, DeviceError, ToolchainError
from polyviz.runtime import cuda, device_code, device_host
from polyviz.runtime.cuda import CudaRunner, cuda_availability
from polyviz.runtime.nvrtc import nvrtc_availability
from polyviz.runtime.residency import SAMPLE
from polyviz.runtime.variants import time_variants
from tests.runtime.fake_cupy import CUDARuntimeError, DeviceArray, FakeGpu


def scale(A, factor):
    for i in range(A.shape[0]):
        A[i] = factor * A[i]


def share(A, B, C):
    for i in range(A.shape[0]):
        B[i] = 2.0 * A[i]
        C[i] = 3.0 * A[i]


def run_scale(arrays, numbers):
    arrays[0][...] *= numbers[-1]


def run_share(arrays, numbers):
    A, B, C = arrays
    B[...], C[...] = 2.0 * A, 3.0 * A


@pytest.fixture
def gpu(monkeypatch):
    """A device that exists in Python only, with nothing kept on it; the text is compiled for it in earnest."""
    available, reason = nvrtc_availability()
    if not available:
        pytest.skip(reason)
    fake = FakeGpu({"kernel_scale_0": run_scale, "kernel_share_0": run_share})
    monkeypatch.setitem(sys.modules, "cupy", fake.module())
    _cuda.cache_clear()
    pv.device.clear_log()
    yield fake
    fake.failures.clear()
    pv.device.release()
    pv.device.clear_log()
    _cuda.cache_clear()


def compiled(function):
    return pv.compile(function, schedule="isl", target="cuda")


def counted(array, direction):
    """Transfers of one array in one direction: (moved, left out)."""
    rows = [row for row in pv.device.log.rows if (row.array, row.direction) == (array, direction)]
    return tuple(sum(row.times for row in rows if row.moved is moved) for moved in (True, False))


def test_an_array_that_is_not_kept_moves_there_and_back_at_every_call(gpu):
    kernel, A = compiled(scale), np.arange(4.0)
    kernel(A, 2.0)
    kernel(A, 2.0)
    np.testing.assert_array_equal(A, 4 * np.arange(4.0))
    assert (gpu.moves("to device"), gpu.moves("from device")) == (2, 2)
    assert counted("A", "to device") == (2, 0)
    assert counted("A", "from device") == (2, 0)


def test_what_is_only_read_does_not_come_back(gpu):
    A, B, C = np.arange(3.0), np.zeros(3), np.zeros(3)
    compiled(share)(A, B, C)
    np.testing.assert_array_equal(C, 3 * A)
    assert (gpu.moves("to device"), gpu.moves("from device")) == (3, 2)


def test_a_kept_array_moves_there_once_and_the_host_may_read_it(gpu):
    kernel, A = compiled(scale), np.ones(4)
    with pv.resident(A):
        for power in (1, 2, 3):
            kernel(A, 2.0)
            np.testing.assert_array_equal(A, np.full(4, 2.0**power))
    assert (gpu.moves("to device"), gpu.moves("from device")) == (1, 3)
    assert counted("A", "to device") == (1, 2)
    assert pv.device.log.saved_bytes == 2 * A.nbytes


def test_a_kept_array_cannot_be_written_on_the_host_until_it_is_released(gpu):
    whole = np.ones(8)
    A = whole[2:6]
    pv.device.keep(A)
    for array in (A, whole, A[1:], whole.reshape(2, 4)):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 5.0
    pv.device.release(A)
    whole[2] = 7.0
    A[1] = 8.0
    np.testing.assert_array_equal(whole[2:4], [7.0, 8.0])


def test_an_array_that_was_read_only_stays_so(gpu):
    A = np.ones(3)
    A.flags.writeable = False
    with pv.resident(A):
        pass
    assert not A.flags.writeable


def test_writing_lets_the_host_change_a_kept_array_and_moves_it_again(gpu):
    kernel, A = compiled(scale), np.ones(4)
    with pv.resident(A, host_noread=True):
        kernel(A, 2.0)
        with pv.device.writing(A):
            A[0] += 10.0
        kernel(A, 3.0)
    np.testing.assert_array_equal(A, [36.0, 6.0, 6.0, 6.0])
    assert gpu.moves("to device") == 2


def test_what_is_written_in_a_block_for_it_moves_wherever_it_stands(gpu):
    kernel, A = compiled(scale), np.ones(3 * SAMPLE)
    with pv.resident(A):
        kernel(A, 2.0)
        with pv.device.writing(A):
            A[1] = 5.0  # no sample is taken there
        kernel(A, 2.0)
    assert A[1] == 10.0


def test_an_array_may_be_released_before_its_block_ends(gpu):
    A, B = np.ones(3), np.ones(3)
    with pv.resident(B):
        with pv.resident(A):
            pv.device.release(A)
        with pv.resident():
            assert not pv.device.keeps(A)
        assert pv.device.keeps(B)


def test_what_the_host_does_not_read_comes_back_at_the_end_only(gpu):
    kernel, A = compiled(scale), np.ones(4)
    pv.device.keep(A, host_noread=True)
    for _ in range(3):
        kernel(A, 2.0)
    np.testing.assert_array_equal(A, np.ones(4))
    assert gpu.moves("from device") == 0
    pv.device.fetch(A)
    np.testing.assert_array_equal(A, np.full(4, 8.0))
    kernel(A, 2.0)
    pv.device.release()
    np.testing.assert_array_equal(A, np.full(4, 16.0))
    assert (gpu.moves("to device"), gpu.moves("from device")) == (1, 2)


def test_what_the_host_has_no_access_to_never_comes_back(gpu):
    A = np.ones(4)
    with pv.resident(A, host_noaccess=True):
        compiled(scale)(A, 2.0)
    np.testing.assert_array_equal(A, np.ones(4))
    assert gpu.moves("from device") == 0


@pytest.mark.parametrize("written", [slice(None), 3], ids=["whole", "last"])
def test_a_write_through_an_old_view_is_noticed(gpu, written):
    kernel, A, expected = compiled(scale), np.ones(4), np.full(4, 4.0)
    view, expected[written] = A[:], 10.0
    with pv.resident(A):
        kernel(A, 2.0)
        view[written] = 5.0
        kernel(A, 2.0)
    np.testing.assert_array_equal(A, expected)
    assert any("old view" in row.reason for row in pv.device.log.rows)


def test_a_write_through_an_old_view_does_not_undo_newer_values_on_the_device(gpu):
    kernel, A = compiled(scale), np.ones(4)
    view = A[:]
    with pv.resident(A, host_noread=True):
        kernel(A, 2.0)
        view[...] = 5.0
        kernel(A, 2.0)
    np.testing.assert_array_equal(A, np.full(4, 4.0))


def test_another_view_of_a_kept_array_sees_its_newest_values(gpu):
    kernel, A = compiled(scale), np.ones(6)
    half = A[:3]
    with pv.resident(A, host_noread=True):
        kernel(A, 2.0)
        kernel(half, 10.0)
        kernel(A, 2.0)
    np.testing.assert_array_equal(A, [40.0, 40.0, 40.0, 4.0, 4.0, 4.0])


def test_what_a_kernel_writes_through_another_view_is_not_left_to_samples(gpu):
    kernel, A = compiled(scale), np.ones(3000)
    unseen = A[1:2]
    with pv.resident(A):
        kernel(A, 2.0)
        kernel(unseen, 10.0)
        kernel(A, 2.0)
    np.testing.assert_array_equal(A[:3], [4.0, 40.0, 4.0])


def test_arrays_of_cupy_are_used_in_place(gpu):
    there = gpu.array([1.0, 2.0])
    compiled(scale)(there, 4.0)
    np.testing.assert_array_equal(there.values, [4.0, 8.0])
    assert gpu.moves("to device") == gpu.moves("from device") == 0


def test_arrays_of_other_libraries_are_seen_through_cupy(gpu, monkeypatch):
    class Foreign:
        def __init__(self, values):
            self.values = values

        @property
        def __cuda_array_interface__(self):
            return {"data": (self.values.ctypes.data, False)}

    foreign = Foreign(np.ones(3))
    monkeypatch.setattr(sys.modules["cupy"], "asarray", lambda value: DeviceArray(value.values))
    compiled(scale)(foreign, 2.0)
    np.testing.assert_array_equal(foreign.values, np.full(3, 2.0))


def test_an_array_on_another_device_is_refused(gpu):
    with pytest.raises(ArgumentError, match="A lives on device 1, and the kernel runs on device 0"):
        compiled(scale)(gpu.array([1.0], device=1), 2.0)


def test_an_array_without_gaps_need_not_be_given(gpu):
    wide = np.arange(12.0)
    compiled(scale)(wide[::3], 2.0)
    np.testing.assert_array_equal(wide[::3], [0.0, 6.0, 12.0, 18.0])
    np.testing.assert_array_equal(wide[1::3], [1.0, 4.0, 7.0, 10.0])


def test_overlapping_arrays_are_refused(gpu):
    memory = np.ones(6)
    with pytest.raises(pv.OverlapError, match="A and B overlap"):
        compiled(share)(memory[:4], memory[2:], np.ones(4))
    assert gpu.steps == []


def test_a_failing_launch_leaves_the_old_values(gpu):
    A = np.ones(4)
    gpu.failures["launch"] = (0, CUDARuntimeError("cudaErrorInvalidValue: invalid argument"))
    with pytest.raises(DeviceError, match="The device failed") as caught:
        compiled(scale)(A, 2.0)
    assert "No host array was changed" in str(caught.value)
    assert "at the launch of kernel_scale_0, (1, 1, 1) blocks of (256, 1, 1) threads" in str(caught.value)
    np.testing.assert_array_equal(A, np.ones(4))
    compiled(scale)(A, 2.0)
    np.testing.assert_array_equal(A, np.full(4, 2.0))


@pytest.mark.parametrize("works", [0, 1, 2])
def test_a_failure_on_the_way_there_leaves_all_old_values(gpu, works):
    A, B, C = np.ones(3), np.zeros(3), np.zeros(3)
    gpu.failures["to device"] = (works, CUDARuntimeError("cudaErrorUnknown"))
    with pytest.raises(DeviceError, match="No host array was changed"):
        compiled(share)(A, B, C)
    assert not any(step == "launch" for step, _ in gpu.steps)
    assert not B.any()
    assert not C.any()
    compiled(share)(A, B, C)
    np.testing.assert_array_equal(C, np.full(3, 3.0))


@pytest.mark.parametrize("works", range(3))
def test_a_failure_between_launches_leaves_all_old_values(gpu, works):
    def steps(A, B):
        for _ in range(3):
            for i in range(1, A.shape[0]):
                B[i] = A[i - 1]
            for i in range(1, A.shape[0]):
                A[i] = B[i]

    made = compiled(steps)
    names = [kernel.name for kernel in made.program.device.kernels]
    gpu.kernels |= dict.fromkeys(names, lambda arrays, numbers: [one.fill(7.0) for one in arrays])
    A, B = np.arange(300.0), np.zeros(300)
    gpu.failures["launch"] = (works, CUDARuntimeError("cudaErrorUnknown"))
    with pytest.raises(DeviceError, match="No host array was changed"):
        made(A, B)
    np.testing.assert_array_equal(A, np.arange(300.0))
    assert not B.any()


@pytest.mark.parametrize("step", ["to device", "launch", "from device", "synchronize"])
def test_an_interrupt_anywhere_leaves_old_or_complete_new_values(gpu, step):
    A, B, C = np.ones(3), np.zeros(3), np.zeros(3)
    gpu.failures[step] = (0, KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt) as caught:
        compiled(share)(A, B, C)
    assert "No host array was changed." in getattr(caught.value, "__notes__", ["No host array was changed."])
    assert not B.any()
    assert not C.any()


@pytest.mark.parametrize("step", ["from device", "synchronize"])
@pytest.mark.parametrize("works", [0, 1])
def test_a_failure_on_the_way_back_leaves_all_old_values(gpu, step, works):
    A, B, C = np.ones(3), np.zeros(3), np.zeros(3)
    gpu.failures[step] = (works if step == "from device" else 0, CUDARuntimeError("cudaErrorLaunchFailure"))
    with pytest.raises(DeviceError, match="restart the kernel of the notebook"):
        compiled(share)(A, B, C)
    np.testing.assert_array_equal(B, np.zeros(3))
    np.testing.assert_array_equal(C, np.zeros(3))


def test_a_failure_throws_away_the_copy_of_a_kept_array(gpu):
    kernel, A = compiled(scale), np.ones(4)
    with pv.resident(A):
        kernel(A, 2.0)
        gpu.failures["synchronize"] = (0, CUDARuntimeError("cudaErrorUnknown"))
        with pytest.raises(DeviceError, match="No host array was changed"):
            kernel(A, 2.0)
        np.testing.assert_array_equal(A, np.full(4, 2.0))
        kernel(A, 2.0)
        np.testing.assert_array_equal(A, np.full(4, 4.0))


def test_values_that_are_lost_with_the_device_are_named(gpu):
    kernel, A = compiled(scale), np.ones(4)
    with pv.resident(A, host_noread=True):
        kernel(A, 2.0)
        gpu.failures["synchronize"] = (0, CUDARuntimeError("cudaErrorIllegalAddress"))
        with pytest.raises(DeviceError, match="newest values of A were on the device only and are lost"):
            kernel(A, 2.0)
    np.testing.assert_array_equal(A, np.ones(4))


def test_no_memory_left_is_said_before_anything_is_lost(gpu):
    kernel, B = compiled(share), np.ones(4)
    with pv.resident(B, host_noread=True):
        compiled(scale)(B, 2.0)
        gpu.capacity = 8
        with pytest.raises(DeviceError, match="not enough memory") as caught:
            kernel(np.zeros(4), B, np.zeros(4))
        assert "No host array was changed" in str(caught.value)
    np.testing.assert_array_equal(B, np.full(4, 2.0))


def test_an_interrupt_between_two_arrays_finishes_both(gpu, monkeypatch):
    A, B, C = np.ones(3), np.zeros(3), np.zeros(3)
    write, calls = pv.device.write, []

    def interrupted(array, values):
        calls.append(array)
        if len(calls) == 2:
            raise KeyboardInterrupt
        write(array, values)

    monkeypatch.setattr(pv.device, "write", interrupted)
    with pytest.raises(KeyboardInterrupt):
        compiled(share)(A, B, C)
    np.testing.assert_array_equal(B, np.full(3, 2.0))
    np.testing.assert_array_equal(C, np.full(3, 3.0))


def test_kernels_of_the_processor_refuse_a_kept_array_they_would_write(gpu):
    A, B, C = np.ones(3), np.zeros(3), np.zeros(3)
    with pv.resident(A, host_noread=True):
        with pytest.raises(ArgumentError, match=r"A is kept on the device, and this kernel, .*, would write it"):
            pv.compile(scale, target="python")(A, 2.0)
        compiled(scale)(A, 2.0)
        with pytest.raises(ArgumentError, match="its newest values are there"):
            pv.compile(share, target="python")(A, B, C)
        pv.device.fetch(A)
        pv.compile(share, target="python")(A, B, C)
    np.testing.assert_array_equal(B, np.full(3, 4.0))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: [1.0], "Only NumPy arrays"),
        (lambda: np.array(1.0), "converted copy"),
        (lambda: np.ones(3, ">f8"), "converted copy"),
    ],
)
def test_what_cannot_be_kept_is_said(gpu, make, message):
    with pytest.raises(ArgumentError, match=message):
        pv.device.keep(make())


def test_two_views_of_one_memory_cannot_both_be_kept(gpu):
    A = np.ones(6)
    with pytest.raises(ArgumentError, match="shares memory"):
        pv.device.keep(A[:4], A[2:])
    A[0] = 2.0
    pv.device.keep(A[:3], A[3:])
    pv.device.release()
    A[0] = 3.0


def test_release_and_fetch_want_a_kept_array(gpu):
    with pytest.raises(ArgumentError, match="not kept"):
        pv.device.fetch(np.ones(2))


def test_the_log_says_what_moved_and_what_was_saved(gpu, golden):
    A, B, C = np.arange(3.0), np.zeros(3), np.zeros(3)
    kernel = compiled(share)
    with pv.resident(A), pv.resident(B, host_noread=True):
        kernel(A, B, C)
        kernel(A, B, C)
    golden(repr(pv.device.log))
    shown = pv.device.log._repr_mimebundle_()
    assert "<table" in shown["text/html"]
    assert pv.device.log.moved_bytes == (1 + 1 + 2 + 2 + 1) * 24


def test_a_scalar_that_kernels_write_comes_back(gpu):
    def scaled_last(A):
        last = 1.0
        for i in range(A.shape[0]):
            last = 2.0 * A[i]
        return last

    made = compiled(scaled_last)
    names = [kernel.name for kernel in made.program.device.kernels]
    gpu.kernels |= dict.fromkeys(names, lambda arrays, numbers: arrays[-1].fill(6.0))
    assert made(np.array([1.0, 3.0])) == 6.0


def test_arrays_that_the_loops_make_are_made_on_the_device(gpu):
    def squares(A):
        B = np.zeros(A.shape[0])
        for i in range(A.shape[0]):
            B[i] += A[i] * A[i]
        return B

    def run_squares(arrays, numbers):
        given, made = sorted(arrays, key=lambda one: one.sum() == 0)
        made += given * given

    gpu.kernels["kernel_squares_0"] = run_squares
    A = np.array([1.0, 3.0])
    np.testing.assert_array_equal(compiled(squares)(A), [1.0, 9.0])
    assert (gpu.moves("to device"), gpu.moves("from device")) == (1, 1)
    assert counted("B", "to device") == (0, 1)
    assert counted("B", "from device") == (1, 0)


def test_times_tell_kernels_and_transfers_apart(gpu):
    kernel, A = compiled(scale), np.ones(4)
    assert kernel.device_times is None
    kernel(A, 2.0)
    times = kernel.device_times
    assert (times.to_device, times.kernels, times.from_device, times.moved_bytes) == (1.0, 1.0, 1.0, 64)


def test_samples_carry_the_time_of_the_kernels_alone(gpu):
    kernel = compiled(scale)
    bound = kernel.bind((np.ones(4), 2.0), {})
    samples = time_variants({"k": kernel.program_for(bound)}, bound.given, bound.parameters, ("A",), 2)
    assert samples["k"].kernels == 0.001


def test_a_block_that_needs_too_much_is_told_before_it_runs(gpu):
    gpu.threads = 32
    kernel = compiled(scale)
    with pytest.raises(
        DeviceError, match=r"A block of kernel_scale_0 is too large: 256 threads, .* takes 32"
    ):
        kernel(np.ones(4), 2.0)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"driver": 0, "devices": 0}, "there is no CUDA driver"),
        ({"driver": 11080}, "the driver is too old: it knows CUDA 11.8, and this CuPy needs CUDA 13"),
        ({"devices": 0}, "CuPy finds no CUDA device, though there is a driver for CUDA 13.0"),
    ],
)
def test_what_is_missing_is_said_in_a_sentence(gpu, change, sentence):
    for name, value in change.items():
        setattr(gpu, name, value)
    available, reason = cuda_availability()
    assert not available
    assert sentence in reason
    program = pv.compile(scale, schedule="isl", target="emulated").program
    with pytest.raises(ToolchainError, match="'cuda' cannot run here"):
        CudaRunner(program)


@pytest.mark.parametrize("name", ["cudaErrorLaunchTimeout", "CUDA_ERROR_HARDWARE_STACK_ERROR"])
def test_after_some_failures_only_another_process_helps(gpu, name):
    gpu.failures["synchronize"] = (0, CUDARuntimeError(f"{name}: something"))
    with pytest.raises(DeviceError, match="restart the kernel of the notebook"):
        compiled(scale)(np.ones(4), 2.0)


def test_each_device_gets_kernels_of_its_own(gpu):
    kernel, A = compiled(scale), np.ones(4)
    kernel(A, 2.0)
    gpu.current, gpu.capability = 1, "80"
    kernel(A, 2.0)
    np.testing.assert_array_equal(A, np.full(4, 4.0))


def test_a_kept_array_goes_from_device_to_device_with_its_newest_values(gpu):
    kernel, A = compiled(scale), np.ones(4)
    with pv.resident(A, host_noread=True):
        kernel(A, 2.0)
        gpu.current = 1
        kernel(A, 3.0)
    np.testing.assert_array_equal(A, np.full(4, 6.0))
    assert any("another device" in row.reason for row in pv.device.log.rows)


def test_a_grid_that_no_device_takes_is_told_before_anything_moves(gpu, monkeypatch):
    monkeypatch.setattr(device_host, "LARGEST_GRID", (1, 1, 1))
    A = np.ones(600)
    with pytest.raises(ArgumentError, match="blocks along x"):
        compiled(scale)(A, 2.0)
    assert gpu.steps == []
    np.testing.assert_array_equal(A, np.ones(600))


def test_launches_are_worked_out_once_for_the_same_sizes(gpu, monkeypatch):
    asked = []
    plain = cuda.launch_calls
    monkeypatch.setattr(cuda, "launch_calls", lambda *given: asked.append(given) or plain(*given))
    kernel = compiled(scale)
    for size in (4, 4, 5):
        A = np.ones(size)
        kernel(A, 2.0)
        np.testing.assert_array_equal(A, np.full(size, 2.0))
    assert len(asked) == 2


def test_code_that_the_device_does_not_take_is_told(gpu, monkeypatch):
    monkeypatch.setattr(device_code, "compile_text", lambda *_: SimpleNamespace(binary=b"something else", kernels=()))
    monkeypatch.setattr(device_code.BuildCache, "binary", lambda _, parts, make: make())
    with pytest.raises(
        ToolchainError, match="does not take the kernels, which were compiled for sm_90"
    ) as caught:
        compiled(scale)(np.ones(4), 2.0)
    assert "CUDA_ERROR_INVALID_IMAGE" in caught.value.reason


@pytest.mark.skipif(cuda_availability()[0], reason="there is a device")
def test_without_a_device_it_is_said_that_nothing_is_saved():
    A = np.ones(4)
    told = "There is no device to keep arrays on: .*no transfer is saved"
    with pytest.warns(pv.DeviceWarning, match=told) as found, pv.resident(A):
        assert not A.flags.writeable
    assert len(found) == 1
    A[0] = 2.0

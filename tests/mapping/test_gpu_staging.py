"""Runs of a kernel: what is staged in shared memory, what lives in registers, and why not."""

from __future__ import annotations

import islpy as isl
import numpy as np
import pytest

import polyviz as pv
from polyviz.frontend import extract
from polyviz.gallery import kernel as entry_of
from polyviz.mapping import gpu_staging
from polyviz.model.staging import DeviceOptions


def plan_of(function, schedule="superposition", **device):
    return pv.compile(function, schedule=schedule, target="emulated", device=device).plan


def runs_of(name, schedule="superposition", **device):
    plan = plan_of(entry_of(name).function, schedule, **device)
    return [run for kernel in plan.device.kernels for run in kernel.runs]


def reasons(plan):
    return [decision.text for decision in plan.decisions if decision.step == "promotion"]


def close_order(name):
    """What isl makes for a processor: one launch has all statements."""
    return pv.schedule(extract(entry_of(name).function), "isl")


def test_a_thread_computes_several_cells_of_a_product():
    plan = plan_of(entry_of("gemm").function)
    (kernel,) = plan.device.kernels
    (run,) = kernel.runs
    assert run.elements == (("y", 8), ("x", 4))
    assert [member.register for member in run.members] == [True]
    assert {axis.axis: axis.size for axis in kernel.blocks} == {"y": 128, "x": 64}
    assert {axis.axis: axis.size for axis in kernel.threads} == {"y": 16, "x": 16}


def test_cells_tiles_and_threads_are_chosen_independently():
    (run,) = runs_of("gemm", elements=(2, 3), depth=4)
    assert run.elements == (("y", 3), ("x", 2))
    assert {box.array: box.extents for box in run.boxes} == {"A": (48, 4), "B": (4, 32)}


def test_one_cell_per_thread_keeps_the_sizes_of_the_schedule():
    (run,) = runs_of("gemm", elements=(1, 1))
    assert run.elements == (("y", 1), ("x", 1))
    assert {box.array: box.extents for box in run.boxes} == {"A": (32, 32), "B": (32, 32)}


def test_references_that_move_alike_share_a_box_and_others_do_not():
    (run,) = runs_of("syrk")
    assert [(box.array, box.extents) for box in run.boxes] == [("A", (128, 8)), ("A", (64, 8))]

    def smoothed(A, B):
        for i in range(B.shape[0]):
            for k in range(B.shape[1]):
                B[i, 0] += A[i, k] * A[i, k + 1]

    (run,) = [run for kernel in plan_of(smoothed, "isl").device.kernels for run in kernel.runs]
    assert [(box.array, box.extents[1] - run.depth) for box in run.boxes] == [("A", 1)]


def test_statements_of_one_loop_share_its_tiles():
    (run,) = runs_of("mri-q", "isl")
    assert run.statements == ("S0", "S1", "S2")
    assert [box.array for box in run.boxes] == ["kx", "ky", "kz", "magnitude"]


def test_what_threads_read_across_rows_is_copied_along_rows():
    run = runs_of("mvt", "isl")[1]
    box = run.boxes[0]
    assert (box.array, box.extents) == ("A", (256, 8))
    assert box.before == 32 * 8 * 8
    assert box.after == 256


def test_what_the_launch_writes_stays_in_global_memory():
    plan = plan_of(entry_of("lu").function, close_order("lu"))
    assert not any(kernel.runs for kernel in plan.device.kernels)
    assert any("writes some of it in the same launch" in text for text in reasons(plan))


def test_a_launch_with_few_instances_is_predicted_with_few_threads():
    plan = plan_of(entry_of("gramschmidt").function, close_order("gramschmidt"))
    assert not any(kernel.runs for kernel in plan.device.kernels)
    costs = "a copy would cost 32 transactions per tile, reading costs 32"
    assert f"A stays in global memory: {costs} (cells counted as 8 bytes)" in reasons(plan)


def test_what_a_loop_does_not_move_is_not_copied_for_each_of_its_tiles():
    def shifted(A, x, y):
        for i in range(A.shape[0] - 1):
            for k in range(A.shape[1]):
                y[i] += A[i, k] * (x[i] - x[i + 1])

    plan = plan_of(shifted, "isl")
    (run,) = [run for kernel in plan.device.kernels for run in kernel.runs]
    assert [box.array for box in run.boxes] == ["A"]
    (left,) = [one for kernel in plan.device.kernels for one in kernel.unstaged]
    assert (left.array, left.statements) == ("x", ("S0",))
    assert left.reason == "the loop does not move what a thread reads of it"


def test_nothing_is_copied_where_only_other_statements_of_a_loop_run():
    def partly(A, C, s, n):
        for i in range(3):
            for j in range(n):
                A[j + 2] += C[i]
            s[0] += A[2]

    kernel = pv.compile(partly, schedule="pluto", target="emulated")
    runs = [run for one in kernel.plan.device.kernels for run in one.runs]
    assert [(run.statements, box.array) for run in runs for box in run.boxes] == [(("S0", "S1"), "C")]
    A, s = np.array([1.0, 2.0, 4.0]), np.zeros(1)
    kernel(A, np.zeros(0), s, 0)  # C is shorter than the loop, which reads none of it
    assert s[0] == 12


def test_a_cell_that_a_quotient_of_the_loop_moves_lives_in_memory():
    def halved(B, C, n):
        for i in range(n):
            for j in range(n):
                B[j, i // 2] += C[i]

    kernel = pv.compile(halved, schedule="pluto", target="emulated")
    (run,) = (run for one in kernel.plan.device.kernels for run in one.runs)
    assert [box.array for box in run.boxes] == ["C"]
    assert not any(member.register for member in run.members)
    B, C = np.zeros((40, 20)), np.arange(40.0)
    kernel(B, C, 40)
    np.testing.assert_array_equal(B, np.tile(C[::2] + C[1::2], (40, 1)))


def test_what_stays_in_global_memory_says_why_for_each_array():
    (kernel,) = plan_of(entry_of("syr2k").function, "superposition", stage=False).device.kernels
    told = {(one.array, one.statements): one.reason for one in kernel.unstaged}
    assert set(told.values()) == {"staging is switched off"}
    assert {array for array, _ in told} == {"A", "B", "C"}


@pytest.mark.slow
def test_a_thread_with_two_loops_says_so():
    plan = plan_of(entry_of("convolution-layer").function, "isl")
    assert any("more than one loop" in text for text in reasons(plan))


def test_a_limit_of_isl_is_said_as_such(monkeypatch):
    monkeypatch.setattr(gpu_staging, "_OPERATIONS", 50)
    plan = plan_of(entry_of("gemm").function)
    why = "finding the cells of their tiles takes longer than isl is given for it"
    assert f"arrays stay in global memory: {why}" in reasons(plan)


def test_what_else_fails_in_isl_is_told_with_its_cause(monkeypatch):
    def unbounded(_kernel):
        isl.Set("{ [i] : i >= 0 }").dim_max(0)

    monkeypatch.setattr(gpu_staging, "with_strips", unbounded)
    plan = plan_of(entry_of("gemm").function)
    (text,) = reasons(plan)
    assert text.startswith("arrays stay in global memory: isl could not find their tiles: unbounded optimum")
    assert {left.reason for left in plan.device.kernels[0].unstaged} == {text.partition(": ")[2]}


def test_wherever_the_limit_strikes_it_is_the_reason(monkeypatch):
    plan = plan_of(entry_of("gemm").function)
    (plain,), scop = plan.device.plain, extract(entry_of("gemm").function)
    found = set()
    for limit in range(200, 20_000, 400):
        monkeypatch.setattr(gpu_staging, "_OPERATIONS", limit)
        kernel, _ = gpu_staging.staged(scop, plain, DeviceOptions(), frozenset(), 8)
        found |= {left.reason for left in kernel.unstaged}
    assert found == {"finding the cells of their tiles takes longer than isl is given for it"}


@pytest.mark.slow
def test_the_limit_is_the_reason_also_where_it_strikes_at_the_last_question(monkeypatch):
    """Nothing is asked of isl after the box of the only array, so that no later answer tells of the limit."""

    def turned(A, B):
        for i in range(A.shape[0]):
            for j in range(A.shape[0]):
                B[i, j] = A[j, i]

    (plain,) = plan_of(turned).device.plain
    found = set()
    for limit in range(50, 6_000, 20):
        monkeypatch.setattr(gpu_staging, "_OPERATIONS", limit)
        kernel, _ = gpu_staging.staged(extract(turned), plain, DeviceOptions(), frozenset(), 8)
        found |= {left.reason for left in kernel.unstaged}
    assert found == {"finding the cells of their tiles takes longer than isl is given for it"}


def test_tiles_keep_to_the_budget():
    runs = runs_of("gemm", shared_bytes=8 * 1024)
    assert all(16 * (64 * 6 + 128 * 6) > 8 * 1024 for _ in runs)
    plan = plan_of(entry_of("gemm").function, shared_bytes=8 * 1024)
    assert any("over the budget" in text for text in reasons(plan))
    kept = [box.array for kernel in plan.device.kernels for run in kernel.runs for box in run.boxes]
    assert kept == ["B"]


def test_everything_can_be_switched_off():
    assert runs_of("gemm", stage=False) == []
    assert not any(
        kernel.trees for kernel in plan_of(entry_of("gesummv").function, trees=False).device.kernels
    )


@pytest.mark.parametrize(
    ("device", "message"),
    [
        ({"staging": True}, "Unknown device option 'staging'; known: stage, elements"),
        ({"elements": (0, 1)}, r"elements is one to three positive whole numbers, .* not \(0, 1\)"),
        ({"stage": 1}, "stage is True or False, not 1"),
        ({"threads": 32}, "threads is one to three .* such as .*, not 32"),
        ({"depth": "8"}, "depth is a positive whole number, or None to leave the choice, not '8'"),
    ],
)
def test_options_that_there_are_not(device, message):
    with pytest.raises(pv.OptionError, match=message):
        plan_of(entry_of("gemm").function, **device)


@pytest.mark.parametrize(
    "device", [{"threads": (32, 8)}, {"threads": (32, 32)}, {"threads": (32, 16), "elements": (2, 2)}]
)
def test_the_threads_that_somebody_asked_for_are_those_of_the_block(device):
    kernel = pv.compile(product, schedule="isl", target="emulated", device=device)
    A, B = np.random.default_rng(0).random((2, 37, 37))
    C = np.zeros((37, 37))
    kernel(C, A, B)
    np.testing.assert_allclose(C, A @ B)
    assert kernel.cards[0].block[:2] == device["threads"]


def product(C, A, B):
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            for k in range(A.shape[1]):
                C[i, j] += A[i, k] * B[k, j]


TURNED = """
def turned(C, D, E, n, m):
    for i in range(3):
        for j in range(1, m):
            if j + i < n:
                D[i] += C[j, i] * E[j + 2]
                C[i, j] = 3 * E[j + 2] - C[i, j]
"""
"""Pluto puts both statements into one step `i + j`; below the diagonal one comes first, above it the other."""


def test_statements_that_change_places_are_no_run():
    kernel = pv.compile(TURNED, schedule="pluto", target="emulated")
    assert any("its statements change places from one iteration to another" in text for text in reasons(kernel.plan))
    random = np.random.default_rng(1)
    given = random.integers(-5, 6, (14, 14)), random.integers(-5, 6, 14), random.integers(-5, 6, 14)
    expected = [array.copy() for array in given]
    names: dict = {}
    exec(TURNED, names)
    names["turned"](*expected, 7, 9)
    kernel(*given, 7, 9)
    for array, right in zip(given, expected, strict=True):
        np.testing.assert_array_equal(array, right)


def test_loops_that_a_thread_enters_one_after_the_other_are_no_run():
    def turned(A, B, n):
        for i in range(n // 3, n):
            for j in range(i):
                for k in range(1, n - 1):
                    A[i - 1, k] += B[0, j]
            for j in range(n - 2, 0, -3):
                for k in range(j, n, 4):
                    A[k + 1, n - 1 - i] = B[i, j + k]

    # What a thread does first depends on it: its rows are those of A, the time in between is i.
    kernel = pv.compile(turned, schedule="isl", target="emulated")
    n, random = 15, np.random.default_rng(0)
    A, B = random.random((16, 14)), random.random((15, 27))
    expected = A.copy()
    turned(expected, B, n)
    kernel(A, B, n)
    np.testing.assert_allclose(A, expected)
    assert any("its statements share no loop" in text for text in reasons(kernel.plan))

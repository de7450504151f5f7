"""The kernels as Python for teaching: golden text, and that it computes what the loops do, in numba's simulator."""

from __future__ import annotations

import ast
import copy

import numpy as np
import pytest

import polyviz as pv
from polyviz.codegen.scan import EndlessLoopsError
from polyviz.gallery import kernel as entry_of
from polyviz.runtime import kernel as kernel_module
from polyviz.runtime import specialising
from polyviz.runtime.variants import Outcome


def compiled(name, schedule="superposition"):
    return pv.compile(entry_of(name).function, schedule=schedule, target="emulated")


@pytest.mark.parametrize("name", ["jacobi-2d-alt", "gemm", "gesummv", "jacobi-2d"])
def test_superposed_kernels(name, golden):
    text = compiled(name).teaching_source
    ast.parse(text)
    golden(text, "py")


def test_one_order_for_blocks_and_threads(golden):
    golden(compiled("doitgen-expanded", "isl").teaching_source, "py")


def test_a_processor_has_no_kernels_to_read():
    with pytest.raises(pv.CodegenError, match="'python' has no kernels"):
        _ = pv.compile(entry_of("gemm").function, target="python").teaching_source


def test_every_barrier_of_the_cuda_text_is_there():
    made = compiled("gesummv")
    assert made.teaching_source.count("cuda.syncthreads()") == made.source.count("__syncthreads();")


def test_names_of_python_and_of_cuda_are_left_to_them():
    def mixed(cuda, grid, double):
        for i in range(cuda.shape[0]):
            cuda[i] = grid * double[i]

    made = pv.compile(mixed, schedule="isl", target="emulated")
    assert "def mixed(cuda_, grid_, double_):" in made.teaching_source
    assert "cuda_[i] = grid_ * double_[i]" in made.teaching_source


def simulated(made, arguments, function):
    expected = copy.deepcopy(arguments)
    results = (made.simulate(*arguments), function(*expected))
    for found, wanted in [*zip(arguments, expected, strict=True), results]:
        if wanted is not None:
            np.testing.assert_allclose(found, wanted, rtol=1e-9)


def small(A, B, factor):
    for t in range(3):  # noqa: B007
        for i in range(1, A.shape[0] - 1):
            B[i] = factor * (A[i - 1] + A[i + 1])
        for i in range(1, A.shape[0] - 1):
            A[i] = B[i]


def total(A):
    result = 0.0
    for i in range(A.shape[0]):
        result += A[i]
    return result


@pytest.mark.slow
def test_host_loops_transfers_and_results_in_the_simulator():
    simulated(
        pv.compile(small, schedule="isl", target="emulated"), (np.arange(20.0), np.zeros(20), 0.5), small
    )
    simulated(pv.compile(total, schedule="superposition", target="emulated"), (np.arange(40.0),), total)


SUMS = """
for r in range(R):
    largest = X[r, 0]
    for c in range(W):
        largest = max(largest, X[r, c])
    z = 0.0
    for c in range(W):
        z += X[r, c]
    Y[r] = z / largest
"""


def sums_of_rows():
    X = 1 + np.arange(350.0).reshape(5, 70) % 7
    values = {"R": 5, "W": 70, "X": X, "Y": np.zeros(5)}
    return pv.compile(SUMS, schedule="superposition", target="emulated", namespace=values), values


@pytest.mark.slow
def test_a_sum_that_threads_share_is_handed_over_after_the_loops_of_a_cell():
    made, values = sums_of_rows()
    X, Y = values["X"], values["Y"]
    assert made(**values) == (X[-1].max(), X[-1].sum())
    assert made.source.count("all parts") == made.teaching_source.count("all parts") == 2
    np.testing.assert_array_equal(Y, X.sum(1) / X.max(1))


@pytest.mark.slow
def test_the_simulator_hands_a_shared_sum_over_too():
    made, values = sums_of_rows()
    assert made.simulate(**values) == (values["X"][-1].max(), values["X"][-1].sum())


@pytest.mark.slow
@pytest.mark.parametrize("schedule", ["superposition", "isl"])
@pytest.mark.parametrize(
    "name", ["jacobi-2d-alt", "doitgen-expanded", "gemm", "gesummv", "atax", "jacobi-2d"]
)
def test_the_simulator_computes_what_the_loops_do(name, schedule):
    entry = entry_of(name)
    sizes = {name: min(value, 5 if name == "tsteps" else 9) for name, value in entry.sizes["mini"].items()}
    arguments = entry.initialise(np.dtype("float64"), *sizes.values())
    simulated(compiled(name, schedule), arguments, entry.function)


def gathered(A, B, places):
    for i in range(B.shape[0]):
        B[i] = A[places[i]]


def test_a_text_without_the_tests_at_run_time_says_so():
    text = pv.compile(gathered, schedule="isl", target="emulated").teaching_source
    assert "subscripts and steps; this one does not." in text.partition('"""\n')[0]
    assert "failed" not in text


@pytest.mark.slow
def test_loops_whose_subscripts_only_the_data_tell_run_in_the_simulator():
    made = pv.compile(gathered, schedule="isl", target="emulated")
    simulated(made, (np.arange(9.0), np.zeros(5), np.array([3, 1, 4, 1, 8])), gathered)


def test_the_simulator_runs_the_plan_that_isl_can_write_loops_for(monkeypatch):
    made = pv.compile(small, schedule="isl", target="emulated")
    other, ran = pv.compile(small, schedule="original", target="emulated").plan, []
    plain = specialising.generate

    def generate(scop, plan, *given):
        if plan is not other:
            raise EndlessLoopsError("isl could not generate loops for this schedule.")
        return plain(scop, plan, *given)

    monkeypatch.setattr(specialising, "generate", generate)
    monkeypatch.setattr(specialising, "without_tiles", lambda *_: other)
    monkeypatch.setattr(kernel_module, "simulate", lambda *given: ran.append(given) or Outcome({}, None, 0.0))
    made.simulate(np.arange(20.0), np.zeros(20), 0.5)
    assert made.plan is other
    assert len(ran) == 1

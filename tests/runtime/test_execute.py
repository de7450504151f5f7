"""Generated programs run on real arguments: results and effects of the original, and nothing half-written."""

from __future__ import annotations

import ctypes
import multiprocessing
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import polyviz as pv
from polyviz.model.program import NO_MEMORY, Program
from polyviz.runtime.execute import NativeRunner, make_runner
from polyviz.runtime.stages import telling
from polyviz.runtime.toolchain import Toolchain, find_toolchain
from tests.running import TARGETS, agree, function_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SCHEDULES = ("original", "pluto")
GATHER = """
def gather(A, J, B):
    for i in range(len(J)):
        A[J[i]] = A[J[i]] + B[i]
"""
GUARDED = """
def guarded(A, J, B):
    for i in range(len(J)):
        if J[i] >= 0 and J[i] < len(A):
            A[J[i]] = A[J[i]] + B[i]
"""
NEIGHBOUR = """
def neighbour(A, B):
    for i in range(len(A)):
        if B[i] > 0.5:
            A[i] = B[i + 1]
"""
PRODUCT = """
def product(y, values, columns, rows, x):
    for i in range(len(y)):
        y[i] = 0.0
        for k in range(rows[i], rows[i + 1]):
            y[i] += values[k] * x[columns[k]]
"""
MATRIX = """
def matmul(A, B, C, n):
    for i in range(n):
        for j in range(n):
            for k in range(n):
                C[i, j] += A[i, k] * B[k, j]
"""

DTYPES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64",
    "complex64", "complex128",
)  # fmt: skip


@pytest.mark.thinned(4)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("target", TARGETS)
def test_every_element_type(target: str, dtype: str) -> None:
    agree(
        """
        def combine(A, B, factor):
            for i in range(len(A)):
                A[i] = A[i] + B[i] * factor
        """,
        np.arange(7).astype(dtype),
        (np.arange(7) % 3).astype(dtype),
        np.dtype(dtype).type(1),
        target=target,
    )


@pytest.mark.parametrize("pair", [("int32", "float32"), ("uint8", "int64"), ("float32", "complex64"), ("bool", "int8")])
@pytest.mark.parametrize("target", ["c", "numba"])
def test_mixed_element_types(target: str, pair: tuple[str, str]) -> None:
    wide, narrow = pair[1], pair[0]
    agree(
        """
        def mix(A, B, C):
            for i in range(len(A)):
                t = A[i] * C[i]
                B[i] = t + 3 * B[i]
        """,
        np.arange(5).astype(narrow),
        np.arange(5).astype(wide),
        np.arange(5).astype(narrow),
        target=target,
    )


@pytest.mark.thinned(4)
@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
@pytest.mark.parametrize("target", ["c", "numba"])
def test_integers_wrap_around(target: str, dtype: str) -> None:
    largest = np.iinfo(dtype).max
    agree(
        """
        def wrap(A, B):
            for i in range(len(A)):
                A[i] = A[i] * B[i] + B[i]
                B[i] = B[i] << 3
        """,
        np.full(9, largest, dtype=dtype),
        np.full(9, largest - 3, dtype=dtype),
        target=target,
    )


@pytest.mark.parametrize("target", TARGETS)
def test_an_integer_sum_wraps_around(target: str) -> None:
    agree(
        """
        def mixed(A):
            s = 1
            for i in range(len(A)):
                s = s * 3 + A[i]
            return s
        """,
        np.full(80, 2**62),
        target=target,
    )


RESULTS = {
    "float": "s",
    "tuple": "s, m",
    "tuple of one": "(s,)",
    "array and scalar": "A, s",
    "array": "A",
    "local array": "B",
    "truth": "found",
}


@pytest.mark.thinned(7)
@pytest.mark.parametrize(
    ("target", "dtype", "result"),
    [
        (target, dtype, result)
        for place, result in enumerate(RESULTS)
        for turn, dtype in enumerate(["float32", "float64", "int32", "complex128"])
        for target in TARGETS
        # numba takes seconds for each: there the types take turns.
        if target != "numba" or place % 4 == turn
    ],
)
def test_results_have_the_types_of_the_original(target: str, dtype: str, result: str) -> None:
    agree(
        f"""
        def summary(A):
            B = np.zeros((len(A), 2), dtype=np.float32)
            s = 0
            m = -1
            found = False
            for i in range(len(A)):
                s += A[i]
                m = max(m, i)
                found = found or A[i] == 3
                B[i, 1] = i
            return {RESULTS[result]}
        """,
        np.arange(5).astype(dtype),
        target=target,
    )


@pytest.mark.slow
def test_a_returned_argument_is_the_callers_array() -> None:
    function = function_of("""
        def double(A):
            for i in range(len(A)):
                A[i] = 2 * A[i]
            return A
    """)
    for target in TARGETS:
        for array in (np.arange(3.0), np.arange(3.0).astype(">f8"), np.arange(6.0)[::2]):
            result = pv.compile(function, target=target)(array)
            assert result is array
            np.testing.assert_array_equal(result, [0, 2, 4] if array.base is None else [0, 4, 8])


@pytest.mark.thinned(4)
@pytest.mark.parametrize("size", [0, 1, 2, 31, 32, 33, 65])
@pytest.mark.parametrize("target", TARGETS)
def test_sizes_that_no_tile_divides(target: str, size: int) -> None:
    generator = np.random.default_rng(size)
    matrices = [generator.random((size, size)) for _ in range(3)]
    agree(MATRIX, *matrices, size, target=target, tile=(32, 5))


@pytest.mark.parametrize("target", TARGETS)
def test_loops_that_do_not_run(target: str) -> None:
    text = """
        def last(A, n, m):
            s = 2.5
            for i in range(n, m):
                for j in range(i, 0, -3):
                    s = A[i - n, j]
                    A[i - n, j] = s + 1
            return s
    """
    for bounds in ((0, 0), (5, 2), (3, 4), (0, 1), (2, 6)):
        agree(text, np.ones((7, 7)), *bounds, target=target)


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("target", TARGETS)
def test_negative_data_dependent_subscripts_count_from_the_end(target: str, schedule: str) -> None:
    agree(GATHER, np.arange(6.0), np.array([0, -1, 5, -6]), np.arange(4.0), target=target, schedule=schedule)


@pytest.mark.parametrize("bad", [6, -7, 10**12])
@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("target", TARGETS)
def test_a_data_dependent_subscript_out_of_range_restores_everything(target: str, schedule: str, bad: int) -> None:
    kernel = pv.compile(function_of(GATHER), target=target, schedule=schedule)
    for array in (np.arange(6.0), np.arange(12.0)[::-2], np.arange(6.0).astype(">f8")):
        before = array.copy()
        with pytest.raises(pv.OutOfBoundsError) as caught:
            kernel(array, np.array([0, 1, bad, 2]), np.arange(1.0, 5.0))
        assert caught.value.hint.startswith("No array was changed.")
        np.testing.assert_array_equal(array, before)
        kernel(array, np.array([0, 1]), np.ones(2))  # the kernel is as good as before


@pytest.mark.parametrize("target", TARGETS)
def test_the_subscript_out_of_range_is_named(target: str) -> None:
    kernel = pv.compile(function_of(GATHER), target=target)
    with pytest.raises(pv.OutOfBoundsError, match=r"`A\[.*leaves its array"):
        kernel(np.arange(6.0), np.array([9]), np.ones(1))


TWO_TABLES = """
    def scatter(A, B, K):
        for i in range(K.shape[0]):
            A[K[i]] = i
            B[K[i] + 1] = i
"""


@pytest.mark.parametrize(
    ("target", "sentence"),
    [
        ("c", "A subscript of A is out of range (line 3)."),
        ("python", "A subscript of A is out of range (line 3)."),
        ("numba", "A subscript of A is out of range (line 3), or a subscript of B is out of range (line 4)."),
    ],
)
def test_one_of_several_subscripts_out_of_range(
    target: str, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the program itself tells, for those who do not run the loops once more."""
    monkeypatch.setattr("polyviz.runtime.kernel.located", lambda error, *_: error)
    kernel = pv.compile(function_of(TWO_TABLES), target=target)
    with pytest.raises(pv.OutOfBoundsError) as caught:
        kernel(np.zeros(2), np.zeros(3), np.array([1, 2]))
    assert caught.value.message == sentence


@pytest.mark.parametrize("target", TARGETS)
def test_guarded_accesses(target: str) -> None:
    agree(GUARDED, np.arange(6.0), np.array([0, -100, 5, 100]), np.arange(4.0), target=target)
    agree(NEIGHBOUR, np.arange(6.0), np.array([1, 1, 0.0, 1, 1, 0]), target=target)
    array = np.arange(6.0)
    with pytest.raises(pv.OutOfBoundsError):
        pv.compile(function_of(NEIGHBOUR), target=target)(array, np.ones(6))
    np.testing.assert_array_equal(array, np.arange(6.0))


@pytest.mark.parametrize("index", ["int64", "int32", "uint8", "uint64"])
@pytest.mark.parametrize("target", TARGETS)
def test_loops_with_bounds_from_arrays(target: str, index: str) -> None:
    columns, rows = np.array([0, 2, 1, 0, 2]).astype(index), np.array([0, 2, 3, 5]).astype(index)
    agree(PRODUCT, np.zeros(3), np.arange(1.0, 6.0), columns, rows, np.arange(3.0), target=target)


def test_what_has_no_result_is_told_as_an_error_of_the_package() -> None:
    kernel = pv.compile(
        function_of("""
            def inverses(A, K):
                for i in range(len(K)):
                    A[K[i]] = 1 / A[K[i]]
        """),
        target="numba",
    )
    array = np.array([2.0, 4.0, 0.0], complex)
    with pytest.raises(pv.EvaluationError) as caught:
        kernel(array, np.arange(3))
    assert str(caught.value) == (
        "The loops cannot be computed with these values: complex division by zero.\n"
        "  Hint: No array was changed."
    )
    np.testing.assert_array_equal(array, [2, 4, 0])


def test_an_interrupt_under_python_restores_the_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = pv.compile(
        function_of("""
            def roots(A):
                for i in range(len(A)):
                    A[i] = math.sqrt(A[i])
        """),
        target="python",
    )
    array = np.array([4.0, 9.0])
    kernel(np.ones(2))
    calls = iter([2.0])

    def interrupted(_: float) -> float:
        for value in calls:
            return value
        raise KeyboardInterrupt

    monkeypatch.setattr(np, "sqrt", interrupted)
    with pytest.raises(KeyboardInterrupt):
        kernel(array)
    assert array.tolist() == [4, 9]


NUMBERS = {
    "fibonacci": (
        """
        def fibonacci(n):
            a = 0
            b = 1
            for i in range(n):
                t = a + b
                a = b
                b = t
            return a
        """,
        (100,),
    ),
    "linear congruences": (
        """
        def congruences(A, seed):
            x = seed
            for i in range(A.shape[0]):
                x = 6364136223846793005 * x + 1442695040888963407
                A[i] = x >> 33
            return x
        """,
        (np.zeros(4, np.int64), 2**40 + 3),
    ),
    "hash of the position": (
        "def hashed(A):\n    for i in range(A.shape[0]):\n        A[i] = (i + 1) * 6364136223846793005 * 2654435761",
        (np.zeros(4, np.int64),),
    ),
    "powers": (
        """
        def powers(A, K):
            for i in range(A.shape[0]):
                A[i] = K[i] ** (i - 2) + 3 ** (20 * i)
        """,
        (np.zeros(6, np.int64), np.array([0, -1, 1, 2, -3, 7])),
    ),
    "divisions by zero": (
        """
        def divided(A, K, x, n):
            s = 0.0
            for i in range(A.shape[0]):
                A[i] = (i + n) // i + (7 % i) * 10 + K[i] // 0
                s += 1.0 / i - x / (i - 1.0) + 5.0 % x
            return s
        """,
        (np.zeros(4), np.arange(4), 0.0, 9),
    ),
    "outside of the domain": (
        """
        def outside(A, x):
            for i in range(A.shape[0]):
                A[i] = math.sqrt(x - i)
            A[0] += math.log(x * 0.0)
            A[1] += math.exp(x * 1e4) + (x * 1e200) ** 2
            A[2] += math.gamma(x * 0.0) + math.lgamma(x - 1.0)
            A[3] = math.acos(x + 1.0)
        """,
        (np.zeros(5), 1.0),
    ),
    "bytes": (
        """
        def counts(B, C, H):
            s = 0
            for i in range(B.shape[0]):
                H[B[i] + 1] += 1
                s += B[i]
                C[i] = i * 100 + s - 700
                C[i] += 300
            return s
        """,
        (np.array([200, 100, 255, 254], np.uint8), np.zeros(4, np.uint8), np.zeros(300, np.int64)),
    ),
    "divisors that may be zero": (
        """
        def divided(A, K, n, m):
            for i in range(n):
                A[i] = i / n + 1 / (i + 1) + n % (n - i) + i / (i - 1) + i // m + n % m
                for j in range(K[i]):
                    A[i] += 1 / j + j // n
        """,
        (np.zeros(4), np.array([0, 2, 1, 3]), 4, 0),
    ),
    "unsigned hash": (
        """
        def hashed(A, K):
            h = 14695981039346656037
            for i in range(A.shape[0]):
                h = (h ^ np.uint64(A[i])) * np.uint64(1099511628211)
                K[i] = (K[i] ^ 0x9E3779B97F4A7C15) >> 3
            return h
        """,
        (np.arange(5, dtype=np.uint8), np.arange(5) - 2),
    ),
    "literals": (
        "def literals(A):\n    for i in range(A.shape[0]):\n        A[i] = 2 ** -1 + 10 ** 2 + (-7) // 2 + 7.5 // -2",
        (np.zeros(3),),
    ),
    "literals without a sign": (
        "def literals(A):\n    for i in range(A.shape[0]):\n        A[i] = (9223372036854775807 + 1) * 2.0 + 2 ** 63",
        (np.zeros(3),),
    ),
    "narrow cells": (
        """
        def narrow(A, B, x):
            for i in range(A.shape[0]):
                A[i] <<= 3
                B[i] = A[i] * x
                A[i] **= 2
                B[i] += 0.5
                A[i] = i * 1000 - 100
        """,
        (np.array([100, -100, 127, -128], np.int8), np.zeros(4, np.int16), 1e3),
    ),
    "whole parts": (
        """
        def parts(A, B, C, K, x):
            for i in range(A.shape[0]):
                K[i] = int(A[i]) + math.floor(x) % 7
                A[i] = int(A[i]) + round(A[i])
                B[i] = int(B[i])
                C[i] = np.int32(C[i])
        """,
        (*(np.array([2.5, -3.5, np.nan, np.inf, -1e300, 1e18]) for _ in range(3)), np.zeros(6, np.int64), np.inf),
    ),
}


@pytest.mark.thinned(4)
@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("target", TARGETS)
def test_numbers_mean_what_numba_takes_them_for(target: str, name: str) -> None:
    text, arguments = NUMBERS[name]
    agree(text, *arguments, target=target, floating_point="reassociate")


@pytest.mark.parametrize("target", ["c", "numba"])
@pytest.mark.parametrize("dtype", ["float64", "int32"])
def test_iterators_of_parallel_loops_are_signed(target: str, dtype: str) -> None:
    kernel = agree(
        """
        def signed(A, n):
            for i in range(n):
                for j in range(n):
                    A[i, j] = -i * 0.5 - j + (i - 3) // 2 + (i - 5) % 3
        """,
        np.zeros((70, 70), dtype=dtype),
        70,
        target=target,
    )
    assert ("numba.prange" if target == "numba" else "omp parallel") in kernel.source


EXPANDED = """
def expanded(A, B, n):
    for i in range(2, n):
        for j in range(i, n):
            t = A[i, j] * 2
            B[i, j] = t + 1
"""
DISTRIBUTED = "[n] -> { S0[i, j] -> [0, i, j]; S1[i, j] -> [1, j, -i] }"


@pytest.mark.parametrize("dtype", ["float64", "int8", "bool", "complex64"])
@pytest.mark.parametrize("target", ["c", "numba"])
def test_expanded_temporaries(target: str, dtype: str) -> None:
    for size in (0, 1, 3, 9):
        matrix = np.arange(size * size).reshape(size, size) % 5
        arguments = (matrix.astype(dtype), np.zeros((size, size), dtype=dtype), size)
        kernel = agree(EXPANDED, *arguments, target=target, schedule=DISTRIBUTED)
        assert [expansion.array for expansion in kernel.plan.expansions] == ["t"]


@pytest.mark.slow
def test_negative_sizes_of_temporaries_are_empty() -> None:
    for target in TARGETS:
        kernel = pv.compile(function_of(EXPANDED), target=target, schedule=DISTRIBUTED)
        kernel(np.zeros((2, 2)), np.zeros((2, 2)), -5)


def test_no_memory_for_temporaries_is_a_memory_error(cache_directory: object) -> None:
    text = f"#include <stdint.h>\nint64_t kernel_f(void) {{ return {NO_MEMORY}; }}\n"
    program = Program("c", "kernel_f", text, (), {}, {})
    with pytest.raises(MemoryError, match="copies of its temporaries"):
        NativeRunner(program)({}, {})


def test_unknown_targets_cannot_run() -> None:
    with pytest.raises(pv.CodegenError, match="'cobol'"):
        make_runner(Program("cobol", "f", "", (), {}, {}))


@pytest.mark.parametrize("target", ["c", "numba"])
def test_threads_may_share_a_kernel(target: str) -> None:
    kernel = pv.compile(function_of(MATRIX), target=target)
    outcomes: list[bool] = []

    def work(seed: int) -> None:
        outcomes.extend(_right(kernel, seed + 20) for _ in range(3))

    _in_threads(work, 4)
    assert outcomes == [True] * 12


@pytest.mark.slow
def test_threads_may_compile_at_the_same_time() -> None:
    outcomes: list[Any] = []

    def work(number: int) -> None:
        schedule = ("pluto", "isl", "original")[number % 3]
        try:
            outcomes.append(_right(pv.compile(function_of(MATRIX), schedule=schedule, target="c"), 20 + number))
        except Exception as error:
            outcomes.append(error)

    _in_threads(work, 6)
    assert outcomes == [True] * 6


def _in_threads(work: Callable[[int], None], count: int) -> None:
    threads = [threading.Thread(target=work, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _right(kernel: pv.Kernel, size: int) -> bool:
    generator = np.random.default_rng(size)
    first, second, result = generator.random((size, size)), generator.random((size, size)), np.zeros((size, size))
    kernel(first, second, result, size)
    return np.allclose(result, first @ second)


@pytest.mark.parametrize("target", ["c", "numba"])
def test_a_forked_child_can_run_a_kernel_its_parent_ran(target: str) -> None:
    kernel = pv.compile(function_of(MATRIX), target=target)
    assert _right(kernel, 200)
    context = multiprocessing.get_context("fork")
    answers = context.Queue()
    child = context.Process(target=lambda: answers.put(_right(kernel, 200)))
    child.start()
    try:
        assert answers.get(timeout=600)
    finally:
        child.kill()
        child.join()


TOTAL = """
def total(s, A):
    s[()] = 0.0
    for i in range(len(A)):
        s[()] += A[i]
    for i in range(len(A)):
        A[i] = A[i] / s[()]
"""


@pytest.mark.parametrize("dtype", ["float64", "float32", ">f8"])
@pytest.mark.parametrize("target", TARGETS)
def test_arrays_without_dimensions(target: str, dtype: str) -> None:
    total, values = np.array(7.0, dtype=dtype), np.arange(1.0, 5.0)
    kernel = pv.compile(function_of(TOTAL), target=target)
    assert kernel(total, values) is None
    assert total.shape == ()
    assert total[()] == 10.0
    np.testing.assert_allclose(values, np.arange(1.0, 5.0) / 10)
    assert any("has no dimensions" in note for note in kernel.scop.notes)


def test_arrays_without_dimensions_are_expected_as_such() -> None:
    kernel = pv.compile(function_of(TOTAL), target="python")
    with pytest.raises(pv.ArgumentError, match="s has 1 dimension, but the loops use it with none"):
        kernel(np.zeros(1), np.ones(3))
    with pytest.raises(pv.ArgumentError, match="s must be a NumPy array with no dimensions, not a float"):
        kernel(1.0, np.ones(3))


@pytest.mark.parametrize("target", TARGETS)
def test_an_array_without_dimensions_is_handed_back_as_it_came(target: str) -> None:
    text = """
        def largest(A, best):
            for i in range(len(A)):
                best[()] = max(best[()], A[i])
            return best
    """
    best = np.array(0.0)
    assert pv.compile(function_of(text), target=target)(np.array([1.0, 3.0, 2.0]), best) is best
    assert best == 3.0


STRIDES = """
def strides(A, K):
    for i in range(len(K)):
        A[0, i] = 1.0
        for j in range(0, A.shape[0], K[i]):
            A[j, i] = i + j
"""


@pytest.mark.parametrize("target", TARGETS)
def test_a_step_of_zero_is_an_error_and_changes_nothing(target: str) -> None:
    kernel = pv.compile(function_of(STRIDES), target=target)
    array, steps = np.zeros((6, 3)), np.array([2, 0, 1])
    with pytest.raises(pv.EvaluationError) as caught:
        kernel(array, steps)
    assert caught.value.hint.startswith("No array was changed.")
    assert "the loop over j is 0 (line 4)" in str(caught.value) or "must not be zero" in str(caught.value)
    np.testing.assert_array_equal(array, np.zeros((6, 3)))
    agree(function_of(STRIDES), array, np.array([2, 5, -1]), target=target)


@pytest.mark.parametrize("target", TARGETS)
def test_a_step_that_may_be_zero_in_a_nest(target: str) -> None:
    text = """
        def f(A, s):
            for i in range(A.shape[0]):
                for j in range(i, A.shape[1], s):
                    A[i, j] += 1.0
    """
    array = np.zeros((3, 4))
    with pytest.raises(pv.EvaluationError):
        pv.compile(function_of(text), target=target)(array, 0)
    assert not array.any()
    agree(text, array, 3, target=target)
    agree(text, array, -1, target=target)


@pytest.mark.parametrize("target", ["c", "numba"])
def test_compilations_are_told(target: str, cache_directory: object) -> None:
    stages: list[str] = []

    @contextmanager
    def listen(stage: str) -> Iterator[None]:
        stages.append(stage)
        yield

    kernel = pv.compile(function_of(GATHER), target=target)
    with telling(listen):
        for _ in range(2):
            kernel(np.arange(6.0), np.array([1]), np.ones(1))
    (told,) = stages
    assert told.startswith("compiling gather with ")


@pytest.mark.parametrize("schedule", ["original", "pluto"])
def test_complex_numbers_that_two_statements_pass_to_and_fro(schedule: str) -> None:
    """GCC 12 gave the loop to two loops where the numbers were complex."""
    text = """
    def program(A, m):
        for j in range(2):
            for k in range(j + 1, m):
                A[0, j] -= A[j, k + 1]
                A[j, max(k - 1, 0)] += A[j, k + 3]
    """
    numbers = np.arange(100.0).reshape(10, 10) % 7
    agree(text, numbers + 1j * numbers.T, 7, target="c", schedule=schedule)


def test_real_numbers_that_statements_under_a_condition_pass_to_and_fro() -> None:
    """GCC 12 gave one of its versions of the loop to two loops."""
    text = """
    def program(A, B, n):
        s = 0.0
        for i in range(n):
            s = s - A[i]
            B[i] = s
        for t in range(3):
            for i in range(2, n - 2):
                A[i] = (B[i] + B[i] + B[i - 1]) / 3.5
            for i in range(2, n - 2):
                B[i] = 0.25 * A[i] + 0.25 * A[i + 1]
        return s
    """
    agree(text, np.arange(15.0, dtype=np.float32) - 4.0, np.zeros(15), 15, target="c", schedule="isl")


@pytest.mark.parametrize(
    ("name", "version", "expected"),
    [
        ("gcc", "gcc (Debian 12.2.0-14+deb12u1) 12.2.0", False),
        ("cc", "cc (Debian 12.2.0-14+deb12u1) 12.2.0", False),
        ("cc", "Apple clang version 15.0.0 (clang-1500.3.9.4)", True),
        ("clang", "Debian clang version 19.1.7 (3~deb12u1)", True),
        ("zig", "0.13.0", True),
    ],
)
def test_clang_is_known_under_other_names(name: str, version: str, expected: bool) -> None:
    assert Toolchain(name, (name,), version, True, ()).is_clang is expected

SHARED = """
def f(A, B, y):
    for i in range(1, A.shape[0]):
        for j in range(1, A.shape[1]):
            A[i, j] = A[i - 1, j] + A[i, j - 1] + B[i, j]
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            y[int(B[i, j] * 9)] += A[i, j]
"""


@pytest.mark.parametrize("threads", [1, 2])
def test_one_thread_needs_no_openmp(threads: int) -> None:
    toolchain = find_toolchain()
    if toolchain is None or not toolchain.openmp:
        pytest.skip("no C compiler with OpenMP")
    A, B = np.random.default_rng(1).random((2, 90, 80))
    kernel = agree(SHARED, A / 9, B, np.zeros(9), target="c", threads=threads)
    assert "#pragma omp parallel" in kernel.source
    runner = NativeRunner(kernel.specialise(kernel.program.types))
    assert hasattr(ctypes.CDLL(str(runner._function.path)), "omp_get_max_threads") == (threads > 1)

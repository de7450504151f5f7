"""A kernel gets as many threads as it was built for, and the process keeps its own number."""

from __future__ import annotations

import ctypes
import re

import numpy as np
import pytest

import polyviz as pv
from polyviz.runtime import execute
from polyviz.runtime.cache import BuildCache
from polyviz.runtime.threads import NativeThreads, numba_threads
from polyviz.runtime.toolchain import find_toolchain
from tests.running import function_of

COUNT = "#include <omp.h>\nint count(void) { return omp_get_max_threads(); }\n"


def test_the_number_is_lowered_and_restored() -> None:
    toolchain = find_toolchain()
    if toolchain is None or not toolchain.openmp:
        pytest.skip("no C compiler with OpenMP")
    path = BuildCache().library(COUNT, toolchain).path
    library = ctypes.CDLL(str(path))
    library.omp_set_num_threads(3)
    two = NativeThreads(path, 2)
    before = two.lowered()
    assert library.count() == 2
    assert not NativeThreads(path, None).lowered()
    two.restore(before)
    assert library.count() == 3
    assert not NativeThreads(path, 8).lowered(), "more threads than the user allows"
    assert library.count() == 3


def test_threads_of_numba() -> None:
    import numba

    before = numba.get_num_threads()
    with numba_threads(1):
        assert numba.get_num_threads() == 1
    assert numba.get_num_threads() == before


@pytest.mark.parametrize("target", ["c", "numba", "python"])
def test_a_kernel_with_one_thread_does_the_same(target: str) -> None:
    function = function_of("def twice(A):\n    for i in range(len(A)):\n        A[i] = 2 * A[i]")
    kernel = pv.compile(function, target=target, threads=1)
    array = np.ones(100_000)
    kernel(array)
    np.testing.assert_array_equal(array, 2.0)
    assert kernel.program.threads == 1
    assert "threads: one thread runs all loops, as asked" in kernel.report()


@pytest.mark.parametrize("target", ["c", "numba"])
def test_a_container_bounds_the_threads_of_a_kernel(monkeypatch: pytest.MonkeyPatch, target: str) -> None:
    seen: list[int | None] = []
    native, numba_limit = NativeThreads, numba_threads
    monkeypatch.setattr(execute, "thread_limit", lambda asked: 1 if asked is None else asked)
    monkeypatch.setattr(execute, "NativeThreads", lambda path, count: seen.append(count) or native(path, count))
    monkeypatch.setattr(execute, "numba_threads", lambda count: seen.append(count) or numba_limit(count))
    function = function_of("def twice(A):\n    for i in range(len(A)):\n        A[i] = 2 * A[i]")
    kernel = pv.compile(function, target=target)
    array = np.ones(100_000)
    kernel(array)
    np.testing.assert_array_equal(array, 2.0)
    assert set(seen) == {1}


def test_numba_has_no_parallel_loops_for_one_thread() -> None:
    text = "def total(A, B):\n    for i in range(len(A)):\n        A[i] = 2 * B[i]\n        B[0] += A[i]"
    usual, alone = (pv.compile(function_of(text), target="numba", threads=count) for count in (None, 1))
    assert "parallel=True" in usual.source
    assert not re.search("parallel=True|prange", alone.source)
    given, expected = [np.arange(5.0), np.ones(5)], [np.arange(5.0), np.ones(5)]
    alone(*given)
    pv.compile(function_of(text), target="python")(*expected)
    np.testing.assert_array_equal(given, expected)

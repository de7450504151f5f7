"""Vector loops over periodic subscripts: remainders only at the ends, and the same values whatever the size."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import polyviz as pv
from polyviz.model.program import ArrayType
from polyviz.runtime.toolchain import find_toolchain
from tests.periodic import ring
from tests.running import function_of

if TYPE_CHECKING:
    from collections.abc import Callable

PERIODIC = ring("u[(i + 1) % n, (j - 1) % m] + 10.0 * u[(i - 1) % n, (j + 1) % m] + 100.0 * u[i, j]")


def lines_of(text: str) -> list[str]:
    types = {name: ArrayType("float64", 2) for name in "uv"}
    return pv.compile(function_of(text), target="c").specialise(types).text.splitlines()


def test_nothing_wraps_around_inside() -> None:
    lines = lines_of(PERIODIC)
    place = next(number for number, line in enumerate(lines) if "#pragma omp simd" in line)
    inside = lines[place + 2].partition("//")[0]
    assert "floor_mod" not in inside
    assert "[j - 1]" in inside
    assert "[j + 1]" in inside
    ends = [line for line in lines if "floor_mod_by_i64(j - 1, m)" in line]
    assert len(ends) == 2


def test_remainders_that_stand_still_are_worked_out_before_the_loop() -> None:
    fixed = [line for line in lines_of(PERIODIC) if "floor_mod_by_i64(i " in line.partition("//")[0]]
    assert [line.split("=")[0].strip() for line in fixed] == ["const int64_t wrapped0", "const int64_t wrapped1"]


def test_a_name_of_the_user_is_not_taken() -> None:
    text = PERIODIC.replace("(i", "(wrapped0").replace("[i,", "[wrapped0,")
    lines = lines_of(text.replace("for i", "for wrapped0"))
    assert any("const int64_t wrapped0_2 = floor_mod_by_i64(wrapped0 + 1, n)" in line for line in lines)


@pytest.mark.skipif(find_toolchain() is None, reason="no C compiler")
def test_values_are_those_of_python_for_every_size() -> None:
    function = function_of(PERIODIC)
    kernel = pv.compile(function, target="c")
    for shape in ((1, 1), (1, 2), (2, 1), (3, 2), (2, 3), (4, 5), (6, 4), (7, 40)):
        u = np.random.default_rng(7).random(shape)
        found, wanted = np.zeros(shape), np.zeros(shape)
        kernel(u, found)
        function(u, wanted)
        assert np.allclose(found, wanted, rtol=1e-14), shape


@pytest.mark.skipif(find_toolchain() is None, reason="no C compiler")
@pytest.mark.parametrize("threads", [1, 2])
def test_a_single_loop_has_the_values_of_python_for_every_size(threads: int) -> None:
    text = """
def single(u, v, n, first, last):
    for i in range(first, last):
        v[i] = u[(i - 1) % n] + 2.0 * u[(i + 2) % n]
"""
    kernel, function = pv.compile(function_of(text), target="c", threads=threads), function_of(text)
    for n, first, last in ((1, 0, 1), (2, 0, 2), (3, 1, 3), (5, 2, 2), (5, 4, 3), (9, 3, 5), (60_000, 0, 60_000)):
        u = np.random.default_rng(7).random(n)
        found, wanted = np.zeros(n), np.zeros(n)
        kernel(u, found, n, first, last)
        function(u, wanted, n, first, last)
        assert np.array_equal(found, wanted), (n, first, last)


def test_numba_wraps_around_at_the_ends_only(golden: Callable[..., None]) -> None:
    golden(pv.compile(function_of(PERIODIC), target="numba").source)


@pytest.mark.slow
def test_values_under_numba_are_those_of_python_for_every_size() -> None:
    function = function_of(PERIODIC)
    kernel = pv.compile(function, target="numba")
    for shape in ((0, 0), (1, 1), (1, 2), (2, 1), (3, 2), (4, 5), (7, 40), (40, 7)):
        u = np.random.default_rng(7).random(shape)
        found, wanted = np.zeros(shape), np.zeros(shape)
        kernel(u, found)
        function(u, wanted)
        assert np.allclose(found, wanted, rtol=1e-14), shape


@pytest.mark.slow
def test_a_loop_that_numba_shares_between_threads_has_parts() -> None:
    function = function_of("""
        def single(u, v):
            n = len(u)
            for i in range(n):
                v[i] = u[(i - 1) % n] + u[(i + 1) % n]
    """)
    kernel = pv.compile(function, target="numba")
    inside = kernel.source.split("numba.prange(")[1]
    assert "%" not in inside.split("for i in")[0]
    for n in (0, 1, 2, 3, 1000):
        u = np.random.default_rng(7).random(n)
        found, wanted = np.zeros(n), np.zeros(n)
        kernel(u, found)
        function(u, wanted)
        assert np.array_equal(found, wanted), n

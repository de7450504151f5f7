"""Strips that threads share, as wide as the number of threads and the length of the loop ask for."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING

import numpy as np
import pytest

import polyviz as pv
from polyviz.codegen.runtime_c import helper_source
from polyviz.runtime.toolchain import compile_shared, find_toolchain
from tests.running import agree_at, function_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FILTER = """
def smooth(A, B):
    for j in range(A.shape[1]):
        before = 0.0
        for i in range(A.shape[0]):
            B[i, j] = 0.5 * A[i, j] + 0.25 * before
            before = B[i, j]
"""
SHIFTED = """
def shifted(A, B):
    for i in range(1, A.shape[0]):
        for j in range(2, A.shape[1] - 3):
            A[i, j] += 0.5 * A[i - 1, j]
            B[i, j + 1] = B[i - 1, j + 1] + A[i, j]
"""
STEPS = """
def steps(A, B):
    for j in range({first}, A.shape[1], {step}):
        before = 0.0
        for i in range(A.shape[0]):
            B[i, j] = 0.5 * A[i, j] + 0.25 * before
            before = B[i, j]
"""
DIAGONALS = """
def diagonals(A):
    for i in range(1, A.shape[0]):
        for j in range(A.shape[1] - 1):
            A[i, j] += 0.5 * A[i - 1, j + 1]
"""


def test_text(golden: Callable[..., None]) -> None:
    kernel = pv.compile(function_of(FILTER), target="c", threads=2)
    golden(kernel.source, "c")


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("text", [FILTER, SHIFTED])
def test_results(text: str, threads: int) -> None:
    generator = np.random.default_rng(5)
    for columns in (0, 1, 6, 63, 130, 1031, 12_345):
        arrays = [generator.random((9, columns)) for _ in range(2)]
        kernel = agree_at(text, *arrays, target="c", threads=threads)
    assert "even_strip(" in kernel.source


@pytest.mark.parametrize("step", [2, 3, 16, 32, 256])
@pytest.mark.parametrize("first", [0, 5])
def test_steps(first: int, step: int) -> None:
    text = STEPS.format(first=first, step=step)
    for columns in (1, 40, 1031, 3000):
        arrays = [np.random.default_rng(7).random((5, columns)) for _ in range(2)]
        agree_at(text, *arrays, target="c", threads=3)


def test_no_strip_goes_on_behind_the_last_cell() -> None:
    text = FILTER.replace("A.shape[1]", "512")
    arrays = [np.random.default_rng(7).random((5, 512)) for _ in range(2)]
    # Cut where nothing else says that the array ends, strips of another width would go on behind it.
    kernel = agree_at(text, *arrays, target="c", threads=3)
    assert "j_tile + 256" in kernel.source


def test_strips_of_which_some_have_more_to_do_stay_narrow() -> None:
    kernel = pv.compile(function_of(DIAGONALS), target="c")
    assert "even_strip(" not in kernel.source
    assert "i_tile += 256" in kernel.source


@pytest.fixture(scope="module")
def even_strip(tmp_path_factory: pytest.TempPathFactory) -> Callable[[int, int], int]:
    folder: Path = tmp_path_factory.mktemp("strips")
    text = helper_source(["even_strip"]).replace("static inline ", "")
    compile_shared(find_toolchain(), f"#include <stdint.h>\n{text}", folder / "strips.so")
    function = ctypes.CDLL(str(folder / "strips.so")).even_strip
    function.argtypes, function.restype = [ctypes.c_int64] * 2, ctypes.c_int64
    return function


@pytest.mark.parametrize("threads", [1, 2, 3, 64])
@pytest.mark.parametrize("count", [-5, 0, 1, 64, 65, 1000, 2160, 4097, 100_000, 2**40])
def test_each_thread_gets_the_same(even_strip: Callable[[int, int], int], count: int, threads: int) -> None:
    width = even_strip(count, threads)
    assert 64 <= width <= 2048
    assert width % 16 == 0
    if count >= 64 * threads:
        turns = -(-count // width // threads)
        assert turns * width <= count / threads + 16 * turns

"""Loops whose conditions change at their ends only: nothing is decided in between, and values are those of Python."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import polyviz as pv
from polyviz.model.program import ArrayType
from polyviz.runtime.toolchain import find_toolchain
from tests.running import function_of

if TYPE_CHECKING:
    from collections.abc import Callable


needs_compiler = pytest.mark.skipif(find_toolchain() is None, reason="no C compiler")

NEIGHBOURS = """
def neighbours(x, y):
    n = x.shape[0]
    for i in range(n):
        left = i - 1 if i > 0 else n - 1
        if i == n - 1:
            right = 0
        else:
            right = i + 1
        y[i] = x[left] - 2 * x[i] + x[right]
"""
PREVIOUS = """
def previous(x, y):
    n = x.shape[0]
    before = n - 1
    for i in range(n):
        y[i] = x[i] - x[before]
        before = i
"""
CLAMPED = """
def clamped(x, y):
    n = x.shape[0]
    for i in range(n):
        y[i] = x[max(i - 2, 0)] + x[min(max(i + 1, 0), n - 1)]
"""
CLOSED = """
def closed(x, y):
    n = x.shape[0]
    s = 0.0
    for i in range(n):
        s += x[i] * (x[i + 1] if i < n - 1 else x[0])
    y[0] = s
"""
BACKWARDS = """
def backwards(x, y):
    n = x.shape[0]
    for i in range(n - 1, -1, -1):
        y[i] = x[i] - x[i + 1 if i + 1 < n else 0]
"""
BORDER = """
def border(x, y):
    n = x.shape[0]
    for i in range(n):
        if x[i] > 0.5 and i > 0 and i != n - 1:
            y[i] += x[i - 1]
        else:
            y[i] += 1
"""
MIDDLE = """
def middle(x, y):
    n = x.shape[0]
    for i in range(n):
        y[i] = x[i if i < n // 2 else 0] + (x[1] if i == 30 else x[0])
"""
GRID = """
def grid(x, y):
    n = x.shape[0]
    for i in range(n):
        for j in range(n):
            left = j - 1 if j > 0 else n - 1
            down = i + 1 if i < n - 1 else 0
            y[j] += x[left] * (i + 1) - x[down]
"""
TEXTS = [NEIGHBOURS, PREVIOUS, CLAMPED, CLOSED, BACKWARDS, BORDER, MIDDLE, GRID]


def kernel_of(text: str, **options: object) -> pv.Kernel:
    return pv.compile(function_of(text), target="c", **options)


def loops_of(text: str, **options: object) -> str:
    source = kernel_of(text, **options).specialise({name: ArrayType("float64", 1) for name in "xy"}).text
    return source[source.index("int64_t kernel_") :]


def said(kernel: pv.Kernel) -> list[str]:
    return [decision.text for decision in kernel.plan.decisions if decision.step == "periodic"]


@pytest.mark.parametrize("text", [NEIGHBOURS, CLAMPED, CLOSED, BORDER], ids=lambda text: text.split("(")[0][5:])
def test_the_text(text: str, golden: Callable[..., None]) -> None:
    golden(loops_of(text), "c")


def test_what_is_said() -> None:
    assert said(kernel_of(NEIGHBOURS)) == [
        "iterations at the ends of the loop run apart: conditions on i are decided in between"
    ]
    assert said(pv.compile(function_of(NEIGHBOURS), target="numba")) == said(kernel_of(NEIGHBOURS))


def test_it_can_be_switched_off() -> None:
    kernel = kernel_of(NEIGHBOURS, periodic=False)
    assert not said(kernel)
    assert loops_of(NEIGHBOURS, periodic=False).count("for (") == 1


@pytest.mark.parametrize("options", [{"schedule": "original"}, {"target": "python"}])
def test_loops_in_the_order_of_the_source_and_for_reading_stay(options: dict[str, str]) -> None:
    assert not said(pv.compile(function_of(NEIGHBOURS), **{"target": "c", **options}))


def test_conditions_that_change_in_the_middle_stay() -> None:
    assert not said(kernel_of(MIDDLE))


def test_short_loops_stay() -> None:
    assert not said(kernel_of(NEIGHBOURS.replace("n = x.shape[0]", "n = 8")))


@needs_compiler
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("text", TEXTS, ids=lambda text: text.split("(")[0][5:])
def test_values_are_those_of_python_for_every_size(text: str, threads: int) -> None:
    function: Callable[..., None] = function_of(text)
    kernel = kernel_of(text, threads=threads)
    for dtype in ("float64", "float32", "int64"):
        for n in (1, 2, 3, 4, 7, 70, 400):
            if text == MIDDLE and n < 2:
                continue
            x = (10 * np.random.default_rng(n).random(n)).astype(dtype)
            wanted = np.ones(n, dtype=dtype)
            found = wanted.copy()
            function(x, wanted)
            kernel(x, found)
            assert np.allclose(found, wanted, rtol=1e-12 if dtype == "float64" else 1e-3), (dtype, n)


@needs_compiler
@pytest.mark.parametrize("text", [NEIGHBOURS, PREVIOUS, CLAMPED, CLOSED, BACKWARDS])
def test_the_strict_contract_has_the_same_bits(text: str) -> None:
    x = np.random.default_rng(3).random(333)
    found, wanted = np.zeros(333), np.zeros(333)
    kernel_of(text, contract="strict")(x, found)
    function_of(text)(x, wanted)
    assert np.array_equal(found, wanted)


@needs_compiler
def test_an_empty_loop_changes_nothing() -> None:
    for text in (NEIGHBOURS, PREVIOUS, CLAMPED, BACKWARDS, BORDER, GRID):
        kernel_of(text)(np.zeros(0), np.zeros(0))


@needs_compiler
def test_a_chosen_number_keeps_its_type() -> None:
    text = """
def chosen(x, y):
    for i in range(x.shape[0]):
        y[i] = (x[i] if i > 0 else 0.0) * (x[i] if i > 0 else 1.0)
"""
    x = np.random.default_rng(5).random(50).astype(np.float32)
    found, wanted = np.zeros(50), np.zeros(50)
    pv.compile(function_of(text), target="c")(x, found)
    pv.compile(function_of(text), target="c", periodic=False)(x, wanted)
    assert np.array_equal(found, wanted)

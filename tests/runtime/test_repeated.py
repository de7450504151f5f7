"""A call that is made again finds its values at hand, and no other call gets them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polyviz as pv
from polyviz.runtime.execute import NativeRunner
from polyviz.runtime.toolchain import find_toolchain
from tests.running import function_of

pytestmark = pytest.mark.skipif(find_toolchain() is None, reason="no C compiler")

SCALE = "def f(A, B, factor, n):\n    for i in range(n):\n        A[i] = factor * B[i]"


def runner_of(text: str, *arguments: Any) -> tuple[NativeRunner, pv.Kernel]:
    kernel = pv.compile(function_of(text), target="c")
    kernel(*arguments)
    return NativeRunner(kernel.program), kernel


def given(kernel: pv.Kernel, *arguments: Any) -> tuple[Any, Any]:
    bound = kernel.bind(arguments, {})
    return bound.given, bound.parameters


def taken(runner: NativeRunner, values: Any, parameters: Any) -> bool:
    return runner._latest is not None and runner._latest.run(runner, values, parameters)


def test_other_arrays_and_numbers_of_the_same_kind() -> None:
    runner, kernel = runner_of(SCALE, np.zeros(8), np.ones(8), 2.0, 8)
    for factor in (3.0, 4.0, -1.5):
        written, read = np.zeros(8), np.arange(8.0)
        runner(*given(kernel, written, read, factor, 8))
        np.testing.assert_array_equal(written, factor * read)
        assert taken(runner, *given(kernel, np.zeros(8), np.ones(8), 7.0, 8))


@pytest.mark.parametrize("kind", [float, np.float64, np.float32])
def test_numbers_of_numpy(kind: type[Any]) -> None:
    runner, kernel = runner_of(SCALE, np.zeros(8), np.ones(8), kind(2.5), 8)
    values, parameters = given(kernel, np.zeros(8), np.arange(8.0), kind(2.5), 8)
    runner({**values, "factor": kind(2.5)}, parameters)
    assert taken(runner, {**values, "factor": kind(0.5)}, parameters)
    np.testing.assert_array_equal(values["A"], 0.5 * np.arange(8.0))


def test_other_kinds_of_calls() -> None:
    runner, kernel = runner_of(SCALE, np.zeros(8), np.ones(8), 2.0, 8)
    runner(*given(kernel, np.zeros(8), np.ones(8), 2.0, 8))
    values, parameters = given(kernel, np.zeros(8), np.ones(8), 2.0, 8)
    assert taken(runner, values, parameters)
    assert not taken(runner, values, {**parameters, "n": 7})
    assert not taken(runner, {**values, "n": 7}, parameters)
    assert not taken(runner, {**values, "factor": 2}, parameters)
    assert not taken(runner, dict(reversed(values.items())), parameters)
    others = (np.zeros(9), np.zeros(16)[::2], np.zeros((8, 1)), np.zeros(8, np.float32), [0.0] * 8)
    for other in others:
        assert not taken(runner, {**values, "A": other}, parameters)


def test_a_size_that_changes_is_heard() -> None:
    runner, kernel = runner_of(SCALE, np.zeros(8), np.ones(8), 2.0, 8)
    for count in (8, 3, 8, 5):
        written = np.zeros(8)
        runner(*given(kernel, written, np.ones(8), 2.0, count))
        assert np.count_nonzero(written) == count


@pytest.mark.parametrize(
    "text",
    [
        "def f(A, n):\n    s = 0.0\n    for i in range(n):\n        s += A[i]\n    return s",
        "def f(A, n):\n    B = np.zeros(n)\n    for i in range(n):\n        B[i] = A[i]\n    return B",
        "def f(A, n):\n    for i in range(n):\n        A[int(A[i])] = 1.0",
    ],
    ids=["a number", "an array of its own", "tested"],
)
def test_calls_that_do_more_than_change_arrays(text: str) -> None:
    runner, kernel = runner_of(text, np.zeros(4), 4)
    for _ in range(2):
        runner(*given(kernel, np.zeros(4), 4))
    assert runner._latest is None

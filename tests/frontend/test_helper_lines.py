"""Errors inside of helpers show the call and the line of the helper."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING

import pytest

from polyviz.errors import ExtractionError
from polyviz.frontend import extract
from tests.running import function_of

if TYPE_CHECKING:
    from collections.abc import Callable

CALLS = "\n\ndef f(A: 'float64[:]', B: 'float64[:]', n):\n    for i in range(n):\n        B[i] = g(A[i])\n"
HELPERS = {
    "unknown_name": "def g(x):\n    y = x * 2\n    return y + zz" + CALLS,
    "a_call": "def g(x):\n    # twice\n    é = 2 * x; print(é)\n    return é" + CALLS,
    "two_helpers": "def h(x):\n    return x[0]\n\ndef g(x):\n    return 2 * h(x)" + CALLS,
    "statements": "def g(x, i):\n    t = 0.0\n    for k in range(i):\n        t += foo(x[k])\n    return t"
    + CALLS.replace("g(A[i])", "g(A, i)"),
    "whole_arrays": "def g(x, y):\n    x[:] = np.sort(y)\n\ndef f(A: 'float64[:]', B: 'float64[:]'):\n    g(A, B)\n",
    "a_generator": "def g(x, n):\n    for i in range(n):\n        yield x[i]\n\ndef f(A, n):\n    g(A, n)\n",
}


@pytest.mark.parametrize("name", HELPERS)
def test_both_lines_are_shown(name: str, golden: Callable[..., None]) -> None:
    with pytest.raises(ExtractionError) as caught:
        extract(HELPERS[name])
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    golden(str(caught.value))


def test_lines_of_a_function_around_are_its_own(golden: Callable[..., None]) -> None:
    helper = function_of("\n\n\ndef g(x):\n    return x + [1, 2]\n")
    with pytest.raises(ExtractionError) as caught:
        extract(function_of("def f(A):\n    for i in range(len(A)):\n        A[i] = g(A[i])\n", g=helper))
    golden(str(caught.value))


def test_a_line_of_the_program_is_shown_alone() -> None:
    with pytest.raises(ExtractionError) as caught:
        extract("def g(x):\n    return 2 * x\n\ndef f(A):\n    A[0] = g(A[0] + zz)\n    A[1] = [3]\n")
    assert caught.value.inside == ""

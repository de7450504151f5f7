"""Elements that are set in steps which the program computes."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import polyviz as pv
from polyviz.errors import ArgumentError, EvaluationError, PolyvizError
from tests.frontend.compiled import same_compiled


def primes(n: int) -> Any:
    is_prime = np.ones(n + 1, dtype=np.bool_)
    is_prime[:2] = False
    i = 2
    while i * i <= n:
        if is_prime[i]:
            is_prime[i * i :: i] = False
        i += 1
    return is_prime.sum()


def crossed_out(n: int) -> int:
    count = 0
    is_prime = np.ones(n, dtype=np.bool_)
    for i in range(2, n):
        if is_prime[i]:
            is_prime[2 * i : n : i] = False
            count += 1
    return count


@pytest.mark.parametrize("target", ["c", "numba"])
@pytest.mark.parametrize("function", [primes, crossed_out], ids=lambda function: function.__name__)
def test_sieves(function: Any, target: str) -> None:
    for n in (2, 30, 101):
        same_compiled(function, {"n": n}, target, "strict")


def every_bound(x: Any, a: int, b: int, k: int) -> None:
    x[a:b:k] = 1.5
    x[::k] += 2.0
    x[a::k] *= 3.0
    x[:b:k] -= 1.0
    x[-3::k] += 4.0


def in_rows(A: Any, y: Any, k: int) -> None:
    A[k, 1::k] = y[0] + np.sum(y)
    A[::k, 2] = 5.0
    A[1::k] = 6.0
    A[::k, 1:3] += 7.0
    for i in range(2):
        A[i + 1 :: k, i] -= y[i]


@pytest.mark.slow
def test_bounds_and_steps_of_every_sign() -> None:
    for a, b, k in product((-20, -3, 0, 2, 20), (-20, -2, 0, 7, 20), (-3, -1, 1, 2)):
        same_compiled(every_bound, {"x": np.arange(9.0), "a": a, "b": b, "k": k}, "c", "strict")
    for k in (-1, 1, 2):
        same_compiled(in_rows, {"A": np.arange(20.0).reshape(4, 5), "y": np.ones(3), "k": k}, "c", "strict")


def test_steps_of_zero_are_refused() -> None:
    x = np.arange(9.0)
    with pytest.raises(ArgumentError, match="these sizes"):
        pv.compile("def f(x, k):\n x[::k] = 1.0", target="python")(x, 0)
    with pytest.raises(EvaluationError, match="is 0"):
        pv.compile("def f(x, k):\n x[:: k[0]] = 1.0")(x, np.array([0]))
    assert x.tolist() == list(range(9))


@pytest.mark.parametrize("line", ["x[::k] = y", "x[::k] = x[0]", "x[::k] = x[1::k]", "y[0] = np.sum(x[::k])"])
def test_what_is_more_than_one_number_is_refused(line: str) -> None:
    with pytest.raises(PolyvizError, match="step of a slice"):
        pv.extract(f"def f(x, y, k):\n y[0] = 1.0\n {line}")

"""What is computed and subscripted at once, and slices of slices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polyviz as pv
from polyviz.errors import PolyvizError
from tests.frontend.compiled import same_compiled

GIVEN = {"S": np.arange(20.0).reshape(4, 5) % 7 + 0.5, "x": np.arange(12.0) ** 2 % 11 + 0.25, "m": 3}


def sums_with_new_axes(S: Any, x: Any, m: int) -> Any:
    S -= S.max(axis=1)[:, None]
    E = np.exp(S)
    E /= E.sum(axis=0)[None, :]
    return E / np.mean(E, axis=1)[:, np.newaxis], np.sum(S, axis=1)[1]


def computed(S: Any, x: Any, m: int) -> Any:
    y = (x * 2.0)[1:] - (x + 1.0)[:-1]
    z = np.sqrt(x)[2:]
    z[0] = 5.0
    for i in range(4):
        S[i] = (S[i] * 2.0)[::-1]
        y[i] += np.cumsum(x)[-1] + np.abs(S)[i, 0]
    return y, z, np.sum(np.diff(x)[1:] > 0.0), (S @ S.T)[0, 1], np.where(x > 3.0, x, 1.0)[4]


def slices_of_slices(S: Any, x: Any, m: int) -> Any:
    y = np.zeros(len(x))
    w = np.zeros(m)
    for i in range(m, len(x)):
        latest = x[i - m : i][::-1]
        y[i] = w @ latest
        w += 0.1 * (x[i] - y[i]) * latest
        y[i] += np.sum(x[i - m : i][::-1] * x[:m])
    return y, x[2:8][::2] * 2.0


@pytest.mark.parametrize("target", ["c", "numba"])
@pytest.mark.parametrize(
    "function", [sums_with_new_axes, computed, slices_of_slices], ids=lambda function: function.__name__
)
def test_as_numpy_does_it(function: Any, target: str) -> None:
    same_compiled(function, GIVEN, target, "strict")


@pytest.mark.parametrize(
    "lines",
    [
        "r = x[m:9][::-1]\n r[0] = 7.0",
        "r = x[m:9][::-1]\n x[8] = 7.0\n x[0] = r[0]",
        "w = x[1:]\n r = x[m:9][::-1]\n w[7] = 7.0\n x[0] = r[0]",
        "x[0] = 1.0\n return x[m:9][::-1]",
    ],
    ids=["stored", "changed", "changed by another name", "returned"],
)
def test_slices_of_slices_that_are_more_than_values_are_refused(lines: str) -> None:
    with pytest.raises(PolyvizError, match="slice"):
        pv.extract(f"def f(x, m):\n {lines}")


def powers(M: Any, p: int) -> Any:
    result = np.eye(M.shape[0])
    base = M.copy()
    while p > 0:
        if p & 1:
            result = result @ base
        base = base @ base
        p >>= 1
    return result


def test_dimensions_of_one_argument_alone_may_be_what_is_missing() -> None:
    same_compiled(powers, {"M": np.arange(9.0).reshape(3, 3) / 9.0, "p": 5}, "c", "strict")

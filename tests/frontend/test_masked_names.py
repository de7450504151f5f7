"""Names for the elements that a mask chooses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polyviz as pv
from polyviz.errors import ExtractionError
from tests.frontend.compiled import same_compiled

GIVEN = {"x": np.arange(10.0) * 1.5, "y": np.arange(10.0)[::-1] + 0.5}


def summed(x: Any, y: Any) -> Any:
    m = (x > 3) & (y < 8)
    v = x[m]
    w = y[m]
    spread = np.sum((v - v.mean()) ** 2) / v.size
    return np.sum(v * w), len(v), v.size, v.shape[0], spread, np.count_nonzero(v > 6)


def of_groups(x: Any, y: Any) -> Any:
    means = np.zeros(4)
    for k in range(4):
        group = y[x % 3 == k]
        if len(group) > 0:
            means[k] = group.mean()
    x[:] = 0.0  # behind the last use
    return means


def of_sums(x: Any, y: Any) -> Any:
    m = x > 3
    spread = np.sum((x[m] - x[m].mean()) ** 2)
    x[m] -= x[m].mean()
    y[m] = y[m] / np.sum(y[m]) + y.sum()
    return spread, x[m].sum() * np.sum(y[m] * (y[m] > y[m].mean()))


def of_rows(x: Any, y: Any) -> Any:
    X = np.zeros((3, 5))
    means = np.zeros(3)
    for i in range(3):
        X[i] = x[:5] - i
        row = X[i]
        large = row[row > 1.0]
        means[i] = large.sum() / max(len(large), 1) + np.mean(X[i, 1:][X[i, 1:] < 100.0])
    return means


@pytest.mark.parametrize("target", ["c", "numba"])
@pytest.mark.parametrize("function", [summed, of_groups, of_sums, of_rows], ids=lambda function: function.__name__)
def test_as_numpy_does_it(function: Any, target: str) -> None:
    same_compiled(function, GIVEN, target, "strict")


@pytest.mark.parametrize(
    "lines",
    [
        "x[0] = 1.0\n return v.sum()",
        "z = x\n z[0] = 1.0\n return v.sum() + z[1]",
        "v[0] = 1.0\n return v.sum()",
        "return v",
        "return v.max()",
        "return v[0]",
    ],
    ids=["changed", "by another name", "set", "returned", "largest", "one"],
)
def test_other_uses_stay_refused(lines: str) -> None:
    with pytest.raises(ExtractionError):
        pv.extract(f"def f(x):\n x[1] = 2.0\n v = x[x > 3]\n {lines}")


def changed_before(x: Any, m: Any) -> Any:
    v = x[m]
    x[0] = 1.0
    return v.sum()


def test_a_mask_that_a_call_tells_is_called_one() -> None:
    with pytest.raises(pv.ArgumentError, match="A mask here"):
        pv.compile(changed_before)(np.ones(3), np.ones(3) > 0)

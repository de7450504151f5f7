"""Elements that are changed once for each place, with `np.add.at` and its kin."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polyviz as pv
from polyviz.errors import ExtractionError, PolyvizError
from tests.frontend.compiled import same_compiled

PLACES = np.array([3, 1, 1, -4, 1])
GIVEN = {"x": np.arange(8.0) * 1.5, "i": PLACES, "v": np.array([1.0, 20.0, 30.0, 4.0, 5.0])}


def counted(x: Any, i: Any, v: Any) -> Any:
    counts = np.zeros(8, dtype=np.int64)
    np.add.at(counts, i, 1)
    np.add.at(x, i, v)
    return counts


def others(x: Any, i: Any, v: Any) -> None:
    np.maximum.at(x, i, v)
    np.minimum.at(x, i % 4, v * 2.0)
    np.multiply.at(x, i[1:], 2.0)
    for _ in range(2):
        np.subtract.at(x, i, v)


def in_cells(x: Any, i: Any, v: Any) -> Any:
    grid = np.zeros((4, 8))
    np.add.at(grid, (i % 4, i), v)
    return grid


@pytest.mark.parametrize("target", ["c", "numba"])
@pytest.mark.parametrize("function", [counted, others, in_cells], ids=lambda function: function.__name__)
def test_every_place_counts(function: Any, target: str) -> None:
    same_compiled(function, GIVEN, target, "strict")


def test_wrong_lengths_and_places_outside() -> None:
    kernel = pv.compile("def f(x: 'float64[:]', i: 'int64[:]', v: 'float64[:]'):\n np.add.at(x, i, v)")
    x = np.zeros(4)
    for i, v in ((np.array([0, 1]), np.ones(3)), (np.array([0, 4]), np.ones(2))):
        with pytest.raises(PolyvizError):
            kernel(x, i, v)
    assert not x.any()


@pytest.mark.parametrize(
    "line", ["np.add.at(x, i, x[i])", "np.add.at(A, i, x)", "np.add.at(x, A, 1)", "np.power.at(x, i, 2)"]
)
def test_what_stays_refused(line: str) -> None:
    with pytest.raises(ExtractionError, match=r"np\.\w+\.at"):
        pv.extract(f"def f(A: 'float64[:, :]', x: 'float64[:]', i: 'int64[:]'):\n {line}")

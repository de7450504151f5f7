"""Lists of numbers as subscripts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polyviz as pv
from polyviz.errors import ExtractionError, OutOfBoundsError, PolyvizError
from tests.frontend.compiled import same_compiled

GIVEN = {"A": np.arange(20.0).reshape(5, 4), "x": np.arange(5.0) * 1.5}


def read(A: Any, x: Any) -> Any:
    total = 0.0
    for i in range(5):
        total += A[i, [0, -1]].sum()
    return x[[0, 2, 1]], A[[0, 2, 1], :], A[:, [0, 2]] + 1.0, A[[1, 1]], A[(2, 0), 1], total


def changed(A: Any, x: Any) -> None:
    x[[0, 2]] = x[[2, 0]]
    A[[0, 2]] = A[[2, 0]]
    A[:, [3, -4]] += 1.0
    x[[1, 1]] += 1.0


@pytest.mark.parametrize("target", ["c", "numba"])
@pytest.mark.parametrize("function", [read, changed], ids=lambda function: function.__name__)
def test_as_numpy_does_it(function: Any, target: str) -> None:
    same_compiled(function, GIVEN, target, "strict")


def test_one_array_for_lists_that_are_the_same() -> None:
    scop = pv.extract("def f(x, y):\n x[[2, 0]] = y[[2, 0]]")
    assert sum(array.name.startswith("places") for array in scop.arrays) == 1


def test_places_outside_and_other_lists_are_refused() -> None:
    with pytest.raises(OutOfBoundsError):
        pv.compile("def f(x):\n return x[[0, 5]] + x[1]")(np.ones(5))
    for index in ("[]", "[True, False]", "[0.5]", "[i, 0]"):
        with pytest.raises((ExtractionError, PolyvizError)):
            pv.extract(f"def f(x, i):\n x[0] = 1.0\n return x[{index}]")

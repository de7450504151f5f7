"""``np.argmax`` and ``np.argmin`` of vectors: the first place, as in NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import polyviz as pv
from polyviz.errors import ExtractionError
from polyviz.frontend import extract
from tests.frontend.compiled import same_compiled


def pivot(x):
    k = np.argmax(x[1:]) + 1
    x[0] = x[k]
    return k


@pytest.mark.parametrize("target", ["c", "numba"])
@pytest.mark.parametrize("contract", ["strict", "reassociate"])
def test_the_first_place(target: str, contract: str) -> None:
    for values in ([1.0, 5.0, 5.0, 2.0], [3.0, np.nan, 9.0, np.nan], [-1.0, -1.0, -1.0, -1.0]):
        same_compiled(pivot, {"x": np.array(values)}, target, contract)


def test_rows_and_steps() -> None:
    def of_rows(A, x):
        x[0] = np.argmin(x[2:])
        for i in range(len(A)):
            A[i, 1] = np.argmin(A[i, ::-1]) + A[:, i].argmax()

    same_compiled(of_rows, {"A": np.arange(9.0).reshape(3, 3) % 4, "x": np.array([1.0, 2.0, 4.0, 3.0])}, "c", "strict")


def test_of_nothing_and_of_more_is_refused() -> None:
    with pytest.raises(pv.PolyvizError):
        pv.compile(pivot, target="python")(np.ones(1))
    with pytest.raises(ExtractionError):
        extract("def f(A):\n A[0, 0] = 1.0\n return np.argmax(A)")

"""Names of parts of arrays that are used otherwise than in full, where nobody changes them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polyviz as pv
from polyviz.errors import ExtractionError
from tests.frontend.compiled import same_compiled

GIVEN = {"x": np.arange(9.0) ** 2, "A": np.arange(30.0).reshape(6, 5)}


def turned(x: Any, A: Any) -> Any:
    r = x[::-1]
    y = np.zeros_like(x)
    y[::2] = r[::2]
    y[1::2] -= r[1::2]
    return y[::-1] + x


def in_blocks(x: Any, A: Any) -> Any:
    B = A[1:, ::2]
    C = B[::-1, :]
    return C[0] * 1.0, B[:, ::-1] + C


@pytest.mark.parametrize("target", ["c", "numba"])
@pytest.mark.parametrize("function", [turned, in_blocks], ids=lambda function: function.__name__)
def test_as_numpy_does_it(function: Any, target: str) -> None:
    same_compiled(function, GIVEN, target, "strict")


@pytest.mark.parametrize(
    "lines",
    [
        "x[0] = 5.0\n return r[::2] * 2.0",
        "r[::2] = 1.0",
        "return r, r[::2] * 2.0",
        "z = x\n z[1] = 2.0\n return r[::2] * 2.0",
    ],
    ids=["changed", "set", "returned", "by another name"],
)
def test_where_a_copy_is_something_else_it_stays_refused(lines: str) -> None:
    with pytest.raises(ExtractionError, match="slice"):
        pv.extract(f"def f(x, k):\n r = x[::-1]\n {lines}")

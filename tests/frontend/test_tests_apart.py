"""Conditions that come to a sum only where the parts before it do not decide."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polyviz as pv
from polyviz.errors import PolyvizError
from tests.frontend.compiled import same_compiled

GIVEN = {"x": np.arange(10.0) * 1.5, "y": np.zeros(10), "M": np.arange(40.0).reshape(10, 4) % 7}


def both(x: Any, y: Any, M: Any) -> None:
    for i in range(len(x)):
        if i > 0 and x[:i].max() > 4 and np.sum(M[i - 1]) > 8:
            y[i] = 1.0


def one_or_the_other(x: Any, y: Any, M: Any) -> None:
    for i in range(len(x)):
        if i == 0 or (x[:i].max() < 4 and x[i] > 1) or i == 9:
            y[i] = 1.0
        elif i % 2 == 0 and np.sum(M[i - 1]) > 8:
            y[i] = 5.0
        else:
            y[i] = 2.0


@pytest.mark.parametrize("target", ["c", "numba"])
@pytest.mark.parametrize("function", [both, one_or_the_other], ids=lambda function: function.__name__)
def test_as_plain_python(function: Any, target: str) -> None:
    same_compiled(function, GIVEN, target, "strict")


def test_where_it_is_come_to_it_has_to_have_elements() -> None:
    kernel = pv.compile("def f(x, y, n):\n for i in range(n):\n  if y[i] > 0 or x[:i].max() > 1: y[i] = 2.0")
    x, y = np.ones(3), np.array([1.0, 0.0, 0.0])
    kernel(x, y, 3)
    assert y.tolist() == [2.0, 0.0, 0.0]
    with pytest.raises(PolyvizError):
        kernel(x, np.zeros(3), 3)

"""Rows that are computed and taken apart: the same as in Python."""

from __future__ import annotations

import numpy as np
import pytest

from polyviz.errors import UnsupportedSyntaxError
from polyviz.frontend import extract
from tests.frontend.agreement import agree


@pytest.mark.parametrize("value", ["P[i] - P[0]", "-(P[i] + P[i - 1]) * h / 2.0", "P[i] * P[i] - h", "1.0 - P[i]"])
def test_one_value_for_each_name(value: str) -> None:
    lines = f"for i in range(len(P)):\n        x, y = {value}\n        d[i] = x - 2.0 * y"
    agree(f"def f(P, d, h):\n    {lines}", P=np.arange(10.0).reshape(5, 2) ** 2, d=np.zeros(5), h=0.5)


@pytest.mark.parametrize("value", ["P[i] * d[i]", "P[i] - row", "P[i] @ P"])
def test_what_may_be_a_number_or_a_row_is_refused(value: str) -> None:
    lines = f"row = P[0]\n    for i in range(len(P)):\n        x, y = {value}\n        d[i] = x + y"
    with pytest.raises(UnsupportedSyntaxError, match="cannot be matched"):
        extract(f"def f(P, d):\n    {lines}")

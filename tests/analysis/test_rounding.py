"""Which functions leave the last bit to a library."""

from __future__ import annotations

import pytest

import polyviz as pv
from polyviz.analysis.rounding import rounded_by_libraries


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("A[i] * 2.0 + 1.0 / A[i]", ()),
        ("math.sqrt(abs(A[i]))", ()),
        ("np.float32(A[i]) + np.minimum(A[i], 1.0)", ()),
        ("math.sin(A[i]) + np.exp(A[i]) + math.sin(1.0)", ("math.sin", "numpy.exp")),
        ("A[i] ** 2", ("**",)),
    ],
)
def test_what_ieee_settles_and_what_not(value: str, found: tuple[str, ...]) -> None:
    text = f"import math\nimport numpy as np\nfor i in range(len(A)):\n    A[i] = {value}\n"
    scop = pv.extract(text)
    assert rounded_by_libraries(scop) == found

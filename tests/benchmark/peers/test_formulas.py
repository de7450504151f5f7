from __future__ import annotations

import importlib.util

import numpy as np
import pytest

from polyviz import gallery
from polyviz.benchmark.peers.formulas import NUMPY, SCIPY


@pytest.mark.parametrize("name", [*NUMPY, *SCIPY])
def test_a_formula_leaves_what_the_loop_leaves(name: str) -> None:
    if name in SCIPY and importlib.util.find_spec("scipy") is None:
        pytest.skip("SciPy is not installed")
    entry = gallery.kernel(name)
    expected, actual = (entry.arguments("mini", seed=1) for _ in range(2))
    entry.function(*expected)
    {**NUMPY, **SCIPY}[name](*actual)
    for one, other in zip(expected, actual, strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-9, atol=1e-9 * np.max(np.abs(one)))

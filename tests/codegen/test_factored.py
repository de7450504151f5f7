"""Common factors of sums in C: taken out where sums may be reordered, and nowhere else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polyviz as pv
from tests.running import agree, function_of

CURVED = """
    def f(A, B):
        n, m = A.shape
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                B[i, j] = (
                    0.5 * (A[i - 1, j] - 2 * A[i, j] + A[i + 1, j]) + 0.5 * (A[i, j - 1] - 2 * A[i, j] + A[i, j + 1])
                )
    """
SHORT = "0.5 * (A[i - 1][j] + A[i + 1][j] + A[i][j - 1] + A[i][j + 1] - 4 * A[i][j])"


def kernel(dtype: str = "float64", **options: Any) -> pv.Kernel:
    cells = np.random.default_rng(7).integers(100, size=(23, 31)).astype(dtype)  # every sum of these is exact
    return agree(CURVED, cells, np.zeros_like(cells), target="c", row_blocks=False, **options)


def test_the_factor_is_taken_out_and_said() -> None:
    made = kernel()
    assert SHORT in made.source
    (decision,) = (one for one in made.plan.decisions if one.step == "factor")
    assert decision.text.endswith("like terms are one: 5 operations, not 6 (a multiply-add is one)")


@pytest.mark.parametrize("options", [{"factor": False}, {"contract": "strict"}, {"schedule": "original"}])
def test_nothing_is_taken_out_unasked(options: dict[str, Any]) -> None:
    made = kernel(**options)
    assert SHORT not in made.source
    assert not any(one.step == "factor" for one in made.plan.decisions)


def test_whole_numbers_are_left_to_the_compiler() -> None:
    assert SHORT not in kernel("int64").source


def test_infinite_cells_are_as_in_the_loops() -> None:
    cells = np.ones((12, 12))
    cells[5, 5] = np.inf
    cells[8, 8] = np.nan
    given, wanted = np.zeros_like(cells), np.zeros_like(cells)
    pv.compile(function_of(CURVED), target="c")(cells, given)
    with np.errstate(invalid="ignore"):
        function_of(CURVED)(cells, wanted)
    np.testing.assert_allclose(given, wanted, rtol=1e-12)


def test_narrow_cells_are_added_in_the_width_of_their_factors() -> None:
    cells = np.full((12, 12), 3e38, "float32")  # two of these are infinite together, and half of them is not
    cells[::3, ::2] = 1.0
    wide = np.zeros((12, 12))
    made = agree(CURVED, cells, wide, target="c", row_blocks=False)
    assert SHORT not in made.source

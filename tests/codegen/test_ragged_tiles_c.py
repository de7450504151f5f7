"""Tiles whose rows take other steps of a sum: what a row does not take does not reach its cells, whatever it holds."""

from __future__ import annotations

import numpy as np
import pytest

from polyviz.runtime.toolchain import find_toolchain
from tests.blocked import blocked_kernel
from tests.running import function_of

needs_compiler = pytest.mark.skipif(find_toolchain() is None, reason="no C compiler")

PRODUCT = """
    def product(C, A, B):
        for i in range(C.shape[0]):
            for j in range(C.shape[1]):
                for k in range({steps}):
                    C[i, j] += A[i, k] * B[k, j]
    """
STEPS = {
    "from the diagonal": "i, A.shape[1]",
    "behind it": "i + 5, A.shape[1]",
    "up to it": "i",
    "beyond it": "min(i + 3, A.shape[1])",
    "half as far": "i // 2",
    "backwards": "max(0, A.shape[1] - i), A.shape[1]",
}


@pytest.mark.parametrize("steps", STEPS)
def test_rows_are_tested_in_registers(steps: str) -> None:
    source = blocked_kernel(PRODUCT.format(steps=STEPS[steps])).source
    assert "// steps that not every row takes" in source


@needs_compiler
@pytest.mark.parametrize("tile", [None, (16, 24, 8)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("steps", STEPS)
def test_results(steps: str, dtype: type[np.floating], tile: tuple[int, ...] | None) -> None:
    text = PRODUCT.format(steps=STEPS[steps])
    kernel, function = blocked_kernel(text, tile=tile), function_of(text)
    random = np.random.default_rng(5)
    for rows, columns in ((1, 1), (8, 24), (9, 50), (37, 7), (61, 97)):
        A, B = (random.random(shape).astype(dtype) for shape in ((rows, rows), (rows, columns)))
        taken = np.zeros((rows, rows), bool)
        for i in range(rows):
            taken[i, list(eval(f"range({STEPS[steps]})", {"i": i, "A": A}))] = True
        A[~taken] = np.nan
        B[~taken.any(axis=0)] = np.inf
        cells = np.zeros((rows, columns), dtype)
        expected = cells.copy()
        kernel(cells, A, B)
        function(expected, A, B)
        np.testing.assert_allclose(cells, expected, rtol=1e-12 if dtype is np.float64 else 1e-5)

"""Cells that a loop with temporaries of its own folds values into: in variables, unless somebody else asks for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.running import agree, agree_at

if TYPE_CHECKING:
    from tests.conftest import Golden

FORCES = """
def forces(x, y, m, ax, ay):
    for i in range(x.shape[0]):
        for j in range(x.shape[0]):
            dx = x[j] - x[i]
            dy = y[j] - y[i]
            d = dx * dx + dy * dy + 0.01
            w = m[j] / (d * np.sqrt(d))
            ax[i] += dx * w
            ay[i] += dy * w
"""


def test_the_cells_of_a_group_are_kept_in_variables(golden: Golden) -> None:
    x, y, m = np.random.default_rng(1).random((3, 70))
    kernel = agree(FORCES, x, y, m, np.ones(70), np.zeros(70), target="c")
    golden(kernel.source)


@pytest.mark.parametrize("contract", ["strict", "reassociate"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("count", [0, 1, 67])
def test_they_round_as_in_memory(count: int, dtype: str, contract: str) -> None:
    x, y, m = np.random.default_rng(1).random((3, count)).astype(dtype)
    cells = (np.ones(count, dtype), np.zeros(count, "float32"))
    agree_at(FORCES, x, y, m, *cells, target="c", contract=contract)


READ_ON_THE_WAY = {
    "by a temporary": "w = A[0, k] + y[i]; y[i] += w * w",
    "by another sum": "w = A[0, k] * 2.0; y[i] += w * w; z[i] += w * y[i]",
    "through another cell": "w = A[0, k] * 2.0; y[0] += w * w; y[1] += w",
    "where a temporary says": "w = A[0, k] * 2.0; y[int(w)] += w",
}


@pytest.mark.thinned(3)
@pytest.mark.parametrize("contract", ["strict", "reassociate"])
@pytest.mark.parametrize("body", READ_ON_THE_WAY.values(), ids=list(READ_ON_THE_WAY))
def test_who_reads_a_cell_on_its_way_finds_all_steps_before(body: str, contract: str) -> None:
    lines = "".join(f"            {line}\n" for line in body.split("; "))
    text = f"def f(A, y, z):\n    for i in range(2):\n        for k in range(A.shape[1]):\n{lines}"
    A = np.random.default_rng(1).random((2, 50))
    kernel = agree(text, A, np.ones(4), np.zeros(4), target="c", contract=contract)
    assert "y_sum" not in kernel.source


def test_an_empty_loop_touches_no_cell() -> None:
    text = """
    def f(A, y):
        for k in range(A.shape[1]):
            w = A[0, k] * 2.0
            A[0, k] = w
            y[7] += w * w
    """
    agree(text, np.zeros((1, 0)), np.ones(4), target="c")


SUMS_IN_VARIABLES = """
def forces(x, y, m, ax, ay):
    for i in range(x.shape[0]):
        sx = 0.0
        sy = 0.0
        for j in range(x.shape[0]):
            dx = x[j] - x[i]
            dy = y[j] - y[i]
            d = dx * dx + dy * dy + 0.01
            w = m[j] / (d * np.sqrt(d))
            sx += dx * w
            sy += dy * w
        ax[i] = sx
        ay[i] = sy
"""


def test_sums_in_variables_stay_in_variables() -> None:
    x, y, m = np.random.default_rng(1).random((3, 70))
    kernel = agree(SUMS_IN_VARIABLES, x, y, m, np.ones(70), np.zeros(70), target="c")
    assert "memory_for" not in kernel.source
    assert kernel.source.count("#pragma omp parallel for") == 1

"""The weights of short windows are loaded before the vector loop over the cells, where nothing is stored over them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.running import agree

if TYPE_CHECKING:
    from tests.conftest import Golden

BLUR = """
def blur(A, w, B):
    for i in range(1, A.shape[0] - 4):
        for j in range(1, A.shape[1] - 4):
            s = 0.0
            for a in range({loops[0]}):
                for b in range({loops[1]}):
                    s += A[i + a - 1, j + b - 1] * {weight}
            B[i, j] = s
"""


def blur(weight: str, loops: tuple[str, str] = ("3", "3")) -> str:
    return BLUR.format(weight=weight, loops=loops)


def arrays(dtype: str = "float64", rows: int = 11, columns: int = 40) -> tuple[np.ndarray, ...]:
    generator = np.random.default_rng(1)
    A, B = generator.random((2, rows, columns)).astype(dtype)
    return A, generator.random((11, 40)).astype(dtype), B


def test_text(golden: Golden) -> None:
    golden(agree(blur("w[a, b]"), *arrays(), target="c").source)


KEPT = {
    "from 1": (blur("w[a, b]", ("1, 4", "3")), "w_kept[3][3]"),
    "turned round": (blur("w[2 - a, 2 - b]"), "w_kept[3][3]"),
    "one row": (blur("w[i, b]"), "w_kept[3]"),
    "two": (blur("w[a, b] * w[b, a]"), "w_kept1[3][3]"),
    "of another shape": (blur("w[a + 2 * b, a]", ("2", "4")), "w_kept[2][4]"),
}
NOT_KEPT = {
    "too many": blur("w[a, b]", ("4", "5")),
    "moving": blur("w[a, j]"),
    "where data say": blur("w[int(w[0, 0]), b]"),
    "of unknown length": blur("w[a, b]", ("3", "A.shape[0] - 8")),
    "changed on the way": blur("w[a, b]").replace("B[i, j] = s", "w[i, j] = s"),
}


@pytest.mark.parametrize(("text", "declared"), KEPT.values(), ids=list(KEPT))
def test_kept(text: str, declared: str) -> None:
    kernel = agree(text, *arrays(), target="c")
    assert declared in kernel.source


@pytest.mark.parametrize("text", NOT_KEPT.values(), ids=list(NOT_KEPT))
def test_not_kept(text: str) -> None:
    assert "_kept" not in agree(text, *arrays(), target="c").source


@pytest.mark.parametrize("columns", [5, 6, 7, 10, 70])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "uint8"])
def test_results(dtype: str, columns: int) -> None:
    A, w, B = arrays("float64", 11, columns)
    agree(blur("w[a, b]"), (A * 9).astype(dtype), np.asfortranarray((w * 9).astype(dtype)), B, target="c")


def test_without_cells_there_need_be_no_weights() -> None:
    A, _, B = arrays(rows=5, columns=40)
    agree(blur("w[a, b]"), A, np.ones((0, 0)), B, target="c")
    agree(blur("w[a, b]"), A.T, np.ones((0, 0)), B.T, target="c")

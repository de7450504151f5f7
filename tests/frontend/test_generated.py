"""``np.arange``, ``np.linspace``, ``np.eye`` and ``np.array`` of numbers inside a program: the result of Python."""

from __future__ import annotations

import numpy as np
import pytest

from polyviz.errors import ExtractionError
from polyviz.frontend import extract
from tests.frontend.agreement import agree
from tests.frontend.compiled import same_compiled
from tests.running import TARGETS, function_of
from tests.running import agree as agree_compiled

PROGRAMS = {
    "arange": "x = np.arange(n)\nreturn x",
    "arange between": "x = np.arange(2, n + 7, 3)\nreturn x",
    "arange downwards": "x = 0.5 * np.arange(n - 1, -1, -1)\nreturn x",
    "arange of a type": "x = np.arange(n, dtype=np.float32)\nreturn x",
    "linspace": "return np.linspace(a, b, n)",
    "linspace without its end": "x = np.linspace(a, b, n, endpoint=False)\nreturn x",
    "linspace by names": "x = np.linspace(start=0, stop=1, num=n)\nreturn x",
    "linspace of whole numbers": "x = np.linspace(-b, a, n + 3, dtype=np.int64)\nreturn x",
    "eye": "x = np.eye(n)\ny = np.eye(n, 3, dtype=np.int64)\nreturn x, y",
    "identity": "x = a * np.identity(n)\nreturn x",
    "in an expression": "H = np.ones((3, n))\nfor k in range(3):\n    H[k, :] += k / (1.0 + np.arange(n))\nreturn H",
    "the same everywhere": "x = np.ones(n) / n\ny = a * np.full((n, 3), b) + np.zeros(3)\nreturn x, y",
    "rows of the same": "H = np.zeros((3, n))\nH[1] = np.ones(n)\nH[2, :] = np.full(n, 2)\nreturn H",
    "the same as a copy": "H = np.zeros((2, n))\nx = np.arange(n)\nH[1] = np.copy(x)\nx[0] = 7\nreturn H, x",
    "a new value": "x = np.zeros(n)\nfor k in range(3):\n    x[0] += k\n    if x[0] > 2:\n        x = np.ones(n)\n"
    "return x",
    "numbers": "w = np.array([1, -2, 4])\nw[1] += n\nreturn w",
    "numbers of a type": "w = np.array([[1, 2], [3, 4]], dtype=np.float32)\nw[0, 0] = a\nreturn w",
    "numbers to look up": "w = np.array([[0.25, 0.5, 1.5], [1.0, 2.0, 3.0]])\ns = 0.0\nfor i in range(n):\n"
    "    for k in range(w.shape[1]):\n        s += w[i % 2, k]\nreturn s",
}


NOT_IN_NUMBA = {"linspace without its end", "linspace by names", "linspace of whole numbers", "eye"}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("n", [1, 2, 6])
def test_the_result_of_python(name: str, n: int) -> None:
    agree(text_of(name), a=0.1, b=7.3, n=n)


@pytest.mark.thinned(2)
@pytest.mark.parametrize("name", sorted(PROGRAMS.keys() - NOT_IN_NUMBA))
@pytest.mark.parametrize("target", TARGETS)
def test_the_result_and_type_of_numba(name: str, target: str) -> None:
    agree_compiled(text_of(name), 0.1, 7.3, 6, target=target)


def text_of(name: str) -> str:
    return "def f(a, b, n):\n    " + PROGRAMS[name].replace("\n", "\n    ")


def test_a_cell_leaves_the_numbers_in_the_notebook() -> None:
    part = extract("x = np.linspace(0, 1, 5)\nw = np.array([1, 2])\nw[0] = 3", namespace={"np": np})
    assert {array.name for array in part.arrays if array.live_out} == {"x", "w"}


@pytest.mark.parametrize(
    "call",
    [
        "np.arange(0.0, 1.0, 0.25)",
        "np.arange(0, n, n)",
        "np.arange(n, dtype=A.dtype)",
        "np.linspace(0, 1, n, retstep=True)",
        "np.linspace(0, 1, A[0])",
        "np.eye(n, k=1)",
        "np.array([[n, 1], [2]])",
        "np.array([[1, 2], [3]])",
        "np.array([1, 2], copy=True)",
    ],
)
def test_what_is_not_known_beforehand_is_refused(call: str) -> None:
    with pytest.raises(ExtractionError):
        extract(f"def f(A, n):\n    B = {call}\n    A[0] = B[0]")


@pytest.mark.parametrize(
    "line",
    [
        "A = np.arange(n * m).reshape(n, m)",
        "A = np.arange(m * n).reshape((n, m)) * 2.0",
        "A = np.zeros(n * 4).reshape(-1, 2, n) + 1.0",
        "A = np.arange(12).reshape(3, -1)",
        "A = np.linspace(0, 1, n * m).reshape(n, m).copy()",
    ],
)
def test_what_is_generated_in_another_shape(line: str) -> None:
    same_compiled(function_of(f"def f(n, m):\n    {line}\n    return A"), {"n": 3, "m": 4}, "c", "strict")


@pytest.mark.parametrize("shape", ["n, n", "n", "-1, -1", "n, m + 1", "-1, k"])
def test_another_shape_has_as_many_elements(shape: str) -> None:
    with pytest.raises(ExtractionError):
        extract(f"def f(n, m, k):\n    A = np.arange(n * m).reshape({shape})\n    return A")

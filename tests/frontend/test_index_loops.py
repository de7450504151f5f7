"""Loops over all places of an array with one name for a place do what they do in Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from polyviz import extract
from polyviz.errors import UnsupportedSyntaxError
from tests.frontend.agreement import agree
from tests.frontend.compiled import same_compiled
from tests.running import function_of

RANDOM = np.random.default_rng(8)

LOOPS = {
    "all_places": "for p in np.ndindex(C.shape):\n        C[p] = 2 * C[p] + A[p[0]] - p[-1]",
    "starred": "for p in np.ndindex(*C.shape):\n        i, j = p\n        C[i, j] += A[j]",
    "numbers": "for p in np.ndindex(2, k + 1):\n        C[p] += len(p)",
    "a_tuple": "for p in np.ndindex((2, k + 1)):\n        C[p] += 1",
    "of_a_vector": "for p in np.ndindex(A.shape):\n        B[p] = A[p] * p[0]",
    "values": "for p, c in np.ndenumerate(C):\n        C[p] = c * A[p[1]]",
    "some_dimensions": "for p in np.ndindex(C.shape[:1]):\n        A[p] = C[(*p, 1)] + C[p + (0,)] + C[p[:] + (2,)]",
    "the_last_dimension": "for p in np.ndindex(C.shape[-1:]):\n        C[(0,) + p] = 3.0",
    "twice": "for p in np.ndindex(C.shape):\n        C[p] += 1\n    for p in np.ndindex(A.shape):\n        A[p] += 1",
    "inside": "for p in np.ndindex(C.shape):\n        for q in np.ndindex(A.shape):\n            C[p] += A[q]",
    "left_out": "for p in np.ndindex(C.shape):\n        if C[p] > 1:\n            continue\n        C[p] = 5.0",
    "made_alike": "D = np.zeros_like(C)\n    for p in np.ndindex(D.shape):\n        C[p] += D[p] + 1",
}  # fmt: skip


@pytest.mark.parametrize("name", LOOPS)
@pytest.mark.parametrize("shape", ["function", "cell"])
def test_agrees_with_python(name: str, shape: str) -> None:
    given: dict[str, Any] = {
        "A": RANDOM.standard_normal(5),
        "B": RANDOM.standard_normal(6),
        "C": RANDOM.integers(-9, 9, (3, 4)).astype(float),
        "k": 1,
    }
    if shape == "function":
        agree(f"def f(A: 'float64[:]', B, C: 'float64[:, :]', k):\n    {LOOPS[name]}\n", **given)
    elif name != "made_alike":
        text = LOOPS[name].replace("\n    ", "\n")
        scop = extract(text, namespace={**given, "np": np})
        assert scop.statements


@pytest.mark.parametrize("target", ["c", "numba"])
def test_a_call_tells_how_many_dimensions_there_are(target: str) -> None:
    doubled = function_of("def doubled(A, B):\n    for p in np.ndindex(A.shape):\n        B[p] = 2 * A[p]\n")
    for shape in ((4,), (3, 4), (2, 3, 2)):
        A = RANDOM.standard_normal(shape)
        same_compiled(doubled, {"A": A, "B": np.zeros(shape)}, target, "strict")


def test_a_cell_says_that_the_name_of_places_is_not_left() -> None:
    scop = extract(
        "for p in np.ndindex(C.shape):\n    C[p] = 1.0", namespace={"C": np.ones((2, 3)), "np": np}
    )
    note = "`p` keeps the value it had before the cell: it stands for places in arrays inside its loop only."
    assert note in scop.notes
    assert scop.final_iterators == ()
    assert scop.statements[0].iterators == ("p_0", "p_1")


@pytest.mark.parametrize(
    "lines",
    [
        "for p in np.ndindex(A.shape):\n  A[p] = 1.0",
        "for p in np.ndindex(2, 3):\n  A[p] = sum(p)",
        "for p in np.ndindex(2, 3):\n  p = p[1]\n  A[p, 0] = 1.0",
        "for p in np.ndindex(2, 3):\n  A[p] = 1.0\n A[p] = 2.0",
        "for p in np.ndindex(A.shape[n:]):\n  A[p, 0] = 1.0",
        "for p in np.ndindex(2, 3):\n  if A[p] > 1:\n   break\n  A[p] = 1.0",
    ],
)
def test_what_is_not_known_of_a_place_is_refused(lines: str) -> None:
    with pytest.raises(UnsupportedSyntaxError, match=r"np.ndindex|`sum`|is not supported"):
        extract(f"def f(A, n):\n {lines}\n")

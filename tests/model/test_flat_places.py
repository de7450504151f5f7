"""Elements looked at in one row: C takes them by their number, and tests it as NumPy does."""

from __future__ import annotations

import numpy as np
import pytest

import polyviz as pv
from polyviz.errors import PolyvizError
from tests.frontend.compiled import same_compiled
from tests.running import function_of

RANDOM = np.random.default_rng(8)
FOLLOWED = """
def f(A, B, x):
    for k in range(x.size):
        B.flat[x[k]] += 2.0 * A.flat[x[k]]
"""
IN_ORDER = """
def f(A, B):
    n = B.size
    for k in range(n):
        a = A.flat[k]
        B.flat[k] = a if a > 0.5 else 2.0
"""
OF_A_NEIGHBOUR = """
def f(A, B, x):
    n = A.shape[1] * A.shape[2]
    for k in range(x.size):
        B.flat[k] = A.flat[x[k] - n]
"""


def shaped(*shapes: tuple[int, ...]) -> list[np.ndarray]:
    return [RANDOM.random(shape) for shape in shapes]


@pytest.mark.parametrize("shape", [(4, 3), (2, 3, 4), (1, 1), (5, 1), (1, 7)])
def test_numbers_of_elements_are_followed_from_both_ends(shape: tuple[int, ...]) -> None:
    A, B = shaped(shape, shape)
    same_compiled(function_of(FOLLOWED), {"A": A, "B": B, "x": RANDOM.integers(-A.size, A.size, 9)}, "c", "strict")


def test_arrays_of_several_shapes_and_orders() -> None:
    A, B = shaped((4, 3), (3, 2))
    same_compiled(function_of(IN_ORDER), {"A": A, "B": B}, "c", "strict")
    same_compiled(function_of(IN_ORDER), {"A": A.T, "B": np.asfortranarray(B)}, "c", "strict")
    A, B = shaped((3, 2, 4), (5, 2))
    same_compiled(function_of(OF_A_NEIGHBOUR), {"A": A, "B": B, "x": RANDOM.integers(0, 24, 10)}, "c", "strict")


@pytest.mark.parametrize("place", [12, -13, 2**40])
def test_numbers_beyond_the_last_are_told(place: int) -> None:
    A, B = shaped((4, 3), (4, 3))
    with pytest.raises(PolyvizError, match="leaves its array"):
        pv.compile(function_of(FOLLOWED), target="c")(A, B, np.array([0, place]))


@pytest.mark.parametrize("program", [FOLLOWED, IN_ORDER, OF_A_NEIGHBOUR])
def test_nothing_is_divided(program: str) -> None:
    A, B = shaped((4, 3, 2), (4, 3, 2))
    kernel = pv.compile(function_of(program), target="c")
    kernel(*[A, B, np.arange(6) + 6][: program.count(",", 0, 20) + 1])
    text = kernel.source.partition("int64_t kernel_f(")[2]
    assert "floor_" not in text

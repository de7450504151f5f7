"""Subscripts that were clamped, or are small numbers: what bounds them, and loops that need not test them."""

from __future__ import annotations

import numpy as np
import pytest

import polyviz as pv
from polyviz.codegen.dtypes import INT64, UINT8, Type
from polyviz.codegen.subscript_bounds import bounds_of
from polyviz.frontend.spelling import spelled
from polyviz.model.expression import Assign, Constant, Element, walk
from tests.running import agree, function_of


def bounds(subscript: str) -> tuple[list[str], list[str]]:
    """The bounds of ``subscript`` as they would be written, in a loop with ``i`` from 2 to 9; ``small`` holds bytes."""
    part = pv.extract(function_of(f"""
    def f(A, x, small, n, m):
        for i in range(2, 10):
            A[{subscript}] = 1.0
    """))
    (line,) = (node for node in walk(part.statements[0].body[0]) if isinstance(node, Assign))

    def dtype_of(element: Element) -> Type:
        return UINT8 if element.array == "small" else INT64

    ends = {"i": (Constant(2), Constant(9))}
    found = bounds_of(line.target.subscripts[0], ends, frozenset(), dtype_of)
    return [spelled(one) for one in found.least], [spelled(one) for one in found.greatest]


@pytest.mark.parametrize(
    ("subscript", "least", "greatest"),
    [
        ("min(max(x[i], 0), n - 2)", ["0", "n - 2"], ["n - 2"]),
        ("max(min(n - 1, x[i]), 0)", ["0"], ["n - 1", "0"]),
        ("min(max(x[i], 0), n - 2) + 1", ["1", "(n - 2) + 1"], ["(n - 2) + 1"]),
        ("n - min(max(x[i], 1), 3)", ["n - 3"], ["n - 1", "n - 3"]),
        ("small[i]", ["0"], ["255"]),
        ("small[i] * 2 - i", ["-9", "501"], ["-2", "508"]),
        ("x[i] % 16", ["0"], ["0", "15"]),
        ("x[i] % n", ["0", "n"], ["0", "n - 1"]),
        ("x[i] & 7", ["0"], ["7"]),
        ("min(x[i], n - 1)", [], ["n - 1"]),
        ("max(x[i], 0)", ["0"], []),
        ("x[i]", [], []),
        ("x[i] & m", [], []),
        ("x[i] // 4", [], []),
    ],
)
def test_bounds(subscript: str, least: list[str], greatest: list[str]) -> None:
    assert bounds(subscript) == (least, greatest)


CLAMPED = """
    def f(x, table, y):
        n = table.shape[0]
        for i in range(x.shape[0]):
            k = int(x[i] * 10)
            k = min(max(k, 0), n - 2)
            y[i] = table[k] * 0.25 + table[k + 1]
    """
IN_A_BRANCH = """
    def f(x, table, y):
        n = table.shape[0]
        for i in range(x.shape[0]):
            k = 0
            if x[i] > 0.5:
                k = min(int(x[i] * 10), n - 1)
                y[i] = table[max(k, 0)]
            y[i] += table[k]
    """
FROM_BEFORE = """
    def f(x, table, y):
        n = table.shape[0]
        k = n - 1
        for i in range(x.shape[0]):
            last = k - 1
            k = min(max(int(x[i] * 10), 0), n - 1)
            y[i] = table[k] - table[last + 1]
    """
REMAINDERS = """
    def f(x, table, y):
        n = table.shape[0]
        for i in range(x.shape[0]):
            y[i] = table[int(x[i] * 1000) % n] + table[(i * i) % n]
    """


@pytest.mark.parametrize(("text", "versions"), [(CLAMPED, 1), (IN_A_BRANCH, 0), (FROM_BEFORE, 0), (REMAINDERS, 1)])
@pytest.mark.parametrize("length", [1, 2, 3, 9])
def test_what_is_bounded_is_not_tested_in_the_loop(text: str, versions: int, length: int) -> None:
    """A variable is its value only where it has that one: not behind a branch, nor from the iteration before."""
    x = np.random.default_rng(1).random(40) * 2.0 - 0.5
    kernel = agree(text, x, np.arange(1.0, length + 1), np.zeros(40), target="c")
    source = kernel.specialise(kernel.program.types).text
    loops = source.split("for (int64_t i = ")[1:]
    assert [("checked_index(" in loop or "noted_index(" in loop) for loop in loops][: versions + 1] == (
        [False, True] if versions else [True]
    )


def test_a_table_for_all_values_of_a_pixel_is_not_tested() -> None:
    text = """
    def f(image, table, out):
        for i in range(image.shape[0]):
            for j in range(image.shape[1]):
                out[i, j] = table[image[i, j]]
    """
    image = np.random.default_rng(1).integers(0, 256, (9, 30)).astype(np.uint8)
    agree(text, image, np.arange(256.0), np.zeros((9, 30)), target="c")
    with pytest.raises(pv.OutOfBoundsError, match="table"):
        pv.compile(function_of(text), target="c")(np.full((2, 2), 9, np.uint8), np.zeros(9), np.zeros((2, 2)))


def test_a_table_that_is_too_short_is_found() -> None:
    kernel = pv.compile(function_of(CLAMPED), target="c")
    with pytest.raises(pv.OutOfBoundsError, match=r"`table\[.*leaves its array"):
        kernel(np.ones(40), np.zeros(0), np.zeros(40))

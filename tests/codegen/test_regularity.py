"""Loops whose iterations do about the same work."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import polyviz as pv
from polyviz.codegen.loops import Block, For, Instance
from polyviz.codegen.regularity import dynamic, is_regular
from polyviz.frontend import extract
from polyviz.model.expression import Binary, Constant, Expression, Name
from tests.running import function_of

ZERO, N, ROW = Constant(0), Name("n"), Name("i")
NOTHING = extract("A[0] = 0.0")


def nest(start: Expression, stop: Expression) -> For:
    """``for i in range(n): for j in range(start, stop)``."""
    inner = For("j", start, stop, 1, Block(()))
    return For("i", ZERO, N, 1, inner)


@pytest.mark.parametrize(
    ("start", "stop", "regular"),
    [(ZERO, N, True), (ZERO, ROW, False), (ROW, N, False), (ROW, Binary("+", ROW, Constant(8)), True)],
    ids=["rectangle", "below the diagonal", "above the diagonal", "band"],
)
def test_one_bound_that_moves_alone_makes_a_triangle(start: Expression, stop: Expression, regular: bool) -> None:
    assert is_regular(nest(start, stop), NOTHING) is regular


@pytest.mark.parametrize(
    ("inside", "regular"),
    [
        ("A[i] = 0.0", True),
        ("while A[i] > 1:\n        A[i] /= 2", False),
        ("for k in range(9):\n        if A[k]: break", False),
    ],
)
def test_loops_that_the_data_end_are_of_any_length(inside: str, regular: bool) -> None:
    part = extract(f"for i in range(n):\n    {inside}")
    loop = For("i", ZERO, N, 1, Instance(part.statements[0].name, (ROW,)))
    assert is_regular(loop, part) is regular
    assert dynamic(loop, part, None, str) == "dynamic, 64"
    assert dynamic(nest(ZERO, N), part, None, str) == "dynamic"


TRIANGLE = """
def triangle(y, L, x):
    for i in range(L.shape[0]):
        s = 0.0
        for j in range({stop}):
            s += L[i, j] * x[j]
        y[i] = s
"""


def test_threads_take_several_rows_of_a_small_triangle_at_once() -> None:
    text = pv.compile(function_of(TRIANGLE.format(stop="i + 1")), target="c").source
    assert "whole_i64(8000.0 * max_i64(L_shape_0, 0) / max_f64(1.0 * L_shape_0 * L_shape_0, 1)))" in text


def test_without_a_number_of_instances_rows_are_taken_one_by_one() -> None:
    loop = nest(ZERO, ROW)
    assert dynamic(loop, NOTHING, None, str) == "dynamic"
    assert dynamic(loop, NOTHING, N, lambda found: type(found).__name__) == "dynamic, 1 + Call"


@pytest.mark.parametrize(
    ("rows", "columns"), [("range(n)", "range(i, m)"), ("range(m, n)", "range(i)"), ("range(n)", "range(m - i)")]
)
def test_a_triangle_of_no_rows_divides_by_no_zero(rows: str, columns: str) -> None:
    """Instances counted by a formula may come to -1 where there are none."""
    text = f"def f(A, n, m):\n    for i in {rows}:\n        for j in {columns}:\n            A[i, j] += i"
    kernel, function = pv.compile(text, target="c"), function_of(text)
    assert "dynamic, 1 + whole_i64(8000" in kernel.source
    for n, m in itertools.product(range(-3, 4), repeat=2):
        found, expected = np.zeros((4, 4)), np.zeros((4, 4))
        kernel(found, n, m)
        function(expected, n, m)
        assert (found == expected).all()

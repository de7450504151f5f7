"""Loops whose iterations do about the same work."""

from __future__ import annotations

import pytest

from polyviz.codegen.loops import Block, For, Instance
from polyviz.codegen.regularity import dynamic, is_regular
from polyviz.frontend import extract
from polyviz.model.expression import Binary, Constant, Expression, Name

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
    assert dynamic(loop) == "dynamic, 64"
    assert dynamic(nest(ZERO, N)) == "dynamic"

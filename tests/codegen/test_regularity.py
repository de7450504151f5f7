"""Loops whose iterations do about the same work."""

from __future__ import annotations

import pytest

from polyviz.codegen.loops import Block, For
from polyviz.codegen.regularity import is_regular
from polyviz.model.expression import Binary, Constant, Expression, Name

ZERO, N, ROW = Constant(0), Name("n"), Name("i")


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
    assert is_regular(nest(start, stop)) is regular

"""Numbers that a call tells."""

from __future__ import annotations

import ast

import pytest

from polyviz.frontend import Value, extract
from polyviz.frontend.source import read_source
from polyviz.frontend.values_told import with_values

KEPT = {
    "it gets another value": "def f(A, b):\n b = b + 1\n for i in range(0, len(A), b): A[i] = 0.0",
    "a function inside has one of its own": "def f(A, b):\n def g(b): return b\n for i in range(len(A)): A[i] = g(i)",
}


def told(text: str) -> str:
    source = with_values(read_source(text, None, None), {"b": Value(8)})
    return "\n".join(map(ast.unparse, source.body))


@pytest.mark.parametrize("why", KEPT)
def test_names_that_stay(why: str) -> None:
    assert "8" not in told(KEPT[why])


def test_dimensions_are_no_values() -> None:
    text = "def f(A, b):\n for i in range(len(A)): A[i] = b"
    source = read_source(text, None, None)
    assert with_values(source, {"A": 2, "b": 1}) is source


def test_the_part_says_what_was_told() -> None:
    text = "def f(A, b):\n for i in range(0, len(A), b): A[i] = A[i // b]"
    part = extract(text, ranks={"b": Value(8)})
    assert part.notes[-1] == "`b` is taken as 8, its value in this call: only for a constant are the loops affine."
    assert [one.name for one in part.parameters] == ["A_shape_0"]
    assert [one.name for one in part.arguments] == ["A", "b"]
    assert extract(text).deciding == ("b",) and part.deciding == ()

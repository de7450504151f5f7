"""Names that stand for one part of an array after another."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np
import pytest

import polyviz as pv
from polyviz.errors import ExtractionError
from polyviz.frontend.names import GlobalNames
from polyviz.frontend.own_parts import with_own_parts
from polyviz.frontend.source import read_source
from tests.frontend.compiled import same_compiled

A = np.arange(30.0).reshape(5, 6) % 7 + 0.5
GIVEN = {"A": A, "B": A[::-1] * 1.5, "x": np.zeros(6)}


def one_after_another(A: Any, B: Any, x: Any) -> Any:
    total = 0.0
    for i in range(A.shape[0]):
        row = A[i]
        total += row[0]
        row = B[i]
        row[1] += total
        x[i] = row[2] + len(row)
    row = A[:, 1]
    row += 2.0
    return row[1] + total


def in_blocks(A: Any, B: Any, x: Any) -> None:
    for k in range(1):
        column = A[:, k]
        B[:, k] = column
        x[0] = column[1]
    for k in range(1, 6):
        column = A[:, k] + B[:, k - 1]
        B[:, k] = column
        if x[0] > 2.0:
            column = B[:, 0]
            column[1] = 7.0
        else:
            column = A[1:, 0]
            column[-1] = 9.0


def of_itself(A: Any, B: Any, x: Any) -> None:
    A = A[1:-1]
    A = A[:, 1:]
    x = x[::2]
    for i in range(3):
        x[i] += A[i, 0] * B[i, 1]
        A[0, i] = 2.0


@pytest.mark.parametrize("target", ["c", "numba"])
@pytest.mark.parametrize(
    "function", [one_after_another, in_blocks, of_itself], ids=lambda function: function.__name__
)
def test_as_in_python(function: Any, target: str) -> None:
    same_compiled(function, GIVEN, target, "strict")


@pytest.mark.parametrize(
    "text",
    [
        # two arms that meet
        "if n > 2:\n  r = A[0, :]\n else:\n  r = A[1, :]\n A[2, 0] = r[0]",
        # what the iteration before gave
        "r = A[0, :]\n for i in range(n):\n  A[i, 0] = r[0]\n  r = A[i, :]",
        # a part that may not have been given
        "for i in range(n):\n  r = A[i, :]\n A[0, 0] = r[0]\n r = A[1, :]",
        # names of other loops and of pairs
        "for r in range(n): A[r, 0] = 1\n r = A[0, :]\n r = A[1, :]\n A[0, 0] = r[1]",
        # single numbers
        "r = A[0, 0]\n A[1, 1] = r\n r = A[1, 0]\n A[1, 2] = r",
    ],
)
def test_what_cannot_be_told_apart_keeps_its_name(text: str) -> None:
    source = read_source(f"def f(A, n):\n {text}", None, None)
    found = with_own_parts(source, GlobalNames(source))
    assert [ast.unparse(node) for node in found.body] == [ast.unparse(node) for node in source.body]


def test_part_that_depends_on_the_arm_is_refused() -> None:
    with pytest.raises(ExtractionError, match="slice"):
        pv.extract("def f(A, x, n):\n if x[0] > 2:\n  r = A[0, :]\n else:\n  r = A[1, :]\n return r")

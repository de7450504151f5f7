"""Sums whose cells cut off what each step computes keep their order, on every target."""

from __future__ import annotations

import copy

import numba
import numpy as np
import pytest

import polyviz as pv
from polyviz.codegen.ordered_sums import ordered_statements
from polyviz.codegen.typing import Environment
from tests.running import function_of

SIDES = 70
ROWS = """
def rows(A, B):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            B[{cell}] {update}
"""
CASES = {
    "fractions": ("B[{0}] - A[i, j]", "int64", "float64"),
    "short_fractions": ("B[{0}] + A[i, j]", "int8", "float32"),
    "mixed_signs": ("B[{0}] + A[i, j]", "int64", "uint64"),
    "truth": ("B[{0}] + A[i, j]", "bool", "int64"),
    "largest": ("max(B[{0}], A[i, j])", "uint8", "int64"),
}


def given(cell: str, term: str) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(3)
    low, high = {"uint8": (0, 300), "bool": (-1, 3)}.get(cell, (0, 3))
    terms = random.integers(low, high, (SIDES, SIDES)).astype(term)
    if term == "uint64":
        terms[::7] += np.uint64(2**55 + 1)
    if term.startswith("float"):
        terms = (terms - 1) * np.asarray(0.75, term)
    return terms, random.integers(0, 2, SIDES).astype(cell)


@pytest.mark.slow
@pytest.mark.parametrize("target", ["c", "numba", "emulated"])
@pytest.mark.parametrize("cell", ["i", "0"])
@pytest.mark.parametrize("case", CASES)
def test_results_are_those_of_the_loop_as_written(case: str, cell: str, target: str) -> None:
    update, stored, added = CASES[case]
    function = function_of(ROWS.format(cell=cell, update=f"= {update.format(cell)}"))
    arguments = given(stored, added)
    expected, actual = copy.deepcopy(arguments), copy.deepcopy(arguments)
    numba.njit(error_model="numpy")(function)(*expected)
    pv.compile(function, schedule="superposition" if target == "emulated" else "pluto", target=target)(*actual)
    np.testing.assert_array_equal(actual[1], expected[1])


@pytest.mark.parametrize(
    ("line", "types", "ordered"),
    [
        ("B[i] += A[j]", ("int64", "float64"), True),
        ("B[i] = A[j] * B[i]", ("int64", "float64"), True),
        ("B[i] += A[j]", ("int8", "int64"), False),  # what wraps around does so in any order
        ("B[i] += A[j]", ("float32", "float64"), False),
        ("B[i] = 0.5 * A[j]", ("int64", "float64"), False),  # no sum
        ("B[i] |= A[j] > 0", ("bool", "float64"), False),
        ("B[i] += A[j]", ("bool", "int64"), True),
        ("B[i] = max(B[i], A[j])", ("int64", "int32"), False),
        ("B[i] = max(B[i], A[j])", ("int32", "int64"), True),
        ("B[i] = max(B[i], 3)", ("int8", "int8"), False),
        ("B[i] = max(B[i], 300)", ("int8", "int8"), True),
        ("if A[j] > 0:\n            B[i] += A[j]", ("int64", "float64"), True),
    ],
)
def test_which_sums_keep_their_order(line: str, types: tuple[str, str], *, ordered: bool) -> None:
    part = pv.extract(f"for i in range(n):\n    for j in range(n):\n        {line}\n")
    environment = Environment(dict(zip("BA", types, strict=True)))
    assert ordered_statements(part, environment) == (("S0",) if ordered else ())


@pytest.mark.slow
def test_the_order_is_told_and_nobody_shares_a_sum() -> None:
    function = function_of(ROWS.format(cell="i", update="+= A[i, j]"))
    kernel = pv.compile(function, schedule="superposition", target="emulated")
    fractions, whole = (np.ones((5, 5)), np.zeros(5)), (np.ones((5, 5)), np.zeros(5, np.int64))
    program = kernel.program_for(kernel.bind(whole, {}))
    assert program.notes[-1] == (
        "S0: every step is cut off to what the cell holds, so all sums keep their order, as under `strict`"
    )
    assert "parts" not in program.text
    assert "parts" in kernel.program_for(kernel.bind(fractions, {})).text
    assert kernel.simulate(*whole) is None
    np.testing.assert_array_equal(whole[1], np.full(5, 5))

"""Arrays of a few cells whose cells become variables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polyviz as pv
from polyviz.analysis import dependences, with_small_arrays_as_variables
from tests.running import agree, function_of

POWERS = """
    def powers(c, x, y):
        p = np.empty(6)
        for i in range(len(x)):
            p[0] = 1.0
            for k in range(1, 6):
                p[k] = p[k - 1] * x[i]
            s = 0.0
            for k in range(6):
                s += c[k] * p[k]
            y[i] = s
    """
GRAM = """
    def gram(A, B, C):
        for i in range(A.shape[0]):
            g = np.zeros((2, 2), dtype=A.dtype)
            for p in range(2):
                for q in range(p + 1):
                    for t in range(3):
                        g[p, q] += A[i, t, p] * A[i, t, q]
            for q in range(1, -1, -1):
                B[i, q] = g[1, q] - g[q, 0]
            for q in range(3):
                C[i, q] = A[i, q, 0] * g[0, 0]
    """
STEPS = """
    def steps(x, y, n):
        u = np.empty(2)
        v = np.empty(2)
        for i in range(x.shape[0]):
            for k in range(2):
                u[k] = x[i, k]
            for t in range(n):
                v[0] = u[1] - 0.1 * u[0]
                v[1] = -u[0]
                for k in range(2):
                    u[k] += 0.01 * v[k]
            for k in range(2):
                y[i, k] = u[k]
    """
SORTED = """
    def sorted_windows(x, y):
        w = np.empty(3)
        for i in range(1, len(x) - 1):
            for k in range(3):
                w[k] = x[i + k - 1]
            for a in range(2):
                for b in range(2 - a):
                    if w[b] > w[b + 1]:
                        w[b], w[b + 1] = w[b + 1], w[b]
            y[i] = w[1]
    """
LEFT_ALONE = {
    "a subscript moves with a loop that stays": POWERS.replace("p[k] = p[k - 1] * x[i]", "p[(k + i) % 6] = x[i]"),
    "a size tells how often": POWERS.replace("range(1, 6)", "range(1, len(c))"),
    "a loop of any length is inside": POWERS.replace("p[k] = p[k - 1] * x[i]", "for j in range(len(c)): p[k] = c[j]"),
    "it is handed back": POWERS.replace("y[i] = s", "y[i] = s\n        return p"),
    "it comes from outside": POWERS.replace("(c, x, y)", "(c, x, y, p)").replace("p = np.empty(6)", "pass"),
    "what was there before is read": POWERS.replace("empty", "zeros").replace("p[0] = 1.0", "p[1] = p[0]"),
    "many cells": POWERS.replace("6", "65"),
    "many statements": POWERS.replace("for k in range(6):", "for k in range(6):\n              for q in range(30):"),
    "no loop would be left": """
        def f(x):
            p = np.empty(3)
            for k in range(3):
                p[k] = x[k]
            for k in range(3):
                x[k] = p[2 - k]
        """,
    "a subscript is data": POWERS.replace("c[k] * p[k]", "p[c[k]]"),
}


def changed(text: str) -> tuple[pv.Scop, pv.Scop]:
    part = pv.extract(function_of(text))
    return part, with_small_arrays_as_variables(part, dependences(part))


def names(part: pv.Scop) -> list[str]:
    return [array.name for array in part.arrays]


def test_every_cell_is_a_variable_and_every_loop_over_them_written_out() -> None:
    part, found = changed(POWERS)
    assert names(found) == ["c", "x", "y", "s", *(f"p_{cell}" for cell in range(6))]
    assert {statement.iterators for statement in found.statements} == {("i",)}
    assert len(found.statements) == len(part.statements) - 2 + 5 + 6
    copy = found.statement("S1_1")
    assert sorted((access.kind, access.array) for access in copy.accesses) == [
        ("read", "p_1"),
        ("read", "x"),
        ("write", "p_2"),
    ]
    assert copy.source == "p[k] = p[k - 1] * x[i]"
    assert copy.span == part.statement("S1").span
    assert "each cell is a variable (`p_0` … `p_5`)" in found.notes[-1]


def test_short_loops_beside_them_are_written_out_too() -> None:
    found = changed(GRAM)[1]
    assert {statement.iterators for statement in found.statements} == {("i",)}
    assert found.array("g_1_0").creation is not None


def test_a_loop_around_them_that_stays_is_no_hindrance() -> None:
    found = changed(STEPS)[1]
    assert {statement.iterators for statement in found.statements} == {("i",), ("i", "t")}
    assert {"u_0", "u_1", "v_0", "v_1"} <= {*names(found)}
    assert not {"u", "v"} & {*names(found)}


@pytest.mark.parametrize("why", LEFT_ALONE)
def test_what_stays_an_array(why: str) -> None:
    part, found = changed(LEFT_ALONE[why])
    assert found is part


def test_negative_numbers_count_from_the_end() -> None:
    text = POWERS.replace("p[0] = 1.0", "p[-6] = 1.0").replace("y[i] = s", "y[i] = s + p[-1]")
    found = changed(text)[1]
    assert [name for name in names(found) if name.startswith("p")] == [f"p_{cell}" for cell in range(6)]
    for target in ("c", "python"):
        agree(text, *given(POWERS, "float64", 5), target=target, contract="strict")


def test_names_that_are_taken() -> None:
    found = changed(POWERS.replace("y[i] = s", "p_1 = s\n            y[i] = p_1"))[1]
    assert {"p_1", "p_1_2"} <= {*names(found)}


def given(text: str, kind: str, count: int) -> list[Any]:
    random = np.random.default_rng(7)
    if text == GRAM:
        return [random.random((count, 3, 2)).astype(kind), np.zeros((count, 2)), np.zeros((count, 3))]
    if text == STEPS:
        return [random.random((count, 2)).astype(kind), np.zeros((count, 2)), 5]
    first = [random.random(6).astype(kind)] if text == POWERS else []
    return [*first, random.random(count).astype(kind), np.zeros(count)]


@pytest.mark.parametrize("target", ["c", "numba", "python"])
@pytest.mark.parametrize("kind", ["float64", "float32"])
@pytest.mark.parametrize("text", [POWERS, GRAM, STEPS, SORTED], ids=["powers", "gram", "steps", "sorted"])
def test_every_bit_is_the_same(text: str, kind: str, target: str) -> None:
    for count in (0, 1, 2, 21):
        kernel = agree(text, *given(text, kind, count), target=target, contract="strict")
        assert any("each cell is a variable" in note for note in kernel.scop.notes)


def test_one_vector_loop_is_all_that_is_left(one_processor: None, golden: Any) -> None:
    kernel = pv.compile(function_of(POWERS), target="c")
    golden(kernel.source[kernel.source.index("int64_t kernel_") :], "c")
    golden(pv.compile(function_of(POWERS), target="numba").source, "numba")


def test_it_can_be_switched_off() -> None:
    kernel = pv.compile(function_of(POWERS), target="python", small_arrays=False)
    assert "p" in names(kernel.scop)

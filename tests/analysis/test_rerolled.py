"""Loops that were unrolled by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polyviz as pv
from polyviz.analysis import dependences, with_loops_rolled_up
from tests.running import agree, agree_at, function_of

UPDATES = """
    def updates(x, y, A, n):
        for i in range(0, n - 3, 4):
            y[i] += 0.5 * x[i]
            y[i + 1] += 0.5 * x[i + 1]
            y[i + 2] += 0.5 * x[i + 2]
            y[i + 3] += 0.5 * x[i + 3]
        for i in range(n - n % 4, n):
            y[i] += 0.5 * x[i]
    """
SUMS = """
    def sums(x, y, A, n):
        for i in range(0, n - 1, 2):
            s = 0.0
            t = x[i + 1]
            for j in range(n):
                s += A[i, j] * x[j]
                t += A[i + 1, j] * x[j]
            y[i] = s
            y[i + 1] = t - x[i + 1]
    """
ROWS = """
    def rows(x, y, A, n):
        for i in range(0, n - 2, 3):
            s0 = 0.0
            s1 = 0.0
            s2 = 0.0
            for j in range(n):
                b = 2.0 * x[j]
                s0 += A[i, j] * b
                s1 += A[i + 1, j] * b
                s2 += A[i + 2, j] * b
            y[i] = s0
            y[i + 1] = s1
            y[i + 2] = s2
    """
SQUARES = """
    def squares(x, y, A, n):
        for i in range(0, n - 1, 2):
            for j in range(0, n - 1, 2):
                s00 = 0.0
                s01 = 0.0
                s10 = 0.0
                s11 = 0.0
                for k in range(n):
                    s00 += x[i] * x[j] * y[k]
                    s01 += x[i] * x[j + 1] * y[k]
                    s10 += x[i + 1] * x[j] * y[k]
                    s11 += x[i + 1] * x[j + 1] * y[k]
                A[i, j] = s00
                A[i, j + 1] = s01
                A[i + 1, j] = s10
                A[i + 1, j + 1] = s11
    """
SPLIT = """
    def split(x, y, A, n):
        for i in range(1, 2 * (n // 2) - 1, 2):
            if x[i] > 0.5:
                y[i] = x[i]
            else:
                y[i] = 0.0
            if x[i + 1] > 0.5:
                y[i + 1] = x[i + 1]
            else:
                y[i + 1] = 0.0
    """
SAME_CELL = """
    def same_cell(x, y, A, n):
        for i in range(n):
            for j in range(0, 2 * (n // 2), 2):
                y[i] += A[i, j] * x[j]
                y[i] += A[i, j + 1] * x[j + 1]
    """
ROLLED = {
    "four updates and what is left over": (
        UPDATES,
        "i",
        {"S0": "0 <= i < 4*floor(n/4)", "S4": "4*floor(n/4) <= i < n"},
    ),
    "a sum of its own for each row, and a value for all": (
        ROWS,
        "i",
        {"S0": "0 <= i < 3*floor(n/3)", "S4": "0 <= i < 3*floor(n/3) and 0 <= j < n"},
    ),
    "a condition": (SPLIT, "i", {"S0": "0 < i and i < 2*floor((n)/2) - 1"}),
    "sums that go into one cell": (SAME_CELL, "j", {"S0": "0 <= i < n and 0 <= j < 2*floor(n/2)"}),
}
LEFT_ALONE = {
    "the copies differ": UPDATES.replace("0.5 * x[i + 2]", "0.25 * x[i + 2]"),
    "a copy is missing": UPDATES.replace("y[i + 2] += 0.5 * x[i + 2]", "pass"),
    "something else is in the loop": UPDATES.replace("y[i + 2] +=", "y[i] = 1.0\n            y[i + 2] +="),
    "values begin differently": SUMS,
    "a variable that outlives the iteration": """
        def f(x, n):
            s = 0.0
            t = 0.0
            for i in range(0, n - 1, 2):
                s += x[i]
                t += x[i + 1]
            return s, t
        """,
    "the copies read before the first one stores": """
        def f(x, n):
            for i in range(0, n - 2, 2):
                x[i] = x[i + 2]
                x[i + 1] = x[i]
        """,
    "the copies depend on their order": """
        def f(x, y, n):
            for i in range(0, n - 2, 2):
                for j in range(n):
                    y[i + j] = y[i + j] * 0.5 + x[i]
                    y[i + 1 + j] = y[i + 1 + j] * 0.5 + x[i + 1]
        """,
    "a copy's variable is read by the first": """
        def f(x, y, n):
            for i in range(0, n - 4, 2):
                p = x[i]
                q = x[i + 1]
                r = x[i + 2]
                s = x[i + 3]
                y[i] = p + q
                y[i + 1] = q + r
        """,
    "no loop is unrolled": "def f(x, n):\n    for i in range(0, n, 2):\n        x[i] = 1.0",
}


def rolled(text: str) -> tuple[pv.Scop, pv.Scop]:
    part = pv.extract(function_of(text))
    return part, with_loops_rolled_up(part, dependences(part))


@pytest.mark.parametrize("how", ROLLED)
def test_one_statement_for_all_copies(how: str) -> None:
    text, name, domains = ROLLED[how]
    found = rolled(text)[1]
    for statement in found.statements:
        condition = domains.get(statement.name)
        if condition is None:
            continue
        instance = f"{statement.name}[{', '.join(statement.iterators)}]"
        expected = type(statement.domain)(f"[n] -> {{ {instance} : {condition} }}")
        assert statement.domain.is_equal(expected), statement.domain
        assert all(access.relation.domain().is_equal(expected) for access in statement.accesses)
    assert {*domains} <= {one.name for one in found.statements}
    assert f"`{name}`" in found.notes[-1]
    assert found.schedule.get_domain().is_equal(found.domain)


def test_variables_of_copies_are_gone() -> None:
    found = rolled(SQUARES)[1]
    assert [array.name for array in found.arrays] == ["x", "y", "A", "s00"]
    assert [one.name for one in found.statements] == ["S0", "S4", "S8"]
    assert "loops `i`, `j` are rolled up" in found.notes[-1]
    assert "s1" not in {array.name for array in rolled(ROWS)[1].arrays}


@pytest.mark.parametrize("why", LEFT_ALONE)
def test_what_stays_unrolled(why: str) -> None:
    part, found = rolled(LEFT_ALONE[why])
    assert found is part


def test_loops_are_rolled_up_unless_that_is_switched_off() -> None:
    for switch, loops in ((True, "i++"), (False, "i += 4")):
        text = pv.compile(function_of(UPDATES), target="c", reroll=switch).source
        assert loops in text


@pytest.mark.parametrize("size", [1, 4, 50])
@pytest.mark.parametrize("text", [*(text for text, _, _ in ROLLED.values()), SQUARES, SUMS])
def test_results_are_those_of_the_loops_as_written(text: str, size: int) -> None:
    for target in ("c", "numba"):
        agree_at(text, *given(size), target=target, contract="strict")


def given(size: int) -> tuple[Any, ...]:
    draw = np.random.default_rng(size)
    return draw.random(size), draw.random(size), draw.random((size, size)), size


@pytest.mark.slow
def test_a_line_that_became_loops_at_several_depths_is_left_alone() -> None:
    """Arrays that change places are put right behind the loop, too, by the same line."""
    text = """
    def f(u, v, w, steps):
        for t in range(steps):
            for i in range(1, len(u) - 1):
                u[i] += 0.5 * u[i - 1] + 0.25
            u, v, w = v, w, u
    """
    for steps in range(5):
        agree(text, np.arange(7.0), np.ones(7), np.zeros(7), steps, target="c")

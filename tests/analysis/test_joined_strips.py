"""Loops that were cut into strips by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polyviz as pv
from polyviz.analysis import dependences, with_strips_joined
from tests.running import agree_at, function_of

PRODUCT = """
    def product(A, B, C, n):
        for ii in range(0, n, 8):
            for jj in range(0, n, 8):
                for kk in range(0, n, 8):
                    for i in range(ii, min(ii + 8, n)):
                        for j in range(jj, min(jj + 8, n)):
                            for k in range(kk, min(kk + 8, n)):
                                C[i, j] += A[i, k] * B[k, j]
    """
OFFSETS = """
    def product(A, B, C, n):
        for ii in range(0, n, 8):
            for kk in range(n // 8):
                for i in range(min(8, n - ii)):
                    for k in range(8):
                        for j in range(n):
                            C[ii + i, j] += A[ii + i, 8 * kk + k] * B[k + kk * 8, j]
    """
COUNTED = """
    def product(A, B, C, n):
        for it in range((n + 7) // 8):
            for kt in range(n // 8):
                for i in range(it * 8, min((it + 1) * 8, n)):
                    for k in range(kt * 8, (kt + 1) * 8):
                        for j in range(n):
                            C[i, j] += A[i, k] * B[k, j]
    """
TWO_LEVELS = """
    def product(A, B, C, n):
        for i2 in range(0, n, 16):
            for k2 in range(0, n, 16):
                for i1 in range(i2, min(i2 + 16, n), 4):
                    for k1 in range(k2, min(k2 + 16, n), 4):
                        for i in range(i1, min(i1 + 4, n)):
                            for k in range(k1, min(k1 + 4, n)):
                                for j in range(n):
                                    C[i, j] += A[i, k] * B[k, j]
    """
FIRST = """
    def product(A, B, C, n):
        for ii in range(0, n, 8):
            for kk in range(0, n, 8):
                for i in range(ii, min(ii + 8, n)):
                    for j in range(n):
                        if kk == 0:
                            C[i, j] = 0.0
                        for k in range(kk, min(kk + 8, n)):
                            C[i, j] += A[i, k] * B[k, j]
    """
HOISTED = """
    def product(A, B, C, n):
        for jj in range(0, n, 8):
            for i in range(n):
                for k in range(n):
                    a = A[i, k]
                    for j in range(jj, min(jj + 8, n)):
                        C[i, j] += a * B[k, j]
    """
TRIANGLE = """
    def triangle(A, B, C, n):
        for ii in range(0, n, 8):
            for jj in range(0, ii + 1, 8):
                for k in range(n):
                    for i in range(ii, min(ii + 8, n)):
                        for j in range(jj, min(jj + 8, i + 1)):
                            C[i, j] += A[i, k] * B[j, k]
    """
SWEEP = """
    def sweep(A, B, C, n):
        for t in range(3):
            for ii in range(1, n - 1, 8):
                for jj in range(1, n - 1, 8):
                    for i in range(ii, min(ii + 8, n - 1)):
                        for j in range(jj, min(jj + 8, n - 1)):
                            B[i, j] = 0.25 * (A[i - 1, j] + A[i + 1, j] + A[i, j - 1] + A[i, j + 1])
            for i in range(1, n - 1):
                for j in range(1, n - 1):
                    A[i, j] = B[i, j]
    """
JOINED = {
    "the usual way": (PRODUCT, "ii jj kk", {"S0": "0 <= i < n and 0 <= j < n and 0 <= k < n"}),
    "offsets within strips": (
        OFFSETS,
        "ii kk",
        {"S0": "0 <= i < n and 0 <= k and k < 8*floor(n/8) and 0 <= j < n"},
    ),
    "strips that are counted": (
        COUNTED,
        "it kt",
        {"S0": "0 <= i < n and 0 <= k and k < 8*floor(n/8) and 0 <= j < n"},
    ),
    "strips of strips": (TWO_LEVELS, "i2 k2 i1 k1", {"S0": "0 <= i < n and 0 <= k < n and 0 <= j < n"}),
    "something in the first strip": (
        FIRST,
        "ii kk",
        {"S0": "0 <= i < n and 0 <= j < n", "S1": "0 <= i < n and 0 <= j < n and 0 <= k < n"},
    ),
    "a value that every strip computes": (
        HOISTED,
        "jj",
        {"S0": "0 <= i < n and 0 <= k < n", "S1": "0 <= i < n and 0 <= k < n and 0 <= j < n"},
    ),
    "a triangle": (TRIANGLE, "ii jj", {"S0": "0 <= k < n and 0 <= j <= i < n"}),
    "one of two sweeps": (SWEEP, "ii jj", {"S0": "0 <= t <= 2 and 1 <= i < n - 1 and 1 <= j < n - 1"}),
}
LEFT_ALONE = {
    "a statement uses the strip": PRODUCT.replace("A[i, k] * B[k, j]", "A[i, k] * B[k, j] * ii * jj * kk"),
    "strips overlap": TRIANGLE.replace("range(0, n, 8)", "range(0, n, 7)").replace("range(0, ii + 1, 8)", "range(n)"),
    "strips follow each other over time": """
        def f(A, n):
            for ii in range(1, n - 1, 8):
                for t in range(3):
                    for i in range(ii, min(ii + 8, n - 1)):
                        A[i] = A[i - 1] + A[i + 1]
        """,
    "what a strip computes again changes": f"{HOISTED.rstrip()}\n                    A[i, k] += 1.0\n",
    "a strip that runs backwards": """
        def f(A, n):
            for ii in range(0, n, 8):
                for i in range(7, -1, -1):
                    A[ii + i] = 2.0 * A[ii + i + 1]
        """,
    "nothing is cut": """
        def f(A, n):
            for i in range(n):
                for j in range(i):
                    A[i, j] = A[j, i]
        """,
}


def joined(text: str) -> tuple[pv.Scop, pv.Scop]:
    part = pv.extract(function_of(text))
    return part, with_strips_joined(part, dependences(part))


@pytest.mark.parametrize("how", JOINED)
def test_the_loops_that_were_there_before(how: str) -> None:
    text, names, domains = JOINED[how]
    found = joined(text)[1]
    for name, condition in domains.items():
        statement = found.statement(name)
        iterators = ", ".join(statement.iterators)
        expected = type(statement.domain)(f"[n] -> {{ {name}[{iterators}] : {condition} }}")
        assert statement.domain.is_equal(expected), statement.domain
        assert len(statement.loop_spans) == len(statement.iterators)
        assert all(access.relation.domain().is_equal(expected) for access in statement.accesses)
    assert all(f"`{name}`" in found.notes[-1] for name in names.split())
    assert found.schedule.get_domain().is_equal(found.domain)


@pytest.mark.parametrize("why", LEFT_ALONE)
def test_strips_that_stay(why: str) -> None:
    part, found = joined(LEFT_ALONE[why])
    assert found is part


def test_bounds_are_those_of_sizes_and_not_conditions_on_each_iteration() -> None:
    # isl would write 8 * floor(k / 8) <= n - 8, which a loop would have to test in each iteration.
    domain = joined(OFFSETS)[1].statements[0].domain
    assert "floor((n)/8)" in str(domain) and "floor((k)/8)" not in str(domain)


def test_a_sum_that_begins_with_the_strip_is_the_point() -> None:
    [statement] = joined(OFFSETS)[1].statements
    reads = {access.array: access.relation for access in statement.accesses if access.kind == "read"}
    assert str(reads["A"].range().get_space()) == "[n] -> { A[i0, i1] }"
    assert "C[i, j]" in str(reads["C"]) and "A[i, k]" in str(reads["A"]) and "B[k, j]" in str(reads["B"])
    assert statement.source == "C[ii + i, j] += A[ii + i, 8 * kk + k] * B[k + kk * 8, j]"


def test_register_tiles_of_a_product_that_was_cut() -> None:
    text = pv.compile(function_of(PRODUCT), target="c").source
    plain = pv.compile(function_of(PRODUCT), target="c", join_strips=False).source
    assert "B_columns" in text and "B_columns" not in plain


@pytest.mark.parametrize("size", [1, 7, 50])
@pytest.mark.parametrize("text", [text for text, _, _ in JOINED.values()])
def test_results_are_those_of_the_loops_as_written(text: str, size: int) -> None:
    for target in ("c", "numba"):
        agree_at(text, *given(size), target=target, contract="strict")


def given(size: int) -> tuple[Any, ...]:
    draw = np.random.default_rng(size)
    return (*(draw.random((size, size)) for _ in range(3)), size)


SUMS = """
    def product(A, B, C, n):
        for kk in range(0, n, 8):
            for i in range(n):
                for j in range(n):
                    s = 0.0
                    for k in range(kk, min(kk + 8, n)):
                        s += A[i, k] * B[k, j]
                    C[i, j] -= s
    """
NO_ONE_SUM = {
    "the order is to be kept": (SUMS, False),
    "they begin with something else": (SUMS.replace("s = 0.0", "s = 1.0"), True),
    "cells differ": (SUMS.replace("C[i, j] -= s", "C[i, kk] -= s"), True),
    "the sum is used otherwise": (SUMS.replace("C[i, j] -= s", "C[i, j] -= s * s"), True),
    "the sum reads what it is added to": (SUMS.replace("A[i, k] * B[k, j]", "C[i, k] * B[k, j]"), True),
}


def test_sums_of_strips_are_one_sum_where_the_order_of_additions_is_free() -> None:
    part = pv.extract(function_of(SUMS))
    found = with_strips_joined(part, dependences(part), reassociate=True)
    assert [one.iterators for one in found.statements] == [("i", "j"), ("i", "j", "k"), ("i", "j")]
    agree_at(SUMS, *given(40), target="c")


@pytest.mark.parametrize("why", NO_ONE_SUM)
def test_sums_of_strips_that_stay(why: str) -> None:
    text, reassociate = NO_ONE_SUM[why]
    part = pv.extract(function_of(text))
    assert with_strips_joined(part, dependences(part), reassociate=reassociate) is part
    agree_at(text, *given(20), target="c")

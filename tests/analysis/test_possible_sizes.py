"""Counterexamples speak of arrays that hold the cells they name."""

from __future__ import annotations

import islpy as isl

import polyviz as pv
from polyviz.analysis import parallelism
from polyviz.analysis.possible_sizes import possible_sizes

WRAPPING = "for i in range(n):\n    A[i] = A[i-1] + 1.0"


def test_what_surely_happens_stays_in_its_array() -> None:
    found = possible_sizes(pv.extract(WRAPPING))
    assert found.is_equal(isl.Set("[n, A_shape_0] -> { : A_shape_0 >= 0 and n <= A_shape_0 }"))


def test_what_may_not_happen_asks_for_nothing() -> None:
    part = pv.extract("for i in range(n):\n    if B[i] > 0.0:\n        A[i] = A[i-1]")
    assert "A_shape_0" in str(part.context)
    assert not possible_sizes(part).intersect(isl.Set("[n, A_shape_0] -> { : n = 5 and A_shape_0 = 0 }")).is_empty()


def test_an_array_is_not_empty_of_which_some_cell_is_accessed() -> None:
    part = pv.extract(
        "def f(a, n):\n    c = np.zeros(n * n)\n    for i in range(n):\n        for j in range(n):\n"
        "            for k in range(n):\n                c[i * n + j] += a[i * n + k] * a[k * n + j]\n    return c"
    )
    empty = isl.Set("[n, n_times_n] -> { : n > 0 and n_times_n <= 0 }")
    assert possible_sizes(part).intersect(empty).is_empty()
    *_, inner = parallelism(part, pv.dependences(part), part.schedule)
    assert "may write c[0]" in inner.explanation


def test_a_verdict_and_a_loop_name_sizes_that_exist() -> None:
    part = pv.extract(WRAPPING)
    verdict = pv.check(part, "{ S0[i] -> [-i] }")
    assert [dict(one.parameters) for one in verdict.violations] == [{"n": 2, "A_shape_0": 2}] * 2
    [loop] = parallelism(part, pv.dependences(part), part.schedule)
    assert loop.explanation.endswith("[n = 2, A_shape_0 = 2]")


def test_five_dimensions() -> None:
    loops = "".join(f"{'    ' * depth}for {name} in range(n):\n" for depth, name in enumerate("abcde"))
    part = pv.extract(loops + "    " * 5 + "A[a, b, c, d, e] = A[a, b, c, d, e - 1]")
    [pair] = pv.check(part, "{ S0[a, b, c, d, e] -> [a, b, c, d, -e] }").violations[:1]
    assert pair.parameters["A_shape_4"] >= pair.parameters["n"]

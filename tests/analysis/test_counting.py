"""Counts against enumeration, and on sets that are too large to enumerate."""

from __future__ import annotations

import islpy as isl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyviz.analysis import footprints, instance_counts, operation_counts
from polyviz.analysis.counting import count_points
from polyviz.model.expression import Assign, Binary, Call, Compare, Conditional, Constant, Element, Name
from tests.builders import loop, scop, statement


@pytest.mark.parametrize(
    ("points", "number"),
    [
        ("{ [] }", 1),
        ("{ [i] : false }", 0),
        ("{ [i, j, k] : 0 <= i, j, k < 4000 }", 4000**3),
        ("{ [i, j, k] : 0 <= k < j and j < i < 2000 }", 2000 * 1999 * 1998 // 6),
        ("{ [i, j] : 0 <= i, j < 1000 and (i + j) mod 2 = 0 }", 500_000),
        ("{ [i, j] : 0 <= i < 4000 and 0 <= j < 4000 and i mod 4 = 1 and j mod 3 = 2 }", 1000 * 1333),
        ("{ [i, j] : 0 <= i, j < 10; [i, j] : 5 <= i, j < 15 }", 175),
        ("{ [i, j] : 0 <= i < 7 and 0 <= 3j <= i }", 12),
    ],
)
def test_known_numbers(points, number):
    assert count_points(isl.Set(points)) == number


@st.composite
def sets(draw: st.DrawFn) -> str:
    names = "ijk"[: draw(st.integers(1, 3))]
    factor = st.sampled_from([-2, -1, 0, 1, 1, 3])
    conditions = [f"-3 <= {name} <= 4" for name in names]
    for _ in range(draw(st.integers(1, 3))):
        form = " + ".join(f"{draw(factor)}*{name}" for name in names)
        modulo = draw(st.sampled_from(["", "", "", " mod 2", " mod 3"]))
        conditions.append(f"({form}){modulo} {'=' if modulo else '>='} {draw(st.sampled_from([-2, 0, 1]))}")
    return f"{{ [{', '.join(names)}] : {' and '.join(conditions)} }}"


@given(st.lists(sets(), min_size=1, max_size=2))
@settings(max_examples=150)
def test_counts_are_those_of_the_enumeration(texts):
    points = isl.Set(texts[0])
    if len(texts) == 2 and isl.Set(texts[1]).dim(isl.dim_type.set) == points.dim(isl.dim_type.set):
        points = points.union(isl.Set(texts[1]))
    found = []
    points.foreach_point(found.append)
    assert count_points(points) == len(found)


def test_instances_cells_and_operations_of_a_part():
    body = (
        Assign(
            Element("B", (Binary("+", Name("i"), Constant(1)),)),
            Binary(
                "*",
                Conditional(
                    Compare(("<",), (Element("A", (Name("i"),)), Constant(0))), Constant(1), Constant(2)
                ),
                Call("math.sqrt", (Element("A", (Binary("*", Constant(2), Name("i")),)),)),
            ),
            "+",
        ),
    )
    part = scop(
        "n",
        loop("i", loop("j", "S0")),
        extents={"A": "2n", "H": "n + 1"},
        S0=statement(
            "0 <= i < n and 0 <= j <= i", reads="A[i] A[2i] B[i + 1] ?H[*]", writes="B[i + 1]", body=body
        ),
    )
    assert instance_counts(part, {"n": 1000}) == {"S0": 500_500}
    counts = {
        name: (found.read, found.written, found.touched)
        for name, found in footprints(part, {"n": 10}).items()
    }
    assert counts == {"A": (15, 0, 15), "B": (10, 10, 10), "H": (11, 0, 11)}
    assert operation_counts(part, {"n": 4}) == {"+": 10, "*": 10, "<": 10, "math.sqrt": 10}


def test_a_loop_that_does_not_run_counts_nothing():
    part = scop("n", loop("i", "S0"), S0=statement("0 <= i < n", reads="A[i]", writes="s"))
    assert instance_counts(part, {"n": 0}) == {"S0": 0}
    assert footprints(part, {"n": 0})["s"].touched == 0

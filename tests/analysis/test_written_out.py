"""Short loops with a copy of their statements for each iteration."""

from __future__ import annotations

from itertools import pairwise

import islpy as isl
import pytest

import polyviz as pv
from polyviz.analysis import loop_nests
from polyviz.analysis.written_out import iterations, with_loops_written_out
from polyviz.model.expression import Binary, Constant, Element, Name, walk

TEXT = """
def f(A, B, n):
    for i in range(n):
        for k in range(2, -1, -1):
            A[i, k] = 1.0 * (2 * k + 1)
            for q in range(k):
                A[i, k] += B[i + k - 1, q]
        B[i, 0] = A[i, 0]
"""


@pytest.fixture
def part() -> pv.Scop:
    return pv.extract(TEXT)


def written(part: pv.Scop) -> pv.Scop:
    loops = {"S0": (1,), "S1": (1, 2)}
    values = {name: iterations(part.statement(name), own, 9) or [] for name, own in loops.items()}
    return with_loops_written_out(part, loops, values)


def test_a_copy_for_each_iteration_says_where_it_comes_from(part: pv.Scop) -> None:
    found = written(part)
    assert [one.name for one in found.statements] == ["S0_0", "S0_1", "S0_2", "S1_0", "S1_1", "S1_2", "S2"]
    copy = found.statement("S1_2")
    origin = part.statement("S1")
    assert (copy.iterators, copy.source, copy.span) == (("i",), origin.source, origin.span)
    assert len(copy.loop_spans) == 1
    assert [str(access.relation.range().reset_tuple_id()) for access in copy.accesses if access.array == "B"] == [
        "[n] -> { [i0, 1] : 0 < i0 <= n }"
    ]
    assert found.statement("S0_2").body[0] != part.statement("S0").body[0]
    assert "k" not in str(found.statement("S0_2").body)
    assert "value=5" in str(found.statement("S0_2").body)
    read = next(one for one in walk(found.statement("S1_2").body[0]) if isinstance(one, Element) and one.array == "B")
    assert read.subscripts == (Binary("+", Name("i"), Constant(1)), Constant(1))
    read = next(one for one in walk(found.statement("S1_0").body[0]) if isinstance(one, Element) and one.array == "B")
    assert read.subscripts == (Name("i"), Constant(0))


def test_the_order_of_the_source_stays(part: pv.Scop) -> None:
    """The loop over k goes down: the copy of its last value comes first."""
    found = written(part)
    nests = loop_nests(found.schedule)
    assert {len(nest.loops) for nest in nests.values()} == {1}
    order = ["S0_2", "S1_1", "S1_2", "S0_1", "S1_0", "S0_0", "S2"]
    time = found.schedule.get_map()
    first = isl.UnionSet("[n] -> { " + "; ".join(f"{name}[0]" for name in order) + " }")
    times = time.intersect_domain(first.intersect_params(isl.Set("[n] -> { : n = 4 }")))
    for early, late in pairwise(order):
        first_instances = (isl.UnionSet(f"[n] -> {{ {name}[0] }}") for name in (early, late))
        one, other = (times.intersect_domain(instance).range() for instance in first_instances)
        assert not one.lex_lt_union_set(other).is_empty(), (early, late)
        assert other.lex_lt_union_set(one).is_empty(), (early, late)


@pytest.mark.parametrize(
    ("bounds", "most"), [("n", 9), ("i", 9), ("4", 3)], ids=["a size", "an iterator", "too many"]
)
def test_no_fixed_number_of_iterations(bounds: str, most: int) -> None:
    part = pv.extract(f"def f(A, n):\n  for i in range(n):\n    for k in range({bounds}):\n      A[i, k] = 0.0")
    assert iterations(part.statements[0], [1], most) is None

"""Where threads have to wait: the elision test on kernels and on trees of phases made by hand."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from polyviz.analysis import dependences
from polyviz.analysis.carried import constraints_of
from polyviz.analysis.loop_kinds import Term
from polyviz.analysis.superposed_rows import SuperposedRows
from polyviz.frontend import extract
from polyviz.gallery import kernel
from polyviz.scheduling import schedule
from polyviz.scheduling.superposed.barriers import barriers_of
from polyviz.scheduling.superposed.parts import Group, ParallelLoop, Part, Serial
from polyviz.scheduling.superposed.phases import gaps_of, phases_of
from polyviz.scheduling.superposed.scatterings import regular_scatterings
from tests.builders import loop, scop, statement

if TYPE_CHECKING:
    from polyviz.model.scop import Scop
    from polyviz.model.superposition import Barrier


def group(name: str, *iterators: int) -> Group:
    loops = tuple(ParallelLoop({name: Term(place)}, "forall", 0, place) for place in iterators)
    return Group((name,), loops)


def serial(iterator: int, *parts: Part) -> Serial:
    names = tuple(name for part in parts for name in part.names)
    return Serial(names, {name: Term(iterator) for name in names}, parts)


def barriers(part: Scop, parts: tuple[Part, ...]) -> list[tuple[int, int, bool, bool]]:
    """Before, after, wraps, needed; all statements in one block."""
    found = constraints_of(part, dependences(part))
    outer = {one.name: () for one in part.statements}
    rows = SuperposedRows(part, outer, regular_scatterings(part, parts))
    return [
        (one.before, one.after, one.wraps, one.needed)
        for one in barriers_of(parts, [one for one in found if not one.pairs.is_empty()], rows)
    ]


def kernel_barriers(name: str) -> list[tuple[Barrier, ...]]:
    result = schedule(extract(kernel(name).function), "superposition")
    return [found.barriers for found in result.superposition.kernels]


def test_a_stencil_waits_twice_per_step() -> None:
    ((between, wrap),) = kernel_barriers("jacobi-2d-alt")
    assert (between.before, between.after, between.wraps) == (0, 1, False)
    assert (wrap.before, wrap.after, wrap.wraps) == (1, 0, True)
    assert (between.protects.kind, between.protects.source, between.protects.sink) == ("anti", "S0", "S1")
    assert (wrap.protects.kind, wrap.protects.source, wrap.protects.sink) == ("flow", "S1", "S0")
    assert between.protects.source_instance[2] != between.protects.sink_instance[2]


def test_phases_that_need_nothing_of_each_other_do_not_wait() -> None:
    ((between,),) = kernel_barriers("mvt")
    assert not between.needed


def test_the_result_of_a_reduction_is_waited_for() -> None:
    """Even by the threads whose own share came last: the thread that adds up is another one."""
    *_, (between,) = kernel_barriers("gesummv")
    assert between.protects.array in ("tmp", "y")


def test_the_thread_of_the_last_share_waits_for_the_sum_too() -> None:
    """The reader sits where the last value was added, but the sum is complete in another thread."""

    def last_column(A, s, B):
        n = s.shape[0]
        for i in range(n):
            for j in range(n):
                s[i] += A[i, j]
        for i in range(n):
            for j in range(n - 1, n):
                B[i, j] = s[i]

    part = extract(last_column)
    sums = Group(
        ("S0",),
        (
            ParallelLoop({"S0": Term(1)}, "reduction", 0, 1, reducing=frozenset({"S0"})),
            ParallelLoop({"S0": Term(0)}, "forall", 0, 0),
        ),
    )
    assert barriers(part, (sums, group("S1", 1, 0))) == [(0, 1, False, True)]
    assert barriers(part, (group("S0", 1, 0), group("S1", 1, 0))) == [(0, 1, False, False)]


def test_no_barrier_between_launches() -> None:
    assert kernel_barriers("jacobi-2d") == [(), ()]


def chain(second: str, third: str) -> Scop:
    """Three sweeps in a time loop; ``second`` and ``third`` are the subscripts of what the later ones read."""
    inside = "0 <= t < T and 1 <= i < n - 1"
    return scop(
        "T, n",
        loop("t", loop("i", "S1"), loop("i", "S2"), loop("i", "S3")),
        S1=statement(inside, reads="X[i]", writes="A[t, i]"),
        S2=statement(inside, reads=f"A[t, {second}]", writes="B[t, i]"),
        S3=statement(inside, reads=f"B[t, {third}]", writes="C[t, i]"),
    )


@pytest.mark.parametrize(
    ("second", "third", "needed"),
    [("i", "i", [False, False]), ("i + 1", "i", [True, False]), ("i", "i - 1", [False, True])],
)
def test_only_what_crosses_threads_needs_a_barrier(second: str, third: str, needed: list[bool]) -> None:
    part = chain(second, third)
    parts = (serial(0, group("S1", 1), group("S2", 1), group("S3", 1)),)
    found = barriers(part, parts)
    assert found == [(0, 1, False, needed[0]), (1, 2, False, needed[1]), (2, 0, True, False)]


def test_one_barrier_serves_all_that_pass_it() -> None:
    """S1 feeds S3 across threads; either of the two places on the way is enough."""
    inside = "1 <= i < n - 1"
    part = scop(
        "n",
        loop("i", "S1"),
        loop("i", "S2"),
        loop("i", "S3"),
        S1=statement(inside, reads="X[i]", writes="A[i]"),
        S2=statement(inside, reads="X[i]", writes="B[i]"),
        S3=statement(inside, reads="A[i + 1]", writes="C[i]"),
    )
    found = barriers(part, (group("S1", 0), group("S2", 0), group("S3", 0)))
    assert [needed for *_, needed in found] == [False, True]


def test_a_barrier_inside_a_loop_serves_its_next_iteration_too() -> None:
    """One statement that reads its neighbour of the step before, in a loop of one phase."""
    part = scop(
        "T, n",
        loop("t", loop("i", "S")),
        S=statement("1 <= t < T and 1 <= i < n", reads="A[t - 1, i - 1]", writes="A[t, i]"),
    )
    assert barriers(part, (serial(0, group("S", 1)),)) == [(0, 0, True, True)]
    alone = scop(
        "T, n",
        loop("t", loop("i", "S")),
        S=statement("1 <= t < T and 1 <= i < n", reads="A[t - 1, i]", writes="A[t, i]"),
    )
    assert barriers(alone, (serial(0, group("S", 1)),)) == [(0, 0, True, False)]


def test_places_of_nested_loops() -> None:
    parts = (
        group("S0", 0),
        serial(0, group("S1", 2), serial(1, group("S2", 2), group("S3", 2))),
        group("S4", 0),
    )
    phases = phases_of(parts)
    assert [phase.number for phase in phases] == [0, 1, 2, 3, 4]
    assert sorted((gap.before, gap.after, gap.wraps, gap.depth) for gap in gaps_of(phases)) == [
        (0, 1, False, 0),
        (1, 2, False, 1),
        (2, 3, False, 2),
        (3, 1, True, 1),
        (3, 2, True, 2),
        (3, 4, False, 0),
    ]


def test_nested_loops_wait_where_the_values_cross() -> None:
    """The inner loop hands neighbours on, the outer one nothing: no barrier at the end of the outer loop."""
    part = scop(
        "n",
        loop("i", loop("j", loop("k", "S"))),
        S=statement(
            "0 <= i < n and 1 <= j < n and 1 <= k < n", reads="A[i, j - 1, k - 1]", writes="A[i, j, k]"
        ),
    )
    found = barriers(part, (serial(0, serial(1, group("S", 2))),))
    assert sorted(found) == [(0, 0, True, False), (0, 0, True, True)]


def test_barriers_are_explained() -> None:
    result = schedule(extract(kernel("mvt").function), "superposition")
    (text,) = [decision.text for decision in result.decisions if decision.step == "barrier"]
    assert re.fullmatch(r"kernel 0, between phase 0 and phase 1: no barrier, .*", text)

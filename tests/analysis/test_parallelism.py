"""Parallel loops, reductions and witnesses, against an enumeration too."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import islpy as isl
import pytest
from hypothesis import given, settings

from polyviz.analysis import band_properties, dependences, parallelism
from polyviz.analysis.parallelism import loop_parallelism, verdict_on_loop
from polyviz.model.expression import Assign, Element, Name
from tests.analysis.programs import Event, Program, loop_paths, programs, run
from tests.builders import loop, scop, statement

if TYPE_CHECKING:
    from polyviz.model.scop import Scop

SUM = (Assign(Element("s"), Element("A", (Name("i"), Name("j"))), "+"),)
PRODUCT = (Assign(Element("C", (Name("i"), Name("j"))), Element("A", (Name("i"), Name("k"))), "+"),)


def matmul(body=PRODUCT):
    return scop(
        "n",
        loop("i", loop("j", "S0", loop("k", "S1"))),
        S0=statement("0 <= i, j < n", writes="C[i, j]"),
        S1=statement("0 <= i, j, k < n", reads="C[i, j] A[i, k] B[k, j]", writes="C[i, j]", body=body),
    )


def loops(part: Scop, schedule: isl.Schedule | None = None):
    return parallelism(part, dependences(part), schedule or part.schedule)


def sentences(part: Scop, schedule: isl.Schedule | None = None) -> str:
    return "\n".join(found.explanation for found in loops(part, schedule))


def test_a_verdict_on_a_loop_is_that_of_its_parallelism_without_a_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    part = matmul()
    found = dependences(part)
    wanted = [loop_parallelism(part, found, part.schedule, number) for number in range(3)]

    def unwanted(*arguments: object) -> None:
        raise AssertionError("a pair of iterations was looked for")

    monkeypatch.setattr(sys.modules[verdict_on_loop.__module__], "smallest_pair", unwanted)
    verdicts = [verdict_on_loop(part, found, part.schedule, number) for number in range(3)]
    told = [(one.nothing, one.only_reductions, one.carries) for one in verdicts]
    assert told == [(one.parallel, one.reduction_parallel, one.carries) for one in wanted]
    assert [one.nothing for one in verdicts] == [True, True, False]
    with pytest.raises(KeyError):
        verdict_on_loop(part, found, part.schedule, 3)


def test_matmul(golden):
    golden(sentences(matmul()))


def test_matmul_with_a_body_that_is_no_reduction(golden):
    golden(sentences(matmul(body=())))


def test_stencil(golden):
    part = scop(
        "n, t",
        loop("s", loop("i", "S0"), loop("j", "S1")),
        S0=statement("0 <= s < t and 1 <= i < n - 1", reads="A[i - 1] A[i] A[i + 1]", writes="B[i]"),
        S1=statement("0 <= s < t and 1 <= j < n - 1", reads="B[j - 1] B[j] B[j + 1]", writes="A[j]"),
    )
    golden(sentences(part))


def test_initialisation_inside_the_loop_forbids_the_reduction():
    part = scop(
        "n",
        loop("i", loop("j", "S0", "S1")),
        live_out="s",
        S0=statement("0 <= i, j < n and i = 0 and j = 0", writes="s"),
        S1=statement("0 <= i, j < n", reads="s A[i, j]", writes="s", body=SUM),
    )
    assert [found.reduction_parallel for found in loops(part)] == [False, False]


def test_a_prefix_sum_that_is_looked_at_is_no_parallel_reduction():
    part = scop(
        "n",
        loop("i", loop("j", "S1", "S2")),
        S1=statement("0 <= i, j < n", reads="s A[i, j]", writes="s", body=SUM),
        S2=statement("0 <= i, j < n", reads="s", writes="B[i, j]"),
    )
    assert [found.reduction_parallel for found in loops(part)] == [False, False]


def test_copies_of_a_scalar_are_named_where_the_loop_would_share_it():
    part = scop(
        "n",
        loop("i", "S0", loop("j", "S1")),
        S0=statement("0 <= i < n", reads="A[i]", writes="s"),
        S1=statement("0 <= i, j < n", reads="s", writes="B[i, j]"),
    )
    assert [found.explanation for found in loops(part)] == [
        "loop i is parallel: no dependence ties its iterations, since each has its own copy of s",
        "loop j is parallel: no dependence ties its iterations",
    ]


def test_a_whole_sum_is_a_reduction_in_both_loops():
    part = scop(
        "n",
        loop("i", loop("j", "S1")),
        S1=statement("0 <= i, j < n", reads="s A[i, j]", writes="s", body=SUM),
    )
    assert [(found.parallel, found.reduction_parallel) for found in loops(part)] == [(False, True)] * 2


def test_an_update_that_reads_what_others_accumulate_is_strict():
    # C[i, k] of one iteration is C[i, j] of another, as in a factorisation.
    part = scop(
        "n",
        loop("i", loop("j", loop("k", "S1"))),
        S1=statement(
            "0 <= i < n and 0 <= j < i and 0 <= k < j",
            reads="C[i, j] C[i, k]",
            writes="C[i, j]",
            body=PRODUCT,
        ),
    )
    i, j, k = loops(part)
    assert (i.parallel, j.parallel, j.reduction_parallel) == (True, False, False)
    assert (k.parallel, k.reduction_parallel) == (False, True)


def skewed(part: Scop, rows: str) -> isl.Schedule:
    return isl.Schedule(f'{{ domain: "{part.domain}", child: {{ schedule: "{rows}" }} }}')


def test_band_of_a_skewed_stencil():
    part = scop(
        "n, t",
        loop("s", loop("i", "S0")),
        S0=statement("0 <= s < t and 1 <= i < n - 1", reads="A[i - 1] A[i] A[i + 1]", writes="A[i]"),
    )
    found = dependences(part)
    (plain,) = band_properties(part, found, skewed(part, "[{ S0[s, i] -> [s] }, { S0[s, i] -> [i] }]"))
    (legal,) = band_properties(part, found, skewed(part, "[{ S0[s, i] -> [s] }, { S0[s, i] -> [s + i] }]"))
    (front,) = band_properties(part, found, skewed(part, "[{ S0[s, i] -> [2s + i] }, { S0[s, i] -> [s] }]"))
    assert (plain.permutable, legal.permutable, front.permutable) == (False, True, True)
    assert [member.parallel for member in front.members] == [False, True]
    assert [member.coincident for member in front.members] == [False, False]
    names = [
        loop.loop
        for loop in parallelism(part, found, skewed(part, "[{ S0[s, i] -> [2s + i] }, { S0[s, i] -> [-i] }]"))
    ]
    assert names == ["2s + i", "i"]


def test_bands_of_matmul_know_the_reduction():
    part = matmul()
    members = [band.members[0] for band in band_properties(part, dependences(part), part.schedule)]
    assert [(member.coincident, member.reduction_parallel) for member in members] == [
        (True, False),
        (True, False),
        (False, True),
    ]


def test_tile_loops_are_named_and_judged():
    part = matmul()
    tree = skewed(
        part,
        "[{ S0[i, j] -> [floor(i / 32)]; S1[i, j, k] -> [floor(i / 32)] }, { S0[i, j] -> [0]; S1[i, j, k] -> [k] }]",
    )
    tile, inner = loops(part, tree)
    assert (tile.loop, tile.parallel) == ("floor(i/32)", True)
    assert (inner.loop, inner.parallel, inner.reduction_parallel) == ("0 | k", False, False)
    assert inner.witness.explanation == (
        "iteration k=0 writes C[0, 0] in S1 and iteration k=1 reads it in S1 (line 2) [n = 2]"
    )


def test_an_index_set_split_keeps_the_parts_apart():
    part = scop("n", loop("i", "S0"), S0=statement("0 <= i < n", reads="A[n - 1 - i]", writes="A[i]"))
    low, high = "[n] -> { S0[i] : 2i < n - 1 }", "[n] -> { S0[i] : 2i >= n - 1 }"
    row = 'child: { schedule: "[{ S0[i] -> [i] }]" }'
    tree = isl.Schedule(
        f'{{ domain: "{part.domain}", child: {{ sequence: '
        f'[ {{ filter: "{low}", {row} }}, {{ filter: "{high}", {row} }} ] }} }}'
    )
    assert [found.parallel for found in loops(part)] == [False]
    assert [found.parallel for found in loops(part, tree)] == [True, True]


def test_a_peeled_iteration_is_no_loop_over_a_number():
    part = scop("n", loop("i", "S0"), S0=statement("0 <= i < n", reads="A[i - 1]", writes="A[i]"))
    row = 'child: { schedule: "[{ S0[i] -> [i] }]" }'
    tree = isl.Schedule(
        f'{{ domain: "{part.domain}", child: {{ sequence: [ {{ filter: "{{ S0[0] }}", {row} }}, '
        f'{{ filter: "{{ S0[i] : i > 0 }}", {row} }} ] }} }}'
    )
    alone, rest = (found.explanation for found in loops(part, tree))
    assert alone == "the loop over S0 has a single iteration: nothing is there to run beside it"
    assert rest.startswith("loop i is not parallel")


def conflicts(first: Event, second: Event) -> bool:
    return bool(first.writes & (second.reads | second.writes) or first.reads & second.writes)


def carried_loops(program: Program, n: int) -> set[tuple[int, ...]]:
    """The paths of the loops with a conflict between two of their iterations."""
    events = run(program, n)
    found = set()
    for position, sink in enumerate(events):
        for source in events[:position]:
            if conflicts(source, sink):
                found |= separating_loop(source, sink)
    return found


def separating_loop(source: Event, sink: Event) -> set[tuple[int, ...]]:
    """The outermost loop that has two instances in different iterations; empty when a sequence parts them."""
    for left, right in zip(source.place, sink.place, strict=False):
        if left != right:
            return {left[0]} if left[0] == right[0] else set()
    return set()


@given(programs(arrays=("A", "B")))
@settings(max_examples=120)
@pytest.mark.slow
def test_parallel_loops_are_those_of_the_enumeration(program: Program):
    carried = {n: carried_loops(program, n) for n in (1, 2, 3, 4)}
    found = loops(program.scop())
    assert len(found) == len(loop_paths(program))
    for path, verdict in zip(loop_paths(program), found, strict=True):
        sizes = [n for n, paths in carried.items() if path in paths]
        smallest = None if verdict.witness is None else verdict.witness.parameters["n"]
        assert (smallest == min(sizes)) if sizes else (smallest is None or smallest > 4)


def test_the_properties_of_a_tree_are_found_once():
    part = matmul()
    found = dependences(part)
    first = band_properties(part, found, part.schedule)
    assert band_properties(part, found, part.schedule) is first
    free = band_properties(part, replace(found, relations=()), part.schedule)
    assert free is not first

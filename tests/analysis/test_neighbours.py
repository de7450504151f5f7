"""What the analysis does when isl gets little time: exact by itself, then more pairs, never another order."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyviz.analysis import check, dataflow, dependences, known_answers, parallelism, separate_live_ranges
from polyviz.frontend import extract
from polyviz.gallery import kernels
from tests.analysis.programs import Program, closure, enumerated, memory_pairs, programs, run, value_pairs
from tests.builders import loop, scop, statement

if TYPE_CHECKING:
    from collections.abc import Iterator

    from polyviz.model.dependences import Dependences

LITTLE = st.sampled_from([0, 150, 1_000, 4_000, 20_000])
"""Operations for a whole analysis: from nothing to nearly enough for the tiny programs."""


@contextmanager
def without_isl_dataflow(allowance: int) -> Iterator[None]:
    """isl's own dataflow analysis fails at once, and the search through statements has ``allowance`` operations."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dataflow, "_PER_REFERENCE", 1)
        patch.setattr(dataflow, "_PER_PAIR", 0)
        module = sys.modules["polyviz.analysis.dependences"]
        patch.setattr(module, "_OPERATIONS", allowance)
        patch.setattr(module, "_OPERATIONS_PER_REFERENCE", 0)
        # What is found with little time is nobody else's, and what was found before is not to be seen here.
        patch.setattr(module, "_analysed", WeakKeyDictionary())
        patch.setattr(known_answers, "_answers", {})
        yield


def pairs_of(found: Dependences, n: int) -> dict[tuple[str, str], set]:
    collected: dict[tuple[str, str], set] = {}
    for dependence in found.relations:
        pairs = enumerated(dependence.relation, n)
        if pairs:
            collected.setdefault((dependence.kind, dependence.array), set()).update(pairs)
    return collected


@given(programs())
@settings(max_examples=60)
def test_the_search_through_statements_is_exact_by_itself(program: Program):
    with without_isl_dataflow(10_000_000):
        found = dependences(program.scop())
    assert found.notes == ()
    for n in (1, 2, 3):
        assert pairs_of(found, n) == value_pairs(run(program, n))


@given(programs(), LITTLE)
@settings(max_examples=80)
def test_with_little_time_the_pairs_lie_between_the_neighbours_and_all(program: Program, allowance: int):
    with without_isl_dataflow(allowance):
        found = dependences(program.scop())
    for n in (2, 3):
        events = run(program, n)
        nearest, all_pairs, actual = value_pairs(events), memory_pairs(events), pairs_of(found, n)
        for key in all_pairs.keys() | nearest.keys() | actual.keys():
            none: set = set()
            low, here, high = nearest.get(key, none), actual.get(key, none), all_pairs.get(key, none)
            if key[0] == "input":
                assert here <= low
            elif key[0] != "reduction":
                assert low <= here <= high
            if here != low:
                assert found.notes and f"`{key[1]}`" in " ".join(found.notes)


@given(programs(arrays=("A", "B")), LITTLE)
@settings(max_examples=60)
def test_with_little_time_the_order_is_the_same(program: Program, allowance: int):
    with without_isl_dataflow(allowance):
        found = dependences(program.scop())
    for n in (2, 3):
        ordered = closure(
            {pair for kept in found.validity_relations for pair in enumerated(kept.relation, n)}
        )
        for (kind, _), pairs in memory_pairs(run(program, n)).items():
            assert kind == "input" or pairs <= ordered


@given(programs(), LITTLE)
@settings(max_examples=60)
def test_with_little_time_the_original_order_is_legal_and_no_loop_becomes_parallel(
    program: Program, allowance: int
):
    part = program.scop()
    exact = dependences(part)
    with without_isl_dataflow(allowance):
        found = dependences(part)
    assert check(part, part.schedule, known=found)
    verdicts = zip(
        parallelism(part, found, part.schedule), parallelism(part, exact, part.schedule), strict=True
    )
    for little, much in verdicts:
        assert much.parallel or not little.parallel
    depths = {known.array: known.depth for known in exact.privatizations}
    assert all(known.depth <= depths.get(known.array, 0) for known in found.privatizations)


@given(programs(arrays=("A", "s", "s")), LITTLE)
@settings(max_examples=40)
def test_with_little_time_live_ranges_are_not_torn(program: Program, allowance: int):
    part = program.scop()
    with without_isl_dataflow(allowance):
        split = separate_live_ranges(part)
    assert dependences(split).flow.is_equal(dependences(part).flow)


def test_the_notes_name_the_arrays():
    part = scop(
        "n",
        loop("i", "S0", "S1"),
        S0=statement("0 <= i < n", reads="B[i] C[0]", writes="A[i]"),
        S1=statement("0 <= i < n", reads="A[i] A[i - 1]", writes="B[i]"),
    )
    with without_isl_dataflow(0):
        found = dependences(part)
    assert found.notes == (
        "The exact analysis of `A`, `B` would take too long: some pairs of accesses stay ordered although a write "
        "between them already orders both; what is legal does not change.",
        "Not every reuse of values read from `A`, `B`, `C` is known: the exact analysis would take too long.",
    )
    assert dependences(part).notes == ()


@pytest.mark.slow
@pytest.mark.parametrize("kernel", kernels(), ids=lambda kernel: kernel.name)
def test_every_kernel_of_the_gallery_is_analysed_exactly(kernel):
    assert dependences(extract(kernel.function)).notes == ()

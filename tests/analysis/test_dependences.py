"""Dependences: known answers, and the whole relation against an enumeration of every instance."""

from __future__ import annotations

import gc
import weakref
from typing import TYPE_CHECKING

import islpy as isl
import pytest
from hypothesis import given, settings

from polyviz.analysis import dependences
from polyviz.errors import OptionError
from tests.analysis.programs import Program, closure, enumerated, memory_pairs, programs, run, value_pairs
from tests.builders import loop, scop, statement

if TYPE_CHECKING:
    from polyviz.model.dependences import Dependences


def matmul():
    return scop(
        "n",
        loop("i", loop("j", "S0", loop("k", "S1"))),
        S0=statement("0 <= i, j < n", writes="C[i, j]"),
        S1=statement("0 <= i, j, k < n", reads="C[i, j] A[i, k] B[k, j]", writes="C[i, j]"),
    )


def between(found: Dependences, kind: str, source: str, sink: str) -> isl.Map:
    (relation,) = [
        dependence.relation
        for dependence in found.relations
        if (dependence.kind, dependence.source, dependence.sink) == (kind, source, sink)
    ]
    return relation


def same(relation: isl.Map | isl.UnionMap, text: str) -> bool:
    return isl.UnionMap(str(relation)).is_equal(isl.UnionMap(text))


def test_matmul_initialisation_reaches_only_the_first_product():
    relation = between(dependences(matmul()), "flow", "S0", "S1")
    assert same(relation, "[n] -> { S0[i, j] -> S1[i, j, 0] : 0 <= i, j < n }")


def test_matmul_initialisation_touches_every_product_in_memory():
    relation = between(dependences(matmul(), kind="memory"), "flow", "S0", "S1")
    assert same(relation, "[n] -> { S0[i, j] -> S1[i, j, k] : 0 <= i, j, k < n }")


def test_matmul_rereads_its_operands():
    found = dependences(matmul())
    inputs = {
        dependence.array: dependence.relation for dependence in found.relations if dependence.kind == "input"
    }
    assert same(inputs["A"], "[n] -> { S1[i, j, k] -> S1[i, j + 1, k] : 0 <= i, k < n and 0 <= j < n - 1 }")
    assert same(inputs["B"], "[n] -> { S1[i, j, k] -> S1[i + 1, j, k] : 0 <= j, k < n and 0 <= i < n - 1 }")


def test_jacobi_flows_between_its_two_sweeps():
    part = scop(
        "n, t",
        loop("s", loop("i", "S0"), loop("j", "S1")),
        S0=statement("0 <= s < t and 1 <= i < n - 1", reads="A[i - 1] A[i] A[i + 1]", writes="B[i]"),
        S1=statement("0 <= s < t and 1 <= j < n - 1", reads="B[j - 1] B[j] B[j + 1]", writes="A[j]"),
    )
    found = dependences(part)
    assert same(
        between(found, "flow", "S0", "S1"),
        "[n, t] -> { S0[s, i] -> S1[s, j] : 0 <= s < t and 1 <= i, j < n - 1 and -1 <= j - i <= 1 }",
    )
    assert same(
        between(found, "flow", "S1", "S0"),
        "[n, t] -> { S1[s, j] -> S0[s + 1, i] : 0 <= s < t - 1 and 1 <= i, j < n - 1 and -1 <= j - i <= 1 }",
    )
    # The next write of the cell is in the same sweep of the other statement, so anti dependences stay near, too.
    assert same(
        between(found, "anti", "S0", "S1"),
        "[n, t] -> { S0[s, i] -> S1[s, j] : 0 <= s < t and 1 <= i, j < n - 1 and -1 <= j - i <= 1 }",
    )


def test_seidel_depends_on_this_and_the_last_sweep():
    part = scop(
        "n, t",
        loop("s", loop("i", "S0")),
        S0=statement("0 <= s < t and 1 <= i < n - 1", reads="A[i - 1] A[i] A[i + 1]", writes="A[i]"),
    )
    assert same(
        dependences(part).flow,
        "[n, t] -> { S0[s, i] -> S0[s, i + 1] : 0 <= s < t and 1 <= i < n - 2;"
        " S0[s, i] -> S0[s + 1, i] : 0 <= s < t - 1 and 1 <= i < n - 1;"
        " S0[s, i] -> S0[s + 1, i - 1] : 0 <= s < t - 1 and 2 <= i < n - 1 }",
    )


def test_triangular_solve_needs_the_finished_unknowns():
    part = scop(
        "n",
        loop("i", "S0", loop("j", "S1"), "S2"),
        S0=statement("0 <= i < n", reads="b[i]", writes="x[i]"),
        S1=statement("0 <= i < n and 0 <= j < i", reads="x[i] L[i, j] x[j]", writes="x[i]"),
        S2=statement("0 <= i < n", reads="x[i] L[i, i]", writes="x[i]"),
    )
    assert same(
        between(dependences(part), "flow", "S2", "S1"), "[n] -> { S2[j] -> S1[i, j] : 0 <= j < i and i < n }"
    )


def test_a_may_write_does_not_hide_the_write_before_it():
    part = scop(
        "n",
        loop("i", "S0", "S1", "S2"),
        S0=statement("0 <= i < n", writes="A[i]"),
        S1=statement("0 <= i < n", writes="?A[i]"),
        S2=statement("0 <= i < n", reads="A[i]"),
    )
    assert same(dependences(part).flow, "[n] -> { S0[i] -> S2[i] : 0 <= i < n; S1[i] -> S2[i] : 0 <= i < n }")


def test_the_context_bounds_the_relations():
    part = scop("n", loop("i", "S0"), context="n <= 1", S0=statement("0 <= i < n", reads="s", writes="s"))
    assert dependences(part).flow.is_empty()


def test_proximity_ignores_rereading_a_scalar():
    part = scop("n", loop("i", "S0"), S0=statement("0 <= i < n", reads="alpha A[0]", writes="B[i]"))
    found = dependences(part)
    assert {dependence.array for dependence in found.relations} == {"alpha", "A"}
    assert same(found.proximity, "[n] -> { S0[i] -> S0[i + 1] : 0 <= i < n - 1 }")


def test_an_unknown_kind_is_one_sentence():
    with pytest.raises(OptionError) as caught:
        dependences(matmul(), kind="exact")
    assert str(caught.value) == 'Dependences are of kind "value" or "memory", not \'exact\'.'


def test_without_reuse_only_what_orders_is_found():
    part = matmul()
    ordering = dependences(part, reuse=False)
    assert {dependence.kind for dependence in ordering.relations} == {"flow", "anti", "output"}
    assert dependences(part, reuse=False) is ordering
    found = dependences(part)
    assert {dependence.kind for dependence in found.relations} == {"flow", "anti", "output", "input"}
    assert found.validity.is_equal(ordering.validity)
    assert ordering.proximity.is_strict_subset(found.proximity)
    assert dependences(part, reuse=False) is found


def test_a_part_is_analysed_once_per_kind_and_forgotten_with_it():
    part, again = matmul(), matmul()
    assert dependences(part) is dependences(part)
    assert dependences(part, kind="memory") is dependences(part, kind="memory")
    assert dependences(part, kind="memory").kind == "memory"
    assert dependences(again) is not dependences(part)
    found = weakref.ref(part)
    del part
    gc.collect()
    assert found() is None


def by_kind_and_array(found: Dependences, n: int) -> dict[tuple[str, str], set]:
    collected: dict[tuple[str, str], set] = {}
    for dependence in found.relations:
        pairs = enumerated(dependence.relation, n)
        if pairs:
            collected.setdefault((dependence.kind, dependence.array), set()).update(pairs)
    return collected


@given(programs())
@settings(max_examples=120)
@pytest.mark.slow
def test_value_based_dependences_are_those_of_the_enumeration(program: Program):
    found = dependences(program.scop())
    for n in (1, 2, 3):
        assert by_kind_and_array(found, n) == value_pairs(run(program, n))


@given(programs())
@settings(max_examples=80)
def test_memory_based_dependences_are_those_of_the_enumeration(program: Program):
    found = dependences(program.scop(), kind="memory")
    for n in (1, 2, 3):
        assert by_kind_and_array(found, n) == memory_pairs(run(program, n))


@pytest.mark.slow
@given(programs(arrays=("A", "B")))
@settings(max_examples=80)
def test_validity_implies_the_whole_memory_order(program: Program):
    found = dependences(program.scop())
    for n in (2, 3):
        ordered = closure(
            {pair for kept in found.validity_relations for pair in enumerated(kept.relation, n)}
        )
        for (kind, _), pairs in memory_pairs(run(program, n)).items():
            assert kind == "input" or pairs <= ordered

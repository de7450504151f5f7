"""Cache lines: patterns, completion, neighbours on a line; and reuse, apart by pattern."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import islpy as isl
import pytest

from polyviz.analysis import dependences
from polyviz.analysis.cache_lines import completion, line_access, line_neighbours
from polyviz.analysis.order import Order
from polyviz.analysis.references import by_pattern, references
from polyviz.analysis.reuse import find_reuse
from polyviz.analysis.times import times_by_statement, union_of
from polyviz.model.isl_limits import Allowance
from tests.builders import loop, scop, statement
from tests.scheduling import kernels

if TYPE_CHECKING:
    from polyviz.analysis.references import Reference
    from polyviz.analysis.reuse import PatternReuse
    from polyviz.model.scop import Scop


def order_of(part: Scop) -> Order:
    return Order(times_by_statement(part.schedule.get_map()), part.context.get_space())


def neighbours(part: Scop, found: tuple[Reference, ...], line: int) -> isl.UnionMap:
    result = line_neighbours(found, line, order_of(part), Allowance(10_000_000))
    assert result.complete
    return union_of(result.relations, part.context.get_space())


def pattern(part: Scop, label: str) -> PatternReuse:
    reuse = find_reuse(part, dependences(part))
    return next(one for one in reuse.patterns if one.references[0].label == label)


def strided(step: int) -> Scop:
    return scop("n", loop("i", "S"), S=statement("0 <= i < n", writes=f"A[{step}i]"))


@pytest.mark.parametrize(("label", "added"), [("B[k, j]", [0]), ("A[i, k]", [1]), ("C[i, j]", [2])])
def test_completion_of_the_references_of_a_product(label: str, added: list[int]) -> None:
    """Reddy, section 5: B[k, j] becomes B[i, k, j], A[i, k] becomes A[j, i, k], C[i, j] becomes C[k, i, j]."""
    reference = next(
        one for one in references(kernels.matmul()) if (one.statement, one.label) == ("R", label)
    )
    assert completion(reference.subscripts, 3) == added


def test_a_complete_reference_needs_no_loop() -> None:
    one, zero = Fraction(1), Fraction(0)
    assert completion([(one, zero), (one, one)], 2) == []


def test_lines_are_numbered_in_the_last_dimension_only() -> None:
    part = kernels.matmul()
    reference = next(one for one in references(part) if one.label == "B[k, j]")
    expected = isl.Map(
        "[n] -> { R[i, j, k] -> B[i, k, floor(j/4)] : 0 <= i < n and 0 <= j < n and 0 <= k < n }"
    )
    assert line_access(reference, 4).is_equal(expected)


@pytest.mark.parametrize("step", [1, 2, 3, 4, 5])
def test_a_stride_within_a_line_relates_one_iteration_to_the_next(step: int) -> None:
    """Lines of four elements: strides 1, 2 and 3 share some, from 4 on no two iterations do."""
    part = strided(step)
    found = neighbours(part, references(part), 4)
    expected = "{ S[i] -> S[i + 1] : 0 <= i < n - 1 }" if step < 4 else "{ }"
    assert found.is_equal(isl.UnionMap(f"[n] -> {expected}"))


def test_only_completed_references_stay_within_an_iteration_of_the_outer_loops() -> None:
    """Without completion the last line of one row of B would be a neighbour of the first line of the next."""
    part = kernels.matmul()
    group = next(group for group in by_pattern(references(part)) if group[0].label == "B[k, j]")
    inside = "0 <= i < n and 0 <= j < n - 1 and 0 <= k < n"
    assert neighbours(part, group, 4).is_equal(
        isl.UnionMap(f"[n] -> {{ R[i, j, k] -> R[i, j + 1, k] : {inside} }}")
    )


def test_statements_that_take_turns_on_a_line_follow_themselves_too() -> None:
    part = scop(
        "n",
        loop("i", "S", "R"),
        S=statement("0 <= i < n", writes="A[i]"),
        R=statement("0 <= i < n", reads="A[i]", writes="B[i]"),
    )
    group = next(group for group in by_pattern(references(part)) if group[0].label == "A[i]")
    assert neighbours(part, group, 8).is_equal(
        isl.UnionMap(
            "[n] -> { S[i] -> R[i] : 0 <= i < n; R[i] -> S[i + 1] : 0 <= i < n - 1;"
            " S[i] -> S[i + 1] : 0 <= i < n - 1; R[i] -> R[i + 1] : 0 <= i < n - 1 }"
        )
    )


def test_relations_stay_inside_the_domains() -> None:
    """Lines that begin anywhere would also relate an iteration before the first one."""
    part = strided(1)
    found = neighbours(part, references(part), 4)
    assert found.domain().is_subset(part.domain)
    assert found.range().is_subset(part.domain)


def test_patterns_ignore_the_last_constant_only() -> None:
    """Reddy, example 6.5: D[i, j] and D[i, j + 2] share lines; B[i, j] and B[i - 1, j] do not, nor does D[i, j + n]."""
    part = scop(
        "n",
        loop("i", loop("j", "S")),
        S=statement(
            "1 <= i < n and 0 <= j < n",
            reads="D[i, j] D[i, j + 2] D[i, j + n] B[i, j] B[i - 1, j]",
            writes="A[i]",
        ),
    )
    groups = [tuple(one.cell for one in group) for group in by_pattern(references(part))]
    assert groups == [
        (("loop0", "loop1"), ("loop0", "2 + loop1")),
        (("loop0", "n + loop1"),),
        (("loop0", "loop1"),),
        (("-1 + loop0", "loop1"),),
        (("loop0",),),
    ]


def test_one_pattern_in_nests_of_different_depth() -> None:
    group, *_ = by_pattern(references(kernels.two_products()))
    assert [(one.statement, one.kind) for one in group] == [("S1", "write"), ("S2", "read"), ("S2", "write")]


def test_what_is_no_function_of_the_loops_is_left_out_and_said() -> None:
    part = scop("n", loop("i", "S"), S=statement("0 <= i < n", reads="?B[*] C[i]", writes="A[i]"))
    reuse = find_reuse(part, dependences(part))
    assert [one.references[0].label for one in reuse.patterns] == ["C[i]", "A[i]"]
    assert reuse.notes == ("1 of 3 references are no functions of the loops: their reuse is not known.",)


def test_reuse_of_a_product_is_apart_by_reference() -> None:
    part = kernels.matmul()
    product = pattern(part, "C[i, j]")
    assert len(product.references) == 3
    temporal = union_of(product.temporal, part.context.get_space())
    inside = "0 <= i < n and 0 <= j < n"
    assert temporal.is_equal(
        isl.UnionMap(
            f"[n] -> {{ R[i, j, k] -> R[i, j, k + 1] : {inside} and 0 <= k < n - 1; S[i, j] -> R[i, j, 0] : {inside} }}"
        )
    )
    (along,) = pattern(part, "A[i, k]").temporal
    assert along.is_equal(
        isl.Map("[n] -> { R[i, j, k] -> R[i, j + 1, k] : 0 <= i < n and 0 <= j < n - 1 and 0 <= k < n }")
    )


def test_temporal_reuse_belongs_to_the_reference_that_reads() -> None:
    """lu: what S2 wrote as A[i, j] is read by S1 as A[i, k]; the row A[k, j] was finished by S3."""
    part = kernels.lu()
    ends = {
        label: {
            (relation.get_tuple_name(isl.dim_type.in_), relation.get_tuple_name(isl.dim_type.out))
            for relation in pattern(part, label).temporal
        }
        for label in ("A[i, k]", "A[k, j]")
    }
    assert ("S2", "S1") in ends["A[i, k]"]
    assert ("S2", "S1") not in ends["A[k, j]"]
    assert ("S3", "S1") in ends["A[k, j]"]


def test_scalars_have_no_lines() -> None:
    part = scop("n", loop("i", "S"), S=statement("0 <= i < n", reads="s A[i]", writes="s"))
    assert pattern(part, "s").spatial == ()
    assert pattern(part, "s").temporal != ()


def test_an_analysis_that_would_take_too_long_is_said() -> None:
    part = kernels.seidel_2d()
    group = by_pattern(references(part))[0]
    result = line_neighbours(group, 8, order_of(part), Allowance(-1))
    assert (result.relations, result.complete) == ((), False)


def test_reuse_whose_reference_is_hard_to_tell_is_kept_whole_and_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    part = kernels.seidel_2d()
    known = dependences(part)
    monkeypatch.setattr("polyviz.analysis.reuse.solved", lambda compute: None)
    reuse = find_reuse(part, known)
    assert reuse.notes == (
        "The reuse of A[-1 + i, j], A[i, j], A[1 + i, j] is not known exactly: the analysis would take too long.",
    )
    found = union_of(reuse.patterns[0].temporal, part.context.get_space())
    assert found.is_equal(known.flow.union(known.input))

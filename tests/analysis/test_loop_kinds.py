"""The four kinds of loops: by distances, with reductions that nothing disturbs, after shifts and reversals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from polyviz.analysis import dependences
from polyviz.analysis.carried import constraints_of
from polyviz.analysis.loop_kinds import Distances, Span, Term, row_maps, witness_of
from polyviz.frontend import extract
from polyviz.gallery import kernel
from tests.builders import loop, scop, statement

if TYPE_CHECKING:
    from polyviz.model.scop import Scop


def distances_of(part: Scop) -> Distances:
    found = constraints_of(part, dependences(part))
    return Distances(tuple(one for one in found if not one.pairs.is_empty()))


JACOBI = {
    ("t", "t"): "sequential",
    ("i", "i"): "forall",
    ("j", "j"): "violation",
    ("t", "i"): "violation",
    ("i", "j"): "violation",
}


@pytest.mark.parametrize(("rows", "kind"), JACOBI.items(), ids=["-".join(rows) for rows in JACOBI])
def test_the_rows_of_a_stencil(rows: tuple[str, str], kind: str) -> None:
    part = extract(kernel("jacobi-2d-alt").function)
    first, second = (Term("tij".index(row)) for row in rows)
    assert distances_of(part).kind({"S0": first, "S1": second}) == kind


def test_distances_are_exact_over_all_sizes() -> None:
    part = extract(kernel("jacobi-2d-alt").function)
    along_j = {"S0": Term(2), "S1": Term(2)}
    found = {
        (one.source, one.sink, one.dependence.kind): span for one, span in distances_of(part).spans(along_j)
    }
    assert found["S1", "S0", "flow"] == found["S0", "S1", "anti"] == Span(-1, 1)
    assert found["S0", "S1", "flow"] == Span(0, 0)


def test_a_distance_without_bound() -> None:
    part = scop("n", loop("i", "S"), S=statement("0 <= i < n", reads="A[n - 1 - i]", writes="A[i]"))
    (_, flow), *_ = distances_of(part).spans({"S": Term(0)})
    assert flow == Span(1, None)


def test_a_shift_and_a_reversal_move_the_distances() -> None:
    assert Span(1, 4).moved(1, -1) == Span(0, 3)
    assert Span(1, None).moved(-1, 0) == Span(None, -1)


def test_an_accumulation_is_a_reduction() -> None:
    part = extract(kernel("gemm").function)
    found = distances_of(part)
    assert found.kind({"S1": Term(1)}) == "reduction"
    assert found.kind({"S1": Term(0)}) == "forall"


def test_an_accumulator_that_is_read_meanwhile_is_none() -> None:
    def prefix(A, sums, total):
        for i in range(A.shape[0]):
            total[0] += A[i]
            sums[i] = total[0]

    part = extract(prefix)
    assert distances_of(part).kind({"S0": Term(0)}) == "reduction"
    assert distances_of(part).kind({"S0": Term(0), "S1": Term(0)}) == "sequential"


def test_the_witness_of_a_violation_runs_backwards() -> None:
    part = extract(kernel("jacobi-2d-alt").function)
    rows = {"S0": Term(2), "S1": Term(2)}
    found = next(
        one for one, span in distances_of(part).spans(rows) if one.source == "S1" and not span.is_forward
    )
    witness = witness_of(part, found, row_maps(part, rows), "violation")
    assert witness.explanation == ("S1[0, 1, 2] writes A[1, 2], which S0[1, 1, 1] reads [tsteps = 2, n = 4]")

"""The scoring rule for the innermost loop, on the numbers of its source."""

from __future__ import annotations

import pytest

import polyviz as pv
from polyviz.analysis import check
from polyviz.transform.innermost import best_innermost, innermost_scores, unit_stride_innermost
from polyviz.transform.tree import band_at, bands, members, row_texts
from tests.scheduling import kernels
from tests.transform.trees import scheduled


def deepest(tree: object) -> tuple[int, ...]:
    return max(bands(tree), key=lambda found: found[1].band_n_member())[0]


def test_the_matrix_product_scores_as_published() -> None:
    part = kernels.matmul()
    _, tree = scheduled(part)
    scores = innermost_scores(part, tree, deepest(tree))
    assert [score.score for score in scores] == [-44, 18, -6]
    assert [(score.spatial, score.temporal, score.other) for score in scores] == [
        (0, 1, 3),
        (3, 1, 0),
        (1, 2, 1),
    ]


def test_the_best_loop_goes_innermost_and_the_others_keep_their_order() -> None:
    part = kernels.matmul()
    known, tree = scheduled(part)
    path = deepest(tree)
    changed, decision = unit_stride_innermost(part, tree, path)
    assert [row_texts(row)["R"] for row in members(band_at(changed, path))] == ["i", "k", "j"]
    assert "(i: -44, j: 18, k: -6)" in decision.text
    assert check(part, changed, known=known)


def test_statements_of_different_depth_count_together() -> None:
    part = kernels.lu()
    _, tree = scheduled(part)
    best = best_innermost(part, tree, (0,))
    assert row_texts(members(band_at(tree, (0,)))[best]) == {"S1": "j", "S2": "j", "S3": "j"}


def test_a_skewed_stencil_keeps_its_last_loop() -> None:
    part = kernels.seidel_2d()
    _, tree = scheduled(part)
    assert best_innermost(part, tree, (0,)) == 2


@pytest.mark.parametrize(("step", "local"), [(1, True), (4, True), (5, False)])
def test_steps_beyond_a_few_elements_are_no_neighbours(step: int, local: bool) -> None:
    part = kernels.scop(
        "n",
        kernels.loop("i", kernels.loop("j", "S")),
        S=kernels.statement("0 <= i, j < n", writes=f"A[i, {step}*j]"),
    )
    _, tree = scheduled(part)
    assert innermost_scores(part, tree, (0,))[1].spatial == int(local)


def test_another_subscript_that_moves_spoils_the_stride() -> None:
    part = kernels.scop(
        "n",
        kernels.loop("i", kernels.loop("j", "S")),
        S=kernels.statement("0 <= i, j < n", writes="A[i + j, j]"),
    )
    _, tree = scheduled(part)
    assert [score.other for score in innermost_scores(part, tree, (0,))] == [1, 1]


def test_a_gather_jumps_in_the_loops_that_load_its_subscript() -> None:
    def total(table, ids, out):
        for i in range(ids.shape[0]):
            for t in range(ids.shape[1]):
                for k in range(table.shape[1]):
                    out[i, k] += table[ids[i, t], k]

    part = pv.extract(total)
    _, tree = scheduled(part)
    path = deepest(tree)
    best = best_innermost(part, tree, path, serial_lanes=True)
    assert set(row_texts(members(band_at(tree, path))[best]).values()) == {"k"}
    scores = innermost_scores(part, tree, path, serial_lanes=True)
    assert [score.other > 0 for score in scores] == [score.member != best for score in scores]
    assert scores[best].spatial == 3

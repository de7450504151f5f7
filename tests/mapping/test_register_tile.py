"""Which nests run by register tiles, what is said of it, and what keeps a nest from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import islpy as isl
import numpy as np
import pytest

import polyviz as pv
from polyviz.codegen.register_tile_c import tile_size
from polyviz.mapping import make_plan
from polyviz.model.plan import BLOCK, Plan
from polyviz.transform.tree import kind_of, walk
from tests.blocked import NARROW, PLAIN, SUMS, WIDE, blocked_plan
from tests.running import function_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from polyviz.model.processor import Processor

REFUSED = {
    "several statements": (
        """
        def f(C, D, A, B):
            for i in range(C.shape[0]):
                for j in range(C.shape[1]):
                    for k in range(A.shape[1]):
                        C[i, j] = C[i, j] + A[i, k]
                        D[i, j] = D[i, j] + B[i, k]
        """,
        "no operand is used again along a row or a column",
    ),
    "not built on the old value": (
        """
        def f(C, A, B):
            for i in range(C.shape[0]):
                for j in range(C.shape[1]):
                    for k in range(A.shape[1]):
                        C[i, j] = A[i, k] * B[k, j]
        """,
        "the new value does not build on the old one",
    ),
    "a value for every point": (
        """
        def f(C, A, B, W):
            for i in range(C.shape[0]):
                for j in range(C.shape[1]):
                    for k in range(A.shape[1]):
                        C[i, j] += A[i, k] * B[k, j] * W[i, j, k]
        """,
        "some part of the value is different for every row and column",
    ),
    "a maximum": (
        """
        def f(C, A, B):
            for i in range(C.shape[0]):
                for j in range(C.shape[1]):
                    for k in range(A.shape[1]):
                        C[i, j] = max(C[i, j], A[i, k] * B[k, j])
        """,
        "some part of the value is different for every row and column",
    ),
    "every other column": (
        """
        def f(C, A, B):
            for i in range(A.shape[0]):
                for j in range(B.shape[1]):
                    for k in range(A.shape[1]):
                        C[i, 2 * j] += A[i, k] * B[k, j]
        """,
        "C is not updated along one loop and contiguous along another",
    ),
    "its own results": (
        """
        def f(A, B):
            for i in range(B.shape[0]):
                for j in range(B.shape[1]):
                    for k in range(i):
                        B[i, j] += A[i, k] * B[k, j]
        """,
        "a block would read cells that it has updated itself",
    ),
}


def said(plan: Plan) -> list[str]:
    return [decision.text for decision in plan.decisions if decision.step.endswith("register-tile")]


@pytest.mark.parametrize("name", SUMS)
def test_decisions(name: str, golden: Callable[..., None]) -> None:
    golden("\n".join(said(blocked_plan(SUMS[name])[1])))


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_keeps_its_loops(name: str) -> None:
    text, reason = REFUSED[name]
    plan = blocked_plan(text)[1]
    assert not plan.register_tiles
    assert any(reason in sentence for sentence in said(plan)), said(plan)


def test_the_last_value_of_a_temporary_is_not_lost() -> None:
    text = """
for i in range(n):
    for j in range(n):
        t = 0.0
        for k in range(n):
            t += A[i, k] * B[k, j]
        C[i, j] = t
"""
    import numpy as np

    names = {"n": 4, "A": np.ones((4, 4)), "B": np.ones((4, 4)), "C": np.ones((4, 4))}
    kernel = pv.compile(text, target="c", namespace=names, once_more=False)
    assert not kernel.plan.register_tiles


def test_sizes_follow_from_the_caches() -> None:
    wide, narrow = (
        blocked_plan(SUMS["gemm"], processor)[1].register_tiles[0] for processor in (WIDE, NARROW)
    )
    for tile in (wide, narrow):
        rows, columns, depth = tile.sizes
        assert 8 * depth * 8 <= tile.processor.l1_data
        assert rows * depth * 8 <= tile.processor.l2 // 2
        assert columns * depth * 8 <= tile.processor.l3 // 2
        assert columns % 48 == 0
    assert wide.sizes != narrow.sizes


def test_tiles_of_the_user_are_the_blocks() -> None:
    plan = blocked_plan(SUMS["gemm"], tile=(16, 24, 8))[1]
    assert plan.register_tiles[0].sizes == (16, 24, 8)


@pytest.mark.parametrize(
    "options",
    [{"register_tile": False}, {"processor": PLAIN}, {"tile": False}],
    ids=lambda options: next(iter(options)),
)
def test_register_tiles_can_be_absent(options: dict[str, Any]) -> None:
    plan = blocked_plan(SUMS["gemm"], **options)[1]
    assert not plan.register_tiles
    assert not said(plan)


def test_other_targets_have_no_register_tiles() -> None:
    scop = pv.extract(function_of(SUMS["gemm"]))
    dependences = pv.dependences(scop)
    schedule = pv.schedule(scop, "pluto", dependences=dependences)
    assert not make_plan(scop, dependences, schedule, "python", processor=WIDE).register_tiles


def test_operands_stay_in_place_without_packing() -> None:
    plan = blocked_plan(SUMS["gemm"], pack=False)[1]
    assert [tile.packed for tile in plan.register_tiles] == [False]
    assert "read in place" in said(plan)[0]


def test_the_three_loops_of_a_deeper_nest() -> None:
    text = """
        def batch(C, A, B):
            for b in range(C.shape[0]):
                for i in range(C.shape[1]):
                    for j in range(C.shape[2]):
                        for k in range(A.shape[2]):
                            C[b, i, j] += A[b, i, k] * B[b, k, j]
        """
    scop, plan = blocked_plan(text)
    (tile,) = plan.register_tiles
    assert [scop.statement("S0").iterators[place] for place in (tile.row, tile.column, tile.depth)] == [
        "i",
        "j",
        "k",
    ]
    assert tile.coordinates[0] == "b"
    assert [decision.text for decision in plan.decisions if decision.step == "parallel"] == [
        "loop 0 of the band runs on all threads"
    ]


TENSORS = {
    "two and two": (
        "def f(C, A, B):\n    for i in range(C.shape[0]):\n        for j in range(C.shape[1]):\n"
        "            for k in range(C.shape[2]):\n                for l in range(C.shape[3]):\n"
        "                    for m in range(A.shape[2]):\n                        for n in range(A.shape[3]):\n"
        "                            C[i, j, k, l] += A[i, j, m, n] * B[m, n, k, l]",
        "jln",
        ("m", "k_tile", "l_tile", "n_tile", "i", "j_tile"),
        [(3, 4, 5, 26), (3, 4, 6, 7), (6, 7, 5, 26)],
    ),
    "two steps": (
        "def f(C, A, B):\n    for i in range(C.shape[0]):\n        for j in range(C.shape[1]):\n"
        "            for m in range(A.shape[1]):\n                for n in range(A.shape[2]):\n"
        "                    C[i, j] += A[i, m, n] * B[m, n, j]",
        "ijn",
        ("m",),
        [(33, 26), (33, 6, 17), (6, 17, 26)],
    ),
}


@pytest.mark.thinned(2)
@pytest.mark.parametrize("name", TENSORS)
def test_products_of_tensors_are_sums_of_products_of_matrices(name: str) -> None:
    text, roles, around, shapes = TENSORS[name]
    scop, plan = blocked_plan(text)
    (tile,) = plan.register_tiles
    iterators = scop.statement("S0").iterators
    assert "".join(iterators[place] for place in (tile.row, tile.column, tile.depth)) == roles
    assert tile.coordinates[: len(around)] == around
    assert pv.check(scop, plan.tree)
    made = np.random.default_rng(5)
    given = [made.random(shape) for shape in shapes]
    kernel = pv.compile(text, target="c")
    result = given[0].copy()
    kernel(result, *given[1:])
    np.testing.assert_allclose(result, given[0] + np.tensordot(given[1], given[2], 2))


ONE_SUM = """
    def f(C, A, B):
        for i in range(C.shape[0]):
            for j in range(C.shape[1]):
                for k in range({}):
                    for l in range(C.shape[3]):
                        for n in range(A.shape[2]):
                            C[i, j, k, l] += A[i, j, n] * B[{}n, k, l]
    """


def test_matrices_of_columns_are_packed_for_all_matrices_of_rows() -> None:
    (tile,) = blocked_plan(ONE_SUM.format("C.shape[2]", ""))[1].register_tiles
    assert tile.coordinates == ("k_tile", "l_tile", "n_tile", "i", "j_tile")
    assert (tile.around, tile.inner, tile.shared_columns) == (2, 2, True)
    assert tile.turns > 1


@pytest.mark.parametrize(
    "text",
    [ONE_SUM.format("C.shape[2]", "i, "), ONE_SUM.format("i + 1", "")],
    ids=["other columns for each", "bounds that depend on one another"],
)
def test_matrices_that_do_not_meet_all_others_are_multiplied_one_by_one(text: str) -> None:
    for tile in blocked_plan(text)[1].register_tiles:
        assert (tile.around, tile.inner) == (None, 1)


def test_numba_multiplies_matrices_one_by_one() -> None:
    (tile,) = blocked_plan(ONE_SUM.format("C.shape[2]", ""), target="numba")[1].register_tiles
    assert tile.around is None


def test_a_window_keeps_its_loops_together() -> None:
    text = """
        def f(C, W, X):
            for f in range(C.shape[0]):
                for i in range(C.shape[1]):
                    for j in range(C.shape[2]):
                        for a in range(W.shape[1]):
                            for b in range(W.shape[2]):
                                C[f, i, j] += W[f, a, b] * X[i + a, j + b]
        """
    assert not blocked_plan(text)[1].register_tiles


def test_scattered_columns_need_packing() -> None:
    plan = blocked_plan(SUMS["syr2k"], pack=False)[1]
    assert not plan.register_tiles
    assert said(plan) == ["no tiles in registers: A is not contiguous along the columns, and not packed"]


@pytest.mark.parametrize("name", SUMS)
def test_the_order_stays_legal(name: str) -> None:
    scop, plan = blocked_plan(SUMS[name])
    assert pv.check(scop, plan.tree)


@pytest.mark.parametrize("name", SUMS)
def test_blocks_hold_instances_of_their_statement_only_once(name: str) -> None:
    scop, plan = blocked_plan(SUMS[name])
    for tile in plan.register_tiles:
        domain = scop.statement(tile.statement).domain.intersect_params(scop.context)
        assert tile.instances.is_injective()
        assert tile.instances.range().is_subset(domain)
    marks = [node.mark_get_id().get_name() for node in walk(plan.tree) if kind_of(node) == "mark"]
    whole = [
        tile.mark
        for tile in plan.register_tiles
        if not any(tile.mark in part.blocks for part in plan.block_tiles)
    ]
    assert [mark for mark in marks if mark.startswith(BLOCK)] == whole


def test_a_pivot_is_in_no_tile_of_updates() -> None:
    scop, plan = blocked_plan(SUMS["lu"])
    (tiles,) = plan.block_tiles
    assert len(tiles.blocks) == 2
    updated = [tile.statement for tile in plan.register_tiles]
    (pivot,) = {statement.name for statement in scop.statements} - set(updated)
    division = scop.statement(pivot).domain
    for node in walk(plan.tree):
        if kind_of(node) == "mark" and node.mark_get_id().get_name() == tiles.mark:
            prefix = node.get_prefix_schedule_union_map().intersect_domain(isl.UnionSet.from_set(division))
            times = isl.UnionSet.from_set(tiles.tiles.intersect_params(scop.context))
            assert prefix.intersect_range(times).is_empty()
            return
    pytest.fail("the mark is not in the tree")


def test_an_operand_that_stands_twice_in_the_source_is_one() -> None:
    text = """
    def f(X, D, n):
        for i in range(n):
            for j in range(n):
                r = 0.0
                for d in range(n):
                    r += (X[i, d] - X[j, d]) * (X[i, d] - X[j, d])
                D[i, j] = r
    """
    [tile] = pv.compile(function_of(text), target="c").plan.register_tiles
    assert (len(tile.operands.rows), len(tile.operands.columns)) == (1, 1)


def test_threads_that_divide_columns_share_the_packed_rows() -> None:
    [tile] = blocked_plan(SUMS["trmm"])[1].register_tiles
    assert tile.team
    assert tile.shared_rows
    assert not tile.shared_columns


@pytest.mark.parametrize("processor", [WIDE, NARROW])
def test_threads_that_divide_columns_get_whole_panels(processor: Processor) -> None:
    [tile] = blocked_plan(SUMS["trmm"], processor)[1].register_tiles
    assert [tile.sizes[1] % tile_size(tile, dtype).columns for dtype in ("float64", "float32")] == [0, 0]


def test_threads_have_rows_of_their_own_where_these_are_not_packed() -> None:
    [tile] = blocked_plan(SUMS["trmm"], target="numba")[1].register_tiles
    assert not tile.team
    assert not tile.shared_rows


def test_numba_is_not_said_to_keep_tiles_or_to_spare_threads() -> None:
    (text,) = (one for one in said(blocked_plan(SUMS["gemm"], target="numba")[1]) if "blocks of" in one)
    assert "rows of C take several steps of the sum each time they go through registers" in text
    assert "stay in registers" not in text
    assert "alone" not in text, "numba's parallel loops ask for no least work"

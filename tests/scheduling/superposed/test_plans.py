"""Superposed plans: the known answers, all kernels of PolyBench, and what is said where nothing is parallel."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings

from polyviz.analysis import check, dependences
from polyviz.errors import OptionError
from polyviz.frontend import extract
from polyviz.gallery import kernel, polybench
from polyviz.scheduling import schedule
from tests.analysis.programs import Program, programs
from tests.builders import loop, scop, statement

if TYPE_CHECKING:
    from collections.abc import Callable

    from polyviz.model.schedule import Schedule
    from polyviz.model.superposition import SpaceGroup

# Thread groups, block groups, needed barriers per kernel.
PLANS = {
    "jacobi-2d-alt": (
        ["{S0}: x j, y i, under t", "{S1}: x j, y i, under t"],
        ["{S0, S1}: x i"],
        [2],
    ),
    "jacobi-2d": (
        ["{S0}: x j, y i, under t", "{S1}: x j, y i, under t"],
        ["{S0}: x j, y i, under t", "{S1}: x j, y i, under t"],
        [0, 0],
    ),
    "doitgen-expanded": (["{S0, S1}: x p, y q, z r", "{S2}: x p, y q, z r"], ["{S0, S1, S2}: x q, y r"], [1]),
    "gemm": (["{S0, S1}: x j, y i"], ["{S0, S1}: x j, y i"], [0]),
    "syr2k": (["{S0, S1}: x j, y i"], ["{S0, S1}: x j, y i"], [0]),
    "gemver": (
        ["{S0}: x j, y i", "{S1}: x i, red y j", "{S2}: x i", "{S3}: red x j, y i"],
        ["{S0}: x j, y i", "{S1, S2}: x i", "{S3}: x i"],
        [0, 1, 0],
    ),
    "mvt": (["{S0}: red x j, y i", "{S1}: x i, red y j"], ["{S0, S1}: x i"], [0]),
    "atax": (
        ["{S0}: x i", "{S1}: x i", "{S2}: red x j, y i", "{S3}: x j, red y i"],
        ["{S0}: x i", "{S1, S2}: x i", "{S3}: x j"],
        [0, 1, 0],
    ),
    "bicg": (
        ["{S0}: x i", "{S1}: x i", "{S2}: x j, red y i", "{S3}: red x j, y i"],
        ["{S0}: x i", "{S1}: x i", "{S2, S3}: x j | i"],
        [0, 0, 0],
    ),
    "gesummv": (
        ["{S0}: x i", "{S1}: x i", "{S2, S3}: red x j, y i", "{S4}: x i"],
        ["{S0}: x i", "{S1}: x i", "{S2, S3, S4}: x i"],
        [0, 0, 1],
    ),
}


@cache
def planned(name: str) -> Schedule:
    part = extract(kernel(name).function)
    return schedule(part, "superposition", dependences=dependences(part))


def texts(groups: tuple[SpaceGroup, ...]) -> list[str]:
    return [str(group) for group in groups]


@pytest.mark.parametrize("name", PLANS)
def test_known_plans(name: str) -> None:
    threads, blocks, barriers = PLANS[name]
    value = planned(name).superposition
    assert texts(value.thread_groups) == threads
    assert texts(tuple(found.blocks for found in value.kernels)) == blocks
    assert [len(found.needed_barriers) for found in value.kernels] == barriers


@pytest.mark.parametrize("name", ["jacobi-2d-alt", "doitgen-expanded", "atax", "jacobi-2d", "symm"])
def test_the_log_and_the_notation(name: str, golden: Callable[[str], None]) -> None:
    result = planned(name)
    decisions = [
        f"{decision.step}: {decision.text}" for decision in result.decisions if decision.step != "loop"
    ]
    golden("\n".join([result.superposition.notation(), "", *decisions]))


def test_the_notation_of_the_article() -> None:
    assert planned("jacobi-2d-alt").superposition.notation().splitlines() == [
        "S0: (0, floor(i/32)_x, 0, t, 0, i_y, j_x, 0)",
        "S1: (0, floor(i/32)_x, 0, t, 1, i_y, j_x, 0)",
    ]


def test_tiles_are_as_long_as_there_are_threads() -> None:
    (found,) = planned("doitgen-expanded").superposition.kernels
    assert dict(found.threads) == {"x": 32, "y": 4, "z": 4}
    assert dict(found.tiles) == {"x": 4, "y": 4}


@pytest.mark.thinned(3)
@pytest.mark.parametrize("name", [entry.name for entry in polybench()])
def test_every_kernel_of_polybench(name: str) -> None:
    """Legal as an order and as parallel code; a kernel without blocks says why."""
    part = extract(kernel(name).function)
    known = dependences(part)
    result = schedule(part, "superposition", dependences=known)
    value = result.superposition
    assert check(part, result.map, known=known)
    assert value.legality, value.legality
    assert check(part, value.map, known=known) or any(
        dimension.reduction and not dimension.ordered
        for dimensions in value.regular.values()
        for dimension in dimensions
    )
    reasons = {decision.statements for decision in result.decisions if decision.step == "fallback"}
    for found in value.kernels:
        if not found.blocks.loops and any(part.statement(one).iterators for one in found.statements):
            assert any(set(reason) <= set(found.statements) for reason in reasons), found.statements
    assert [name for found in value.kernels for name in found.statements] != []


def test_a_scalar_that_ties_all_iterations_is_expanded() -> None:
    result = planned("symm")
    (expansion,) = [decision for decision in result.decisions if decision.step == "expansion"]
    assert expansion.text.startswith("temp2 is expanded: each iteration of its 2 outermost loops gets a copy")
    assert all(found.blocks.loops for found in result.superposition.kernels)


def test_statements_of_one_of_several_fused_loops_keep_their_order() -> None:
    """Two places of the source in a row tell them apart, with no loop between: the inner one was lost."""

    def overwritten(A, B, C, n):  # type: ignore[no-untyped-def]
        for i in range(n):
            B[i] = C[i]
        for i in range(n):
            B[i] = A[i] + B[i]
            A[i] = 2.0

    decisions = schedule(extract(overwritten), "superposition").decisions
    texts = [decision.text for decision in decisions if decision.step == "superposition"]
    assert texts == [
        "S0: (0, floor(i/256)_x, 0, i_x, 0)",
        "S1: (0, floor(i/256)_x, 0, i_x, 1, 0)",
        "S2: (0, floor(i/256)_x, 0, i_x, 1, 1)",
    ]


def test_a_chain_runs_in_one_thread() -> None:
    part = scop("n", loop("i", "S"), S=statement("1 <= i < n", reads="A[i - 1]", writes="A[i]"))
    result = schedule(part, "superposition")
    (found,) = result.superposition.kernels
    assert (found.blocks.loops, found.phases[0].loops, dict(found.threads)) == ((), (), {})
    (reason,) = [decision.text for decision in result.decisions if decision.step == "fallback"]
    assert reason == (
        "Block level: {S} runs in a single block, as none of its loops is forall, not even inside its "
        "sequential loops (skewed rows are not tried)."
    )


def test_no_barriers_where_nothing_coalesces() -> None:
    """The contiguous loop is a chain: the threads take the rows, and each runs its row alone."""
    part = scop(
        "n",
        loop("i", loop("j", "S")),
        S=statement("0 <= i < n and 1 <= j < n", reads="A[i, j - 1]", writes="A[i, j]"),
    )
    value = schedule(part, "superposition").superposition
    assert value.notation() == "S: (0, floor(i/256)_x, 0, i_x, j, 0)"
    assert not value.kernels[0].barriers


def test_an_accumulation_into_moving_cells_is_no_work_for_a_tree() -> None:
    """Threads along i would add to each other's cells: blocks run along j, and i is left to the host."""

    def product_of_polynomials(a, b, c):
        for i in range(a.shape[0]):
            for j in range(b.shape[0]):
                c[i + j] += a[i] * b[j]

    part = extract(product_of_polynomials)
    result = schedule(part, "superposition")
    assert texts(result.superposition.thread_groups) == ["{S0}: x j, under i"]
    assert texts(tuple(found.blocks for found in result.superposition.kernels)) == ["{S0}: x j, under i"]
    assert result.superposition.legality
    said = [decision.text for decision in result.decisions if decision.step == "combination"]
    assert any("its cells move along the row: threads cannot share it" in text for text in said)


def test_sizes_of_the_user() -> None:
    part = extract(kernel("gemm").function)
    value = schedule(part, "superposition", tile_sizes=(64, 8), threads=(16,)).superposition
    assert value.notation_of("S0") == "S0: (0, floor(i/8)_y, floor(j/64)_x, 0, i_y, j_x, 0)"
    assert dict(value.kernels[0].threads) == {"x": 16, "y": 32}


@pytest.mark.parametrize(
    ("option", "values"),
    [("tile_sizes", (0,)), ("tile_sizes", (1, 2, 3)), ("threads", (1.5,)), ("threads", (1, 2, 3, 4))],
)
def test_sizes_that_make_no_sense(option: str, values: tuple[float, ...]) -> None:
    part = extract(kernel("gemm").function)
    with pytest.raises(OptionError, match=f"Option `{option}` of scheduler `superposition`"):
        schedule(part, "superposition", **{option: values})


def test_loops_may_be_called_like_words_of_isl() -> None:
    part = extract(
        "def f(A, mod):\n    for floor in range(mod):\n        for max in range(mod):\n            A[floor, max] += 1"
    )
    result = schedule(part, "superposition")
    assert (
        result.superposition.notation() == "S0: (0, floor(floor/32)_y, floor(max/32)_x, 0, floor_y, max_x, 0)"
    )
    assert check(part, result)


def test_tiles_of_another_kind_are_told() -> None:
    result = schedule(extract(kernel("gemm").function), "superposition", tile=8)
    assert result.superposition is None
    assert any("no longer those of blocks and threads" in decision.text for decision in result.decisions)


def test_more_threads_than_a_block_holds_are_told() -> None:
    part = extract(kernel("gemm").function)
    result = schedule(part, "superposition", threads=(64, 32))
    (text,) = [decision.text for decision in result.decisions if decision.step == "kernel"]
    assert "2048 threads are more than the 1024 that a block can hold" in text


@settings(max_examples=40)
@given(programs())
@pytest.mark.slow
def test_random_programs(program: Program) -> None:
    part = program.scop()
    known = dependences(part)
    result = schedule(part, "superposition", dependences=known, tile_sizes=(2, 2))
    assert check(part, result.map, known=known)
    assert result.superposition.legality, f"{program} {result.superposition.legality}"

"""Blocks, threads, barriers and launches of schedules on a device."""

from __future__ import annotations

import numpy as np
import pytest

import polyviz as pv
from polyviz.gallery import kernels
from polyviz.mapping.thread_pictures import level_trees


def made_of(name, schedule, **options):
    function = next(entry.function for entry in kernels() if entry.name == name)
    return pv.compile(function, schedule=schedule, target="emulated", **options)


def planned(name, schedule, **options):
    return made_of(name, schedule, **options).plan.device.kernels


def axes(kernel):
    blocks = {axis.axis: (set(axis.texts.values()), axis.size) for axis in kernel.blocks}
    threads = {axis.axis: (set(axis.texts.values()), axis.size) for axis in kernel.threads}
    return blocks, threads


def test_a_superposition_keeps_its_own_blocks_threads_and_barriers():
    (kernel,) = planned("jacobi-2d-alt", "superposition")
    assert axes(kernel) == ({"x": ({"i"}, 32)}, {"x": ({"j"}, 32), "y": ({"i"}, 32)})
    assert len(kernel.barriers) == 2
    assert [(point.name, point.block, point.thread) for point in kernel.points] == [("i", "x", "y")]


def test_a_time_loop_without_parallel_blocks_goes_to_the_host():
    first, second = planned("jacobi-2d", "superposition")
    assert first.host_names == second.host_names == ("t",)
    assert not first.barriers
    assert not second.barriers


def test_one_order_gives_its_outermost_parallel_loops_to_blocks_and_threads():
    (kernel,) = planned("doitgen-expanded", "isl")
    assert axes(kernel) == ({"x": ({"q"}, 16), "y": ({"r"}, 16)}, {"x": ({"q"}, 16), "y": ({"r"}, 16)})


@pytest.mark.parametrize("name", ["gemver", "covariance", "3mm"])
def test_the_order_of_isl_leaves_the_host_no_loop_where_it_need_not(name):
    """Fused as closely as on a processor, they would be launched once per wavefront or row."""
    assert all(kernel.host == () and kernel.blocks for kernel in planned(name, "isl"))


@pytest.mark.slow
def test_the_grid_of_a_wavefront_is_written_by_its_hull():
    """The exact ends have many pieces; the hull has one number for each of its sides."""
    made = made_of("jacobi-2d", "pluto")
    (kernel,), (card,) = made.plan.device.kernels, made.cards
    bounds = [*kernel.grid[0].first, *kernel.grid[0].last]
    assert len(bounds) > 2
    assert all(bound.n_piece() == 1 for bound in bounds)
    assert card.grid_text == "by tsteps, n, step0"
    assert [line[: len("blocks along x: min(")] for line in card.long_grid][:2] == [
        "blocks along x: min(",
        "blocks along y: min(",
    ]
    grid = card.text().partition("  access: ")[0]
    assert max(map(len, grid.splitlines())) < 120


def test_tiles_of_the_user_are_those_of_the_blocks():
    (kernel,) = planned("doitgen-expanded", "isl", tile=(8, 32))
    assert {axis.axis: axis.size for axis in kernel.blocks} == {"y": 8, "x": 32}
    assert kernel.points == ()


def test_a_band_without_parallel_loop_runs_along_wavefronts_of_the_host():
    def sweep(A):
        for i in range(1, A.shape[0]):
            for j in range(1, A.shape[1]):
                A[i, j] = A[i - 1, j] + A[i, j - 1]

    (kernel,) = pv.compile(sweep, schedule="isl", target="emulated").plan.device.kernels
    assert len(kernel.host) == 1
    assert len(kernel.threads) == 1


def test_a_block_that_no_device_holds_is_refused():
    with pytest.raises(pv.PolyvizError, match=r"64 x 64 threads is too large: 4096 threads"):
        planned("jacobi-2d-alt", "superposition", threads=(64, 64), tile_sizes=(64,))


def test_threads_are_chosen_apart_from_tiles():
    (kernel,) = planned("doitgen-expanded", "isl", tile=(8, 32), device={"threads": (32, 4)})
    assert {axis.axis: axis.size for axis in kernel.blocks} == {"y": 8, "x": 32}
    assert {axis.axis: axis.size for axis in kernel.threads} == {"y": 4, "x": 32}
    (kernel,) = planned("doitgen-expanded", "isl", device={"threads": (64,)})
    assert {axis.axis: axis.size for axis in kernel.threads} == {"y": 16, "x": 64}
    with pytest.raises(pv.OptionError, match="A block of 64 x 32 threads is too large"):
        planned("doitgen-expanded", "isl", device={"threads": (64, 32)})
    with pytest.raises(pv.OptionError, match="The threads of a superposition are its own"):
        planned("gemm", "superposition", device={"threads": (8, 8)})


def test_tiles_that_nobody_would_look_at_are_refused():
    with pytest.raises(pv.OptionError, match="The tiles of a superposition are its own") as error:
        planned("gemm", "superposition", tile=(16, 8))
    assert "tile_sizes=(16, 8)" in error.value.hint
    assert planned("gemm", "superposition", tile=False)


def test_the_report_counts_the_barriers_of_copies_and_of_shared_sums():
    (copies,) = decisions("gemm", "superposition", "kernel")[-1:]
    assert copies.endswith("; barriers in 1 place")
    shared = decisions("gemver", "superposition", "kernel")
    assert any("along the terms of a sum" in text and "barriers in 1 place" in text for text in shared)


def decisions(name, schedule, step):
    function = next(entry.function for entry in kernels() if entry.name == name)
    plan = pv.compile(function, schedule=schedule, target="emulated").plan
    return [decision.text for decision in plan.decisions if decision.step == step]


def test_what_a_block_reads_many_times_goes_to_shared_memory():
    (kernel,) = planned("gemm", "superposition")
    (run,) = kernel.runs
    assert {box.array: box.extents for box in run.boxes} == {"A": (128, 8), "B": (8, 64)}
    assert [(box.before, box.after) for box in run.boxes] == [(1024, 128), (256, 32)]


def test_threads_share_an_accumulation_along_their_axis():
    kernel = planned("gemver", "superposition")[1]
    (tree,) = kernel.trees
    assert (tree.statement, tree.array, tree.operator, tree.axis) == ("S1", "x", "+", "y")


def test_the_order_of_blocks_shows_the_tiles_that_blocks_have_as_mapped():
    function = next(entry.function for entry in kernels() if entry.name == "gemm")
    plan = pv.compile(function, schedule="superposition", target="emulated").plan
    sizes = {axis.axis: axis.size for axis in plan.device.kernels[0].blocks}
    text = str(level_trees(plan).blocks)
    assert f"floor((i)/{sizes['y']})" in text
    assert f"floor((j)/{sizes['x']})" in text


@pytest.mark.slow
def test_the_hull_of_a_grid_knows_no_block():
    """A bound that held the block itself, in a division, lost it: blocks then ran instances that there are not."""

    def moved(A, C, n, m):
        for i in range(m - 2, 0, -4):
            for j in range(i - 1, min(n, i + 2)):
                for k in range(j, min(j + 4, n)):
                    A[k + 3, j] = A[min(k + 1, j + 2) + 3, (j + k) % 3] + C[k + n, j]

    values = np.arange(12.0 * 13).reshape(12, 13), np.ones((14, 7))
    expected, actual = values[0].copy(), values[0].copy()
    moved(expected, values[1], 7, 3)
    pv.compile(moved, schedule="pluto", target="emulated", tile=(5, 3))(actual, values[1], 7, 3)
    np.testing.assert_array_equal(actual, expected)

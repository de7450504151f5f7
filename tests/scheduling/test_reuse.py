"""Groups of references while a schedule is built: rank, multiplicity, register pressure, the order row by row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from polyviz.analysis import dependences
from polyviz.analysis.reuse import find_reuse
from polyviz.scheduling import SchedulingProblem, schedule
from polyviz.scheduling.graph import DependenceGraph
from polyviz.scheduling.reuse import ReuseGroup, groups_of, pressure
from polyviz.scheduling.rows import AffineRow
from tests.scheduling import kernels

if TYPE_CHECKING:
    from polyviz.model.scop import Scop


def groups(part: Scop, *statements: str) -> dict[str, ReuseGroup]:
    found = groups_of(find_reuse(part, dependences(part)))
    inside = DependenceGraph.of(SchedulingProblem(part, dependences(part)), found)
    return {group.label: group for group in inside.only(statements or inside.names).reuse}


def unit(size: int, place: int) -> AffineRow:
    return AffineRow(tuple(int(position == place) for position in range(size)), (0,), 0)


def test_rank_counts_the_subscripts_left_open() -> None:
    """matmul: after row i, and after rows i and k."""
    found = groups(kernels.matmul(), "R")
    i, k = unit(3, 0), unit(3, 2)
    ranks = {
        label: [group.rank({"R": rows}) for rows in ((), (i,), (i, k))] for label, group in found.items()
    }
    assert ranks == {"C[i, j]": [2, 1, 1], "A[i, k]": [2, 1, 0], "B[k, j]": [2, 2, 1]}


def test_rows_that_say_the_same_twice_fix_nothing_more() -> None:
    found = groups(kernels.matmul(), "R")
    assert found["A[i, k]"].rank({"R": (unit(3, 0), unit(3, 0))}) == 1


def test_multiplicity_counts_the_references_of_a_pattern() -> None:
    assert {label: group.multiplicity for label, group in groups(kernels.seidel_2d()).items()} == {
        "A[-1 + i, j]": 3,
        "A[i, j]": 4,
        "A[1 + i, j]": 3,
    }


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [
        ("jacobi_2d", 30),
        ("heat_3d", 56),
        ("seidel_2d", 27),
        ("jacobi_1d", 12),
        ("lu", 11),
        ("matmul", 9),
        ("fdtd_2d", 25),
    ],
)
def test_pressure_counts_distinct_cells_with_the_depth_of_their_loops(kernel: str, expected: int) -> None:
    """The values behind the limit of Reddy's heuristic; the same subscripts in two statements count once."""
    assert pressure(groups(kernels.KERNELS[kernel]()).values()) == expected


def test_what_a_row_separates_is_lost() -> None:
    group = groups(kernels.matmul(), "R")["B[k, j]"]
    assert (len(group.temporal), len(group.spatial)) == (1, 1)
    after_i = group.kept({"R": (unit(3, 0),)})
    assert (len(after_i.temporal), len(after_i.spatial)) == (0, 1)


def test_reuse_at_changing_distances_within_a_statement_is_dropped() -> None:
    """Every second element was written at half the distance: no row brings the two together."""
    part = kernels.scop(
        "n",
        kernels.loop("i", "S"),
        S=kernels.statement("0 <= i < n", reads="A[2i]", writes="A[i]"),
    )
    assert all(group.temporal == () for group in groups(part).values())


def test_equal_labels_of_different_patterns_are_told_apart() -> None:
    part = kernels.scop(
        "n",
        kernels.loop("i", "S"),
        kernels.loop("t", kernels.loop("i", "R")),
        S=kernels.statement("0 <= i < n", writes="A[i]"),
        R=kernels.statement("0 <= t, i < n", reads="A[i]", writes="B[t]"),
    )
    assert {"A[i] of S", "A[i] of R"} <= groups(part).keys()


def test_the_order_of_the_groups_row_by_row() -> None:
    """The trace of 2mm in Reddy, section 5: C and B wait for the innermost loop, A gives way first."""
    product = kernels.scop(
        "n",
        kernels.loop("i", kernels.loop("j", kernels.loop("k", "R"))),
        R=kernels.statement("0 <= i, j, k < n", reads="C[i, j] A[i, k] B[k, j]", writes="C[i, j]"),
    )
    rows = [one.details for one in schedule(product, "spatial").decisions if one.step == "row"]
    order = [[(group["group"], group["rank"], group["references"]) for group in row["order"]] for row in rows]
    assert order == [
        [("C[i, j]", 2, 2), ("A[i, k]", 2, 1), ("B[k, j]", 2, 1)],
        [("B[k, j]", 2, 1), ("C[i, j]", 1, 2), ("A[i, k]", 1, 1)],
        [("C[i, j]", 1, 2), ("B[k, j]", 1, 1), ("A[i, k]", 0, 1)],
    ]
    assert [row["lost"] for row in rows[:2]] == [
        ("temporal B[k, j]",),
        ("temporal C[i, j]", "spatial A[i, k]"),
    ]

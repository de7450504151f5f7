"""Moves: what a tree becomes, where a move is available, and which uses are illegal and why."""

from __future__ import annotations

import islpy as isl
import pytest

from polyviz.analysis import check
from polyviz.analysis.parallelism import parallelism
from polyviz.errors import OptionError
from polyviz.transform.interchange import Interchange, permute_members
from polyviz.transform.parallel import Parallel, mark_parallel, mark_vector
from polyviz.transform.skew import Skew, skew
from polyviz.transform.tile import Tile, tile_band
from polyviz.transform.tree import band_at, bands, coincident_members, members, node_at, row_texts
from polyviz.transform.wavefront import Wavefront, wavefront
from tests.scheduling import kernels
from tests.transform.trees import scheduled


def rows_at(tree: isl.Schedule, path: tuple[int, ...]) -> list[dict[str, str]]:
    return [row_texts(row) for row in members(band_at(tree, path))]


def test_tiles_stand_around_points_under_marks() -> None:
    part = kernels.seidel_2d()
    known, tree = scheduled(part)
    tiled, decision = tile_band(tree, (0,), (4, 8, 16))
    assert node_at(tiled, (0,)).mark_get_id().get_name() == "tile"
    assert rows_at(tiled, (0, 0)) == [
        {"S": "floor((t)/4)"},
        {"S": "floor((t + i)/8)"},
        {"S": "floor((2t + i + j)/16)"},
    ]
    assert node_at(tiled, (0, 0, 0)).mark_get_id().get_name() == "point"
    assert rows_at(tiled, (0, 0, 0, 0)) == [{"S": "t"}, {"S": "t + i"}, {"S": "2t + i + j"}]
    assert check(part, tiled, known=known)
    assert decision.text == "The loops t, t + i, 2t + i + j are tiled by 4 × 8 × 16."


def test_tiling_what_is_not_permutable_is_refused_with_a_pair() -> None:
    part = kernels.jacobi_1d()
    known, original = scheduled(part, "original")
    (outer, inner) = (path for path, band in bands(original) if "S" in row_texts(members(band)[0]))
    assert Tile(inner, (4,)).check(part, known, original)
    flat = isl.Schedule.from_domain(part.domain).insert_partial_schedule(
        isl.MultiUnionPwAff(
            "[T, n] -> [{ S[t, i] -> [t]; R[t, i] -> [t] }, { S[t, i] -> [i]; R[t, i] -> [n + i] }]"
        )
    )
    assert check(part, flat, known=known)
    legality = Tile((0,), (4, 4)).check(part, known, flat)
    assert not legality
    assert legality.violations[0].parameters
    assert "it must run first" in legality.violations[0].explanation
    assert outer == (0,)


def test_tiling_keeps_the_flags() -> None:
    _, tree = scheduled(kernels.matmul())
    path = next(path for path, band in bands(tree) if band.band_n_member() == 3)
    tiled, _ = tile_band(tree, path, (2, 2, 2))
    assert coincident_members(band_at(tiled, (*path, 0))) == (True, True, False)
    assert band_at(tiled, (*path, 0)).band_get_permutable()


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ((4,), "The loops t, t + i, 2t + i + j are in one band, but the number of tile sizes is 1."),
        ((4, 0, 4), "A tile size is a whole number from 1 to 2147483647, not 0."),
        ((4, 4, 2.5), "A tile size is a whole number from 1 to 2147483647, not 2.5."),
    ],
)
def test_wrong_tile_sizes(sizes: tuple[int, ...], message: str) -> None:
    _, tree = scheduled(kernels.seidel_2d())
    with pytest.raises(OptionError) as error:
        tile_band(tree, (0,), sizes)
    assert str(error.value) == message


def test_a_wavefront_of_tiles_is_parallel() -> None:
    part = kernels.seidel_2d()
    known, tree = scheduled(part)
    tiled, _ = tile_band(tree, (0,), (4, 4, 4))
    assert Wavefront.available(tiled) == ((0, 0), (0, 0, 0, 0))
    front, decision = wavefront(tiled, (0, 0))
    assert rows_at(front, (0, 0)) == [{"S": "floor((t)/4) + floor((t + i)/4)"}]
    assert coincident_members(band_at(front, (0, 0, 0))) == (True, False)
    assert check(part, front, known=known)
    assert parallelism(part, known, front)[1].parallel
    assert "the next loop is parallel" in decision.text


def test_a_wavefront_of_degree_two_frees_two_loops() -> None:
    part = kernels.jacobi_2d()
    known, tree = scheduled(part)
    front, _ = wavefront(tree, (0,), degree=2)
    loops = parallelism(part, known, front)
    assert [loop.parallel for loop in loops] == [False, True, True]
    assert check(part, front, known=known)


def test_a_wavefront_asks_for_a_permutable_band() -> None:
    _, tree = scheduled(kernels.jacobi_1d())
    with pytest.raises(OptionError, match="has no wavefront of degree 2"):
        wavefront(tree, (0,), degree=2)
    fixed = band_at(tree, (0,)).band_set_permutable(0).get_schedule()
    with pytest.raises(OptionError, match="not permutable"):
        wavefront(fixed, (0,))


def test_interchange_moves_rows_with_their_flags() -> None:
    part = kernels.mvt()
    known, tree = scheduled(part)
    path = next(path for path, band in bands(tree) if row_texts(members(band)[0]) == {"S": "i"})
    changed, _ = permute_members(tree, path, (1, 0))
    assert rows_at(changed, path) == [{"S": "j"}, {"S": "i"}]
    assert coincident_members(band_at(changed, path)) == (False, True)
    assert Interchange(path, (1, 0)).check(part, known, tree)


def test_an_illegal_interchange_names_the_smallest_pair() -> None:
    part = kernels.scop(
        "n",
        kernels.loop("i", kernels.loop("j", "S")),
        S=kernels.statement("1 <= i < n and 0 <= j < n - 1", reads="A[i-1, j+1]", writes="A[i, j]"),
    )
    known = scheduled(part)[0]
    flat = isl.Schedule.from_domain(part.domain).insert_partial_schedule(
        isl.MultiUnionPwAff("[n] -> [{ S[i, j] -> [i] }, { S[i, j] -> [j] }]")
    )
    violation = Interchange((0,), (1, 0)).check(part, known, flat).violations[0]
    assert (violation.source_instance, violation.sink_instance) == ((1, 1), (2, 0))
    assert violation.parameters == {"n": 3}


@pytest.mark.parametrize("order", [(0,), (0, 0), (1, 2)])
def test_an_order_names_every_loop_once(order: tuple[int, ...]) -> None:
    _, tree = scheduled(kernels.jacobi_1d())
    with pytest.raises(OptionError, match="is no order of the 2 loops"):
        permute_members(tree, (0,), order)


def test_skewing_an_inner_loop_is_always_legal_and_an_outer_one_not() -> None:
    part = kernels.seidel_2d()
    known, tree = scheduled(part, "original")
    flat = isl.Schedule.from_domain(part.domain).insert_partial_schedule(
        isl.MultiUnionPwAff("[T, n] -> [{ S[t, i, j] -> [t] }, { S[t, i, j] -> [i] }, { S[t, i, j] -> [j] }]")
    )
    changed, _ = skew(flat, (0,), member=1, by=0)
    assert rows_at(changed, (0,)) == [{"S": "t"}, {"S": "t + i"}, {"S": "j"}]
    assert Skew((0,), 1, 0).check(part, known, flat)
    assert not Skew((0,), 0, 1, -1).check(part, known, flat)
    with pytest.raises(OptionError, match="cannot be skewed"):
        skew(flat, (0,), member=1, by=1)
    assert Skew.available(tree) == ()


def test_marks_stand_above_a_loop_of_its_own() -> None:
    part = kernels.matmul()
    known, tree = scheduled(part)
    path = next(path for path, band in bands(tree) if band.band_n_member() == 3)
    marked, _ = mark_parallel(tree, path, 1)
    assert rows_at(marked, path) == [{"R": "i"}]
    assert node_at(marked, (*path, 0)).mark_get_id().get_name() == "parallel"
    assert rows_at(marked, (*path, 0, 0)) == [{"R": "j"}]
    assert rows_at(marked, (*path, 0, 0, 0)) == [{"R": "k"}]
    assert check(part, marked, known=known)
    assert node_at(mark_vector(tree, path)[0], path).mark_get_id().get_name() == "vector"


def test_only_parallel_loops_may_be_marked() -> None:
    part = kernels.matmul()
    known, tree = scheduled(part)
    path = next(path for path, band in bands(tree) if band.band_n_member() == 3)
    assert Parallel(path, 0).check(part, known, tree)
    legality = Parallel(path, 2).check(part, known, tree)
    assert not legality
    (violation,) = legality.violations
    assert (violation.source_instance, violation.sink_instance) == ((0, 0, 0), (0, 0, 1))
    with pytest.raises(OptionError, match="there is no member 3"):
        Parallel(path, 3).check(part, known, tree)


def test_a_loop_inside_another_may_be_parallel_though_the_band_is_not_coincident() -> None:
    part = kernels.jacobi_1d()
    known, tree = scheduled(part, "original")
    inner = [path for path, band in bands(tree) if path != (0,)]
    assert Parallel.available(tree) == tuple(inner)
    assert all(Parallel(path).check(part, known, tree) for path in inner)
    assert not Parallel((0,)).check(part, known, tree)

"""Relations as pieces: the same pairs, in a form that solvers digest."""

from functools import reduce

import islpy as isl

from polyviz.scheduling.pieces import SIMPLE, simple_pieces

# All cells at most one step away in three dimensions, which takes the faces of an octahedron to say.
STAR = isl.BasicMap(
    "[n] -> { S[t, i, j, k] -> T[t, u, v, w] : 0 < i, j, k, u, v, w < n and 0 <= t < n"
    " and -1 <= u - i + v - j + w - k <= 1 and -1 <= u - i + v - j - w + k <= 1"
    " and -1 <= u - i - v + j + w - k <= 1 and -1 <= i - u + v - j + w - k <= 1 }"
)


def test_a_complicated_piece_is_split_by_distance_without_loss() -> None:
    assert STAR.n_constraint() > SIMPLE
    pieces = simple_pieces(STAR)
    assert len(pieces) == 7
    assert max(piece.n_constraint() for piece in pieces) <= SIMPLE
    together = reduce(isl.Map.union, map(isl.Map.from_basic_map, pieces))
    assert together.is_equal(isl.Map.from_basic_map(STAR))


def test_pieces_with_divisions_stay_whole() -> None:
    even = isl.Map("{ S[t, i, j, k] -> T[t, u, v, w] : (i + j + k) mod 2 = 0 and (u + v + w) mod 2 = 1 }")
    odd = isl.Map.from_basic_map(STAR).intersect(even).get_basic_map_list().get_at(0)
    assert odd.n_constraint() > SIMPLE
    assert simple_pieces(odd) == [odd]

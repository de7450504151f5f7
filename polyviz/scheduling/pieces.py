"""Relations as convex pieces that are cheap to reason about."""

from __future__ import annotations

import islpy as isl

from polyviz.model.isl_limits import coalesced

# Up to this many constraints the cone of a piece takes isl a few milliseconds; from twice as many on, a second.
SIMPLE = 16
# Pieces of one distance each are worth it only while they are few.
MOST_DISTANCES = 64


def convex_pieces(relation: isl.Map) -> list[isl.BasicMap]:
    """Convex relations that cover ``relation``; divisions are dropped, which only makes them larger.

    A complicated piece with a finite number of distances is given as one piece per distance.

    >>> pieces = convex_pieces(isl.Map("[n] -> { S[i] -> T[j] : 0 <= i < n and i <= j <= i + 1 }"))
    >>> [str(piece) for piece in pieces]
    ['[n] -> { S[i] -> T[j] : 0 <= i < n and i <= j <= 1 + i }']
    """
    parts = coalesced(relation.remove_divs()).get_basic_map_list()
    return [piece for position in range(parts.n_basic_map()) for piece in simple_pieces(parts.get_at(position))]


def simple_pieces(piece: isl.BasicMap) -> list[isl.BasicMap]:
    """``piece`` itself, or, where it is complicated and has few distances, one piece for each of them.

    >>> len(simple_pieces(isl.BasicMap("{ S[i, j] -> T[i, k] : 0 <= i < 9 and j <= k <= j + 1 }")))
    1
    """
    # Divisions make a piece slow to split, and its parts no easier than it was.
    if piece.n_constraint() <= SIMPLE or piece.dim(isl.dim_type.div) > 0:
        return [piece]
    return by_distance(piece) or [piece]


def by_distance(piece: isl.BasicMap) -> list[isl.BasicMap] | None:
    """``piece`` as one relation per distance; None when it has too many distances, or none between unlike spaces.

    >>> pieces = by_distance(isl.BasicMap("[n] -> { S[i] -> T[j] : 0 <= i < n and i <= j <= i + 1 }"))
    >>> sorted(str(piece) for piece in pieces)
    ['[n] -> { S[i] -> T[j] : j = 1 + i and 0 <= i < n }', '[n] -> { S[i] -> T[j] : j = i and 0 <= i < n }']
    """
    points = distances(piece)
    return None if points is None else [_at_distance(piece, point) for point in points]


def distances(piece: isl.BasicMap) -> list[isl.Point] | None:
    """The distances that occur in ``piece``; None when there are too many, or none between unlike spaces.

    >>> piece = isl.BasicMap("[n] -> { S[i, j] -> S[i + 1, j - 1] : 0 <= i < n }")
    >>> [str(point) for point in distances(piece)]
    ['{ [1, -1] }']
    """
    if piece.dim(isl.dim_type.in_) != piece.dim(isl.dim_type.out):
        return None
    nameless = isl.Map.from_basic_map(piece).reset_tuple_id(isl.dim_type.in_).reset_tuple_id(isl.dim_type.out)
    found = nameless.deltas().project_out(isl.dim_type.param, 0, piece.dim(isl.dim_type.param))
    if not found.is_bounded() or _is_wide(found) or found.count_val().to_python() > MOST_DISTANCES:
        return None
    points: list[isl.Point] = []
    found.foreach_point(points.append)
    return points


def _is_wide(found: isl.Set) -> bool:
    """Whether one dimension alone has too many values: counting points goes through all of them."""
    return any(
        found.dim_max_val(position).sub(found.dim_min_val(position)).to_python() >= MOST_DISTANCES
        for position in range(found.dim(isl.dim_type.set))
        if not found.is_empty()
    )


def simpler_pieces(piece: isl.BasicMap) -> list[isl.BasicMap]:
    """Larger relations with fewer constraints, the closest first; the last one keeps nothing but the equations.

    >>> piece = isl.BasicMap("[n] -> { S[i] -> T[j, k] : j = i and i < k and 0 <= i, k < n }")
    >>> for larger in simpler_pieces(piece):
    ...     print(larger)
    [n] -> { S[i] -> T[j, k] : j = i and 0 <= i < n and k > i }
    [n] -> { S[i] -> T[j, k] : j = i and k > i }
    [n] -> { S[i] -> T[j, k] : j = i }
    """
    constraints = piece.get_constraints()
    mixed = [
        one for one in constraints if one.is_equality() or (_involves(one, _IN) and _involves(one, _OUT))
    ]
    source = [one for one in constraints if one not in mixed and not _involves(one, _OUT)]
    universe = isl.BasicMap.universe(piece.get_space())
    return [
        universe.add_constraints([*mixed, *source]),
        universe.add_constraints(mixed),
        universe.add_constraints([one for one in mixed if one.is_equality()]),
    ]


_IN, _OUT = isl.dim_type.in_, isl.dim_type.out


def _involves(constraint: isl.Constraint, kind: isl.dim_type) -> bool:
    return bool(constraint.involves_dims(kind, 0, constraint.dim(kind)))


def _at_distance(piece: isl.BasicMap, distance: isl.Point) -> isl.BasicMap:
    space = isl.LocalSpace.from_space(piece.get_space())
    for position in range(piece.dim(isl.dim_type.in_)):
        change = distance.get_coordinate_val(isl.dim_type.set, position)
        equal = isl.Constraint.alloc_equality(space).set_constant_val(change)
        equal = equal.set_coefficient_val(isl.dim_type.in_, position, isl.Val(1))
        equal = equal.set_coefficient_val(isl.dim_type.out, position, isl.Val(-1))
        piece = piece.add_constraint(equal)
    return piece

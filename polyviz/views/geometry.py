"""Exact hulls of integer points and the oblique projection that draws three dimensions."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Integer2 = tuple[int, int]
Integer3 = tuple[int, int, int]
Plane = tuple[int, int, int, int]
# Every triple of corners is tried as a facet; with more corners than this that takes too long for a picture.
MOST_CORNERS = 24


def turn(origin: Integer2, first: Integer2, second: Integer2) -> int:
    """Twice the signed area of the triangle: positive when it turns left."""
    return (first[0] - origin[0]) * (second[1] - origin[1]) - (first[1] - origin[1]) * (second[0] - origin[0])


def hull(points: Iterable[Integer2]) -> list[Integer2]:
    """The corners of the convex hull, counter-clockwise (Andrew 1979, the monotone chain).

    >>> hull([(0, 0), (1, 0), (2, 0), (1, 1), (2, 2), (2, 1)])
    [(0, 0), (2, 0), (2, 2)]
    """
    ordered = sorted(set(points))
    if len(ordered) <= 2:
        return ordered
    return _chain(ordered)[:-1] + _chain(ordered[::-1])[:-1]


def _chain(ordered: Sequence[Integer2]) -> list[Integer2]:
    corners: list[Integer2] = []
    for point in ordered:
        while len(corners) >= 2 and turn(corners[-2], corners[-1], point) <= 0:
            corners.pop()
        corners.append(point)
    return corners


def hull_edges(points: Iterable[Integer3]) -> list[tuple[Integer3, Integer3, tuple[Plane, ...]]]:
    """The edges of the convex hull of points in space, each with the outward planes that meet in it.

    A hull with very many corners gives no edges: its picture would be a net, and its outline says as much.

    A corner of the hull is a corner of all three axis-parallel slices through it; that leaves few enough points to
    try every triple as a facet. Flat sets give their outline, with no planes.

    >>> len(hull_edges([(i, j, k) for i in range(3) for j in range(3) for k in range(3)]))
    12
    """
    corners = _slice_corners(set(points))
    if len(corners) > MOST_CORNERS:
        return []
    facets = _facets(corners)
    if not facets:
        return [(first, second, ()) for first, second in _flat_outline(corners)]
    edges: list[tuple[Integer3, Integer3, tuple[Plane, ...]]] = []
    for (plane, members), (other, others) in combinations(facets.items(), 2):
        shared = sorted(members & others)
        if len(shared) >= 2:
            edges.append((shared[0], shared[-1], (plane, other)))
    return edges


def _slice_corners(points: set[Integer3]) -> list[Integer3]:
    for axis in range(3):
        kept: set[Integer3] = set()
        first, second = (other for other in range(3) if other != axis)
        for level in {point[axis] for point in points}:
            inside = {(point[first], point[second]): point for point in points if point[axis] == level}
            kept.update(inside[corner] for corner in hull(inside))
        points = kept
    return sorted(points)


def _plane(first: Integer3, second: Integer3, third: Integer3) -> Plane:
    u = [b - a for a, b in zip(first, second, strict=True)]
    v = [b - a for a, b in zip(first, third, strict=True)]
    normal = (u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0])
    offset = sum(n * a for n, a in zip(normal, first, strict=True))
    return (*normal, offset)


def _side(plane: Plane, point: Integer3) -> int:
    return plane[0] * point[0] + plane[1] * point[1] + plane[2] * point[2] - plane[3]


def _facets(corners: Sequence[Integer3]) -> dict[Plane, frozenset[Integer3]]:
    found: dict[frozenset[Integer3], Plane] = {}
    for triple in combinations(corners, 3):
        plane = _plane(*triple)
        sides = [_side(plane, corner) for corner in corners]
        if plane[:3] == (0, 0, 0) or (min(sides) < 0 < max(sides)) or min(sides) == max(sides):
            continue
        outward = plane if max(sides) == 0 else (-plane[0], -plane[1], -plane[2], -plane[3])
        members = frozenset(corner for corner, side in zip(corners, sides, strict=True) if side == 0)
        found.setdefault(members, outward)
    return {plane: members for members, plane in found.items()}


def _flat_outline(corners: Sequence[Integer3]) -> list[tuple[Integer3, Integer3]]:
    planes = (_plane(*triple) for triple in combinations(corners, 3))
    normal = next((plane for plane in planes if plane[:3] != (0, 0, 0)), None)
    if normal is None:
        return [(corners[0], corners[-1])] if len(corners) > 1 else []
    dropped = max(range(3), key=lambda axis: abs(normal[axis]))
    first, second = (axis for axis in range(3) if axis != dropped)
    flat = {(corner[first], corner[second]): corner for corner in corners}
    ring = [flat[corner] for corner in hull(flat)]
    return list(zip(ring, ring[1:] + ring[:1], strict=True))


class Oblique:
    """A parallel projection in which no two nearby integer points coincide.

    ``x`` goes right and a little down, ``y`` into the page, ``z`` up; ``unit`` is the length of a step in pixels.
    """

    COLUMNS = ((1.0, 0.32), (0.56, -0.51), (0.0, -1.0))
    # From the picture towards the viewer: the direction that the projection maps to a single point.
    VIEW = (0.56, -1.0, 0.6892)

    def __init__(self, unit: float) -> None:
        self.unit = unit

    def __call__(self, point: Sequence[float]) -> tuple[float, float]:
        """Pixels, with y downwards, of a point in space."""
        x = sum(column[0] * value for column, value in zip(self.COLUMNS, point, strict=True))
        y = sum(column[1] * value for column, value in zip(self.COLUMNS, point, strict=True))
        return x * self.unit, y * self.unit

    def hidden(self, planes: Sequence[Plane]) -> bool:
        """Whether an edge between these outward planes lies on the far side."""
        facing = [sum(n * v for n, v in zip(plane[:3], self.VIEW, strict=True)) for plane in planes]
        return bool(facing) and max(facing) <= 0

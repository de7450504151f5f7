from __future__ import annotations

from itertools import combinations, product
from math import dist

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyviz.views.geometry import MOST_CORNERS, Oblique, hull, hull_edges, turn

SMALL = st.integers(-4, 4)


@given(st.sets(st.tuples(SMALL, SMALL), min_size=1, max_size=30))
def test_hull_holds_every_point_and_turns_left(points):
    corners = hull(points)
    assert set(corners) <= points
    if len(corners) < 3:
        return
    ring = list(zip(corners, corners[1:] + corners[:1], strict=True))
    assert all(turn(first, second, point) >= 0 for first, second in ring for point in points)
    assert all(turn(*triple) > 0 for triple in zip(corners, corners[1:], corners[2:], strict=False))


@given(st.sets(st.tuples(SMALL, SMALL, SMALL), min_size=1, max_size=12))
def test_edges_lie_on_the_boundary_and_join_corners(points):
    for first, second, planes in hull_edges(points):
        assert {first, second} <= points
        for a, b, c, d in planes:
            assert all(a * x + b * y + c * z <= d for x, y, z in points)
            assert all(a * x + b * y + c * z == d for x, y, z in (first, second))


@pytest.mark.parametrize(
    ("points", "count"),
    [
        (set(product(range(3), repeat=3)), 12),
        ({(i, j, k) for i in range(5) for j in range(i + 1) for k in range(j + 1)}, 6),
        ({(i, j, 0) for i in range(3) for j in range(3)}, 4),
        ({(i, i, i) for i in range(4)}, 1),
        ({(1, 2, 3)}, 0),
        ({(i, j, i + j) for i in range(4) for j in range(4 - i)}, 3),
    ],
)
def test_edge_count(points, count):
    assert len(hull_edges(points)) == count


def test_a_round_body_is_left_to_its_outline():
    ball = {point for point in product(range(-5, 6), repeat=3) if sum(value**2 for value in point) <= 25}
    assert hull_edges(ball) == []
    assert len(ball) > MOST_CORNERS


def test_projection_keeps_near_points_apart():
    project = Oblique(40)
    seen = [project(point) for point in product(range(9), repeat=3)]
    rounded = {(round(x, 1), round(y, 1)) for x, y in seen}
    assert len(rounded) == len(seen)
    # Seven steps each way: no point lies on another one's middle.
    small = [project(point) for point in product(range(7), repeat=3)]
    assert min(dist(one, other) for one, other in combinations(small, 2)) > 40 / 3


def test_the_viewer_sees_top_front_and_right():
    project = Oblique(40)
    facing = {
        "right": (1, 0, 0, 1),
        "left": (-1, 0, 0, 0),
        "front": (0, -1, 0, 0),
        "back": (0, 1, 0, 1),
        "top": (0, 0, 1, 1),
    }
    assert {name for name, plane in facing.items() if project.hidden([plane])} == {"left", "back"}
    assert not project.hidden([facing["left"], facing["top"]])
    # The projection maps its viewing direction to a point.
    assert project(Oblique.VIEW) == pytest.approx((0, 0), abs=1e-9)

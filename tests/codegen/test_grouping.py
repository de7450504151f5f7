"""Fronts of tiles that several statements share: one loop, every instance once, in order, and soon."""

from __future__ import annotations

from typing import TYPE_CHECKING

import islpy as isl
import numpy as np
import pytest

import polyviz as pv
from polyviz import gallery
from polyviz.codegen.grouping import group_fronts
from polyviz.codegen.loops import TileBody, descendants
from polyviz.codegen.scan import scan_schedule
from tests.codegen.test_scan import expected, visits

if TYPE_CHECKING:
    from collections.abc import Sequence

STATEMENTS = ("S", "T", "U")


def fronts(skew: int, shifts: Sequence[int]) -> isl.Schedule:
    """Tiles of 4 x 8 iterations, front by front; each statement comes some iterations later than the one before."""
    shifted = dict(zip(STATEMENTS, shifts, strict=True))
    domain = "; ".join(f"{name}[t, i] : 0 <= t < n and 2 <= i < n" for name in shifted)
    tiles = {name: f"({shift} + {skew}t + i) // 8" for name, shift in shifted.items()}

    def row(times: dict[str, str]) -> str:
        return "; ".join(f"{name}[t, i] -> [{time}]" for name, time in times.items())

    order = ", ".join(f'{{ filter: "{{ {name}[t, i] }}" }}' for name in shifted)
    points = ", ".join(
        f"{{ {row(times)} }}"
        for times in (
            dict.fromkeys(shifted, "t"),
            {name: f"{shift} + {skew}t + i" for name, shift in shifted.items()},
        )
    )
    waves = row({name: f"t // 4 + {tile}" for name, tile in tiles.items()})
    return isl.Schedule(f"""{{ domain: "[n] -> {{ {domain} }}", child: {{ schedule: "[{{ {waves} }}]",
        child: {{ schedule: "[{{ {row(tiles)} }}]", child: {{ mark: "points:0", child: {{
        schedule: "[{points}]", child: {{ sequence: [ {order} ] }} }} }} }} }} }}""")


@pytest.mark.parametrize("size", [1, 5, 14])
@pytest.mark.parametrize("skew", [1, 3])
def test_whole_fronts_have_every_instance_once_and_in_order(skew: int, size: int) -> None:
    schedule = fronts(skew, (0, 2, 3))
    loops = scan_schedule(schedule, isl.Set("[n] -> { : n >= 0 }"), whole_fronts=True)
    assert list(visits(loops, {"n": size})) == expected(schedule, size)


def test_tiles_at_the_ends_of_fronts_have_no_loops_of_their_own() -> None:
    kernel = pv.compile(gallery.kernel("fdtd-2d").function, target="numba", threads=2, schedule="pluto")

    def tiles(*, whole_fronts: bool) -> int:
        loops = scan_schedule(kernel.plan.tree, kernel.scop.context, whole_fronts=whole_fronts)
        return sum(isinstance(node, TileBody) for node in descendants(loops))

    assert tiles(whole_fronts=True) < tiles(whole_fronts=False)


def test_tiles_of_one_loop_stay_as_they_are() -> None:
    tree = isl.Schedule("""{ domain: "{ S[i] : 0 <= i < 99; T[i] : 0 <= i < 99 }", child: {
        schedule: "[{ S[i] -> [i // 8]; T[i] -> [(i + 1) // 8] }]", child: { mark: "points:0", child: {
        sequence: [ { filter: "{ S[i] }" }, { filter: "{ T[i] }" } ] } } } }""")
    assert group_fronts(tree) is tree


def wide(a, b, c, T):  # type: ignore[no-untyped-def]
    n, m = a.shape
    for _ in range(T):
        for i in range(2, n - 2):
            for j in range(2, m - 2):
                a[i, j] -= 0.1 * (b[i - 2, j] + b[i + 1, j] + b[i - 1, j])
        for i in range(2, n - 2):
            for j in range(2, m - 2):
                b[i, j] += 0.1 * (a[i + 1, j] + a[i, j - 1] + a[i, j - 2])
        for i in range(2, n - 2):
            for j in range(2, m - 2):
                c[i, j] += 0.01 * (a[i, j] + a[i + 2, j] + b[i - 1, j] + a[i, j + 2])


@pytest.mark.slow
def test_stencils_of_radius_two_keep_their_tiles() -> None:
    """isl bounded their fronts with dozens of quotients, and after 16 seconds the tiles were given up."""
    kernel = pv.compile(wide, target="numba", threads=2, schedule="pluto", contract="strict")
    assert "prange" in kernel.source
    assert any(decision.step == "wavefront" for decision in kernel.plan.decisions)
    assert not any("too long" in decision.text for decision in kernel.plan.decisions)


@pytest.mark.slow
def test_tiles_of_radius_two_compute_what_python_does() -> None:
    kernel = pv.compile(wide, target="numba", threads=2, schedule="pluto", contract="strict")
    for size in (4, 9, 90):
        given = [np.random.default_rng(size).random((size, size + 3)) for _ in range(3)]
        wanted, found = ([one.copy() for one in given] for _ in range(2))
        wide(*wanted, 3)
        kernel(*found, 3)
        assert all(np.array_equal(one, other) for one, other in zip(wanted, found, strict=True))

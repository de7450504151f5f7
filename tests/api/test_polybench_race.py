"""The main job on all of PolyBench: every kernel and schedule in C, verified against the loop as written.

Numba takes ten times as long to compile as C, and gets what the C target gets from the same loop programs: its
two ends are raced, the loops as written and those with everything on.
"""

from __future__ import annotations

import pytest

import polyviz as pv
from polyviz import gallery


@pytest.mark.slow
@pytest.mark.parametrize("name", [kernel.name for kernel in gallery.polybench()])
@pytest.mark.parametrize(
    ("target", "schedules"), [("c", ("original", "isl", "pluto")), ("numba", ("original", "pluto"))]
)
def test_every_variant_agrees_with_the_loop_as_written(
    name: str, target: str, schedules: tuple[str, ...]
) -> None:
    kernel = gallery.kernel(name)

    comparison = pv.compare(
        kernel.function, *kernel.arguments("mini", seed=1), schedules=schedules, targets=(target,), repeats=1
    )

    variants = [row for row in comparison.rows if not row.is_baseline]
    assert len(variants) == len(schedules)
    assert {row.label: row.note for row in variants if not row.verified} == {}

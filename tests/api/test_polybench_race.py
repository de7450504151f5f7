"""The main job on all of PolyBench: every kernel and schedule, verified against the loop as written.

In C: numba takes ten times as long to compile, and what it computes is tested kernel by kernel in tests/runtime.
"""

from __future__ import annotations

import pytest

import polyviz as pv
from polyviz import gallery


@pytest.mark.slow
@pytest.mark.parametrize("name", [kernel.name for kernel in gallery.polybench()])
def test_every_variant_agrees_with_the_loop_as_written(name: str) -> None:
    kernel = gallery.kernel(name)

    comparison = pv.compare(
        kernel.function,
        *kernel.arguments("mini", seed=1),
        schedules=("original", "isl", "pluto"),
        targets=("c",),
        repeats=1,
    )

    variants = [row for row in comparison.rows if not row.is_baseline]
    assert len(variants) == 3
    assert {row.label: row.note for row in variants if not row.verified} == {}

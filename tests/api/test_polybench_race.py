"""The main job on PolyBench: kernels and schedules in one comparison, verified against the loop as written.

In C, and every third kernel: what the others compute, also under numba, is tested one by one in tests/runtime.
"""

from __future__ import annotations

import pytest

import polyviz as pv
from polyviz import gallery


@pytest.mark.slow
@pytest.mark.parametrize("name", [kernel.name for kernel in gallery.polybench()[::3]])
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

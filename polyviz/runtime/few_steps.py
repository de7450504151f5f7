"""Calls that take few steps over time: too few for every thread to find a row of tiles of the usual height.

Rows of tiles take so many steps that data are used again while they are in cache. Of eight steps they make one row, for
one thread; two rows of four steps bring two threads to work, and four steps on what a cache holds are still better than
one. How many steps there are only a call tells.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from polyviz.analysis.bounds import extent_value
from polyviz.analysis.witness import fixed
from polyviz.codegen.regions import SMALLEST_PARALLEL_WORK
from polyviz.mapping import row_height
from polyviz.runtime.machine import thread_count

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import islpy as isl

    from polyviz.model.plan import ParallelWork, Plan
    from polyviz.runtime.kernel import Kernel

WORTH_IT = 0.75
"""The part of the time that lower rows may take at most, to be worth a program of their own."""


@dataclass(frozen=True, slots=True)
class FewSteps:
    """Makes kernels whose rows of tiles have a given height, for ``threads`` that run the rows in ``work``."""

    work: tuple[ParallelWork, ...]
    threads: int
    make: Callable[[int], Kernel]

    def height(self, parameters: Mapping[str, int]) -> int | None:
        """The height of rows that suits a call with ``parameters`` much better than the usual one; None without."""
        heights = (_height(work, parameters, self.threads) for work in self.work)
        return min((height for height in heights if height is not None), default=None)


def few_steps(plan: Plan, make: Callable[[int], Kernel]) -> FewSteps | None:
    """How kernels are made for calls with few steps, where ``plan`` has rows of tiles for several threads."""
    threads = min(thread_count().count, plan.threads or thread_count().count)
    work = tuple(one for one in plan.work if one.rows is not None)
    return FewSteps(work, threads, make) if work and threads > 1 else None


def _height(work: ParallelWork, parameters: Mapping[str, int], threads: int) -> int | None:
    rows = work.rows
    assert rows is not None
    steps = _count(rows.values, parameters)
    if steps <= 0:
        return None
    height = row_height(steps, threads, rows.height)
    if _time(steps, height, threads) > WORTH_IT * _time(steps, rows.height, threads):
        return None
    of_a_row = prod(extent_value(extent, parameters) for extent in work.extents) / min(steps, rows.height)
    return height if of_a_row * height > SMALLEST_PARALLEL_WORK else None


def _time(steps: int, height: int, threads: int) -> int:
    """How many steps pass until all ``threads`` are through, rows that wait for others left aside.

    >>> _time(20, 16, 2), _time(20, 10, 2)
    (16, 10)
    """
    return min(steps, -(-steps // (height * threads)) * height)


def _count(values: isl.Set, parameters: Mapping[str, int]) -> int:
    """How many numbers lie between the least and the greatest of ``values``, with these two."""
    line = fixed(values, parameters)
    if line.is_empty():
        return 0
    least, greatest = line.dim_min_val(0), line.dim_max_val(0)
    return greatest.sub(least).to_python() + 1 if least.is_int() and greatest.is_int() else 0

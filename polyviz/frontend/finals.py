"""The value that each loop variable of a cell has after the cell, as Python leaves it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, NamedTuple

import islpy as isl

if TYPE_CHECKING:
    from collections.abc import Sequence


class LoopStep(NamedTuple):
    """One loop in the original order: the iterator at ``depth``, counted downwards when ``sign`` is -1."""

    depth: int
    sign: int


# A position in a block, or a loop.
TimeStep = int | LoopStep


@dataclass(frozen=True, slots=True)
class LoopRecord:
    """A loop with its iterations (``domain``, its own iterator last) and their place in the original order."""

    variable: str
    time: tuple[TimeStep, ...]
    domain: isl.Set
    is_affine: bool


def final_values(loops: Sequence[LoopRecord], context: isl.Set) -> tuple[tuple[str, isl.PwAff], ...]:
    """Loop variables with their final values over the parameters, defined where some loop of the name ran.

    A variable of a loop whose range depends on data is left out.

    >>> loop = LoopRecord("i", (0, LoopStep(0, 1)), isl.Set("[n] -> { [i] : 0 <= i < n }"), True)
    >>> [(name, str(value)) for name, value in final_values([loop], isl.Set("[n] -> { : }"))]
    [('i', '[n] -> { [(-1 + n)] : n > 0 }')]
    """
    names = dict.fromkeys(loop.variable for loop in loops)
    unknown = {loop.variable for loop in loops if not loop.is_affine}
    space = context.get_space()
    return tuple(
        (name, _final([loop for loop in loops if loop.variable == name]).align_params(space))
        for name in names
        if name not in unknown
    )


def _final(loops: Sequence[LoopRecord]) -> isl.PwAff:
    """The last component of the latest (time, value): the value is determined by the time."""
    length = max(len(loop.time) for loop in loops)
    times = reduce(isl.Set.union, [_timed(loop, length) for loop in loops])
    latest = times.lexmax_pw_multi_aff()
    return latest.get_pw_aff(length).coalesce()


def _timed(loop: LoopRecord, length: int) -> isl.Set:
    """The points ``[time…, value]`` of one loop, its time padded with zeros."""
    space = isl.LocalSpace.from_space(loop.domain.get_space())
    zero = isl.Aff.zero_on_domain(space)
    rows = [
        isl.Aff.var_on_domain(space, isl.dim_type.set, step.depth).scale_val(isl.Val(step.sign))
        if isinstance(step, LoopStep)
        else zero.add_constant_val(isl.Val(step))
        for step in loop.time
    ]
    rows += [zero] * (length - len(rows))
    rows.append(isl.Aff.var_on_domain(space, isl.dim_type.set, loop.domain.dim(isl.dim_type.set) - 1))
    maps = [isl.Map.from_aff(row) for row in rows]
    return reduce(isl.Map.flat_range_product, maps).intersect_domain(loop.domain).range()

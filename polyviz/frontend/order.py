"""The original execution order as an isl schedule tree: one band per source loop, sequences for textual order."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

import islpy as isl

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class OrderedLoop:
    """A loop over the iterator at ``depth`` of all statements inside; ``sign`` is -1 when it counts downwards."""

    iterator: str
    depth: int
    sign: int
    body: tuple[Ordered, ...]


# A statement is its name.
Ordered = OrderedLoop | str


def schedule_tree(order: tuple[Ordered, ...], domains: Mapping[str, isl.Set]) -> isl.Schedule:
    """The schedule tree of a program; ``domains`` holds every statement of ``order``.

    >>> loop = OrderedLoop("i", 0, -1, ("S0",))
    >>> print(schedule_tree((loop,), {"S0": isl.Set("[n] -> { S0[i] : 0 <= i < n }")}).get_map())
    [n] -> { S0[i] -> [-i] }
    """
    if not order:
        return isl.Schedule.from_domain(isl.UnionSet("{ }"))
    return reduce(isl.Schedule.sequence, [_subtree(part, domains) for part in order])


def _subtree(part: Ordered, domains: Mapping[str, isl.Set]) -> isl.Schedule:
    if isinstance(part, str):
        return isl.Schedule.from_domain(isl.UnionSet.from_set(domains[part]))
    inner = schedule_tree(part.body, domains)
    return inner.insert_partial_schedule(_band(part, domains))


def _band(loop: OrderedLoop, domains: Mapping[str, isl.Set]) -> isl.MultiUnionPwAff:
    rows = [_row(domains[name], loop) for name in statements(loop)]
    band = isl.MultiUnionPwAff.from_union_pw_aff(reduce(isl.UnionPwAff.union_add, rows))
    return band.set_dim_name(isl.dim_type.set, 0, loop.iterator)


def _row(domain: isl.Set, loop: OrderedLoop) -> isl.UnionPwAff:
    space = isl.LocalSpace.from_space(domain.get_space())
    value = isl.Aff.var_on_domain(space, isl.dim_type.set, loop.depth).scale_val(isl.Val(loop.sign))
    return isl.UnionPwAff.from_pw_aff(isl.PwAff.from_aff(value))


def statements(part: Ordered) -> tuple[str, ...]:
    """The names of the statements of ``part`` in textual order."""
    if isinstance(part, str):
        return (part,)
    return tuple(name for inner in part.body for name in statements(inner))

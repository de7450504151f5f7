"""Ordinary loops over the instances of a block, or of the part of a register tile that vectors cannot compute."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.codegen.block_shape import COORDINATE_PREFIX
from polyviz.codegen.naming import inline_single_iterations
from polyviz.codegen.scan import scan_schedule
from polyviz.model.plan import VECTOR

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyviz.codegen.loops import LoopNode
    from polyviz.model.plan import RegisterTile


@dataclass(frozen=True, slots=True)
class Limit:
    """An iterator from ``bound`` on (``least``) or up to it; the loops name the bound ``COORDINATE_PREFIX_bound``.

    ``least=False, strict=True`` leaves the bound itself out.
    """

    position: int
    bound: str
    least: bool
    strict: bool = False


def plain_loops(tile: RegisterTile, domain: isl.Set, limits: Sequence[Limit] = ()) -> LoopNode:
    """Loops over the instances in ``domain`` (coordinates as parameters) within ``limits``: rows, sum, columns."""
    for limit in limits:
        domain = _limited(domain, limit)
    tree = _tree(domain, (tile.row, tile.depth, tile.column), vector=tile.parallel_columns)
    return inline_single_iterations(scan_schedule(tree, domain.params()))


def limit_name(bound: str) -> str:
    """What the loops call the bound of a limit."""
    return f"{COORDINATE_PREFIX}_{bound}"


def _limited(domain: isl.Set, limit: Limit) -> isl.Set:
    count, sign = domain.dim(isl.dim_type.param), 1 if limit.least else -1
    domain = domain.add_dims(isl.dim_type.param, 1)
    domain = domain.set_dim_name(isl.dim_type.param, count, limit_name(limit.bound))
    constraint = isl.Constraint.inequality_alloc(isl.LocalSpace.from_space(domain.get_space()))
    constraint = constraint.set_coefficient_val(isl.dim_type.set, limit.position, isl.Val(sign))
    constraint = constraint.set_coefficient_val(isl.dim_type.param, count, isl.Val(-sign))
    return domain.add_constraint(constraint.set_constant_val(isl.Val(-1 if limit.strict else 0)))


def _tree(domain: isl.Set, order: Sequence[int], *, vector: bool) -> isl.Schedule:
    """Loops over the iterators in ``order``, those that are not in it around them."""
    outer = [position for position in range(domain.dim(isl.dim_type.set)) if position not in order]
    tree = isl.Schedule.from_domain(isl.UnionSet.from_set(domain))
    local = isl.LocalSpace.from_space(domain.get_space())
    for level, position in enumerate(reversed([*outer, *order])):
        row = isl.PwAff.from_aff(isl.Aff.var_on_domain(local, isl.dim_type.set, position))
        tree = tree.insert_partial_schedule(
            isl.MultiUnionPwAff.from_union_pw_aff(isl.UnionPwAff.from_pw_aff(row))
        )
        if level == 0 and vector:
            tree = tree.get_root().child(0).insert_mark(isl.Id(VECTOR)).get_schedule()
    return tree

"""Scalar temporaries that may get one copy per iteration of the loops around them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.analysis.dataflow import is_read_from_before, last_writers
from polyviz.analysis.nesting import Nest, common_loops, same_iteration
from polyviz.analysis.times import maps_of, sets_of
from polyviz.model.dependences import Dependence, Privatization
from polyviz.model.isl_limits import coalesced, solved

if TYPE_CHECKING:
    from collections.abc import Mapping

    from polyviz.analysis.accesses import ArrayAccesses
    from polyviz.analysis.order import Order
    from polyviz.model.dependences import Dependences
    from polyviz.model.isl_limits import Allowance
    from polyviz.model.scop import Array, Scop


def privatization_of(
    array: Array, accesses: ArrayAccesses, order: Order, nests: Mapping[str, Nest], allowance: Allowance
) -> Privatization | None:
    """How far ``array`` can be privatized: the deepest common loops whose iterations share no value through it.

    None when it is no scalar, is never written, a read may see a value from before the part or from another
    iteration of every common loop, or its final value is looked at and its writer is not known exactly. What the
    ``allowance`` does not suffice to prove counts as forbidden.
    """
    if array.rank > 0:
        return None
    depth = private_depth(accesses, order, nests, allowance)
    if depth == 0:
        return None
    statements = sorted(statements_of(accesses))
    last = _last_writer(accesses, order, nests, depth) if array.live_out else None
    if array.live_out and last is None:
        return None
    return Privatization(array.name, depth, last, _reason(array, depth, nests[statements[0]]))


def private_depth(
    accesses: ArrayAccesses, order: Order, nests: Mapping[str, Nest], allowance: Allowance
) -> int:
    """How many outer loops no value of the array crosses; 0 where a read may see a value from before the part."""
    if accesses.writes.is_empty():
        return 0
    shared = common_loops(nests[name] for name in sorted(statements_of(accesses)))
    if not shared or is_read_from_before(accesses, order, allowance):
        return 0
    return _private_depth(last_writers(accesses, order, allowance), nests, shared)


def within_copies(
    dependence: Dependence, privatization: Privatization, nests: Mapping[str, Nest]
) -> Dependence | None:
    """What is left of ``dependence`` when each copy of the scalar has its own memory; None when nothing is."""
    pairs = same_iteration(nests[dependence.source], nests[dependence.sink], privatization.depth)
    kept = coalesced(dependence.relation.intersect(pairs))
    if kept.is_empty():
        return None
    return Dependence(dependence.kind, dependence.array, dependence.source, dependence.sink, kept)


def statements_of(accesses: ArrayAccesses) -> set[str]:
    """The statements that touch the array."""
    touching = accesses.reads.union(accesses.writes)
    return {relation.get_tuple_name(isl.dim_type.in_) for relation in maps_of(touching)}


def users_of(scop: Scop, array: str) -> frozenset[str]:
    """The statements of ``scop`` that touch ``array``."""
    return frozenset(
        statement.name
        for statement in scop.statements
        if any(access.array == array for access in statement.accesses)
    )


def _private_depth(flow: isl.UnionMap, nests: Mapping[str, Nest], depth: int) -> int:
    """The largest number of outer loops, at most ``depth``, that no value crosses."""
    for relation in maps_of(flow):
        source = nests[relation.get_tuple_name(isl.dim_type.in_)]
        sink = nests[relation.get_tuple_name(isl.dim_type.out)]
        while depth > 0 and not solved(partial(relation.is_subset, same_iteration(source, sink, depth))):
            depth -= 1
    return depth


def _last_writer(
    accesses: ArrayAccesses, order: Order, nests: Mapping[str, Nest], depth: int
) -> isl.UnionSet | None:
    """The instance after which a copy holds the final value, for all parameter values: the last that may write.

    None when its write is uncertain and none is certain before it in the same iteration, so that its copy may hold
    nothing, and when isl needs too long.
    """
    writers = order.together().intersect_domain(accesses.writes.domain())
    last = solved(lambda: writers.intersect_range(writers.range().lexmax()).domain().coalesce())
    certain = accesses.must_writes.domain()
    if last is None or last.is_subset(certain):
        return last
    return last if solved(lambda: _follows(last, certain, order, nests, depth)) else None


def _follows(last: isl.UnionSet, certain: isl.UnionSet, order: Order, nests: Mapping[str, Nest], depth: int) -> bool:
    """Whether one of ``certain`` is, or runs before, each of ``last`` in the same iteration of ``depth`` loops."""
    covered = certain
    for late in sets_of(last):
        for early in sets_of(certain):
            names = late.get_tuple_name(), early.get_tuple_name()
            together = same_iteration(nests[names[0]], nests[names[1]], depth)
            pairs = together.intersect(order.after(*names)).intersect_range(early)
            covered = covered.union(isl.UnionSet.from_set(pairs.domain()))
    return last.is_subset(covered)


def _reason(array: Array, depth: int, nest: Nest) -> str:
    loops = "the outermost loop" if depth == 1 else f"the {depth} outermost loops"
    visible = "; the last iteration leaves the final value" if array.live_out else ""
    return (
        f"Every value of `{array.name}` is written and read within one iteration of {loops} around it, "
        f"so each iteration can have a copy of its own{visible}."
    )


def copies_of(dependences: Dependences) -> dict[str, int]:
    """How many outer loops each private temporary has copies for: the rank of the array it becomes."""
    return {privatization.array: privatization.depth for privatization in dependences.privatizations}

"""Nests that hand a temporary from one to the next share their outer loop, so that it can stay a variable.

Schedulers may put ``t = 0.0`` for all rows first and the loops that use ``t`` behind it. Then every row needs a copy of
``t`` in memory, and a recurrence through it waits for stores and loads in every step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.analysis.legality import is_legal
from polyviz.analysis.privatization import copies_of
from polyviz.mapping.outermost import OUTERMOST, has_inner_loops, is_parallel
from polyviz.mapping.storage import is_local
from polyviz.scheduling.products import has_large_product
from polyviz.transform.fuse import Fuse
from polyviz.transform.nest import unwrapped
from polyviz.transform.shape import Branches, shape_of, statements_in

if TYPE_CHECKING:
    import islpy as isl

    from polyviz.model.dependences import Dependences, Privatization
    from polyviz.model.schedule import Decision
    from polyviz.model.scop import Scop
    from polyviz.transform.shape import Part



def gather_temporaries(
    scop: Scop, dependences: Dependences, tree: isl.Schedule
) -> tuple[isl.Schedule, tuple[Decision, ...]]:
    """``tree`` with the outermost nests that use one temporary in one loop, where that is legal, keeps the loop as
    parallel as it was, and makes the temporary a variable of its iterations.

    Products of matrices stay nests of their own: tiles in registers are worth more to them than an array of one row.
    """
    decisions: list[Decision] = []
    for temporary in dependences.privatizations:
        shape = shape_of(tree)
        if temporary.depth != 1 or not isinstance(shape, Branches):
            continue
        places = _places(scop, dependences, shape, temporary)
        if not _can_share_a_loop(shape, places):
            continue
        fused, said = Fuse(OUTERMOST, places).apply(tree)
        if _is_better(scop, dependences, tree, fused, temporary, places):
            tree = fused
            decisions.append(said)
    return tree, tuple(decisions)


def _places(
    scop: Scop, dependences: Dependences, shape: Branches, temporary: Privatization
) -> tuple[int, ...]:
    """The nests that use ``temporary``, and those that use another one together with them."""
    used = [_used_in(scop, part) for part in shape.parts]
    names = {found.array for found in dependences.privatizations if found.depth == 1}
    group, known = {temporary.array}, set[str]()
    while group != known:
        known = group
        group = known.union(*(arrays & names for arrays in used if arrays & known))
    return tuple(place for place, arrays in enumerate(used) if arrays & group)


def _used_in(scop: Scop, part: Part) -> frozenset[str]:
    return frozenset(
        access.array for name in statements_in(part.instances) for access in scop.statement(name).accesses
    )


def _can_share_a_loop(shape: Branches, places: tuple[int, ...]) -> bool:
    """Whether there are several nests, all of them loops, and none of their statements runs in two of them."""
    names = [name for place in places for name in statements_in(shape.parts[place].instances)]
    nests = all(unwrapped(shape.parts[place].child)[0] for place in places)
    return len(places) > 1 and nests and len(set(names)) == len(names)


def _is_better(
    scop: Scop,
    dependences: Dependences,
    before: isl.Schedule,
    after: isl.Schedule,
    temporary: Privatization,
    places: tuple[int, ...],
) -> bool:
    if is_local(scop, temporary, before) or not is_local(scop, temporary, after):
        return False
    nests = [place for place in places if has_inner_loops(before, place)]
    if any(_has_product(scop, dependences, before, place) for place in nests):
        return False
    if not is_legal(scop, after, known=dependences):
        return False
    was_parallel = any(is_parallel(scop, dependences, before, place) for place in nests)
    return not was_parallel or is_parallel(scop, dependences, after, min(places))


def _has_product(scop: Scop, dependences: Dependences, tree: isl.Schedule, place: int) -> bool:
    """Whether the nest at ``place`` holds a product that may run by tiles in registers."""
    shape, copies = shape_of(tree), copies_of(dependences)
    assert isinstance(shape, Branches)
    statements = map(scop.statement, statements_in(shape.parts[place].instances))
    return any(has_large_product(statement, statement.domain, copies) for statement in statements)

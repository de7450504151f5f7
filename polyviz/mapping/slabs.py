"""Nests that go through the same slabs of an array, one after the other, share the loop over the slabs.

Mean, variance and the normalised values of ``X[:, c, :]`` are three nests of different depths, which schedulers put
apart: then all of ``X`` comes from memory three times. In one loop over ``c`` a slab stays in the cache between them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import islpy as isl

from polyviz.analysis.legality import is_legal
from polyviz.mapping.outermost import OUTERMOST, has_inner_loops, is_parallel
from polyviz.transform.fuse import Fuse
from polyviz.transform.innermost import best_innermost
from polyviz.transform.interchange import permute_members
from polyviz.transform.nest import unwrapped
from polyviz.transform.shape import Branches, shape_of, statements_in
from polyviz.transform.tree import band_at, bands

if TYPE_CHECKING:
    from collections.abc import Iterator

    from polyviz.model.dependences import Dependences
    from polyviz.model.schedule import Decision
    from polyviz.model.scop import Scop, Statement
    from polyviz.transform.shape import Part


Slabs = dict[str, isl.Map]
"""The cells of each array that one iteration of the outermost loop goes through."""


def gather_slabs(
    scop: Scop, dependences: Dependences, tree: isl.Schedule
) -> tuple[isl.Schedule, tuple[Decision, ...]]:
    """``tree`` with outermost nests over the same slabs in one loop, where that is legal and the loop stays parallel.

    Every element is used once in each nest, so that no tile would use it again.
    """
    decisions: list[Decision] = []
    refused: set[tuple[str, ...]] = set()
    while True:
        shape = shape_of(tree)
        runs = _runs(scop, shape) if isinstance(shape, Branches) else iter(())
        found = next(((places, names) for places, names in runs if names not in refused), None)
        if found is None:
            return tree, tuple(decisions)
        places, names = found
        refused.add(names)
        fused, said = Fuse(OUTERMOST, places).apply(tree)
        nests = [place for place in places if has_inner_loops(tree, place)]
        if not all(is_parallel(scop, dependences, tree, place) for place in nests):
            continue
        if is_legal(scop, fused, known=dependences) and is_parallel(scop, dependences, fused, places[0]):
            tree = fused
            decisions.append(said)


def with_best_innermost(scop: Scop, dependences: Dependences, tree: isl.Schedule) -> isl.Schedule:
    """``tree`` with the loop that moves least in memory last in each permutable band, as it will run in any case.

    What is first then is the loop that nests can share.
    """
    paths = [path for path, _ in bands(tree)]
    for path in paths:
        inside = any(other != path and other[: len(path)] == path for other in paths)
        count = band_at(tree, path).band_n_member()
        if inside or count == 1 or not band_at(tree, path).band_get_permutable():
            continue
        best = best_innermost(scop, tree, path, serial_lanes=True, temporaries=dependences.privatizations)
        order = (*(member for member in range(count) if member != best), best)
        tree, _ = permute_members(tree, path, order)
    return tree


def _runs(scop: Scop, shape: Branches) -> Iterator[tuple[tuple[int, ...], tuple[str, ...]]]:
    """The places of nests from one to another over the same slabs, longest first, and their statements."""
    slabs = [_slabs(scop, part) for part in shape.parts]
    count = len(shape.parts)
    for length in range(count, 1, -1):
        for first in range(count - length + 1):
            places = tuple(range(first, first + length))
            ends = slabs[first], slabs[places[-1]]
            names = [name for place in places for name in statements_in(shape.parts[place].instances)]
            whole = len(set(names)) == len(names)
            if whole and all(slabs[place] is not None for place in places) and _share(*ends):
                yield places, tuple(names)


def _share(first: Slabs | None, second: Slabs | None) -> bool:
    if first is None or second is None:
        return False
    return any(first[array].is_equal(second[array]) for array in first.keys() & second.keys())


def _slabs(scop: Scop, part: Part) -> Slabs | None:
    """The slabs of the nest ``part``; None where its outermost loop had better not be shared with others."""
    rows, _ = unwrapped(part.child)
    if not rows:
        return None
    found: Slabs = {}
    for name in statements_in(part.instances):
        statement = scop.statement(name)
        own = _slabs_of(statement, rows[0])
        if own is None:
            return None
        for array, slab in own.items():
            found[array] = found[array].union(slab) if array in found else slab
    return found


def _slabs_of(statement: Statement, row: isl.UnionPwAff) -> Slabs | None:
    """What ``statement`` touches of matrices in each iteration of ``row``: every cell once, along memory."""
    found: Slabs = {}
    times = isl.UnionMap.from_union_pw_aff(row).intersect_domain(isl.UnionSet.from_set(statement.domain))
    if not statement.exact or times.is_empty():
        return None
    iterations = isl.Map.from_union_map(times).reverse()
    for access in statement.accesses:
        rank = access.relation.dim(isl.dim_type.out)
        if rank < 2:  # vectors and scalars are small
            continue
        cells = access.relation.intersect_domain(statement.domain)
        slab = iterations.apply_range(cells)
        last = slab.project_out(isl.dim_type.out, 0, rank - 1)
        if not cells.is_injective() or last.is_single_valued():
            return None
        found[access.array] = found[access.array].union(slab) if access.array in found else slab
    return found

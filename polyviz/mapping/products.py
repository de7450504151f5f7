"""Products inside a loop that several statements share, one row at a time, made into products of whole matrices.

``for q: { for p: t[q, p] = 0; for s, p: t[q, p] += A[q, s] * C[s, p]; … }`` multiplies one row by a matrix at a time.
With the loop over q distributed over the statements, the middle one is a product of matrices, whose tiles can stay in
registers.
"""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.analysis.order_below import keeps_order_below
from polyviz.mapping.roles import LOOPS
from polyviz.model.isl_callbacks import pieces_of
from polyviz.model.schedule import Decision
from polyviz.transform.interchange import permute_members
from polyviz.transform.shape import Branches, branches_at, shape_of, tree_of, with_part
from polyviz.transform.tree import (
    Path,
    band_at,
    bands,
    coincident_members,
    is_band,
    isolate_member,
    kind_of,
    members,
    replace_rows,
    statements_under,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from polyviz.model.dependences import Dependences
    from polyviz.model.scop import Scop


_MOST_NESTS = 3
"""Nests of which every order is tried."""


def with_whole_products(
    scop: Scop, dependences: Dependences, tree: isl.Schedule, is_product: Callable[[isl.Schedule, Path], bool]
) -> tuple[isl.Schedule, tuple[Decision, ...]]:
    """``tree`` with loops distributed where that makes a product of matrices, and what is said of it.

    ``is_product`` tells whether the band of three loops at a path of a tree can run by register tiles.
    """
    for path, band in list(bands(tree)):
        if kind_of(band.child(0)) not in ("sequence", "set"):
            continue
        last = band.band_n_member() - 1
        for member in range(last, -1, -1) if band.band_get_permutable() else (last,):
            changed, below = _distributed(tree, path, member)
            products = any(
                other[: len(below)] == below and nest.band_n_member() == LOOPS and is_product(changed, other)
                for other, nest in bands(changed)
            )
            if products and keeps_order_below(scop, dependences, changed, below):
                text = "a loop around these statements is distributed: one of them then multiplies whole matrices"
                return changed, (Decision("distribute", text, statements_under(band)),)
    return tree, ()


def with_products_apart(
    scop: Scop, dependences: Dependences, tree: isl.Schedule, is_product: Callable[[isl.Schedule, Path], bool]
) -> tuple[isl.Schedule, tuple[Decision, ...]]:
    """``tree`` with products of matrices in loops of their own, where only statements with fewer loops share them.

    ``for i, j: { C[i, j] *= beta; for k: C[i, j] += A[i, k] * B[k, j] }`` reads each cell once less than two nests do,
    which is little beside what tiles in registers save. ``is_product`` is that of ``with_whole_products``.
    """
    said: list[Decision] = []
    for path, band in reversed(list(bands(tree))):
        if band.band_n_member() != LOOPS or kind_of(band.child(0)) not in ("sequence", "set"):
            continue
        changed = band_at(tree, path).band_sink().get_schedule()
        products = {
            name
            for place, nest in bands(changed)
            if place[: len(path)] == path and nest.band_n_member() == LOOPS and is_product(changed, place)
            for name in statements_under(nest)
        }
        others = [scop.statement(name) for name in statements_under(band) if name not in products]
        small = all(len(statement.iterators) < LOOPS for statement in others)
        orders = _orders(changed, path) if products and others and small else ()
        legal = (one for one in orders if keeps_order_below(scop, dependences, one, path))
        if (found := next(legal, None)) is not None:
            tree = _without_constants(found, path)
            text = "these statements have loops of their own: what only begins or ends sums leaves them whole products"
            said.append(Decision("distribute", text, statements_under(band)))
    return tree, tuple(said)


def _orders(tree: isl.Schedule, path: Path) -> Iterator[isl.Schedule]:
    """``tree`` with the nests at ``path`` one after the other, in every order where the band around told which is
    first."""
    shape = shape_of(tree)
    branches = branches_at(shape, path)
    if branches.ordered:
        yield tree
    elif len(branches.parts) <= _MOST_NESTS:
        for parts in permutations(branches.parts):
            yield tree_of(tree.get_domain(), with_part(shape, path, Branches(parts)))


def _without_constants(tree: isl.Schedule, path: Path) -> isl.Schedule:
    """``tree`` without members of the bands below ``path`` that do not move: they told statements apart."""
    for place, band in reversed(list(bands(tree))):
        if place[: len(path)] != path:
            continue
        flags = zip(members(band), coincident_members(band), strict=True)
        kept = [(row, flag) for row, flag in flags if _is_moving(row.intersect_domain(band.get_domain()))]
        if 0 < len(kept) < band.band_n_member():
            tree = replace_rows(tree, place, [row for row, _ in kept], coincident=[flag for _, flag in kept])
    return tree


def _is_moving(row: isl.UnionPwAff) -> bool:
    functions = row.get_pw_aff_list()
    parts = (functions.get_at(position) for position in range(functions.n_pw_aff()))
    return any(
        piece.involves_dims(isl.dim_type.in_, 0, piece.dim(isl.dim_type.in_))
        for part in parts
        for _, piece in pieces_of(part)
    )


def _distributed(tree: isl.Schedule, path: Path, member: int) -> tuple[isl.Schedule, Path]:
    """A member of the band at ``path`` as the first loop of each nest below it, and where these begin."""
    count = band_at(tree, path).band_n_member()
    order = (*(other for other in range(count) if other != member), member)
    tree, alone = isolate_member(permute_members(tree, path, order)[0], path, count - 1)
    tree = band_at(tree, alone).band_sink().get_schedule()
    outer = [
        place
        for place, band in bands(tree)
        if place[: len(alone)] == alone and place != alone and is_band(band.child(0))
    ]
    for place in reversed(outer):
        tree = _with_inner_first(band_at(tree, place))
    return tree, alone


def _with_inner_first(band: isl.ScheduleNode) -> isl.Schedule:
    """``band`` and the band directly inside it as one, whose first members are those of the inner one."""
    inner = band.child(0)
    rows = inner.band_get_partial_schedule().flat_range_product(band.band_get_partial_schedule())
    merged = inner.delete().parent().delete().insert_partial_schedule(rows)
    return merged.band_set_permutable(1).get_schedule()

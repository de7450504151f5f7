"""Products inside a loop that several statements share, one row at a time, made into products of whole matrices.

``for q: { for p: t[q, p] = 0; for s, p: t[q, p] += A[q, s] * C[s, p]; … }`` multiplies one row by a matrix at a time.
With the loop over q distributed over the statements, the middle one is a product of matrices, whose tiles can stay in
registers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.analysis.order_below import keeps_order_below
from polyviz.mapping.roles import LOOPS
from polyviz.model.schedule import Decision
from polyviz.transform.interchange import permute_members
from polyviz.transform.tree import Path, band_at, bands, is_band, isolate_member, kind_of, statements_under

if TYPE_CHECKING:
    from collections.abc import Callable

    import islpy as isl

    from polyviz.model.dependences import Dependences
    from polyviz.model.scop import Scop


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

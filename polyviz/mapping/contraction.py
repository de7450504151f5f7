"""Products of tensors: a sum over several loops is a sum of products of matrices.

``C[i, j, k, l] += A[i, j, m, n] * B[m, n, k, l]`` multiplies matrices in the loops over ``j``, ``l`` and ``n``; the
others go around them. The steps of the sum stay in their order: all loops of the sum but the last one stand outside.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.analysis.order_below import keeps_order_below
from polyviz.analysis.strides import access_rows
from polyviz.mapping.roles import LOOPS
from polyviz.model.schedule import Decision
from polyviz.transform.interchange import permute_members
from polyviz.transform.tree import (
    Path,
    band_at,
    bands,
    coincident_members,
    is_band,
    kind_of,
    split_band,
    statements_under,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    import islpy as isl

    from polyviz.model.dependences import Dependences
    from polyviz.model.scop import Scop, Statement

    Order = Callable[[isl.Schedule, Path, tuple[bool, ...]], "tuple[tuple[int, ...], int] | None"]

TEXT = (
    "a sum over several loops is a sum of products of matrices: three loops multiply two of them, and the others stand "
    "around these"
)


def with_inner_products(
    scop: Scop, dependences: Dependences, tree: isl.Schedule, order_of: Order
) -> tuple[isl.Schedule, tuple[Decision, ...]]:
    """``tree`` with products of matrices innermost in each contraction, and what is said of it.

    ``order_of`` gives the members of the band at a path, of which some are parallel, with the loops of a product
    innermost, and how many these are; None where there are none.
    """
    said = []
    for path, band in list(bands(tree)):
        if is_band(band.parent()) or not is_band(band.child(0)) or not _is_contraction(scop, band):
            continue
        parallel = coincident_members(band)
        merged = _merged(tree, path)
        parallel = (*parallel, *(False for _ in range(len(parallel), band_at(merged, path).band_n_member())))
        found = order_of(merged, path, parallel) if len(parallel) > LOOPS else None
        if found is None:
            continue
        order, inner = found
        changed = split_band(permute_members(merged, path, order)[0], path, len(order) - inner)
        if keeps_order_below(scop, dependences, changed, path):
            tree = changed
            said.append(Decision("distribute", TEXT, statements_under(band)))
    return tree, tuple(said)


def _is_contraction(scop: Scop, band: isl.ScheduleNode) -> bool:
    """Whether nothing but bands of one statement is below ``band``, and no subscript of it moves in two loops.

    Where loops meet in a subscript (``x[i + a]``), neighbours share what they read, and that is lost when a loop of the
    sum goes outside.
    """
    names = statements_under(band)
    while is_band(band):
        band = band.child(0)
    return len(names) == 1 and kind_of(band) == "leaf" and _moves_alone(scop.statement(names[0]))


def _moves_alone(statement: Statement) -> bool:
    count = len(statement.iterators)
    found = [access_rows(access, count) for access in statement.accesses]
    return all(rows is not None and all(sum(map(bool, row)) <= 1 for row in rows) for rows in found)


def _merged(tree: isl.Schedule, path: Path) -> isl.Schedule:
    """``tree`` with the bands directly inside one another at ``path`` as one."""
    node = band_at(tree, path)
    rows = node.band_get_partial_schedule()
    while is_band(node.child(0)):
        inner = node.child(0)
        rows = rows.flat_range_product(inner.band_get_partial_schedule())
        node = inner.delete().parent()
    return node.delete().insert_partial_schedule(rows).get_schedule()

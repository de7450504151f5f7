"""Loops whose iterations meet only in sums over cells of small arrays: threads share them by adding into copies.

``y[j] += A[i, j] * t[i]`` reads the rows of ``A`` one after the other; only sums into ``y`` tie the rows together. With
a copy of ``y`` for every thread the loop over ``i`` is parallel, each row is read by one thread, along memory, and what
else a row is used for can stand beside the sum. A single number, such as a total or a residual, is one cell.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import islpy as isl

from polyviz.analysis import find_reductions
from polyviz.analysis.parallelism import verdict_on_loop
from polyviz.model.plan import REDUCED, ArraySum
from polyviz.model.schedule import Decision
from polyviz.transform.tree import bands, node_at, statements_under

if TYPE_CHECKING:
    from polyviz.analysis import Reduction
    from polyviz.model.dependences import Dependences
    from polyviz.model.scop import Scop
    from polyviz.transform.tree import Path


def find_array_sums(
    scop: Scop,
    dependences: Dependences,
    tree: isl.Schedule,
    path: Path,
    number: int,
    *,
    ranks: tuple[int, ...] = (1,),
) -> tuple[ArraySum, ...]:
    """The arrays to copy so that the first loop of the band at ``path`` can be shared; empty where that will not do.

    Every dependence that the loop carries must be a step of a sum into an array that nothing else in the loop touches,
    with as many dimensions as one of ``ranks``; which cell a step adds to may depend on data. ``number`` ends the name
    of the loop's mark.
    """
    first = 0
    for other, band in bands(tree):
        if other == path:
            break
        first += band.band_n_member()
    loop = verdict_on_loop(scop, dependences, tree, first)
    names = statements_under(node_at(tree, path))
    reductions = {found.statement: found for found in find_reductions(scop, scattered=True)}
    carried = {(found.source, found.sink, found.array) for found in loop.carries}
    sums = []
    for statement, sink, array in sorted(carried):
        reduction = reductions.get(statement)
        if statement != sink or reduction is None or not _is_copied(scop, reduction, array, names):
            return ()
        if scop.array(array).rank not in ranks:
            return ()
        sums.append(_array_sum(scop, reduction, f"{REDUCED}:{number}"))
    return tuple(sums) if len({found.array for found in sums}) == len(sums) else ()


def explain(sums: tuple[ArraySum, ...], statements: tuple[str, ...]) -> Decision:
    """What is said of a loop that threads share by adding into copies."""
    names = " and ".join(found.array for found in sums)
    text = f"threads share the loop, each adding into a copy of {names} of its own; the copies are added at the end"
    return Decision("array-sum", text, statements, {"arrays": tuple(found.array for found in sums)})


def _is_copied(scop: Scop, reduction: Reduction, array: str, names: tuple[str, ...]) -> bool:
    """Whether the sum is all that happens to ``array`` in a loop over the statements ``names``."""
    if reduction.array != array or reduction.operator != "+":
        return False
    for name in names:
        relations = [access.relation for access in scop.statement(name).accesses if access.array == array]
        own = name == reduction.statement
        if relations and not (own and all(_same(scop, relation, reduction) for relation in relations)):
            return False
    return True


def _same(scop: Scop, relation: isl.Map, reduction: Reduction) -> bool:
    domain = scop.statement(reduction.statement).domain
    return bool(relation.intersect_domain(domain).is_equal(reduction.target))


def _array_sum(scop: Scop, reduction: Reduction, mark: str) -> ArraySum:
    if scop.array(reduction.array).rank == 0:
        return ArraySum(mark, reduction.statement, reduction.array, isl.PwAff("{ [(0)] }"), isl.PwAff("{ [(1)] }"), 0)
    if any(not access.exact for access in scop.statement(reduction.statement).accesses if access.kind == "write"):
        return ArraySum(mark, reduction.statement, reduction.array, isl.PwAff("{ [(0)] }"), None)
    cells = reduction.target.range().intersect_params(scop.context).coalesce()
    lower, upper = cells.dim_min(0).coalesce(), cells.dim_max(0).coalesce()
    extent = (upper - lower + 1).coalesce()
    return ArraySum(mark, reduction.statement, reduction.array, lower, extent)

"""Loop nests that pass over the same big array become one pass where that is legal.

A product of a matrix with a vector uses every element once: its time is that of reading the matrix. Two such products
(``A @ x`` and ``A.T @ y``) read it twice unless each row serves both while it is in the first-level cache, which asks
for one loop over the rows around both, even where one of the products was written column by column.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.analysis import find_reductions
from polyviz.analysis.distinct_lines import reference_groups
from polyviz.analysis.legality import is_legal
from polyviz.analysis.parallelism import verdict_on_loop
from polyviz.model.schedule import Decision
from polyviz.transform.nest import unwrapped
from polyviz.transform.shape import (
    Branches,
    Loops,
    Part,
    joined,
    loops_around,
    sequence_of,
    shape_of,
    statements_in,
    tidy,
    tree_of,
)
from polyviz.transform.tree import bands, statements_under

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from polyviz.model.dependences import Dependences
    from polyviz.model.scop import Access, Scop, Statement

_Rows = tuple[tuple[str, str], tuple[str, str]]
"""Two statements, each with the row of a matrix that it uses."""
LINE = 8
"""Elements per line of the cache, for the figures in decisions."""
TILE = 32
"""The trip count at which lines are compared."""


@dataclass(frozen=True, slots=True)
class _Pass:
    """Part ``place`` of the sequence: one statement that uses every element of a matrix once, with the matrix' row and
    column as functions of its instances."""

    place: int
    statement: str
    array: str
    row: isl.UnionPwAff
    column: isl.UnionPwAff


def fuse_passes(
    scop: Scop, dependences: Dependences, tree: isl.Schedule, *, sums: bool
) -> tuple[isl.Schedule, tuple[Decision, ...]]:
    """``tree`` with nests over the same matrix in one loop over its rows, and what was decided.

    Only where that is legal and the rows can be shared between threads: as they are, or by ``sums`` into copies.
    """
    decisions: list[Decision] = []
    refused: set[_Rows] = set()
    while True:
        pair = next(_pairs(scop, tree, refused), None)
        if pair is None:
            return tree, tuple(decisions)
        fused = _fused(scop, dependences, tree, pair, sums=sums)
        if fused is None:
            refused.add(_rows_of(pair))
            continue
        tree = fused
        decisions.append(_said(scop, pair))


def _rows_of(pair: tuple[_Pass, _Pass]) -> _Rows:
    """Which rows of the two meet, whatever the matrix is called."""
    first, second = ((found.statement, str(found.row)) for found in pair)
    return (first, second)


def _pairs(scop: Scop, tree: isl.Schedule, refused: set[_Rows]) -> Iterator[tuple[_Pass, _Pass]]:
    """Two nests in the outermost sequence that pass over the same matrix, one of them to fold its elements."""
    shape = shape_of(tree)
    if not isinstance(shape, Branches):
        return
    sums = {found.statement for found in find_reductions(scop)}
    passes = [found for place, part in enumerate(shape.parts) for found in _passes(scop, place, part)]
    for position, first in enumerate(passes):
        for second in passes[position + 1 :]:
            names = (first.statement, second.statement)
            apart = first.place != second.place and first.array == second.array
            if apart and not sums.isdisjoint(names) and _rows_of((first, second)) not in refused:
                yield first, second


def _passes(scop: Scop, place: int, part: Part) -> Iterator[_Pass]:
    """The ways to see ``part`` as a pass over a matrix: a stencil has one for every row it reads. A loop over rows
    that was made before counts as the passes inside it."""
    rows, inside = unwrapped(part.child)
    inner = [part] if len(rows) == 2 else []
    if len(rows) == 1 and isinstance(inside, Branches):
        inner = [one for one in inside.parts if len(unwrapped(one.child)[0]) == 1]
    for one in inner:
        names = statements_in(one.instances)
        nested = unwrapped(one.child)[1].children
        if len(names) == 1 and not nested:
            yield from _passes_of(scop.statement(names[0]), place)


def _passes_of(statement: Statement, place: int) -> Iterator[_Pass]:
    if len(statement.iterators) != 2:
        return
    seen: set[tuple[str, str]] = set()
    for access in (one for one in statement.accesses if _is_matrix(one, statement)):
        subscripts = isl.PwMultiAff.from_map(access.relation.intersect_domain(statement.domain))
        row, column = (subscripts.get_pw_aff(axis) for axis in (0, 1))
        if (access.array, str(row)) in seen:
            continue
        seen.add((access.array, str(row)))
        yield _Pass(
            place,
            statement.name,
            access.array,
            isl.UnionPwAff.from_pw_aff(row),
            isl.UnionPwAff.from_pw_aff(column),
        )


def _is_matrix(access: Access, statement: Statement) -> bool:
    """Whether ``access`` is to another element of a matrix in each instance, under no condition."""
    relation = access.relation
    if relation.dim(isl.dim_type.out) != 2 or not access.exact or not statement.domain.is_subset(relation.domain()):
        return False
    return bool(relation.is_single_valued() and relation.is_injective())


def _fused(
    scop: Scop, dependences: Dependences, tree: isl.Schedule, pair: tuple[_Pass, _Pass], *, sums: bool
) -> isl.Schedule | None:
    shape = shape_of(tree)
    assert isinstance(shape, Branches)
    for place in (pair[0].place, pair[1].place):
        changed = _with_one_loop(shape, pair, place)
        candidate = tree_of(tree.get_domain(), tidy(changed))
        if is_legal(scop, candidate, known=dependences) and _can_be_shared(
            scop, dependences, candidate, pair, sums=sums
        ):
            return candidate
    return None


def _with_one_loop(shape: Branches, pair: tuple[_Pass, _Pass], place: int) -> Branches:
    """The two nests in one loop over rows, which stands where the one at ``place`` was."""
    inner = [part for found in pair for part in _columns(shape.parts[found.place], found)]
    rows = [row for found in pair for row in _row_of(shape.parts[found.place], found)]
    instances = shape.parts[pair[0].place].instances.union(shape.parts[pair[1].place].instances)
    fused = Part(loops_around([joined(rows)], sequence_of(inner)), instances)
    gone = {found.place for found in pair} - {place}
    parts = [
        fused if position == place else part
        for position, part in enumerate(shape.parts)
        if position not in gone
    ]
    return replace(shape, parts=tuple(parts))


def _row_of(part: Part, found: _Pass) -> list[isl.UnionPwAff]:
    """The loop over rows of ``part``: as it is where it was made before."""
    rows, _ = unwrapped(part.child)
    return [found.row] if len(rows) == 2 else list(rows)


def _columns(part: Part, found: _Pass) -> list[Part]:
    rows, inside = unwrapped(part.child)
    if len(rows) == 1 and isinstance(inside, Branches):
        return list(inside.parts)
    return [Part(Loops(inside, (found.column,)), part.instances)]


def _can_be_shared(
    scop: Scop, dependences: Dependences, tree: isl.Schedule, pair: tuple[_Pass, _Pass], *, sums: bool
) -> bool:
    """Whether threads can share the loop over the rows of ``pair``."""
    number = 0
    for _, band in bands(tree):
        if pair[0].statement in statements_under(band):
            verdict = verdict_on_loop(scop, dependences, tree, number)
            return verdict.nothing or (sums and verdict.only_reductions)
        number += band.band_n_member()
    return False


def _said(scop: Scop, pair: Sequence[_Pass]) -> Decision:
    names = tuple(sorted(found.statement for found in pair))
    array = pair[0].array
    once = max(_lines(scop.statement(found.statement), array) for found in pair)
    twice = sum(_lines(scop.statement(found.statement), array) for found in pair)
    text = (
        f"{' and '.join(names)} share a loop over the rows of {array}, which is read once instead of twice: "
        f"{once} lines instead of {twice} in {TILE} x {TILE} iterations"
    )
    details = {"array": array, "lines_apart": twice, "lines_together": once, "tile": TILE}
    return Decision("fuse-passes", text, names, details)


def _lines(statement: Statement, array: str) -> int:
    """The lines of ``array`` that a tile of ``statement`` touches."""
    groups, _ = reference_groups(statement)
    sizes = [TILE] * len(statement.iterators)
    return round(sum(float(group.lines(sizes, LINE)) for group in groups if group.array == array))

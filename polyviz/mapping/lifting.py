"""Rows that are swept again and again, kept so that a cell and its neighbours never share a vector.

A stencil along a line reads neighbours of what it writes: of the vectors it loads most straddle two lines of the cache,
and each number is loaded as often as it has neighbours. With the row cut into as many stretches as there are lanes,
and the first cells of all stretches side by side, then the second ones, a neighbour is a whole vector further on: every
load is aligned, and compilers keep what the next step reads again. Only the ends of the stretches are passed on between
sweeps (T. Henretty et al., "Data Layout Transformation for Stencil Computations on Short-Vector SIMD Architectures",
Compiler Construction 2011, section 3). No operation changes, so results stay what they were, bit by bit; but where
sums may be added up in another order, rows in vectors share parts of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.analysis.strides import direction, motions, statement_rows
from polyviz.model.expression import Assign, Element, Name, walk
from polyviz.model.isl_limits import solved
from polyviz.model.plan import END, VECTOR, Lifting
from polyviz.model.schedule import Decision
from polyviz.transform.tree import bands, is_band, kind_of, statements_under

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from polyviz.model.expression import Expression, Node
    from polyviz.model.scop import Access, Scop, Statement

FARTHEST = 8
"""How many cells away a neighbour may be: the ends of the stretches are passed on cell by cell."""


def find_liftings(scop: Scop, tree: isl.Schedule) -> tuple[tuple[Lifting, ...], tuple[Decision, ...]]:
    """The loops of ``tree`` that hold nothing but sweeps over rows in one place of memory, and what is said of them
    and of those that look alike."""
    found: list[Lifting] = []
    decisions: list[Decision] = []
    for _, band in bands(tree):
        sweeps = _sweeps(band.child(0))
        lifting = _lifting(scop, sweeps) if sweeps else None
        if isinstance(lifting, Lifting):
            found.append(lifting)
            decisions.append(_said(lifting))
        elif lifting is not None:
            names = tuple(statements_under(sweep)[0] for sweep in sweeps)
            decisions.append(Decision("lift", f"rows are swept where they are: {lifting}", names))
    return tuple(found), tuple(decisions)


def _sweeps(node: isl.ScheduleNode) -> list[isl.ScheduleNode]:
    """The vector loops, one statement in each, that are all of ``node``; none where there is something else."""
    if kind_of(node) != "sequence":
        alone = vector_loop(node)
        return [] if alone is None else [alone]
    parts = [vector_loop(node.child(place).child(0)) for place in range(node.n_children())]
    loops = [part for part in parts if part is not None]
    return loops if len(loops) == len(parts) else []


def vector_loop(node: isl.ScheduleNode) -> isl.ScheduleNode | None:
    """The band of the vector loop over one statement that is all of ``node``; None where it is something else."""
    if kind_of(node) != "mark" or node.mark_get_id().get_name() != VECTOR:
        return None
    band = node.child(0)
    if not is_band(band) or band.band_n_member() != 1 or len(statements_under(band)) != 1:
        return None
    end = band.child(0)
    ends = kind_of(end) == "mark" and end.mark_get_id().get_name() == END
    return band if ends and kind_of(end.child(0)) == "leaf" else None


def _lifting(scop: Scop, sweeps: Sequence[isl.ScheduleNode]) -> Lifting | str | None:
    """The lifting of ``sweeps``; where only something else in them forbids it, what that is. None where they do not
    go over the same cells again and again, or read no neighbours."""
    statements = [scop.statement(statements_under(band)[0]) for band in sweeps]
    parted = [_parted(band, statement) for band, statement in zip(sweeps, statements, strict=True)]
    found = [part for part in parted if part is not None]
    farthest = max((part.farthest for part in found), default=0)
    if len(found) < len(parted) or not farthest:
        return None
    moving = [access for part in found for access in part.moving]
    fixed = [access for part in found for access in part.fixed]
    rows = {access.array for access in moving}
    written = {access.array for access in (*moving, *fixed) if access.kind == "write"}
    reason = next((part.reason for part in found if part.reason), "")
    if reason:
        return reason
    if farthest > FARTHEST:
        return f"a neighbour is {farthest} cells away, and the ends of stretches are passed on for {FARTHEST} at most"
    # What stays where it is must not change under the sweeps, and must not be part of a row.
    if not written <= rows or any(access.array in rows | written for access in fixed):
        return "a cell that all iterations read or write is part of a row, or changes"
    return Lifting(tuple(statement.name for statement in statements), tuple(sorted(rows)))


@dataclass(frozen=True, slots=True)
class _Parted:
    """The accesses of a statement that move by one cell of a row, those that stay, the distance of the farthest
    neighbour, and what forbids a lifting."""

    moving: tuple[Access, ...]
    fixed: tuple[Access, ...]
    farthest: int
    reason: str


def _parted(band: isl.ScheduleNode, statement: Statement) -> _Parted | None:
    """The accesses of ``statement`` in the loop of ``band``; None where it does not write the same cells each time."""
    prefix = band.get_prefix_schedule_multi_union_pw_aff()
    rows = prefix.flat_range_product(band.band_get_partial_schedule())
    own = statement_rows(rows, statement)
    along, found = direction(own, len(own) - 1), motions(statement, own, len(own) - 1)
    if along is None or found is None:
        return None
    moving = tuple(motion.access for motion in found if list(motion.change) == [1])
    target = next((access for access in moving if access.kind == "write"), None)
    if target is None or not _is_steady(prefix, target):
        return None
    distances = [_distance(access, target) for access in moving]
    reason = ""
    if any(motion.locality != "temporal" and motion.access not in moving for motion in found):
        reason = f"{statement.name} reads or writes something that does not move by one cell of a row"
    elif None in distances:
        reason = f"{statement.name} reads a neighbour at a distance that is no number"
    elif not _is_plain(statement, along):
        reason = f"{statement.name} is more than one assignment whose loop variable stands in subscripts only"
    fixed = tuple(access for access in statement.accesses if access not in moving)
    return _Parted(moving, fixed, max(abs(distance or 0) for distance in distances), reason)


def _is_plain(statement: Statement, along: Sequence[object]) -> bool:
    """Whether ``statement`` is one assignment to a cell, by a value that depends on the loop by its operands only."""
    writes = [access for access in statement.accesses if access.kind == "write"]
    (body, *more) = statement.body
    if more or not isinstance(body, Assign) or not statement.exact or len(writes) != 1:
        return False
    running = {name for name, step in zip(statement.iterators, along, strict=True) if step}
    return not any(isinstance(part, Name) and part.name in running for part in _outside(body.value))


def _outside(value: Expression) -> Iterator[Node]:
    """The parts of ``value`` that are not in subscripts."""
    hidden = {
        id(part)
        for element in walk(value)
        if isinstance(element, Element)
        for subscript in element.subscripts
        for part in walk(subscript)
    }
    return (part for part in walk(value) if id(part) not in hidden)


def _is_steady(prefix: isl.MultiUnionPwAff, target: Access) -> bool:
    """Whether the cells that are written are the same in all iterations of the loops around, ``prefix``."""
    cells = isl.UnionMap.from_map(target.relation)
    times = isl.UnionMap.from_multi_union_pw_aff(prefix).intersect_domain(cells.domain())
    each = times.reverse().apply_range(cells)
    every = isl.UnionMap.from_domain_and_range(each.domain(), each.range())
    return solved(lambda: every.is_subset(each)) is True


def _distance(access: Access, target: Access) -> int | None:
    """How many cells the cell of ``access`` lies behind that of ``target``; None where that is no number."""
    cell, written = (isl.PwMultiAff.from_map(one.relation).get_pw_aff(0) for one in (access, target))
    differences = isl.Map.from_pw_aff(cell.sub(written)).range()
    nearest, farthest = (
        solved(partial(end, 0)) for end in (differences.dim_min_val, differences.dim_max_val)
    )
    if nearest is None or farthest is None or not nearest.is_int() or not nearest.eq(farthest):
        return None
    return int(nearest.to_python())


def _said(lifting: Lifting) -> Decision:
    arrays = " and ".join(lifting.arrays)
    text = (
        f"{arrays} are swept again and again: while the sweeps run, the row is kept in stretches side by side, so that "
        "neighbours are whole vectors apart and every load is aligned"
    )
    return Decision("lift", text, lifting.statements, {"arrays": lifting.arrays})

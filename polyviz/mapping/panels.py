"""Panels: what the rows of a recurrence need from rows further up, added up for several rows together.

In ``x[i] = (b[i] - sum(L[i, j] * x[j] for j < i)) / L[i, i]`` every row waits for the one before, but only with the
last step of its sum. Of a block of rows all steps with ``j`` above the block have what they need: they come first, in
a loop over rows that is parallel. Rows that run side by side in it load each ``x[j]`` once and add in registers of
their own (``polyviz.codegen.panels_c``), threads share the rows of large blocks, and only a small triangle is left to
run in order. The steps of each sum keep their order. What comes first follows from the dependences, and isl decides.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.analysis.order_below import keeps_order_below
from polyviz.mapping.accumulate import find_accumulations
from polyviz.mapping.ahead import Ahead, find_ahead
from polyviz.mapping.work import region_extents
from polyviz.model.plan import END, JAM, PARALLEL, REDUCED, ParallelWork
from polyviz.model.schedule import Decision
from polyviz.transform.shape import (
    Loops,
    Marked,
    Part,
    Shape,
    loops_around,
    loops_at,
    pruned,
    restricted,
    sequence_of,
    shape_of,
    tree_of,
    with_part,
)
from polyviz.transform.tree import (
    band_at,
    bands,
    kind_of,
    members,
    node_at,
    path_of,
    split_band,
    statements_under,
    walk,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyviz.mapping.marked import Mapped
    from polyviz.model.dependences import Dependences
    from polyviz.model.scop import Scop
    from polyviz.transform.tree import Path

ROWS = 8
"""Rows side by side: an addition takes about four cycles, and one or two can start in every cycle."""
SHARED = 256
"""Rows of a block that threads share: the triangle that one thread is left with is small beside all of them, and to
start threads costs little beside the steps of so many rows."""


def make_panels(scop: Scop, dependences: Dependences, mapped: Mapped) -> Mapped:
    """``mapped`` with every sum inside a serial loop taken apart, where some of its steps can come before a block."""
    for path, member, names in reversed(_candidates(scop, dependences, mapped.tree)):
        mapped = _with_panels(scop, dependences, mapped, path, member, names)
    return mapped


def _candidates(
    scop: Scop, dependences: Dependences, tree: isl.Schedule
) -> list[tuple[Path, int, tuple[str, ...]]]:
    """The last but one of the loops around each sum, with its path and its place in the band there, and the sums.

    What a single variable adds up over all rows is no sum of a row, unless each has a variable of its own.
    """
    found: dict[tuple[Path, int], list[str]] = {}
    sums, _ = find_accumulations(scop, tree, None)
    whole = {one.name for one in scop.arrays if not one.rank} - {one.array for one in dependences.privatizations}
    for name in (one.statement for one in sums if one.stride != "scattered"):
        if any(access.kind == "write" and access.array in whole for access in scop.statement(name).accesses):
            continue
        around = [
            (path, member)
            for path, band in bands(tree)
            if name in statements_under(band)
            for member in range(band.band_n_member())
        ]
        if len(around) > 1:
            found.setdefault(around[-2], []).append(name)
    return [
        (path, member, tuple(names))
        for (path, member), names in sorted(found.items())
        if _is_untouched(tree, path)
    ]


def _is_untouched(tree: isl.Schedule, path: Path) -> bool:
    """Whether nothing has been decided for the band at ``path`` but that threads share loops around it."""
    marks = [(path_of(node), _kind(node)) for node in walk(tree) if kind_of(node) == "mark"]
    above = [kind for place, kind in marks if path[: len(place)] == place]
    below = [place for place, _ in marks if place[: len(path)] == path]
    return not below and all(kind in (PARALLEL, REDUCED, END) for kind in above)


def _kind(mark: isl.ScheduleNode) -> str:
    return str(mark.mark_get_id().get_name().partition(":")[0])


def _with_panels(
    scop: Scop, dependences: Dependences, mapped: Mapped, path: Path, member: int, names: tuple[str, ...]
) -> Mapped:
    """``mapped`` with panels of the sums ``names`` in the loop ``member`` of the band at ``path``.

    Threads share the rows only where no loop is around them, which would start the threads again and again.
    """
    tree = mapped.tree
    if member:
        tree, path = split_band(tree, path, member), (*path, 0)
    work: tuple[ParallelWork, ...] = ()
    if node_at(tree, path).get_schedule_depth() == 0:
        mark = f"{PARALLEL}:panel{len(mapped.work)}"
        around = members(band_at(tree, path))[:1]
        shared = _taken_apart(scop, dependences, tree, path, names, SHARED, mark)
        if not isinstance(shared, str):
            tree, path = shared
            work = (_work(scop, names[0], around, mark),)
    beside = _taken_apart(scop, dependences, tree, path, names, ROWS)
    if isinstance(beside, str):
        said = [_refusal(names, beside)] if beside else []
        return replace(mapped, decisions=(*mapped.decisions, *said))
    decisions = (*mapped.decisions, _said(names, shared=bool(work)))
    return replace(mapped, tree=beside[0], work=(*mapped.work, *work), decisions=decisions)


def _taken_apart(
    scop: Scop,
    dependences: Dependences,
    tree: isl.Schedule,
    path: Path,
    names: Sequence[str],
    count: int,
    mark: str = "",
) -> tuple[isl.Schedule, Path] | str:
    """``tree`` with the first loop of the band at ``path`` in blocks of ``count`` rows, and the path of what is left in
    order; threads share the rest under ``mark``. Else, why that will not do: nothing where nothing is in order."""
    found = [_worth_it(scop, find_ahead(scop, dependences, tree, path, name, count)) for name in names]
    early = [ahead for ahead in found if isinstance(ahead, Ahead)]
    if not early:
        return next((reason for reason in found if isinstance(reason, str) and reason), "")
    shape = shape_of(tree)
    blocks = _in_blocks(loops_at(shape, path), band_at(tree, path).get_domain(), early, count, mark)
    changed = tree_of(tree.get_domain(), with_part(shape, path, blocks))
    if not keeps_order_below(scop, dependences, changed, path):
        return "some statement of the rows stands between its steps"
    return changed, (*path, 0, len(blocks.child.children) - 1, 0)


def _worth_it(scop: Scop, found: Ahead | str) -> Ahead | str:
    """``found``, or why it takes too much memory: numbers that each step computes for itself would be kept for all."""
    if isinstance(found, str):
        return found
    sum_of = scop.statement(found.statement)
    own = [scop.statement(name) for name in found.first]
    written = {
        access.array
        for statement in own
        for access in statement.accesses
        if access.kind == "write" and len(statement.iterators) >= len(sum_of.iterators)
    }
    read = dict.fromkeys(access.array for access in sum_of.accesses if access.kind == "read")
    kept = next((name for name in read if name in written and not scop.array(name).rank), None)
    return found if kept is None else f"each step computes its own `{kept}`, which would be kept for all of them"


def _in_blocks(
    loops: Loops, instances: isl.UnionSet, early: Sequence[Ahead], count: int, mark: str
) -> Loops:
    """``loops`` over ``instances`` in blocks of ``count`` rows: what comes first, the early steps, everything else."""
    row, inside = loops.rows[0], loops_around(loops.rows[1:], loops.child)
    parts = []
    first = _instances_of(instances, {name for ahead in early for name in ahead.first})
    if not first.is_empty():
        parts.append(Part(Loops(pruned(inside, first), (restricted(row, first),)), first))
        instances = instances.subtract(first)
    for ahead in early:
        steps = isl.UnionSet.from_set(ahead.early)
        own = restricted(row, steps)
        rows: Shape = _marked(Loops(pruned(inside, steps), (own,), coincident=(True,)), f"{JAM}:{ROWS}")
        if mark:
            rows = _marked(Loops(rows, (_blocks_of(own, ROWS),), coincident=(True,)), mark)
        parts.append(Part(rows, steps))
        instances = instances.subtract(steps)
    rest = Loops(pruned(inside, instances), (restricted(row, instances),))
    parts.append(Part(rest, instances))
    return Loops(sequence_of(parts), (_blocks_of(row, count),))


def _instances_of(instances: isl.UnionSet, names: set[str]) -> isl.UnionSet:
    sets = instances.get_set_list()
    found = isl.UnionSet.empty(instances.get_space())
    for one in map(sets.get_at, range(sets.n_set())):
        if one.get_tuple_name() in names:
            found = found.union(isl.UnionSet.from_set(one))
    return found


def _marked(loops: Loops, name: str) -> Shape:
    return Marked(Loops(Marked(loops.child, END), loops.rows, coincident=loops.coincident), name)


def _blocks_of(row: isl.UnionPwAff, count: int) -> isl.UnionPwAff:
    """The first row of the block of each row."""
    size = isl.Val(count)
    return row.scale_down_val(size).floor().scale_val(size)


def _work(scop: Scop, name: str, around: Sequence[isl.UnionPwAff], mark: str) -> ParallelWork:
    """The steps of a block that threads share: its rows times the longest sum inside ``around``, and what one costs."""
    extents = region_extents(scop, (name,), around)
    rows = isl.PwAff.val_on_domain(scop.context, isl.Val(SHARED))
    return ParallelWork(mark, (rows, *extents))


def _said(names: tuple[str, ...], *, shared: bool) -> Decision:
    text = f"{ROWS} rows run side by side up to the first step that needs one of them, and only the rest in order"
    if shared:
        text += f"; threads share what {SHARED} rows need from rows before them"
    return Decision("panels", text, names, {"rows": ROWS, "shared": SHARED if shared else 0})


def _refusal(names: tuple[str, ...], reason: str) -> Decision:
    return Decision("panels", f"rows run one after the other, not side by side: {reason}", names)

"""Interleaving: several iterations of a parallel loop run together in the body of a serial loop.

A serial loop that computes each value from the one before waits for a whole chain of operations per iteration. Chains
that do not depend on each other, side by side in one body, are computed at the same time, and what neighbouring
iterations read along a column comes from one cache line. The iterations come from a parallel loop around the serial
one (strips), or, in a permutable band without such a loop, from its diagonals: along the sum of two rows, each of the
two rows is parallel.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.analysis.carried import undecided, visits
from polyviz.analysis.recurrences import reached
from polyviz.mapping.innermost import distribute_innermost, mark_last
from polyviz.mapping.storage import grows
from polyviz.model.expression import Assign, Branch, Call, Conditional, Element, Expression, children
from polyviz.model.isl_limits import solved
from polyviz.model.plan import INTERLEAVE, VECTOR
from polyviz.model.schedule import Decision
from polyviz.transform.innermost import best_innermost
from polyviz.transform.interchange import permute_members
from polyviz.transform.tile import split_into_tiles
from polyviz.transform.tree import (
    Path,
    band_at,
    bands,
    coincident_members,
    insert_mark,
    is_band,
    isolate_member,
    kind_of,
    members,
    node_at,
    replace_rows,
    split_band,
    statements_under,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from polyviz.analysis import BandProperties
    from polyviz.analysis.carried import BandVisit, Constraint, Rows
    from polyviz.model.dependences import Dependences
    from polyviz.model.expression import Instruction
    from polyviz.model.scop import Scop

CHAINS = 8
"""Iterations side by side: a chain with a division takes about eight times as long as the division keeps its unit busy,
and eight neighbouring doubles fill a cache line."""
INSTRUCTIONS = 2
"""Vector instructions that they share: all in one would be a single chain again, which waits for itself."""
_LONGEST = 4
"""The largest distance, in iterations, at which one value still waits for another."""


def has_chains(scop: Scop, dependences: Dependences, tree: isl.Schedule, paths: Sequence[Path]) -> bool:
    """Whether the innermost loop of each band at ``paths`` waits for its own values, and nothing makes it parallel.

    Statements with private temporaries are left alone: each chain would need copies of its own.
    """
    return not _has_copies(scop, dependences, tree, paths) and _all_wait(scop, dependences, tree, paths)


def _has_copies(scop: Scop, dependences: Dependences, tree: isl.Schedule, paths: Sequence[Path]) -> bool:
    """Whether something in the bands at ``paths`` touches a private temporary."""
    private = {found.array for found in dependences.privatizations}
    names = {name for path in paths for name in statements_under(node_at(tree, path))}
    return any(access.array in private for name in names for access in scop.statement(name).accesses)


def has_chains_in_strips(
    scop: Scop, dependences: Dependences, tree: isl.Schedule, around: Path, order: Sequence[int], paths: Sequence[Path]
) -> bool:
    """The same for bands inside the one at ``around``, with members in ``order``, of which strips are to run innermost:
    private temporaries have a small array for each strip then, or the strips are of no use."""
    if not _all_wait(scop, dependences, tree, paths):
        return False
    if not _has_copies(scop, dependences, tree, paths):
        return True
    strips, alone = cut_into_strips(permute_members(tree, around, order)[0], around)
    return not grows(scop, dependences, tree, interleave_strips(scop, strips, (*alone, 0)))


def waits_after(
    scop: Scop, dependences: Dependences, tree: isl.Schedule, path: Path, order: Sequence[int]
) -> bool:
    """Whether the innermost loop of the band at ``path`` waits for its own values once its members run in ``order``."""
    return _all_wait(scop, dependences, permute_members(tree, path, order)[0], (path,))


def _all_wait(scop: Scop, dependences: Dependences, tree: isl.Schedule, paths: Sequence[Path]) -> bool:
    walk = zip(bands(tree), visits(scop, dependences, tree), strict=True)
    chained = {place for (place, _), visit in walk if place in paths and _is_chain(visit)}
    return len(chained) == len(paths) and all(
        distribute_innermost(scop, dependences, tree, path) is None for path in paths
    )


def is_chain_after(
    scop: Scop, dependences: Dependences, tree: isl.Schedule, path: Path, order: Sequence[int]
) -> bool:
    """Whether the band at ``path`` has chains once its members run in ``order``."""
    return has_chains(scop, dependences, permute_members(tree, path, order)[0], (path,))


def leaves_nothing_to_overlap(scop: Scop, names: Sequence[str]) -> bool:
    """Whether a step of the chains of ``names`` branches, or does nothing but choose between the value before it and
    others.

    A choice takes a cycle or two. Branches that depend on data are guessed, and side by side they are guessed worse.
    The value before is a cell of the same array that lies beside the one that is computed, along one subscript.
    """
    body = [instruction for name in names for instruction in scop.statement(name).body]
    return any(isinstance(one, Branch) for one in body) or all(map(_chooses, body))


def _chooses(instruction: Instruction) -> bool:
    if not isinstance(instruction, Assign) or instruction.operator is not None:
        return False
    before = [
        computed for element, computed in _operands(instruction.value) if _is_beside(element, instruction.target)
    ]
    return bool(before) and not any(before)


def _operands(expression: Expression, *, computed: bool = False) -> Iterator[tuple[Element, bool]]:
    """The cells in ``expression``, each with whether something is computed with it before the value is there."""
    if isinstance(expression, Element):
        yield expression, computed
        return
    chooses = isinstance(expression, Conditional) or (
        isinstance(expression, Call) and expression.function in ("min", "max")
    )
    for child in children(expression):
        assert isinstance(child, Expression)
        yield from _operands(child, computed=computed or not chooses)


def _is_beside(element: Element, target: Element) -> bool:
    if element.array != target.array or len(element.subscripts) != len(target.subscripts):
        return False
    return sum(one != other for one, other in zip(element.subscripts, target.subscripts, strict=True)) == 1


def chains_apart(
    scop: Scop, dependences: Dependences, tree: isl.Schedule, properties: Sequence[BandProperties]
) -> isl.Schedule | None:
    """``tree`` with a parallel loop around each chain of its band as a band of its own; None where there are none.

    ``properties`` are those of all bands.
    """
    changed = None
    for (path, _), found in reversed(list(zip(bands(tree), properties, strict=True))):
        order = _order_of_chain(scop, dependences, tree, path, found)
        if order is None:
            continue
        apart = split_band(permute_members(changed or tree, path, order)[0], path, 1)
        inside = (*path, 0)
        if not _has_copies(scop, dependences, tree, (path,)) or has_chains_in_strips(
            scop, dependences, apart, path, (0,), (inside,)
        ):
            changed = apart
    return changed


def _order_of_chain(
    scop: Scop, dependences: Dependences, tree: isl.Schedule, path: Path, found: BandProperties
) -> tuple[int, ...] | None:
    """The members of a band with a parallel one first and a chain last; None where they are something else."""
    parallel = next((place for place, member in enumerate(found.members) if member.coincident), None)
    inside = any(other != path and other[: len(path)] == path for other, _ in bands(tree))
    if parallel is None or inside or not found.permutable or len(found.members) < 2:
        return None
    last = best_innermost(scop, tree, path, serial_lanes=True, temporaries=dependences.privatizations)
    if found.members[last].coincident:
        return None
    order = (parallel, *(place for place in range(len(found.members)) if place not in (parallel, last)), last)
    return order if waits_after(scop, dependences, tree, path, order) else None


def _is_chain(visit: BandVisit) -> bool:
    """Whether an iteration of the last member needs a value that one of the last few iterations computed, and the next
    iterations need what is computed from it: what is used once, behind the last iteration, makes no chain."""
    left = [one for one in reduce(undecided, visit.rows[:-1], visit.constraints) if _is_flow(one)]
    return any(_is_near(one, visit) and one.source in {one.sink, *reached(one.sink, left)} for one in left)


def _is_flow(constraint: Constraint) -> bool:
    dependence = constraint.dependence
    return dependence is not None and dependence.kind == "flow" and constraint.reduction is None


def _is_near(constraint: Constraint, visit: BandVisit) -> bool:
    longest = _longest_distance(constraint, visit.rows[-1])
    return longest is not None and 0 < longest <= _LONGEST


def _longest_distance(constraint: Constraint, rows: Rows) -> int | None:
    """The largest number of iterations from the source to the sink of ``constraint``; None where there is none."""
    values = constraint.pairs.apply_domain(rows[constraint.source]).apply_range(rows[constraint.sink])
    longest = solved(lambda: values.deltas().dim_max_val(0))
    return int(longest.to_python()) if longest is not None and longest.is_int() else None


def has_short_dependences(scop: Scop, dependences: Dependences, tree: isl.Schedule, path: Path) -> bool:
    """Whether the distance of every dependence in the band at ``path`` is bounded by a number in every row."""
    walk = zip(bands(tree), visits(scop, dependences, tree), strict=True)
    visit = next(visit for (place, _), visit in walk if place == path)
    found = [constraint for constraint in visit.constraints if constraint.dependence is not None]
    real = [constraint for constraint in found if not constraint.pairs.is_empty()]
    return all(_longest_distance(constraint, rows) is not None for constraint in real for rows in visit.rows)


def with_diagonals(tree: isl.Schedule, path: Path, order: Sequence[int]) -> isl.Schedule:
    """The permutable band at ``path`` with the sum of its two innermost rows (by ``order``) as the innermost."""
    rows = list(members(band_at(tree, path)))
    before, last = order[-2:]
    rows[last] = rows[last].add(rows[before])
    return replace_rows(tree, path, rows, coincident=(False,) * len(rows))


def interleave_diagonals(tree: isl.Schedule, points: Path) -> isl.Schedule:
    """The band at ``points``, its last row a diagonal, with strips of the row before it run innermost."""
    rows = members(band_at(tree, points))
    before, last = rows[-2:]
    strips = before.scale_down_val(isl.Val(CHAINS)).floor()
    count = len(rows) + 1
    changed = replace_rows(tree, points, [*rows[:-2], strips, last, before], coincident=(False,) * count)
    return mark_last(changed, points, f"{INTERLEAVE}:{CHAINS}")


def cut_into_strips(tree: isl.Schedule, path: Path) -> tuple[isl.Schedule, Path]:
    """The last member of the band at ``path`` as a loop over strips; its path. Below it the loop inside a strip.

    The member is parallel: what was found of the band says so, even where the flags of the tree are older than that.
    """
    tree, alone = isolate_member(tree, path, band_at(tree, path).band_n_member() - 1)
    tree = band_at(tree, alone).band_member_set_coincident(0, 1).get_schedule()
    return split_into_tiles(tree, alone, (CHAINS,), scaled=True), alone


def interleave_strips(scop: Scop, tree: isl.Schedule, points: Path) -> isl.Schedule:
    """The one loop at ``points``, which is parallel, moved inside all loops below it, for vector instructions.

    Statements of an innermost loop share one of its own where compilers see which cells they pass to each other, so
    that these stay in registers. Loops that are vectors already stay inside.
    """
    assert coincident_members(band_at(tree, points)) == (True,)
    rows = band_at(tree, points).band_get_partial_schedule()
    tree = band_at(tree, points).delete().get_schedule()
    for path, in_lanes in sorted(_innermost_places(scop, node_at(tree, points), points), reverse=True):
        node = node_at(tree, path).insert_partial_schedule(rows)
        tree = node.band_member_set_coincident(0, 1).get_schedule()
        if in_lanes:
            tree = insert_mark(mark_last(tree, path, VECTOR), path, f"{INTERLEAVE}:{CHAINS // INSTRUCTIONS}")
    return tree


def _innermost_places(scop: Scop, node: isl.ScheduleNode, path: Path) -> Iterator[tuple[Path, bool]]:
    """Right inside the innermost loops below ``node``, and where there are none; for loops that are vectors, around
    them, with False."""
    if kind_of(node) == "leaf":
        yield path, True
    elif kind_of(node) == "mark" and node.mark_get_id().get_name() == VECTOR:
        yield path, False
    elif is_band(node) and not _has_loops(node.child(0)) and _may_share(scop, node):
        yield (*path, 0), True
    else:
        for place in range(node.n_children()):
            yield from _innermost_places(scop, node.child(place), (*path, place))


def _may_share(scop: Scop, band: isl.ScheduleNode) -> bool:
    """Whether all statements of ``band`` may be in one vector loop.

    Told that lanes have nothing to do with each other, gcc takes that for true of what one lane does, too, where it
    cannot tell how far cells are apart, and stores after it has loaded. So an array that is written is touched in one
    cell only, and nothing stands behind a condition: the statements have the same iterations.
    """
    statements = [scop.statement(name) for name in statements_under(band)]
    if len(statements) < 2:
        return True
    if not all(isinstance(line, Assign) for one in statements for line in one.body):
        return False
    rows = band.get_prefix_schedule_multi_union_pw_aff().flat_range_product(band.band_get_partial_schedule())
    every = isl.UnionMap.from_multi_union_pw_aff(rows)
    domains = [isl.UnionSet.from_set(one.domain) for one in statements]
    times = [isl.Map.from_union_map(every.intersect_domain(domain)).reverse() for domain in domains]
    if not all(time.domain().is_equal(times[0].domain()) for time in times):
        return False
    accesses = [(access, time) for one, time in zip(statements, times, strict=True) for access in one.accesses]
    cells: dict[str, isl.Map] = {}
    for access, time in accesses:
        cell = time.apply_range(access.relation)
        written = any(other.array == access.array and other.kind == "write" for other, _ in accesses)
        if written and not (access.exact and cell.is_equal(cells.setdefault(access.array, cell))):
            return False
    return True


def _has_loops(node: isl.ScheduleNode) -> bool:
    return is_band(node) or any(_has_loops(node.child(place)) for place in range(node.n_children()))


def interleave_decision(statements: tuple[str, ...], *, diagonals: bool) -> Decision:
    """What is said of a band that is interleaved."""
    kind = "along diagonals of the two innermost loops" if diagonals else "of the parallel loop around them"
    text = (
        f"the innermost loops wait for their own values: {CHAINS} iterations {kind} run together in one body, so that "
        "their chains of operations overlap"
    )
    return Decision("interleave", text, statements)

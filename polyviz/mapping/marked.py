"""A schedule edited by hand on a processor: its order to the letter, and what its marks say of single loops.

That marked loops are parallel was proven before a schedule came here (``polyviz.scheduling.adopted``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from polyviz.mapping.full_tiles import find_full_tiles
from polyviz.mapping.work import region_extents
from polyviz.model.plan import END, PARALLEL, POINTS, UNROLL, VECTOR, FullTiles, ParallelWork
from polyviz.model.schedule import Decision
from polyviz.transform.shape import Loops, Marked, Shape, loops_around, part_at, shape_of, tree_of, with_part
from polyviz.transform.tree import Path, bands, kind_of, node_at, path_of, statements_under, walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    import islpy as isl

    from polyviz.model.plan import ArraySum, BlockTiles, RegisterTile, TimeSteps
    from polyviz.model.scop import Scop

POINT = "point"
"""The mark above the loops inside a tile."""


@dataclass(frozen=True, slots=True)
class Mapped:
    """A tree bound to a processor, with what the plan says beside it."""

    tree: isl.Schedule
    full_tiles: tuple[FullTiles, ...] = ()
    work: tuple[ParallelWork, ...] = ()
    register_tiles: tuple[RegisterTile, ...] = ()
    block_tiles: tuple[BlockTiles, ...] = ()
    array_sums: tuple[ArraySum, ...] = ()
    time_steps: tuple[TimeSteps, ...] = ()
    decisions: tuple[Decision, ...] = ()


def keep_marks(scop: Scop, tree: isl.Schedule) -> Mapped:
    """``tree`` with its marks in the form of a plan: numbered, and ended below the loop they stand above.

    Threads serve the outermost of parallel loops inside one another; the decisions say what became of the others.
    """
    threads = tuple(_outermost(path for path, name in marks_of(tree) if name == PARALLEL))
    shape = shape_of(tree)
    full_tiles = []
    for number, path in enumerate(path for path, name in marks_of(tree) if name == POINT):
        full = _full(scop, tree, (*path, 0))
        if full is not None:
            full_tiles.append(FullTiles(f"{POINTS}:{number}", full))
            point = part_at(shape, path)
            assert isinstance(point, Marked)
            shape = with_part(shape, path, Marked(point.child, f"{POINTS}:{number}"))
    work = tuple(work_below(scop, tree, number, path) for number, path in enumerate(threads))
    mapped = tree_of(tree.get_domain(), _ended(shape, (0,), threads))
    return Mapped(mapped, tuple(full_tiles), work, decisions=_decisions(tree, threads))


def marks_of(tree: isl.Schedule) -> Iterator[tuple[Path, str]]:
    """Every mark of ``tree`` with its path, in depth-first order."""
    for node in walk(tree):
        if kind_of(node) == "mark":
            yield path_of(node), node.mark_get_id().get_name()


def _outermost(paths: Iterator[Path]) -> Iterator[Path]:
    """Those of ``paths``, in depth-first order, that lie under no other."""
    last: Path | None = None
    for path in paths:
        if last is None or path[: len(last)] != last:
            last = path
            yield path


def _ended(shape: Shape, path: Path, threads: tuple[Path, ...]) -> Shape:
    """``shape`` with an end below each marked loop; parallel marks are numbered, or go where threads run already."""
    below = [_ended(child, (*path, place), threads) for place, child in enumerate(shape.children)]
    if not isinstance(shape, Marked) or shape.name.partition(":")[0] not in (PARALLEL, VECTOR, UNROLL):
        return shape.with_children(below)
    if shape.name == PARALLEL and path not in threads:
        return below[0]
    name = f"{PARALLEL}:{threads.index(path)}" if shape.name == PARALLEL else shape.name
    return Marked(_with_end(below[0]), name)


def _with_end(shape: Shape) -> Shape:
    """``shape`` with an end below its outermost loop, which becomes a band of its own."""
    if isinstance(shape, Marked):
        return shape if shape.name == END else Marked(_with_end(shape.child), shape.name)
    if not isinstance(shape, Loops):
        return shape
    return loops_around(shape.rows[:1], Marked(loops_around(shape.rows[1:], shape.child), END))


def _full(scop: Scop, tree: isl.Schedule, points: Path) -> isl.Set | None:
    """The full tiles of all loops under a mark ``point``, whatever marks stand between them."""
    rows, inside = _all_rows(part_at(shape_of(tree), points))
    if not rows:
        return None
    merged = tree_of(tree.get_domain(), with_part(shape_of(tree), points, loops_around(rows, inside)))
    return find_full_tiles(scop, merged, points, ())


def _all_rows(shape: Shape) -> tuple[list[isl.UnionPwAff], Shape]:
    rows: list[isl.UnionPwAff] = []
    while isinstance(shape, Loops | Marked):
        if isinstance(shape, Loops):
            rows += shape.rows
        shape = shape.child
    return rows, shape


def work_below(scop: Scop, tree: isl.Schedule, number: int, path: Path) -> ParallelWork:
    """How much work the threads of the parallel loop ``number``, whose mark is at ``path``, share."""
    node = node_at(tree, path)
    prefix = node.get_prefix_schedule_multi_union_pw_aff()
    rows = [prefix.get_at(position) for position in range(node.get_schedule_depth())]
    return ParallelWork(f"{PARALLEL}:{number}", region_extents(scop, statements_under(node), rows))


def _decisions(tree: isl.Schedule, threads: tuple[Path, ...]) -> tuple[Decision, ...]:
    text = "The order is kept to the letter, as edited by hand: threads, vector lanes and copies only where marked."
    decisions = [Decision("by hand", text, statements_under(tree.get_root()))]
    for path, name in marks_of(tree):
        if name == PARALLEL and path not in threads:
            inner = "This loop is marked parallel inside another parallel loop: its iterations run on one thread each."
            decisions.append(Decision("parallel", inner, statements_under(node_at(tree, path))))
    if not threads and any(True for _ in bands(tree)):
        decisions.append(Decision("parallel", "No loop is marked parallel: everything runs on one thread."))
    return tuple(decisions)

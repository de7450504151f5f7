"""A schedule as a sequence of named moves from the original order."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING, Any

import islpy as isl

from polyviz.analysis import check
from polyviz.analysis.times import times_by_statement, union_of
from polyviz.editing.differences import refines, same_order
from polyviz.editing.places import TOP
from polyviz.editing.recovery import Recovery
from polyviz.editing.script import call_text, script_text
from polyviz.editing.vectors import vector_of
from polyviz.editing.walk import NamedStep, UnreachableError
from polyviz.model.display import Displayable
from polyviz.model.exclusion import exclusive
from polyviz.scheduling.described import common_times
from polyviz.transform.shape import Branches, Loops, Marked, Shape, loops_around, shape_of, statements_in
from polyviz.transform.tree import row_texts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from polyviz.model.dependences import Dependences, Legality
    from polyviz.model.schedule import Decision, Schedule
    from polyviz.model.scop import Scop


@dataclass(frozen=True, slots=True)
class RecoveredStep:
    """One move: its words, what it decided, the tree after it, and whether that order is legal."""

    name: str
    at: str | None
    arguments: Mapping[str, Any]
    decision: Decision
    tree: isl.Schedule
    legality: Legality

    def __str__(self) -> str:
        return call_text(self.name, self.at, self.arguments)


@dataclass(frozen=True, slots=True, repr=False)
class Steps(Displayable):
    """The moves that lead from the original order of ``scop`` to ``target``.

    Orders in between may be illegal, and say so. ``residual`` is empty when every move has a name of its own; else it
    is the reason why the last move sets rows as they are.
    """

    scop: Scop
    target: Schedule
    steps: tuple[RecoveredStep, ...]
    residual: str = ""

    @property
    def is_exact(self) -> bool:
        """Whether the order is that of the target; if not, what the target leaves unordered is ordered as well."""
        context = self.scop.context
        return same_order(
            common_times(self.tree).intersect_params(context), self.target.map.intersect_params(context)
        )

    @property
    def is_legal(self) -> bool:
        """Whether every order in between is legal, so that an edit could make the moves one by one."""
        return all(step.legality for step in self.steps)

    @property
    def legal_steps(self) -> tuple[RecoveredStep, ...]:
        """The first moves, as long as every order in between is legal."""
        return tuple(takewhile(lambda step: step.legality, self.steps))

    @property
    def tree(self) -> isl.Schedule:
        """The tree after the last move."""
        return self.steps[-1].tree if self.steps else self.scop.schedule

    def script(self) -> str:
        """The moves as a script; ``polyviz.replay`` makes them again where all orders in between are legal."""
        return script_text({"schedule": "original"}, [str(step) for step in self.steps])

    def __str__(self) -> str:
        number = f"{len(self.steps)} move{'' if len(self.steps) == 1 else 's'}"
        lines = [f"From the original order to {self.target.scheduler}: {number}"]
        for place, step in enumerate(self.steps, start=1):
            note = "" if step.legality else "   # not legal yet"
            lines.append(f"{place:>3}. {step}{note}")
        if self.residual:
            lines.append(f"The last move sets rows as they are: {self.residual}.")
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class _Tiles:
    """A tiled band of the target: a statement in it, the number of untiled loops around it, and its sizes.

    The loops inside a tile run in ``order``, counted in the order of the tile loops.
    """

    statement: str
    depth: int
    sizes: tuple[int, ...]
    order: tuple[int, ...]


@exclusive
def recover_steps(scop: Scop, dependences: Dependences, target: Schedule) -> Steps:
    """Named moves from the original order of ``scop`` to the order of ``target``."""
    residual = ""
    shape = shape_of(target.tree)
    tiles: list[_Tiles] = []
    untiled = _untiled(shape, statements_in(target.tree.get_domain()), 0, tiles)
    recovery = _recovery(scop, untiled, lambda tree: bool(check(scop, tree, known=dependences)))
    try:
        recovery.reach(untiled, tuple(recovery.rank))
        for tile in tiles:
            _tile(recovery, tile)
    except UnreachableError as error:
        residual = str(error)
    found = common_times(recovery.tree).intersect_params(scop.context)
    if not residual and not refines(found, target.map.intersect_params(scop.context)):
        residual = "the moves that were found lead to another order"
    if residual:
        recovery.do("rows", TOP, rows=rows_of(target), whole=True)
    return Steps(scop, target, tuple(_judged(scop, dependences, recovery.steps)), residual)


def _recovery(scop: Scop, target: Shape, is_legal: Callable[[isl.Schedule], bool]) -> Recovery:
    leaves = list(dict.fromkeys(_leaves(target, tuple(statement.name for statement in scop.statements))))
    rank = {name: place for place, name in enumerate(leaves)}
    rows = list(_all_rows(target))
    targets = {name: [vector_of(row, name) for row in rows] for name in leaves}
    return Recovery(scop, scop.schedule, rank, targets=targets, is_legal=is_legal)


def _leaves(shape: Shape, statements: tuple[str, ...]) -> Iterator[str]:
    """The statements in the order in which the leaves of ``shape`` run."""
    if isinstance(shape, Branches):
        for part in shape.parts:
            yield from _leaves(part.child, statements_in(part.instances))
    elif shape.children:
        yield from _leaves(shape.children[0], statements)
    else:
        yield from statements


def _all_rows(shape: Shape) -> Iterator[isl.UnionPwAff]:
    if isinstance(shape, Loops):
        yield from shape.rows
    for child in shape.children:
        yield from _all_rows(child)


def _untiled(shape: Shape, statements: tuple[str, ...], depth: int, tiles: list[_Tiles]) -> Shape:
    """``shape`` without its tile loops, which go into ``tiles``, outer ones first."""
    if isinstance(shape, Branches):
        inside = [_untiled(part, statements_in(part.instances), depth, tiles) for part in shape.parts]
        return shape.with_children(inside)
    band = _tiled_band(shape)
    if band is not None:
        loops, sizes, order = band
        tiles.append(_Tiles(statements[0], depth, sizes, order))
        return _untiled(loops, statements, depth, tiles)
    below = depth + len(shape.rows) if isinstance(shape, Loops) else depth
    return shape.with_children([_untiled(child, statements, below, tiles) for child in shape.children])


def _tiled_band(shape: Shape) -> tuple[Shape, tuple[int, ...], tuple[int, ...]] | None:
    """The band before it was tiled, its sizes and the order of its point loops; None for anything but a plain tile."""
    tiles = _band_under(shape, "tile")
    points = None if tiles is None else _band_under(tiles.child, "point")
    if tiles is None or points is None or len(tiles.rows) != len(points.rows):
        return None
    sizes, homes = [], []
    for tile in tiles.rows:
        size, home = _size_of(tile, points.rows)
        sizes.append(size)
        homes.append(home)
    if not all(sizes) or len(set(homes)) < len(homes):
        return None
    order = tuple(homes.index(place) for place in range(len(homes)))
    return loops_around([points.rows[home] for home in homes], points.child), tuple(sizes), order


def _band_under(shape: Shape, mark: str) -> Loops | None:
    inside = shape.child if isinstance(shape, Marked) and shape.name == mark else None
    return inside if isinstance(inside, Loops) else None


def _size_of(tile: isl.UnionPwAff, points: Sequence[isl.UnionPwAff]) -> tuple[int, int]:
    """The size of a tile loop and the place of its point loop; zeros when it is none."""
    found = re.search(r"/(\d+)\)$", next(iter(row_texts(tile).values())))
    size = int(found[1]) if found else 0
    for place, row in enumerate(points):
        if size and tile.plain_is_equal(row.scale_down_val(isl.Val(size)).floor()):
            return size, place
    return 0, 0


def _tile(recovery: Recovery, tile: _Tiles) -> None:
    loops = [loop for loop in recovery.places.loops if tile.statement in loop.names]
    untiled = [loop for loop in loops if not loop.names[tile.statement].endswith("_tile")]
    recovery.do("tile", recovery.places.address(untiled[tile.depth]), sizes=tile.sizes)
    if list(tile.order) == sorted(tile.order):
        return
    inside = [loop for loop in recovery.places.loops if tile.statement in loop.names]
    points = [loop for loop in inside if not loop.names[tile.statement].endswith("_tile")][tile.depth :]
    order = tuple(recovery.places.address(points[place]) for place in tile.order)
    recovery.do("interchange", order=order)


def rows_of(schedule: Schedule) -> tuple[str, ...]:
    """All rows of an order as the move ``rows`` takes them."""
    domain = schedule.tree.get_domain()
    maps = union_of(times_by_statement(schedule.map).values(), domain.get_space())
    rows = isl.MultiUnionPwAff.from_union_map(maps.intersect_domain(domain))
    return tuple(str(rows.get_at(place).gist(domain)) for place in range(rows.dim(isl.dim_type.out)))


def _judged(scop: Scop, dependences: Dependences, steps: list[NamedStep]) -> Iterator[RecoveredStep]:
    for step in steps:
        yield RecoveredStep(*step, check(scop, step.tree, known=dependences))

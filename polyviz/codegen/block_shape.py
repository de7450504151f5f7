"""The geometry of a block of register tiles: bounds, triangles, and the part of each sum that a whole tile shares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.codegen.loops import LOOP_PREFIX, plus_one
from polyviz.codegen.scan import condition_of_set
from polyviz.model.expression import Binary, Call, Constant, Expression, Unary
from polyviz.model.linear import written

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from polyviz.model.linear import Terms
    from polyviz.model.plan import RegisterTile
    from polyviz.model.scop import Scop, Statement

COORDINATE_PREFIX = f"{LOOP_PREFIX}block"


@dataclass(frozen=True, slots=True)
class Range:
    """``start <= iterator < stop``."""

    start: Expression
    stop: Expression


@dataclass(frozen=True, slots=True)
class BlockShape:
    """Expressions over parameters and coordinates (``COORDINATE_PREFIX`` with their number) of one block.

    ``row``, ``column`` and ``depth`` bound its box. ``masks`` are the conditions (a combination that is not negative)
    that tie rows to columns, ``cuts`` those that tie the sum to them. ``outer`` gives the other iterators of the
    statement, ``around`` bounds the one that moves packed columns inside the block.
    ``row_guard`` and ``column_guard`` hold where an operand at (row, depth), (column, depth) is really
    read; None where that is the whole box. ``domain`` is the block itself, coordinates as parameters.
    """

    row: Range
    column: Range
    depth: Range
    masks: tuple[Terms, ...]
    cuts: tuple[Terms, ...]
    outer: Mapping[str, Expression]
    around: Range | None
    row_guard: Expression | None
    column_guard: Expression | None
    domain: isl.Set


def block_shape(scop: Scop, statement: Statement, tile: RegisterTile) -> BlockShape:
    """The shape of the blocks of ``tile``."""
    names = statement.iterators
    whole = _parametric(tile.instances, names)
    shared = (
        _without_inner_coordinates(tile, names) if tile.shared_rows or tile.shared_columns else whole
    )
    reached = whole if tile.reached is None else _parametric(isl.Map.from_domain(tile.reached), ())
    known = reached.params().intersect(scop.context)
    # Copies made together are outside the innermost loops around blocks: nothing is known of these there.
    together = known if shared is whole else shared.params().intersect(scop.context)
    row_source, known_of_rows = (shared, together) if tile.shared_rows else (whole, known)
    column_source, known_of_columns = (shared, together) if tile.shared_columns else (whole, known)
    ranges = {
        tile.row: _range(row_source, tile.row, known_of_rows),
        tile.column: _range(column_source, tile.column, known_of_columns),
        tile.depth: _range(shared, tile.depth, together),
    }
    inside = (tile.row, tile.column, tile.depth, tile.around)
    simple = _convex(whole.gist_params(known).remove_redundancies())
    last = f"{COORDINATE_PREFIX}{len(tile.coordinates) - 1}"
    masks, cuts = _couplings(simple, names, tile, last)
    outer = {
        name: _range(whole, position, known).start
        for position, name in enumerate(names)
        if position not in inside
    }
    return BlockShape(
        ranges[tile.row],
        ranges[tile.column],
        ranges[tile.depth],
        masks,
        cuts,
        outer,
        None if tile.around is None else _range(column_source, tile.around, known_of_columns),
        _guard(row_source, (tile.row, tile.depth), shared, known_of_rows, scop),
        _guard(column_source, (tile.column, tile.depth), shared, known_of_columns, scop),
        whole,
    )


def _parametric(instances: isl.Map, names: Sequence[str]) -> isl.Set:
    """The instances of a block as a set, the coordinates of the block as parameters."""
    count, first = instances.dim(isl.dim_type.in_), instances.dim(isl.dim_type.param)
    moved = instances.move_dims(isl.dim_type.param, first, isl.dim_type.in_, 0, count)
    for position in range(count):
        moved = moved.set_dim_name(isl.dim_type.param, first + position, f"{COORDINATE_PREFIX}{position}")
    return _named(moved.range(), names)


def _named(instances: isl.Set, names: Sequence[str]) -> isl.Set:
    for position, name in enumerate(names):
        instances = instances.set_dim_name(isl.dim_type.set, position, name)
    return instances


def _without_inner_coordinates(tile: RegisterTile, names: Sequence[str]) -> isl.Set:
    """All instances of the innermost loops around the blocks for which copies are made once, together."""
    first = tile.instances.dim(isl.dim_type.in_) - tile.inner
    return _parametric(tile.instances.project_out(isl.dim_type.in_, first, tile.inner), names)


def _convex(instances: isl.Set) -> isl.BasicSet:
    return instances.polyhedral_hull()


def _range(instances: isl.Set, position: int, known: isl.Set) -> Range:
    """The bounds of one iterator, over all values of the others."""
    line = instances
    for other in reversed(range(instances.dim(isl.dim_type.set))):
        if other != position:
            line = line.project_out(isl.dim_type.set, other, 1)
    hull = _convex(line.reset_tuple_id().gist_params(known))
    lower: list[Expression] = []
    upper: list[Expression] = []
    for constraint in hull.remove_redundancies().get_constraints():
        factor, rest = _factor(constraint)
        if factor > 0 or (factor and constraint.is_equality()):
            lower.append(_quotient(rest, factor, ceiling=True))
        if factor < 0 or (factor and constraint.is_equality()):
            upper.append(_quotient(rest, factor, ceiling=False))
    return Range(_combined("max", lower), plus_one(_combined("min", upper)))


def _factor(constraint: isl.Constraint) -> tuple[int, Terms]:
    """The factor of the only iterator, and the rest of the constraint."""
    factor = constraint.get_coefficient_val(isl.dim_type.set, 0).to_python()
    return factor, _parameter_terms(constraint)


def _parameter_terms(constraint: isl.Constraint) -> Terms:
    terms: Terms = {"": constraint.get_constant_val().to_python()}
    for position in range(constraint.dim(isl.dim_type.param)):
        value = constraint.get_coefficient_val(isl.dim_type.param, position).to_python()
        if value:
            terms[constraint.get_dim_name(isl.dim_type.param, position) or ""] = value
    return terms


def _quotient(rest: Terms, factor: int, *, ceiling: bool) -> Expression:
    """``-rest / factor``, rounded up or down."""
    if abs(factor) == 1:
        return written({name: -value * factor for name, value in rest.items()})
    if ceiling:
        positive = {name: value if factor > 0 else -value for name, value in rest.items()}
        return Unary("-", Binary("//", written(positive), Constant(abs(factor))))
    negative = {name: -value if factor > 0 else value for name, value in rest.items()}
    return Binary("//", written(negative), Constant(abs(factor)))


def _combined(function: str, bounds: Sequence[Expression]) -> Expression:
    result = bounds[0]
    for bound in bounds[1:]:
        result = Call(function, (result, bound))
    return result


def _couplings(
    simple: isl.BasicSet, names: Sequence[str], tile: RegisterTile, last: str
) -> tuple[tuple[Terms, ...], tuple[Terms, ...]]:
    """The constraints that no box expresses: those between rows and columns, those of the sum.

    What depends on the coordinate ``last`` does not bound a box that is shared along it, so it belongs here, too.
    """
    masks: list[Terms] = []
    cuts: list[Terms] = []
    for constraint in simple.get_constraints():
        values = {
            position: constraint.get_coefficient_val(isl.dim_type.set, position).to_python()
            for position in (tile.row, tile.column, tile.depth)
        }
        moving = {position for position, value in values.items() if value}
        terms = _parameter_terms(constraint)
        loose = last in terms and _is_shared(tile, moving)
        if len(moving) < 2 and not loose:
            continue
        for position in range(len(names)):
            value = constraint.get_coefficient_val(isl.dim_type.set, position).to_python()
            if value:
                terms[names[position]] = value
        several = [terms]
        if constraint.is_equality():
            several.append({name: -value for name, value in terms.items()})
        (cuts if tile.depth in moving else masks).extend(several)
    return tuple(masks), tuple(cuts)


def _is_shared(tile: RegisterTile, moving: set[int]) -> bool:
    if moving == {tile.depth}:
        return tile.shared_rows or tile.shared_columns
    return (moving == {tile.row} and tile.shared_rows) or (moving == {tile.column} and tile.shared_columns)


def _guard(
    instances: isl.Set, positions: tuple[int, int], depths: isl.Set, known: isl.Set, scop: Scop
) -> Expression | None:
    """When the operand of (row or column, depth) is read, for points of the box; None for always."""
    plane = instances
    for other in reversed(range(instances.dim(isl.dim_type.set))):
        if other not in positions:
            plane = plane.project_out(isl.dim_type.set, other, 1)
    plane = plane.reset_tuple_id()
    depth = sorted(positions).index(positions[1])
    box = _hull_of(plane, 1 - depth, known).intersect(_hull_of(_plane_of(depths, positions), depth, known))
    needed = plane.intersect_params(known).gist(box.intersect_params(known)).coalesce()
    if needed.is_equal(isl.Set.universe(needed.get_space())):
        return None
    return condition_of_set(needed, scop.context.align_params(known.get_space()))


def _plane_of(instances: isl.Set, positions: tuple[int, int]) -> isl.Set:
    for other in reversed(range(instances.dim(isl.dim_type.set))):
        if other not in positions:
            instances = instances.project_out(isl.dim_type.set, other, 1)
    return instances.reset_tuple_id()


def _hull_of(plane: isl.Set, position: int, known: isl.Set) -> isl.Set:
    """All points whose coordinate ``position`` is within the bounds of ``plane``, for ``known`` parameters.

    Hulls of sets with many quotients take isl long: what is known goes first, as for the ranges.
    """
    other = 1 - position
    line = isl.Set.from_basic_set(_convex(plane.project_out(isl.dim_type.set, other, 1).gist_params(known)))
    return line.insert_dims(isl.dim_type.set, other, 1)

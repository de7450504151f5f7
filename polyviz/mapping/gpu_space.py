"""Blocks and threads as isl sets: which instances one thread of one block runs, and how large the grid is."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.model.device import (
    DeviceKernel,
    GridEnds,
    Point,
    SpaceAxis,
    TreeReduction,
    coordinate,
    plain_name,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from polyviz.model.scop import Scop
    from polyviz.model.superposition import Axis

_MOST_PIECES = 2
"""A bound of a grid with more of them is no longer read at a glance."""


def with_value(row: isl.Map, parameter: str) -> isl.Map:
    """``row``, a map into one value, where the value is that of ``parameter``.

    >>> print(with_value(isl.Map("{ S[i] -> [i] }"), "p").domain())
    [p] -> { S[i = p] }
    """
    space = isl.Space.set_alloc(isl.DEFAULT_CONTEXT, 1, 1).set_dim_id(
        isl.dim_type.param, 0, isl.Id(parameter)
    )
    value = isl.Set.universe(space).equate(isl.dim_type.param, 0, isl.dim_type.set, 0)
    return row.intersect_range(value)


def floor_of(row: isl.Map, size: int) -> isl.Map:
    """``floor(row / size)``."""
    return row if size == 1 else row.apply_range(isl.Map(f"{{ [v] -> [floor(v / {size})] }}"))


def remainder_of(row: isl.Map, size: int) -> isl.Map:
    """``row`` modulo ``size``, between 0 and ``size - 1``."""
    return row.apply_range(isl.Map(f"{{ [v] -> [v mod {size}] }}"))


def points_of(blocks: Sequence[SpaceAxis], threads: Sequence[SpaceAxis]) -> tuple[Point, ...]:
    """The rows that stand at both levels with as many threads as iterations in a tile."""
    found = []
    taken: set[str] = set()
    for block in blocks:
        for thread in threads:
            names = tuple(
                name
                for name, text in thread.texts.items()
                if block.texts.get(name) == text and block.size == thread.size
            )
            if names:
                name = plain_name([thread.texts[name] for name in names], f"point_{block.axis}")
                name = f"{name}_{thread.axis}" if name in taken else name
                taken.add(name)
                found.append(Point(block.axis, thread.axis, block.size, names, name))
    return tuple(found)


def thread_instances(
    domain: isl.Set,
    name: str,
    blocks: Sequence[SpaceAxis],
    threads: Sequence[SpaceAxis],
    points: Sequence[Point],
) -> isl.Set:
    """The instances of ``domain``, of the statement ``name``, that one thread of one block runs.

    A statement without a row for an axis of the threads is run by the first thread along it.
    """
    done: set[tuple[str, Axis]] = set()
    result = domain
    for point in points:
        if name in point.statements:
            row = _axis(threads, point.thread).rows[name]
            result = result.intersect(with_value(row, point.parameter).domain())
            done |= {("block", point.block), ("thread", point.thread)}
    for block in blocks:
        if ("block", block.axis) not in done:
            row = floor_of(block.rows[name], block.size)
            result = result.intersect(with_value(row, coordinate("block", block.axis)).domain())
    for thread in threads:
        if ("thread", thread.axis) not in done:
            row = remainder_of(thread.rows[name], thread.size) if name in thread.rows else _zero(domain)
            result = result.intersect(with_value(row, coordinate("thread", thread.axis)).domain())
    return result


def on_host(domain: isl.Set, name: str, host: Sequence[Mapping[str, isl.Map]]) -> isl.Set:
    """The instances of one launch, whose host loops are parameters."""
    for number, rows in enumerate(host):
        domain = domain.intersect(with_value(rows[name], coordinate("host", str(number))).domain())
    return domain


def grid_of(domains: Mapping[str, isl.Set], blocks: Sequence[SpaceAxis]) -> tuple[GridEnds, ...]:
    """Per axis of ``blocks`` where the grid begins and ends, over sizes and host loops.

    That is where there are instances; where that would be too complicated to read, the convex hull of it.
    """
    found = []
    for block in blocks:
        values = _values_of_all(domains, block)
        first, last = values.dim_min(0).coalesce(), values.dim_max(0).coalesce()
        exact = GridEnds((first,), (last,))
        simple = max(first.n_piece(), last.n_piece()) <= _MOST_PIECES
        found.append(exact if simple else _ends(_convex(values)) or exact)
    return tuple(found)


def _ends(values: isl.BasicSet) -> GridEnds | None:
    """The bounds of ``values``, one number each, by its constraints; None where these leave an end open.

    >>> found = _ends(isl.BasicSet("[n, m] -> { [b] : 0 <= b < n and b < m }"))
    >>> sorted(map(str, found.last))
    ['[n, m] -> { [(-1 + m)] }', '[n, m] -> { [(-1 + n)] }']
    """
    lower, upper = [], []
    for one in values.get_constraints():
        if one.is_lower_bound(isl.dim_type.set, 0):
            lower.append(_of_sizes(one.get_bound(isl.dim_type.set, 0).ceil()))
        if one.is_upper_bound(isl.dim_type.set, 0):
            upper.append(_of_sizes(one.get_bound(isl.dim_type.set, 0).floor()))
    return GridEnds(tuple(lower), tuple(upper)) if lower and upper else None


def _of_sizes(bound: isl.Aff) -> isl.PwAff:
    return isl.PwAff.from_aff(bound).project_domain_on_params()


def context_of(
    scop: Scop,
    domains: Mapping[str, isl.Set],
    blocks: Sequence[SpaceAxis],
    threads: Sequence[SpaceAxis],
    points: Sequence[Point],
) -> isl.Set:
    """What holds whenever a kernel runs: there is some instance, and coordinates stay within the grid."""
    used = reduce(isl.Set.union, (domain.params() for domain in domains.values()))
    context = scop.context.intersect(used)
    for block in blocks:
        # The grid has every coordinate between the first and the last one, also where instances leave some out.
        hull = isl.Set.from_basic_set(_convex(_values_of_all(domains, block)))
        moved = hull.move_dims(isl.dim_type.param, hull.dim(isl.dim_type.param), isl.dim_type.set, 0, 1)
        last = moved.dim(isl.dim_type.param) - 1
        named = moved.set_dim_id(isl.dim_type.param, last, isl.Id(coordinate("block", block.axis)))
        context = context.intersect(named.params())
    for thread in threads:
        context = context.intersect(_between(coordinate("thread", thread.axis), thread.size))
    for point in points:
        number = coordinate("block", point.block)
        context = context.intersect(within_tile(number, point.parameter, point.size))
    return context


def instances_of_threads(kernel: DeviceKernel, *, trees: bool) -> Iterator[tuple[str, isl.Set]]:
    """Each statement with what one thread of one block of one launch runs of it; ``trees`` shares accumulations."""
    shared = {tree.statement: tree for tree in kernel.trees} if trees else {}
    for name, domain in kernel.instances.items():
        threads = with_row(kernel.threads, name, shared[name]) if name in shared else kernel.threads
        yield name, thread_instances(domain, name, kernel.blocks, threads, kernel.points)


def with_row(threads: Sequence[SpaceAxis], name: str, tree: TreeReduction) -> tuple[SpaceAxis, ...]:
    """``threads`` where those along the axis of ``tree`` share the instances of the statement ``name``."""
    return tuple(
        replace(axis, rows={**axis.rows, name: tree.row}) if axis.axis == tree.axis else axis
        for axis in threads
    )


def finishing_instances(kernel: DeviceKernel, tree: TreeReduction) -> isl.Set:
    """The last steps of ``tree`` that one thread makes: the first one along its axis."""
    return thread_instances(tree.finish, tree.statement, kernel.blocks, kernel.threads, kernel.points)


def _values_of_all(domains: Mapping[str, isl.Set], block: SpaceAxis) -> isl.Set:
    """The blocks along an axis that have instances."""
    rows = (domain.apply(floor_of(block.rows[name], block.size)) for name, domain in domains.items())
    return reduce(isl.Set.union, rows)


def _convex(values: isl.Set) -> isl.BasicSet:
    """A convex set around ``values`` whose bounds are numbers for given sizes."""
    # Removing divisions that are not known may make others known, whose numerators then hold the dimension.
    return values.simple_hull().remove_unknown_divs().remove_divs_involving_dims(isl.dim_type.set, 0, 1)


def _between(parameter: str, size: int) -> isl.Set:
    space = isl.Space.params_alloc(isl.DEFAULT_CONTEXT, 1).set_dim_id(
        isl.dim_type.param, 0, isl.Id(parameter)
    )
    return (
        isl.Set.universe(space)
        .lower_bound_val(isl.dim_type.param, 0, isl.Val(0))
        .upper_bound_val(isl.dim_type.param, 0, isl.Val(size - 1))
    )


def parameter(name: str) -> isl.PwAff:
    """The value of a parameter.

    >>> print(parameter("n"))
    [n] -> { [(n)] }
    """
    space = isl.Space.params_alloc(isl.DEFAULT_CONTEXT, 1).set_dim_id(isl.dim_type.param, 0, isl.Id(name))
    local = isl.LocalSpace.from_space(space)
    return isl.PwAff.from_aff(isl.Aff.var_on_domain(local, isl.dim_type.param, 0))


def within_tile(tile: str, parameter: str, size: int) -> isl.Set:
    """The values of ``parameter`` in the tile whose number the parameter ``tile`` is, of ``size`` values each.

    >>> print(within_tile("@block_x", "i", 4))
    [i, @block_x] -> {  : -3 + i <= 4@block_x <= i }
    """
    pairs = isl.Map(f"{{ [b] -> [p] : {size}b <= p < {size}b + {size} }}")
    space = isl.Space.set_alloc(isl.DEFAULT_CONTEXT, 1, 1)
    here, there = (
        isl.Set.universe(space.set_dim_id(isl.dim_type.param, 0, isl.Id(name))).equate(
            isl.dim_type.param, 0, isl.dim_type.set, 0
        )
        for name in (tile, parameter)
    )
    return pairs.intersect_domain(here).intersect_range(there).params()


def _zero(domain: isl.Set) -> isl.Map:
    return isl.Map.from_domain_and_range(isl.Set.universe(domain.get_space()), isl.Set("{ [0] }"))


def _axis(axes: Sequence[SpaceAxis], axis: Axis) -> SpaceAxis:
    return next(one for one in axes if one.axis == axis)

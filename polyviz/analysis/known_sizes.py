"""A part for sizes that are known: they are numbers in every set, and in what statements compute.

    for n in range(N):                            for n in range(N):
        for i in range(C):      with C = 3   ->       for i in range(3):
            y[n] += w[i] * x[n, i]                        y[n] += w[i] * x[n, i]

A loop over three colours is written out, one over millions is cut into tiles; which of them it is, only a call tells.
"""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.analysis.trip_counts import longest
from polyviz.model.expression import Constant, Loop, Name, substitute, walk
from polyviz.model.scop import fixed_parameters

if TYPE_CHECKING:
    from collections.abc import Mapping

    from polyviz.model.expression import Expression, Instruction
    from polyviz.model.scop import Access, Array, Scop, Statement

_PARAMETER = isl.dim_type.param
LONGEST = 8
"""Iterations of a loop up to which it is short."""
SMALLEST_WORK = 20_000
"""Instances of a statement below which it does not matter how loops are written: some tens of microseconds."""


def with_known_sizes(scop: Scop, sizes: Mapping[str, int] | None = None) -> Scop:
    """``scop`` with the numbers that its context knows in the place of parameters, and those that ``sizes`` has; itself
    where that changes nothing, or nothing runs. Statements that never run for these sizes are left out.

    >>> import polyviz as pv
    >>> part = pv.extract("def f(A, n):\\n  for i in range(n): A[i] = n * i")
    >>> known = with_known_sizes(part, {"n": 3})
    >>> print(known.statements[0].domain)
    [n] -> { S0[i] : n = 3 and 0 <= i <= 2 }
    >>> known.statements[0].body[0].value.left
    Constant(value=3)
    """
    known = {**fixed_parameters(scop), **(sizes or {})}
    if not known or (not sizes and all(_is_known(one, known) for one in scop.statements)):
        return scop
    space = scop.context.get_space()
    numbers = isl.Set.universe(space)
    for name, value in known.items():
        numbers = numbers.fix_val(_PARAMETER, space.find_dim_by_name(_PARAMETER, name), isl.Val(value))
    everything = (_statement(one, numbers, known) for one in scop.statements)
    statements = tuple(one for one in everything if not one.domain.is_empty())
    if not statements:
        return scop
    domains = isl.UnionSet.empty(space)
    for statement in statements:
        domains = domains.union(isl.UnionSet.from_set(statement.domain))
    return replace(
        scop,
        context=scop.context.intersect(numbers),
        statements=statements,
        arrays=tuple(_array(one, numbers) for one in scop.arrays),
        schedule=scop.schedule.intersect_domain(domains),
    )


def _is_known(statement: Statement, known: Mapping[str, int]) -> bool:
    """Whether the domain of ``statement`` says what the ``known`` sizes are."""
    space = statement.domain.get_space()
    places = [space.find_dim_by_name(_PARAMETER, name) for name in known]
    return all(place >= 0 and statement.domain.plain_get_val_if_fixed(_PARAMETER, place).is_int() for place in places)


def _statement(statement: Statement, sizes: isl.Set, known: Mapping[str, int]) -> Statement:
    free = [name for name in known if name not in statement.iterators]
    numbers: dict[str, Expression] = {name: Constant(known[name]) for name in free}
    body: tuple[Instruction, ...] = tuple(substitute(one, numbers) for one in statement.body)  # type: ignore[misc]
    return replace(
        statement,
        domain=statement.domain.intersect_params(sizes),
        accesses=tuple(_access(one, sizes) for one in statement.accesses),
        body=body,
    )


def _access(access: Access, sizes: isl.Set) -> Access:
    return access.mapped(lambda relation: relation.intersect_params(sizes))


def _array(array: Array, sizes: isl.Set) -> Array:
    return replace(array, extents=tuple(None if one is None else _number_or(one, sizes) for one in array.extents))


def _number_or(extent: isl.PwAff, sizes: isl.Set) -> isl.PwAff:
    """``extent`` as the number that it is for ``sizes``; itself where that depends on more."""
    found = extent.intersect_params(sizes)
    least, greatest = found.min_val(), found.max_val()
    if not (least.is_int() and least.eq(greatest)):
        return extent
    return isl.PwAff.val_on_domain(isl.Set.universe(extent.domain().get_space()), least)


def short_sizes(scop: Scop, values: Mapping[str, int]) -> dict[str, int]:
    """The parameters that make loops short when they have their ``values``, where there is much to do all the same.

    Those of loops that are around all others are left out: to write such a loop out would gain nothing.

    >>> import polyviz as pv
    >>> text = "def f(x, y, m, n):\\n  for i in range(m):\\n    for k in range(n): y[i] += x[i, k]"
    >>> short_sizes(pv.extract(text), {"m": 10000, "n": 3, "y_shape_0": 10000})
    {'n': 3}
    """
    short = [one.name for one in scop.parameters if one.source.expression is None and 0 < values[one.name] <= LONGEST]
    if not short:
        return {}
    if max(prod(_lengths(statement, values)) for statement in scop.statements) < SMALLEST_WORK:
        return {}
    return {name: values[name] for name in short if any(_bounds_inside(one, name, values) for one in scop.statements)}


def _bounds_inside(statement: Statement, name: str, values: Mapping[str, int]) -> bool:
    """Whether the parameter ``name`` bounds a loop of ``statement`` but the outermost one, or one that stays whole."""
    loops = [node for part in statement.body for node in walk(part) if isinstance(node, Loop)]
    if any(node == Name(name) for loop in loops for bound in (loop.start, loop.stop) for node in walk(bound)):
        return True
    longer = {**values, name: values[name] + 1}
    return _lengths(statement, longer)[1:] != _lengths(statement, values)[1:]


def _lengths(statement: Statement, values: Mapping[str, int]) -> list[float]:
    """How long the loops around ``statement`` are at most where parameters have their ``values``."""
    domain = statement.domain
    for name, value in values.items():
        place = domain.get_space().find_dim_by_name(_PARAMETER, name)
        domain = domain if place < 0 else domain.fix_val(_PARAMETER, place, isl.Val(value))
    count = len(statement.iterators)
    return [0.0] * count if domain.is_empty() else [longest(domain, loop) for loop in range(count)]


def short_row(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The last extents of an array of this ``shape``, as far as they are short; never all of them.

    >>> short_row((1000, 3, 4)), short_row((3, 3)), short_row((4, 1000))
    ((3, 4), (3,), ())
    """
    first = len(shape)
    while first > 1 and 0 < shape[first - 1] <= LONGEST:
        first -= 1
    return shape[first:]

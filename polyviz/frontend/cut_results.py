"""Arrays that are returned up to a number that the loops count: ``return kept[:count]``.

How large such a result is only the data tell. Generated code hands back the whole array and the number, and who called
it gets what lies before that (``polyviz.model.cut_results``).
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from polyviz.frontend.parts import copies_of, names_of, parts_of
from polyviz.frontend.regions import extent_of
from polyviz.frontend.visited import located, visited
from polyviz.model.cut_results import Cut

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from polyviz.frontend.source import Source

def with_cut_results(source: Source) -> Source:
    """``source`` of a function that returns the arrays whole, and the numbers beside them.

    >>> from polyviz.frontend.source import read_source
    >>> text = "def f(x, n):\\n k = 0\\n for i in range(n):\\n  if x[i] > 0:\\n   k += 1\\n return x[:k]"
    >>> found = with_cut_results(read_source(text, None, None))
    >>> print(ast.unparse(found.body[-1]), found.cut)
    return (x, k) Cut(ends=((0, 1),), hidden=1, is_tuple=False)
    """
    returns = [part for part in parts_of(*source.body) if isinstance(part, ast.Return)]
    if source.is_cell or not returns or any(one.value is None for one in returns):
        return source
    if len(returns) > 1 or returns[0] is not source.body[-1]:
        return _with_cuts_of_several(source, returns)
    end = returns[0]
    assert end.value is not None
    given, is_tuple = _given(end), isinstance(end.value, ast.Tuple)
    counted = _counted(source.body)
    parts = {place: part for place, one in enumerate(given) if (part := _cut(one, counted)) is not None}
    if not parts:
        return source
    values = [parts[place][0] if place in parts else one for place, one in enumerate(given)]
    seen = [one.id if isinstance(one, ast.Name) else "" for one in values]
    ends = []
    for place, (_, number) in parts.items():
        if number.id not in seen:
            values.append(number)
            seen.append(number.id)
        ends.append((place, seen.index(number.id)))
    found = Cut(tuple(ends), len(values) - len(given), is_tuple)
    return replace(source, body=(*source.body[:-1], _whole(values, end)), cut=found)


def _with_cuts_of_several(source: Source, returns: Sequence[ast.Return]) -> Source:
    """``source`` with several ``return``, where each hands back the same arrays up to some number, or whole."""
    rows = [_given(one) for one in returns]
    if len({(isinstance(one.value, ast.Tuple), len(row)) for one, row in zip(returns, rows, strict=True)}) > 1:
        return source
    counted = _counted(source.body)
    places = [place for place in range(len(rows[0])) if any(_cut(row[place], counted) for row in rows)]
    parts = [{place: part for place in places if (part := _part(row[place])) is not None} for row in rows]
    if not places or not all(_are_of_one(parts, place) for place in places):
        return source
    wholes = {}
    for end, row, found in zip(returns, rows, parts, strict=True):
        values = [found[place][0] if place in found else value for place, value in enumerate(row)]
        wholes[end] = _whole([*values, *(number for _, number in found.values())], end)
    ends = tuple((place, len(rows[0]) + number) for number, place in enumerate(places))
    cut = Cut(ends, len(places), isinstance(returns[0].value, ast.Tuple))
    return replace(source, body=tuple(visited(_Writer(wholes), source.body)), cut=cut)


def _are_of_one(parts: Sequence[Mapping[int, tuple[ast.Name, ast.expr]]], place: int) -> bool:
    """Whether what all hand back at ``place`` is of the same array."""
    return all(place in found for found in parts) and len({found[place][0].id for found in parts}) == 1


class _Writer(ast.NodeTransformer):
    def __init__(self, wholes: Mapping[ast.Return, ast.Return]) -> None:
        self._wholes = wholes

    def visit_Return(self, node: ast.Return) -> ast.Return:
        return self._wholes[node]


def _given(end: ast.Return) -> list[ast.expr]:
    """What ``end`` hands back, one by one."""
    assert end.value is not None
    return list(end.value.elts) if isinstance(end.value, ast.Tuple) else [end.value]


def _whole(values: Sequence[ast.expr], end: ast.Return) -> ast.Return:
    return located(ast.Return(ast.Tuple(copies_of(values), ast.Load())), end)


def _part(node: ast.expr) -> tuple[ast.Name, ast.expr] | None:
    """The array and the number of rows of ``kept[:count]``, ``kept[:0]`` or of all of ``kept``."""
    match node:
        case ast.Name():
            return node, extent_of(node, 0)
        case ast.Subscript(
            value=ast.Name() as array,
            slice=ast.Slice(lower=None, upper=ast.Name() | ast.Constant(value=int()) as number, step=None),
        ):
            return array, number
    return None


def _cut(node: ast.expr, counted: Collection[str]) -> tuple[ast.Name, ast.Name] | None:
    """The array and the number of ``kept[:count]``, where that is ``counted``."""
    match node:
        case ast.Subscript(
            value=ast.Name() as array, slice=ast.Slice(lower=None, upper=ast.Name(id=name) as number, step=None)
        ) if name in counted:
            return array, number
    return None


def _counted(body: Sequence[ast.stmt]) -> set[str]:
    """The names that get a value in a loop or condition: what they end as no size tells."""
    blocks = [node for node in body if isinstance(node, ast.For | ast.While | ast.If)]
    parts = names_of(*blocks)
    return {part.id for part in parts if isinstance(part.ctx, ast.Store)}

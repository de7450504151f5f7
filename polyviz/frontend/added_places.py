"""Elements that are changed once for each place, ``np.add.at(y, idx, v)``: the loop over the places.

Unlike ``y[idx] += v``, it counts a place as often as it is there.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from polyviz.frontend.array_names import mentions
from polyviz.frontend.array_parts import listed_indices
from polyviz.frontend.gathered import listed
from polyviz.frontend.own_names import numpy_function
from polyviz.frontend.parts import copy_of, parts_of
from polyviz.frontend.ranks import rank_of, ranks_followed
from polyviz.frontend.regions import call_of, extent_of
from polyviz.frontend.visited import FreshNames, located

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyviz.frontend.names import GlobalNames
    from polyviz.frontend.source import Source

_OPERATORS: dict[str, ast.operator] = {
    "numpy.add.at": ast.Add(), "numpy.subtract.at": ast.Sub(), "numpy.multiply.at": ast.Mult(),
}  # fmt: skip
_FUNCTIONS = {"numpy.maximum.at": "maximum", "numpy.minimum.at": "minimum"}


def with_added_places(source: Source, names: GlobalNames) -> Source:
    """``source`` of a function with loops in the place of such calls; those of unknown dimensions stay.

    >>> from polyviz.frontend.names import GlobalNames
    >>> from polyviz.frontend.source import read_source
    >>> text = "def f(y: 'float64[:]', idx: 'int64[:]', v: 'float64[:]'):\\n    np.add.at(y, idx, 2 * v)"
    >>> source = read_source(text, None, None)
    >>> print(ast.unparse(ast.Module(list(with_added_places(source, GlobalNames(source)).body), [])))
    added = 2 * v
    assert added.shape[0] == idx.shape[0]
    for place in range(idx.shape[0]):
        y[idx[place]] += added[place]
    """
    if source.arguments is None or not any(_called(part, names) for part in parts_of(*source.body)):
        return source
    writer = _Writer(source, names)
    body = writer.block(source.body, is_outermost=True)
    return replace(source, body=(*writer.asked, *body), own_loops=source.own_loops | writer.own)


def _called(node: ast.AST, names: GlobalNames) -> str:
    """What ``node`` calls, where it changes elements at places; nothing for other statements."""
    if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call) or node.value.keywords:
        return ""
    called = names.canonical(node.value.func) or ""
    return called if called in _OPERATORS or called in _FUNCTIONS else ""


class _Writer:
    """``own`` are the variables of the loops that it writes, ``asked`` what has to hold of arguments."""

    def __init__(self, source: Source, names: GlobalNames) -> None:
        self._names = names
        self._fresh = FreshNames(source, names)
        self._ranks = dict(ranks_followed(source, names))
        arguments = parts_of(source.arguments)
        self._arguments = {part.arg for part in arguments if isinstance(part, ast.arg)}
        self.own: set[str] = set()
        self.asked: list[ast.stmt] = []

    def block(self, body: Sequence[ast.stmt], *, is_outermost: bool = False) -> list[ast.stmt]:
        """``body`` with loops; ``is_outermost``: nothing decides how often it runs."""
        written: list[ast.stmt] = []
        for node in body:
            if isinstance(node, ast.For | ast.While | ast.If):
                node.body, node.orelse = self.block(node.body), self.block(node.orelse)
            lines = self._loop(node, is_outermost=is_outermost) if _called(node, self._names) else None
            written += [node] if lines is None else [located(line, node) for line in lines]
        return written

    def _loop(self, node: ast.stmt, *, is_outermost: bool) -> list[ast.stmt] | None:
        match node:
            case ast.Expr(value=ast.Call(args=[ast.Name() as array, index, value])):
                places = [self._named("places", one) for one in listed_indices(index)]
            case _:
                return None
        added = self._named("added", value)
        ranks = [self._ranks.get(name.id) for name, _ in places]
        changed = self._ranks.get(array.id)
        is_mentioned = any(mentions(one, array.id) for one in (index, value))
        if changed != len(places) or set(ranks) != {1} or self._ranks.get(added[0].id) not in (0, 1) or is_mentioned:
            return None
        arrays = [name for name, _ in (*places, added) if self._ranks[name.id]]
        alike = [_same_length(one, arrays[0]) for one in arrays[1:]]
        if not is_outermost and alike and not {one.id for one in arrays} <= self._arguments:
            return None
        self.asked += [] if is_outermost else [located(one, node) for one in alike]
        before = [line for _, lines in (*places, added) for line in lines]
        loop = self._changed(_called(node, self._names), array, [name for name, _ in places], added[0])
        return [*before, *(alike if is_outermost else []), loop]

    def _named(self, stem: str, value: ast.expr) -> tuple[ast.Name, list[ast.stmt]]:
        """A name for ``value``, and the line that gives it that; its dimensions are known afterwards if they can be."""
        if isinstance(value, ast.Name):
            return value, []
        name = self._fresh.like(stem)
        rank = rank_of(value, self._ranks, self._names)
        self._ranks |= {} if rank is None else {name: rank}
        if rank and isinstance(value, ast.Subscript):
            value = ast.Call(ast.Attribute(value, "copy", ast.Load()), [], [])
        return ast.Name(name, ast.Load()), [ast.Assign([ast.Name(name, ast.Store())], value)]

    def _changed(self, called: str, array: ast.Name, places: Sequence[ast.Name], added: ast.Name) -> ast.stmt:
        """The loop that changes one element after the other."""
        place = self._fresh.like("place")
        self.own.add(place)
        value = _at(added, place) if self._ranks[added.id] else copy_of(added)
        index = listed([_at(one, place) for one in places])
        element = ast.Subscript(ast.Name(array.id, ast.Load()), index, ast.Store())
        if called in _OPERATORS:
            store: ast.stmt = ast.AugAssign(element, _OPERATORS[called], value)
        else:
            here = ast.Subscript(element.value, copy_of(index), ast.Load())
            store = ast.Assign([element], ast.Call(numpy_function(_FUNCTIONS[called]), [here, value], []))
        ends = call_of("range", extent_of(places[0], 0))
        return ast.For(ast.Name(place, ast.Store()), ends, [store], [])


def _at(array: ast.Name, place: str) -> ast.expr:
    return ast.Subscript(ast.Name(array.id, ast.Load()), ast.Name(place, ast.Load()), ast.Load())


def _same_length(one: ast.Name, other: ast.Name) -> ast.stmt:
    return ast.Assert(ast.Compare(extent_of(one, 0), [ast.Eq()], [extent_of(other, 0)]))

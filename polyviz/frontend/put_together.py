"""Arrays that are put together of others, ``np.concatenate((x, y))``: an empty one, and a line that stores each part.

So it is for ``hstack``, ``vstack``, ``column_stack``, ``stack`` and ``append``. What is computed in the list gets a
name on a line before.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from polyviz.frontend.array_names import mentions
from polyviz.frontend.literals import PARTS
from polyviz.frontend.own_names import numpy_function
from polyviz.frontend.parts import copies_of, copy_of
from polyviz.frontend.ranks import rank_of, ranks_followed
from polyviz.frontend.regions import constant_of, extent_of, is_new_axis
from polyviz.frontend.usage import subscript_chain
from polyviz.frontend.visited import FreshNames, LinesBefore, located, visited

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from polyviz.frontend.names import GlobalNames
    from polyviz.frontend.source import Source
    from polyviz.frontend.visited import Computing

_ALONG = {"numpy.concatenate": 0, "numpy.stack": 0, "numpy.hstack": 1, "numpy.vstack": 0, "numpy.column_stack": 1}
"""The axis that parts follow each other along, if the call does not say it."""
_ROWS = ("numpy.vstack", "numpy.column_stack")
"""What takes a vector for a row or a column."""
_MOST = 16
"""Parts of one array at most: each of them is a statement."""


def with_parts_stored(source: Source, names: GlobalNames) -> Source:
    """``source`` of a function with arrays that are filled part by part; a cell, where names are seen, stays.

    >>> from polyviz.frontend.names import GlobalNames
    >>> from polyviz.frontend.source import read_source
    >>> source = read_source("def f(x, y):\\n x[0] = y[0]\\n return np.concatenate((x, y * 2))", None, None)
    >>> print(ast.unparse(ast.Module(list(with_parts_stored(source, GlobalNames(source)).body[1:]), [])))
    part = y * 2
    joined = np.empty((x.shape[0] + part.shape[0],), dtype=2)
    joined[0:x.shape[0]] = x
    joined[x.shape[0]:x.shape[0] + part.shape[0]] = part
    return joined
    """
    if source.arguments is None:
        return source
    writer = _Writer(names, FreshNames(source, names), ranks_followed(source, names))
    return replace(source, body=tuple(visited(writer, source.body)))


@dataclass(frozen=True, slots=True)
class _Part:
    """The name of an array of some dimensions, ``rank``; or a number for 0."""

    value: ast.expr
    rank: int

    def extent(self, axis: int) -> ast.expr:
        assert isinstance(self.value, ast.Name)
        return extent_of(self.value, axis)


class _Writer(LinesBefore, ast.NodeTransformer):
    """Puts names in the place of calls; ``ranks`` are the dimensions that are known."""

    def __init__(self, names: GlobalNames, fresh: FreshNames, ranks: Mapping[str, int]) -> None:
        self._names = names
        self._fresh = fresh
        self._ranks = dict(ranks)
        super().__init__()

    def behind(self, node: Computing) -> list[ast.stmt]:
        """``node`` behind the lines that its value asks for; those alone where all of it is put together of others."""
        self.before = []
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call):
                lines = None if mentions(call, name) else self._joined(call, name)
                if lines is not None:
                    return [located(line, node) for line in (*self.before, *lines)]
        return super().behind(node)

    def visit(self, node: ast.AST) -> ast.AST:
        """``node`` with names; what may not be computed at all stays where it is."""
        if isinstance(node, ast.IfExp | ast.BoolOp | ast.Lambda | ast.GeneratorExp | ast.ListComp):
            return node
        return super().visit(node)  # type: ignore[no-any-return]  # what a transformer gives is a node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        name = self._fresh.like("joined") if self._given(node) is not None else ""
        already = len(self.before)
        lines = self._joined(node, name) if name else None
        if lines is None:
            del self.before[already:]
            return self.generic_visit(node)  # type: ignore[return-value]  # a call stays an expression
        self.before += lines
        return located(ast.Name(name, ast.Load()), node)

    def _given(self, node: ast.Call) -> tuple[str, list[ast.expr], int | None] | None:
        """What ``node`` puts together, by which function, and along which axis; None where it is no such call."""
        called = self._names.canonical(node.func) or ""
        axes = [one.value for one in node.keywords if one.arg == "axis"]
        match node:
            case ast.Call(args=[first, second], keywords=[]) if called == "numpy.append":
                return called, [first, second], None
            case ast.Call(args=[ast.Tuple(elts=parts) | ast.List(elts=parts), *rest]) if called in _ALONG:
                pass
            case _:
                return None
        axes += rest
        may_say = called in ("numpy.concatenate", "numpy.stack") and len(axes) == len(rest) + len(node.keywords) <= 1
        if not 0 < len(parts) <= _MOST or (not may_say and (axes or node.keywords)):
            return None
        axis = constant_of(axes[0]) if axes else _ALONG[called]
        return None if axis is None else (called, parts, axis)

    def _joined(self, node: ast.Call, name: str) -> list[ast.stmt] | None:
        """The lines that make the array ``name``; None where ``node`` is no such call, or of unknown dimensions."""
        given = self._given(node)
        if given is None:
            return None
        called, values, axis = given
        parts = [self._part(value) for value in values]
        ranks = {part.rank for part in parts if part is not None}
        if any(part is None or (not part.rank and called != "numpy.append") for part in parts):
            return None
        known = [part for part in parts if part is not None]
        if called == "numpy.append":
            return None if known[0].rank != 1 or max(ranks) > 1 else self._along(name, known, 0, 1)
        if called == "numpy.stack":
            return self._beside(name, known, axis or 0) if len(ranks) == 1 else None
        if called in _ROWS and max(ranks) <= 2:
            return self._along(name, known, axis or 0, 2)
        axis = 0 if called == "numpy.hstack" and ranks == {1} else axis
        return self._along(name, known, axis or 0, *ranks) if len(ranks) == 1 else None

    def _part(self, value: ast.expr) -> _Part | None:
        """``value`` with a name, behind the line that gives it that; None where its dimensions are not known."""
        value = cast("ast.expr", self.visit(copy_of(value)))
        if isinstance(value, ast.List | ast.Tuple):
            value = located(ast.Call(numpy_function("array"), [value], []), value)
            rank: int | None = 1
        else:
            rank = rank_of(value, self._ranks, self._names)
        if rank is None or isinstance(value, ast.Name) or not rank:
            return None if rank is None else _Part(value, rank)
        if isinstance(value, ast.Subscript) and any(map(is_new_axis, subscript_chain(value)[1])):
            value = ast.Call(ast.Attribute(value, "copy", ast.Load()), [], [])  # its lengths are not asked for
        name = self._fresh.like("part")
        self._ranks[name] = rank
        self.before.append(ast.Assign([ast.Name(name, ast.Store())], value))
        return _Part(ast.Name(name, ast.Load()), rank)

    def _along(self, name: str, parts: Sequence[_Part], axis: int, rank: int) -> list[ast.stmt] | None:
        """One part behind the other along ``axis``, a vector in rows as one row or column."""
        if not -rank <= axis < rank:
            return None
        axis %= rank
        ends: list[ast.expr] = [ast.Constant(0)]
        places: list[list[ast.expr]] = []
        for part in parts:
            start, length = ends[-1], part.extent(axis) if part.rank == rank else ast.Constant(1)
            ends.append(ast.BinOp(start, ast.Add(), length) if len(ends) > 1 else length)
            is_one = rank > 1 and part.rank < rank
            places.append([*[ast.Slice()] * axis, start if is_one else ast.Slice(lower=start, upper=ends[-1])])
        others = [axis for axis in range(rank) if parts[0].rank == rank] or [0] * rank
        shape = [ends[-1] if one == axis else parts[0].extent(others[one]) for one in range(rank)]
        return self._stored(name, shape, places, parts)

    def _beside(self, name: str, parts: Sequence[_Part], axis: int) -> list[ast.stmt] | None:
        """One part beside the other along a new ``axis``."""
        rank = parts[0].rank + 1
        if not -rank <= axis < rank:
            return None
        axis %= rank
        shape = [parts[0].extent(one) for one in range(rank - 1)]
        shape.insert(axis, ast.Constant(len(parts)))
        places = [[*[ast.Slice()] * axis, ast.Constant(place)] for place in range(len(parts))]
        return self._stored(name, shape, places, parts)

    def _stored(
        self, name: str, shape: list[ast.expr], places: Sequence[list[ast.expr]], parts: Sequence[_Part]
    ) -> list[ast.stmt]:
        """The line that makes the array ``name``, and those that store ``parts`` at ``places`` in it."""
        self._ranks[name] = len(shape)
        kind = ast.keyword("dtype", ast.Constant(len(parts), PARTS))
        made = ast.Call(numpy_function("empty"), [ast.Tuple(shape, ast.Load())], [kind])
        lines: list[ast.stmt] = [ast.Assign([ast.Name(name, ast.Store())], made)]
        for place, part in zip(places, parts, strict=True):
            index = place[0] if len(place) == 1 else ast.Tuple(place, ast.Load())
            target = ast.Subscript(ast.Name(name, ast.Load()), index, ast.Store())
            lines.append(ast.Assign([target], part.value))
        return copies_of(lines)

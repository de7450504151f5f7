"""Arrays that are made of lists of computed values: the loop that fills an array instead.

``y = np.array([f(i) for i in range(n)])`` becomes an array and a loop over ``range(n)``. So does ``kept = []`` with
``kept.append(v)`` once in each iteration of one loop, where nobody sees that it is a list. Of no values NumPy makes an
array of another type; calls in which there are none are refused (``Running``).
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from polyviz.frontend.array_names import ArrayNames, bound_by, mentions
from polyviz.frontend.jumps import jumps_of
from polyviz.frontend.list_uses import is_array_of, one_by_one, uses_as_array
from polyviz.frontend.literals import ELEMENTS
from polyviz.frontend.new_arrays import running
from polyviz.frontend.own_names import numpy_function
from polyviz.frontend.parts import copies_of, copy_of, names_of, parts_of, stored_in
from polyviz.frontend.regions import call_of, difference
from polyviz.frontend.visited import FreshNames, Renamed, located, visited

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from polyviz.frontend.names import GlobalNames
    from polyviz.frontend.source import Source

_DEEPEST = 2
"""Dimensions of an array that lists inside each other make."""


def with_filled_arrays(source: Source, names: GlobalNames) -> Source:
    """``source`` of a function with arrays and loops in the place of lists; what cannot be followed stays.

    >>> from polyviz.frontend.names import GlobalNames
    >>> from polyviz.frontend.source import read_source
    >>> source = read_source("def f(x, n):\\n y = np.array([x[i] * i for i in range(n)])\\n return y", None, None)
    >>> _, *lines = with_filled_arrays(source, GlobalNames(source)).body
    >>> print(ast.unparse(ast.Module(lines, [])))
    y = np.empty((n,), dtype='float64')
    for i_2 in range(n):
        y[i_2] = x[i_2] * i_2
    return y
    """
    if source.arguments is None:
        return source
    parts = parts_of(*source.body)
    stored = {part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
    is_python = not any(name in stored or names.knows(name) for name in ("range", "enumerate", "zip", "len", "sum"))
    if not is_python or not any(isinstance(part, ast.ListComp | ast.List) for part in parts):
        return source
    body = [line for node in copies_of(source.body) for line in one_by_one(node)]
    fresh = FreshNames(source, names)
    uses = uses_as_array(body, names)
    arrays = ArrayNames(body, names)
    body = _Comprehensions(names, fresh, uses.names).block(_Appended(arrays, uses.names, fresh).body(body))
    return replace(source, body=tuple(visited(uses, body)))


@dataclass(frozen=True, slots=True)
class _Run:
    """A loop of ``target`` over so many values; ``place`` is the number of the one that it has."""

    target: ast.expr
    iterable: ast.expr
    length: ast.expr
    place: ast.expr


def _run_of(target: ast.expr, iterable: ast.expr, fresh: FreshNames) -> _Run | None:
    """The loop of ``target`` over ``iterable``; None where it is not clear how many values there are."""
    match iterable, target:
        case ast.Call(func=ast.Name(id="range"), args=[stop], keywords=[]), ast.Name():
            return _Run(target, iterable, stop, ast.Name(target.id, ast.Load()))
        case ast.Call(func=ast.Name(id="range"), args=[start, stop], keywords=[]), ast.Name():
            place = difference(ast.Name(target.id, ast.Load()), start)
            return _Run(target, iterable, difference(stop, start), place)
    length = _length(iterable)
    if length is None:
        return None
    number = fresh.like("place")
    counted = ast.Tuple([ast.Name(number, ast.Store()), target], ast.Store())
    return _Run(counted, call_of("enumerate", iterable), length, ast.Name(number, ast.Load()))


def _length(iterable: ast.expr) -> ast.expr | None:
    """How many values a loop over ``iterable`` has: over an array, over several of them, or with their numbers."""
    match iterable:
        case ast.Name():
            return call_of("len", iterable)
        case ast.Call(func=ast.Name(id="enumerate"), args=[row]):
            return _length(row)
        case ast.Call(func=ast.Name(id="zip"), args=[_, _, *_] as rows):
            lengths = [length for row in rows if (length := _length(row)) is not None]
            return call_of("min", *lengths) if len(lengths) == len(rows) else None
    return None


def _made(name: str, runs: Sequence[_Run], kinds: Sequence[ast.expr], node: ast.AST) -> list[ast.stmt]:
    """The lines that make the array ``name`` for the values of loops inside each other."""
    lengths = [copy_of(one.length) for one in runs]
    kind = [*kinds, ast.Constant("float64", ELEMENTS)][0]
    empty = ast.Call(numpy_function("empty"), [ast.Tuple(lengths, ast.Load())], [ast.keyword("dtype", kind)])
    made = located(ast.Assign([ast.Name(name, ast.Store())], empty), node)
    return [running(lengths, made), made]


class _Comprehensions:
    """Writes list comprehensions as loops; ``kept`` are names of lists that nobody sees."""

    def __init__(self, names: GlobalNames, fresh: FreshNames, kept: Collection[str]) -> None:
        self._names = names
        self._fresh = fresh
        self._kept = kept

    def block(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        """``body`` with loops in front of what uses their arrays."""
        return [one for node in body for one in self._statement(node)]

    def _statement(self, node: ast.stmt) -> list[ast.stmt]:
        if isinstance(node, ast.For | ast.While | ast.If):
            node.body, node.orelse = self.block(node.body), self.block(node.orelse)
            return [node]
        name = bound_by(node)
        if isinstance(node, ast.Assign) and name and not mentions(node.value, name):
            lines = self._filled(name, node.value)
            if lines is not None:
                return lines
        if not isinstance(node, ast.Assign | ast.AugAssign | ast.Return):
            return [node]
        inside = _Inside(self._filled, self._fresh)
        written = inside.visit(node)
        return [*inside.before, written]

    def _filled(self, name: str, value: ast.expr) -> list[ast.stmt] | None:
        """The lines that make the array ``name`` and fill it with what ``value`` lists; None where that is not one."""
        kinds: list[ast.expr] = []
        match value:
            case ast.ListComp() if name in self._kept:
                listed = value
            case ast.Call(func=function, args=[ast.ListComp() as listed, *kinds], keywords=named) if (
                is_array_of(function, self._names) and all(one.arg == "dtype" for one in named)
            ):
                kinds = [*kinds, *(one.value for one in named)]
            case _:
                return None
        found = self._runs(listed)
        if found is None:
            return None
        runs, element = found
        index: list[ast.expr] = [copy_of(one.place) for one in runs]
        target = ast.Subscript(
            ast.Name(name, ast.Load()), index[0] if len(index) == 1 else ast.Tuple(index, ast.Load()), ast.Store()
        )
        body: list[ast.stmt] = [ast.Assign([target], element)]
        for one in reversed(runs):
            body = [ast.For(one.target, one.iterable, body, [])]
        return [*_made(name, runs, kinds, value), located(body[0], value)]

    def _runs(self, listed: ast.ListComp) -> tuple[list[_Run], ast.expr] | None:
        """The loops of ``listed``, from the outside, and what stands in them."""
        runs: list[_Run] = []
        inner: ast.expr = listed
        own: set[str] = set()
        while isinstance(inner, ast.ListComp):
            one = inner.generators[0]
            is_plain = len(inner.generators) == 1 and not one.ifs and not one.is_async
            if not is_plain or len(runs) == _DEEPEST or any(mentions(one.iter, name) for name in own):
                return None
            targets = [part.id for part in names_of(one.target)]
            renamed = Renamed({name: self._fresh.like(name) for name in targets})
            run = _run_of(renamed.visit(copy_of(one.target)), one.iter, self._fresh)
            if run is None:
                return None
            runs.append(run)
            own |= set(renamed.names.values())
            inner = renamed.visit(copy_of(inner.elt))
        return runs, inner


class _Inside(ast.NodeTransformer):
    """Gives names to arrays of lists inside of expressions, where they are made in any case."""

    def __init__(self, filled: Any, fresh: FreshNames) -> None:
        self._filled = filled
        self._fresh = fresh
        self.before: list[ast.stmt] = []

    def visit(self, node: ast.AST) -> Any:
        """``node`` with names."""
        if isinstance(node, ast.IfExp | ast.BoolOp | ast.Lambda | ast.GeneratorExp | ast.ListComp):
            return node
        if not isinstance(node, ast.Call):
            return super().visit(node)
        own = self._fresh.like("listed")
        lines = self._filled(own, node)
        if lines is None:
            return super().visit(node)
        self.before += lines
        return located(ast.Name(own, ast.Load()), node)


class _Appended:
    """Writes lists to which one loop appends a value in each iteration as arrays; ``kept`` are those nobody sees."""

    def __init__(self, arrays: ArrayNames, kept: Collection[str], fresh: FreshNames) -> None:
        self._arrays = arrays
        self._kept = kept
        self._fresh = fresh

    def body(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """``body`` of the function with arrays."""
        for place, node in enumerate(body):
            name = bound_by(node)
            is_empty = isinstance(node, ast.Assign) and isinstance(node.value, ast.List) and not node.value.elts
            rest = body[place + 1 :]
            later = next((at for at, one in enumerate(rest) if mentions(one, name)), None)
            loop = rest[later] if later is not None and is_empty and name in self._kept else None
            filled = self._filling(name, loop) if isinstance(loop, ast.For) else None
            if later is not None and filled is not None:
                rest[later : later + 1] = filled
                return [*body[:place], ast.copy_location(ast.Pass(), node), *self.body(rest)]
        return body

    def _filling(self, name: str, loop: ast.For) -> list[ast.stmt] | None:
        """The lines that make an array and fill it in ``loop``, where that appends to ``name`` once each time."""
        places = [at for at, node in enumerate(loop.body) if mentions(node, name)]
        run = _run_of(loop.target, loop.iter, self._fresh)
        if len(places) != 1 or run is None or loop.orelse or any(jumps_of(loop.body)) or mentions(loop.iter, name):
            return None
        line = loop.body[places[0]]
        match line:
            case ast.Expr(value=ast.Call(func=ast.Attribute(attr="append"), args=[value], keywords=[])):
                is_number = not mentions(value, name) and not self._is_array(value)
            case _:
                return None
        used = [part.id for one in (run.target, run.length) for part in parts_of(one) if isinstance(part, ast.Name)]
        if not is_number or stored_in(*loop.body) & {*used}:
            return None
        store = ast.Assign([ast.Subscript(ast.Name(name, ast.Load()), run.place, ast.Store())], value)
        lines = [*loop.body[: places[0]], located(store, line), *loop.body[places[0] + 1 :]]
        return [*_made(name, [run], [], loop), located(ast.For(run.target, run.iterable, lines, []), loop)]

    def _is_array(self, value: ast.expr) -> bool:
        is_copy = isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "copy"
        return is_copy or self._arrays.computes(value)

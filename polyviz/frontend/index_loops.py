"""Loops over all places of an array with one name for a place: ``for index in np.ndindex(A.shape): B[index] = 1``.

A place is a tuple of as many numbers as there are dimensions. Each of them gets a name of its own, and the tuple of
these takes the place of the one name: ``for i, j in np.ndindex(A.shape[0], A.shape[1]): B[i, j] = 1``.
"""

from __future__ import annotations

import ast
import copy
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from polyviz.frontend.parts import copy_of, parts_of
from polyviz.frontend.ranks import ranks_told
from polyviz.frontend.regions import constant_of, extent_of
from polyviz.frontend.visited import FreshNames, located, visited

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from polyviz.frontend.names import GlobalNames
    from polyviz.frontend.source import Source


def with_named_places(source: Source, names: GlobalNames) -> Source:
    """``source`` with a name for each number of a place; where nobody knows how many there are, the loop stays.

    >>> from polyviz.frontend.names import GlobalNames
    >>> from polyviz.frontend.source import read_source
    >>> text = "def f(A, B):\\n n, m = A.shape\\n for at in np.ndindex(A.shape): B[at] = A[at] + at[1]"
    >>> source = read_source(text, None, None)
    >>> print(ast.unparse(with_named_places(source, GlobalNames(source)).body[1]))
    for at_0, at_1 in np.ndindex(A.shape[0], A.shape[1]):
        B[at_0, at_1] = A[at_0, at_1] + at_1
    """
    if not _place_names(source.body, names):
        return source
    writer = _Writer(source, names)
    body = tuple(visited(writer, source.body))
    own, found = source.own_loops | writer.own, source.place_names | writer.found
    return replace(source, body=body, own_loops=own, place_names=found)


def _place_names(body: Iterable[ast.stmt], names: GlobalNames) -> dict[str, int]:
    """The names that loops over places have for one, and how often these loops read them."""
    found: dict[str, int] = {}
    for part in parts_of(*body):
        name = _place_name(part, names)
        if name:
            found[name.id] = (
                found.get(name.id, 0) + _loads(part.body if isinstance(part, ast.For) else [])[name.id]
            )
    return found


def _place_name(node: ast.AST, names: GlobalNames) -> ast.Name | None:
    """The one name that a loop has for a place."""
    match node:
        case ast.For(target=ast.Name() as name, iter=ast.Call(func=function, keywords=[]), orelse=[]):
            return name if names.canonical(function) == "numpy.ndindex" else None
        case ast.For(
            target=ast.Tuple(elts=[ast.Name() as name, ast.Name()]),
            iter=ast.Call(func=function, args=[ast.Name()], keywords=[]),
            orelse=[],
        ):
            return name if names.canonical(function) == "numpy.ndenumerate" else None
    return None


class _Writer(ast.NodeTransformer):
    """``found`` are the names that stand for places, ``own`` those of their numbers."""

    def __init__(self, source: Source, names: GlobalNames) -> None:
        self._names = names
        self._fresh = FreshNames(source, names)
        self._read_inside = _place_names(source.body, names)
        self._read = _loads(source.body)
        hidden = [_Hidden(self._read_inside).visit(copy_of(node)) for node in source.body]
        self._ranks = ranks_told(replace(source, body=tuple(hidden)), names)
        self.found: set[str] = set()
        self.own: set[str] = set()

    def visit_For(self, node: ast.For) -> ast.For:
        node.body = visited(self, node.body)
        name, called = _place_name(node, self._names), node.iter
        if name is None or not isinstance(called, ast.Call) or not self._is_of_loop(name, node):
            return node
        ends = self._ends(called)
        if ends is None:
            return node
        numbers = [self._fresh.like(f"{name.id}_{axis}") for axis in range(len(ends))]
        self.own.update(numbers)
        self.found.add(name.id)
        place = located(ast.Tuple([ast.Name(one, ast.Store()) for one in numbers], ast.Store()), name)
        written = copy.copy(node)
        if isinstance(node.target, ast.Tuple):
            written.target = ast.copy_location(ast.Tuple([place, node.target.elts[1]], ast.Store()), node.target)
        else:
            written.target = place
            written.iter = located(ast.Call(called.func, ends, []), called)
        written.body = visited(_Places(name.id, numbers), node.body)
        return written

    def _is_of_loop(self, name: ast.Name, node: ast.For) -> bool:
        """Whether ``name`` means what the loop says wherever it is read, in this loop or another one over places."""
        parts = parts_of(*node.body)
        stored = {part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
        return name.id not in stored and self._read[name.id] == self._read_inside[name.id]

    def _ends(self, call: ast.Call) -> list[ast.expr] | None:
        """How many places there are along each dimension; None where the dimensions are not known."""
        match call.args:
            case [ast.Name() as array] if self._names.canonical(call.func) == "numpy.ndenumerate":
                return self._extents(array)
            case [ast.Starred(value=shape)] | [shape] if (shaped := _shaped(shape)) is not None:
                whole = self._extents(shaped)
                return _part(whole, shape) if whole is not None else _first(shaped, shape)
            case [ast.Tuple(elts=parts)] | [*parts] if parts:
                return None if any(isinstance(one, ast.Starred) for one in parts) else list(parts)
        return None

    def _extents(self, array: ast.Name) -> list[ast.expr] | None:
        rank = self._ranks.get(array.id)
        return None if rank is None else [extent_of(array, axis) for axis in range(rank)]


def _shaped(node: ast.expr) -> ast.Name | None:
    """The array of whose shape ``node`` is all or a part."""
    match node:
        case ast.Attribute(value=ast.Name() as array, attr="shape"):
            return array
        case ast.Subscript(
            value=ast.Attribute(value=ast.Name() as array, attr="shape"), slice=ast.Slice(step=None)
        ):
            return array
    return None


def _bounds(part: ast.expr) -> tuple[int | None, int | None] | None:
    """The bounds of a part of a shape, where they are numbers."""
    if not isinstance(part, ast.Subscript) or not isinstance(part.slice, ast.Slice):
        return None, None
    given = part.slice.lower, part.slice.upper
    lower, upper = (None if one is None else constant_of(one) for one in given)
    is_known = all(one is None or constant_of(one) is not None for one in given)
    return (lower, upper) if is_known else None


def _part(extents: list[ast.expr], shape: ast.expr) -> list[ast.expr] | None:
    """Those of ``extents`` that ``shape`` asks for."""
    bounds = _bounds(shape)
    return None if bounds is None else extents[slice(*bounds)] or None


def _first(array: ast.Name, shape: ast.expr) -> list[ast.expr] | None:
    """The extents of ``A.shape[:2]``, whatever there is behind them."""
    lower, upper = _bounds(shape) or (None, None)
    if upper is None or upper < 1 or (lower or 0) < 0:
        return None
    return [extent_of(array, axis) for axis in range(lower or 0, upper)] or None


class _Places(ast.NodeTransformer):
    """Puts the tuple of ``numbers`` in the place of ``name``, and what is asked of it in the place of that."""

    def __init__(self, name: str, numbers: Sequence[str]) -> None:
        self._name = name
        self._numbers = numbers

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id != self._name:
            return node
        return located(ast.Tuple([ast.Name(one, ast.Load()) for one in self._numbers], ast.Load()), node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        is_place = isinstance(node.value, ast.Name) and node.value.id == self._name
        self.generic_visit(node)
        if not is_place or not isinstance(node.value, ast.Tuple):
            return node
        place = constant_of(node.slice)
        if place is not None and -len(self._numbers) <= place < len(self._numbers):
            return node.value.elts[place]
        bounds = _bounds(node) if isinstance(node.slice, ast.Slice) and node.slice.step is None else None
        return (
            node if bounds is None else located(ast.Tuple(node.value.elts[slice(*bounds)], ast.Load()), node)
        )

    def visit_Tuple(self, node: ast.Tuple) -> ast.expr:
        self.generic_visit(node)
        node.elts = [one for part in node.elts for one in _listed(part)]
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        node.args = [one for part in node.args for one in _listed(part)]
        match node:
            case ast.Call(func=ast.Name(id="len"), args=[ast.Tuple(elts=parts)], keywords=[]):
                return located(ast.Constant(len(parts)), node)
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        match node:
            case ast.BinOp(left=ast.Tuple(elts=first), op=ast.Add(), right=ast.Tuple(elts=second)):
                return located(ast.Tuple([*first, *second], ast.Load()), node)
        return node


class _Hidden(ast.NodeTransformer):
    """Puts ``...`` in the place of subscripts with one of ``names``: for how many dimensions these are is not known."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = frozenset(names)

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        if self._has_place(node.slice):
            node.slice = located(ast.Constant(...), node.slice)
        self.generic_visit(node)
        return node

    def _has_place(self, index: ast.expr) -> bool:
        """Whether a whole place is among the subscripts ``index``, and not only one number of it."""
        match index:
            case ast.Name(id=name):
                return name in self._names
            case ast.Tuple(elts=parts):
                return any(map(self._has_place, parts))
            case ast.Starred(value=value):
                return self._has_place(value)
            case ast.BinOp(left=left, right=right):
                return self._has_place(left) or self._has_place(right)
            case ast.Subscript(value=ast.Name(id=name), slice=ast.Slice()):
                return name in self._names
        return False


def _listed(part: ast.expr) -> list[ast.expr]:
    """What stands in the place of ``part``: of ``*(i, j)`` both."""
    return part.value.elts if isinstance(part, ast.Starred) and isinstance(part.value, ast.Tuple) else [part]


def _loads(body: Iterable[ast.stmt]) -> Counter[str]:
    parts = parts_of(*body)
    return Counter(part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load))

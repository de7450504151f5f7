"""Loops over arrays, ``enumerate``, ``zip``, ``np.ndindex`` and ``product`` as the loops over ``range`` that they are.

``for i, v in enumerate(A)`` becomes ``for i in range(A.shape[0])`` whose body begins with ``v = A[i]``. Where no name
counts the positions, the loop gets one that nobody else has (``Source.own_loops``).
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from polyviz.frontend.array_names import ArrayNames
from polyviz.frontend.array_parts import is_view, listed_indices
from polyviz.frontend.functions import GENERATORS, MAKERS
from polyviz.frontend.jumps import ends_early
from polyviz.frontend.own_names import own_name
from polyviz.frontend.parts import copy_of, names_in, parts_of, stored_in
from polyviz.frontend.ranks import least_ranks
from polyviz.frontend.read_before import read_before, with_new_elements
from polyviz.frontend.regions import constant_of, is_new_axis
from polyviz.frontend.taken_apart import with_named_rows
from polyviz.frontend.usage import subscript_chain
from polyviz.frontend.visited import FreshNames, visited
from polyviz.frontend.windows import range_at, window_of, within

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from polyviz.frontend.names import GlobalNames
    from polyviz.frontend.source import Source

Node = TypeVar("Node", bound=ast.AST)
_OF_ROWS = frozenset({
    "sum", "mean", "prod", "std", "var", "max", "min", "amax", "amin", "argmax", "argmin", "any", "all",
    "count_nonzero", "norm", "dot", "vdot", "inner", "matmul",
})  # fmt: skip
"""Functions of NumPy that nobody calls with a single number."""
_OF_NUMBERS = frozenset({"real", "imag", "conj", "conjugate"})
"""What a number has as well as a row."""
Values = list[tuple[ast.Name, ast.expr]]
"""What the variables of a loop are at one position."""


def over_positions(source: Source, names: GlobalNames) -> Source:
    """``source`` with loops over elements as loops over their positions.

    >>> from polyviz.frontend.names import GlobalNames
    >>> from polyviz.frontend.source import read_source
    >>> source = read_source("def f(A, B):\\n for a, b in zip(A, B): A[0] += a * b", None, None)
    >>> print(ast.unparse(ast.Module(list(over_positions(source, GlobalNames(source)).body), [])))
    for a_at in range(min(A.shape[0], B.shape[0])):
        a = A[a_at]
        b = B[a_at]
        A[0] += a * b
    """
    writer = _Writer(source, names)
    body = tuple(visited(writer, source.body))
    if not writer.changed:
        return source
    return replace(source, body=body, own_loops=source.own_loops | writer.own, row_names=source.row_names | writer.rows)


class _Writer(ast.NodeTransformer):
    def __init__(self, source: Source, names: GlobalNames) -> None:
        parts = parts_of(*source.body)
        self._source = source
        self._names = names
        self._ranks = least_ranks(source, names)
        self._arrays = ArrayNames(source.body, names, self._ranks)
        self._fresh = FreshNames(source, names)
        self._made = [part for part in parts if isinstance(part, ast.Assign)]
        self._stored = {part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
        arguments = parts_of(source.arguments)
        self._arguments = {one.arg for one in arguments if isinstance(one, ast.arg)}
        self._conditions: list[ast.expr] = []
        self.own: set[str] = set()
        self.rows: set[str] = set()
        self.changed = False

    def visit_For(self, node: ast.For) -> ast.For | list[ast.stmt]:
        around, self._conditions = self._conditions, []
        iterable, written = node.iter, self._loop(node)
        found, self._conditions = self._conditions, around
        return [within(found, iterable, node), written] if found and written is not node else written

    def _loop(self, node: ast.For) -> ast.For:
        self.generic_visit(node)
        is_range = isinstance(node.iter, ast.Call) and self._called(node.iter) == "range"
        if is_range or node.orelse or stored_in(node.target, *node.body) & names_in(node.iter):
            return node
        if with_new_elements(node.body) & read_before(node.iter):
            return node  # Python reads them once, before the first iteration
        return self._nest(node) or self._elements(with_named_rows(node, self._fresh.like)) or node

    def _elements(self, node: ast.For) -> ast.For | None:
        """A loop over the positions of arrays, if ``node`` is one."""
        first = next(part for part in (*parts_of(node.target), ast.Name("element")) if isinstance(part, ast.Name))
        place = ast.Name(self._fresh.like(f"{first.id}_at"), ast.Load())
        found = self._values(node.target, node.iter, place)
        if found is None:
            self._fresh.give_back(place.id)
            return None
        lengths, values = found
        elements = [(name.id, value) for name, value in values if isinstance(value, ast.Subscript)]
        used = {name for name, value in elements if self._is_row(name, value, node.body)}
        # A row stays where it is when the body gives its counter another value.
        if values[0][1] is place and not (used and values[0][0].id in stored_in(*node.body)):
            own, place = place.id, values[0][0]
            values = [(name, _renamed(value, own, place.id)) for name, value in values[1:]]
        else:
            self.own.add(place.id)
        rows = {
            name.id: (value.value.id, listed_indices(value.slice))
            for name, value in values
            if name.id in used and isinstance(value, ast.Subscript) and isinstance(value.value, ast.Name)
        }
        node.body = [_Rows(rows).visit(one) for one in node.body]
        self.rows.update(rows)
        values = [(name, value) for name, value in values if name.id not in rows]
        ends = lengths[0] if len(lengths) == 1 else _call("min", lengths)
        written = self._written(node, [(ast.Name(place.id, ast.Store()), ends)], values)
        return self.generic_visit(written) if rows else written  # type: ignore[return-value]  # a loop stays one

    def _values(self, target: ast.expr, iterable: ast.expr, place: ast.Name) -> tuple[list[ast.expr], Values] | None:
        """The lengths, of which the shortest counts, and the values at ``place`` of what ``iterable`` runs over."""
        called = self._called(iterable) if isinstance(iterable, ast.Call) else ""
        match iterable, target:
            case ast.Name(id=array), ast.Name() if self._is_array(array):
                return [_extent(array, 0)], [(target, _element(array, [place]))]
            case ast.Subscript(value=ast.Name(id=array)), ast.Name() if (places := _places_of(iterable)):
                return [_extent(array, len(places))], [(target, _element(array, [*places, place]))]
            case ast.Subscript(value=ast.Name(id=array)), ast.Name() if self._is_array(array):
                return self._along(target, iterable, place)
            case ast.Call(args=[stop], keywords=[]), ast.Name() if called == "range":
                return [stop], [(target, place)]
            case ast.Call(args=[first, stop, *steps], keywords=[]), ast.Name() if called == "range":
                step = constant_of(steps[0]) if steps else 1
                if not step or len(steps) > 1:
                    return None
                length, number = range_at(first, stop, step, place)
                return [length], [(target, number)]
            case ast.Call(args=[inner, *given], keywords=named), ast.Tuple(elts=[ast.Name() as counter, other]) if (
                called == "enumerate" and len(given) + len(named) < 2 and all(one.arg == "start" for one in named)
            ):
                start = [*given, *(one.value for one in named)]
                found = self._values(other, inner, place)
                count = ast.BinOp(start[0], ast.Add(), place) if start else place
                return None if found is None else (found[0], [(counter, count), *found[1]])
            case ast.Call(args=parts, keywords=[]), ast.Tuple(elts=targets) if (
                called == "zip" and len(parts) == len(targets) > 0
            ):
                pairs = [self._values(one, part, place) for one, part in zip(targets, parts, strict=True)]
                known = [pair for pair in pairs if pair is not None]
                lengths, values = [one for pair in known for one in pair[0]], [one for pair in known for one in pair[1]]
                return (lengths, values) if len(known) == len(pairs) else None
        return None

    def _along(
        self, target: ast.Name, iterable: ast.Subscript, place: ast.Name
    ) -> tuple[list[ast.expr], Values] | None:
        """The length of the one slice of ``iterable``, and its element at ``place``."""
        indices = listed_indices(iterable.slice)
        parts = [(axis, one) for axis, one in enumerate(indices) if isinstance(one, ast.Slice)]
        if len(parts) != 1 or not isinstance(iterable.value, ast.Name) or not is_view(iterable, indices):
            return None
        axis, part = parts[0]
        window = None if any(map(is_new_axis, indices)) else window_of(part, _extent(iterable.value.id, axis))
        if window is None:
            return None
        length = window.length(self._conditions)
        chosen = [*indices[:axis], window.at(place, []), *indices[axis + 1 :]]
        return [length], [(target, _element(iterable.value.id, chosen))]

    def _nest(self, node: ast.For) -> ast.For | None:
        """Loops inside each other, if ``node`` runs over all places of an array or a product of ranges."""
        called = self._called(node.iter) if isinstance(node.iter, ast.Call) else ""
        match node.iter, node.target:
            case ast.Call(args=parts, keywords=[]), ast.Tuple(elts=targets) if called == "itertools.product":
                ranges = [one.args for one in parts if isinstance(one, ast.Call) and self._called(one) == "range"]
                ends = [one[0] for one in ranges if len(one) == 1]
                return self._rectangle(node, targets, ends) if len(ranges) == len(parts) else None
            case ast.Call(args=parts, keywords=[]), ast.Tuple(elts=targets) if called == "numpy.ndindex":
                return self._rectangle(node, targets, _extents(parts, len(targets)))
            case (
                ast.Call(args=[ast.Name(id=array)]),
                ast.Tuple(elts=[ast.Tuple(elts=targets), ast.Name() as value]),
            ) if called == "numpy.ndenumerate" and self._is_array(array):
                places: list[ast.expr] = [ast.Name(one.id, ast.Load()) for one in targets if isinstance(one, ast.Name)]
                ends = [_extent(array, axis) for axis in range(len(targets))]
                return self._rectangle(node, targets, ends, [(value, _element(array, places))])
        return None

    def _rectangle(
        self, node: ast.For, targets: Sequence[ast.expr], ends: Sequence[ast.expr], values: Values | None = None
    ) -> ast.For | None:
        names = [one for one in targets if isinstance(one, ast.Name)]
        if not len(names) == len(targets) == len(ends) or not ends or ends_early(node.body):
            return None  # `break` leaves one loop, and not several inside each other
        return self._written(node, list(zip(names, ends, strict=True)), values or [])

    def _written(self, node: ast.For, loops: Sequence[tuple[ast.Name, ast.expr]], values: Values) -> ast.For:
        self.changed = True
        body: list[ast.stmt] = [ast.Assign([name], value) for name, value in values]
        for one in body:
            _at(one, node.target, node.iter)
        body += node.body
        for name, end in reversed(loops):
            target, iterable = _at(copy_of(name), node.target), _at(_call("range", [end]), node.iter)
            loop = ast.For(target, iterable, body, [])
            body = [ast.copy_location(loop, node)]
        return loop

    def _is_row(self, name: str, element: ast.Subscript, body: Sequence[ast.stmt]) -> bool:
        """Whether ``name`` for ``element`` means a row: by what is known of the array, or by what ``body`` does."""
        base, indices = subscript_chain(element)
        rank = self._ranks.get(base.id, 0) if isinstance(base, ast.Name) else 0
        return (rank > len(indices) and not _is_bound(name, body)) or is_row(name, body)

    def _called(self, call: ast.Call) -> str:
        function = call.func
        if isinstance(function, ast.Name) and function.id in self._stored | self._arguments:
            return ""
        return self._names.canonical(function) or ""

    def _is_array(self, name: str) -> bool:
        if name in self._stored:
            made = [node.value for node in self._made if name in stored_in(*node.targets)]
            known = {*MAKERS, *GENERATORS}
            others = [one for one in made if not (isinstance(one, ast.Call) and self._called(one) in known)]
            return bool(made) and all(map(self._arrays.computes, others))
        value = self._names.value(name)
        around = self._source.has_namespace and self._source.is_cell
        return name in self._arguments or isinstance(value, np.ndarray) or (value is None and not around)


def is_row(name: str, body: Sequence[ast.stmt]) -> bool:
    """Whether ``body`` uses what a loop calls ``name`` as an array, and gives the name to nothing else."""
    if _is_bound(name, body):
        return False
    for part in parts_of(*body):
        match part:
            case ast.Subscript(value=ast.Name(id=used)) if used == name:
                return True
            case ast.Attribute(value=ast.Name(id=used), attr=attribute) if used == name:
                if attribute not in _OF_NUMBERS:
                    return True
            case ast.For(iter=iterable) if name in _iterated(iterable):
                return True
            case ast.Call(func=ast.Attribute(attr=function), args=parts) if function in _OF_ROWS and any(
                isinstance(one, ast.Name) and one.id == name for one in parts
            ):
                return True
            case ast.BinOp(op=ast.MatMult(), left=left, right=right) if name in names_in(left) | names_in(right):
                return True
            case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=used)]) if used == name:
                return True
    return False


def _is_bound(name: str, body: Sequence[ast.stmt]) -> bool:
    return name in stored_in(*(part for part in parts_of(*body) if isinstance(part, ast.Assign | ast.For)))


def _iterated(node: ast.expr) -> set[str]:
    """The names of what a loop runs over; those in the bounds of a range are numbers."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and str(node.func.id) == "range":
        return set()
    if isinstance(node, ast.Call):
        return {name for part in node.args for name in _iterated(part)}
    return names_in(node)


def _places_of(node: ast.expr) -> list[ast.expr]:
    """The subscripts of ``node``: numbers, names or names moved by a number; none where there are others."""
    index = node.slice if isinstance(node, ast.Subscript) else node
    parts = list(index.elts) if isinstance(index, ast.Tuple) else [index]
    return parts if all(map(_is_place, parts)) else []


def _is_place(node: ast.expr) -> bool:
    match node:
        case ast.Name() | ast.BinOp(left=ast.Name(), op=ast.Add() | ast.Sub(), right=ast.Constant(value=int())):
            return True
    return type(constant_of(node)) is int


class _Rows(ast.NodeTransformer):
    """Puts rows in the place of their names; ``is_iterated``: in what a loop runs over, where no slice is wanted."""

    def __init__(self, rows: Mapping[str, tuple[str, list[ast.expr]]], *, is_iterated: bool = False) -> None:
        self._rows = rows
        self._is_iterated = is_iterated

    def visit_For(self, node: ast.For) -> ast.For:
        # The row of an inner loop is found when that loop is written over positions.
        node.iter = _Rows(self._rows, is_iterated=True).visit(node.iter)
        node.body = [self.visit(one) for one in node.body]
        return node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """The whole row."""
        if node.id not in self._rows:
            return node
        array, places = self._rows[node.id]
        whole = _element(array, places if self._is_iterated else [*places, ast.Slice()])
        whole.ctx = node.ctx
        return _at(whole, node, node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        """A part of the row, or one of its extents."""
        match node:
            case ast.Subscript(value=ast.Name(id=name)) if name in self._rows:
                array, places = self._rows[name]
                node.value = _at(_element(array, places), node, node)
                node.slice = self.visit(node.slice)
                return node
            case ast.Subscript(
                value=ast.Attribute(value=ast.Name(id=name), attr="shape"), slice=ast.Constant(value=int() as axis)
            ) if name in self._rows:
                return self._extent(name, axis, node)
        return self.generic_visit(node)  # type: ignore[return-value]  # a subscript stays an expression

    def visit_Call(self, node: ast.Call) -> ast.expr:
        match node:
            case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name)]) if name in self._rows:
                return self._extent(name, 0, node)
        return self.generic_visit(node)  # type: ignore[return-value]  # a call stays an expression

    def _extent(self, name: str, axis: int, node: ast.expr) -> ast.expr:
        array, places = self._rows[name]
        return _at(_extent(array, len(places) + axis), node, node)


def _extents(parts: Sequence[ast.expr], count: int) -> list[ast.expr]:
    """The extents that ``np.ndindex`` is called with: numbers, a tuple of them, or the shape of an array."""
    match list(parts):
        case [ast.Starred(value=ast.Attribute(value=ast.Name(id=array), attr="shape"))]:
            return [_extent(array, axis) for axis in range(count)]
        case [ast.Attribute(value=ast.Name(id=array), attr="shape")]:
            return [_extent(array, axis) for axis in range(count)]
        case [ast.Tuple(elts=elements)]:
            return list(elements)
    return list(parts)


def _extent(array: str, axis: int) -> ast.expr:
    shape = ast.Attribute(ast.Name(array, ast.Load()), "shape", ast.Load())
    return ast.Subscript(shape, ast.Constant(axis), ast.Load())


def _element(array: str, places: Sequence[ast.expr]) -> ast.Subscript:
    index = places[0] if len(places) == 1 else ast.Tuple(list(places), ast.Load())
    return ast.Subscript(ast.Name(array, ast.Load()), index, ast.Load())


def _call(name: str, arguments: Iterable[ast.expr]) -> ast.Call:
    return ast.Call(own_name(name), list(arguments), [])


def _renamed(node: ast.expr, old: str, new: str) -> ast.expr:
    node = copy_of(node)
    for part in parts_of(node):
        if isinstance(part, ast.Name) and part.id == old:
            part.id = new
    return node


def _at(node: Node, first: ast.expr, last: ast.expr | None = None) -> Node:
    """``node`` and all its parts at the place from ``first`` to ``last`` in the text."""
    for part in parts_of(node):
        ast.copy_location(part, first)
        if last is not None and isinstance(part, ast.expr | ast.stmt):
            part.end_lineno, part.end_col_offset = last.end_lineno, last.end_col_offset
    return node

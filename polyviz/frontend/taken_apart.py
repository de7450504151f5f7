"""Rows that are taken apart or set by a tuple: ``x, y = A[i]`` and ``A[i] = x, y`` become one pair per element.

Python counts the elements when it comes there; here it is taken for granted that there are as many as are written.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from polyviz.frontend.parts import copy_of, parts_of
from polyviz.frontend.usage import subscript_chain
from polyviz.frontend.visited import located, visited

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Sequence

    from polyviz.frontend.source import Source


class OfLength(ast.stmt):
    """``extent``, that of the last dimension of an array, is ``count``."""

    _fields = ("extent",)
    extent: ast.Subscript
    count: int

    @property
    def axis(self) -> int:
        """The dimension, counted from 0."""
        return int(ast.literal_eval(self.extent.slice))

    @property
    def array(self) -> ast.expr:
        """The array that it is a dimension of."""
        assert isinstance(self.extent.value, ast.Attribute)
        return self.extent.value.value


def taken_apart(source: Source) -> Source:
    """``source`` with one value for each name, where a row is assigned to several, and the other way round.

    >>> from polyviz.frontend.source import read_source
    >>> source = read_source("x, y = A[i]\\nB[i] = y, x", None, None)
    >>> print(ast.unparse([node for node in taken_apart(source).body if not isinstance(node, OfLength)]))
    x, y = (A[i][0], A[i][1])
    B[i][0], B[i][1] = (y, x)
    """
    return replace(source, body=tuple(visited(_Writer(source.body), source.body)))


def with_named_rows(node: ast.For, fresh: Callable[[str], str]) -> ast.For:
    """``node`` with names for the rows that it takes apart: ``for i, (x, y) in enumerate(A)``.

    >>> loop = ast.parse("for i, (x, y) in enumerate(A): s += x").body[0]
    >>> print(ast.unparse(with_named_rows(loop, lambda stem: stem).target))
    (i, row)
    """
    parts, rows = _with_iterables(node)
    if not any(map(_is_row, parts, rows)):
        return node
    named: list[ast.expr] = []
    before: list[ast.stmt] = []
    for part, row in zip(parts, rows, strict=True):
        name = fresh("row") if _is_row(part, row) else ""
        named.append(located(ast.Name(name, ast.Store()), part) if name else part)
        if name:
            value = located(ast.Name(name, ast.Load()), part)
            before.append(located(ast.Assign([part], value), part))
    whole = located(ast.Tuple(named, ast.Store()), node.target) if isinstance(node.iter, ast.Call) else named[0]
    body = [*visited(_Writer(), before), *node.body]
    return located(ast.For(whole, node.iter, body, node.orelse), node)


class _Writer(ast.NodeTransformer):
    """``body``: everything that may give a meaning to a name, or tell that it is an array."""

    def __init__(self, body: Sequence[ast.stmt] = ()) -> None:
        parts = parts_of(*body)
        stored = {part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
        bases = (part.value for part in parts if isinstance(part, ast.Subscript | ast.Attribute))
        self._open = stored | {base.id for base in bases if isinstance(base, ast.Name)}

    def visit_Assign(self, node: ast.Assign) -> ast.Assign | list[ast.stmt]:
        match node:
            case ast.Assign(targets=[ast.Tuple() | ast.List() as names], value=ast.Name() | ast.Subscript() as row):
                parts = _elements(row, names.elts, ast.Load())
                written = ast.Assign(node.targets, ast.Tuple(parts, ast.Load()))
            case ast.Assign(targets=[ast.Subscript() as row], value=ast.Tuple() | ast.List() as values):
                parts = _elements(row, values.elts, ast.Store())
                written = ast.Assign([ast.Tuple(parts, ast.Store())], values)
            case ast.Assign(targets=[ast.Tuple() | ast.List() as names], value=ast.BinOp() as value):
                return self._computed(node, names.elts, value)
            case _:
                return node
        if not parts:
            return node
        return [_of_length(row, len(parts), node), located(written, node)]

    def _computed(self, node: ast.Assign, names: list[ast.expr], value: ast.BinOp) -> ast.Assign | list[ast.stmt]:
        """One value for each of ``names``, of sums and the like of rows of one array, and of numbers."""
        rows = _rows(value, self._open)
        bases = {ast.unparse(subscript_chain(row)[0]) for row in rows or ()}
        counts = {len(subscript_chain(row)[1]) for row in rows or ()}
        is_one = len(bases) == len(counts) == 1
        if not rows or not is_one or not _elements(rows[0], names, ast.Load()):
            return node
        values = [_Elements(place).visit(copy_of(value)) for place in range(len(names))]
        written = ast.Assign(node.targets, ast.Tuple(values, ast.Load()))
        return [_of_length(rows[0], len(names), node), located(written, node)]


class _Elements(ast.NodeTransformer):
    """Puts one element in the place of rows."""

    def __init__(self, place: int) -> None:
        self._place = place

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        base, indices = subscript_chain(node)
        return _element(base, indices, self._place, ast.Load())


def _of_length(row: ast.expr, count: int, node: ast.stmt) -> OfLength:
    """That ``row`` has ``count`` elements, at the place of ``node``."""
    base, indices = subscript_chain(row) if isinstance(row, ast.Subscript) else (row, ())
    is_slice = bool(indices) and isinstance(indices[-1], ast.Slice)
    shape = ast.Attribute(copy_of(base), "shape", ast.Load())
    check = OfLength()
    check.extent = ast.Subscript(shape, ast.Constant(len(indices) - is_slice), ast.Load())
    check.count = count
    return located(check, node)


def _rows(node: ast.expr, unknown: Container[str]) -> list[ast.Subscript] | None:
    """What in ``node`` is subscripted; None where there is more than arithmetic of that and of numbers, which names
    that are ``unknown`` may not be."""
    match node:
        case ast.BinOp(left=left, op=operator, right=right) if not isinstance(operator, ast.MatMult):
            first, second = _rows(left, unknown), _rows(right, unknown)
            return None if first is None or second is None else first + second
        case ast.UnaryOp(operand=operand):
            return _rows(operand, unknown)
        case ast.Subscript():
            base, indices = subscript_chain(node)
            is_plain = isinstance(base, ast.Name) and not any(map(_is_several, indices))
            return [node] if is_plain else None
        case ast.Constant():
            return []
        case ast.Name(id=name) if name not in unknown:
            return []
    return None


def _with_iterables(node: ast.For) -> tuple[list[ast.expr], list[ast.expr]]:
    """The targets of a loop, and what each of them runs over."""
    match node:
        case ast.For(target=ast.Tuple(elts=parts), iter=ast.Call(func=ast.Name(id="enumerate"), args=given)) if (
            len(parts) == 2 and given
        ):
            return parts, [node.iter, *given[:1]]
        case ast.For(target=ast.Tuple(elts=parts), iter=ast.Call(func=ast.Name(id="zip"), args=rows)) if (
            len(parts) == len(rows)
        ):
            return parts, rows
    return [node.target], [node.iter]


def _is_row(part: ast.expr, iterable: ast.expr) -> bool:
    """Whether rows of an array are taken apart by ``part``."""
    return _is_sequence(part) and isinstance(iterable, ast.Name | ast.Subscript)


def _elements(row: ast.expr, parts: list[ast.expr], context: ast.expr_context) -> list[ast.expr]:
    """The elements of ``row`` that go with ``parts``; none where it is not clear that there are as many."""
    base, indices = subscript_chain(row) if isinstance(row, ast.Subscript) else (row, ())
    last = indices[-1] if indices else None
    is_whole = isinstance(last, ast.Slice) and not (last.lower or last.upper or last.step)
    fixed = indices[:-1] if is_whole else indices
    is_plain = isinstance(base, ast.Name) and not any(_is_several(one) for one in fixed)
    if not is_plain or len(parts) < 2 or any(_is_sequence(one) or isinstance(one, ast.Starred) for one in parts):
        return []
    return [_element(base, fixed, place, context) for place in range(len(parts))]


def _is_sequence(node: ast.expr) -> bool:
    return isinstance(node, ast.Tuple | ast.List)


def _is_several(index: ast.expr) -> bool:
    return isinstance(index, ast.Slice) or (isinstance(index, ast.Constant) and type(index.value) is not int)


def _element(
    base: ast.expr, indices: tuple[ast.expr, ...], place: int, context: ast.expr_context
) -> ast.expr:
    element = copy_of(base)
    for index in indices:
        element = ast.Subscript(element, copy_of(index), ast.Load())
    return ast.Subscript(element, ast.Constant(place), context)

"""Diagonals of matrices in whole lines: ``np.trace(A)``, ``np.fill_diagonal(A, v)`` and ``d = np.diag(A)``.

The first is a sum and the second a loop. For NumPy ``d`` shows the elements of ``A`` as they are at any time; here it
is an array of its own, which is the same as long as ``A`` stays as it is. What ``np.diag`` means inside of a line is
read where arrays are that follow from places (``generated``).
"""

from __future__ import annotations

import ast
import copy
from dataclasses import replace
from typing import TYPE_CHECKING

from polyviz.frontend.array_names import in_place
from polyviz.frontend.functions import GENERATORS, MAKERS
from polyviz.frontend.own_names import numpy_function
from polyviz.frontend.parts import parts_of
from polyviz.frontend.ranks import ranks_told
from polyviz.frontend.regions import call_of, constant_of, extent_of
from polyviz.frontend.visited import FreshNames, LinesBefore, located, visited

if TYPE_CHECKING:
    from polyviz.frontend.names import GlobalNames
    from polyviz.frontend.source import Source

_DIAGONALS = ("numpy.diag", "numpy.diagonal")


def with_diagonals(source: Source, names: GlobalNames) -> Source:
    """``source`` with loops along diagonals; raises where a name would stand for one that changes.

    >>> from polyviz.frontend.names import GlobalNames
    >>> from polyviz.frontend.source import read_source
    >>> source = read_source("def f(A):\\n np.fill_diagonal(A, 1)\\n return np.trace(A)", None, None)
    >>> print(ast.unparse(ast.Module(list(with_diagonals(source, GlobalNames(source)).body), [])))
    for place in range(min(A.shape[0], A.shape[1])):
        A[place, place] = 1
    return np.sum([A[place_2, place_2] for place_2 in range(min(A.shape[0], A.shape[1]))])
    """
    if not any(_called(part, names) for part in parts_of(*source.body)):
        return source
    if not source.is_cell:  # where every name would be left behind
        source = replace(source, body=tuple(visited(_Lines(source, names), source.body)))
    writer = _Writer(source, names)
    body = tuple(visited(writer, source.body))
    return replace(source, body=body, own_loops=source.own_loops | writer.own)


def _called(node: ast.AST, names: GlobalNames) -> str:
    """Which function of diagonals ``node`` calls."""
    called = (names.canonical(node.func) or "") if isinstance(node, ast.Call) else ""
    return called if called in (*_DIAGONALS, "numpy.trace", "numpy.fill_diagonal") else ""


class _Lines(LinesBefore, ast.NodeTransformer):
    """Puts a line before those that ask for a diagonal of what is computed, which gets a name there."""

    def __init__(self, source: Source, names: GlobalNames) -> None:
        self._names = names
        self._fresh = FreshNames(source, names)
        super().__init__()

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        return node  # what may not be computed at all

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        return node

    def visit_ListComp(self, node: ast.ListComp) -> ast.expr:
        return node

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.expr:
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        operand = node.args[0] if node.args and _called(node, self._names) else None
        if operand is None or not self._is_computed(operand):
            return node
        name = self._fresh.like("matrix")
        self.before.append(located(ast.Assign([ast.Name(name, ast.Store())], operand), operand))
        node.args[0] = located(ast.Name(name, ast.Load()), operand)
        return node

    def _is_computed(self, node: ast.expr) -> bool:
        """Whether ``node`` is worked out of arrays; diagonals of what follows from places need no array."""
        called = (self._names.canonical(node.func) or "") if isinstance(node, ast.Call) else ""
        return isinstance(node, ast.BinOp | ast.Call) and called not in (*_DIAGONALS, *GENERATORS, *MAKERS)


class _Writer(ast.NodeTransformer):
    """``own`` are the variables of the loops that it writes."""

    def __init__(self, source: Source, names: GlobalNames) -> None:
        self._source = source
        self._names = names
        self._fresh = FreshNames(source, names)
        self._ranks = ranks_told(source, names)
        parts = parts_of(*source.body)
        values = [part.value for part in parts if isinstance(part, ast.Assign)]
        self._changed = in_place(source.body) | {one.id for one in values if isinstance(one, ast.Name)}
        self.own: set[str] = set()

    def visit_Expr(self, node: ast.Expr) -> ast.stmt | list[ast.stmt]:
        match node.value:
            case ast.Call(args=[ast.Name() as array, value], keywords=[]) if (
                _called(node.value, self._names) == "numpy.fill_diagonal"
            ):
                return self._filled(array, value, node)
        self.generic_visit(node)
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        match node:
            case ast.Assign(
                targets=[ast.Name(id=name)], value=ast.Call(args=[ast.Name(id=array), *_]) as value
            ) if _called(value, self._names) in _DIAGONALS and self._ranks.get(array) == 2:
                if array in self._changed or self._source.is_cell:
                    raise self._changing(name, array, node)
        self.generic_visit(node)
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        match node:
            case ast.Call(args=[ast.Name() as array], keywords=[]) if (
                _called(node, self._names) == "numpy.trace"
            ):
                return self._sum(array, node)
            case (
                ast.Call(func=ast.Attribute(value=ast.Call() as inner, attr="sum"), args=[], keywords=[])
                | ast.Call(func=ast.Attribute(attr="sum"), args=[ast.Call() as inner], keywords=[])
            ) if (
                self._is_of_matrix(inner) and (self._names.canonical(node.func) or "numpy.sum") == "numpy.sum"
            ):
                return self._sum(inner.args[0], node)
        return node

    def _is_of_matrix(self, node: ast.Call) -> bool:
        """Whether ``node`` is the main diagonal of an array that is known to be a matrix."""
        match node:
            case ast.Call(args=[ast.Name(id=name)], keywords=[]) if _called(node, self._names) in _DIAGONALS:
                return self._ranks.get(name) == 2
        return False

    def _sum(self, array: ast.expr, node: ast.expr) -> ast.expr:
        if not isinstance(array, ast.Name):
            return node
        place = self._fresh.like("place")
        along = ast.comprehension(ast.Name(place, ast.Store()), call_of("range", _length(array)), [], 0)
        elements = ast.ListComp(_element(array, place), [along])
        return located(ast.Call(numpy_function("sum"), [elements], []), node)

    def _filled(self, array: ast.Name, value: ast.expr, node: ast.Expr) -> list[ast.stmt]:
        """The loop that stores ``value``, which is worked out before, along the diagonal."""
        place = self._fresh.like("place")
        self.own.add(place)
        before: list[ast.stmt] = []
        if not isinstance(value, ast.Constant | ast.Name):
            name = self._fresh.like("filled")
            self.own.add(name)
            before.append(ast.Assign([ast.Name(name, ast.Store())], value))
            value = ast.Name(name, ast.Load())
        target = _element(array, place)
        target.ctx = ast.Store()
        store = ast.Assign([target], value)
        loop = ast.For(ast.Name(place, ast.Store()), call_of("range", _length(array)), [store], [])
        return [located(one, node) for one in (*before, loop)]

    def _changing(self, name: str, array: str, node: ast.Assign) -> Exception:
        return self._source.error(
            node,
            f"`{name}` stands for a diagonal of `{array}`, whose elements may be changed.",
            reason="For NumPy it always shows what the matrix holds; here it would be an array of its own.",
            hint=f"Keep the elements, `{name} = np.diag({array}).copy()`, or write `{array}[i, i]` where it is used.",
        )


def _length(array: ast.Name) -> ast.expr:
    """How many elements the diagonal has."""
    return call_of("min", extent_of(array, 0), extent_of(array, 1))


def _element(array: ast.Name, place: str) -> ast.Subscript:
    both = ast.Tuple([ast.Name(place, ast.Load()), ast.Name(place, ast.Load())], ast.Load())
    return ast.Subscript(copy.copy(array), both, ast.Load())


def offset_of(call: ast.Call) -> int | None:
    """Which diagonal a call asks for, counted from the main one; None where that is no number.

    >>> [offset_of(ast.parse(text, mode="eval").body) for text in ("np.diag(A)", "np.diag(A, k=-1)", "np.diag(A, k)")]
    [0, -1, None]
    """
    given = [*call.args[1:], *(one.value for one in call.keywords if one.arg in ("k", "offset"))]
    if len(given) + 1 != len(call.args) + len(call.keywords) or len(given) > 1:
        return None
    return constant_of(given[0]) if given else 0

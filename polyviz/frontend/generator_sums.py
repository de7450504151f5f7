"""Sums over generators, ``sum(A[i] for i in range(n) if A[i] > 0)``: the loops that add, before the statement.

``max`` and ``min`` of a generator stay refused: Python raises where there is no element, and here nobody could tell.
"""

from __future__ import annotations

import ast
import copy
from dataclasses import replace
from typing import TYPE_CHECKING

from polyviz.frontend.literals import SUM
from polyviz.frontend.visited import FreshNames, located, visited

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyviz.frontend.names import GlobalNames
    from polyviz.frontend.source import Source

_VALUES = {ast.Assign: "value", ast.AugAssign: "value", ast.Return: "value", ast.If: "test"}


def without_generators(source: Source, names: GlobalNames) -> Source:
    """``source`` with loops in the place of sums over generators and lists; what may not be computed stays.

    >>> from polyviz.frontend.names import GlobalNames
    >>> from polyviz.frontend.source import read_source
    >>> source = read_source("s = 2 * sum(A[i] for i in range(n))", None, None)
    >>> print(ast.unparse(ast.Module(list(without_generators(source, GlobalNames(source)).body), [])))
    total = 0
    for i_2 in range(n):
        total += A[i_2]
    s = 2 * total
    """
    parts = [part for node in source.body for part in ast.walk(node)]
    if not any(isinstance(part, ast.GeneratorExp | ast.ListComp) for part in parts):
        return source
    stored = {part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
    writer = _Statements(names, FreshNames(source, names), stored)
    body = tuple(visited(writer, source.body))
    return replace(source, body=body, own_loops=source.own_loops | writer.own)


class _Statements(ast.NodeTransformer):
    """Puts loops before statements; ``own`` are the names that they have."""

    def __init__(self, names: GlobalNames, fresh: FreshNames, stored: set[str]) -> None:
        self._names = names
        self._fresh = fresh
        self._stored = stored
        self.own: set[str] = set()

    def visit(self, node: ast.AST) -> ast.AST | list[ast.stmt]:
        """The loops and the statement."""
        place = _VALUES.get(type(node))
        if place is None or not isinstance(node, ast.stmt) or getattr(node, place) is None:
            return self.generic_visit(node) if isinstance(node, ast.stmt) else node
        if isinstance(node, ast.If):
            self.generic_visit(node)
        before: list[ast.stmt] = []
        setattr(node, place, self._computed(getattr(node, place), before))
        return [*(located(one, node) for one in before), node] if before else node

    def _computed(self, value: ast.expr, before: list[ast.stmt]) -> ast.expr:
        """``value`` with names for sums, each added up in ``before``; what may not be computed at all stays."""
        generator = self._summed(value)
        if generator is not None:
            return self._added(generator, before, value)
        if isinstance(value, ast.BoolOp | ast.IfExp | ast.GeneratorExp | ast.ListComp | ast.Lambda):
            return value
        for name, part in ast.iter_fields(value):
            if isinstance(part, ast.expr):
                setattr(value, name, self._computed(part, before))
            elif isinstance(part, list):
                whole = [self._computed(one, before) if isinstance(one, ast.expr) else one for one in part]
                setattr(value, name, whole)
        return value

    def _summed(self, value: ast.expr) -> ast.GeneratorExp | ast.ListComp | None:
        match value:
            case ast.Call(func=function, args=[ast.GeneratorExp() | ast.ListComp() as inner], keywords=[]):
                is_builtin = isinstance(function, ast.Name) and function.id == "sum"
                is_known = is_builtin and "sum" not in self._stored and not self._names.knows("sum")
                is_list = isinstance(inner, ast.ListComp) and self._names.canonical(function) == "numpy.sum"
                return inner if (is_known or is_list) and _is_simple(inner.generators) else None
        return None

    def _added(
        self, inner: ast.GeneratorExp | ast.ListComp, before: list[ast.stmt], value: ast.expr
    ) -> ast.expr:
        total = self._fresh.like("total")
        own = {part.id for one in inner.generators for part in ast.walk(one.target) if isinstance(part, ast.Name)}
        renamed = _Renamed({name: self._fresh.like(name) for name in own})
        self.own |= {total, *renamed.names.values()}
        inner = renamed.visit(copy.deepcopy(inner))
        body: list[ast.stmt] = [ast.AugAssign(ast.Name(total, ast.Store()), ast.Add(), inner.elt)]
        for one in reversed(inner.generators):
            for test in reversed(one.ifs):
                body = [ast.If(test, body, [])]
            body = [ast.For(one.target, one.iter, body, [])]
        start = ast.Assign([ast.Name(total, ast.Store())], ast.Constant(0, SUM))
        before += [start, *body]
        return ast.copy_location(ast.Name(total, ast.Load()), value)


class _Renamed(ast.NodeTransformer):
    """Names of a generator are its own."""

    def __init__(self, names: dict[str, str]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.Name:
        node.id = self.names.get(node.id, node.id)
        return node


def _is_simple(generators: Sequence[ast.comprehension]) -> bool:
    """Whether each generator has one name that no other has, and runs over what is known before it."""
    names = [one.target.id for one in generators if isinstance(one.target, ast.Name) and not one.is_async]
    later = [set(names[place:]) for place in range(len(names))]
    iterated = [{part.id for part in ast.walk(one.iter) if isinstance(part, ast.Name)} for one in generators]
    is_known_before = not any(one & other for one, other in zip(iterated, later, strict=False))
    return len(set(names)) == len(generators) and is_known_before

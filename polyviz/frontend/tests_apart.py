"""Conditions that come to a sum only where what is left of it says so: ``if i == 0 or x[:i].max() < 3``.

The largest element is looked for in a loop, which runs where Python comes to it: one condition for each part.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from polyviz.frontend.apart import may_be_computed
from polyviz.frontend.parts import copy_of, parts_of
from polyviz.frontend.visited import FreshNames, located, visited

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyviz.frontend.names import GlobalNames
    from polyviz.frontend.source import Source


def with_tests_apart(source: Source, names: GlobalNames) -> Source:
    """``source`` of a function with such conditions taken apart; in a cell, where names are seen, they stay.

    >>> from polyviz.frontend.names import GlobalNames
    >>> from polyviz.frontend.source import read_source
    >>> source = read_source("def f(x, i):\\n    if i == 0 or x[:i].max() < 3: x[0] = 1", None, None)
    >>> print(ast.unparse(ast.Module(list(with_tests_apart(source, GlobalNames(source)).body), [])))
    if i == 0:
        holds = 1
    else:
        holds = 0
    if holds == 0:
        if x[:i].max() < 3:
            holds = 1
        else:
            holds = 0
    if holds == 1:
        x[0] = 1
    """
    if source.arguments is None or not any(_is_late(part) for part in parts_of(*source.body)):
        return source
    return replace(source, body=tuple(visited(_Writer(FreshNames(source, names)), source.body)))


def _is_late(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.BoolOp) and not may_be_computed(node.test)


class _Writer(ast.NodeTransformer):
    def __init__(self, fresh: FreshNames) -> None:
        self._fresh = fresh

    def visit_For(self, node: ast.For) -> ast.For:
        node.body, node.orelse = visited(self, node.body), visited(self, node.orelse)
        return node

    def visit_While(self, node: ast.While) -> ast.While:
        node.body, node.orelse = visited(self, node.body), visited(self, node.orelse)
        return node

    def visit_If(self, node: ast.If) -> list[ast.stmt]:
        """``node`` with one condition for each part of its own."""
        node.body, node.orelse = visited(self, node.body), visited(self, node.orelse)
        if not _is_late(node) or not isinstance(node.test, ast.BoolOp):
            return [node]
        if isinstance(node.test.op, ast.And) and not node.orelse:
            first, *rest = node.test.values
            behind = rest[0] if len(rest) == 1 else ast.BoolOp(ast.And(), rest)
            inner = self.visit_If(located(ast.If(behind, node.body, []), node))
            return [located(ast.If(first, inner, []), node)]
        name = self._fresh.like("holds")
        decided = ast.If(_is(name, 1), node.body, node.orelse)
        return [located(one, node) for one in (*_deciding(name, node.test), decided)]


def _deciding(name: str, test: ast.expr) -> Sequence[ast.stmt]:
    """The lines that set ``name`` to 1 where ``test`` holds, and to 0 elsewhere."""
    if not isinstance(test, ast.BoolOp):
        arms: list[list[ast.stmt]] = [
            [ast.Assign([ast.Name(name, ast.Store())], ast.Constant(value))] for value in (1, 0)
        ]
        return [ast.If(copy_of(test), *arms)]
    go_on = 0 if isinstance(test.op, ast.Or) else 1
    lines = list(_deciding(name, test.values[0]))
    for value in test.values[1:]:
        lines.append(ast.If(_is(name, go_on), list(_deciding(name, value)), []))
    return lines


def _is(name: str, value: int) -> ast.expr:
    return ast.Compare(ast.Name(name, ast.Load()), [ast.Eq()], [ast.Constant(value)])

"""Numbers looked up where they are written down: ``(-1, 1, 0, 0)[k]`` is ``row[k]`` of an array made before."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from polyviz.frontend.constant_arrays import array_of
from polyviz.frontend.literals import literal_number, literal_table
from polyviz.frontend.visited import FreshNames, located, visited

if TYPE_CHECKING:
    from polyviz.frontend.literals import Table
    from polyviz.frontend.names import GlobalNames
    from polyviz.frontend.source import Source


def with_literal_rows(source: Source, names: GlobalNames) -> Source:
    """``source`` of a function with arrays for tuples and lists of numbers that are looked up at computed places.

    A cell, where every array would be left behind, stays as it is.

    >>> from polyviz.frontend.names import GlobalNames
    >>> from polyviz.frontend.source import read_source
    >>> source = read_source("def f(x, k):\\n x[0] = [-1, 1][k % 2]", None, None)
    >>> print(ast.unparse(ast.Module(list(with_literal_rows(source, GlobalNames(source)).body), [])))
    row = np.array([-1, 1], dtype='int64')
    x[0] = row[k % 2]
    """
    if source.is_cell:
        return source
    writer = _Writer(FreshNames(source, names))
    body = visited(writer, source.body)
    return replace(source, body=(*writer.made, *body)) if writer.made else source


class _Writer(ast.NodeTransformer):
    """Gives each literal row a name; ``made`` are the lines that make the arrays."""

    def __init__(self, fresh: FreshNames) -> None:
        self._fresh = fresh
        self._known: dict[Table, str] = {}
        self.made: list[ast.stmt] = []

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        self.generic_visit(node)
        table = literal_table(node.value)
        if table is None or not _is_row(table) or isinstance(node.slice, ast.Slice | ast.Tuple):
            return node
        if literal_number(node.slice, {}) is not None:
            return node
        if table not in self._known:
            self._known[table] = self._fresh.like("row")
            name = ast.Name(self._known[table], ast.Store())
            self.made.append(located(ast.Assign([name], array_of(np.array(table), node.value)), node))
        return located(ast.Subscript(ast.Name(self._known[table], ast.Load()), node.slice, node.ctx), node)


def _is_row(table: Table) -> bool:
    """Whether ``table`` holds numbers of one type, so that an array keeps them as they are."""
    return len({type(one) for one in table}) == 1 and type(table[0]) in (int, float)

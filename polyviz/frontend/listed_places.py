"""Lists of numbers as subscripts, ``x[[0, 2, 1]]``: a line at the beginning makes the array of these places."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from polyviz.frontend.own_names import numpy_function
from polyviz.frontend.regions import constant_of
from polyviz.frontend.visited import FreshNames, located, visited

if TYPE_CHECKING:
    from polyviz.frontend.names import GlobalNames
    from polyviz.frontend.source import Source


def with_listed_places(source: Source, names: GlobalNames) -> Source:
    """``source`` of a function with names for lists of places; in a cell, where names are seen, they stay.

    >>> from polyviz.frontend.names import GlobalNames
    >>> from polyviz.frontend.source import read_source
    >>> source = read_source("def f(x, A):\\n    x[[0, 2]] = A[(2, 0), 1]", None, None)
    >>> print(ast.unparse(ast.Module(list(with_listed_places(source, GlobalNames(source)).body), [])))
    places = np.array([0, 2])
    places_2 = np.array([2, 0])
    x[places] = A[places_2, 1]
    """
    if source.arguments is None:
        return source
    writer = _Writer(FreshNames(source, names))
    body = visited(writer, source.body)
    return replace(source, body=(*writer.lines.values(), *body)) if writer.lines else source


class _Writer(ast.NodeTransformer):
    """Puts names in the place of lists; ``lines`` make the arrays, one for all lists that are the same."""

    def __init__(self, fresh: FreshNames) -> None:
        self._fresh = fresh
        self._named: dict[str, str] = {}
        self.lines: dict[str, ast.stmt] = {}

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.slice, ast.Tuple):
            node.slice.elts = [self._place(one) for one in node.slice.elts]
        elif isinstance(node.slice, ast.List):  # a tuple would be one subscript per dimension
            node.slice = self._place(node.slice)
        return node

    def _place(self, index: ast.expr) -> ast.expr:
        """A name for ``index``, if it is a list of places."""
        numbers = [constant_of(one) for one in index.elts] if isinstance(index, ast.List | ast.Tuple) else []
        if not numbers or None in numbers:
            return index
        key = repr(numbers)
        if key not in self._named:
            self._named[key] = name = self._fresh.like("places")
            listed = ast.List([ast.Constant(number) for number in numbers], ast.Load())
            made = ast.Call(numpy_function("array"), [listed], [])
            self.lines[name] = located(ast.Assign([ast.Name(name, ast.Store())], made), index)
        return ast.copy_location(ast.Name(self._named[key], ast.Load()), index)

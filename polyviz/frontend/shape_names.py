"""Names for shapes: below ``s = A.shape``, ``s[1]`` is ``A.shape[1]``, and ``len(s)`` is ``A.ndim``."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from polyviz.frontend.array_names import bound_by
from polyviz.frontend.new_arrays import bindings
from polyviz.frontend.visited import located, visited

if TYPE_CHECKING:
    from collections.abc import Mapping

    from polyviz.frontend.source import Source


def without_shape_names(source: Source) -> Source:
    """``source`` of a function with shapes in the place of names for them; a cell leaves such names behind.

    >>> from polyviz.frontend.source import read_source
    >>> source = read_source("def f(A):\\n s = A.shape\\n n, m = s\\n A[s[0] - 1, m - 1] = len(s)", None, None)
    >>> print(ast.unparse(ast.Module(list(without_shape_names(source).body), [])))
    pass
    n, m = A.shape
    A[A.shape[0] - 1, m - 1] = A.ndim
    """
    if source.arguments is None:
        return source
    counts = bindings(source.body)
    counts.update(part.arg for part in ast.walk(source.arguments) if isinstance(part, ast.arg))
    shapes: dict[str, ast.Attribute] = {}
    for part in (part for node in source.body for part in ast.walk(node)):
        name = bound_by(part)
        if name and counts[name] == 1 and isinstance(part, ast.Assign) and _is_shape(part.value):
            assert isinstance(part.value, ast.Attribute) and isinstance(part.value.value, ast.Name)
            if counts[part.value.value.id] == 1:
                shapes[name] = part.value
    return replace(source, body=tuple(visited(_Writer(shapes), source.body)))


def _is_shape(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "shape" and isinstance(node.value, ast.Name)


class _Writer(ast.NodeTransformer):
    def __init__(self, shapes: Mapping[str, ast.Attribute]) -> None:
        self._shapes = shapes

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        if bound_by(node) in self._shapes:
            return ast.copy_location(ast.Pass(), node)
        self.generic_visit(node)
        return node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        shape = self._shapes.get(node.id)
        if shape is None or not isinstance(node.ctx, ast.Load):
            return node
        assert isinstance(shape.value, ast.Name)
        return located(ast.Attribute(ast.Name(shape.value.id, ast.Load()), "shape", ast.Load()), node)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        match node:
            case ast.Call(func=ast.Name(id="len"), args=[ast.Attribute(attr="shape", value=array)], keywords=[]):
                return located(ast.Attribute(array, "ndim", ast.Load()), node)
        return node

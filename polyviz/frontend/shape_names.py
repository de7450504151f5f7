"""Names for shapes: below ``s = A.shape``, ``s[1]`` is ``A.shape[1]``, and ``len(s)`` is ``A.ndim``.

So it is for types, ``kind = A.dtype`` and ``kind = np.float32``, and for tuples of sizes: below
``s = (n, A.shape[1])``, ``s[0]`` is ``n``.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from polyviz.frontend.array_names import bound_by, in_place
from polyviz.frontend.new_arrays import bindings
from polyviz.frontend.parts import copy_of, names_of, parts_of
from polyviz.frontend.regions import constant_of
from polyviz.frontend.visited import located, visited

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

    from polyviz.frontend.names import GlobalNames
    from polyviz.frontend.source import Source

_OWN_TYPES = {("", name) for name in ("bool", "int", "float", "complex")}
"""Those of Python."""


def without_shape_names(source: Source, names: GlobalNames) -> Source:
    """``source`` of a function with shapes in the place of names for them; a cell leaves such names behind.

    >>> from polyviz.frontend.names import GlobalNames
    >>> from polyviz.frontend.source import read_source
    >>> source = read_source("def f(A):\\n s = A.shape\\n n, m = s\\n A[s[0] - 1, m - 1] = len(s)", None, None)
    >>> print(ast.unparse(ast.Module(list(without_shape_names(source, GlobalNames(source)).body), [])))
    pass
    n, m = A.shape
    A[A.shape[0] - 1, m - 1] = A.ndim
    """
    if source.arguments is None:
        return source
    counts = bindings(source.body)
    counts.update(part.arg for part in parts_of(source.arguments) if isinstance(part, ast.arg))
    shapes: dict[str, ast.expr] = {}
    for part in parts_of(*source.body):
        name = bound_by(part)
        if not name or counts[name] != 1 or not isinstance(part, ast.Assign):
            continue
        if _is_type(part.value, names):
            shapes[name] = part.value
        elif _is_shape(part.value):
            assert isinstance(part.value, ast.Attribute) and isinstance(part.value.value, ast.Name)
            if counts[part.value.value.id] == 1:
                shapes[name] = part.value
    return replace(source, body=tuple(visited(_Writer(shapes | _tuples(source, counts)), source.body)))


def _tuples(source: Source, counts: Mapping[str, int]) -> dict[str, ast.Tuple]:
    """The tuples of sizes that lines of the function give a name, made of what is given one value in all."""
    changed = in_place(source.body)
    arguments = parts_of(source.arguments)
    once = {name for name, count in counts.items() if count == 1} - changed
    fixed = {one.arg for one in arguments if isinstance(one, ast.arg)} & once
    found: dict[str, ast.Tuple] = {}
    for node in (one for one in source.body if isinstance(one, ast.Assign)):
        if bound_by(node) in once and isinstance(node.value, ast.Tuple) and _are_sizes(node.value.elts, fixed):
            found[bound_by(node)] = node.value
        fixed.update(once.intersection(part.id for part in names_of(node)))
    return found


def _are_sizes(parts: Sequence[ast.expr], fixed: Container[str]) -> bool:
    """Whether ``parts`` are extents and whole numbers, some of them with a name; tables of numbers are no such."""
    named = [one for one in parts if not isinstance(one, ast.Constant)]
    return bool(named) and all(_is_size(one, fixed) for one in parts)


def _is_shape(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in ("shape", "dtype") and isinstance(node.value, ast.Name)


def _is_type(node: ast.expr, names: GlobalNames) -> bool:
    """Whether ``node`` is the type of a number, as the text knows it."""
    if not isinstance(node, ast.Name | ast.Attribute):
        return False
    module, _, name = (names.canonical(node) or "").rpartition(".")
    found = getattr(np, name, None) if module == "numpy" else None
    return (module, name) in _OWN_TYPES or (isinstance(found, type) and issubclass(found, np.number | np.bool_))


def _is_size(node: ast.expr, fixed: Container[str]) -> bool:
    """Whether ``node`` is an extent or a whole number, of ``fixed`` names that are given nothing else."""
    match node:
        case ast.Subscript(value=ast.Attribute(value=ast.Name(id=name), attr="shape"), slice=ast.Constant()):
            return name in fixed
        case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name)], keywords=[]):
            return name in fixed
        case ast.Name(id=name):
            return name in fixed
        case ast.BinOp(left=left, right=right):
            return _is_size(left, fixed) and _is_size(right, fixed)
    return isinstance(node, ast.Constant) and type(node.value) is int


class _Writer(ast.NodeTransformer):
    def __init__(self, shapes: Mapping[str, ast.expr]) -> None:
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
        whole = copy_of(shape)
        for part in parts_of(whole):
            ast.copy_location(part, node)
        return whole

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        self.generic_visit(node)
        place = constant_of(node.slice)
        if not isinstance(node.value, ast.Tuple) or place is None:
            return node
        return node.value.elts[place] if -len(node.value.elts) <= place < len(node.value.elts) else node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        match node:
            case ast.Call(func=ast.Name(id="len"), args=[ast.Attribute(attr="shape", value=array)], keywords=[]):
                return located(ast.Attribute(array, "ndim", ast.Load()), node)
            case ast.Call(func=ast.Name(id="len"), args=[ast.Tuple(elts=parts)], keywords=[]):
                return located(ast.Constant(len(parts)), node)
        return node

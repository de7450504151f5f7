"""Lists that may as well be arrays: nobody asks for more than elements, their number, or an array of them."""

from __future__ import annotations

import ast
from collections import Counter
from typing import TYPE_CHECKING

from polyviz.frontend.array_names import mentions
from polyviz.frontend.parts import parts_of
from polyviz.frontend.visited import located

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyviz.frontend.names import GlobalNames

_ARRAYS = ("numpy.array", "numpy.asarray")


def is_array_of(function: ast.expr, names: GlobalNames) -> bool:
    """Whether ``function`` makes an array of a list."""
    return names.canonical(function) in _ARRAYS


def one_by_one(node: ast.stmt) -> list[ast.stmt]:
    """A line for each name of ``kept, total = [], 0.0``, in which lists are made and none of the names is read."""
    match node:
        case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
            names = {one.id for one in targets if isinstance(one, ast.Name)}
            lists = any(isinstance(part, ast.List | ast.ListComp) for part in parts_of(*values))
            is_read = any(mentions(one, name) for one in values for name in names)
            if lists and not is_read and len(names) == len(targets) == len(values):
                return [located(ast.Assign([one], value), node) for one, value in zip(targets, values, strict=True)]
    return [node]


def uses_as_array(body: Sequence[ast.stmt], names: GlobalNames) -> ListUses:
    """The names that ``body`` gives a list once, empty or written by a comprehension, and that may be arrays."""
    parts = parts_of(*body)
    stored = Counter(part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store))
    found = set()
    for part in parts:
        match part:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.ListComp() | ast.List(elts=[])) if stored[name] == 1:
                if _is_hidden(name, parts, names):
                    found.add(name)
    return ListUses(frozenset(found), names)


def _is_hidden(name: str, parts: Sequence[ast.AST], names: GlobalNames) -> bool:
    uses = Counter[bool]()
    for part in parts:
        match part:
            case ast.Name(id=other, ctx=ast.Load()) if other == name:
                uses[False] += 1
            case ast.Subscript(value=ast.Name(id=other), slice=index, ctx=ast.Load()) if other == name:
                uses[True] += not isinstance(index, ast.Slice | ast.Tuple)
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=other), attr="append"))) if other == name:
                uses[True] += 1
            case ast.For(iter=ast.Name(id=other)) if other == name:
                uses[True] += 1
            case ast.Call(func=function, args=[ast.Name(id=other), *_]) if other == name:
                is_number = isinstance(function, ast.Name) and function.id in ("len", "sum")
                uses[True] += is_number or is_array_of(function, names)
    return uses[False] == uses[True]


class ListUses(ast.NodeTransformer):
    """Puts a copy of the array in the place of an array of the list; ``names`` are those of lists that are arrays."""

    def __init__(self, names: frozenset[str], around: GlobalNames) -> None:
        self.names = names
        self._around = around

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """``np.array(kept)`` as ``kept.copy()``."""
        self.generic_visit(node)
        match node:
            case ast.Call(func=function, args=[ast.Name(id=name) as array, *kinds], keywords=named) if (
                name in self.names and is_array_of(function, self._around) and all(one.arg == "dtype" for one in named)
            ):
                kinds = [*kinds, *(one.value for one in named)]
                method = ast.Attribute(array, "astype" if kinds else "copy", ast.Load())
                return located(ast.Call(method, kinds[:1], []), node)
        return node

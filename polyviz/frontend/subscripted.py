"""What is computed and subscripted at once, ``S.max(axis=1)[:, None]`` or ``(x * 2)[1:]``: a line before names it.

A slice of a slice that is read, ``x[i - m:i][::-1]``, is one of a copy where nothing tells them apart.
"""

from __future__ import annotations

import ast
import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from polyviz.frontend.array_names import ArrayNames, bound_by
from polyviz.frontend.array_parts import is_view, is_walked, listed_indices, with_plain_parts
from polyviz.frontend.flat_loops import changed_names
from polyviz.frontend.parts import names_in, parts_of
from polyviz.frontend.ranks import rank_of, ranks_followed
from polyviz.frontend.usage import subscript_chain
from polyviz.frontend.visited import FreshNames, LinesBefore, located, visited

if TYPE_CHECKING:
    from collections.abc import Mapping

    from polyviz.frontend.names import GlobalNames
    from polyviz.frontend.source import Source
    from polyviz.frontend.visited import Computing

_VALUES = ast.Call | ast.BinOp | ast.UnaryOp | ast.Subscript


def with_subscripted_names(source: Source, names: GlobalNames) -> Source:
    """``source`` of a function with names for what it computes and subscripts; a cell, where names are seen, stays.

    >>> from polyviz.frontend.names import GlobalNames
    >>> from polyviz.frontend.source import read_source
    >>> source = read_source("def f(x):\\n x[0] = 2.0\\n return (x * 2)[1:]", None, None)
    >>> print(ast.unparse(ast.Module(list(with_subscripted_names(source, GlobalNames(source)).body[1:]), [])))
    computed = x * 2
    return computed[1:]
    """
    if source.arguments is None or not any(_is_candidate(part) for part in parts_of(*source.body)):
        return source
    source = with_plain_parts(source, names)
    changed = changed_by_any_name(source, names)
    writer = _Writer(names, FreshNames(source, names), ranks_followed(source, names), changed)
    return replace(source, body=tuple(visited(writer, source.body)))


def changed_by_any_name(source: Source, names: GlobalNames) -> set[str]:
    """The names of arrays whose elements may change, by whatever name."""
    makes = ArrayNames(source.body, names).makes
    parts = [part for part in parts_of(*source.body) if isinstance(part, ast.Assign)]
    shared = [(bound_by(part), part.value) for part in parts if bound_by(part) and not makes(part.value)]
    found = changed_names(source)
    while True:
        values = [value for name, value in shared if name in found]
        more = names_in(*values) - found
        if not more:
            return found
        found |= more


def _is_candidate(node: ast.AST) -> bool:
    return isinstance(node, ast.Subscript) and isinstance(node.value, _VALUES)


class _Writer(LinesBefore, ast.NodeTransformer):
    """Puts names in the place of what is subscripted; ``ranks`` are dimensions, and elements of ``changed`` change."""

    def __init__(self, names: GlobalNames, fresh: FreshNames, ranks: Mapping[str, int], changed: set[str]) -> None:
        self._names = names
        self._fresh = fresh
        self._ranks = dict(ranks)
        self._changed = changed
        super().__init__()
        self._whole: ast.AST | None = None

    def behind(self, node: Computing) -> list[ast.stmt]:
        """``node`` behind the lines that its value asks for."""
        if node.value is not None:
            named = names_in(node) if bound_by(node) else set()
            self._whole = node.value if isinstance(node, ast.Return) or named & self._changed else None
        return super().behind(node)

    def visit(self, node: ast.AST) -> Any:
        """``node`` with names; what may not be computed at all stays where it is."""
        if isinstance(node, ast.IfExp | ast.BoolOp | ast.Lambda | ast.GeneratorExp | ast.ListComp):
            return node
        return super().visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        is_whole = node is self._whole
        self.generic_visit(node)
        value = node.value
        if isinstance(value, ast.Subscript) and not self._is_of_places(value):
            if is_whole or not self._is_slice_of_slice(node, value):
                return node
            value = ast.Call(ast.Attribute(value, "copy", ast.Load()), [], [])
        elif not isinstance(value, _VALUES) or not rank_of(value, self._ranks, self._names):
            return node
        name = self._fresh.like("computed")
        self._ranks[name] = rank_of(value, self._ranks, self._names) or 0
        self.before.append(ast.Assign([ast.Name(name, ast.Store())], value))
        written = copy.copy(node)
        written.value = located(ast.Name(name, ast.Load()), node)
        return written

    def _is_of_places(self, value: ast.Subscript) -> bool:
        """Whether arrays of places choose the elements of ``value``, which copies them."""
        indices = [one for one in subscript_chain(value)[1] if not isinstance(one, ast.Slice)]
        return any(rank_of(one, self._ranks, self._names) for one in indices)

    def _is_slice_of_slice(self, node: ast.Subscript, value: ast.Subscript) -> bool:
        """Whether ``node`` is a part of ``value``, a part of an array."""
        base, indices = subscript_chain(value)
        is_part = isinstance(base, ast.Name) and is_view(value, indices) and any(map(is_walked, indices))
        return is_part and any(isinstance(one, ast.Slice) for one in listed_indices(node.slice))

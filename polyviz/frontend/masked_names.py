"""Names for the elements that a mask chooses, ``v = x[x > 3]`` and then ``v.sum() / v.size``: the mask at each use.

How many there are is known only when the loops run, so there is no array of them; they are added up and counted.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from polyviz.frontend.array_names import ArrayNames, bound_by, in_place, mentions
from polyviz.frontend.masks import is_mask
from polyviz.frontend.own_names import numpy_function
from polyviz.frontend.parts import copy_of, names_in, parts_of
from polyviz.frontend.visited import located, visited

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyviz.frontend.names import GlobalNames
    from polyviz.frontend.source import Source

_BLOCKS = ("body", "orelse")


def without_masked_names(source: Source, names: GlobalNames) -> Source:
    """``source`` of a function with what a mask chooses in the place of names for it.

    A name stays where the array or the mask is changed before its last use.

    >>> from polyviz.frontend.names import GlobalNames
    >>> from polyviz.frontend.source import read_source
    >>> source = read_source("def f(x):\\n    v = x[x > 3]\\n    return v.sum() / len(v)", None, None)
    >>> print(ast.unparse(ast.Module(list(without_masked_names(source, GlobalNames(source)).body), [])))
    pass
    return x[x > 3].sum() / np.count_nonzero(x > 3)
    """
    if source.arguments is None:
        return source
    writer = _Writer(source, names)
    return replace(source, body=tuple(writer.block(source.body)))


class _Writer:
    def __init__(self, source: Source, names: GlobalNames) -> None:
        parts = parts_of(*source.body)
        stored = [part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)]
        given = [part.arg for part in parts_of(source.arguments) if isinstance(part, ast.arg)]
        self._once = {name for name in stored if [*stored, *given].count(name) == 1}
        self._changed = in_place(source.body)
        self._arrays = ArrayNames(source.body, names)
        self._canonical = names.canonical
        made = {bound_by(part): part.value for part in parts if isinstance(part, ast.Assign)}
        self._masks = set(source.masks)
        self._masks |= {one for one, value in made.items() if one in self._once and self._is_mask(value)}
        self._parts = parts

    def _is_mask(self, node: ast.expr) -> bool:
        return is_mask(node, self._masks, self._canonical)

    def block(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        """``body`` without the names that may be left out."""
        written = list(body)
        for place, node in enumerate(written):
            for field in _BLOCKS if isinstance(node, ast.For | ast.While | ast.If) else ():
                setattr(node, field, self.block(getattr(node, field)))
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Subscript(value=ast.Name()) as value):
                    if self._is_mask(value.slice) and self._may_go(name, value, written[place + 1 :]):
                        written[place] = ast.copy_location(ast.Pass(), node)
                        written[place + 1 :] = visited(_Named(name, value), written[place + 1 :])
        return written

    def _may_go(self, name: str, value: ast.Subscript, rest: Sequence[ast.stmt]) -> bool:
        """Whether ``name`` means ``value`` at all its uses, which are in ``rest``."""
        uses = [place for place, node in enumerate(rest) if mentions(node, name)]
        total = sum(isinstance(part, ast.Name) and part.id == name for part in self._parts)
        inside = parts_of(*rest)
        here = sum(isinstance(part, ast.Name) and part.id == name for part in inside)
        if not uses or here + 1 < total or name not in self._once or name in self._changed:
            return False
        until = rest[: uses[-1] + 1]
        asked = names_in(value)
        asked |= {other for one in asked for other in self._arrays.shared(one)}
        parts = parts_of(*until)
        stored = {part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
        return not asked & (stored | in_place(until))


class _Named(ast.NodeTransformer):
    """Puts the chosen elements in the place of their ``name``, and a count in that of how many they are."""

    def __init__(self, name: str, value: ast.Subscript) -> None:
        self._name = name
        self._value = value

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return copy_of(self._value) if node.id == self._name else node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        match node:
            case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name)], keywords=[]) if name == self._name:
                return self._count(node)
        return self.generic_visit(node)  # type: ignore[return-value]  # a call stays an expression

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr="size") if name == self._name:
                return self._count(node)
        return self.generic_visit(node)  # type: ignore[return-value]  # an attribute stays an expression

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        match node:
            case ast.Subscript(
                value=ast.Attribute(value=ast.Name(id=name), attr="shape"), slice=ast.Constant(value=0)
            ) if name == self._name:
                return self._count(node)
        return self.generic_visit(node)  # type: ignore[return-value]  # a subscript stays an expression

    def _count(self, node: ast.expr) -> ast.expr:
        mask = copy_of(self._value.slice)
        return located(ast.Call(numpy_function("count_nonzero"), [mask], []), node)

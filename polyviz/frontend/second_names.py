"""Second names of arrays that nobody calls by their first any more: below ``old = u``, ``old`` is ``u``.

So it is for arguments that change names afterwards, ``old, new = new, old``. The lengths of ``u`` are kept by names.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from polyviz.frontend.array_names import ArrayNames, binds, mentions
from polyviz.frontend.parts import argument_names, parts_of
from polyviz.frontend.regions import constant_of
from polyviz.frontend.several_targets import line_for_each
from polyviz.frontend.visited import FreshNames, Renamed, located, visited

if TYPE_CHECKING:
    from polyviz.frontend.names import GlobalNames
    from polyviz.frontend.source import Source


def without_second_names(source: Source, names: GlobalNames) -> Source:
    """``source`` of a function with the first name of each such array everywhere; a cell keeps its names.

    >>> from polyviz.frontend.names import GlobalNames
    >>> from polyviz.frontend.source import read_source
    >>> source = read_source("def f(u):\\n old = u\\n old[0] = old[len(u) - 1]", None, None)
    >>> print(ast.unparse(ast.Module(list(without_second_names(source, GlobalNames(source)).body), [])))
    extent = len(u)
    u[0] = u[extent - 1]
    """
    if source.arguments is None:
        return source
    body = [line for node in source.body for line in (line_for_each(node) if _is_of_names(node) else ()) or (node,)]
    arrays = ArrayNames(body, names).arrays
    given = argument_names(source.arguments)
    fresh, is_found = FreshNames(source, names), False
    for node in list(body):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Name(id=first)) if {name, first} & arrays:
                place = body.index(node)
                lengths = _Lengths(first, fresh)
            case _:
                continue
        before, after = body[:place], body[place + 1 :]
        if _is_second(name, first, before, given) and lengths.are_all_that_is_asked(after):
            after, is_found = visited(lengths, after), True
            body = [*before, *(located(one, node) for one in lengths.lines), *visited(Renamed({name: first}), after)]
    return replace(source, body=tuple(body)) if is_found else source


def _is_second(name: str, first: str, before: list[ast.stmt], given: set[str]) -> bool:
    """Whether ``name`` is new, and ``first`` is a name of the function, behind ``before``."""
    is_new = name not in given and name != first and not any(mentions(one, name) for one in before)
    return is_new and (first in given or any(binds(one, first) for one in before))


def _is_of_names(node: ast.stmt) -> bool:
    """Whether ``node`` gives several names something, one of which has a name."""
    match node:
        case ast.Assign(value=ast.Tuple(elts=values)):
            return any(isinstance(one, ast.Name) for one in values)
    return False


class _Lengths(ast.NodeTransformer):
    """Puts names in the place of the lengths of the array ``name``; ``lines`` give them what they stand for."""

    def __init__(self, name: str, fresh: FreshNames) -> None:
        self._name = name
        self._fresh = fresh
        self._known: dict[str, str] = {}
        self.lines: list[ast.stmt] = []

    def are_all_that_is_asked(self, body: list[ast.stmt]) -> bool:
        """Whether ``body`` mentions the array for nothing else."""
        parts = parts_of(*body)
        mentioned = sum(isinstance(part, ast.Name) and part.id == self._name for part in parts)
        return mentioned == sum(isinstance(part, ast.expr) and self._is_length(part) for part in parts)

    def visit(self, node: ast.AST) -> ast.AST:
        """``node``, or a name for it."""
        if not isinstance(node, ast.expr) or not self._is_length(node):
            return self.generic_visit(node)
        text = ast.unparse(node)
        if text not in self._known:
            self._known[text] = self._fresh.like("extent")
            self.lines.append(ast.Assign([ast.Name(self._known[text], ast.Store())], node))
        return located(ast.Name(self._known[text], ast.Load()), node)

    def _is_length(self, node: ast.expr) -> bool:
        match node:
            case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name)], keywords=[]):
                return name == self._name
            case ast.Subscript(value=ast.Attribute(value=ast.Name(id=name), attr="shape"), slice=axis):
                return name == self._name and constant_of(axis) is not None
        return False

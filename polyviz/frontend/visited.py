"""What the passes that put several statements in the place of one have in common."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, TypeVar

from polyviz.frontend.parts import parts_of
from polyviz.model.unused_names import unused_name

if TYPE_CHECKING:
    from collections.abc import Iterable

    from polyviz.frontend.names import GlobalNames
    from polyviz.frontend.source import Source

Located = TypeVar("Located", bound=ast.AST)


def visited(transformer: ast.NodeTransformer, body: Iterable[ast.stmt]) -> list[ast.stmt]:
    """``body`` with each statement visited by ``transformer``, which may give several for one.

    >>> import ast
    >>> print(ast.unparse(ast.Module(visited(ast.NodeTransformer(), ast.parse("a = 1").body), [])))
    a = 1
    """
    written: list[ast.stmt] = []
    for node in body:
        found = transformer.visit(node)
        written += found if isinstance(found, list) else [found]
    return written


Computing = ast.Assign | ast.AugAssign | ast.Return
"""Statements that compute a value, and nothing else."""


class LinesBefore(ast.NodeTransformer):
    """Puts lines before statements that compute a value, for parts of it that get a name there.

    Visiting the value collects these lines.
    """

    def __init__(self) -> None:
        self.before: list[ast.stmt] = []

    def behind(self, node: Computing) -> list[ast.stmt]:
        """``node`` behind the lines that its value asks for."""
        self.before = []
        if node.value is not None:
            node.value = self.visit(node.value)
        return [*(located(line, node) for line in self.before), node]

    def visit_Assign(self, node: ast.Assign) -> list[ast.stmt]:
        """As :meth:`behind`."""
        return self.behind(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> list[ast.stmt]:
        """As :meth:`behind`."""
        return self.behind(node)

    def visit_Return(self, node: ast.Return) -> list[ast.stmt]:
        """As :meth:`behind`."""
        return self.behind(node)


class Renamed(ast.NodeTransformer):
    """Gives what has a name of its own in a comprehension or generator another one, as ``names`` say.

    >>> import ast
    >>> ast.unparse(Renamed({"i": "i_own"}).visit(ast.parse("x[i] * n")))
    'x[i_own] * n'
    """

    def __init__(self, names: dict[str, str]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.Name:
        """The name, or the other one for it."""
        node.id = self.names.get(node.id, node.id)
        return node


def located(statement: Located, node: ast.AST) -> Located:
    """``statement`` at the place of ``node``, where its parts do not have a place of their own."""
    for part in parts_of(statement):
        if not hasattr(part, "lineno") and isinstance(part, ast.stmt | ast.expr | ast.keyword):
            ast.copy_location(part, node)
    return statement


class FreshNames:
    """Names that neither ``source`` nor what is around it has.

    >>> from polyviz.frontend.names import GlobalNames
    >>> from polyviz.frontend.source import read_source
    >>> source = read_source("total = 0", None, None)
    >>> fresh = FreshNames(source, GlobalNames(source))
    >>> fresh.like("total"), fresh.like("total")
    ('total_2', 'total_3')
    """

    def __init__(self, source: Source, names: GlobalNames) -> None:
        parts = parts_of(*source.body)
        arguments = parts_of(source.arguments)
        self._taken = {part.id for part in parts if isinstance(part, ast.Name)}
        self._taken |= {part.arg for part in (*parts, *arguments) if isinstance(part, ast.arg)}
        self._names = names

    def like(self, stem: str) -> str:
        """``stem``, or something like it where somebody has that."""
        name = unused_name(stem, lambda one: one in self._taken or self._names.knows(one))
        self._taken.add(name)
        return name

    def give_back(self, name: str) -> None:
        """Nobody needs ``name`` after all.

        >>> from polyviz.frontend.names import GlobalNames
        >>> from polyviz.frontend.source import read_source
        >>> source = read_source("total = 0", None, None)
        >>> fresh = FreshNames(source, GlobalNames(source))
        >>> fresh.give_back(fresh.like("row"))
        >>> fresh.like("row")
        'row'
        """
        self._taken.discard(name)

"""``else`` of a loop: what it holds follows the loop, where no ``break`` has left that."""

from __future__ import annotations

import ast
import copy
from dataclasses import replace
from typing import TYPE_CHECKING

from polyviz.frontend.jumps import ends_early
from polyviz.frontend.parts import parts_of
from polyviz.frontend.visited import FreshNames, located

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyviz.frontend.names import GlobalNames
    from polyviz.frontend.source import Source


def without_loop_else(source: Source, names: GlobalNames) -> Source:
    """``source`` without ``else`` of loops; a loop that ``break`` may leave sets a flag there.

    >>> from polyviz.frontend.names import GlobalNames
    >>> from polyviz.frontend.source import read_source
    >>> text = "for i in range(n):\\n  if A[i] > v: break\\nelse:\\n  A[0] = v"
    >>> source = read_source(text, None, None)
    >>> print(ast.unparse(ast.Module(list(without_loop_else(source, GlobalNames(source)).body), [])))
    left = 0
    for i in range(n):
        if A[i] > v:
            left = 1
            break
    if left == 0:
        A[0] = v
    """
    if not any(_has_else(part) for part in parts_of(*source.body)):
        return source
    writer = _Writer(FreshNames(source, names))
    body = tuple(writer.block(source.body, None))
    return replace(source, body=body, own_loops=source.own_loops | (writer.flags if source.is_cell else frozenset()))


def _has_else(node: ast.AST) -> bool:
    return isinstance(node, ast.For | ast.While) and bool(node.orelse)


class _Writer:
    """Goes through blocks; ``flags`` are the names that it has given to loops."""

    def __init__(self, fresh: FreshNames) -> None:
        self.flags: set[str] = set()
        self._fresh = fresh

    def block(self, body: Sequence[ast.stmt], flag: str | None) -> list[ast.stmt]:
        """``body``, where ``flag`` belongs to the loop around it, if that needs one."""
        return [one for node in body for one in self._statement(node, flag)]

    def _statement(self, node: ast.stmt, flag: str | None) -> list[ast.stmt]:
        if isinstance(node, ast.Break) and flag is not None:
            return [_set(flag, 1, node), node]
        written = copy.copy(node)
        if isinstance(written, ast.If):
            written.body, written.orelse = self.block(written.body, flag), self.block(written.orelse, flag)
        elif isinstance(written, ast.For | ast.While):
            return self._loop(written, flag)
        return [written]

    def _loop(self, node: ast.For | ast.While, around: str | None) -> list[ast.stmt]:
        otherwise = self.block(node.orelse, around)
        own = self._fresh.like("left") if otherwise and ends_early(node.body) else None
        node.body, node.orelse = self.block(node.body, own), []
        if own is None:
            return [node, *otherwise]
        self.flags.add(own)
        is_whole = ast.Compare(ast.Name(own, ast.Load()), [ast.Eq()], [ast.Constant(0)])
        return [_set(own, 0, node), node, located(ast.If(is_whole, otherwise, []), otherwise[0])]


def _set(flag: str, value: int, node: ast.stmt) -> ast.stmt:
    return located(ast.Assign([ast.Name(flag, ast.Store())], ast.Constant(value)), node)

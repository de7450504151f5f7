"""Names that are variables of loops and hold other values elsewhere: such loops get a name of their own.

``for m in range(n): ...`` and below it ``m = n - 1`` with ``while m > 0: ... m -= 1`` are two things. Where nobody
reads what the loop leaves in ``m``, it may as well run over ``m_at``.
"""

from __future__ import annotations

import ast
import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from polyviz.frontend.array_names import mentions
from polyviz.frontend.parts import copies_of, parts_of
from polyviz.frontend.visited import FreshNames

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from polyviz.frontend.names import GlobalNames
    from polyviz.frontend.source import Source

    Met = Literal["read", "assigned", "neither"]
    Around = tuple[tuple[ast.stmt, Sequence[ast.stmt]], ...]
    """The statements around a place, from the inside, each with what follows in its block."""

_BLOCKS = ("body", "orelse")


def with_loop_names(source: Source, names: GlobalNames) -> Source:
    """``source`` of a function with names for loops whose variables are assigned elsewhere, as far as nobody can tell.

    >>> from polyviz.frontend.names import GlobalNames
    >>> from polyviz.frontend.source import read_source
    >>> text = "def f(A, n):\\n for k in range(n): A[k] = 0\\n k = n\\n while k > 0: k -= 1"
    >>> source = read_source(text, None, None)
    >>> print(ast.unparse(ast.Module(list(with_loop_names(source, GlobalNames(source)).body), [])))
    for k_at in range(n):
        A[k_at] = 0
    k = n
    while k > 0:
        k -= 1
    """
    if source.arguments is None:
        return source
    loops = [part for part in parts_of(*source.body) if isinstance(part, ast.For)]
    variables = {id(loop.target) for loop in loops}
    stored = {part.id for part in _stores(source.body) if id(part) not in variables}
    if not any(isinstance(loop.target, ast.Name) and loop.target.id in stored for loop in loops):
        return source
    writer = _Writer(stored, FreshNames(source, names))
    body = tuple(writer.block(source.body, ()))
    return replace(source, body=body, own_loops=source.own_loops | writer.own) if writer.own else source


class _Writer:
    """Writes blocks; ``stored`` are names that more than loops give a value, ``own`` the new names of loops."""

    def __init__(self, stored: set[str], fresh: FreshNames) -> None:
        self.own: set[str] = set()
        self._stored = stored
        self._fresh = fresh

    def block(self, body: Sequence[ast.stmt], around: Around) -> list[ast.stmt]:
        """``body`` with new names, inside of ``around``."""
        return [self._statement(node, body[place + 1 :], around) for place, node in enumerate(body)]

    def _statement(self, node: ast.stmt, rest: Sequence[ast.stmt], around: Around) -> ast.stmt:
        if not isinstance(node, ast.For | ast.While | ast.If):
            return node
        written = self._renamed(node, rest, around) if isinstance(node, ast.For) else copy.copy(node)
        for block in _BLOCKS:
            setattr(written, block, self.block(getattr(written, block), ((node, rest), *around)))
        return written

    def _renamed(self, node: ast.For, rest: Sequence[ast.stmt], around: Around) -> ast.For:
        name = node.target.id if isinstance(node.target, ast.Name) else ""
        inside = parts_of(*node.body)
        is_bound = any(isinstance(part, ast.arg) and part.arg == name for part in inside)
        is_kept = is_bound or name not in self._stored or any(part.id == name for part in _stores(node.body))
        if is_kept or node.orelse or _is_read_behind(name, rest, around):
            return copy.copy(node)
        own = self._fresh.like(f"{name}_at")
        self.own.add(own)
        written = ast.copy_location(ast.For(copy.copy(node.target), node.iter, copies_of(node.body), []), node)
        for part in parts_of(written.target, *written.body):
            if isinstance(part, ast.Name) and part.id == name:
                part.id = own
        return written


def _is_read_behind(name: str, rest: Sequence[ast.stmt], around: Around) -> bool:
    """Whether what a loop leaves in ``name`` may be read: below it, or in the next iteration of a loop around."""
    for node, behind in ((None, rest), *around):
        again: list[ast.AST] = []
        if isinstance(node, ast.For | ast.While):
            again = list(node.body)
            is_asked = isinstance(node, ast.While) and mentions(node.test, name)
            if is_asked or any(part.id == name for part in _targets(node)) or _first(node.body, name) == "read":
                return True
        met = _first(behind, name)
        if met == "read":
            return True
        # Who leaves early does not come by the assignment.
        if met == "assigned" and not any(_jumps([*again, *behind])):
            return False
    return False


def _first(body: Iterable[ast.stmt], name: str) -> Met:
    """What happens to ``name`` first in ``body``, for certain if it is assigned, and possibly if it is read."""
    for node in body:
        met = _met(node, name)
        if met != "neither":
            return met
    return "neither"


def _met(node: ast.stmt, name: str) -> Met:
    match node:
        case ast.If(test=test, body=then, orelse=otherwise):
            arms = [_first(then, name), _first(otherwise, name)]
            if mentions(test, name) or "read" in arms:
                return "read"
            return "assigned" if arms == ["assigned", "assigned"] else "neither"
        case ast.For(target=ast.Name(id=other), iter=head) if other == name:
            return "read" if mentions(head, name) or any(mentions(one, name) for one in node.orelse) else "neither"
        case ast.For() | ast.While():
            head = node.iter if isinstance(node, ast.For) else node.test
            arms = [_first(node.body, name), _first(node.orelse, name)]
            return "read" if mentions(head, name) or "read" in arms else "neither"
        case ast.Assign(targets=targets, value=value):
            parts = [part for one in targets for part in (one.elts if isinstance(one, ast.Tuple) else [one])]
            if any(isinstance(one, ast.Name) and one.id == name for one in parts):
                others = [one for one in parts if not isinstance(one, ast.Name)]
                return "read" if any(mentions(one, name) for one in (value, *others)) else "assigned"
    return "read" if mentions(node, name) else "neither"


def _targets(node: ast.For | ast.While) -> Iterator[ast.Name]:
    return _stores([ast.Expr(node.target)]) if isinstance(node, ast.For) else iter(())


def _stores(body: Iterable[ast.AST]) -> Iterator[ast.Name]:
    parts = parts_of(*body)
    return (part for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store))


def _jumps(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    return (part for part in parts_of(*body) if isinstance(part, ast.Break | ast.Continue))

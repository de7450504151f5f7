"""Arrays that are made as copies, or anew in every iteration: made once, before the loops, and filled where they stand.

``B = A.copy()`` is ``B = np.empty_like(A)`` and ``B[...] = A``. Inside a loop the first goes before all loops: nobody
can tell, where the name is used only behind that line of the same block.
"""

from __future__ import annotations

import ast
import copy
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from polyviz.frontend.functions import CREATORS, CREATORS_LIKE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from polyviz.frontend.names import GlobalNames
    from polyviz.frontend.source import Source

_FILLS = {"empty": None, "zeros": 0, "ones": 1}
_BLOCKS = ("body", "orelse")


def with_new_arrays(source: Source, names: GlobalNames) -> Source:
    """``source`` with copies taken apart, and with arrays made before the loops that a function makes inside of them.

    In a cell, an array that is made inside of a loop stays, and is refused later: it would be in the notebook
    afterwards, although the loop may have no iteration.

    >>> from polyviz.frontend.names import GlobalNames
    >>> from polyviz.frontend.source import read_source
    >>> source = read_source("def f(A, n):\\n for t in range(n):\\n  B = A.copy()\\n  A[0] = B[1]", None, None)
    >>> print(ast.unparse(ast.Module(list(with_new_arrays(source, GlobalNames(source)).body), [])))
    B = np.empty_like(A)
    for t in range(n):
        B[...] = A
        A[0] = B[1]
    """
    writer = _Writer(source, names)
    body = [one for node in source.body for one in writer.outermost(node)]
    return replace(source, body=tuple(body))


@dataclass(frozen=True, slots=True)
class _New:
    """An array of this ``name``: the call that makes it, and what its elements are set to, if to anything."""

    name: str
    creation: ast.Call
    value: ast.expr | None

    def made(self, node: ast.stmt) -> ast.stmt:
        """The line that makes it, in the place of ``node``."""
        return _located(ast.Assign([ast.Name(self.name, ast.Store())], self.creation), node)

    def filled(self, node: ast.stmt) -> list[ast.stmt]:
        """The line that fills it, in the place of ``node``."""
        if self.value is None:
            return []
        everything = ast.Subscript(ast.Name(self.name, ast.Load()), ast.Constant(...), ast.Store())
        return [_located(ast.Assign([everything], self.value), node)]


class _Writer:
    def __init__(self, source: Source, names: GlobalNames) -> None:
        self._names = names
        self._is_cell = source.is_cell
        self._uses = _uses(source.body)
        self._stored = Counter(part.id for part in _names(source.body) if isinstance(part.ctx, ast.Store))

    def outermost(self, node: ast.stmt) -> list[ast.stmt]:
        """A statement outside of loops, behind the lines that make what is made inside of it."""
        new = self._copied(node)
        if new is not None and self._stored[new.name] == 1:
            return [new.made(node), *new.filled(node)]
        if self._is_cell:
            return [node]
        before: list[ast.stmt] = []
        changed = {part.id for part in _names([node]) if isinstance(part.ctx, ast.Store)}
        inside = self._compound(node, changed, before)
        return [*before, inside]

    def _compound(self, node: ast.stmt, changed: set[str], before: list[ast.stmt]) -> ast.stmt:
        if not isinstance(node, ast.For | ast.If):
            return node
        written = copy.copy(node)
        for block in _BLOCKS:
            setattr(written, block, self._block(getattr(node, block), changed, before))
        return written

    def _block(self, body: Sequence[ast.stmt], changed: set[str], before: list[ast.stmt]) -> list[ast.stmt]:
        written: list[ast.stmt] = []
        for place, node in enumerate(body):
            new = self._copied(node) or self._created(node)
            if new is None or not self._is_own(new, body[place:], changed):
                written.append(self._compound(node, changed, before))
                continue
            before.append(new.made(node))
            filled = new.filled(node)
            written += filled or [ast.copy_location(ast.Pass(), node)]
        return written

    def _is_own(self, new: _New, rest: Sequence[ast.stmt], changed: set[str]) -> bool:
        """Whether the array is used from here to the end of its block only, and is as large in every iteration."""
        alone = self._stored[new.name] == 1 and _uses(rest)[new.name] == self._uses[new.name]
        return alone and not {part.id for part in _names([new.creation])} & changed

    def _copied(self, node: ast.stmt) -> _New | None:
        """The copy of a whole array that ``node`` makes."""
        match node:
            case ast.Assign(
                targets=[ast.Name(id=name)],
                value=ast.Call(func=ast.Attribute(value=ast.Name() as array, attr=method), args=args, keywords=[]),
            ) if (method, len(args)) in (("copy", 0), ("astype", 1)):
                kept = array
            case ast.Assign(
                targets=[ast.Name(id=name)], value=ast.Call(func=function, args=[ast.Name() as kept], keywords=[])
            ) if self._names.canonical(function) in ("numpy.copy", "numpy.array"):
                args = []
            case _:
                return None
        types = [ast.keyword("dtype", one) for one in args]
        like = ast.Attribute(ast.Name("np", ast.Load()), "empty_like", ast.Load())
        return None if name == kept.id else _New(name, ast.Call(like, [copy.copy(kept)], types), kept)

    def _created(self, node: ast.stmt) -> _New | None:
        """The array of numbers that are all the same that ``node`` makes."""
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=function) as call):
                canonical = self._names.canonical(function) or ""
            case _:
                return None
        kind = CREATORS.get(canonical) or CREATORS_LIKE.get(canonical)
        if kind not in _FILLS:
            return None
        value = _FILLS[kind]
        return _New(name, call, None if value is None else ast.Constant(value))


def _names(nodes: Iterable[ast.AST]) -> list[ast.Name]:
    return [part for node in nodes for part in ast.walk(node) if isinstance(part, ast.Name)]


def _uses(nodes: Iterable[ast.AST]) -> Counter[str]:
    return Counter(part.id for part in _names(nodes))


def _located(statement: ast.stmt, node: ast.stmt) -> ast.stmt:
    """``statement`` at the place of ``node``, where its parts have none of their own."""
    for part in ast.walk(statement):
        if not hasattr(part, "lineno") and isinstance(part, ast.stmt | ast.expr | ast.keyword):
            ast.copy_location(part, node)
    return statement

"""A ``return`` inside of loops: the loops end there, and what follows them happens only where they did not.

``for i in range(n): if A[i] > v: return i`` sets a flag and the value, and leaves by ``break``; behind the loop stands
``if returned: return value``, which is no jump any more once the rest of the function is its other arm.
"""

from __future__ import annotations

import ast
import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING

from polyviz.frontend.parts import parts_of
from polyviz.frontend.visited import FreshNames, located

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from polyviz.frontend.names import GlobalNames
    from polyviz.frontend.source import Source


def out_of_loops(source: Source, names: GlobalNames) -> list[ast.stmt]:
    """The body of ``source`` without ``return`` in loops; it stays, and is refused later, where it cannot be written.

    >>> from polyviz.frontend.names import GlobalNames
    >>> from polyviz.frontend.source import read_source
    >>> text = "def f(A, v):\\n for i in range(9):\\n  if A[i] > v: return i\\n return -1"
    >>> source = read_source(text, None, None)
    >>> print(ast.unparse(ast.Module(out_of_loops(source, GlobalNames(source)), [])))
    returned = 0
    for i in range(9):
        if A[i] > v:
            found = i
            returned = 1
            break
    if returned == 1:
        return found
    return -1
    """
    jumps = [jump for node in source.body for loop in _loops(node) for jump in _returns(loop.body)]
    if not jumps or any(loop.orelse for node in source.body for loop in _loops(node)):
        return list(source.body)
    widths = {_width(jump) for jump in jumps}
    if len(widths) > 1:
        return list(source.body)
    fresh = FreshNames(source, names)
    width = widths.pop()
    steady = _steady(source, jumps)
    values = [
        steady.get(place) or fresh.like("found" if width == 1 else f"found{place}") for place in range(abs(width))
    ]
    return _Writer(_Jump(fresh.like("returned"), values, is_tuple=width < 0)).block(source.body)


def _steady(source: Source, jumps: Sequence[ast.Return]) -> dict[int, str]:
    """What all ``jumps`` return at a place, where that is a name that no loop gives another meaning: an array."""
    rows = [jump.value.elts if isinstance(jump.value, ast.Tuple) else [jump.value] for jump in jumps]
    inside = {
        part.id
        for node in source.body
        for loop in _loops(node)
        for part in parts_of(loop)
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
    }
    columns = [{one.id if isinstance(one, ast.Name) else "" for one in row} for row in zip(*rows, strict=True)]
    return {place: name for place, (name, *others) in enumerate(columns) if name and not others and name not in inside}


def _width(jump: ast.Return) -> int:
    """How many values are returned: 0 for none, less than 0 for those of a tuple."""
    if jump.value is None or (isinstance(jump.value, ast.Constant) and jump.value.value is None):
        return 0
    return -len(jump.value.elts) if isinstance(jump.value, ast.Tuple) else 1


@dataclass(frozen=True, slots=True)
class _Jump:
    """The names of the flag, and of what is returned where it is set; what has its name already keeps it."""

    flag: str
    values: list[str]
    is_tuple: bool

    def instead(self, node: ast.Return) -> list[ast.stmt]:
        """What takes the place of ``node``."""
        given = node.value.elts if self.is_tuple and isinstance(node.value, ast.Tuple) else [node.value]
        stores = [
            ast.Assign([ast.Name(name, ast.Store())], value)
            for name, value in zip(self.values, given, strict=False)
            if value is not None and not (isinstance(value, ast.Name) and value.id == name)
        ]
        return [located(one, node) for one in (*stores, self._set(1), ast.Break())]

    def before(self, loop: ast.stmt) -> ast.stmt:
        """The flag, not set."""
        return located(self._set(0), loop)

    def behind(self, loop: ast.stmt, *, is_inside: bool) -> ast.stmt:
        """What follows ``loop``: the next loop ends too, or the function does."""
        named: list[ast.expr] = [ast.Name(name, ast.Load()) for name in self.values]
        whole = ast.Tuple(named, ast.Load()) if self.is_tuple else named[0] if named else None
        leave = ast.Break() if is_inside else ast.Return(whole)
        is_set = ast.Compare(ast.Name(self.flag, ast.Load()), [ast.Eq()], [ast.Constant(1)])
        return located(ast.If(is_set, [leave], []), loop)

    def _set(self, value: int) -> ast.stmt:
        return ast.Assign([ast.Name(self.flag, ast.Store())], ast.Constant(value))


@dataclass(frozen=True, slots=True)
class _Writer:
    jump: _Jump

    def block(self, body: Sequence[ast.stmt], *, is_inside: bool = False) -> list[ast.stmt]:
        """``body``, which stands inside of a loop or outside of all."""
        written: list[ast.stmt] = []
        for node in body:
            if is_inside and isinstance(node, ast.Return):
                return [*written, *self.jump.instead(node)]
            written += self._statement(node, is_inside=is_inside)
        return written

    def _statement(self, node: ast.stmt, *, is_inside: bool) -> list[ast.stmt]:
        if not any(_returns([node])):
            return [node]
        inside = copy.copy(node)
        if isinstance(inside, ast.If):
            inside.body = self.block(inside.body, is_inside=is_inside)
            inside.orelse = self.block(inside.orelse, is_inside=is_inside)
            return [inside]
        if not isinstance(inside, ast.For | ast.While):
            return [node]
        inside.body = self.block(inside.body, is_inside=True)
        before = [] if is_inside else [self.jump.before(node)]
        return [*before, inside, self.jump.behind(node, is_inside=is_inside)]


def _loops(node: ast.stmt) -> Iterator[ast.For | ast.While]:
    return (part for part in parts_of(node) if isinstance(part, ast.For | ast.While))


def _returns(body: Iterable[ast.stmt]) -> Iterator[ast.Return]:
    return (part for part in parts_of(*body) if isinstance(part, ast.Return))

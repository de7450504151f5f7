"""Sums over generators, ``sum(A[i] for i in range(n) if A[i] > 0)``: the loops that add, before the statement.

So is ``sum(x)``, which adds up the elements of ``x`` from left to right.

``max`` and ``min`` of a generator stay refused: Python raises where there is no element, and here nobody could tell.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from polyviz.frontend.literals import SUM
from polyviz.frontend.parts import copy_of, names_in, parts_of
from polyviz.frontend.visited import FreshNames, Renamed, located, visited

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyviz.frontend.names import GlobalNames
    from polyviz.frontend.source import Source

_NAME = "element"
_VALUES = {ast.Assign: "value", ast.AugAssign: "value", ast.Return: "value", ast.If: "test"}


def without_generators(source: Source, names: GlobalNames) -> Source:
    """``source`` with loops in the place of sums over generators and lists; what may not be computed stays.

    >>> from polyviz.frontend.names import GlobalNames
    >>> from polyviz.frontend.source import read_source
    >>> source = read_source("s = 2 * sum(A[i] for i in range(n))", None, None)
    >>> print(ast.unparse(ast.Module(list(without_generators(source, GlobalNames(source)).body), [])))
    total = 0
    for i_2 in range(n):
        total += A[i_2]
    s = 2 * total
    """
    parts = parts_of(*source.body)
    calls = {part.func.id for part in parts if isinstance(part, ast.Call) and isinstance(part.func, ast.Name)}
    if "sum" not in calls and not any(isinstance(part, ast.ListComp) for part in parts):
        return source
    stored = {part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
    writer = _Statements(names, FreshNames(source, names), stored)
    body = tuple(visited(writer, source.body))
    return replace(source, body=body, own_loops=source.own_loops | writer.own)


@dataclass(frozen=True, slots=True)
class _Summed:
    """The sum of what ``each`` gives to ``start``, to zero where nothing is said."""

    each: ast.GeneratorExp | ast.ListComp
    start: ast.expr | None = None


class _Statements(ast.NodeTransformer):
    """Puts loops before statements; ``own`` are the names that they have."""

    def __init__(self, names: GlobalNames, fresh: FreshNames, stored: set[str]) -> None:
        self._names = names
        self._fresh = fresh
        self._stored = stored
        self.own: set[str] = set()

    def visit(self, node: ast.AST) -> ast.AST | list[ast.stmt]:
        """The loops and the statement."""
        place = _VALUES.get(type(node))
        if place is None or not isinstance(node, ast.stmt) or getattr(node, place) is None:
            return self.generic_visit(node) if isinstance(node, ast.stmt) else node
        if isinstance(node, ast.If):
            self.generic_visit(node)
        before: list[ast.stmt] = []
        setattr(node, place, self._computed(getattr(node, place), before))
        return [*(located(one, node) for one in before), node] if before else node

    def _computed(self, value: ast.expr, before: list[ast.stmt]) -> ast.expr:
        """``value`` with names for sums, each added up in ``before``; what may not be computed at all stays."""
        summed = self._summed(value)
        if summed is not None:
            return self._added(summed, before, value)
        if isinstance(value, ast.BoolOp | ast.IfExp | ast.GeneratorExp | ast.ListComp | ast.Lambda):
            return value
        for name, part in ast.iter_fields(value):
            if isinstance(part, ast.expr):
                setattr(value, name, self._computed(part, before))
            elif isinstance(part, list):
                whole = [self._computed(one, before) if isinstance(one, ast.expr) else one for one in part]
                setattr(value, name, whole)
        return value

    def _summed(self, value: ast.expr) -> _Summed | None:
        match value:
            case ast.Call(func=ast.Name(id="sum"), args=[given, *start], keywords=[]) if len(start) < 2:
                is_known = "sum" not in self._stored and not self._names.knows("sum")
            case ast.Call(func=function, args=[ast.ListComp() as given], keywords=[]):
                is_known, start = self._names.canonical(function) == "numpy.sum", []
            case _:
                return None
        if isinstance(given, ast.Name | ast.Subscript):
            given = _elements_of(given)
        if not is_known or not isinstance(given, ast.GeneratorExp | ast.ListComp) or not _is_simple(given.generators):
            return None
        return _Summed(given, *start)

    def _added(self, summed: _Summed, before: list[ast.stmt], value: ast.expr) -> ast.expr:
        total = self._fresh.like("total")
        inner = summed.each
        own = [part.id for one in inner.generators for part in parts_of(one.target) if isinstance(part, ast.Name)]
        renamed = Renamed({name: self._fresh.like(name) for name in own})
        self.own |= {total, *renamed.names.values()}
        inner = renamed.visit(copy_of(inner))
        added = ast.AugAssign(ast.Name(total, ast.Store()), ast.Add(), inner.elt)
        body: list[ast.stmt] = visited(self, [added])
        for one in reversed(inner.generators):
            for test in reversed(one.ifs):
                body = visited(self, [ast.If(test, body, [])])
            body = [ast.For(one.target, one.iter, body, [])]
        start = ast.Constant(0, SUM) if summed.start is None else summed.start
        before += [ast.Assign([ast.Name(total, ast.Store())], start), *body]
        return ast.copy_location(ast.Name(total, ast.Load()), value)


def _elements_of(array: ast.expr) -> ast.GeneratorExp:
    """``element for element in array``."""
    one = ast.comprehension(ast.Name(_NAME, ast.Store()), array, [], 0)
    return ast.GeneratorExp(ast.Name(_NAME, ast.Load()), [one])


def _is_simple(generators: Sequence[ast.comprehension]) -> bool:
    """Whether each generator has names that no other has, and runs over what is known before it."""
    if not all(_is_named(one.target) and not one.is_async for one in generators):
        return False
    names = [names_in(one.target) for one in generators]
    later = [set().union(*names[place:]) for place in range(len(names))]
    is_known_before = not any(names_in(one.iter) & other for one, other in zip(generators, later, strict=True))
    return sum(map(len, names)) == len(set().union(*names)) and is_known_before


def _is_named(target: ast.expr) -> bool:
    """Whether ``target`` is a name, or several of them."""
    return isinstance(target, ast.Name) or (isinstance(target, ast.Tuple) and all(map(_is_named, target.elts)))

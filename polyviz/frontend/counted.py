"""A ``while`` that counts is the loop over a ``range`` that it stands for.

``i = 0``, ``while i < n:`` with ``i += 1`` at the end of the body becomes ``for i_at in range(0, n)``; after it ``i``
is ``max(0, n)``, as Python leaves it. Where the text does not say with which number it begins, ``i`` stands there.
The line that counts may stand anywhere in the body: what follows it sees ``i_at + 1``.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from polyviz.frontend.jumps import ends_early, jumps_of
from polyviz.frontend.parts import copies_of, copy_of, names_in, parts_of
from polyviz.frontend.regions import call_of, constant_of
from polyviz.frontend.visited import FreshNames, located, visited

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from polyviz.frontend.names import GlobalNames
    from polyviz.frontend.source import Source


def counted(source: Source, names: GlobalNames) -> Source:
    """``source`` with ``while`` loops that count as loops over ranges; any other stays, and is refused later.

    >>> from polyviz.frontend.names import GlobalNames
    >>> from polyviz.frontend.source import read_source
    >>> source = read_source("i = 0\\nwhile i < n:\\n A[i] = 0.0\\n i += 1", None, None)
    >>> print(ast.unparse(ast.Module(list(counted(source, GlobalNames(source)).body), [])))
    i = 0
    for i_at in range(0, n, 1):
        A[i_at] = 0.0
    i = max(0, n)
    """
    if not any(isinstance(part, ast.While) for part in parts_of(*source.body)):
        return source
    over = () if source.is_cell else tuple(_last_uses(source.body))
    writer = _Writer(FreshNames(source, names), dict(_first_numbers(source.body)), over)
    body = tuple(visited(writer, source.body))
    return replace(source, body=body, own_loops=source.own_loops | writer.own)


class _Writer(ast.NodeTransformer):
    """Writes loops that count: ``first`` tells with which number, ``over`` holds those behind which nobody asks for
    their counter."""

    def __init__(
        self, fresh: FreshNames, first: Mapping[ast.While, ast.expr], over: Collection[ast.While]
    ) -> None:
        self._fresh = fresh
        self._first = first
        self._over = over
        self.own: frozenset[str] = frozenset()

    def visit_While(self, node: ast.While) -> ast.AST | list[ast.stmt]:
        """The loop and the last value of its counter."""
        self.generic_visit(node)
        match node.test:
            case ast.Compare(left=ast.Name(id=counter), ops=[operator], comparators=[bound]):
                advance = _advance(node.body, counter)
            case _:
                return node
        if advance is None or not self._counts(node, counter, bound, advance[0]):
            return node
        place, step = advance
        if isinstance(operator, ast.Lt | ast.LtE) != (step > 0):
            return node
        if isinstance(operator, ast.LtE | ast.GtE):
            bound = ast.BinOp(bound, ast.Add() if step > 0 else ast.Sub(), ast.Constant(1))
        elif not isinstance(operator, ast.Lt | ast.Gt):
            return node
        return self._loop(node, (counter, place, step), bound)

    def _counts(self, node: ast.While, counter: str, bound: ast.expr, place: int) -> bool:
        """Whether nothing but the line at ``place`` changes the counter, nothing the bound, and nothing leaves the
        loop, or goes on before that line."""
        others = [*node.body[:place], *node.body[place + 1 :]]
        inside = parts_of(*others)
        stored = {part.id for part in inside if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
        changed = stored | {_base(part) for part in inside if isinstance(part, ast.Subscript)}
        read = names_in(bound)
        jumps = any(isinstance(part, ast.Return) for part in inside) or ends_early(node.body)
        jumps = jumps or any(jumps_of(node.body[:place]))
        lengths = {name for part in parts_of(bound) for name in _measured(part)}
        fixed = not (read - lengths) & (changed | {counter}) and not lengths & stored
        return len(node.body) > 1 and counter not in stored and fixed and not jumps and not node.orelse

    def _loop(self, node: ast.While, counts: tuple[str, int, int], bound: ast.expr) -> list[ast.stmt]:
        """The loop in which the line at a place advances a counter by a step, as ``counts`` says."""
        counter, place, step = counts
        own = self._fresh.like(f"{counter}_at")
        self.own |= {own}
        before, behind = _Counted(counter, own, 0), _Counted(counter, own, step)
        body = [before.visit(one) for one in copies_of(node.body[:place])]
        body += [behind.visit(one) for one in copies_of(node.body[place + 1 :])]
        start = copy_of(self._first.get(node, ast.Name(counter, ast.Load())))
        ends = [start, bound, ast.Constant(step)]
        loop = ast.For(ast.Name(own, ast.Store()), call_of("range", *ends), body, [])
        after = ast.Assign([ast.Name(counter, ast.Store())], _left(start, bound, step))
        for part in (loop.target, loop.iter, *parts_of(loop.iter)):
            ast.copy_location(part, node.test)
        for part in parts_of(after):
            ast.copy_location(part, node.body[place])
        return [ast.copy_location(loop, node), *(() if node in self._over else (after,))]


class _Counted(ast.NodeTransformer):
    """Puts ``own``, and ``more`` than that, in the place of ``counter``."""

    def __init__(self, counter: str, own: str, more: int) -> None:
        self._counter, self._own, self._more = counter, own, more

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """The name, or what takes its place."""
        if node.id != self._counter:
            return node
        node.id = self._own
        if not self._more:
            return node
        operator = ast.Add() if self._more > 0 else ast.Sub()
        return located(ast.BinOp(node, operator, ast.Constant(abs(self._more))), node)


def _first_numbers(body: Sequence[ast.stmt]) -> Iterator[tuple[ast.While, ast.expr]]:
    """The loops in ``body`` before which a line says from which number they count, each with that number."""
    for place, node in enumerate(body):
        if isinstance(node, ast.While) and isinstance(node.test, ast.Compare) and isinstance(node.test.left, ast.Name):
            first = _last_number(body[:place], node.test.left.id)
            yield from () if first is None else ((node, first),)
        for field in ("body", "orelse"):
            yield from _first_numbers(getattr(node, field, ()))


def _last_uses(body: Sequence[ast.stmt]) -> Iterator[ast.While]:
    """The loops of ``body``, those inside of others left out, that count what nothing else reads."""
    for node in body:
        match node:
            case ast.While(test=ast.Compare(left=ast.Name(id=name))) if _reads([node], name) == _reads(body, name):
                yield node


def _reads(body: Iterable[ast.stmt], name: str) -> int:
    parts = (part for part in parts_of(*body) if isinstance(part, ast.Name) and part.id == name)
    return sum(isinstance(part.ctx, ast.Load) for part in parts)


def _last_number(body: Sequence[ast.stmt], name: str) -> ast.expr | None:
    """The number in the text that ``name`` has behind ``body``; None where it is something else, or not known."""
    for node in reversed(body):
        match node:
            case ast.Assign(targets=[ast.Name(id=target)], value=value) if target == name:
                return None if constant_of(value) is None else value
        stored = (part for part in parts_of(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store))
        if any(part.id == name for part in stored):
            return None
    return None


def _left(start: ast.expr, bound: ast.expr, step: int) -> ast.expr:
    """The counter after the loop."""
    bound = copy_of(bound)
    if abs(step) == 1:
        return call_of("max" if step > 0 else "min", start, bound)
    up = ast.BinOp(bound, ast.Sub(), start) if step > 0 else ast.BinOp(start, ast.Sub(), bound)
    rounded = ast.BinOp(ast.BinOp(up, ast.Add(), ast.Constant(abs(step) - 1)), ast.FloorDiv(), ast.Constant(abs(step)))
    steps = call_of("max", rounded, ast.Constant(0))
    return ast.BinOp(start, ast.Add(), ast.BinOp(steps, ast.Mult(), ast.Constant(step)))


def _advance(body: Sequence[ast.stmt], counter: str) -> tuple[int, int] | None:
    """The place of the line in ``body`` that advances the ``counter``, and by how much it does; None without one."""
    steps = ((place, _step(node, counter)) for place, node in enumerate(body))
    return next(((place, step) for place, step in steps if step is not None), None)


def _step(node: ast.stmt, name: str) -> int | None:
    """By how much the line ``node`` advances the counter of this name; None where it is no such line."""
    match node:
        case ast.AugAssign(
            target=ast.Name(id=other), op=ast.Add() | ast.Sub() as operator, value=ast.Constant(value=by)
        ):
            negative = isinstance(operator, ast.Sub)
        case ast.Assign(
            targets=[ast.Name(id=other)],
            value=ast.BinOp(
                left=ast.Name(id=same), op=ast.Add() | ast.Sub() as operator, right=ast.Constant(value=by)
            ),
        ) if same == other:
            negative = isinstance(operator, ast.Sub)
        case _:
            return None
    if other != name or type(by) is not int or by <= 0:
        return None
    return -by if negative else by


def _measured(node: ast.AST) -> tuple[str, ...]:
    """The array whose shape ``node`` asks for: its elements do not count."""
    match node:
        case ast.Attribute(value=ast.Name(id=name), attr="shape" | "size"):
            return (name,)
        case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name)]):
            return (name,)
    return ()


def _base(node: ast.Subscript) -> str:
    base: ast.expr = node
    while isinstance(base, ast.Subscript):
        base = base.value
    return base.id if isinstance(base, ast.Name) else ""

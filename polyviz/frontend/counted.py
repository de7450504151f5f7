"""A ``while`` that counts is the loop over a ``range`` that it stands for.

``i = 0``, ``while i < n:`` with ``i += 1`` at the end of the body becomes ``for i_at in range(i, n)``; after it ``i``
is ``max(i, n)``, as Python leaves it.
"""

from __future__ import annotations

import ast
import copy
from dataclasses import replace
from typing import TYPE_CHECKING

from polyviz.frontend.regions import call_of
from polyviz.frontend.visited import FreshNames, visited

if TYPE_CHECKING:
    from polyviz.frontend.names import GlobalNames
    from polyviz.frontend.source import Source


def counted(source: Source, names: GlobalNames) -> Source:
    """``source`` with ``while`` loops that count as loops over ranges; any other stays, and is refused later.

    >>> from polyviz.frontend.names import GlobalNames
    >>> from polyviz.frontend.source import read_source
    >>> source = read_source("i = 0\\nwhile i < n:\\n A[i] = 0.0\\n i += 1", None, None)
    >>> print(ast.unparse(ast.Module(list(counted(source, GlobalNames(source)).body), [])))
    i = 0
    for i_at in range(i, n, 1):
        A[i_at] = 0.0
    i = max(i, n)
    """
    if not any(isinstance(part, ast.While) for node in source.body for part in ast.walk(node)):
        return source
    writer = _Writer(FreshNames(source, names))
    body = tuple(visited(writer, source.body))
    return replace(source, body=body, own_loops=source.own_loops | writer.own)


class _Writer(ast.NodeTransformer):
    def __init__(self, fresh: FreshNames) -> None:
        self._fresh = fresh
        self.own: frozenset[str] = frozenset()

    def visit_While(self, node: ast.While) -> ast.AST | list[ast.stmt]:
        """The loop and the last value of its counter."""
        self.generic_visit(node)
        step = _step(node)
        match node.test:
            case ast.Compare(left=ast.Name(id=counter), ops=[operator], comparators=[bound]) if step is not None:
                pass
            case _:
                return node
        if not self._counts(node, counter, bound) or isinstance(operator, ast.Lt | ast.LtE) != (step > 0):
            return node
        if isinstance(operator, ast.LtE | ast.GtE):
            bound = ast.BinOp(bound, ast.Add() if step > 0 else ast.Sub(), ast.Constant(1))
        elif not isinstance(operator, ast.Lt | ast.Gt):
            return node
        return self._loop(node, counter, bound, step)

    def _counts(self, node: ast.While, counter: str, bound: ast.expr) -> bool:
        """Whether nothing but the last line changes the counter, nothing the bound, and nothing leaves the loop."""
        inside = [part for one in node.body[:-1] for part in ast.walk(one)]
        stored = {part.id for part in inside if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
        changed = stored | {_base(part) for part in inside if isinstance(part, ast.Subscript)}
        read = {part.id for part in ast.walk(bound) if isinstance(part, ast.Name)}
        jumps = any(isinstance(part, ast.Break | ast.Continue | ast.Return) for part in inside)
        lengths = {name for part in ast.walk(bound) for name in _measured(part)}
        fixed = not (read - lengths) & (changed | {counter}) and not lengths & stored
        return len(node.body) > 1 and counter not in stored and fixed and not jumps and not node.orelse

    def _loop(self, node: ast.While, counter: str, bound: ast.expr, step: int) -> list[ast.stmt]:
        own = self._fresh.like(f"{counter}_at")
        self.own |= {own}
        body = copy.deepcopy(node.body[:-1])
        for part in (part for one in body for part in ast.walk(one)):
            if isinstance(part, ast.Name) and part.id == counter:
                part.id = own
        start = ast.Name(counter, ast.Load())
        ends = [start, bound, ast.Constant(step)]
        loop = ast.For(ast.Name(own, ast.Store()), call_of("range", *ends), body, [])
        after = ast.Assign([ast.Name(counter, ast.Store())], _left(start, bound, step))
        for part in (loop.target, loop.iter, *ast.walk(loop.iter)):
            ast.copy_location(part, node.test)
        for part in ast.walk(after):
            ast.copy_location(part, node.body[-1])
        return [ast.copy_location(loop, node), after]


def _left(start: ast.expr, bound: ast.expr, step: int) -> ast.expr:
    """The counter after the loop."""
    bound = copy.deepcopy(bound)
    if abs(step) == 1:
        return call_of("max" if step > 0 else "min", start, bound)
    up = ast.BinOp(bound, ast.Sub(), start) if step > 0 else ast.BinOp(start, ast.Sub(), bound)
    rounded = ast.BinOp(ast.BinOp(up, ast.Add(), ast.Constant(abs(step) - 1)), ast.FloorDiv(), ast.Constant(abs(step)))
    steps = call_of("max", rounded, ast.Constant(0))
    return ast.BinOp(start, ast.Add(), ast.BinOp(steps, ast.Mult(), ast.Constant(step)))


def _step(node: ast.While) -> int | None:
    """By how much the last line of the body advances the counter; None where it is no such line."""
    counter = node.test.left if isinstance(node.test, ast.Compare) else None
    name = counter.id if isinstance(counter, ast.Name) else ""
    match node.body[-1]:
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

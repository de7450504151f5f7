"""Jumps inside loops: which ones there are, and ``continue`` without jumping.

What follows a ``continue`` moves into the arms of the conditions that do not get there.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from polyviz.frontend.parts import copies_of, parts_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MOST = 8
"""How many times as long a body may become: each arm that goes on gets what follows."""


def jumps_of(body: Iterable[ast.stmt]) -> Iterator[ast.Break | ast.Continue]:
    """Every ``break`` and ``continue`` of the loop whose body this is; those of loops inside it are theirs.

    >>> [type(jump).__name__ for jump in jumps_of(ast.parse("for j in J:\\n  break\\nif x: continue").body)]
    ['Continue']
    """
    for node in body:
        if isinstance(node, ast.Break | ast.Continue):
            yield node
        elif isinstance(node, ast.If):
            yield from jumps_of((*node.body, *node.orelse))
        elif isinstance(node, ast.For | ast.While):
            yield from jumps_of(node.orelse)


def ends_early(body: Iterable[ast.stmt]) -> bool:
    """Whether ``break`` may leave the loop whose body this is."""
    return any(isinstance(jump, ast.Break) for jump in jumps_of(body))


def without_continue(body: list[ast.stmt]) -> list[ast.stmt]:
    """``body`` of a loop, where each arm of an ``if`` with a ``continue`` somewhere inside goes on by itself.

    Where that is too long to write, the ``continue`` stays, and is refused later.

    >>> body = ast.parse("if i == j: continue\\nA[i] = 0").body
    >>> print(ast.unparse(ast.Module(without_continue(body), [])))
    if i == j:
        pass
    else:
        A[i] = 0
    """
    written = _without(body, [MOST * sum(map(_size, body))])
    return body if written is None else written


def _without(body: list[ast.stmt], left: list[int]) -> list[ast.stmt] | None:
    """None when more than ``left[0]`` parts would be written."""
    for position, statement in enumerate(body):
        if isinstance(statement, ast.Continue):
            return body[:position]
        if isinstance(statement, ast.Break):
            return body[: position + 1]
        if isinstance(statement, ast.If) and any(isinstance(jump, ast.Continue) for jump in jumps_of([statement])):
            split = _split(statement, body[position + 1 :], left)
            return None if split is None else [*body[:position], split]
    return body


def _split(statement: ast.If, rest: list[ast.stmt], left: list[int]) -> ast.If | None:
    left[0] -= sum(map(_size, rest))
    if left[0] < 0:
        return None
    then = _without([*statement.body, *rest], left)
    otherwise = _without([*statement.orelse, *copies_of(rest)], left)
    if then is None or otherwise is None:
        return None
    split = ast.copy_location(ast.If(statement.test, then or [ast.Pass()], otherwise), statement)
    last = rest[-1] if rest else statement
    split.end_lineno, split.end_col_offset = last.end_lineno, last.end_col_offset
    return split


def _size(node: ast.AST) -> int:
    return len(parts_of(node))

"""Jumps inside loops: which ones there are, and `continue` without jumping."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


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
    """``body`` of a loop, where an arm of an ``if`` that ends in ``continue`` leaves the rest to the other arm.

    A ``continue`` anywhere else stays, and is refused later.

    >>> body = ast.parse("if i == j: continue\\nA[i] = 0").body
    >>> print(ast.unparse(ast.Module(without_continue(body), [])))
    if i == j:
        pass
    else:
        A[i] = 0
    """
    for position, statement in enumerate(body):
        if isinstance(statement, ast.If) and _ends(statement):
            return [*body[:position], _split(statement, body[position + 1 :])]
    return body


def _ends(statement: ast.If) -> bool:
    return any(arm and isinstance(arm[-1], ast.Continue) for arm in (statement.body, statement.orelse))


def _split(statement: ast.If, rest: list[ast.stmt]) -> ast.If:
    then, otherwise = (_arm(arm, rest) for arm in (statement.body, statement.orelse))
    split = ast.copy_location(ast.If(statement.test, then or [ast.Pass()], otherwise), statement)
    last = rest[-1] if rest else statement
    split.end_lineno, split.end_col_offset = last.end_lineno, last.end_col_offset
    return split


def _arm(arm: list[ast.stmt], rest: list[ast.stmt]) -> list[ast.stmt]:
    if arm and isinstance(arm[-1], ast.Continue):
        return without_continue(arm[:-1])
    return without_continue([*arm, *rest])

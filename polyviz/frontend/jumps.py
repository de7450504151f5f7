"""`continue` without jumping: what follows it moves under the opposite condition."""

from __future__ import annotations

import ast


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

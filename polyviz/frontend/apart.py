"""Which of the statements that compute a sum depend on the loops around it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from polyviz.frontend.parts import parts_of

if TYPE_CHECKING:
    from collections.abc import Sequence


def apart(added: Sequence[ast.stmt], names: set[str]) -> tuple[list[ast.stmt], list[ast.stmt]]:
    """The sums that are the same for every element, and those that depend on the loops with these ``names``."""
    inside = set(names)
    while True:
        own = [node for node in added if _named(node) & inside]
        more = {name for node in own for name in _named(node, ast.Store)} | inside
        if more == inside:
            return [node for node in added if node not in own], own
        inside = more


def _named(node: ast.AST, context: type[ast.expr_context] = ast.expr_context) -> set[str]:
    return {part.id for part in parts_of(node) if isinstance(part, ast.Name) and isinstance(part.ctx, context)}


def may_be_computed(test: ast.expr) -> bool:
    """Whether all that ``test`` adds up may be computed beforehand, also what Python might not come to: whole arrays.

    >>> tests = "i > 0 and sum(x) > 3", "i > 0 and sum(A[i - 1])"
    >>> [may_be_computed(ast.parse(text, mode="eval").body) for text in tests]
    [True, False]
    """
    choices = [part for part in parts_of(test) if isinstance(part, ast.BoolOp | ast.IfExp)]
    later = [one for part in choices for one in (part.values[1:] if isinstance(part, ast.BoolOp) else [part])]
    wide = [part for part in parts_of(*later) if isinstance(part, ast.Call | ast.BinOp)]
    return not any(isinstance(one, ast.IfExp) for one in choices) and not any(map(_looks_up, wide))


def _looks_up(node: ast.AST) -> bool:
    """Whether ``node`` is given, or is a product of, a part of an array."""
    is_product = isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult)
    has_parts = any(isinstance(part, ast.Subscript) for part in parts_of(node))
    return has_parts and (is_product or isinstance(node, ast.Call))

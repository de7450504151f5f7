"""Which of the statements that compute a sum depend on the loops around it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

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
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, context)}

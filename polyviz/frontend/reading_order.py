"""In which order the names of a program are read and assigned, as the text has it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def first_use(name: str, body: Iterable[ast.AST]) -> ast.Name | None:
    """The place where ``name`` is read before the text assigns it; None when it is assigned first.

    >>> first_use("s", ast.parse("for i in range(n):\\n    s += A[i]").body).lineno
    2
    >>> first_use("s", ast.parse("s = 0\\nfor i in range(n):\\n    s += A[i]").body) is None
    True
    """
    for found, is_read in _uses(body):
        if found.id == name:
            return found if is_read else None
    return None


def _uses(nodes: Iterable[ast.AST]) -> Iterator[tuple[ast.Name, bool]]:
    """Every name in the order of evaluation, and whether it is read there."""
    for node in nodes:
        if isinstance(node, ast.Name):
            yield node, isinstance(node.ctx, ast.Load)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            yield node.target, True
            yield from _uses([node.value])
        elif isinstance(node, ast.Assign):
            yield from _uses([node.value, *node.targets])
        elif isinstance(node, ast.For):
            yield from _uses([node.iter, node.target, *node.body, *node.orelse])
        else:
            yield from _uses(ast.iter_child_nodes(node))

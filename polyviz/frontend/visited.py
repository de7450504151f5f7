"""What the passes that put several statements in the place of one have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterable


def visited(transformer: ast.NodeTransformer, body: Iterable[ast.stmt]) -> list[ast.stmt]:
    """``body`` with each statement visited by ``transformer``, which may give several for one.

    >>> import ast
    >>> print(ast.unparse(ast.Module(visited(ast.NodeTransformer(), ast.parse("a = 1").body), [])))
    a = 1
    """
    written: list[ast.stmt] = []
    for node in body:
        found = transformer.visit(node)
        written += found if isinstance(found, list) else [found]
    return written

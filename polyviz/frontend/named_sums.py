"""Names in the place of the sums inside of an expression, and conditions around the loops of those that may not run.

``m = x.max() if len(x) > 0 else 0`` begins with ``x[0]``, which is there only under the condition. Sums need none: an
array without elements adds up to nothing.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, cast

from polyviz.frontend.parts import copy_of

if TYPE_CHECKING:
    from collections.abc import Callable


class NamedSums(ast.NodeTransformer):
    """Replaces every expression that ``value`` has a name for; ``before`` collects the lines that compute it, and
    ``begins`` those of them that read a first element."""

    def __init__(
        self, value: Callable[[ast.expr], ast.expr | None], before: list[ast.stmt], begins: list[ast.stmt]
    ) -> None:
        self._value = value
        self._before = before
        self._begins = begins

    def visit(self, node: ast.AST) -> ast.AST:
        """``node`` with names in the place of its sums."""
        match node:
            case ast.IfExp():
                return self._choice(node)
            case ast.BoolOp():
                return self._chain(node)
        added = self._value(node) if isinstance(node, ast.expr) else None
        return self.generic_visit(node) if added is None else added

    def _choice(self, node: ast.IfExp) -> ast.expr:
        test = self._named(node.test)
        body = self._under(test, node.body)
        otherwise = self._under(ast.UnaryOp(ast.Not(), test), node.orelse)
        return ast.copy_location(ast.IfExp(test, body, otherwise), node)

    def _chain(self, node: ast.BoolOp) -> ast.expr:
        """``len(x) > 0 and x.max() > 3``: what stands behind is only asked where that in front does not decide."""
        values = [self._named(node.values[0])]
        for part in node.values[1:]:
            earlier = values[0] if len(values) == 1 else ast.BoolOp(node.op, list(values))
            undecided = earlier if isinstance(node.op, ast.And) else ast.UnaryOp(ast.Not(), earlier)
            values.append(self._under(undecided, part))
        return ast.copy_location(ast.BoolOp(node.op, values), node)

    def _named(self, node: ast.expr) -> ast.expr:
        return cast("ast.expr", self.visit(node))

    def _under(self, test: ast.expr, node: ast.expr) -> ast.expr:
        """``node`` with names, its loops under ``test`` where one of them reads a first element."""
        already = len(self._before)
        named = self._named(node)
        found = self._before[already:]
        if any(line is begin for line in found for begin in self._begins):
            self._before[already:] = [ast.If(copy_of(test), found, [])]
        return named

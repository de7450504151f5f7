"""Outer products, and what NumPy's functions of two numbers make of all pairs: ``np.add.outer(x, y)``."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from polyviz.frontend.functions import PURE

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class Outer:
    """What is computed of each pair of an element of ``first`` and one of ``second``; None: their product."""

    first: ast.expr
    second: ast.expr
    function: ast.expr | None

    def element(self, first: ast.expr, second: ast.expr) -> ast.expr:
        """What is computed of this pair."""
        if self.function is None:
            return ast.BinOp(first, ast.Mult(), second)
        return ast.Call(self.function, [first, second], [])


def outer_of(node: ast.expr, canonical: Callable[[ast.expr], str | None]) -> Outer | None:
    """What ``node`` computes of all pairs; None for anything else.

    >>> names = {"np.outer": "numpy.outer", "np.add": "numpy.add"}
    >>> node = ast.parse("np.add.outer(x, y)", mode="eval").body
    >>> ast.unparse(outer_of(node, lambda one: names.get(ast.unparse(one))).function)
    'np.add'
    """
    match node:
        case ast.Call(func=called, args=[first, second], keywords=[]):
            pass
        case _:
            return None
    if canonical(called) == "numpy.outer":
        return Outer(first, second, None)
    function = called.value if isinstance(called, ast.Attribute) and called.attr == "outer" else None
    known = PURE.get(canonical(function) or "", ()) if function is not None else ()
    return Outer(first, second, function) if 2 in known else None

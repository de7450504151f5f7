"""Numbers that a call tells, written in the place of the arguments that they are the values of.

The block size of a loop that was cut by hand, the stride of a convolution: ``range(0, n, block)`` and ``X[stride * i]``
are affine where these are constants.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from polyviz.frontend.given import Value
from polyviz.frontend.parts import copy_of, parts_of, stored_in

if TYPE_CHECKING:
    from collections.abc import Mapping

    from polyviz.frontend.source import Source


def with_values(source: Source, told: Mapping[str, int]) -> Source:
    """``source`` with the numbers in ``told`` in place of the arguments that keep them.

    >>> from polyviz.frontend.source import read_source
    >>> text = "def f(A, block):\\n for i in range(0, len(A), block): A[i] = 0.0"
    >>> print(ast.unparse(with_values(read_source(text, None, None), {"block": Value(8)}).body[0]))
    for i in range(0, len(A), 8):
        A[i] = 0.0
    """
    parts = parts_of(*source.body)
    stored = stored_in(*source.body) | {part.arg for part in parts if isinstance(part, ast.arg)}
    values = {
        name: int(value) for name, value in told.items() if isinstance(value, Value) and name not in stored
    }
    if not values:
        return source
    writer = _Writer(values)
    return replace(source, body=tuple(writer.visit(copy_of(node)) for node in source.body), told=values)


class _Writer(ast.NodeTransformer):
    def __init__(self, values: Mapping[str, int]) -> None:
        self._values = values

    def visit_Name(self, node: ast.Name) -> ast.expr:
        value = self._values.get(node.id)
        return node if value is None else ast.copy_location(ast.Constant(value), node)

"""What a loop over elements reads before its first iteration, and which elements its iterations change."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from polyviz.frontend.parts import names_in, parts_of
from polyviz.frontend.usage import subscript_chain

if TYPE_CHECKING:
    from collections.abc import Iterable


def read_before(node: ast.expr) -> set[str]:
    """The names of which something in brackets is read before a loop over ``node``, but for extents.

    >>> sorted(read_before(ast.parse("zip(A[p[0]:], enumerate(B[1:], q[0]))", mode="eval").body))
    ['p', 'q']
    """
    match node:
        case ast.Call(func=ast.Name(id="enumerate"), args=[row, *start], keywords=named):
            return read_before(row).union(*map(_read_elements, (*start, *(one.value for one in named))))
        case ast.Call(func=ast.Name(id="zip"), args=[first, *others]):
            return read_before(first).union(*map(read_before, others))
        case ast.Subscript():  # its elements are read as the loop goes on; only where they are, is found before
            return {name for index in subscript_chain(node)[1] for name in _read_elements(index)}
    return _read_elements(node)


def with_new_elements(nodes: Iterable[ast.AST]) -> set[str]:
    """The arrays of which an element is stored in ``nodes``."""
    parts = parts_of(*nodes)
    cells = (part for part in parts if isinstance(part, ast.Subscript) and isinstance(part.ctx, ast.Store))
    return {name for cell in cells for name in names_in(cell.value)}


def _read_elements(node: ast.AST) -> set[str]:
    """The names of which something in brackets is read in ``node``, but for extents."""
    cells = (part for part in parts_of(node) if isinstance(part, ast.Subscript))
    return {name for cell in cells if not isinstance(cell.value, ast.Attribute) for name in names_in(cell.value)}

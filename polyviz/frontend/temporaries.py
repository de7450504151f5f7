"""Which temporaries hold what was computed from data, so that what they are compared with need not be an integer."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from polyviz.frontend.parts import parts_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

INTEGER_CALLS = frozenset({"min", "max", "abs", "int", "len"})
"""Functions that make integers of integers."""


def temporaries_of_data(body: Iterable[ast.stmt]) -> set[str]:
    """The names that are assigned elements of arrays, fractions, or what is made of these, somewhere in ``body``.

    >>> program = "for i in range(A.shape[0]):\\n  half = n // 2\\n  d = A[i]\\n  e = d * d\\n  m = A.shape[0]"
    >>> sorted(temporaries_of_data(ast.parse(program).body))
    ['d', 'e']
    """
    assigned = [pair for node in parts_of(*body) for pair in _assigned(node)]
    found: set[str] = set()
    while True:
        more = {name for name, value in assigned if _holds_data(value, found)}
        if more <= found:
            return found
        found |= more


def _assigned(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """The names that ``node`` assigns, each with the value or what the value is taken from."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            yield from _parts(target, node.value)
    elif isinstance(node, ast.AugAssign):
        yield from _parts(node.target, node.value)


def _parts(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(target, ast.Name):
        yield target.id, value
    elif isinstance(target, ast.Tuple):
        values = value.elts if isinstance(value, ast.Tuple) else [value] * len(target.elts)
        for part, own in zip(target.elts, values, strict=False):
            yield from _parts(part, own)


def _holds_data(value: ast.expr, of_data: set[str]) -> bool:
    return any(_is_data(part, of_data) for part in parts_of(value))


def _is_data(part: ast.AST, of_data: set[str]) -> bool:
    match part:
        case ast.Name(name):
            return name in of_data
        case ast.Constant(number):
            return isinstance(number, float | complex)
        case ast.Subscript(base):
            return isinstance(base, ast.Name | ast.Subscript)
        case ast.BinOp(op=operator):
            return isinstance(operator, ast.Div)
        case ast.Call(function):
            return not (isinstance(function, ast.Name) and str(function.id) in INTEGER_CALLS)
    return False

"""Conditions that choose elements: ``A[A > 3] = 0`` and ``A[m] += B[m]`` change each element or leave it as it is.

No element moves to another place. So it is where chosen elements are added up or counted, ``np.sum(A[A > 3])``. What
``A[m]`` is as a value, the data say how long it is, and it stays refused.
"""

from __future__ import annotations

import ast
import copy
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Container

_LOGICAL = ast.BitAnd | ast.BitOr | ast.BitXor
_TESTS = frozenset(
    f"numpy.{name}"
    for name in (
        "isnan", "isinf", "isfinite", "signbit", "logical_and", "logical_or", "logical_not", "less", "less_equal",
        "greater", "greater_equal", "equal", "not_equal",
    )
)  # fmt: skip


def is_mask(node: ast.expr, known: Container[str], canonical: Callable[[ast.expr], str | None]) -> bool:
    """Whether every element of ``node`` is a truth value; ``known`` are names of arrays of such.

    >>> texts = ("a > 3", "m & ~(a < b)", "a & b", "0 < a < 3")
    >>> [is_mask(ast.parse(text, mode="eval").body, {"m"}, lambda node: None) for text in texts]
    [True, True, False, False]
    """
    match node:
        case ast.Compare(ops=[_]):
            return True
        case ast.Name(id=name):
            return name in known
        case ast.BinOp(left=left, op=operator, right=right) if isinstance(operator, _LOGICAL):
            return is_mask(left, known, canonical) and is_mask(right, known, canonical)
        case ast.UnaryOp(op=ast.Invert(), operand=operand):
            return is_mask(operand, known, canonical)
        case ast.Call(func=function):
            return canonical(function) in _TESTS
    return False


def unmasked(value: ast.expr, mask: ast.expr, *, number: bool = False) -> ast.expr:
    """``value`` with whole arrays in the place of what ``mask`` chooses of them, or with a ``number``.

    >>> mask = ast.parse("a > 3", mode="eval").body
    >>> ast.unparse(unmasked(ast.parse("2 * b[a > 3]", mode="eval").body, mask))
    '2 * b'
    """
    result: ast.expr = _Unmasked(ast.dump(mask), number=number).visit(copy.deepcopy(value))
    return result


def mask_of(value: ast.expr, is_known: Callable[[ast.expr], bool]) -> ast.expr | None:
    """The first mask that chooses elements of an array in ``value``; ``is_known`` says what is a mask."""
    parts = (part for part in ast.walk(value) if isinstance(part, ast.Subscript) and isinstance(part.value, ast.Name))
    return next((part.slice for part in parts if is_known(part.slice)), None)


def masked_names(value: ast.expr, mask: ast.expr) -> list[ast.Name]:
    """The arrays of which ``mask`` chooses elements in ``value``."""
    parts = [part for part in ast.walk(value) if isinstance(part, ast.Subscript)]
    chosen = [part.value for part in parts if ast.dump(part.slice) == ast.dump(mask)]
    return [one for one in chosen if isinstance(one, ast.Name)]


class _Unmasked(ast.NodeTransformer):
    def __init__(self, mask: str, *, number: bool) -> None:
        self._mask = mask
        self._number = number

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        is_chosen = isinstance(node.value, ast.Name) and ast.dump(node.slice) == self._mask
        if is_chosen and self._number:
            return ast.copy_location(ast.Constant(0), node)
        return node.value if is_chosen else self.generic_visit(node)  # type: ignore[return-value]  # an expression

"""What looks like a whole number made of sizes, before anything is known of the names in it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from polyviz.frontend.temporaries import INTEGER_CALLS

if TYPE_CHECKING:
    from collections.abc import Callable

    Canonical = Callable[[ast.expr], str | None]

MAKES_WHOLE = frozenset({"int", "math.isqrt", "math.ceil", "math.floor"})
"""Functions that make a whole number of what they get."""
# Not `&` and `|`, which join masks, too.
_KEEPS_INTEGERS = ast.Add | ast.Sub | ast.Mult | ast.FloorDiv | ast.Mod | ast.LShift | ast.RShift
_ROOTS = frozenset(f"{module}.{name}" for module in ("math", "numpy") for name in ("sqrt", "log", "log2", "log10"))
_ROUNDINGS = frozenset(f"{module}.{name}" for module in ("math", "numpy") for name in ("ceil", "floor"))


def is_integer_form(node: ast.expr) -> bool:
    """Whether ``node`` is built only of names, integers and operations that keep integers.

    >>> [is_integer_form(ast.parse(text, mode="eval").body) for text in ("min(n, 2 * m)", "n / 2", "A[0]")]
    [True, False, False]
    """
    if isinstance(node, ast.Constant):
        return type(node.value) is int
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, _KEEPS_INTEGERS) and is_integer_form(node.left) and is_integer_form(node.right)
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.USub | ast.UAdd) and is_integer_form(node.operand)
    if isinstance(node, ast.Call):
        known = isinstance(node.func, ast.Name) and str(node.func.id) in INTEGER_CALLS
        return known and all(is_integer_form(argument) for argument in node.args)
    return isinstance(node, ast.Name)


def is_size_form(node: ast.expr, canonical: Canonical) -> bool:
    """As ``is_integer_form``, or with roots and logarithms that are made whole; ``canonical`` resolves names.

    >>> texts = "int(math.sqrt(n)) + 1", "math.isqrt(n)", "math.ceil(math.log2(n))", "int(math.sqrt(n * 0.5))"
    >>> [is_size_form(ast.parse(text, mode="eval").body, ast.unparse) for text in texts]
    [True, True, True, False]
    """
    if isinstance(node, ast.BinOp) and isinstance(node.op, _KEEPS_INTEGERS):
        return is_size_form(node.left, canonical) and is_size_form(node.right, canonical)
    if is_integer_form(node):
        return True
    match node:
        case ast.Call(args=[argument], keywords=[]):
            name = canonical(node.func)
            whole_root = name == "math.isqrt" and is_integer_form(argument)
            return whole_root or (name in MAKES_WHOLE and is_root(argument, canonical))
    return False


def is_root(node: ast.expr, canonical: Canonical) -> bool:
    """Whether ``node`` is a root or logarithm of a size, also rounded.

    >>> texts = "math.sqrt(n)", "math.ceil(math.log2(n))", "math.sqrt(x * 0.5)", "math.sin(n)", "math.ceil(n)"
    >>> [is_root(ast.parse(text, mode="eval").body, ast.unparse) for text in texts]
    [True, True, False, False, False]
    """
    match node:
        case ast.Call(args=[argument], keywords=[]):
            name = canonical(node.func)
            rounded = name in _ROUNDINGS and is_root(argument, canonical)
            return rounded or (name in _ROOTS and is_integer_form(argument))
    return False

"""Arrays around a function that it only reads: constants with the values of now, as for numba.

``w`` of the module, read as ``w[k]``, is made at the beginning of the function: ``w = np.array([0.25, 0.5, 0.25])``.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from polyviz.frontend.array_names import in_place
from polyviz.frontend.own_names import numpy_function
from polyviz.frontend.parts import argument_names, parts_of
from polyviz.frontend.visited import located

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from polyviz.errors import ExtractionError, Span
    from polyviz.frontend.names import GlobalNames
    from polyviz.frontend.source import Source
    from polyviz.model.scop import Statement

MOST = 512
"""Numbers that a constant array has at most: all of them stand in the generated code."""


def with_constant_arrays(source: Source, names: GlobalNames) -> Source:
    """``source`` of a function with lines that make the small arrays around it that it reads, and helpers of it.

    >>> from polyviz.frontend.names import GlobalNames
    >>> from polyviz.frontend.source import read_source
    >>> source = read_source("def f(A): A[0] = w[1]", {"w": np.array([1, 2], dtype=np.int16)}, None)
    >>> print(ast.unparse(ast.Module(list(with_constant_arrays(source, GlobalNames(source)).body), [])))
    w = np.array([1, 2], dtype='int16')
    A[0] = w[1]
    """
    if source.arguments is None:
        return source
    own = argument_names(source.arguments) | _stored(source.body)
    changed = in_place(source.body)
    lines = {}
    for name, node in _looked_at(source.body, names, own, set()):
        value = names.value(name)
        if name not in lines and name not in changed and isinstance(value, np.ndarray) and not why_not(value):
            lines[name] = _made(name, value, node)
    return replace(source, body=(*lines.values(), *source.body), constants=frozenset(lines)) if lines else source


def why_not(value: np.ndarray[Any, Any]) -> str:
    """Why ``value`` cannot be a constant of generated code; nothing where it can.

    >>> why_not(np.zeros(3)), why_not(np.zeros(5000))
    ('', 'it has 5000 numbers, and 512 at most are put into the code')
    """
    if value.dtype.kind not in "biuf" or value.dtype.itemsize > 8 or value.dtype == np.float16:
        return f"it holds elements of type {value.dtype}"
    if value.ndim == 0 or value.size == 0:
        return "it has no dimensions" if value.ndim == 0 else "it is empty"
    if value.size > MOST:
        return f"it has {value.size} numbers, and {MOST} at most are put into the code"
    if value.dtype.kind == "f" and not np.isfinite(value).all():
        return "not all of its numbers are finite"
    return "its numbers are larger than 64 bits hold with a sign" if int(value.max()) >= 2**63 else ""


def refused_array(source: Source, node: ast.AST | Span, name: str, value: np.ndarray[Any, Any]) -> ExtractionError:
    """The error for an array around a function that is no constant of it."""
    reason = why_not(value)
    if reason:
        message = f"`{name}` is an array of the surroundings, not an argument of the function, and {reason}."
        reason = "A function may read small arrays of numbers around it, as constants; others it has to be given."
    else:
        message = f"`{name}` is an array of the surroundings, not an argument of the function, and is changed in it."
        reason = "A kernel works on the arrays of its call, so that none changes behind its back."
    hint = f"Make it an argument, `def {source.name}(..., {name}):`, and pass it in the call."
    return source.error(node, message, reason=reason, hint=hint)


def check_unchanged(source: Source, names: GlobalNames, statements: Iterable[Statement]) -> None:
    """Raise for a statement that writes to a constant array, under whatever name."""
    for access in (access for statement in statements for access in statement.accesses):
        if access.kind == "write" and access.array in source.constants and access.span is not None:
            raise refused_array(source, access.span, access.array, names.value(access.array))


def _looked_at(
    body: Iterable[ast.stmt], names: GlobalNames, own: set[str], seen: set[str]
) -> Iterator[tuple[str, ast.expr]]:
    """The names that ``body`` or a helper reads and does not assign, each with where that is in ``body``."""
    for part in parts_of(*body):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load) and part.id not in own:
            yield part.id, part
        helper = names.helper(part.func) if isinstance(part, ast.Call) else None
        if not isinstance(part, ast.Call) or helper is None or helper.name in seen:
            continue
        seen.add(helper.name)
        inner = names.of_helper(part.func)
        inside = argument_names(helper.args) | _stored(helper.body)
        for name, _ in _looked_at(helper.body, inner, inside, seen):
            if name not in own and inner.value(name) is names.value(name):
                yield name, part


def _stored(body: Iterable[ast.stmt]) -> set[str]:
    parts = parts_of(*body)
    return {part.id for part in parts if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load)}


def _made(name: str, value: np.ndarray[Any, Any], node: ast.expr) -> ast.stmt:
    return located(ast.Assign([ast.Name(name, ast.Store())], array_of(value, node)), node)


def array_of(value: np.ndarray[Any, Any], node: ast.expr) -> ast.Call:
    """The call that makes ``value``, at the place of ``node``."""
    numbers = ast.parse(repr(value.tolist()), mode="eval").body
    for part in parts_of(numbers):
        if isinstance(part, ast.expr):
            ast.copy_location(part, node)
    kind = ast.keyword("dtype", ast.Constant(value.dtype.name))
    call = ast.Call(numpy_function("array"), [numbers], [kind])
    return located(call, node)

"""Two ways to write one thing: ``np.shape(A)`` is ``A.shape``, ``A.fill(v)`` is ``A[:] = v``, and so on.

``zip(a, b, strict=False)`` is ``zip(a, b)``, ``q, r = divmod(a, b)`` is ``q, r = a // b, a % b``, ``float("inf")`` is
``math.inf``, ``len(A[0, :])`` is ``A.shape[1]``, and ``np.add(A, B, out=C)`` is ``C[:] = np.add(A, B)``.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from polyviz.frontend.functions import UNIVERSAL
from polyviz.frontend.parts import copies_of
from polyviz.frontend.regions import constant_of
from polyviz.frontend.usage import subscript_chain
from polyviz.frontend.visited import located, visited

if TYPE_CHECKING:
    from polyviz.frontend.names import GlobalNames
    from polyviz.frontend.source import Source

_ATTRIBUTES = {"numpy.shape": "shape", "numpy.ndim": "ndim", "numpy.size": "size"}


def with_usual_spellings(source: Source, names: GlobalNames) -> Source:
    """``source`` with attributes and assignments for calls, and one shape for that of a row of an array.

    >>> from polyviz.frontend.names import GlobalNames
    >>> from polyviz.frontend.source import read_source
    >>> source = read_source("A.fill(0)\\nn = np.shape(A)[0] + A[0].shape[1]", None, None)
    >>> print(ast.unparse(ast.Module(list(with_usual_spellings(source, GlobalNames(source)).body), [])))
    A[:] = 0
    n = A.shape[0] + A.shape[2]
    """
    return replace(source, body=tuple(visited(_Writer(names), source.body)))


def _number(text: str) -> float | None:
    """What ``float`` makes of ``text``: of "inf" what is larger than every number.

    >>> _number("-inf"), _number("infinite")
    (-inf, None)
    """
    try:
        return float(text)
    except ValueError:
        return None


class _Writer(ast.NodeTransformer):
    def __init__(self, names: GlobalNames) -> None:
        self._names = names

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        attribute = _ATTRIBUTES.get(self._names.canonical(node.func) or "")
        match node:
            case ast.Call(args=[ast.Name() as array], keywords=[]) if attribute is not None:
                return located(ast.Attribute(array, attribute, ast.Load()), node)
            case ast.Call(func=ast.Name(id="len"), args=[ast.Subscript() as part], keywords=[]):
                return _extent(part, 0) or node
            case ast.Call(keywords=[ast.keyword(arg="strict", value=ast.Constant(value=False))]) if (
                self._names.canonical(node.func) == "zip"
            ):
                node.keywords = []
            case ast.Call(func=ast.Name(id="float"), args=[ast.Constant(value=str(text))], keywords=[]):
                number = None if self._names.knows("float") else _number(text)
                return node if number is None else located(ast.Constant(number), node)
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        self.generic_visit(node)
        match node:
            case ast.Assign(
                targets=[ast.Tuple(elts=[_, _])],
                value=ast.Call(func=ast.Name(id="divmod"), args=[first, second], keywords=[]),
            ) if not self._names.knows("divmod"):
                parts = [ast.BinOp(first, operator, second) for operator in (ast.FloorDiv(), ast.Mod())]
                node.value = located(ast.Tuple(copies_of(parts), ast.Load()), node.value)
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.stmt:
        self.generic_visit(node)
        match node.value:
            case ast.Call(func=ast.Attribute(value=ast.Name() as array, attr="fill"), args=[value], keywords=[]):
                whole = ast.Subscript(array, ast.Slice(), ast.Store())
                return located(ast.Assign([whole], value), node)
            case ast.Call() as call if (place := self._given_place(call)) is not None:
                return located(ast.Assign([place], call), node)
        return node

    def _given_place(self, call: ast.Call) -> ast.expr | None:
        """Where ``np.add(A, B, out=C)`` or ``np.add(A, B, C)`` writes, which is taken out of the call."""
        count = UNIVERSAL.get(self._names.canonical(call.func) or "")
        match call:
            case ast.Call(args=args, keywords=[ast.keyword(arg="out", value=out)]) if len(args) == count:
                place = _whole_part(out)
            case ast.Call(args=[*values, out], keywords=[]) if len(values) == count:
                place = _whole_part(out)
            case _:
                return None
        if place is not None:
            call.args, call.keywords = call.args[:count], []
        return place

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        """``A[0].shape[k]`` as ``A.shape[1 + k]``, where numbers choose the row; and so for a column."""
        self.generic_visit(node)
        place = constant_of(node.slice)
        match node.value:
            case ast.Attribute(value=ast.Subscript() as row, attr="shape") if place is not None and place >= 0:
                return _extent(row, place) or node
        return node


def _extent(part: ast.Subscript, place: int) -> ast.expr | None:
    """How long ``part`` is along a dimension, if that is one of the array: numbers and ``:`` choose it.

    >>> ast.unparse(_extent(ast.parse("A[0, :, 2]", mode="eval").body, 0))
    'A.shape[1]'
    """
    base, indices = subscript_chain(part)
    walked = [axis for axis, index in enumerate(indices) if isinstance(index, ast.Slice)]
    is_chain = isinstance(part.value, ast.Subscript) and bool(walked)
    whole = all(ast.unparse(indices[axis]) == ":" for axis in walked)
    chosen = (index for axis, index in enumerate(indices) if axis not in walked)
    if not isinstance(base, ast.Name) or is_chain or not whole or any(constant_of(one) is None for one in chosen):
        return None
    axis = walked[place] if place < len(walked) else len(indices) + place - len(walked)
    shape = ast.Attribute(base, "shape", ast.Load())
    return located(ast.Subscript(shape, ast.Constant(axis), ast.Load()), part)


def _whole_part(array: ast.expr) -> ast.expr | None:
    """The place of all elements of an array or of a part of it; None where a copy could be meant, as by ``A[idx]``.

    >>> ast.unparse(_whole_part(ast.parse("A[1:, 0]", mode="eval").body))
    'A[1:, 0]'
    """
    match array:
        case ast.Name():
            return ast.Subscript(array, ast.Slice(), ast.Store())
        case ast.Subscript(value=ast.Name() as base, slice=index):
            parts = index.elts if isinstance(index, ast.Tuple) else [index]
            slices = [isinstance(part, ast.Slice) for part in parts]
            if any(slices) and all(
                cut or constant_of(part) is not None for part, cut in zip(parts, slices, strict=True)
            ):
                return ast.Subscript(base, index, ast.Store())
    return None

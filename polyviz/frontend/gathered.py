"""Arrays of places as subscripts, ``x[idx]``: one element for each place, and a new array of them for NumPy.

Whether an array holds places or truth values, its type says: for an argument, a call or the head tells it.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from polyviz.frontend.array_parts import listed_indices

if TYPE_CHECKING:
    from collections.abc import Callable, Sized

    from polyviz.frontend.program import Program

_ARITHMETIC = ast.Add | ast.Sub | ast.Mult | ast.FloorDiv | ast.Mod
_FUNCTIONS = ("numpy.arange", "numpy.minimum", "numpy.maximum", "numpy.clip", "numpy.mod", "numpy.remainder")


def is_places(
    node: ast.expr, is_known: Callable[[str], bool], canonical: Callable[[ast.expr], str | None]
) -> bool:
    """Whether ``node`` is computed of places; ``is_known`` says of a name that it stands for no truth values.

    >>> texts = ("k", "(k + 1) % n", "col[a:b]", "k > 1", "np.abs(k)")
    >>> [is_places(ast.parse(text, mode="eval").body, lambda name: True, lambda node: None) for text in texts]
    [True, True, True, False, False]
    """
    match node:
        case ast.Name(id=name) | ast.Subscript(value=ast.Name(id=name)):
            return is_known(name)
        case ast.Constant(value=value):
            return type(value) is int
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return is_places(operand, is_known, canonical)
        case ast.BinOp(left=left, op=operator, right=right) if isinstance(operator, _ARITHMETIC):
            return all(is_places(one, is_known, canonical) for one in (left, right))
        case ast.Call(func=function, args=args, keywords=[]) if canonical(function) in _FUNCTIONS:
            return all(is_places(one, is_known, canonical) for one in args)
    return False


class Gatherer:
    """Finds arrays of places in subscripts; ``shape`` tells the dimensions of an expression."""

    def __init__(
        self, program: Program, canonical: Callable[[ast.expr], str | None], shape: Callable[[ast.expr], Sized]
    ) -> None:
        self._program = program
        self._canonical = canonical
        self._shape = shape
        self._known = program.symbols.no_masks

    def of(self, node: ast.expr) -> list[ast.expr]:
        """The subscripts of ``node`` where some of them are arrays of places and each of the others is a number.

        None where it is something else, or where rows are chosen.
        """
        match node:
            case ast.Subscript(value=ast.Name(id=name), slice=index):
                indices = listed_indices(index)
            case _:
                return []
        if len(indices) != self._program.rank(name) or any(map(_is_no_place, indices)):
            return []
        several = [one for one in indices if len(self._shape(one))]
        are_places = all(is_places(one, self._is_no_mask, self._canonical) for one in several)
        return list(indices) if several and are_places else []

    def given(self, name: str, value: ast.expr) -> None:
        """Take notice of a new array ``name`` that is made of ``value``."""
        is_known = is_places(value, self._is_no_mask, self._canonical)
        self._known = self._known - {name} | ({name} if is_known else set())

    def _is_no_mask(self, name: str) -> bool:
        """Whether ``name`` stands for a number, or for an array that is known to hold no truth values."""
        array = self._program.array(name) if self._program.rank(name) is not None else None
        creation = None if array is None else array.creation
        if creation is None or creation.of_values:
            return array is None or name in self._known
        if creation.like is not None:
            return self._is_no_mask(creation.like)
        return (creation.dtype or "").startswith(("int", "uint"))


def _is_no_place(index: ast.expr) -> bool:
    return isinstance(index, ast.Slice) or (isinstance(index, ast.Constant) and type(index.value) is not int)


def listed(indices: list[ast.expr]) -> ast.expr:
    """The subscript of ``indices``.

    >>> ast.unparse(listed([ast.Name("i"), ast.Constant(0)]))
    '(i, 0)'
    """
    return indices[0] if len(indices) == 1 else ast.Tuple(indices, ast.Load())

"""Conditions that choose elements: ``A[A > 3] = 0`` and ``A[m] += B[m]`` change each element or leave it as it is.

No element moves to another place. So it is where chosen elements are added up or counted, ``np.sum(A[A > 3])``. What
``A[m]`` is as a value, the data say how long it is, and it stays refused.
"""

from __future__ import annotations

import ast
import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Sized

    from polyviz.frontend.regions import Region

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
    found = (_mask_in(part) for part in ast.walk(value) if isinstance(part, ast.Subscript))
    return next((mask for mask in found if is_known(mask)), None)


def goes_together(
    value: ast.expr, mask: ast.expr, depth: int, count: int, shape: Callable[[ast.expr], Sized]
) -> bool:
    """Whether ``mask``, of ``depth`` dimensions, chooses in ``value`` from what has ``count`` dimensions, everywhere.

    Whatever else is in it may have as many as the chosen rows have. ``shape`` tells the dimensions.
    """
    chosen = [part for part in ast.walk(value) if _is_chosen(part, ast.dump(mask))]
    parts = [unmasked(part, mask) for part in chosen if isinstance(part, ast.expr)]
    alike = all(len(shape(one)) == count and (depth == 1 or isinstance(one, ast.Name)) for one in parts)
    return alike and len(shape(unmasked(value, mask, number=True))) <= count - depth


@dataclass(frozen=True, slots=True)
class Along:
    """What ``target`` has in the place of a ``mask``, the axis ``place``; ``is_alone``: all that chooses elements."""

    target: ast.expr
    mask: ast.expr
    place: int
    is_alone: bool


def mask_along(target: ast.Subscript, is_known: Callable[[ast.expr], bool]) -> Along | None:
    """The mask that chooses elements in ``target``, alone or beside numbers and slices; None where there is none.

    >>> found = mask_along(ast.parse("X[2, 1:, m]", mode="eval").body, lambda node: isinstance(node, ast.Name))
    >>> ast.unparse(found.target), found.mask.id, found.place
    ('X[2, 1:, :]', 'm', 1)
    """
    if not isinstance(target.slice, ast.Tuple):
        return Along(target.value, target.slice, 0, is_alone=True) if is_known(target.slice) else None
    indices = target.slice.elts
    places = [place for place, index in enumerate(indices) if is_known(index)]
    others = [index for place, index in enumerate(indices) if place not in places]
    if len(places) != 1 or any(isinstance(one, ast.Constant) and type(one.value) is not int for one in others):
        return None
    whole = copy.copy(target)
    parts = [ast.Slice() if place in places else index for place, index in enumerate(indices)]
    whole.slice = ast.copy_location(ast.Tuple(parts, ast.Load()), target.slice)
    walked = sum(isinstance(index, ast.Slice) for index in indices[: places[0]])
    return Along(whole, indices[places[0]], walked, is_alone=False)


@dataclass(frozen=True, slots=True)
class Chosen:
    """The elements of ``region`` that a ``mask`` of ``depth`` dimensions chooses, from its axis ``place`` on."""

    region: Region
    mask: ast.expr
    place: int
    depth: int

    @property
    def axes(self) -> tuple[int, int]:
        """The first of the axes that the mask goes along, and the one behind the last."""
        return self.place, self.place + self.depth

    def fits(self, value: ast.expr, shape: Callable[[ast.expr], Sized]) -> bool:
        """Whether ``value`` goes with what is chosen; ``shape`` tells the dimensions."""
        if self.place:  # how long the last dimensions are, the data say
            return not shape(value) and mask_of(value, lambda node: ast.dump(node) == ast.dump(self.mask)) is None
        return goes_together(value, self.mask, self.depth, len(self.region.axes), shape)


def _mask_in(node: ast.Subscript) -> ast.expr:
    """What would choose elements: that along the first dimension of ``X[m, 0]``."""
    index = node.slice
    return index.elts[0] if isinstance(index, ast.Tuple) and index.elts else index


def _is_chosen(node: ast.AST, mask: str) -> bool:
    is_of_array = isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name)
    return is_of_array and isinstance(node, ast.Subscript) and ast.dump(_mask_in(node)) == mask


class _Unmasked(ast.NodeTransformer):
    def __init__(self, mask: str, *, number: bool) -> None:
        self._mask = mask
        self._number = number

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        if not _is_chosen(node, self._mask):
            return self.generic_visit(node)  # type: ignore[return-value]  # an expression
        if self._number:
            return ast.copy_location(ast.Constant(0), node)
        if not isinstance(node.slice, ast.Tuple):
            return node.value
        whole = ast.copy_location(ast.Slice(), node.slice)
        node.slice = ast.copy_location(ast.Tuple([whole, *node.slice.elts[1:]], ast.Load()), node.slice)
        return node

"""Conditions that choose elements: ``A[A > 3] = 0`` and ``A[m] += B[m]`` change each element or leave it as it is.

No element moves to another place. So it is where chosen elements are added up or counted, ``np.sum(A[A > 3])``. What
``A[m]`` is as a value, the data say how long it is, and it stays refused.
"""

from __future__ import annotations

import ast
import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from polyviz.frontend.parts import copy_of

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator, Sized

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

    >>> texts = ("a > 3", "m & ~(a < b)", "a & b", "0 < a < 3", "m[1:]")
    >>> [is_mask(ast.parse(text, mode="eval").body, {"m"}, lambda node: None) for text in texts]
    [True, True, False, False, True]
    """
    match node:
        case ast.Compare(ops=[_]):
            return True
        case ast.Name(id=name):
            return name in known
        case ast.Subscript(value=ast.Name(id=name)):
            return name in known
        case ast.BinOp(left=left, op=operator, right=right) if isinstance(operator, _LOGICAL):
            return is_mask(left, known, canonical) and is_mask(right, known, canonical)
        case ast.UnaryOp(op=ast.Invert(), operand=operand):
            return is_mask(operand, known, canonical)
        case ast.Call(func=function):
            return canonical(function) in _TESTS
    return False


def unmasked(
    value: ast.expr, mask: ast.expr, is_apart: Callable[[ast.expr], bool], *, number: bool = False
) -> ast.expr:
    """``value`` with whole arrays in the place of what ``mask`` chooses of them, or with a ``number``.

    ``is_apart`` tells what is worked out by itself, of the chosen elements: sums.

    >>> mask = ast.parse("a > 3", mode="eval").body
    >>> value = ast.parse("2 * b[a > 3] - sum(b[a > 3])", mode="eval").body
    >>> ast.unparse(unmasked(value, mask, lambda node: isinstance(node, ast.Call)))
    '2 * b - sum(b[a > 3])'
    """
    result: ast.expr = _Unmasked(ast.dump(mask), is_apart, number=number).visit(copy_of(value))
    return result


def _together(value: ast.expr, is_apart: Callable[[ast.expr], bool]) -> Iterator[ast.expr]:
    """``value`` and its parts, without those of what is worked out by itself."""
    if not is_apart(value):
        yield value
        for part in ast.iter_child_nodes(value):
            if isinstance(part, ast.expr):
                yield from _together(part, is_apart)


def mask_of(
    value: ast.expr, is_known: Callable[[ast.expr], bool], is_apart: Callable[[ast.expr], bool]
) -> ast.expr | None:
    """The first mask that chooses elements of an array in ``value``; ``is_known`` says what is a mask."""
    parts = (part for part in _together(value, is_apart) if isinstance(part, ast.Subscript))
    found = (index for part in parts for index in _first_indices(part))
    return next((mask for mask in found if is_known(mask)), None)


def goes_together(
    value: ast.expr,
    mask: ast.expr,
    sizes: tuple[int, int],
    shape: Callable[[ast.expr], Sized],
    is_apart: Callable[[ast.expr], bool],
) -> bool:
    """Whether ``mask`` chooses in ``value`` from what has as many dimensions, everywhere; ``sizes`` are those of both.

    Whatever else is in it may have as many as the chosen rows have. ``shape`` tells the dimensions.
    """
    depth, count = sizes
    chosen = [part for part in _together(value, is_apart) if _is_chosen(part, ast.dump(mask))]
    beside = [one for part in chosen for one in _beside(part, ast.dump(mask))]
    if any(one is None or len(shape(one)) for one in beside):
        return False  # arrays in one subscript go together, element by element
    parts = [unmasked(part, mask, is_apart) for part in chosen]
    alike = all(len(shape(one)) == count and (depth == 1 or isinstance(one, ast.Name)) for one in parts)
    return alike and len(shape(unmasked(value, mask, is_apart, number=True))) <= count - depth


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

    def fits(
        self, value: ast.expr, shape: Callable[[ast.expr], Sized], is_apart: Callable[[ast.expr], bool]
    ) -> bool:
        """Whether ``value`` goes with what is chosen; ``shape`` tells the dimensions."""
        if self.place:  # how long the last dimensions are, the data say
            found = mask_of(value, lambda node: ast.dump(node) == ast.dump(self.mask), is_apart)
            return not shape(value) and found is None
        return goes_together(value, self.mask, (self.depth, len(self.region.axes)), shape, is_apart)


def _first_indices(node: ast.Subscript) -> list[ast.expr]:
    """What may choose elements: that along the first dimension of ``X[m, 0]``, or behind numbers, as in ``X[i, m]``."""
    indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    walked = (place for place, index in enumerate(indices) if isinstance(index, ast.Slice))
    return indices[: next(walked, len(indices))]


def _beside(node: ast.expr, mask: str) -> list[ast.expr | None]:
    """What stands in the subscript ``node`` beside ``mask``, slices aside; None for the mask once more."""
    index = node.slice if isinstance(node, ast.Subscript) else node
    indices = index.elts if isinstance(index, ast.Tuple) else [index]
    others = [one for one in indices if not isinstance(one, ast.Slice)]
    place = [ast.dump(one) for one in others].index(mask)
    return [None if ast.dump(one) == mask else one for one in (*others[:place], *others[place + 1 :])]


def _is_chosen(node: ast.AST, mask: str) -> bool:
    is_of_array = isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name | ast.Subscript)
    return is_of_array and isinstance(node, ast.Subscript) and mask in map(ast.dump, _first_indices(node))


class _Unmasked(ast.NodeTransformer):
    def __init__(self, mask: str, is_apart: Callable[[ast.expr], bool], *, number: bool) -> None:
        self._mask = mask
        self._is_apart = is_apart
        self._number = number

    def visit(self, node: ast.AST) -> Any:
        """``node`` as it is where it is worked out by itself."""
        return node if isinstance(node, ast.expr) and self._is_apart(node) else super().visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        if not _is_chosen(node, self._mask):
            return self.generic_visit(node)  # type: ignore[return-value]  # an expression
        if self._number:
            return ast.copy_location(ast.Constant(0), node)
        if not isinstance(node.slice, ast.Tuple):
            return node.value
        whole = ast.copy_location(ast.Slice(), node.slice)
        indices = [whole if ast.dump(one) == self._mask else one for one in node.slice.elts]
        node.slice = ast.copy_location(ast.Tuple(indices, ast.Load()), node.slice)
        return node

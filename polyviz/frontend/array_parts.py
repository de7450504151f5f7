"""Parts of arrays by integers and slices, and which element of the array a subscript of such a part means."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from polyviz.frontend.parts import copies_of, names_of, parts_of
from polyviz.frontend.ranks import ranks_told
from polyviz.frontend.regions import constant_of, extent_of, is_new_axis
from polyviz.frontend.usage import subscript_chain
from polyviz.frontend.visited import located, visited
from polyviz.frontend.windows import window_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from polyviz.frontend.names import GlobalNames
    from polyviz.frontend.source import Source

_FLIPS = {"numpy.flip": None, "numpy.flipud": 0, "numpy.fliplr": 1}
"""What turns an array round along an axis, or along all of them."""


def with_plain_parts(source: Source, names: GlobalNames) -> Source:
    """``source`` with one subscript where a slice is subscripted, or a row cut, and slices for what turns arrays round.

    >>> from polyviz.frontend.names import GlobalNames
    >>> from polyviz.frontend.source import read_source
    >>> source = read_source("def f(A, i):\\n A[0] = A[:, 2][i] + np.flip(A, 0)", None, None)
    >>> print(ast.unparse(with_plain_parts(source, GlobalNames(source)).body[0]))
    A[0] = A[i, 2] + A[::-1]
    >>> source = read_source("def f(A):\\n for i in range(9): A[0, 1:] = A[i + 1][:-1]", None, None)
    >>> print(ast.unparse(with_plain_parts(source, GlobalNames(source)).body[0].body[0]))
    A[0, 1:] = A[i + 1, :-1]
    """
    return replace(source, body=tuple(visited(_Chains(source, names), source.body)))


@dataclass(frozen=True, slots=True)
class View:
    """The part of ``base`` at ``indices``, integers, slices and new axes; or all of it, transposed."""

    name: str
    base: ast.Name
    indices: tuple[ast.expr, ...]
    is_turned: bool = False

    @property
    def whole(self) -> ast.expr:
        """All of it."""
        if self.is_turned:
            return ast.Attribute(self._base(), "T", ast.Load())
        is_row = not any(map(is_walked, self.indices))
        return self._at([*self.indices, ast.Slice()] if is_row else self.indices)

    @property
    def rows(self) -> ast.expr:
        """What a loop runs over, where no slice is wanted."""
        is_row = not any(map(is_walked, self.indices))
        return self._at(self.indices) if is_row and self.indices else self.whole

    def part(self, given: Sequence[ast.expr], conditions: list[ast.expr] | None = None) -> ast.Subscript | None:
        """What ``given`` subscripts choose; None where they go into a new axis, or are not followed.

        ``conditions`` gets what has to hold for that in a part of a dimension; without it, that gives None, too.
        """
        if any(isinstance(one, ast.Constant) and type(one.value) is not int and not is_new_axis(one) for one in given):
            return None
        if self.is_turned:
            is_line = len(given) == 2 and sum(map(is_walked, given)) < 2 and not any(map(is_new_axis, given))
            return self._at(given[::-1]) if is_line else None
        rest, chosen = list(given), list[ast.expr]()
        for place, index in enumerate(self.indices):
            while is_walked(index) and rest and is_new_axis(rest[0]):
                chosen.append(rest.pop(0))  # it stands in front of what is walked along
            if not is_walked(index) or not rest:
                chosen.append(index)
            elif _is_full(index) or _is_full(rest[0]):
                chosen.append(rest.pop(0) if _is_full(index) else (rest.pop(0), index)[1])
            else:
                found = self._chosen(index, self._axis_of(place), rest.pop(0), conditions)
                if found is None:
                    return None
                chosen.append(found)
        return self._at([*chosen, *rest])

    def is_chosen_by(self, index: ast.expr, ranks: Mapping[str, int]) -> bool:
        """Whether ``index`` is an array, a mask, that may go along more than one whole dimension of the array.

        Where it does not, it has a place among the subscripts of the array, ``A[i][m]`` is ``A[i, m]``.
        """
        if not _is_array(index, ranks):
            return False
        walked = [one for one in self.indices if is_walked(one)]
        is_along = not self.is_turned and (not walked or _is_full(walked[0]))
        dimensions = ranks.get(self.base.id, 0) - (len(self.indices) - len(walked))
        count = ranks[index.id] if isinstance(index, ast.Name) else dimensions
        return not is_along or count != 1

    def _axis_of(self, place: int) -> int:
        """The dimension of the array that the subscript at ``place`` is for."""
        return place - sum(map(is_new_axis, self.indices[:place]))

    def _chosen(
        self, part: ast.expr, axis: int, given: ast.expr, conditions: list[ast.expr] | None
    ) -> ast.expr | None:
        """What ``given`` chooses in ``part`` of a dimension, as it is along ``axis``; None for what is not followed."""
        if conditions is None or not isinstance(part, ast.Slice):
            return None
        window = window_of(part, extent_of(self.base, axis))
        if window is None:
            return None
        return window.inside(given, conditions) if isinstance(given, ast.Slice) else window.element(given, conditions)

    def extent(self, axis: int, conditions: list[ast.expr]) -> ast.expr | None:
        """How long it is along ``axis``, where ``conditions`` hold, too; None where that is not followed."""
        if self.is_turned:
            return extent_of(self.base, 1 - axis) if axis in (0, 1) else None
        walked = [place for place, index in enumerate(self.indices) if is_walked(index)]
        if axis < 0 or any(map(is_new_axis, self.indices)):
            return None
        if axis >= len(walked):
            return extent_of(self.base, len(self.indices) + axis - len(walked))
        part, extent = self.indices[walked[axis]], extent_of(self.base, walked[axis])
        window = window_of(part, extent) if isinstance(part, ast.Slice) else None
        return None if window is None else window.length(conditions)

    def _at(self, indices: Iterable[ast.expr]) -> ast.Subscript:
        parts = copies_of(indices)
        return ast.Subscript(self._base(), parts[0] if len(parts) == 1 else ast.Tuple(parts, ast.Load()), ast.Load())

    def _base(self) -> ast.Name:
        return ast.Name(self.base.id, ast.Load())


class _Chains(ast.NodeTransformer):
    """Writes ``A[:, 2][i]`` as ``A[i, 2]``, and ``np.flip(A, 0)`` as ``A[::-1]``."""

    def __init__(self, source: Source, names: GlobalNames) -> None:
        self._ranks = ranks_told(source, names)
        self._names = names
        loops = [part for part in parts_of(*source.body) if isinstance(part, ast.For)]
        self._counters = {one.target.id for one in loops if isinstance(one.target, ast.Name) and self._counts(one.iter)}

    def _counts(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Call) and self._names.canonical(node.func) in ("range", "numba.prange")

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        called = self._names.canonical(node.func) or ""
        if called not in _FLIPS or not node.args or not isinstance(node.args[0], ast.Name):
            return node
        axes = [*node.args[1:], *(one.value for one in node.keywords if one.arg == "axis")]
        axis = constant_of(axes[0]) if axes else _FLIPS[called]
        rank = self._ranks.get(node.args[0].id, 0)
        if len(axes) + 1 != len(node.args) + len(node.keywords) or len(axes) > (_FLIPS[called] is None):
            return node
        if (axis is None and (axes or not rank)) or (axis or 0) < 0:
            return node
        turned = ast.Slice(step=ast.UnaryOp(ast.USub(), ast.Constant(1)))
        parts = [turned] * rank if axis is None else [*[ast.Slice()] * axis, turned]
        return located(View("", node.args[0], tuple(parts)).whole, node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        self.generic_visit(node)
        if self._is_cut(node.slice) and self._is_row(node.value):
            base, chosen = subscript_chain(node)
            return located(ast.Subscript(base, ast.Tuple([*chosen], ast.Load()), node.ctx), node)
        match node.value:
            case ast.Subscript(value=ast.Name() as base, slice=inner):
                indices = listed_indices(inner)
            case _:
                return node
        if not any(isinstance(index, ast.Slice) for index in indices) or not is_view(node.value, indices):
            return node
        view = View("", base, tuple(indices))
        part = None if view.is_chosen_by(node.slice, self._ranks) else view.part(listed_indices(node.slice))
        if part is None:
            return node
        part.ctx = node.ctx
        return located(part, node)

    def _is_cut(self, index: ast.expr) -> bool:
        """Whether ``index`` is made of slices and numbers: NumPy puts what arrays choose in front of all slices."""
        indices = listed_indices(index)
        cut = [one for one in indices if isinstance(one, ast.Slice)]
        return bool(cut) and all(isinstance(one, ast.Slice) or self._is_number(one) for one in indices)

    def _is_row(self, node: ast.expr) -> bool:
        """Whether ``node`` is what numbers choose in an array, ``A[i][j]``."""
        if not isinstance(node, ast.Subscript):
            return False
        base, indices = subscript_chain(node)
        return isinstance(base, ast.Name) and all(map(self._is_number, indices))

    def _is_number(self, index: ast.expr) -> bool:
        """Whether ``index`` is a whole number: one array chooses several rows."""
        parts = [part for part in parts_of(index) if isinstance(part, ast.Subscript)]
        elements = {id(part.value): len(listed_indices(part.slice)) for part in parts}
        names = list(names_of(index))
        return _is_integer(index) and all(
            one.id in self._counters or elements.get(id(one)) == self._ranks.get(one.id, 0) for one in names
        )


def is_view(value: ast.Subscript, indices: Sequence[ast.expr]) -> bool:
    """Whether ``indices`` are slices, new axes and integers, all in one pair of brackets where there are slices."""
    is_chain = isinstance(value.value, ast.Subscript) and any(map(is_walked, indices))
    fixed = [index for index in indices if not is_new_axis(index)]
    bounds = [one for index in fixed for one in (_bounds(index) if isinstance(index, ast.Slice) else [index])]
    return not is_chain and all(map(_is_integer, bounds))


def _is_array(index: ast.expr, ranks: Mapping[str, int]) -> bool:
    """Whether the subscript ``index`` is an array of truth values or places."""
    match index:
        case ast.Compare():
            return True
        case ast.Name(id=name):
            return bool(ranks.get(name))
        case ast.UnaryOp(op=ast.Invert(), operand=operand):
            return _is_array(operand, ranks)
        case ast.BinOp(left=left, op=ast.BitAnd() | ast.BitOr() | ast.BitXor(), right=right):
            return _is_array(left, ranks) or _is_array(right, ranks)
        case ast.Subscript(value=ast.Name()):
            return any(map(is_walked, listed_indices(index.slice)))
    return False


def _is_integer(node: ast.expr) -> bool:
    """Whether ``node`` is made of names, elements, extents and whole numbers, and of the least and largest of such."""
    match node:
        case ast.Constant(value=value):
            return type(value) is int
        case ast.Subscript(value=ast.Name(), slice=index):
            return all(map(_is_integer, listed_indices(index)))
        case ast.BinOp(left=left, right=right):
            return _is_integer(left) and _is_integer(right)
        case ast.UnaryOp(operand=operand):
            return _is_integer(operand)
        case ast.Call(func=ast.Name(id="min" | "max"), args=[_, _, *_] as arguments, keywords=[]):
            return all(map(_is_integer, arguments))
        case ast.Call(func=ast.Name(id="len"), args=[ast.Name()], keywords=[]):
            return True
        case ast.Subscript(value=ast.Attribute(value=ast.Name(), attr="shape"), slice=ast.Constant()):
            return True
    return isinstance(node, ast.Name)


def _bounds(index: ast.Slice) -> list[ast.expr]:
    return [one for one in (index.lower, index.upper, index.step) if one is not None]


def listed_indices(index: ast.expr) -> list[ast.expr]:
    """The subscripts in one pair of brackets."""
    return index.elts if isinstance(index, ast.Tuple) else [index]


def is_walked(index: ast.expr) -> bool:
    """Whether ``index`` is a dimension of the view."""
    return isinstance(index, ast.Slice) or is_new_axis(index)


def _is_full(index: ast.expr) -> bool:
    return isinstance(index, ast.Slice) and not (index.lower or index.upper or index.step)

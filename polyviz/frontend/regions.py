"""Parts of arrays that one assignment walks along, and the subscripts in them, as Python text would have them."""

from __future__ import annotations

import ast
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from polyviz.frontend.own_names import own_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyviz.frontend.symbols import ArrayDraft


@dataclass(frozen=True, slots=True)
class Axis:
    """``range(start, stop, step)`` along one dimension, as Python text would have it."""

    start: ast.expr
    stop: ast.expr
    step: int
    is_new: bool = False
    """Not of the array: `x[:, None]` has one position there, which goes with all of what it is computed with."""
    extent: ast.expr | None = None
    """The end of the array, where ``stop`` is computed and may go beyond."""
    is_single: bool = False
    """All of a dimension that is known to have one element, which goes with all of what it is computed with."""

    @property
    def is_repeated(self) -> bool:
        """Whether its one position goes with all of what it is computed with."""
        return self.is_new or self.is_single

    @property
    def text(self) -> tuple[str, str, int]:
        """Its bounds and step: two that have them in common go to the same positions."""
        return ast.unparse(self.start), ast.unparse(self.stop), self.step

    @property
    def length(self) -> ast.expr:
        """The number of elements where there are any."""
        span = difference(self.stop, self.start)
        return span if self.step == 1 else _quotient(span, self.step)


@dataclass(frozen=True, slots=True)
class Region:
    """Elements of an array: per dimension one subscript, or an axis that is walked along.

    There may be new axes between them. ``is_turned``: transposed, the axes count from the last one.
    """

    array: ArrayDraft
    base: ast.Name
    parts: tuple[ast.expr | Axis, ...]
    is_turned: bool = False

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The dimensions that are walked along."""
        found = tuple(part for part in self.parts if isinstance(part, Axis))
        return found[::-1] if self.is_turned else found

    @property
    def has_new_axes(self) -> bool:
        """Whether there are axes that the array does not have."""
        return any(axis.is_new for axis in self.axes)

    def dimension(self, axis: Axis) -> int:
        """The dimension of the array that ``axis`` walks along."""
        before = self.parts[: [part is axis for part in self.parts].index(True)]
        return sum(not (isinstance(part, Axis) and part.is_new) for part in before)

    def at(self, subscripts: Sequence[ast.expr], context: ast.expr_context) -> ast.Subscript:
        """One element: ``subscripts`` for the axes."""
        remaining = iter(subscripts[::-1] if self.is_turned else subscripts)
        walked = [(part, next(remaining) if isinstance(part, Axis) else part) for part in self.parts]
        indices = [index for part, index in walked if not (isinstance(part, Axis) and part.is_new)]
        index = indices[0] if len(indices) == 1 else ast.Tuple(indices, ast.Load())
        element = ast.Subscript(ast.Name(self.base.id, ast.Load()), index, context)
        return ast.copy_location(element, self.base)


def walks(node: ast.expr) -> bool:
    """Whether a subscript before the last one selects more than one position: it does not name dimensions in order."""
    while isinstance(node, ast.Subscript):
        index = node.slice
        parts = index.elts if isinstance(index, ast.Tuple) else [index]
        if any(isinstance(part, ast.Slice) or _is_ellipsis(part) for part in parts):
            return True
        node = node.value
    return False


def is_part(node: ast.expr) -> bool:
    """Whether ``node`` may be an array or a part of one, as it stands or transposed."""
    inner = node.value if isinstance(node, ast.Attribute) and node.attr == "T" else node
    return isinstance(inner, ast.Name | ast.Subscript)


def is_new_axis(index: ast.expr) -> bool:
    """Whether ``index`` is ``None``, or ``np.newaxis``, which is the same."""
    is_named = isinstance(index, ast.Attribute) and index.attr == "newaxis"
    return is_named or (isinstance(index, ast.Constant) and index.value is None)


def filled_up(indices: Sequence[ast.expr], rank: int) -> list[ast.expr]:
    """One index per dimension: full slices for ``...`` and for what is left out at the end; new axes stay.

    Nothing where that has no meaning here: too many subscripts, two ``...``.
    """
    places = [place for place, index in enumerate(indices) if _is_ellipsis(index)]
    missing = rank - len(indices) + len(places) + sum(map(is_new_axis, indices))
    if missing < 0 or len(places) > 1:
        return []
    end = places[0] if places else len(indices)
    return [*indices[:end], *[ast.Slice()] * missing, *indices[end + 1 :]]


def is_harmless(read: ast.expr, stored: ast.expr) -> bool:
    """Whether what is ``read`` is the element that is ``stored``, or one that is never stored: in another column, say.

    >>> texts = ("i, 1", "i, 0", "i + 1, 0", "1, i")
    >>> [is_harmless(ast.parse(one).body[0].value, ast.parse("i, 0").body[0].value) for one in texts]
    [True, True, False, False]
    """
    if ast.unparse(read) == ast.unparse(stored):
        return True
    one, other = ([*node.elts] if isinstance(node, ast.Tuple) else [node] for node in (read, stored))
    numbers = [(constant_of(first), constant_of(second)) for first, second in zip(one, other, strict=False)]
    known = [(first, second) for first, second in numbers if first is not None and second is not None]
    # A number below 0 may be the same place as one from the start.
    apart = any(first != second and (first < 0) == (second < 0) for first, second in known)
    return len(one) == len(other) and apart


def _is_ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is Ellipsis


def constant_of(node: ast.expr) -> int | None:
    """The value of an integer literal, which may be negative; None for anything else."""
    try:
        value = ast.literal_eval(node)
    except ValueError:
        return None
    return value if type(value) is int else None


def not_negative(length: ast.expr) -> ast.expr:
    """``length``, or 0 where it is less.

    >>> [ast.unparse(not_negative(ast.parse(text, mode="eval").body)) for text in ("n - 1", "3")]
    ['max(n - 1, 0)', '3']
    """
    known = constant_of(length)
    return length if known is not None and known >= 0 else call_of("max", length, ast.Constant(0))


def extent_of(base: ast.Name, axis: int) -> ast.expr:
    """``base.shape[axis]``."""
    shape = ast.Attribute(ast.Name(base.id, ast.Load()), "shape", ast.Load())
    return ast.Subscript(shape, ast.Constant(axis), ast.Load())


def call_of(function: str, *arguments: ast.expr) -> ast.expr:
    """The call of a function that Python has by itself."""
    return ast.Call(own_name(function), list(arguments), [])


def nested(axes: Sequence[Axis], names: Sequence[str], *body: ast.stmt) -> ast.stmt:
    """``body`` inside a loop along each of ``axes``.

    >>> axis = Axis(ast.Constant(0), ast.Name("n"), 1)
    >>> print(ast.unparse(ast.fix_missing_locations(nested([axis], ["i"], ast.Pass()))))
    for i in range(0, n, 1):
        pass
    """
    block = list(body)
    for axis, name in reversed(list(zip(axes, names, strict=True))):
        bounds = [axis.start, axis.stop, ast.Constant(axis.step)]
        block = [ast.For(ast.Name(name, ast.Store()), call_of("range", *bounds), block, [])]
    return block[0]


def together(parts: Sequence[Sequence[Axis]]) -> list[Axis]:
    """The axes of what is computed with all of ``parts``: as many as the widest has, and new ones give way.

    >>> row, new = Axis(ast.Constant(0), ast.Name("n"), 1), Axis(ast.Constant(0), ast.Constant(1), 1, is_new=True)
    >>> [axis.is_new for axis in together([[row, new], [row]])]
    [False, False]
    """
    count = max(map(len, parts), default=0)
    found = []
    for place in range(-count, 0):
        here = [axes[place] for axes in parts if len(axes) >= -place]
        found.append(min(here, key=lambda axis: axis.is_repeated))
    return found


def loaded(element: ast.Subscript) -> ast.Subscript:
    """``element`` as it is read."""
    return ast.Subscript(element.value, element.slice, ast.Load())


def difference(left: ast.expr, right: ast.expr) -> ast.expr:
    """``left - right``, written as a person would.

    >>> ast.unparse(difference(ast.parse("n - 1", mode="eval").body, ast.Constant(2)))
    'n - 3'
    >>> ast.unparse(difference(*(ast.parse(text, mode="eval").body for text in ("2 * i + k", "2 * i"))))
    'k'
    >>> ast.unparse(difference(*(ast.parse(text, mode="eval").body for text in ("i", "i - k"))))
    'k'
    """
    first, second = constant_of(left), constant_of(right)
    if first is not None and second is not None:
        return ast.Constant(first - second)
    left, right = _without_common_terms(left, right)
    second = constant_of(right)
    if second is not None and isinstance(left, ast.BinOp) and isinstance(left.op, ast.Add | ast.Sub):
        inner = constant_of(left.right)
        if inner is not None:
            return _sum(left.left, ast.Constant((inner if isinstance(left.op, ast.Add) else -inner) - second))
    return left if second == 0 else ast.BinOp(left, ast.Sub(), right)


def _without_common_terms(left: ast.expr, right: ast.expr) -> tuple[ast.expr, ast.expr]:
    """``left`` and ``right`` without the terms that both have."""
    added, taken = _terms(left), _terms(right)
    first, second = [*added[0], *taken[1]], [*taken[0], *added[1]]
    common = Counter(map(ast.unparse, first)) & Counter(map(ast.unparse, second))
    if not common:
        return left, right
    return _added_up(first, Counter(common)), _added_up(second, Counter(common))


def _terms(node: ast.expr) -> tuple[list[ast.expr], list[ast.expr]]:
    """What ``node`` adds up and what it takes away; itself where it is no sum."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Add | ast.Sub):
        return [node], []
    left, right = _terms(node.left), _terms(node.right)
    if isinstance(node.op, ast.Sub):
        right = right[1], right[0]
    return [*left[0], *right[0]], [*left[1], *right[1]]


def _added_up(terms: list[ast.expr], without: Counter[str]) -> ast.expr:
    """The sum of the ``terms``, as many of each one left out as ``without`` counts."""
    total: ast.expr = ast.Constant(0)
    for term in terms:
        if without[ast.unparse(term)] > 0:
            without[ast.unparse(term)] -= 1
        else:
            total = _sum(total, term)
    return total


def _sum(left: ast.expr, right: ast.expr) -> ast.expr:
    first, second = constant_of(left), constant_of(right)
    if first == 0 or second == 0:
        return left if second == 0 else right
    if second is not None and second < 0:
        return ast.BinOp(left, ast.Sub(), ast.Constant(-second))
    return ast.BinOp(left, ast.Add(), right)


def _quotient(span: ast.expr, step: int) -> ast.expr:
    """The number of steps in ``span``, rounded up."""
    return ast.BinOp(
        _sum(span, ast.Constant(step - (1 if step > 0 else -1))), ast.FloorDiv(), ast.Constant(step)
    )


def matching_position(axis: Axis, other: Axis, name: str) -> ast.expr:
    """The position along ``axis`` that goes with position ``name`` along ``other``.

    >>> first, second = (Axis(ast.Constant(start), ast.Name("n"), 1) for start in (3, 1))
    >>> ast.unparse(matching_position(first, second, "i"))
    'i + 2'
    """
    place = ast.Name(name, ast.Load())
    if axis.step == other.step:
        if ast.unparse(axis.start) == ast.unparse(other.start):
            return place
        return _sum(place, difference(axis.start, other.start))
    count = difference(place, other.start)
    if other.step != 1:
        count = ast.BinOp(count, ast.FloorDiv(), ast.Constant(other.step))
    if axis.step == -1:
        return difference(axis.start, count)
    return _sum(axis.start, ast.BinOp(count, ast.Mult(), ast.Constant(axis.step)))

"""Slices of one dimension, and what is chosen of them: an element, a part, and how long they are.

What is counted from the start of ``x[a:b]`` is an element of ``x`` further on; that ``a`` is counted from the start of
``x``, and that the element lies in the slice, has to hold for it. Such conditions are handed back with each answer.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from polyviz.frontend.parts import copy_of, parts_of
from polyviz.frontend.regions import call_of, constant_of, difference


class Within(ast.stmt):
    """Each of ``conditions`` holds wherever the statement behind runs: ``part`` is subscripted from its start on."""

    _fields = ("conditions", "part")
    conditions: list[ast.expr]
    part: ast.expr


def within(conditions: list[ast.expr], part: ast.expr, node: ast.stmt) -> Within:
    """The line in front of ``node`` that asks for ``conditions``."""
    line = Within()
    line.conditions, line.part = conditions, part
    for one in parts_of(line):
        if isinstance(one, ast.stmt | ast.expr):
            ast.copy_location(one, node)
    return line


Pair = tuple[ast.expr, ast.expr]
"""The first is no less than the second."""
_ZERO, _ONE = ast.Constant(0), ast.Constant(1)


@dataclass(frozen=True, slots=True)
class Window:
    """``part`` of a dimension of length ``extent``, with a number for its step."""

    part: ast.Slice
    extent: ast.expr
    step: int
    start: ast.expr
    """Counted from the start of the dimension."""
    stop: ast.expr
    """Likewise; it may lie behind the end, where NumPy lets the slice end with the array."""
    asked: tuple[Pair, ...]
    """What has to hold for ``start`` and ``stop``."""

    @property
    def is_reversed(self) -> bool:
        """Whether it has all elements, from the last to the first."""
        return self.step == -1

    def at(self, place: ast.expr, conditions: list[ast.expr]) -> ast.expr:
        """The position of the element ``place``, a number from 0 on that is known to be below the length."""
        if self.is_reversed:
            return self._with(difference(difference(self.extent, _ONE), place), conditions)
        return self._with(_sum(_times(place, self.step), self.start), conditions)

    def element(self, given: ast.expr, conditions: list[ast.expr]) -> ast.expr | None:
        """The position of the element ``given``; None where that is not followed."""
        behind = -(constant_of(given) or 0)
        if self.is_reversed:
            last = difference(self.extent, _ONE)
            return self._with(difference(last, given), conditions, (given, _ZERO), (last, given))
        if behind > 0:
            return self._from_end(ast.Constant(behind), conditions) if self.step == 1 else None
        moved = _times(given, self.step)
        last = difference(difference(self.stop, self.start), _ONE)
        inside = () if self.part.upper is None else ((last, moved),)
        return self._with(_sum(moved, self.start), conditions, (given, _ZERO), *inside)

    def inside(self, given: ast.Slice, conditions: list[ast.expr]) -> ast.Slice | None:
        """The slice ``given`` of this one as a slice of the dimension; None where that is not followed."""
        step = 1 if given.step is None else constant_of(given.step)
        if self.is_reversed or step is None or step < 1:
            return None
        lower = self._bound(given.lower or _ZERO, conditions)
        upper = self.part.upper if given.upper is None else self._bound(given.upper, conditions)
        if lower is None or (upper is None and given.upper is not None):
            return None
        whole = step * self.step
        return ast.Slice(
            None if constant_of(lower) == 0 else lower,
            upper if upper is None else copy_of(upper),
            None if whole == 1 else ast.Constant(whole),
        )

    def length(self, conditions: list[ast.expr]) -> ast.expr:
        """How many elements there are."""
        if self.is_reversed or (constant_of(self.start) == 0 and self.part.upper is None and self.step == 1):
            return self.extent
        stop = self.stop if self._ends_inside() else call_of("min", self.extent, self.stop)
        length = call_of("max", difference(stop, self.start), _ZERO)
        if self.step > 1:
            raised = ast.BinOp(length, ast.Add(), ast.Constant(self.step - 1))
            length = ast.BinOp(raised, ast.FloorDiv(), ast.Constant(self.step))
        return self._with(length, conditions)

    def _ends_inside(self) -> bool:
        """Whether it ends with the array, or so many elements before."""
        upper = self.part.upper
        return upper is None or _behind(upper) is not None

    def _bound(self, bound: ast.expr, conditions: list[ast.expr]) -> ast.expr | None:
        """Where ``bound`` of a slice of this one is in the dimension; None where that is not followed."""
        behind = _behind(bound)
        if behind is not None:
            return self._from_end(behind, conditions) if self.step == 1 else None
        moved = _times(bound, self.step)
        span = difference(self.stop, self.start)
        inside = () if self.part.upper is None else ((span, moved),)
        return self._with(_sum(moved, self.start), conditions, (bound, _ZERO), *inside)

    def _from_end(self, behind: ast.expr, conditions: list[ast.expr]) -> ast.expr:
        """The position so many elements before the end, where the slice is as long as that."""
        ends = () if self._ends_inside() else ((self.extent, self.stop),)
        fits = (difference(self.stop, self.start), behind)
        return self._with(difference(self.stop, behind), conditions, fits, (behind, _ONE), *ends)

    def _with(self, answer: ast.expr, conditions: list[ast.expr], *more: Pair) -> ast.expr:
        """``answer``, for which ``more`` has to hold as well."""
        asked = [pair for pair in (*self.asked, *more) if not _is_least(*pair)]
        conditions += [copy_of(ast.Compare(one, [ast.GtE()], [other])) for one, other in asked]
        return copy_of(answer)


def window_of(part: ast.Slice, extent: ast.expr) -> Window | None:
    """``part`` of a dimension of length ``extent``; None for other steps than numbers, and for parts read backwards.

    >>> part = ast.parse("x[a:-1]", mode="eval").body.slice
    >>> window, conditions = window_of(part, ast.Name("n")), []
    >>> ast.unparse(window.element(ast.Name("j"), conditions)), [ast.unparse(one) for one in conditions]
    ('j + a', ['a >= 0', 'j >= 0', 'n - 1 - a - 1 >= j'])
    """
    step = 1 if part.step is None else constant_of(part.step)
    if step == -1 and not (part.lower or part.upper):
        return Window(part, extent, step, _ZERO, extent, ())
    if step is None or step < 1:
        return None
    ends, asked = list[ast.expr](), list[Pair]()
    for bound, missing in ((part.lower, _ZERO), (part.upper, extent)):
        behind = None if bound is None else _behind(bound)
        if behind is None:
            ends.append(missing if bound is None else bound)
            asked += [] if bound is None else [(bound, _ZERO)]
            continue
        ends.append(difference(extent, behind))
        # Further than all elements from the end is the start, and `-0` is no end.
        asked += [(behind, _ONE), *([(extent, behind)] if bound is part.lower else [])]
    return Window(part, extent, step, ends[0], ends[1], tuple(asked))


def _behind(bound: ast.expr) -> ast.expr | None:
    """How far from the end ``-k`` is, or a number below 0; None for bounds that count from the start."""
    constant = constant_of(bound)
    if constant is not None:
        return ast.Constant(-constant) if constant < 0 else None
    is_negated = isinstance(bound, ast.UnaryOp) and isinstance(bound.op, ast.USub)
    return bound.operand if is_negated and isinstance(bound, ast.UnaryOp) else None


def _times(place: ast.expr, step: int) -> ast.expr:
    constant = constant_of(place)
    if step == 1 or constant is not None:
        return place if constant is None else ast.Constant(constant * step)
    return ast.BinOp(ast.Constant(step), ast.Mult(), place)


def _sum(left: ast.expr, right: ast.expr) -> ast.expr:
    numbers = constant_of(left), constant_of(right)
    if numbers[0] is not None and numbers[1] is not None:
        return ast.Constant(numbers[0] + numbers[1])
    if 0 in numbers:
        return right if numbers[0] == 0 else left
    return ast.BinOp(left, ast.Add(), right)


def _is_least(larger: ast.expr, smaller: ast.expr) -> bool:
    """Whether these are numbers, and ``larger`` is no less than ``smaller``."""
    numbers = constant_of(larger), constant_of(smaller)
    return numbers[0] is not None and numbers[1] is not None and numbers[0] >= numbers[1]


def range_at(start: ast.expr, stop: ast.expr, step: int, place: ast.expr) -> tuple[ast.expr, ast.expr]:
    """How long a range is, negative where it is empty, and its number at ``place``.

    >>> [ast.unparse(one) for one in range_at(ast.Name("a"), ast.Name("b"), -2, ast.Name("k"))]
    ['(a - b + 1) // 2', 'a + k * -2']
    """
    length = difference(stop, start) if step > 0 else difference(start, stop)
    moved = place if step == 1 else ast.BinOp(place, ast.Mult(), ast.Constant(step))
    if abs(step) > 1:
        rounded = ast.BinOp(length, ast.Add(), ast.Constant(abs(step) - 1))
        length = ast.BinOp(rounded, ast.FloorDiv(), ast.Constant(abs(step)))
    return length, ast.BinOp(copy_of(start), ast.Add(), moved)

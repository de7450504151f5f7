"""Reads which part of an array a name or a subscript with slices means, and compares the lengths of two of them."""

from __future__ import annotations

import ast
from dataclasses import replace
from itertools import accumulate
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.frontend.affine import AffineReader, NotAffine
from polyviz.frontend.integers import constant_integer
from polyviz.frontend.nodes import Requirement
from polyviz.frontend.regions import (
    Axis,
    Region,
    call_of,
    constant_of,
    difference,
    extent_of,
    filled_up,
    is_new_axis,
    is_part,
    walks,
)
from polyviz.frontend.usage import subscript_chain
from polyviz.model.expression import Binary, Call, Compare, Constant, Expression, Name

if TYPE_CHECKING:
    from polyviz.errors import Span
    from polyviz.frontend.expressions import ExpressionReader
    from polyviz.frontend.program import Program


class BeyondArray(Exception):  # noqa: N818  # no error: the statement is read again
    """A slice at ``span`` goes beyond its array."""

    def __init__(self, span: Span) -> None:
        super().__init__(span)
        self.span = span


class RegionReader:
    """Reads regions; what they take for granted of the sizes becomes an assumption of the program."""

    def __init__(self, program: Program, expressions: ExpressionReader) -> None:
        self._program = program
        self._expressions = expressions

    def read(self, node: ast.expr) -> Region | None:
        """The region that ``node`` means; None for what is no array, a single element, or subscripted otherwise."""
        if isinstance(node, ast.Attribute) and node.attr == "T":
            inner = self.read(node.value) if is_part(node) else None
            return None if inner is None else replace(inner, is_turned=not inner.is_turned)
        if isinstance(node, ast.Subscript) and walks(node.value):
            return None
        base, indices = subscript_chain(node) if isinstance(node, ast.Subscript) else (node, ())
        rank = self._program.rank(base.id) if isinstance(base, ast.Name) else None
        if rank is None or not isinstance(base, ast.Name):
            return None
        filled = filled_up(indices, rank)
        array = (
            self._program.array(base.id) if any(isinstance(index, ast.Slice) for index in filled) else None
        )
        if array is None:
            return None
        dimensions = accumulate((not is_new_axis(index) for index in filled), initial=0)
        parts = [self._part(base, axis, index) for axis, index in zip(dimensions, filled, strict=False)]
        place = ast.copy_location(ast.Name(base.id, ast.Load()), node)
        return Region(array, place, tuple(self._cut(part, node) for part in parts))

    def _cut(self, part: ast.expr | Axis, node: ast.expr) -> ast.expr | Axis:
        """``part`` of ``node``; where slices are known to go beyond the array, NumPy lets them end with it."""
        is_open = isinstance(part, Axis) and part.extent is not None and hasattr(node, "lineno")
        if not is_open or not isinstance(part, Axis) or part.extent is None:
            return part
        span = self._program.source.span(node)
        self._program.slices.add(span)
        if span.line in self._program.cut:
            return replace(part, stop=call_of("min", part.stop, part.extent))
        if self._is_beyond(part.stop, part.extent, node):
            raise BeyondArray(span)
        return part

    def _is_beyond(self, stop: ast.expr, extent: ast.expr, node: ast.expr) -> bool:
        """Whether ``stop`` is more than ``extent`` whatever the sizes are."""
        reader = AffineReader(tuple(self._program.iterators), self._program.parameters)
        bounds = [ast.fix_missing_locations(ast.copy_location(one, node)) for one in (stop, extent)]
        try:
            end, whole = (reader.value(self._expressions.read(one)) for one in bounds)
        except NotAffine:
            return False
        return bool(end.le_set(whole).is_empty())

    def _part(self, base: ast.Name, axis: int, index: ast.expr) -> ast.expr | Axis:
        if is_new_axis(index):
            return Axis(ast.Constant(0), ast.Constant(1), 1, is_new=True)
        if not isinstance(index, ast.Slice):
            return index
        if ast.unparse(index) == ":" and self._has_one(base, axis):
            return Axis(ast.Constant(0), ast.Constant(1), 1, is_single=True)
        step = self._step(index)
        extent = extent_of(base, axis)
        for bound in (index.lower, index.upper):
            if (distance := _from_the_end(bound)) is not None:
                self._assume_distance(distance, base, axis)
            elif bound is not None and constant_of(bound) is None:
                self._assume_from_start(bound, base, axis)
        if step == 1 and index.upper is not None and _is_next(index.lower, index.upper):
            return Axis(index.lower or ast.Constant(0), index.upper, 1, is_single=True)
        if step > 0:
            start = self._from_end(index.lower, extent, ast.Constant(0), clipped=True)
            is_open = index.upper is not None and constant_of(index.upper) is None and not _from_the_end(index.upper)
            stop = self._from_end(index.upper, extent, extent)
            return Axis(start, stop, step, extent=extent if is_open else None)
        start = self._from_end(index.lower, extent, difference(extent, ast.Constant(1)))
        return Axis(start, self._from_end(index.upper, extent, ast.Constant(-1)), step)

    def _has_one(self, base: ast.Name, axis: int) -> bool:
        """Whether the program makes the array with one element along ``axis``."""
        array = self._program.array(base.id)
        extent = None if array is None or array.creation is None else array.extents[axis]
        return extent is not None and constant_integer(extent) == 1

    def _step(self, index: ast.Slice) -> int:
        step = 1 if index.step is None else constant_of(index.step)
        if step:
            return step
        raise self._program.source.error(
            index.step or index,
            "The step of a slice has to be a number other than 0.",
            hint="Write the loop: `for i in range(start, stop, step)`.",
        )

    def _from_end(
        self, bound: ast.expr | None, extent: ast.expr, missing: ast.expr, *, clipped: bool = False
    ) -> ast.expr:
        """A bound as a position: a negative number counts from the end, as far as the array reaches."""
        if bound is None:
            return missing
        constant, distance = constant_of(bound), _from_the_end(bound)
        if distance is None and (constant is None or constant >= 0):
            return bound
        position = difference(extent, distance or ast.Constant(-(constant or 0)))
        return call_of("max", position, ast.Constant(0)) if clipped else position

    def _assume_from_start(self, bound: ast.expr, base: ast.Name, axis: int) -> None:
        """Take for granted that a bound over the sizes is not negative: it would count from the end then.

        Where that would be before the array begins, as in one without elements, nothing is selected either way.
        """
        reader = AffineReader(tuple(self._program.iterators), self._program.parameters)
        try:
            value = reader.value(self._expressions.read(bound))
        except NotAffine:
            return
        if value.involves_dims(isl.dim_type.in_, 0, value.dim(isl.dim_type.in_)):
            self._require_from_start(bound, base, axis)
            return
        nothing = value.sub(value)
        assumed = value.ge_set(nothing).params()
        known = self._program.parameters.known_shape(base.id, axis)
        if known is not None:
            length = reader.value(known)
            outside = length.add(value).le_set(nothing).intersect(length.ge_set(nothing))
            either = assumed.union(outside.params()).coalesce()
            assumed = either if either.n_basic_set() == 1 else assumed
        self._program.assumptions.append(assumed)

    def _assume_distance(self, distance: ast.expr, base: ast.Name, axis: int) -> None:
        """Take for granted that ``distance`` from the end is one: `-0` would be the start."""
        error = self._program.source.error(
            distance,
            f"The bound `-{ast.unparse(distance)}` of a slice of `{base.id}` is not always negative.",
            reason="Where it is 0 or more it counts from the start of the array, and elsewhere from its end.",
            hint=f"Write `{ast.unparse(extent_of(base, axis))} - {ast.unparse(distance)}`, counted from the start.",
        )
        position = self._expressions.read(distance)
        self._program.pending.append(Requirement(Compare((">=",), (position, Constant(1))), error, of_sizes=True))

    def _require_from_start(self, bound: ast.expr, base: ast.Name, axis: int) -> None:
        """Likewise for a bound that changes with the loops around, wherever the statement runs."""
        position = self._expressions.read(bound)
        if self._counts_from_zero(position):
            return
        error = self._program.source.error(
            bound,
            f"The bound `{ast.unparse(bound)}` of a slice of `{base.id}` is negative in some iterations.",
            reason="There it counts from the end of the array, and elsewhere from its start.",
            hint=f"Write `max({ast.unparse(bound)}, 0)` where nothing before the start is meant, and the size, as in "
            f"`{ast.unparse(extent_of(base, axis))} - i`, where it counts from the end.",
        )
        for least in self._not_negative(position) or [Compare((">=",), (position, Constant(0)))]:
            self._program.pending.append(Requirement(least, error, of_sizes=True))

    def _not_negative(self, position: Expression) -> list[Expression]:
        """What makes ``position`` 0 or more, where it is a sum with variables of loops with computed steps.

        Such a variable is no affine function; where it starts at 0 or more, all of it follows from the step. So does
        that of a loop that counts upwards from there.
        """
        loops = dict(zip(self._program.iterators, self._program.headers, strict=True))
        found: list[Expression] = []
        waiting, is_asked = [position], False
        while waiting:
            part = waiting.pop()
            header = loops.get(part.name) if isinstance(part, Name) else None
            match part:
                case Binary("+", left, right):
                    waiting += [left, right]
                case Call("min", parts):
                    waiting += parts
                case Name() if header is not None and header.stride is None:
                    is_asked = True
                    waiting.append(header.start)
                    found.append(Compare((">=",), (header.step, Constant(1))))
                case Name() if header is not None and (header.stride or 0) > 0:
                    waiting.append(header.start)
                case _:
                    found.append(Compare((">=",), (part, Constant(0))))
        return found if is_asked else []

    def _counts_from_zero(self, position: Expression) -> bool:
        """Whether it is the variable of a loop that counts upwards from 0 or more, or a number more than that."""
        if isinstance(position, Binary) and position.operator == "+" and (constant_integer(position.right) or -1) >= 0:
            position = position.left
        loops = dict(zip(self._program.iterators, self._program.headers, strict=True))
        header = loops.get(position.name) if isinstance(position, Name) else None
        if header is None:
            return False
        start = constant_integer(header.start)
        return start is not None and start >= 0 and (header.stride or 0) > 0

    def check_length(self, node: ast.expr, axis: Axis, other: Axis) -> None:
        """Take for granted that two axes are equally long; raises at ``node`` where they never are."""
        if ast.unparse(axis.length) == ast.unparse(other.length):
            return
        reader = AffineReader(tuple(self._program.iterators), self._program.parameters)
        lengths = [ast.fix_missing_locations(ast.copy_location(part.length, node)) for part in (axis, other)]
        try:
            one, another = (reader.value(self._expressions.read(length)) for length in lengths)
        except NotAffine:
            return
        first, second = _at_least_zero(one), _at_least_zero(another)
        equal = first.eq_set(second)
        alike = one.eq_set(another)
        if _holds_of_nothing(alike):
            # Parts of arrays too small to have any are equally long as well, whatever their sizes; each array would
            # double the cases that everything later has to tell apart.
            equal = alike
        depends = equal.involves_dims(isl.dim_type.set, 0, equal.dim(isl.dim_type.set))
        if not depends:
            self._program.assumptions.append(equal.params())
        if equal.intersect(first.gt_set(first.sub(first))).is_empty():
            given, wanted = (ast.unparse(length) for length in lengths)
            raise self._program.source.error(
                node,
                "The two sides of the assignment never have the same number of elements.",
                reason=f"Here it is {given}, on the left {wanted}.",
                hint="Correct the slices, or write the loop.",
            )


def _holds_of_nothing(sizes: isl.Set) -> bool:
    """Whether ``sizes`` has arrays without elements; then so has it all that are equally large."""
    space = sizes.params().get_space()
    empty = isl.Set.universe(space)
    for position in range(space.dim(isl.dim_type.param)):
        empty = empty.fix_val(isl.dim_type.param, position, isl.Val(0))
    return not sizes.params().intersect(empty).is_empty()


def _is_next(start: ast.expr | None, stop: ast.expr) -> bool:
    """Whether a slice with these bounds has one element, as ``0:1`` and ``k:k + 1``."""
    first, last = 0 if start is None else constant_of(start), constant_of(stop)
    if start is None or first is not None or last is not None:
        return first is not None and first >= 0 and last == first + 1
    match stop:
        case ast.BinOp(left=left, op=ast.Add(), right=ast.Constant(value=1)):
            return ast.unparse(left) == ast.unparse(start)
    return False


def _from_the_end(bound: ast.expr | None) -> ast.expr | None:
    """``k`` of a bound ``-k`` that is no number; None for every other."""
    is_negated = isinstance(bound, ast.UnaryOp) and isinstance(bound.op, ast.USub) and constant_of(bound) is None
    return bound.operand if is_negated and isinstance(bound, ast.UnaryOp) else None


def _at_least_zero(length: isl.PwAff) -> isl.PwAff:
    """The number of elements: none where the bounds of a slice are the wrong way round."""
    return length.max(length.sub(length)).coalesce()

"""Sums over whole arrays and products of them: the loops that add, in front of the statement that uses the result.

``s = np.sum(A)`` is read as ``total = 0``, a loop with ``total += A[i]``, and ``s = total``; ``np.dot(a, b)``,
``A @ B``, ``np.mean(A)`` and ``A.max()`` likewise. The order of the additions is that of the loops, which NumPy does
not promise.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from polyviz.frontend.adding import Adder, call_of_numpy
from polyviz.frontend.apart import apart
from polyviz.frontend.masks import goes_together, mask_of, unmasked
from polyviz.frontend.named_sums import NamedSums
from polyviz.frontend.outer import outer_of
from polyviz.frontend.parts import copy_of
from polyviz.frontend.ranks import product_factors
from polyviz.frontend.refuse import LARGEST_CHOSEN
from polyviz.frontend.regions import (
    Axis,
    Region,
    constant_of,
    extent_of,
    is_part,
    matching_position,
    nested,
    together,
)
from polyviz.frontend.summed import EXTREMES, PLACES, Summed, summed_by

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from polyviz.frontend.expressions import ExpressionReader
    from polyviz.frontend.gathered import Gathered
    from polyviz.frontend.generated import Generated
    from polyviz.frontend.program import Program

_PRODUCTS = ("numpy.dot", "numpy.matmul", "numpy.vdot", "numpy.inner")


@dataclass(frozen=True, slots=True)
class Places:
    """Where one element of the result goes: the axes that are walked along, and the names of their loops."""

    axes: tuple[Axis, ...] = ()
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Shapes:
    """What the reader of slices knows: which region a node means, whether two axes are equally long (raises if not),
    one element of an expression, what a computation by elements computes with, which positions a call fills, what is
    made of truth values, and which elements arrays of places choose, with their axes as those of a region."""

    region: Callable[[ast.expr], Region | None]
    same_length: Callable[[ast.expr, Axis, Axis], None]
    element: Callable[[ast.expr, Region, Sequence[str]], ast.expr]
    operands: Callable[[ast.expr], list[ast.expr]]
    generated: Callable[[ast.expr], Generated | None]
    is_mask: Callable[[ast.expr], bool]
    gathered: Callable[[ast.expr], Gathered | None]
    walked: Callable[[ast.expr], Region | None]


class SumReader:
    """Collects in ``before`` the loops that add."""

    def __init__(self, program: Program, expressions: ExpressionReader, shapes: Shapes) -> None:
        self._program = program
        self._expressions = expressions
        self._shapes = shapes
        self.before: list[ast.stmt] = []
        self._begins: list[ast.stmt] = []

    def value(self, node: ast.expr, places: Places) -> ast.expr | None:
        """A name for one element of the sum or product ``node``; None where it is neither."""
        factors = self._factors(node)
        if factors is not None:
            return self._product(node, *factors, places)
        outer = self._outer(node)
        if outer is not None:
            return self._of_outer(node, outer, places)
        summed = self._summed(node)
        region = None if summed is None else self.widest(summed.operand) or self._joined(summed)
        return None if summed is None or region is None else self._sum(summed, region, places)

    def named(self, value: ast.expr) -> ast.expr:
        """``value`` with names in the place of sums."""
        named = NamedSums(lambda node: self.value(node, Places()), self.before, self._begins)
        return cast("ast.expr", named.visit(copy_of(value)))

    def shape(self, node: ast.expr) -> list[ast.expr]:
        """The length of ``node`` along each dimension; none for a number, and for what is not computed by elements."""
        return [axis.length for axis in self.axes(node)]

    def axes(self, node: ast.expr) -> list[Axis]:
        """The axes of ``node``, as :meth:`shape` tells their lengths."""
        if (found := self._shapes.gathered(node)) is not None:
            return list(found.axes)
        region = self._shapes.region(node) if is_part(node) else None
        if region is not None:
            return list(region.axes)
        if (made := self._shapes.generated(node)) is not None:
            return list(made.axes)
        if (factors := self._factors(node)) is not None:
            return [] if self._is_called(node, "vdot", "inner") else [*factors[0].axes[:-1], *factors[1].axes[1:]]
        if (outer := self._outer(node)) is not None:
            return [one.axes[0] for one in outer]
        if (summed := self._summed(node)) is not None:
            inside = self.axes(summed.operand)
            return summed.result(inside) if summed.fits(len(inside)) else []
        return together([self.axes(part) for part in self._shapes.operands(node)])

    def _sum(self, summed: Summed, region: Region, places: Places) -> ast.expr | None:
        walked = self._walked(region, summed, places)
        if walked is None:
            return None
        names = [name for _, name in walked]
        along = [pair for pair in walked if pair[1] not in places.names]
        axes, own = [axis for axis, _ in along], [name for _, name in along]
        already = len(self.before)
        target = Region(region.array, region.base, tuple(axis for axis, _ in walked))
        element = self._shapes.element(summed.operand, target, names)
        chosen = None if summed.mask is None else self._chosen(summed.mask, target, names)
        if apart(self.before[already:], set(own))[1]:
            del self.before[already:]  # A sum for every element would have to stand inside the loops of this one.
            return None
        if summed.kind in EXTREMES:
            return self._extreme(EXTREMES[summed.kind], region, axes, own, element)
        if summed.kind in PLACES:
            return self._place(PLACES[summed.kind], region, axes, own, element)
        return Adder(self._program.parameters.fresh, self.before, axes, own, chosen).value(summed.kind, element)

    def _chosen(self, mask: ast.expr, region: Region, names: Sequence[str]) -> ast.expr:
        """One element of ``mask``, which goes with the first dimensions of ``region``."""
        count = len(self.axes(mask))
        return self._shapes.element(mask, replace(region, parts=region.parts[:count]), names[:count])

    def _walked(self, region: Region, summed: Summed, places: Places) -> list[tuple[Axis, str]] | None:
        """The loop along each axis, and its name: for those that stay, that of the matching axis of the result."""
        count = len(region.axes)
        kept = len(summed.result(region.axes)) if summed.fits(count) else len(places.axes) + 1
        if kept > len(places.axes):
            return None
        free = iter(list(zip(places.axes, places.names, strict=True))[len(places.axes) - kept :])
        walked = []
        for position, own in enumerate(region.axes):
            is_along = summed.is_along(position, count)
            other, name = next(free) if summed.keeps or not is_along else (own, "")
            if is_along:
                walked.append((own, self._loop_name()))
                continue
            self._shapes.same_length(region.base, own, other)
            walked.append((own if own.is_repeated else other, name))
        return walked

    def _factors(self, node: ast.expr) -> tuple[Region, Region] | None:
        match node:
            case ast.BinOp(left=left, op=ast.MatMult(), right=right):
                pass
            case ast.Call(func=function, args=[left, right], keywords=[]) if (
                self._expressions.canonical(function) in _PRODUCTS
            ):
                pass
            case ast.Call(func=ast.Attribute(value=left, attr="dot"), args=[right], keywords=[]):
                pass
            case _:
                return None
        first, second = (self._region(part) for part in (left, right))
        return None if first is None or second is None else (first, second)

    def _region(self, node: ast.expr) -> Region | None:
        found = self._shapes.region(node) if is_part(node) else None
        return None if found is None or found.has_new_axes or len(found.axes) not in (1, 2) else found

    def _product(self, node: ast.expr, left: Region, right: Region, places: Places) -> ast.expr | None:
        along, across = left.axes[-1], right.axes[0]
        free = [*left.axes[:-1], *right.axes[1:]]
        if len(free) > len(places.axes) or (self._is_called(node, "vdot", "inner") and free):
            return None
        self._shapes.same_length(node, across, along)
        name = self._loop_name()
        offset = len(places.axes) - len(free)
        found: list[ast.expr] = []
        for axis, other, own in zip(free, places.axes[offset:], places.names[offset:], strict=True):
            self._shapes.same_length(node, axis, other)
            found.append(matching_position(axis, other, own))
        rows = found[: len(left.axes) - 1]
        first: ast.expr = left.at([*rows, ast.Name(name, ast.Load())], ast.Load())
        if self._is_called(node, "vdot"):
            first = ast.Call(ast.Attribute(first, "conjugate", ast.Load()), [], [])
        second = right.at([matching_position(across, along, name), *found[len(rows) :]], ast.Load())
        adder = Adder(self._program.parameters.fresh, self.before, [along], [name])
        return adder.total(ast.BinOp(first, ast.Mult(), second))

    def _outer(self, node: ast.expr) -> tuple[Region, Region] | None:
        """The vectors of whose pairs ``node`` computes its elements."""
        outer = outer_of(node, self._expressions.canonical)
        first, second = (None, None) if outer is None else (self._region(outer.first), self._region(outer.second))
        if first is None or second is None or len(first.axes) + len(second.axes) > 2:
            return None
        return first, second

    def _of_outer(self, node: ast.expr, vectors: Sequence[Region], places: Places) -> ast.expr | None:
        if len(places.axes) < 2:
            return None
        elements = []
        for vector, other, name in zip(vectors, places.axes[-2:], places.names[-2:], strict=True):
            self._shapes.same_length(node, vector.axes[0], other)
            elements.append(vector.at([matching_position(vector.axes[0], other, name)], ast.Load()))
        outer = outer_of(node, self._expressions.canonical)
        return None if outer is None else outer.element(*elements)

    def _is_called(self, node: ast.expr, *names: str) -> bool:
        called = self._expressions.canonical(node.func) if isinstance(node, ast.Call) else None
        return called in [f"numpy.{name}" for name in names]

    def is_sum(self, node: ast.expr) -> bool:
        """Whether ``node`` adds up elements, or looks for one: what it is does not go element by element."""
        return summed_by(node, self._expressions.canonical) is not None

    def _summed(self, node: ast.expr) -> Summed | None:
        """What is summed up, if ``node`` is a sum."""
        summed = summed_by(node, self._expressions.canonical) or self._of_vectors(node)
        mask = None if summed is None else mask_of(summed.operand, self._shapes.is_mask, self.is_sum)
        return summed if summed is None or mask is None else self._masked(summed, mask)

    def _of_vectors(self, node: ast.expr) -> Summed | None:
        """The product of two vectors of which one is no part of an array, but elements from many places of one."""
        is_product = isinstance(node, ast.BinOp) or self._is_called(node, "dot", "matmul")
        factors = product_factors(node, self._expressions.canonical) if is_product else []
        if len(factors) != 2 or not all(map(is_part, factors)) or self._factors(node) is not None:
            return None
        is_vector = all(len(self.axes(factor)) == 1 for factor in factors)
        return Summed("sum", ast.BinOp(factors[0], ast.Mult(), factors[1]), None) if is_vector else None

    def _masked(self, summed: Summed, mask: ast.expr) -> Summed | None:
        """The sum over all elements of which ``mask`` chooses; None where it is not known what goes with what."""
        if summed.kind in EXTREMES:
            raise self._program.source.refuse(summed.operand, LARGEST_CHOSEN)
        if summed.kind in PLACES:
            return None
        whole = unmasked(summed.operand, mask, self.is_sum)
        masked, count = len(self.axes(mask)), len(self.axes(whole))
        is_known = 0 < masked <= count
        if not is_known or not goes_together(summed.operand, mask, (masked, count), self.axes, self.is_sum):
            return None
        if masked == count and count > 1 and summed.axes in ((0,), (-1,)):
            summed = replace(summed, axes=None)  # what it chooses is a vector
        along = summed.fits(count) and all(summed.is_along(place, count) for place in range(masked))
        return replace(summed, operand=whole, mask=mask) if along and not summed.keeps else None

    def widest(self, node: ast.expr) -> Region | None:
        """The region with as many dimensions as ``node``, of those that it is computed from element by element.

        None where none has, as for a number, or where one has new axes: what is inside of a single element's subscript,
        a size or another sum is no part of what is added up.
        """
        regions = self.regions_in(node)
        if not regions or any(region.has_new_axes for region in regions):
            return None
        widest = max(regions, key=lambda region: len(region.axes))
        return widest if len(widest.axes) == len(self.axes(node)) else None

    def _joined(self, summed: Summed) -> Region | None:
        """Something with all the axes of the operand, where no region inside of it has them: ``x[:, None] * y``.

        None for extremes, which ask an array how long it is.
        """
        regions = [] if summed.kind in (*EXTREMES, *PLACES) else self.regions_in(summed.operand)
        axes = self.axes(summed.operand)
        return Region(regions[0].array, regions[0].base, tuple(axes)) if regions and axes else None

    def regions_in(self, node: ast.expr) -> list[Region]:
        """The regions that ``node`` is computed of element by element."""
        found, waiting = list[Region](), [node]
        while waiting:
            part = waiting.pop(0)
            region = (self._shapes.walked(part) or self._shapes.region(part)) if is_part(part) else None
            found += [] if region is None else [region]
            waiting += [] if region is not None or self._is_whole(part) else self._shapes.operands(part)
        return found

    def _is_whole(self, node: ast.expr) -> bool:
        """Whether ``node`` is a product or a sum of its own, or makes the elements that it has."""
        found = (self._factors(node), self._outer(node), self._summed(node), self._shapes.generated(node))
        return any(one is not None for one in found)

    def _place(
        self, better: ast.cmpop, region: Region, axes: Sequence[Axis], names: Sequence[str], element: ast.expr
    ) -> ast.expr:
        """The number of the first largest or smallest element; as for NumPy, what is no number counts as such."""
        best, place = (self._program.parameters.fresh(stem) for stem in ("best", "place"))
        starts = {name: _first(region, axis) for axis, name in zip(axes, names, strict=True)}
        first = _AtStarts(starts).visit(copy_of(element))
        kept = ast.Name(best, ast.Load())
        computed: list[ast.stmt] = []
        if not isinstance(element, ast.Subscript):
            here = self._program.parameters.fresh("here")
            computed, element = [ast.Assign([ast.Name(here, ast.Store())], element)], ast.Name(here, ast.Load())
        is_none = ast.Compare(element, [ast.NotEq()], [element])
        was_one = ast.Compare(kept, [ast.Eq()], [kept])
        is_better = ast.Compare(element, [better], [kept])
        test = ast.BoolOp(ast.Or(), [is_better, ast.BoolOp(ast.And(), [is_none, was_one])])
        found: list[ast.stmt] = [
            ast.Assign([ast.Name(best, ast.Store())], element),
            ast.Assign([ast.Name(place, ast.Store())], _number(axes, names)),
        ]
        self._begin(best, first)
        self.before.append(ast.Assign([ast.Name(place, ast.Store())], ast.Constant(0)))
        self.before.append(nested(axes, names, *computed, ast.If(test, found, [])))
        return ast.Name(place, ast.Load())

    def _extreme(
        self, function: str, region: Region, axes: Sequence[Axis], names: Sequence[str], element: ast.expr
    ) -> ast.expr:
        """The largest or smallest element, starting with the first: there has to be one, as for NumPy."""
        starts = {name: _first(region, axis) for axis, name in zip(axes, names, strict=True)}
        first = _AtStarts(starts).visit(copy_of(element))
        best = self._program.parameters.fresh("best")
        chosen = call_of_numpy(function, ast.Name(best, ast.Load()), element)
        self._begin(best, first)
        self.before.append(nested(axes, names, ast.Assign([ast.Name(best, ast.Store())], chosen)))
        return ast.Name(best, ast.Load())

    def _begin(self, best: str, first: ast.expr) -> None:
        self._begins.append(ast.Assign([ast.Name(best, ast.Store())], first))
        self.before.append(self._begins[-1])

    def _loop_name(self) -> str:
        return self._program.parameters.fresh("along")


class _AtStarts(ast.NodeTransformer):
    """Puts the first position of each loop in the place of its variable."""

    def __init__(self, starts: Mapping[str, ast.expr]) -> None:
        self._starts = starts

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return copy_of(self._starts.get(node.id, node))


def _number(axes: Sequence[Axis], names: Sequence[str]) -> ast.expr:
    """The number of an element, counted row by row."""
    number: ast.expr | None = None
    for axis, name in zip(axes, names, strict=True):
        place = matching_position(Axis(ast.Constant(0), axis.length, 1), axis, name)
        row = None if number is None else ast.BinOp(number, ast.Mult(), axis.length)
        number = place if row is None else ast.BinOp(row, ast.Add(), place)
    assert number is not None
    return number


def _first(region: Region, axis: Axis) -> ast.expr:
    """The first position along ``axis`` of ``region``; where there is none, one outside of the array, which is refused
    when the kernel is called. All of an array without elements needs no such care: any position is outside."""
    extent = extent_of(region.base, region.dimension(axis))
    if constant_of(axis.start) == 0 and ast.unparse(axis.stop) == ast.unparse(extent):
        return axis.start
    order = ast.Lt() if axis.step > 0 else ast.Gt()
    return ast.IfExp(ast.Compare(axis.start, [order], [axis.stop]), axis.start, extent)

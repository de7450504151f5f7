"""One element of what is computed by elements: the matching element of each array in it, and sums behind loops."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from polyviz.frontend.elementwise import Rolled, Triangle, elementwise_operands, placed_by
from polyviz.frontend.gathered import Gathered, Gatherer, listed
from polyviz.frontend.generated import generated
from polyviz.frontend.masks import is_mask
from polyviz.frontend.parts import names_in
from polyviz.frontend.region_reader import RegionReader
from polyviz.frontend.regions import Axis, Region, is_part, matching_position
from polyviz.frontend.sums import Places, Shapes, SumReader
from polyviz.frontend.visited import located
from polyviz.model.expression import Constant

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyviz.frontend.expressions import ExpressionReader
    from polyviz.frontend.generated import Generated
    from polyviz.frontend.program import Program
    from polyviz.model.expression import Expression


class ElementReader:
    """Finds elements; ``matched`` tells whether lengths were compared, and ``masks`` are arrays of truth values."""

    def __init__(self, program: Program, expressions: ExpressionReader) -> None:
        self._program = program
        self._expressions = expressions
        self._regions = RegionReader(program, expressions)
        known = (self.at, self._operands, self._generated, self.is_mask)
        shapes = Shapes(self.region, self._regions.check_length, *known, self.gathered, self._walked)
        self.sums = SumReader(program, expressions, shapes)
        self._places = Gatherer(program, expressions.canonical, self.sums.axes, self._regions.read)
        self.matched = False
        self.masks = program.symbols.masks

    def region(self, node: ast.expr) -> Region | None:
        """The part of an array that ``node`` means; None where arrays of places choose elements."""
        return self._regions.read(node) if self._places.of(node) is None else None

    def gathered(self, node: ast.expr) -> Gathered | None:
        """The elements at places that ``node`` means."""
        return self._places.of(node)

    def _walked(self, node: ast.expr) -> Region | None:
        found = self._places.of(node)
        return None if found is None else self._places.walked(found)

    def extents(self, found: Gathered) -> list[Expression] | None:
        """How long the axes of ``found`` are at most, by the arrays that they are of; None where some are computed."""
        regions = [region for one in found.places for region in self.sums.regions_in(one)]
        lengths = [self._extent(axis, regions) for axis in found.along]
        array = self._program.array(found.base.id)
        if array is None or None in lengths:
            return None
        dimensions = [place for place, one in enumerate(found.parts) if isinstance(one, Axis)]
        own = [self._program.extent(array, dimension) for dimension in dimensions]
        return [*own[: found.first], *(one for one in lengths if one is not None), *own[found.first :]]

    def _extent(self, axis: Axis, regions: Sequence[Region]) -> Expression | None:
        """The length of the array that ``axis`` is of, one of those of ``regions``."""
        if axis.is_new:
            return Constant(1)
        for region in regions:
            for other in region.axes:
                if not other.is_new and other.text == axis.text:
                    return self._program.extent(region.array, region.dimension(other))
        return None

    def given(self, name: str, value: ast.expr) -> None:
        """Take notice of a new array ``name`` that is made of ``value``."""
        self.masks = self.masks - {name} | ({name} if self.is_mask(value) else set())
        self._places.given(name, value)

    def is_mask(self, node: ast.expr) -> bool:
        """Whether every element of ``node`` is a truth value."""
        is_one = is_mask(node, self.masks, self._expressions.canonical)
        names = names_in(node) if is_one else set[str]()
        self._program.masks |= names & self._program.symbols.masks
        return is_one

    def at(self, node: ast.expr, target: Region, names: Sequence[str]) -> ast.expr:
        """``node`` for one element of ``target``: every region in it at the matching element."""
        if (found := self._places.of(node)) is not None:
            return ast.copy_location(self.placed(found, node, target, names, ast.Load()), node)
        region = self._regions.read(node) if is_part(node) else None
        if region is not None:
            self.matched = True
            return ast.copy_location(region.at(self._matching(node, region.axes, target, names), ast.Load()), node)
        if (made := self._generated(node)) is not None:
            return located(made.value(self._matching(node, made.axes, target, names)), node)
        added = self.sums.value(node, Places(target.axes, tuple(names)))
        if added is not None:
            self.matched = True
            return added
        placed = placed_by(node, self._expressions.canonical)
        if placed is not None:
            return self._moved(placed, node, target, names)
        operands = self._operands(node)
        return self._computed(node, operands, [self.at(part, target, names) for part in operands])

    def _computed(self, node: ast.expr, operands: Sequence[ast.expr], elements: list[ast.expr]) -> ast.expr:
        """``node`` with ``elements`` in the place of its ``operands``."""
        match node:
            case ast.BinOp(op=operator):
                element: ast.expr = ast.BinOp(elements[0], operator, elements[1])
            case ast.UnaryOp(op=unary):
                element = ast.UnaryOp(unary, elements[0])
            case ast.Compare(ops=operators):
                element = ast.Compare(elements[0], operators, elements[1:])
            case ast.Call(func=function, keywords=keywords) if operands:
                if self._expressions.canonical(function) == "numpy.where":
                    element = ast.IfExp(*elements)
                elif self._expressions.canonical(function) == "numpy.copy":
                    element = elements[0]
                elif isinstance(function, ast.Attribute) and operands[0] is function.value:
                    element = ast.Call(node.args[0], elements, []) if node.args else elements[0]  # of a type, or a copy
                else:
                    element = ast.Call(function, elements, keywords)
            case _:
                return node
        return ast.copy_location(element, node)

    def _moved(self, by: Rolled | Triangle, node: ast.expr, target: Region, names: Sequence[str]) -> ast.expr:
        """One element of what is rolled and such; ``node`` as it is where its place is not known, to be refused."""
        count, already = len(self.sums.shape(by.operand)), len(self.sums.before)
        element = self.at(by.operand, target, names)
        found = by.element(element, count, target.axes, names)
        # What adds would have to add for the other place.
        return node if found is None or len(self.sums.before) > already else ast.copy_location(found, node)

    def _operands(self, node: ast.expr) -> list[ast.expr]:
        found = self._places.of(node)
        return elementwise_operands(node, self._expressions.canonical) if found is None else found.places

    def _generated(self, node: ast.expr) -> Generated | None:
        return generated(node, self._expressions)

    def placed(
        self,
        found: Gathered,
        node: ast.expr,
        target: Region,
        names: Sequence[str],
        context: ast.expr_context,
    ) -> ast.Subscript:
        """The element at places that belongs to one element of ``target``."""
        skipped = len(target.axes) - len(found.axes)
        if skipped < 0:
            raise self._too_many(node, found.axes, target)
        axes, own = target.axes[skipped:], list(names[skipped:])
        first, last = found.first, found.last
        inside, across = (
            replace(target, parts=parts, is_turned=False)
            for parts in (axes[first:last], (*axes[:first], *axes[last:]))
        )
        self.matched = True
        others = iter(self._matching(node, found.slices, across, [*own[:first], *own[last:]]))
        indices = [
            next(others) if isinstance(part, Axis) else self.at(part, inside, own[first:last]) for part in found.parts
        ]
        return ast.Subscript(ast.Name(found.base.id, ast.Load()), listed(indices), context)

    def _too_many(self, node: ast.expr, axes: Sequence[Axis], target: Region) -> Exception:
        return self._program.source.error(
            node,
            f"This has {len(axes)} dimensions, and what it is assigned to has {len(target.axes)}.",
            hint="Write the loops, with one subscript per dimension.",
        )

    def _matching(self, node: ast.expr, axes: Sequence[Axis], target: Region, names: Sequence[str]) -> list[ast.expr]:
        """The positions along ``axes`` for the iterators of ``target``; the last axes belong together."""
        skipped = len(target.axes) - len(axes)
        if skipped < 0:
            raise self._too_many(node, axes, target)
        pairs = list(zip(axes, target.axes[skipped:], names[skipped:], strict=True))
        for axis, other, _ in pairs:
            if not axis.is_repeated:
                self._regions.check_length(node, axis, other)
        return [axis.start if axis.is_single else matching_position(axis, other, name) for axis, other, name in pairs]


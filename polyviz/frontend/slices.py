"""Assignments to rows, slices and whole arrays become the loops over elements that they stand for.

``A[i, :] = 0.0`` is read as ``for j in range(0, A.shape[1], 1): A[i, j] = 0.0``. NumPy computes all values before it
stores the first: where the right side reads other elements of the array that is assigned, the values go through a
temporary array.
"""

from __future__ import annotations

import ast
import copy
from typing import TYPE_CHECKING, cast

import islpy as isl

from polyviz.frontend.affine import AffineReader, NotAffine
from polyviz.frontend.functions import PURE
from polyviz.frontend.regions import (
    Axis,
    Region,
    call_of,
    constant_of,
    difference,
    extent_of,
    filled_up,
    matching_position,
    walks,
)
from polyviz.frontend.sums import Places, Shapes, SumReader
from polyviz.frontend.symbols import ArrayDraft
from polyviz.frontend.usage import subscript_chain
from polyviz.model.scop import Creation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyviz.frontend.expressions import ExpressionReader
    from polyviz.frontend.program import Program

_NOTE = (
    "read as loops over elements: the slices are taken to lie inside their arrays and to be equally long, and whole "
    "numbers are computed in 64 bits."
)
_NAMES = ("i", "j", "k", "l", "m", "p", "q", "r")


class SliceReader:
    """Turns one assignment to several elements into loops, written as the user could have written them."""

    def __init__(self, program: Program, expressions: ExpressionReader) -> None:
        self._program = program
        self._expressions = expressions
        self._iterators: list[str] = []
        self._sums = SumReader(program, expressions, Shapes(self._region, self._check_length, self._elementwise))
        self._matched = False
        self._lines: list[int] = []

    def loops(self, node: ast.stmt) -> list[ast.stmt] | None:
        """The loops for an assignment to a region of an array; None for every other statement.

        Raises an ``ExtractionError`` where the shapes cannot fit, or the target depends on what is assigned.
        """
        match node:
            case ast.Assign(targets=[ast.Subscript() as target], value=value):
                operator = None
            case ast.AugAssign(target=ast.Subscript() | ast.Name() as target, op=operator, value=value):
                pass
            case ast.Assign(targets=[ast.Name()]):
                return self.behind_sums(node, node.value)
            case ast.Assign(targets=[_, _, *_] as targets) if any(map(self._has_axes, targets)):
                raise self._program.source.error(
                    node,
                    "Elements of several arrays are assigned at once.",
                    hint="Write one assignment per line.",
                )
            case _:
                return None
        region = self._region(target)
        if region is None:
            return self.behind_sums(node, value)
        self._check_target(target, region)
        names = [self._iterator(position) for position in range(len(region.axes))]
        element = region.at([ast.Name(name, ast.Load()) for name in names], ast.Store())
        self._matched, self._sums.before = False, []
        source = self._elementwise(value, region, names)
        if self._matched:
            self._note(node)
        return [
            _located(statement, node)
            for statement in self._statements(region, names, element, operator, source, target)
        ]

    def behind_sums(self, node: ast.Assign | ast.AugAssign | ast.Return, value: ast.expr) -> list[ast.stmt] | None:
        """``node`` behind the loops that add up what its ``value`` asks for; None where it asks for no sum."""
        self._sums.before, self._matched = [], False
        added = cast("ast.expr", _Sums(self._sums).visit(copy.deepcopy(value)))
        before, self._sums.before = self._sums.before, []
        if not before:
            return None
        self._note(node)
        with_sum = copy.copy(node)
        with_sum.value = added
        return [_located(statement, node) for statement in (*before, with_sum)]

    def _has_axes(self, target: ast.expr) -> bool:
        region = self._region(target) if isinstance(target, ast.Subscript) else None
        return region is not None

    def _statements(
        self,
        region: Region,
        names: Sequence[str],
        element: ast.Subscript,
        operator: ast.operator | None,
        value: ast.expr,
        target: ast.expr,
    ) -> list[ast.stmt]:
        before, self._sums.before = self._sums.before, []
        if not any(self._reads_others(part, region, element) for part in (value, *before)):
            store = (
                ast.Assign([element], value) if operator is None else ast.AugAssign(element, operator, value)
            )
            return [_nested(region.axes, names, *before, store)]
        temporary = self._temporary(region, target)
        index = [ast.Name(name, ast.Load()) for name in names]
        kept = ast.Subscript(
            ast.Name(temporary, ast.Load()),
            index[0] if len(index) == 1 else ast.Tuple(list(index), ast.Load()),
            ast.Store(),
        )
        if operator is not None:
            value = ast.BinOp(_loaded(element), operator, value)
        return [
            _nested(region.axes, names, *before, ast.Assign([kept], value)),
            _nested(region.axes, names, ast.Assign([element], _loaded(kept))),
        ]

    def _region(self, node: ast.expr) -> Region | None:
        """The region that ``node`` means; None for what is no array, a single element, or subscripted otherwise."""
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
        parts = [self._part(base, axis, index) for axis, index in enumerate(filled)]
        return Region(array, base, tuple(parts))

    def _part(self, base: ast.Name, axis: int, index: ast.expr) -> ast.expr | Axis:
        if not isinstance(index, ast.Slice):
            return index
        step = self._step(index)
        extent = extent_of(base, axis)
        for bound in (index.lower, index.upper):
            if bound is not None and constant_of(bound) is None:
                self._assume_from_start(bound, base, axis)
        if step > 0:
            start = self._from_end(index.lower, extent, ast.Constant(0), clipped=True)
            return Axis(start, self._from_end(index.upper, extent, extent), step)
        start = self._from_end(index.lower, extent, difference(extent, ast.Constant(1)))
        return Axis(start, self._from_end(index.upper, extent, ast.Constant(-1)), step)

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
        constant = constant_of(bound)
        if constant is None or constant >= 0:
            return bound
        position = difference(extent, ast.Constant(-constant))
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

    def _check_target(self, target: ast.expr, region: Region) -> None:
        indices = [part for part in region.parts if isinstance(part, ast.expr)]
        bounds = [bound for axis in region.axes for bound in (axis.start, axis.stop)]
        if any(self._mentions(index, region.array) for index in (*indices, *bounds)):
            raise self._program.source.error(
                target,
                f"Which elements of `{region.base.id}` are assigned depends on elements of `{region.base.id}`.",
                reason="NumPy finds them before it assigns the first one.",
                hint="Keep the position in a variable first.",
            )

    def _reads_others(self, value: ast.AST, region: Region, element: ast.Subscript) -> bool:
        """Whether ``value`` reads another element of the array than the one that it is assigned to."""
        return self._mentions(value, region.array, except_at=ast.unparse(element.slice))

    def _mentions(self, node: ast.AST, array: ArrayDraft, except_at: str | None = None) -> bool:
        """Whether ``node`` reads ``array``, its shape and the element at the subscript ``except_at`` aside."""
        aside = {
            id(part.value)
            for part in ast.walk(node)
            if (isinstance(part, ast.Attribute) and part.attr == "shape")
            or (isinstance(part, ast.Subscript) and ast.unparse(part.slice) == except_at)
        }
        return any(
            isinstance(part, ast.Name) and id(part) not in aside and self._is(part.id, array)
            for part in ast.walk(node)
        )

    def _is(self, name: str, array: ArrayDraft) -> bool:
        program = self._program
        return program.arrays.get(program.aliases.get(name, name)) is array

    def _temporary(self, region: Region, target: ast.expr) -> str:
        """A local array for the values, with the extents of the axes of the whole array."""
        program, array = self._program, region.array
        walked = [axis for axis, part in enumerate(region.parts) if isinstance(part, Axis)]
        extents = [program.extent(array, axis) for axis in walked]
        name = program.parameters.fresh(f"{array.name}_values")
        span = program.source.span(target)
        creation = Creation("empty", None, array.name, None, span)
        program.arrays[name] = ArrayDraft(name, len(walked), "local", list(extents), creation, span)
        program.environment.bind(name, None)
        return name

    def _elementwise(self, node: ast.expr, target: Region, names: Sequence[str]) -> ast.expr:
        """``node`` for one element of ``target``: every region in it at the matching element."""
        region = self._region(node) if isinstance(node, ast.Name | ast.Subscript) else None
        if region is not None:
            return ast.copy_location(self._matching(node, region, target, names), node)
        added = self._sums.value(node, Places(target.axes, tuple(names)))
        if added is not None:
            self._matched = True
            return added
        if isinstance(node, ast.BinOp):
            left, right = (self._elementwise(part, target, names) for part in (node.left, node.right))
            return ast.copy_location(ast.BinOp(left, node.op, right), node)
        if isinstance(node, ast.UnaryOp):
            return ast.copy_location(
                ast.UnaryOp(node.op, self._elementwise(node.operand, target, names)), node
            )
        if isinstance(node, ast.Call) and self._is_elementwise(node):
            arguments = [self._elementwise(part, target, names) for part in node.args]
            return ast.copy_location(ast.Call(node.func, arguments, node.keywords), node)
        return node

    def _is_elementwise(self, node: ast.Call) -> bool:
        canonical = self._expressions.canonical(node.func) or ""
        return canonical in (*PURE, "numpy.clip") and (canonical.startswith("numpy.") or canonical == "abs")

    def _matching(
        self, node: ast.expr, region: Region, target: Region, names: Sequence[str]
    ) -> ast.Subscript:
        """The element of ``region`` for the iterators of ``target``; the last axes belong together."""
        self._matched = True
        skipped = len(target.axes) - len(region.axes)
        if skipped < 0:
            raise self._program.source.error(
                node,
                f"This has {len(region.axes)} dimensions, and what it is assigned to has {len(target.axes)}.",
                hint="Write the loops, with one subscript per dimension.",
            )
        pairs = list(zip(region.axes, target.axes[skipped:], names[skipped:], strict=True))
        for axis, other, _ in pairs:
            self._check_length(node, axis, other)
        return region.at([matching_position(axis, other, name) for axis, other, name in pairs], ast.Load())

    def _check_length(self, node: ast.expr, axis: Axis, other: Axis) -> None:
        if ast.unparse(axis.length) == ast.unparse(other.length):
            return
        reader = AffineReader(tuple(self._program.iterators), self._program.parameters)
        lengths = [ast.fix_missing_locations(ast.copy_location(part.length, node)) for part in (axis, other)]
        try:
            first, second = (
                _at_least_zero(reader.value(self._expressions.read(length))) for length in lengths
            )
        except NotAffine:
            return
        equal = first.eq_set(second)
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

    def _note(self, node: ast.stmt) -> None:
        """Say once what is taken for granted, for all lines so far."""
        notes = self._program.notes
        notes[:] = [note for note in notes if not note.endswith(_NOTE)]
        self._lines = sorted({*self._lines, node.lineno})
        *first, last = map(str, self._lines)
        lines = f"Lines {', '.join(first)} and {last} are" if first else f"Line {last} is"
        notes.append(f"{lines} {_NOTE}")

    def _iterator(self, position: int) -> str:
        """A name for the loop along an axis; no other loop of ours is around, so that all statements share them."""
        while position >= len(self._iterators):
            taken = {*self._program.usage.names, *self._iterators, *self._program.arrays}
            free = [name for name in _NAMES if name not in taken]
            self._iterators.append(free[0] if free else self._program.parameters.fresh(_NAMES[0]))
        return self._iterators[position]


class _Sums(ast.NodeTransformer):
    """Puts names in the place of sums."""

    def __init__(self, reader: SumReader) -> None:
        self._reader = reader

    def visit(self, node: ast.AST) -> ast.AST:
        added = self._reader.value(node, Places()) if isinstance(node, ast.expr) else None
        return self.generic_visit(node) if added is None else added


def _nested(axes: Sequence[Axis], names: Sequence[str], *body: ast.stmt) -> ast.stmt:
    block = list(body)
    for axis, name in reversed(list(zip(axes, names, strict=True))):
        bounds = [axis.start, axis.stop, ast.Constant(axis.step)]
        block = [ast.For(ast.Name(name, ast.Store()), call_of("range", *bounds), block, [])]
    return block[0]


def _loaded(element: ast.Subscript) -> ast.Subscript:
    return ast.Subscript(element.value, element.slice, ast.Load())


def _located(statement: ast.stmt, node: ast.stmt) -> ast.stmt:
    """``statement`` at the place of ``node``, where its parts do not have a place of their own."""
    for part in ast.walk(statement):
        if not hasattr(part, "lineno") and isinstance(part, ast.stmt | ast.expr):
            ast.copy_location(part, node)
    return statement


def _at_least_zero(length: isl.PwAff) -> isl.PwAff:
    """The number of elements: none where the bounds of a slice are the wrong way round."""
    return length.max(length.sub(length)).coalesce()

"""Assignments to rows, slices and whole arrays become the loops over elements that they stand for.

``A[i, :] = 0.0`` is read as ``for j in range(0, A.shape[1], 1): A[i, j] = 0.0``. NumPy computes all values before it
stores the first: where the right side reads other elements of the array that is assigned, the values go through a
temporary array.
"""

from __future__ import annotations

import ast
import copy
from dataclasses import replace
from typing import TYPE_CHECKING

from polyviz.frontend.apart import apart, may_be_computed
from polyviz.frontend.array_parts import listed_indices
from polyviz.frontend.creation import CreationReader
from polyviz.frontend.elements import ElementReader
from polyviz.frontend.gathered import listed
from polyviz.frontend.masks import Chosen, mask_along, unmasked
from polyviz.frontend.parts import parts_of
from polyviz.frontend.rebound import is_rebound, rebound_note
from polyviz.frontend.refuse import CHOSEN_VALUES, COMPUTED_PLACES
from polyviz.frontend.regions import (
    Axis,
    Region,
    is_harmless,
    is_part,
    loaded,
    nested,
    not_negative,
)
from polyviz.frontend.several_targets import each_alone
from polyviz.frontend.stepped import stepped_store
from polyviz.frontend.symbols import ArrayDraft
from polyviz.frontend.visited import located
from polyviz.model.expression import Constant, Expression
from polyviz.model.scop import Creation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyviz.frontend.expressions import ExpressionReader
    from polyviz.frontend.gathered import Gathered
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
        self._creations = CreationReader(program, expressions)
        self._elements = ElementReader(program, expressions)
        self._sums = self._elements.sums
        self._lines: list[int] = []

    def loops(self, node: ast.stmt) -> list[ast.stmt] | None:
        """The loops for an assignment to a region of an array; None for every other statement.

        Raises an ``ExtractionError`` where the shapes cannot fit, or the target depends on what is assigned.
        """
        if (stepped := stepped_store(node, self._program.parameters.fresh, self._sums.shape)) is not None:
            return [located(stepped, node)]
        match node:
            case ast.Assign(targets=[ast.Subscript() as target], value=value):
                operator = None
            case ast.AugAssign(target=ast.Subscript() | ast.Name() as target, op=operator, value=value):
                pass
            case ast.Assign(targets=[ast.Name() as target], value=value):
                return self._new_array(node, target, value) or self.behind_sums(node, value)
            case ast.If(test=test) if may_be_computed(test):
                return self.behind_sums(node, test)
            case ast.Assign(targets=[_, _, *_] | [ast.Tuple()], value=value):
                each = each_alone(node, self._has_axes, self._program.source)
                return self.behind_sums(node, value) if each is None else [located(one, node) for one in each]
            case _:
                return None
        if isinstance(target, ast.Subscript) and (chosen := self._masked(target)) is not None:
            return self._where(node, chosen, operator, value)
        if (placed := self._elements.gathered(target)) is not None:
            return self._at_places(node, placed, target, operator, value)
        region = self._elements.region(target)
        if region is None:
            return self.behind_sums(node, value)
        self._check_target(target, region)
        return self._stored(node, target, region, operator, value)

    def _stored(
        self, node: ast.stmt, target: ast.expr, region: Region, operator: ast.operator | None, value: ast.expr
    ) -> list[ast.stmt]:
        """The loops that store the elements of ``value`` in ``region``."""
        names = [self._iterator(position) for position in range(len(region.axes))]
        element = region.at([ast.Name(name, ast.Load()) for name in names], ast.Store())
        self._elements.matched, self._sums.before = False, []
        if is_rebound(target):
            self._check_rebound(node, target, region, value)
        source = self._elements.at(value, region, names)
        if self._elements.matched:
            self._note(node)
        return [
            located(statement, node)
            for statement in self._statements(region, names, element, operator, source, target)
        ]

    def _masked(self, target: ast.Subscript) -> Chosen | None:
        """The elements that a mask chooses, of an array or along one dimension; None for anything else."""
        found = mask_along(target, self._elements.is_mask)
        if found is None or not (isinstance(target.value, ast.Name) or (found.is_alone and is_part(target.value))):
            return None
        region = self._elements.region(found.target)
        depth = 0 if region is None else len(self._sums.shape(found.mask))
        if region is None or not 0 < depth <= (len(region.axes) if found.is_alone else 1):
            return None
        return Chosen(region, found.mask, found.place, depth)

    def _where(
        self, node: ast.stmt, elements: Chosen, operator: ast.operator | None, value: ast.expr
    ) -> list[ast.stmt]:
        """The loops that store ``value`` in the elements, or rows, that the mask chooses."""
        whole, mask, (first, last) = elements.region, elements.mask, elements.axes
        names = [self._iterator(position) for position in range(len(whole.axes))]
        element = whole.at([ast.Name(name, ast.Load()) for name in names], ast.Store())
        self._sums.before = []
        along = replace(whole, parts=whole.axes[first:last], is_turned=False)
        chosen = self._elements.at(mask, along, names[first:last])
        source = self._elements.at(unmasked(value, mask, self._sums.is_sum), whole, names)
        added, self._sums.before = self._sums.before, []
        once, before = apart(added, set(names))
        others = any(self._reads_others(part, whole, element) for part in (chosen, source, *before))
        if others or not elements.fits(value, self._sums.shape, self._sums.is_sum):
            raise self._program.source.refuse(node, CHOSEN_VALUES)
        self._note(node)
        store = ast.Assign([element], source) if operator is None else ast.AugAssign(element, operator, source)
        choice = ast.If(chosen, [store], [])
        return [located(one, node) for one in (*once, nested(whole.axes, names, *before, choice))]

    def _at_places(
        self, node: ast.stmt, placed: Gathered, target: ast.expr, operator: ast.operator | None, value: ast.expr
    ) -> list[ast.stmt]:
        """The loops that store ``value`` in the elements at places, one after the other.

        A place may be there twice: what is computed of the array is kept before the first element is stored.
        """
        array = self._array(placed.base.id)
        region = Region(array, placed.base, placed.axes)
        names = [self._iterator(position) for position in range(len(placed.axes))]
        self._sums.before = []
        element = self._elements.placed(placed, target, region, names, ast.Store())
        source = self._elements.at(value, region, names)
        self._note(node)
        added, self._sums.before = self._sums.before, []
        once, before = apart(added, set(names))
        self._check_target(target, replace(region, parts=(*listed_indices(element.slice), *placed.axes)))
        if operator is None and not any(self._mentions(part, array) for part in (source, *before)):
            lines = [*once, nested(placed.axes, names, *before, ast.Assign([element], source))]
            return [located(line, node) for line in lines]
        extents = self._elements.extents(placed)
        if extents is None:
            raise self._program.source.refuse(target, COMPUTED_PLACES)
        kept = _kept(self._temporary(array, extents, target), names)
        source = source if operator is None else ast.BinOp(loaded(element), operator, source)
        lines = [*once, *_twice(placed.axes, names, before, element, kept, source)]
        return [located(line, node) for line in lines]

    def _array(self, name: str) -> ArrayDraft:
        """The array that is called ``name`` here."""
        array = self._program.array(name)
        assert array is not None
        return array

    def _check_rebound(self, node: ast.stmt, target: ast.expr, region: Region, value: ast.expr) -> None:
        """A new value of a name has the dimensions of the old one; its type is compared when it is known."""
        array, count = region.array, len(self._sums.shape(value))
        if count != array.rank:
            raise self._program.source.error(
                node,
                f"The name of an array of {_dimensions(array.rank)} is given something else in a loop or condition: "
                f"{f'an array of {_dimensions(count)}' if count else 'a number, or what is not computed by elements'}.",
                reason="What it stands for afterwards would depend on what ran.",
                hint="Use another name for the new value, or set all elements: `A[...] = 0.0`.",
            )
        note = rebound_note(node, target, array.name)
        self._program.notes += [] if note in self._program.notes else [note]
        array.rebound = (*array.rebound, self._program.source.span(node))

    def returned(self, node: ast.Return) -> list[ast.stmt]:
        """``node`` behind the lines that make the arrays which it returns without a name: ``return A + 1.0``."""
        if node.value is None:
            return [node]
        is_tuple = isinstance(node.value, ast.Tuple)
        values = list(node.value.elts) if isinstance(node.value, ast.Tuple) else [node.value]
        before: list[ast.stmt] = []
        for place, value in enumerate(values):
            is_view = not isinstance(value, ast.Name) and self._is_view(value) and bool(self._sums.shape(value))
            if is_view:
                self._program.notes.append(
                    f"Line {value.lineno} returns an array of its own, with the elements that the view of NumPy shows."
                )
            if is_view or self._makes_array(value):
                name = self._program.parameters.fresh("result")
                whole = ast.Call(ast.Attribute(value, "copy", ast.Load()), [], []) if is_view else value
                before.append(located(ast.Assign([ast.Name(name, ast.Store())], whole), value))
                values[place] = ast.copy_location(ast.Name(name, ast.Load()), value)
        last = copy.copy(node)
        last.value = ast.copy_location(ast.Tuple(values, ast.Load()), node) if is_tuple else values[0]
        return [*before, last]

    def _makes_array(self, value: ast.expr) -> bool:
        """Whether ``value`` computes elements; a name or a slice is the array itself, or a view of it."""
        return not self._is_view(value) and bool(self._sums.shape(value))

    def _is_view(self, value: ast.expr) -> bool:
        return is_part(value) and self._elements.gathered(value) is None

    def _new_array(self, node: ast.Assign, target: ast.Name, value: ast.expr) -> list[ast.stmt] | None:
        """The loops that fill a new array with the elements of ``value``; None where that is no array."""
        if target.id in self._program.arrays or self._creations.is_creation(value) or not self._makes_array(value):
            return None
        lengths = [located(length, value) for length in self._sums.shape(value)]
        extents = [located(not_negative(length), value) for length in lengths]
        draft = self._creations.of_values(node, target, extents)
        self._elements.given(target.id, value)
        axes = tuple(Axis(ast.Constant(0), length, 1) for length in lengths)
        return self._stored(node, target, Region(draft, target, axes), None, value)

    def behind_sums(
        self, node: ast.Assign | ast.AugAssign | ast.Return | ast.If, value: ast.expr
    ) -> list[ast.stmt] | None:
        """``node`` behind the loops that add up what its ``value`` asks for; None where it asks for no sum."""
        self._sums.before, self._elements.matched = [], False
        added = self._sums.named(value)
        before, self._sums.before = self._sums.before, []
        if not before:
            return None
        self._note(node)
        with_sum = copy.copy(node)
        setattr(with_sum, "test" if isinstance(node, ast.If) else "value", added)
        return [located(statement, node) for statement in (*before, with_sum)]

    def _has_axes(self, target: ast.expr) -> bool:
        return isinstance(target, ast.Subscript) and self._elements.region(target) is not None

    def _statements(
        self,
        region: Region,
        names: Sequence[str],
        element: ast.Subscript,
        operator: ast.operator | None,
        value: ast.expr,
        target: ast.expr,
    ) -> list[ast.stmt]:
        added, self._sums.before = self._sums.before, []
        once, before = apart(added, set(names))
        if not any(self._reads_others(part, region, element) for part in (value, *before)):
            store = (
                ast.Assign([element], value) if operator is None else ast.AugAssign(element, operator, value)
            )
            return [*once, nested(region.axes, names, *before, store)]
        extents = [Constant(1) if one.is_new else self._extent(region, one) for one in region.axes]
        kept = _kept(self._temporary(region.array, extents, target), names)
        source = value if operator is None else ast.BinOp(loaded(element), operator, value)
        return [*once, *_twice(region.axes, names, before, element, kept, source)]

    def _extent(self, region: Region, axis: Axis) -> Expression:
        return self._program.extent(region.array, region.dimension(axis))

    def _check_target(self, target: ast.expr, region: Region) -> None:
        indices = [part for part in region.parts if isinstance(part, ast.expr)]
        bounds = [bound for axis in region.axes for bound in (axis.start, axis.stop)]
        if any(self._mentions(index, region.array) for index in (*indices, *bounds)):
            raise self._program.source.error(
                target,
                f"Which elements of `{region.base.id}` are assigned depends on elements of `{region.base.id}`.",
                reason="NumPy finds them before it assigns the first one.",
                hint="Keep the position in a variable first, or the places in a copy, `at = idx.copy()`.",
            )

    def _reads_others(self, value: ast.AST, region: Region, element: ast.Subscript) -> bool:
        """Whether ``value`` reads another element of the array than the one that it is assigned to."""
        return self._mentions(value, region.array, except_at=element.slice)

    def _mentions(self, node: ast.AST, array: ArrayDraft, except_at: ast.expr | None = None) -> bool:
        """Whether ``node`` reads ``array``, its shape, the element at ``except_at`` and those far from that aside."""
        aside = {
            id(part.value)
            for part in parts_of(node)
            if (isinstance(part, ast.Attribute) and part.attr in ("shape", "size"))
            or (except_at and isinstance(part, ast.Subscript) and is_harmless(part.slice, except_at))
        }
        calls = (part for part in parts_of(node) if isinstance(part, ast.Call))
        aside |= {id(part.args[0]) for part in calls if ast.unparse(part.func) == "len" and part.args}
        return any(
            isinstance(part, ast.Name) and id(part) not in aside and self._is(part.id, array)
            for part in parts_of(node)
        )

    def _is(self, name: str, array: ArrayDraft) -> bool:
        program = self._program
        return program.arrays.get(program.aliases.get(name, name)) is array

    def _temporary(self, array: ArrayDraft, extents: Sequence[Expression], target: ast.expr) -> str:
        """A local array of these ``extents`` for what is stored in ``target``, a part of ``array``."""
        program = self._program
        name = program.parameters.fresh(f"{array.name}_values")
        span = program.source.span(target)
        is_new = is_rebound(target)
        creation = Creation("empty", None, None if is_new else array.name, None, span, of_values=is_new)
        program.arrays[name] = ArrayDraft(name, len(extents), "local", list(extents), creation, span)
        program.environment.bind(name, None)
        return name

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


def _kept(temporary: str, names: Sequence[str]) -> ast.Subscript:
    """The element of a ``temporary`` array for the loops with these ``names``."""
    index: list[ast.expr] = [ast.Name(name, ast.Load()) for name in names]
    return ast.Subscript(ast.Name(temporary, ast.Load()), listed(index), ast.Store())


def _twice(
    axes: Sequence[Axis],
    names: Sequence[str],
    before: Sequence[ast.stmt],
    element: ast.Subscript,
    kept: ast.Subscript,
    value: ast.expr,
) -> list[ast.stmt]:
    """The loops that keep all values, and those that store them."""
    return [
        nested(axes, names, *before, ast.Assign([kept], value)),
        nested(axes, names, ast.Assign([element], loaded(kept))),
    ]


def _dimensions(rank: int) -> str:
    return f"{rank} dimension{'s' * (rank != 1)}"

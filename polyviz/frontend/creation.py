"""Arrays that are made inside the program before its loops: ``np.zeros((n, m), dtype=np.float32)`` and its kin."""

from __future__ import annotations

import ast
import re
from math import prod
from typing import TYPE_CHECKING

import islpy as isl
import numpy as np

from polyviz.errors import NotAffineError
from polyviz.frontend.affine import AffineReader, NotAffine
from polyviz.frontend.functions import CREATORS, CREATORS_LIKE, MAKERS
from polyviz.frontend.integers import constant_integer, is_integral
from polyviz.frontend.literals import ELEMENTS, LISTED, NUMBERS, PARTS, literal_table
from polyviz.frontend.new_arrays import is_everything
from polyviz.frontend.regions import constant_of, filled_up
from polyviz.frontend.symbols import ArrayDraft
from polyviz.frontend.usage import subscript_chain
from polyviz.model.expression import Constant, Element, Expression, walk
from polyviz.model.scop import Creation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyviz.errors import ExtractionError
    from polyviz.frontend.expressions import ExpressionReader
    from polyviz.frontend.literals import Table
    from polyviz.frontend.program import Program

_BUILTIN_DTYPES = {"float": "float64", "int": "int64", "bool": "bool", "complex": "complex128"}

_IN_FUNCTION = "it may be made in a loop where it is as large each time, and used only below, in the same block."
_IN_CELL = "or put the loops into a function, where nobody asks for it afterwards."


class CreationReader:
    """Reads one assignment ``name = np.zeros(...)``."""

    def __init__(self, program: Program, expressions: ExpressionReader) -> None:
        self._program = program
        self._expressions = expressions

    def is_creation(self, node: ast.expr) -> bool:
        """Whether ``node`` makes an array."""
        if not isinstance(node, ast.Call):
            return False
        name = self._expressions.canonical(node.func)
        return name in MAKERS or self._written_down(node) is not None

    def read(self, statement: ast.stmt, target: ast.expr, call: ast.Call) -> None:
        """Enter the array; raises when it is made in a loop or twice, or its extents are not known at the start."""
        name = self._checked_name(statement, target, of_block=_bound(target) in self._program.source.after_returns)
        canonical = self._expressions.canonical(call.func) or ""
        if (numbers := self._written_down(call)) is not None:
            self._enter_numbers(name, statement, target, call, numbers)
            return
        values = self._values(call, canonical)
        if canonical in CREATORS_LIKE and isinstance(values["shape"], ast.Subscript):
            extents, like = self._row(values["shape"])
            function = CREATORS_LIKE[canonical]
        elif canonical in CREATORS_LIKE:
            pattern = self._expressions.shape_of(values["shape"])
            extents = [self._program.extent(pattern, axis) for axis in range(pattern.rank)]
            function, like = CREATORS_LIKE[canonical], pattern.name
        else:
            extents = self._extents(values["shape"])
            function, like = CREATORS[canonical], None
        stored = _stored(values.get("dtype"), extents)
        is_listed = _kind_of(values.get("dtype")) == LISTED
        dtype, dtype_like = self._dtype(None if stored or is_listed else values.get("dtype"))
        creation = Creation(
            function=function,  # type: ignore[arg-type]  # the tables hold only the four creators
            dtype=dtype,
            like=dtype_like or (like if dtype is None else None),
            fill=self._fill(values.get("fill_value")),
            span=self._program.source.span(statement),
            numbers=stored,
            is_listed=is_listed,
        )
        self._program.arrays[name] = ArrayDraft(
            name, len(extents), "local", list(extents), creation, self._program.source.span(target)
        )
        self._program.environment.bind(name, None)

    def _written_down(self, call: ast.Call) -> Table | None:
        """The numbers of ``np.array([[1, 2], [3, 4]])``, which has as many in every row; None for other calls."""
        if self._expressions.canonical(call.func) not in ("numpy.array", "numpy.asarray") or not call.args:
            return None
        table = literal_table(call.args[0])
        is_plain = len(call.args) <= 2 and all(one.arg == "dtype" for one in call.keywords)
        return table if table is not None and is_plain and _extents_of(table) else None

    def _enter_numbers(
        self, name: str, statement: ast.stmt, target: ast.expr, call: ast.Call, numbers: Table
    ) -> None:
        given = [*call.args[1:], *(one.value for one in call.keywords)]
        dtype, like = self._dtype(given[0] if given else None)
        own = None if like else dtype or np.array(numbers).dtype.name
        creation = Creation("array", own, like, None, self._program.source.span(statement), values=numbers)
        extents = [Constant(extent) for extent in _extents_of(numbers)]
        draft = ArrayDraft(name, len(extents), "local", list(extents), creation, self._program.source.span(target))
        self._program.arrays[name] = draft
        self._program.environment.bind(name, None)

    def of_values(self, statement: ast.stmt, target: ast.Name, lengths: Sequence[ast.expr]) -> ArrayDraft:
        """Enter an array of these ``lengths`` that is made of what is stored first; raises as for any other."""
        source = self._program.source
        of_block = target.id in source.block_names | source.after_returns
        name = self._checked_name(statement, target, of_block=of_block)
        creation = Creation("empty", None, None, None, source.span(statement), of_values=True)
        extents = [self._extent(length) for length in lengths]
        draft = ArrayDraft(name, len(extents), "local", list(extents), creation, source.span(target))
        self._program.arrays[name] = draft
        self._program.environment.bind(name, None)
        return draft

    def _checked_name(self, statement: ast.stmt, target: ast.expr, *, of_block: bool = False) -> str:
        source = self._program.source
        if not isinstance(target, ast.Name):
            raise source.error(
                target, "A new array has to be given to one name.", hint="Write `B = np.zeros(...)`."
            )
        if self._program.depth and not of_block:
            raise self._in_loop(statement, target.id)
        if target.id in self._program.arrays or self._program.usage.bindings(target.id) > 1:
            raise source.error(
                statement,
                f"The name `{target.id}` is given to an array and assigned again.",
                reason="One name stands for one array in the whole program.",
                hint="Use a name of its own for each array. `A, B = B, A` may end a time loop, and stand anywhere if "
                "the function makes both of them.",
            )
        return target.id

    def _in_loop(self, statement: ast.stmt, name: str) -> ExtractionError:
        source = self._program.source
        is_written = name in re.findall(r"\w+", source.segment(source.span(statement)))
        what = f"The array `{name}`" if is_written else "An array of the helper that is called here"
        given = "and set its elements where it is made now" if is_written else "and pass it to the helper"
        return source.error(
            statement,
            f"{what} is made inside a loop or condition.",
            reason="Its memory would have to be found anew in every iteration.",
            hint=f"Make it before the loops, {given}; " + (_IN_CELL if source.is_cell else _IN_FUNCTION),
        )

    def _values(self, call: ast.Call, canonical: str) -> dict[str, ast.expr]:
        order = ["shape", "fill_value", "dtype"] if canonical.startswith("numpy.full") else ["shape", "dtype"]
        values = dict(zip(order, call.args, strict=False))
        for keyword in call.keywords:
            values[{"a": "shape", "prototype": "shape"}.get(keyword.arg or "", keyword.arg or "")] = (
                keyword.value
            )
        if "order" in values and ast.unparse(values["order"]) == "'C'":
            del values["order"]
        unknown = sorted(set(values) - set(order))
        if unknown or "shape" not in values or len(call.args) > len(order):
            what = f"the option `{unknown[0]}`" if unknown else "these arguments"
            raise self._program.source.error(
                call,
                f"`{ast.unparse(call.func)}` with {what} is not supported.",
                hint="Give a shape and a dtype.",
            )
        return values

    def _extents(self, shape: ast.expr) -> list[Expression]:
        if isinstance(shape, ast.Attribute) and is_shape(shape):
            pattern = self._expressions.shape_of(shape.value)
            return [self._program.extent(pattern, axis) for axis in range(pattern.rank)]
        if isinstance(shape, ast.Subscript) and isinstance(shape.slice, ast.Slice):
            return self._part_of_shape(shape, shape.slice)
        parts = shape.elts if isinstance(shape, ast.Tuple | ast.List) else [shape]
        if not parts:
            raise self._program.source.error(
                shape, "An array needs at least one dimension.", hint="Use a scalar."
            )
        return [self._extent(part) for part in parts]

    def _part_of_shape(self, node: ast.Subscript, part: ast.Slice) -> list[Expression]:
        """The extents of ``A.shape[1:]`` and its like."""
        bounds = [None if one is None else constant_of(one) for one in (part.lower, part.upper)]
        known = [one is None or constant_of(one) is not None for one in (part.lower, part.upper)]
        if not all(known) or part.step is not None or not is_shape(node.value):
            raise self._program.source.error(
                node,
                f"`{ast.unparse(node)}` is no part of a shape that is known when the program starts.",
                hint="Write `A.shape[1:]` with numbers as bounds, or each extent: `(A.shape[1], A.shape[2])`.",
            )
        whole = self._extents(node.value)[slice(*bounds)]
        if not whole:
            raise self._program.source.error(node, "An array needs at least one dimension.", hint="Use a scalar.")
        return whole

    def _row(self, node: ast.Subscript) -> tuple[list[Expression], str]:
        """The extents of a row or plane ``A[0]``, and the name of the array."""
        base, indices = subscript_chain(node)
        array = self._expressions.shape_of(base)
        indices = tuple(filled_up(indices, array.rank))
        places = [constant_of(one) for one in indices if not is_everything(one)]
        if not indices or len(places) == len(indices) or any(place is None for place in places):
            raise self._program.source.error(
                node,
                f"`{ast.unparse(node)}` is no row or plane of `{array.name}` that an array can be made like.",
                reason="Its subscripts have to be numbers, and leave a dimension.",
                hint="Write the extents, as in `np.zeros(A.shape[1])`.",
            )
        for axis, index in enumerate(indices):
            if (place := constant_of(index)) is not None:
                self._assume_longer(self._program.extent(array, axis), place if place >= 0 else -1 - place)
        return [self._program.extent(array, axis) for axis, one in enumerate(indices) if is_everything(one)], array.name

    def _assume_longer(self, extent: Expression, place: int) -> None:
        """Take for granted that there is an element at ``place``."""
        length = AffineReader((), self._program.parameters).value(extent)
        other = length.sub(length).add_constant_val(isl.Val(place))
        self._program.assumptions.append(length.gt_set(other).params())

    def _extent(self, part: ast.expr) -> Expression:
        value = self._expressions.read(part)
        if is_integral(value) and self._is_size(value):
            return value
        raise self._program.source.error(
            part,
            f"The extent `{ast.unparse(part)}` is not known when the program starts.",
            reason="The size of an array has to follow from integer arguments and shapes.",
            hint="Make the array outside and pass it.",
            kind=NotAffineError,
        )

    def _is_size(self, value: Expression) -> bool:
        try:
            AffineReader((), self._program.parameters).value(value)
        except NotAffine:
            return False
        return True

    def _dtype(self, node: ast.expr | None) -> tuple[str | None, str | None]:
        """The NumPy name of an element type, or the array whose type is taken."""
        if node is None:
            return None, None
        if isinstance(node, ast.Attribute) and node.attr == "dtype":
            return None, self._expressions.shape_of(node.value).name
        text = node.value if isinstance(node, ast.Constant) else self._dtype_name(node)
        try:
            found = np.dtype(str(text))
        except (TypeError, ValueError, SyntaxError):  # what NumPy says of a text depends on its commas
            found = None
        if found is not None and found.kind in "biufc":
            return found.name, None
        raise self._program.source.error(
            node,
            f"`{ast.unparse(node)}` is no element type.",
            hint="Use `np.float64`, `np.float32`, `np.int64` …",
        )

    def _dtype_name(self, node: ast.expr) -> str:
        if isinstance(node, ast.Name) and node.id in _BUILTIN_DTYPES and not self._program.is_local(node.id):
            return _BUILTIN_DTYPES[node.id]
        canonical = self._expressions.canonical(node) or ""
        name = canonical.rpartition(".")[2]
        return "bool" if name == "bool_" else name or ast.unparse(node)

    def _fill(self, node: ast.expr | None) -> Expression | None:
        if node is None:
            return None
        value = self._expressions.read(node)
        assigned = self._program.usage.assigned
        if all(
            not isinstance(part, Element) or (not part.subscripts and part.array not in assigned)
            for part in walk(value)
        ):
            return value
        raise self._program.source.error(
            node,
            "The value that fills the array is computed by the program.",
            reason="The element type of the array would be that of the value.",
            hint="Say which type it has, `np.full(n, x, dtype=np.float64)`, or use `np.empty` and fill it in a loop.",
        )


def _stored(kind: ast.expr | None, extents: Sequence[Expression]) -> int:
    """How many lines store what gives an array its type, where ``kind`` leaves it to them; 0 where it says a type."""
    counts = {NUMBERS: prod(constant_integer(extent) or 0 for extent in extents), ELEMENTS: 1}
    if isinstance(kind, ast.Constant) and kind.kind == PARTS:
        return int(str(kind.value))
    return counts.get(_kind_of(kind), 0)


def _kind_of(node: ast.expr | None) -> str:
    """What is said of a constant beside its value."""
    return (node.kind or "") if isinstance(node, ast.Constant) else ""


def is_shape(node: ast.expr) -> bool:
    """Whether ``node`` is the shape of an array."""
    return isinstance(node, ast.Attribute) and node.attr == "shape"


def _bound(target: ast.expr) -> str:
    return target.id if isinstance(target, ast.Name) else ""


def _extents_of(table: Table) -> list[int]:
    """How many numbers there are along each dimension; none where the rows are not equally long.

    >>> _extents_of(((1, 2, 3), (4, 5, 6)))
    [2, 3]
    >>> _extents_of(((1, 2), 3))
    []
    """
    rows = [_extents_of(one) if isinstance(one, tuple) else None for one in table]
    if any(row != rows[0] or row == [] for row in rows):
        return []
    return [len(table), *(rows[0] or [])]

"""Vectors in rows, ``x.reshape(n, m)``, and all elements of an array in one row, ``A.ravel()`` and ``A.flatten()``.

Where single elements are asked for by a name, they are elements of the vector: ``A[i, j]`` is ``x[i * m + j]``, also
where it is stored. Elsewhere the elements are copied to an array of that shape: nobody can tell, as long as neither
changes. That there are as many elements is asked for at the call.
"""

from __future__ import annotations

import ast
import copy
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, Any

from polyviz.frontend.array_names import bound_by
from polyviz.frontend.flat_loops import changed_names
from polyviz.frontend.own_names import numpy_function
from polyviz.frontend.parts import argument_names, copies_of, copy_of, names_of, parts_of
from polyviz.frontend.ranks import rank_of, ranks_followed, ranks_told
from polyviz.frontend.regions import call_of, constant_of, difference, extent_of
from polyviz.frontend.visited import FreshNames, located, visited

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from polyviz.frontend.names import GlobalNames
    from polyviz.frontend.source import Source


@dataclass(frozen=True, slots=True)
class Reshaped:
    """The vector ``base`` under a ``name``, with the extents ``indices``; ``asked`` has to hold for that."""

    name: str
    base: ast.Name
    indices: tuple[ast.expr, ...]
    asked: ast.expr | None
    is_turned: bool = False

    @property
    def whole(self) -> ast.expr | None:
        """There is no part of the vector that has its shape."""
        return None

    @property
    def rows(self) -> ast.expr | None:
        """Nor one that a loop could run over."""
        return None

    def part(self, given: Sequence[ast.expr], conditions: list[ast.expr]) -> ast.Subscript | None:
        """The element at ``given`` subscripts, counted from the start but for numbers below 0; None for rows."""
        if len(given) != len(self.indices) or any(isinstance(one, ast.Slice) for one in given):
            return None
        places = []
        for index, extent in zip(given, self.indices, strict=True):
            behind = -(constant_of(index) or 0)
            place = difference(extent, ast.Constant(behind)) if behind > 0 else index
            conditions.append(copy_of(ast.Compare(place, [ast.GtE()], [ast.Constant(0)])))
            conditions.append(copy_of(ast.Compare(place, [ast.Lt()], [extent])))
            places.append(place)
        return ast.Subscript(ast.Name(self.base.id, ast.Load()), _number(places, self.indices), ast.Load())

    def extent(self, axis: int, conditions: list[ast.expr]) -> ast.expr | None:
        """How long it is along ``axis``."""
        return copy_of(self.indices[axis]) if 0 <= axis < len(self.indices) else None


def reshaped(name: str, value: ast.expr, rank: int) -> Reshaped | None:
    """What ``value`` is, a vector in rows of which each element has a place; None for anything else.

    ``rank``: the dimensions of the array that it is made of.

    >>> found = reshaped("A", ast.parse("x.reshape(-1, 4)", mode="eval").body, 1)
    >>> [ast.unparse(one) for one in found.indices], ast.unparse(found.asked)
    (['x.shape[0] // 4', '4'], 'x.shape[0] % 4 == 0')
    """
    match value:
        case ast.Call(func=ast.Attribute(value=ast.Name() as base, attr="reshape"), args=args, keywords=[]):
            shape = args[0].elts if len(args) == 1 and isinstance(args[0], ast.Tuple) else args
        case _:
            return None
    open_places = [place for place, one in enumerate(shape) if constant_of(one) == -1]
    known = [one for place, one in enumerate(shape) if place not in open_places]
    if rank != 1 or len(shape) < 2 or len(open_places) > 1 or any(isinstance(one, ast.Starred) for one in shape):
        return None
    size, count = extent_of(base, 0), _product(known)
    if not open_places:
        return Reshaped(name, base, tuple(shape), ast.Compare(size, [ast.Eq()], [count]))
    rest = ast.BinOp(size, ast.Mod(), count)
    extents = list(shape)
    extents[open_places[0]] = ast.BinOp(size, ast.FloorDiv(), count)
    return Reshaped(name, base, tuple(extents), ast.Compare(rest, [ast.Eq()], [ast.Constant(0)]))


def with_columns(source: Source, names: GlobalNames) -> Source:
    """``source`` with a new axis for a computed vector that becomes a column or a row.

    >>> from polyviz.frontend.names import GlobalNames
    >>> from polyviz.frontend.source import read_source
    >>> text = "def f(A: 'float64[:, :]'):\\n return A - A.mean(axis=1).reshape(-1, 1)"
    >>> source = read_source(text, None, None)
    >>> print(ast.unparse(with_columns(source, GlobalNames(source)).body[0]))
    return A - A.mean(axis=1)[:, None]
    """
    if not any(getattr(part, "attr", "") == "reshape" for part in parts_of(*source.body)):
        return source
    return replace(source, body=tuple(visited(_Columns(ranks_followed(source, names), names), source.body)))


class _Columns(ast.NodeTransformer):
    def __init__(self, ranks: Mapping[str, int], names: GlobalNames) -> None:
        self._ranks = ranks
        self._names = names

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        match node:
            case ast.Call(func=ast.Attribute(value=value, attr="reshape"), args=[one, other], keywords=[]):
                is_method = self._names.canonical(node.func) is None
                value, shape = (value, [one, other]) if is_method else (one, getattr(other, "elts", []))
            case ast.Call(func=ast.Attribute(value=value, attr="reshape"), args=[ast.Tuple(elts=shape)], keywords=[]):
                pass
            case _:
                return node
        # What has a name may be meant to be changed through its new shape.
        if isinstance(value, ast.Name) or rank_of(value, self._ranks, self._names) != 1:
            return node
        axes: dict[tuple[int | None, ...], list[ast.expr]] = {
            (-1, 1): [ast.Slice(), ast.Constant(None)],
            (1, -1): [ast.Constant(None), ast.Slice()],
        }
        index = axes.get(tuple(map(constant_of, shape)))
        return node if index is None else located(ast.Subscript(value, ast.Tuple(index, ast.Load()), ast.Load()), node)


def with_reshaped_copies(source: Source, names: GlobalNames) -> Source:
    """``source`` of a function with copies for what is reshaped outside of loops; a cell stays as it is.

    >>> from polyviz.frontend.names import GlobalNames
    >>> from polyviz.frontend.source import read_source
    >>> source = read_source("def f(A, y):\\n v = A.flatten()\\n y[0] = v[3] + A[1, 1]", None, None)
    >>> print(ast.unparse(ast.Module(list(with_reshaped_copies(source, GlobalNames(source)).body[:2]), [])))
    v = np.empty((A.shape[0] * A.shape[1],), dtype=A.dtype)
    for v_0 in range(A.shape[0]):
        for v_1 in range(A.shape[1]):
            v[v_0 * A.shape[1] + v_1] = A[v_0, v_1]
    """
    if source.arguments is None or not any(
        isinstance(part, ast.Attribute) and part.attr in ("reshape", "ravel", "flatten")
        for part in parts_of(*source.body)
    ):  # fmt: skip
        return source
    writer = _Writer(source, names)
    return replace(source, body=tuple(line for node in source.body for line in writer.lines(node)))


class _Writer(ast.NodeTransformer):
    def __init__(self, source: Source, names: GlobalNames) -> None:
        self._ranks = ranks_told(source, names)
        self._changed = changed_names(source)
        self._arguments = argument_names(source.arguments)
        self._fresh = FreshNames(source, names)
        self._before: list[ast.stmt] = []

    def lines(self, node: ast.stmt) -> list[ast.stmt]:
        """``node`` behind the lines that copy what is reshaped in it."""
        if not isinstance(node, ast.Assign | ast.AugAssign | ast.Return):
            return [node]
        name, self._before = bound_by(node), []
        value = node.value
        if name and isinstance(node, ast.Assign) and isinstance(value, ast.Call):
            base = value.func.value if isinstance(value.func, ast.Attribute) else None
            is_view = isinstance(value.func, ast.Attribute) and value.func.attr != "flatten"
            shared = {name, base.id} if isinstance(base, ast.Name) else {name}
            made = None if is_view and shared & self._changed else self._copied(name, value)
            return [node] if is_view and shared & self._changed else made or [node]
        is_seen = isinstance(node, ast.Return) and isinstance(value, ast.Call)
        written = copy.copy(node)
        # What is stored in a copy would be lost: only what is read may be one.
        written.value = None if value is None else self.visit(copy_of(value))
        if is_seen and isinstance(written.value, ast.Name) and self._before:
            written.value = self._view_of(written.value, value)
        if name and isinstance(written.value, ast.Attribute) and written.value.attr == "T" and self._before:
            shared = {name, *(part.id for part in names_of(node))}
            if shared & self._changed:
                return [node]  # a view, in which changes would be seen
            written.value = located(ast.Call(ast.Attribute(written.value, "copy", ast.Load()), [], []), node)
        return [*self._before, written]

    def visit(self, node: ast.AST) -> Any:
        """``node`` with names for copies, where they are made in any case."""
        if isinstance(node, ast.IfExp | ast.BoolOp | ast.Lambda | ast.GeneratorExp | ast.ListComp):
            return node
        if not isinstance(node, ast.Call):
            return super().visit(node)
        name = self._fresh.like("reshaped")
        lines = self._copied(name, node)
        if lines is None:
            return super().visit(node)
        self._before += lines
        return located(ast.Name(name, ast.Load()), node)

    def _view_of(self, name: ast.Name, value: ast.expr | None) -> ast.expr:
        """What is returned: where NumPy shows the elements of an array of the caller, a copy that is said to be one."""
        base = value.func.value if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) else None
        is_own = not isinstance(base, ast.Name) or base.id not in self._arguments
        return name if is_own else located(ast.Subscript(name, ast.Slice(), ast.Load()), name)

    def _copied(self, name: str, value: ast.Call) -> list[ast.stmt] | None:
        """The lines that make the array ``name`` of what ``value`` shows; None where that is not known."""
        match value:
            case ast.Call(func=ast.Attribute(value=ast.Name() as base, attr="ravel" | "flatten"), args=[], keywords=[]):
                return self._in_one_row(name, base, value)
            case ast.Call(func=ast.Attribute(value=ast.Name() as base, attr="reshape"), args=[one], keywords=[]) if (
                constant_of(one) == -1
            ):
                return self._in_one_row(name, base, value)
            case ast.Call(func=ast.Attribute(value=ast.Name() as base, attr="reshape")):
                found = reshaped(name, value, self._ranks.get(base.id, 0))
                if found is None or found.asked is None:
                    return None
                lines = self._filled(name, base, found.indices, found.indices, value)
                return [located(ast.Assert(found.asked), value), *lines]
        return None

    def _in_one_row(self, name: str, base: ast.Name, node: ast.expr) -> list[ast.stmt] | None:
        rank = self._ranks.get(base.id, 0)
        extents = [extent_of(base, axis) for axis in range(rank)]
        return self._filled(name, base, [_product(extents)], extents, node) if rank > 1 else None

    def _filled(
        self, name: str, base: ast.Name, shape: Sequence[ast.expr], walked: Sequence[ast.expr], node: ast.expr
    ) -> list[ast.stmt]:
        """An array of this ``shape`` with all elements of ``base``, in loops over the extents ``walked``."""
        names = [self._fresh.like(f"{name}_{axis}") for axis in range(len(walked))]
        places: list[ast.expr] = [ast.Name(one, ast.Load()) for one in names]
        number, index = _number(places, walked), ast.Tuple(places, ast.Load())
        ends = (index, number) if len(shape) > 1 else (number, index)
        target = ast.Subscript(ast.Name(name, ast.Load()), ends[0], ast.Store())
        body: list[ast.stmt] = [ast.Assign([target], ast.Subscript(ast.Name(base.id, ast.Load()), ends[1], ast.Load()))]
        for one, extent in reversed(list(zip(names, walked, strict=True))):
            body = [ast.For(ast.Name(one, ast.Store()), call_of("range", copy_of(extent)), body, [])]
        kind = ast.Attribute(ast.Name(base.id, ast.Load()), "dtype", ast.Load())
        extents = ast.Tuple(copies_of(shape), ast.Load())
        empty = ast.Call(numpy_function("empty"), [extents], [ast.keyword("dtype", kind)])
        made = ast.Assign([ast.Name(name, ast.Store())], empty)
        return [located(copy_of(line), node) for line in (made, *body)]


def _product(parts: Sequence[ast.expr]) -> ast.expr:
    numbers = [constant_of(one) for one in parts]
    if all(number is not None for number in numbers):
        return ast.Constant(reduce(lambda one, other: one * (other or 0), numbers, 1))
    return reduce(lambda one, other: ast.BinOp(one, ast.Mult(), other), parts)


def _number(places: Sequence[ast.expr], extents: Sequence[ast.expr]) -> ast.expr:
    """The number, in one row, of the element at ``places``."""
    whole = copy_of(places[0])
    for place, extent in zip(places[1:], extents[1:], strict=True):
        whole = ast.BinOp(ast.BinOp(whole, ast.Mult(), copy_of(extent)), ast.Add(), copy_of(place))
    return whole

"""Arrays looked at as one row of elements: ``for v in A.flat``, and ``A.flat[k]`` for ``k in range(A.size)``.

In a loop over all of them, a place is as good as a number: the loop becomes one for each dimension, ``A.flat[k]`` is
``A[i, j]``, and ``k`` itself, where it is read otherwise, ``i * A.shape[1] + j``. ``A.ravel()`` has the same elements;
it may be a copy of them, so nothing is stored in it, and ``A`` stays as it is where one of its elements has a name.
Elsewhere ``A.flat[k]`` is ``A[k // A.shape[1], k % A.shape[1]]``, and likewise with more dimensions.
"""

from __future__ import annotations

import ast
import copy
from collections import Counter
from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING

from polyviz.frontend.array_names import bound_by, in_place
from polyviz.frontend.jumps import ends_early
from polyviz.frontend.new_arrays import bindings
from polyviz.frontend.own_names import numpy_function
from polyviz.frontend.parts import copies_of, copy_of, parts_of, stored_in
from polyviz.frontend.ranks import ranks_told
from polyviz.frontend.regions import constant_of, extent_of
from polyviz.frontend.visited import FreshNames, located, visited

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from polyviz.frontend.names import GlobalNames
    from polyviz.frontend.source import Source


_OF_ALL = frozenset({"sum", "mean", "var", "std", "max", "min", "any", "all"})


def with_places(source: Source, names: GlobalNames) -> Source:
    """``source`` with subscripts in the place of numbers of elements; what is looked at otherwise stays.

    >>> from polyviz.frontend.names import GlobalNames
    >>> from polyviz.frontend.source import read_source
    >>> text = "def f(A: 'float64[:, :]'):\\n for k in range(A.size): A.flat[k] += k\\n for v in A.flat: A[0, 0] += v"
    >>> source = read_source(text, None, None)
    >>> print(ast.unparse(ast.Module(list(with_places(source, GlobalNames(source)).body), [])))
    for k_0, k_1 in np.ndindex(A.shape[0], A.shape[1]):
        A[k_0, k_1] += k_0 * A.shape[1] + k_1
    for (v_0, v_1), v in np.ndenumerate(A):
        A[0, 0] += v
    """
    parts = [part for part in parts_of(*source.body) if isinstance(part, ast.expr)]
    if not any(_flat(part, names) for part in parts):
        return source
    source = _without_names(source, names)
    writer = _Writer(source, names)
    body = [line for node in source.body for line in writer.written(node)]
    body = visited(_Single(writer), body)
    own, found = source.own_loops | writer.own, source.place_names | writer.found
    return replace(source, body=tuple(body), own_loops=own, place_names=found)


def _without_names(source: Source, names: GlobalNames) -> Source:
    """``source`` of a function with rows of elements in the place of names for them, ``x = A.ravel()``.

    Where that may be a copy, neither it nor the array may be changed.
    """
    if source.arguments is None:
        return source
    counts, changed = bindings(source.body), changed_names(source)
    counts.update(part.arg for part in parts_of(source.arguments) if isinstance(part, ast.arg))
    rows: dict[str, ast.expr] = {}
    for node in (one for one in source.body if isinstance(one, ast.Assign) and counts[bound_by(one)] == 1):
        found = _flat(node.value, names)
        if found is None or counts[found[0].id] != 1 or (found[1] and changed & {found[0].id, bound_by(node)}):
            continue
        rows[bound_by(node)] = node.value
    return replace(source, body=tuple(visited(_Named(rows), source.body))) if rows else source


class _Named(ast.NodeTransformer):
    """Puts ``rows`` in the place of names for them, and nothing in that of the lines that give the names."""

    def __init__(self, rows: Mapping[str, ast.expr]) -> None:
        self._rows = rows

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        if bound_by(node) in self._rows:
            return ast.copy_location(ast.Pass(), node)
        self.generic_visit(node)
        return node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return copy_of(self._rows[node.id]) if node.id in self._rows else node


def changed_names(source: Source) -> set[str]:
    """The names whose elements are changed, or which have another name, by which they may be."""
    parts = parts_of(*source.body)
    values = [part.value for part in parts if isinstance(part, ast.Assign)]
    return in_place(source.body) | {one.id for one in values if isinstance(one, ast.Name)}


def _flat(node: ast.expr, names: GlobalNames) -> tuple[ast.Name, bool] | None:
    """The array whose elements ``node`` has in one row, and whether it may be a copy of them."""
    match node:
        case ast.Attribute(value=ast.Name() as array, attr="flat"):
            return array, False
        case ast.Call(func=ast.Attribute(value=ast.Name() as array, attr="ravel" | "flatten"), args=[], keywords=[]):
            return (array, True) if names.canonical(array) is None else None
        case ast.Call(func=ast.Attribute(value=ast.Name() as array, attr="reshape"), args=[length], keywords=[]):
            return (array, True) if constant_of(length) == -1 else None
        case ast.Call(func=function, args=[ast.Name() as array], keywords=[]):
            return (array, True) if names.canonical(function) == "numpy.ravel" else None
    return None


class _Writer(ast.NodeTransformer):
    """``own`` are the variables of the loops that it writes, ``found`` the numbers that they take the place of."""

    def __init__(self, source: Source, names: GlobalNames) -> None:
        self._names = names
        self._fresh = FreshNames(source, names)
        self._ranks = ranks_told(source, names)
        self._changed = changed_names(source)
        self._extents = _extents(source.body)
        loops = [part for part in parts_of(*source.body) if isinstance(part, ast.For)]
        self._elsewhere = _loads(source.body)
        """How often variables of loops are read where no loop has them."""
        for loop in loops:
            if isinstance(loop.target, ast.Name):
                self._elsewhere[loop.target.id] -= _loads(loop.body)[loop.target.id]
        self._outermost = {id(node) for node in source.body}
        self.own: set[str] = set()
        self.found: set[str] = set()
        self.asked: list[ast.stmt] = []
        """What has to hold for the loop that was written last."""

    def written(self, node: ast.stmt) -> list[ast.stmt]:
        """A line of the program, behind what it takes for granted."""
        self.asked = []
        lines = visited(self, [node])
        return [*self.asked, *lines]

    def row(self, node: ast.expr) -> tuple[ast.Name, bool] | None:
        """The array whose elements ``node`` has in one row, and whether it may be a copy of them."""
        return _flat(node, self._names)

    def rank(self, name: str) -> int:
        """The dimensions of an array; 0 where they are not known."""
        return self._ranks.get(name, 0)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """What is worked out of all elements is the same for all dimensions."""
        self.generic_visit(node)
        match node:
            case ast.Call(func=ast.Attribute(value=row, attr=called), args=[], keywords=[]) if called in _OF_ALL:
                if (found := self.row(row)) is not None:
                    return located(ast.Call(ast.Attribute(found[0], called, ast.Load()), [], []), node)
            case ast.Call(func=ast.Attribute(attr=called) as function, args=[row], keywords=[]) if called in _OF_ALL:
                if (found := self.row(row)) is not None and self._names.canonical(function) == f"numpy.{called}":
                    return located(ast.Call(function, [found[0]], []), node)
        return node

    def visit_For(self, node: ast.For) -> ast.For:
        self.generic_visit(node)
        if node.orelse or ends_early(node.body):
            return node
        return self._counted(node) or self._elements(node) or node

    def _elements(self, node: ast.For) -> ast.For | None:
        """A loop over the elements, with their number where it is asked for, as one over places and elements."""
        counter: ast.expr | None = None
        match node:
            case ast.For(
                target=ast.Tuple(elts=[ast.Name() as counter, ast.Name() as value]),
                iter=ast.Call(func=function, args=[row], keywords=[]),
            ) if self._names.canonical(function) == "enumerate":
                pass
            case ast.For(target=ast.Name() as value, iter=row):
                pass
            case _:
                return None
        found = _flat(row, self._names)
        if found is None or (found[1] and found[0].id in self._changed):
            return None
        names = self._numbers(value.id, found[0])
        if not names:
            return None
        written = copy.copy(node)
        place = ast.Tuple([ast.Name(one, ast.Store()) for one in names], ast.Store())
        written.target = located(ast.Tuple([place, value], ast.Store()), node.target)
        written.iter = located(ast.Call(numpy_function("ndenumerate"), [found[0]], []), node.iter)
        if isinstance(counter, ast.Name):
            count = ast.Assign([counter], _number(found[0], names))
            written.body = [located(count, node.target), *node.body]
        return written

    def _counted(self, node: ast.For) -> ast.For | None:
        """A loop over the numbers of all elements, as one over their places."""
        match node:
            case ast.For(target=ast.Name(id=name), iter=ast.Call(func=function, args=[size], keywords=[])):
                array = self._measured(size) if self._names.canonical(function) == "range" else None
            case _:
                return None
        if array is None or name in stored_in(*node.body) or self._elsewhere[name]:
            return None
        names = self._numbers(name, array)
        placed = _Placed(name, array, names, self)
        body = visited(placed, copies_of(node.body)) if names else []
        alike = [other for other in placed.others if other != array.id]
        if not body or not placed.others or placed.is_stored or (alike and id(node) not in self._outermost):
            return None
        self.found.add(name)
        self.asked += [located(_same_shape(other, array.id), node) for other in alike]
        written = copy.copy(node)
        written.target = located(ast.Tuple([ast.Name(one, ast.Store()) for one in names], ast.Store()), node.target)
        ends = [extent_of(array, axis) for axis in range(len(names))]
        written.iter = located(ast.Call(numpy_function("ndindex"), ends, []), node.iter)
        written.body = body
        return written

    def _measured(self, size: ast.expr) -> ast.Name | None:
        """The array of whose elements ``size`` is the number."""
        match size:
            case ast.Attribute(value=ast.Name() as array, attr="size"):
                return array
            case ast.Attribute(value=row, attr="size") | ast.Call(func=ast.Name(id="len"), args=[row], keywords=[]):
                found = _flat(row, self._names)
                return None if found is None else found[0]
            case ast.BinOp(op=ast.Mult()):
                return self._of_extents(size)
        return None

    def _of_extents(self, size: ast.expr) -> ast.Name | None:
        """The array of which all extents are multiplied, each of which has a name."""
        found = [self._extents.get(one.id) if isinstance(one, ast.Name) else None for one in _factors(size)]
        known = [one for one in found if one is not None]
        arrays, axes = {array for array, _ in known}, sorted(axis for _, axis in known)
        if len(known) < len(found) or len(arrays) != 1:
            return None
        (array,) = arrays
        return ast.Name(array, ast.Load()) if axes == list(range(self.rank(array))) else None

    def _numbers(self, name: str, array: ast.Name) -> list[str]:
        """Names for the numbers of a place in ``array``; none where its dimensions are not known."""
        numbers = [self._fresh.like(f"{name}_{axis}") for axis in range(self._ranks.get(array.id, 0))]
        self.own.update(numbers)
        return numbers


class _Single(ast.NodeTransformer):
    """Writes single elements of rows with the subscripts that they have in the array."""

    def __init__(self, writer: _Writer) -> None:
        self._writer = writer

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        self.generic_visit(node)
        found = self._writer.row(node.value)
        if found is None or isinstance(node.slice, ast.Slice | ast.Tuple):
            return node
        array, is_copy = found
        rank = self._writer.rank(array.id)
        if not rank or (is_copy and isinstance(node.ctx, ast.Store)):
            return node
        index: ast.expr = node.slice if rank == 1 else _place(array, rank, node.slice)
        return located(copy_of(ast.Subscript(array, index, node.ctx)), node)


class _Placed(ast.NodeTransformer):
    """Puts places in the place of the number ``name`` of an element of ``array``.

    ``others`` are the arrays that have elements at such places, ``is_stored`` says that something is stored in a row
    that may be a copy.
    """

    def __init__(self, name: str, array: ast.Name, numbers: Sequence[str], writer: _Writer) -> None:
        self._name = name
        self._array = array
        self._numbers = numbers
        self._writer = writer
        self.others: dict[str, None] = {}
        self.is_stored = False

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        found = self._writer.row(node.value)
        is_element = isinstance(node.slice, ast.Name) and node.slice.id == self._name
        rank = 0 if found is None else self._writer.rank(found[0].id)
        if found is None or not is_element or rank not in (1, len(self._numbers)):
            self.generic_visit(node)
            return node
        array, is_copy = found
        self.is_stored = self.is_stored or (is_copy and isinstance(node.ctx, ast.Store))
        if rank == len(self._numbers):
            self.others[array.id] = None
            places: list[ast.expr] = [ast.Name(one, ast.Load()) for one in self._numbers]
            index = places[0] if rank == 1 else ast.Tuple(places, ast.Load())
        else:
            index = _number(self._array, self._numbers)
        return located(ast.Subscript(array, index, node.ctx), node)

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return located(_number(self._array, self._numbers), node) if node.id == self._name else node


def _factors(node: ast.expr) -> list[ast.expr]:
    """What ``node`` multiplies."""
    is_product = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult)
    return [*_factors(node.left), *_factors(node.right)] if is_product and isinstance(node, ast.BinOp) else [node]


def _extents(body: Sequence[ast.stmt]) -> dict[str, tuple[str, int]]:
    """The array and dimension of names for extents, which are given nothing else."""
    counts = bindings(body)
    found: dict[str, tuple[str, int]] = {}
    for node in (part for part in parts_of(*body) if isinstance(part, ast.Assign)):
        match node:
            case ast.Assign(
                targets=[ast.Tuple(elts=targets)], value=ast.Attribute(value=ast.Name(id=array), attr="shape")
            ):
                found |= {one.id: (array, axis) for axis, one in enumerate(targets) if isinstance(one, ast.Name)}
            case ast.Assign(
                targets=[ast.Name(id=name)],
                value=ast.Subscript(value=ast.Attribute(value=ast.Name(id=array), attr="shape"), slice=index),
            ) if constant_of(index) is not None:
                found[name] = array, constant_of(index) or 0
    return {name: each for name, each in found.items() if counts[name] == 1 and not counts[each[0]]}


def _number(array: ast.Name, names: Sequence[str]) -> ast.expr:
    """The number of the element of ``array`` at the place with these ``names``."""
    places: list[tuple[int, ast.expr]] = [(axis, ast.Name(name, ast.Load())) for axis, name in enumerate(names)]
    whole = places[0][1]
    for axis, place in places[1:]:
        whole = ast.BinOp(ast.BinOp(whole, ast.Mult(), extent_of(array, axis)), ast.Add(), place)
    return whole


def _place(array: ast.Name, rank: int, number: ast.expr) -> ast.expr:
    """Where in ``array`` the element is that has this ``number``."""
    extents = [extent_of(array, axis) for axis in range(rank)]
    if (constant_of(number) or 0) < 0 or (isinstance(number, ast.UnaryOp) and isinstance(number.op, ast.USub)):
        number = ast.BinOp(reduce(_product, extents), ast.Add(), number)
    places: list[ast.expr] = []
    for axis, extent in enumerate(extents):
        behind = extents[axis + 1 :]
        row = ast.BinOp(number, ast.FloorDiv(), reduce(_product, behind)) if behind else number
        places.append(ast.BinOp(row, ast.Mod(), extent) if axis else row)
    return ast.Tuple(places, ast.Load())


def _product(one: ast.expr, other: ast.expr) -> ast.expr:
    return ast.BinOp(one, ast.Mult(), other)


def _same_shape(first: str, second: str) -> ast.stmt:
    shapes = [ast.Attribute(ast.Name(name, ast.Load()), "shape", ast.Load()) for name in (first, second)]
    return ast.Assert(ast.Compare(shapes[0], [ast.Eq()], [shapes[1]]))


def _loads(body: Iterable[ast.stmt]) -> Counter[str]:
    parts = parts_of(*body)
    return Counter(part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load))

"""Names of rows, columns and slices, ``row = A[i]``: each use is written as the part of the array that it stands for.

NumPy makes no copy there, so that ``row[j]`` is ``A[i, j]`` at any time, also where it is stored, as long as ``A`` and
``i`` mean the same as on the line that gives the name. In a part of a dimension, ``h = x[1:]``, what ``h[i - 1]`` means
would depend on whether ``i`` is 0: a ``Within`` says that it is counted from the start.
"""

from __future__ import annotations

import ast
import copy
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from polyviz.frontend.array_names import in_place
from polyviz.frontend.element_loops import is_row
from polyviz.frontend.new_arrays import bindings
from polyviz.frontend.ranks import least_ranks
from polyviz.frontend.regions import constant_of, difference, is_new_axis
from polyviz.frontend.usage import subscript_chain
from polyviz.frontend.visited import located, visited

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from polyviz.frontend.names import GlobalNames
    from polyviz.frontend.source import Source

_METHODS = ("copy", "astype", "sum", "mean", "var", "std", "max", "min", "any", "all", "dot", "argmax", "argmin")


def without_views(source: Source, names: GlobalNames) -> Source:
    """``source`` with parts of arrays in the place of names for them; names that are used otherwise stay.

    >>> from polyviz.frontend.names import GlobalNames
    >>> from polyviz.frontend.source import read_source
    >>> text = "def f(A, n):\\n for i in range(n):\\n  row = A[i]\\n  row[0] = len(row)\\n  row /= np.sum(row)"
    >>> source = read_source(text, None, None)
    >>> print(ast.unparse(without_views(source, GlobalNames(source)).body[0]))
    for i in range(n):
        A[i, 0] = A.shape[1]
        A[i, :] /= np.sum(A[i, :])
    """
    source = replace(source, body=tuple(visited(_Chains(), source.body)))
    if not any(isinstance(part, ast.Subscript | ast.Attribute) for part in map(_value, _parts(source.body))):
        return source
    writer = _Writer(source, least_ranks(source, names))
    body = tuple(writer.block(source.body, depth=0))
    return replace(source, body=body, row_names=source.row_names | writer.found) if writer.found else source


class Within(ast.stmt):
    """Each of ``conditions`` holds wherever the statement behind runs: ``part`` is subscripted from its start on."""

    _fields = ("conditions", "part")
    conditions: list[ast.expr]
    part: ast.expr


class _Chains(ast.NodeTransformer):
    """Writes ``A[:, 2][i]`` as ``A[i, 2]``."""

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        self.generic_visit(node)
        match node.value:
            case ast.Subscript(value=ast.Name() as base, slice=inner):
                indices = _listed(inner)
            case _:
                return node
        if not any(isinstance(index, ast.Slice) for index in indices) or not _is_view(node.value, indices):
            return node
        part = _View("", base, tuple(indices)).part(_listed(node.slice))
        if part is None:
            return node
        part.ctx = node.ctx
        return located(part, node)


@dataclass(frozen=True, slots=True)
class _View:
    """The part of ``base`` at ``indices``, integers, slices and new axes; or all of it, transposed."""

    name: str
    base: ast.Name
    indices: tuple[ast.expr, ...]
    is_turned: bool = False

    @property
    def whole(self) -> ast.expr:
        """All of it."""
        if self.is_turned:
            return ast.Attribute(self._base(), "T", ast.Load())
        is_row = not any(map(_is_walked, self.indices))
        return self._at([*self.indices, ast.Slice()] if is_row else self.indices)

    @property
    def rows(self) -> ast.expr:
        """What a loop runs over, where no slice is wanted."""
        is_row = not any(map(_is_walked, self.indices))
        return self._at(self.indices) if is_row and self.indices else self.whole

    def part(self, given: Sequence[ast.expr], conditions: list[ast.expr] | None = None) -> ast.Subscript | None:
        """What ``given`` subscripts choose; None where they go into a new axis, or ask for a part of a part.

        ``conditions`` gets what has to hold for that in a part of a dimension; without it, that gives None, too.
        """
        if any(isinstance(one, ast.Constant) and type(one.value) is not int for one in given):
            return None
        if self.is_turned:
            is_element = len(given) == 2 and not any(isinstance(one, ast.Slice) for one in given)
            return self._at(given[::-1]) if is_element else None
        rest, chosen = list(given), list[ast.expr]()
        for index in self.indices:
            if not _is_walked(index) or not rest:
                chosen.append(index)
            elif _is_full(index) or _is_full(rest[0]):
                chosen.append(rest.pop(0) if _is_full(index) else (rest.pop(0), index)[1])
            else:
                place = self._counted(index, self._axis_of(len(chosen)), rest.pop(0), conditions)
                if place is None:
                    return None
                chosen.append(place)
        return self._at([*chosen, *rest])

    def _axis_of(self, place: int) -> int:
        """The dimension of the array that the subscript at ``place`` is for."""
        return place - sum(map(is_new_axis, self.indices[:place]))

    def _counted(
        self, part: ast.expr, axis: int, given: ast.expr, conditions: list[ast.expr] | None
    ) -> ast.expr | None:
        """The position ``given`` in ``part`` of a dimension, as one along ``axis``; None for what is not followed."""
        if conditions is None or isinstance(given, ast.Slice) or not isinstance(part, ast.Slice):
            return None
        start = part.lower or ast.Constant(0)
        if (constant_of(start) or 0) < 0 or (part.step is not None and constant_of(part.step) != 1):
            return None
        stop, end = part.upper, None if part.upper is None else constant_of(part.upper)
        if end is not None and end < 0:
            stop = difference(self._extent(axis), ast.Constant(-end))
        asked: list[tuple[ast.expr, ast.expr]] = [(given, ast.Constant(0)), (start, ast.Constant(0))]
        asked += [] if stop is None else [(difference(difference(stop, start), ast.Constant(1)), given)]
        place = ast.BinOp(given, ast.Add(), start) if constant_of(start) != 0 else given
        if (constant_of(given) or 0) < 0:
            from_end = ast.Constant(-(constant_of(given) or 0))
            stop = stop or self._extent(axis)
            asked[0], asked[2:] = (difference(stop, start), from_end), []
            place = difference(stop, from_end)
        compared = [ast.Compare(one, [ast.GtE()], [other]) for one, other in asked if not _is_least(one, other)]
        conditions += map(copy.deepcopy, compared)
        return place

    def extent(self, axis: int) -> ast.expr | None:
        """How long it is along ``axis``; None where that is a part of a dimension."""
        if self.is_turned:
            return self._extent(1 - axis) if axis in (0, 1) else None
        walked = [place for place, index in enumerate(self.indices) if _is_walked(index)]
        if axis < 0 or any(map(is_new_axis, self.indices)):
            return None
        if axis >= len(walked):
            return self._extent(len(self.indices) + axis - len(walked))
        return self._extent(walked[axis]) if _is_full(self.indices[walked[axis]]) else None

    def _extent(self, axis: int) -> ast.expr:
        return ast.Subscript(ast.Attribute(self._base(), "shape", ast.Load()), ast.Constant(axis), ast.Load())

    def _at(self, indices: Iterable[ast.expr]) -> ast.Subscript:
        parts = [copy.deepcopy(index) for index in indices]
        return ast.Subscript(self._base(), parts[0] if len(parts) == 1 else ast.Tuple(parts, ast.Load()), ast.Load())

    def _base(self) -> ast.Name:
        return ast.Name(self.base.id, ast.Load())


class _Writer:
    """Goes through blocks; ``found`` are the names that it has put parts of arrays for."""

    def __init__(self, source: Source, ranks: Mapping[str, int]) -> None:
        self._ranks = ranks
        arguments = ast.walk(source.arguments) if source.arguments else ()
        self._arguments = {one.arg for one in arguments if isinstance(one, ast.arg)}
        self._is_cell = source.is_cell
        self._mentions = _mentions(source.body)
        self._bindings = bindings(source.body)
        self.found: frozenset[str] = frozenset()

    def block(self, body: Sequence[ast.stmt], *, depth: int) -> list[ast.stmt]:
        """``body`` without the lines that only give names to parts of arrays; at the top of a cell these stay."""
        written, rest = list[ast.stmt](), list(body)
        while rest:
            node = rest.pop(0)
            view = None if self._is_cell and not depth else self._view(node, rest)
            uses = None if view is None else _written(view, rest)
            if view is not None and uses is not None:
                self.found |= {view.name}
                rest = uses
            else:
                written.append(self._compound(node, depth + 1))
        return written

    def _compound(self, node: ast.stmt, depth: int) -> ast.stmt:
        if not isinstance(node, ast.For | ast.If | ast.While):
            return node
        written = copy.copy(node)
        written.body, written.orelse = (self.block(block, depth=depth) for block in (node.body, node.orelse))
        return written

    def _view(self, node: ast.stmt, rest: Sequence[ast.stmt]) -> _View | None:
        """What ``node`` gives a name to, where ``rest`` alone uses it and gives another meaning to nothing of it."""
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Attribute(value=ast.Name() as base, attr="T")):
                view = _View(name, base, (), is_turned=True)
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Subscript() as value):
                found, indices = subscript_chain(value)
                if not isinstance(found, ast.Name) or not _is_view(value, indices):
                    return None
                view = _View(name, found, indices)
            case _:
                return None
        is_several = view.is_turned or self._is_several(view, rest)
        return view if is_several and self._is_alone(view, rest) and _is_steady(view, rest) else None

    def _is_several(self, view: _View, rest: Sequence[ast.stmt]) -> bool:
        """Whether the name stands for several elements: by what is known of the array, or by how it is used."""
        has_slice = any(map(_is_walked, view.indices))
        return has_slice or self._ranks.get(view.base.id, 0) > len(view.indices) or is_row(view.name, rest)

    def _is_alone(self, view: _View, rest: Sequence[ast.stmt]) -> bool:
        name = view.name
        is_local = self._bindings[name] == 1 and name not in self._arguments and name != view.base.id
        return is_local and self._mentions[name] == 1 + _mentions(rest)[name]


class _Uses(ast.NodeTransformer):
    """Puts parts of the array in the place of the name; ``has_others`` tells that it is used otherwise."""

    def __init__(self, view: _View) -> None:
        self._view = view
        self._conditions: list[ast.expr] = []
        self.has_others = False

    def visit(self, node: ast.AST) -> Any:
        """``node`` with parts in it; a statement comes behind the conditions for what it subscripts."""
        if not isinstance(node, ast.stmt):
            return super().visit(node)
        around, self._conditions = self._conditions, []
        written = super().visit(node)
        found, self._conditions = self._conditions, around
        if not found:
            return written
        if isinstance(node, ast.While | ast.Return):
            self.has_others = True
        within = Within()
        within.conditions, within.part = found, self._view.whole
        for part in ast.walk(within):
            if isinstance(part, ast.stmt | ast.expr):
                ast.copy_location(part, node)
        return [within, written]

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return node if node.id != self._view.name else self._placed(self._view.whole, node)

    def visit_For(self, node: ast.For) -> ast.For:
        node.iter = self._iterated(node.iter)
        return self.generic_visit(node)  # type: ignore[return-value]  # a loop stays one

    def visit_comprehension(self, node: ast.comprehension) -> ast.comprehension:
        node.iter = self._iterated(node.iter)
        return self.generic_visit(node)  # type: ignore[return-value]  # so does a part of a generator

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        match node:
            case ast.Subscript(value=ast.Attribute(value=ast.Name(id=name), attr="shape"), slice=index) if (
                name == self._view.name
            ):
                axis = constant_of(index)
                return self._placed(None if axis is None else self._view.extent(axis), node)
            case ast.Subscript(value=ast.Name(id=name), slice=index) if name == self._view.name:
                index = self.visit(index)
                return self._placed(self._view.part(_listed(index), self._conditions), node)
        return self.generic_visit(node)  # type: ignore[return-value]  # a subscript stays an expression

    def visit_Call(self, node: ast.Call) -> ast.expr:
        match node:
            case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name)]) if name == self._view.name:
                return self._placed(self._view.extent(0), node)
            case ast.Call(func=ast.Name(id="sum")):
                node.args = [self._iterated(one) for one in node.args]
        return self.generic_visit(node)  # type: ignore[return-value]  # a call stays an expression

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        if isinstance(node.value, ast.Name) and node.value.id == self._view.name and node.attr not in _METHODS:
            self.has_others = True
        return self.generic_visit(node)  # type: ignore[return-value]  # an attribute stays an expression

    def _iterated(self, node: ast.expr) -> ast.expr:
        """What a loop runs over, also by ``enumerate`` and ``zip``."""
        if isinstance(node, ast.Name) and node.id == self._view.name:
            return self._placed(self._view.rows, node)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("enumerate", "zip"):
            node.args = [self._iterated(one) for one in node.args]
        return node

    def _placed(self, part: ast.expr | None, node: ast.expr) -> ast.expr:
        """``part`` at the place of ``node``, to be read or stored as that was."""
        is_stored = isinstance(getattr(node, "ctx", None), ast.Store)
        if part is None or (is_stored and not isinstance(part, ast.Subscript)):
            self.has_others = True
            return node
        if isinstance(part, ast.Subscript) and is_stored:
            part.ctx = ast.Store()
        for one in ast.walk(part):
            ast.copy_location(one, node)
        return located(part, node)


def _written(view: _View, rest: Sequence[ast.stmt]) -> list[ast.stmt] | None:
    uses = _Uses(view)
    written = visited(uses, copy.deepcopy(list(rest)))
    return None if uses.has_others else written


def _is_view(value: ast.Subscript, indices: Sequence[ast.expr]) -> bool:
    """Whether ``indices`` are slices, new axes and integers, all in one pair of brackets where there are slices."""
    is_chain = isinstance(value.value, ast.Subscript) and any(map(_is_walked, indices))
    fixed = [index for index in indices if not is_new_axis(index)]
    bounds = [one for index in fixed for one in (_bounds(index) if isinstance(index, ast.Slice) else [index])]
    return not is_chain and all(map(_is_integer, bounds))


def _is_integer(node: ast.expr) -> bool:
    """Whether ``node`` is made of names, elements and whole numbers."""
    match node:
        case ast.Constant(value=value):
            return type(value) is int
        case ast.Subscript(value=ast.Name(), slice=index):
            return all(map(_is_integer, _listed(index)))
        case ast.BinOp(left=left, right=right):
            return _is_integer(left) and _is_integer(right)
        case ast.UnaryOp(operand=operand):
            return _is_integer(operand)
    return isinstance(node, ast.Name)


def _bounds(index: ast.Slice) -> list[ast.expr]:
    return [one for one in (index.lower, index.upper, index.step) if one is not None]


def _is_steady(view: _View, rest: Sequence[ast.stmt]) -> bool:
    """Whether the array and the subscripts mean the same wherever the name is used."""
    last = max((place for place, node in enumerate(rest) if _mentions([node])[view.name]), default=-1)
    read = {part.id for index in view.indices for part in ast.walk(index) if isinstance(part, ast.Name)}
    used = rest[: last + 1]
    stored = {part.id for part in _names(used) if isinstance(part.ctx, ast.Store)}
    return last >= 0 and not (stored | in_place(used)) & read and not bindings(used)[view.base.id]


def _listed(index: ast.expr) -> list[ast.expr]:
    return index.elts if isinstance(index, ast.Tuple) else [index]


def _is_walked(index: ast.expr) -> bool:
    """Whether ``index`` is a dimension of the view."""
    return isinstance(index, ast.Slice) or is_new_axis(index)


def _is_least(larger: ast.expr, smaller: ast.expr) -> bool:
    """Whether these are numbers, and ``larger`` is no less than ``smaller``."""
    numbers = constant_of(larger), constant_of(smaller)
    return numbers[0] is not None and numbers[1] is not None and numbers[0] >= numbers[1]


def _is_full(index: ast.expr) -> bool:
    return isinstance(index, ast.Slice) and not (index.lower or index.upper or index.step)


def _parts(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    return (part for node in nodes for part in ast.walk(node))


def _value(node: ast.AST) -> ast.expr | None:
    """What ``node`` gives to a name."""
    return node.value if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) else None


def _names(nodes: Iterable[ast.AST]) -> list[ast.Name]:
    return [part for part in _parts(nodes) if isinstance(part, ast.Name)]


def _mentions(nodes: Iterable[ast.AST]) -> Counter[str]:
    return Counter(part.id for part in _names(nodes))

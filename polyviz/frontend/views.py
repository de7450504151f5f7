"""Names of rows, columns and slices, ``row = A[i]``: each use is written as the part of the array that it stands for.

NumPy makes no copy there, so that ``row[j]`` is ``A[i, j]`` at any time, also where it is stored, as long as ``A`` and
``i`` mean the same as on the line that gives the name. In a part of a dimension, ``h = x[1:]``, what ``h[i - 1]`` means
would depend on whether ``i`` is 0: a ``Within`` (``polyviz.frontend.windows``) says that it is counted from the start.
"""

from __future__ import annotations

import ast
import copy
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from polyviz.frontend.array_names import in_place
from polyviz.frontend.array_parts import View, is_view, is_walked, listed_indices, with_plain_parts
from polyviz.frontend.element_loops import is_row
from polyviz.frontend.new_arrays import bindings
from polyviz.frontend.parts import copies_of, names_in, names_of, parts_of
from polyviz.frontend.ranks import least_ranks, ranks_told
from polyviz.frontend.regions import constant_of
from polyviz.frontend.reshaped import Reshaped, reshaped
from polyviz.frontend.several_targets import line_for_each
from polyviz.frontend.usage import subscript_chain
from polyviz.frontend.visited import located, visited
from polyviz.frontend.windows import within

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

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
    source = with_plain_parts(source, names)
    lines = [one for part in parts_of(*source.body) for one in (part, *line_for_each(part))]
    if not any(isinstance(part, ast.Subscript | ast.Attribute | ast.Call) for part in map(_value, lines)):
        return source
    writer = _Writer(source, least_ranks(source, names), ranks_told(source, names))
    body = tuple(writer.block(source.body, depth=0))
    return replace(source, body=body, row_names=source.row_names | writer.found) if writer.found else source


class _Writer:
    """Goes through blocks; ``found`` are the names that it has put parts of arrays for.

    ``ranks`` are the dimensions that arrays have at least, ``told`` those that they have.
    """

    def __init__(self, source: Source, ranks: Mapping[str, int], told: Mapping[str, int]) -> None:
        self._ranks = ranks
        self._told = told
        arguments = parts_of(source.arguments)
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
            is_shown = self._is_cell and not depth
            lines = [] if is_shown else line_for_each(node)
            if any(self._view(line, [*lines[place + 1 :], *rest]) for place, line in enumerate(lines)):
                rest = [*lines, *rest]
                continue
            view = None if is_shown else self._view(node, rest)
            uses = None if view is None else self._written(view, rest)
            if view is not None and uses is not None:
                self.found |= {view.name}
                asked = view.asked if isinstance(view, Reshaped) else None
                written += [] if asked is None else [located(ast.Assert(asked), node)]
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

    def _view(self, node: ast.stmt, rest: Sequence[ast.stmt]) -> View | Reshaped | None:
        """What ``node`` gives a name to, where ``rest`` alone uses it and gives another meaning to nothing of it."""
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=ast.Attribute(value=ast.Name() as base))):
                shown = reshaped(name, node.value, self._told.get(base.id, 0))
                return shown if shown is not None and self._is_alone(shown, rest) and _is_steady(shown, rest) else None
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Attribute(value=ast.Name() as base, attr="T")):
                view = View(name, base, (), is_turned=True)
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Subscript() as value):
                found, indices = subscript_chain(value)
                are_places = any(isinstance(one, ast.Name) and self._told.get(one.id) for one in indices)
                if not isinstance(found, ast.Name) or not is_view(value, indices) or are_places:
                    return None  # what is chosen by an array of places is a copy
                view = View(name, found, indices)
            case _:
                return None
        is_several = view.is_turned or self._is_several(view, rest)
        return view if is_several and self._is_alone(view, rest) and _is_steady(view, rest) else None

    def _written(self, view: View | Reshaped, rest: Sequence[ast.stmt]) -> list[ast.stmt] | None:
        rank = self._told.get(view.base.id, 0)
        fixed = 0 if isinstance(view, Reshaped) else sum(not is_walked(index) for index in view.indices)
        uses = _Uses(view, rank and rank - fixed, self._told)
        written = visited(uses, copies_of(rest))
        return None if uses.has_others else written

    def _is_several(self, view: View, rest: Sequence[ast.stmt]) -> bool:
        """Whether the name stands for several elements: by what is known of the array, or by how it is used."""
        has_slice = any(map(is_walked, view.indices))
        rank = max(self._ranks.get(view.base.id, 0), self._told.get(view.base.id, 0))
        return has_slice or rank > len(view.indices) or is_row(view.name, rest)

    def _is_alone(self, view: View | Reshaped, rest: Sequence[ast.stmt]) -> bool:
        name = view.name
        is_local = self._bindings[name] == 1 and name not in self._arguments and name != view.base.id
        return is_local and self._mentions[name] == 1 + _mentions(rest)[name]


class _Uses(ast.NodeTransformer):
    """Puts parts of the array in the place of the name; ``has_others`` tells that it is used otherwise.

    ``dimensions`` are those of the part, 0 where they are not known; ``told`` those of other arrays.
    """

    def __init__(self, view: View | Reshaped, dimensions: int, told: Mapping[str, int]) -> None:
        self._view = view
        self._dimensions = dimensions
        self._told = told
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
        if isinstance(node, ast.While):
            self.has_others = True
        shown = self._view.whole or ast.Name(self._view.name, ast.Load())
        return [within(found, shown, node), written]

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return node if node.id != self._view.name else self._placed(self._view.whole, node)

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        match node:
            case ast.Assign(
                targets=[ast.Tuple(elts=targets)], value=ast.Attribute(value=ast.Name(id=name), attr="shape") as shape
            ) if name == self._view.name:
                ends = [self._view.extent(axis, self._conditions) for axis in range(len(targets))]
                known = [one for one in ends if one is not None]
                whole = ast.Tuple(known, ast.Load()) if len(known) == len(ends) else None
                node.value = self._placed(whole, shape)
                return node
        return self.generic_visit(node)  # type: ignore[return-value]  # an assignment stays one

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
                return self._placed(None if axis is None else self._view.extent(axis, self._conditions), node)
            case ast.Subscript(value=ast.Name(id=name), slice=index) if name == self._view.name:
                index = self.visit(index)
                if self._is_chosen_by(index):
                    whole = self._placed(self._view.whole, node.value)
                    return ast.copy_location(ast.Subscript(whole, index, node.ctx), node)
                return self._placed(self._view.part(listed_indices(index), self._conditions), node)
        return self.generic_visit(node)  # type: ignore[return-value]  # a subscript stays an expression

    def _is_chosen_by(self, index: ast.expr) -> bool:
        return isinstance(self._view, View) and self._view.is_chosen_by(index, self._told)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        match node:
            case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name)]) if name == self._view.name:
                return self._placed(self._view.extent(0, self._conditions), node)
            case ast.Call(func=ast.Name(id="sum")):
                node.args = [self._iterated(one) for one in node.args]
        return self.generic_visit(node)  # type: ignore[return-value]  # a call stays an expression

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        known = _METHODS if self._view.is_turned else (*_METHODS, "T")
        is_own = isinstance(node.value, ast.Name) and node.value.id == self._view.name
        if is_own and node.attr == "size" and self._dimensions:
            return self._placed(self._size(), node)
        if is_own and node.attr not in known:
            self.has_others = True
        return self.generic_visit(node)  # type: ignore[return-value]  # an attribute stays an expression

    def _size(self) -> ast.expr | None:
        """How many elements there are in all dimensions; None where that is not followed."""
        first, *others = (self._view.extent(axis, self._conditions) for axis in range(self._dimensions))
        for other in others:
            first = None if first is None or other is None else ast.BinOp(first, ast.Mult(), other)
        return first

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
        for one in parts_of(part):
            ast.copy_location(one, node)
        return located(part, node)


def _is_steady(view: View | Reshaped, rest: Sequence[ast.stmt]) -> bool:
    """Whether the array and the subscripts mean the same wherever the name is used."""
    last = max((place for place, node in enumerate(rest) if _mentions([node])[view.name]), default=-1)
    read = names_in(*view.indices)
    used = rest[: last + 1]
    stored = {part.id for part in _names(used) if isinstance(part.ctx, ast.Store)}
    return last >= 0 and not (stored | in_place(used)) & read and not bindings(used)[view.base.id]


def _value(node: ast.AST) -> ast.expr | None:
    """What ``node`` gives to a name."""
    return node.value if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) else None


def _names(nodes: Iterable[ast.AST]) -> list[ast.Name]:
    return list(names_of(*nodes))


def _mentions(nodes: Iterable[ast.AST]) -> Counter[str]:
    return Counter(part.id for part in _names(nodes))

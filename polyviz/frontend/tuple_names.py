"""Names of tuples: each of their values gets a name of its own, and loops over a few names are written out.

``p = (a, b)`` with ``p[0]`` becomes ``p_0 = a`` with ``p_0``; so does what a helper returns, ``p = f(x)``, where that
always has as many values. ``for v in (x, y): v[0] = 0`` becomes a line for ``x`` and one for ``y``.
"""

from __future__ import annotations

import ast
import copy
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from polyviz.frontend.array_names import bound_by, mentions
from polyviz.frontend.helper_calls import changes_arrays
from polyviz.frontend.jumps import ends_early, without_continue
from polyviz.frontend.literals import literal_table
from polyviz.frontend.parts import argument_names, copies_of, names_in, parts_of, stored_in, uses_in
from polyviz.frontend.regions import constant_of
from polyviz.frontend.visited import FreshNames, located, visited

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from polyviz.frontend.names import GlobalNames
    from polyviz.frontend.source import Source

MOST = 16
"""Values that a loop runs over at most where it is written out."""


def without_tuple_names(source: Source, names: GlobalNames) -> Source:
    """``source`` of a function with names for values in the place of names for tuples, which a cell leaves behind.

    A tuple that is looked at otherwise stays, and is refused later.

    >>> from polyviz.frontend.names import GlobalNames
    >>> from polyviz.frontend.source import read_source
    >>> source = read_source("def f(x, y, n):\\n p = (n, n + 0.5)\\n for v in (x, y): v[0] = p[1]", None, None)
    >>> print(ast.unparse(ast.Module(list(without_tuple_names(source, GlobalNames(source)).body), [])))
    p_0 = n
    p_1 = n + 0.5
    x[0] = p_1
    y[0] = p_1
    """
    if source.arguments is None:
        return source
    arguments = argument_names(source.arguments)
    fresh = FreshNames(source, names)
    body = visited(_Chosen(names, fresh), copies_of(source.body))
    found = {name: length for name, length in _lengths(body, names).items() if name not in arguments}
    parts = {name: [fresh.like(f"{name}_{place}") for place in range(length)] for name, length in found.items()}
    body = visited(_Parts(parts), body)
    return replace(source, body=tuple(visited(_WrittenOut(uses_in(*body), fresh), body)))


class _Chosen(ast.NodeTransformer):
    """Gives a name to what a helper returns of which one value is wanted: ``y = f(x)[1]``."""

    def __init__(self, names: GlobalNames, fresh: FreshNames) -> None:
        self._names = names
        self._fresh = fresh
        self._before: list[ast.stmt] | None = None

    def visit(self, node: ast.AST) -> Any:
        """``node``; where it is a line, behind those that give the names."""
        if isinstance(node, ast.BoolOp | ast.IfExp | ast.Lambda | ast.GeneratorExp | ast.ListComp):
            return node  # what is computed only sometimes
        if not isinstance(node, ast.Assign | ast.AugAssign | ast.Return | ast.For):
            return super().visit(node)
        before: list[ast.stmt] = []
        self._before = before
        if isinstance(node, ast.For):
            node.iter, self._before = self.visit(node.iter), None
        written = self.generic_visit(node)
        self._before = None
        return [*before, written] if before else written

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        self.generic_visit(node)
        if self._before is None:
            return node  # computed anew, as the condition of a loop is
        helper = self._names.helper(node.value.func) if isinstance(node.value, ast.Call) else None
        place = constant_of(node.slice)
        length = 0 if helper is None or changes_arrays(helper) else _length(node.value, self._names)
        if place is None or not -length <= place < length:
            return node
        own = self._fresh.like("values")
        self._before.append(located(ast.Assign([ast.Name(own, ast.Store())], node.value), node))
        return located(ast.Subscript(ast.Name(own, ast.Load()), ast.Constant(place), ast.Load()), node)


def _lengths(body: Sequence[ast.stmt], names: GlobalNames) -> dict[str, int]:
    """How many values each name of a tuple has, of those whose uses all ask for single values."""
    parts = parts_of(*body)
    stored = Counter(one.id for one in parts if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store))
    made: dict[str, list[int]] = {}
    for node in (part for part in parts if isinstance(part, ast.Assign) and bound_by(part)):
        # A table of constants that a name always means is looked up where it stands, also by variables of loops.
        is_table = stored[bound_by(node)] == 1 and literal_table(node.value) is not None
        made.setdefault(bound_by(node), []).append(0 if is_table else _length(node.value, names))
    alike = {name: found[0] for name, found in made.items() if len({*found}) == 1 and len(found) == stored[name]}
    return {name: length for name, length in alike.items() if length and _is_looked_up(name, length, parts)}


def _length(value: ast.expr, names: GlobalNames) -> int:
    """How many values ``value`` has, a tuple or what a helper returns; 0 for all others."""
    if isinstance(value, ast.Tuple):
        return 0 if any(isinstance(one, ast.Starred | ast.Tuple | ast.List) for one in value.elts) else len(value.elts)
    helper = names.helper(value.func) if isinstance(value, ast.Call) else None
    if helper is None:
        return 0
    returned = [part.value for part in parts_of(helper) if isinstance(part, ast.Return)]
    counts = {len(one.elts) if isinstance(one, ast.Tuple) else 0 for one in returned}
    return counts.pop() if len(counts) == 1 else 0


def _is_looked_up(name: str, length: int, parts: Iterable[ast.AST]) -> bool:
    """Whether every use of ``name`` asks for one of its values, for all of them, or for their number."""
    uses = Counter[bool]()
    for part in parts:
        match part:
            case ast.Name(id=other, ctx=ast.Load()) if other == name:
                uses[False] += 1
            case ast.Subscript(value=ast.Name(id=other), slice=index, ctx=ast.Load()) if other == name:
                place = constant_of(index)
                uses[True] += place is not None and -length <= place < length
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Name(id=other)) if other == name:
                uses[True] += len(targets) == length
            case ast.Return(value=ast.Name(id=other)) | ast.Starred(value=ast.Name(id=other)) if other == name:
                uses[True] += 1
            case ast.For(iter=ast.Name(id=other)) if other == name:
                uses[True] += 1
            case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=other)]) if other == name:
                uses[True] += 1
    return uses[False] == uses[True]


class _Parts(ast.NodeTransformer):
    """Puts names of values in the place of names of tuples; ``parts`` are those of each."""

    def __init__(self, parts: Mapping[str, Sequence[str]]) -> None:
        self._parts = parts

    def visit_Assign(self, node: ast.Assign) -> ast.stmt | list[ast.stmt]:
        self.generic_visit(node)
        own = self._parts.get(bound_by(node))
        if own is None:
            return node
        targets: list[ast.expr] = [ast.Name(one, ast.Store()) for one in own]
        values = node.value.elts if isinstance(node.value, ast.Tuple) else []
        if not values or any(mentions(value, one) for value in values for one in own):
            return located(ast.Assign([ast.Tuple(targets, ast.Store())], node.value), node)
        pairs = zip(targets, values, strict=True)
        return [located(ast.Assign([target], value), node) for target, value in pairs]

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        self.generic_visit(node)
        place = constant_of(node.slice)
        return node.value.elts[place] if isinstance(node.value, ast.Tuple) and place is not None else node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        match node:
            case ast.Call(func=ast.Name(id="len"), args=[ast.Tuple(elts=parts)]):
                return located(ast.Constant(len(parts)), node)
        node.args = [one for part in node.args for one in _spread(part)]
        return node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        own = self._parts.get(node.id)
        if own is None or not isinstance(node.ctx, ast.Load):
            return node
        return located(ast.Tuple([ast.Name(one, ast.Load()) for one in own], ast.Load()), node)


def _spread(node: ast.expr) -> list[ast.expr]:
    match node:
        case ast.Starred(value=ast.Tuple(elts=parts)):
            return parts
    return [node]


class _WrittenOut(ast.NodeTransformer):
    """Writes loops over a few names once for each; ``mentions`` are those of all names."""

    def __init__(self, mentions: Counter[str], fresh: FreshNames) -> None:
        self._mentions = mentions
        self._fresh = fresh

    def visit_For(self, node: ast.For) -> ast.stmt | list[ast.stmt]:
        self.generic_visit(node)
        before, values = self._named(node.target, _values(node.iter))
        pairs = [list(_given(node.target, value)) for value in values]
        stored = stored_in(*node.body)
        targets = names_in(node.target)
        named = names_in(*values)
        fits = all(pairs) and not stored & (targets | named) and not node.orelse and not ends_early(node.body)
        if not named or len(values) > MOST or not fits:
            return node  # loops over numbers alone are written out elsewhere
        body = without_continue(node.body)
        lines = [one for each in pairs for one in visited(_Named(dict(each)), copies_of(body))]
        inside = uses_in(node)
        kept = [(name, value) for name, value in pairs[-1] if self._mentions[name] > inside[name]]
        after = [ast.Assign([ast.Name(name, ast.Store())], value) for name, value in kept]
        return [*(located(one, node) for one in before), *lines, *(located(one, node) for one in after)]

    def _named(self, target: ast.expr, values: Sequence[ast.expr]) -> tuple[list[ast.stmt], list[ast.expr]]:
        """Lines that give names to what Python computes before the loop, and ``values`` with these names."""
        before, named = list[ast.stmt](), list[ast.expr]()
        for place, value in enumerate(values):
            if not isinstance(target, ast.Name) or not isinstance(value, ast.Subscript | ast.BinOp | ast.Call):
                named.append(value)
                continue
            own = self._fresh.like(f"{target.id}_{place}")
            before.append(ast.Assign([ast.Name(own, ast.Store())], value))
            named.append(ast.copy_location(ast.Name(own, ast.Load()), value))
        return before, named if all(map(_is_named, named)) else []


def _values(iterable: ast.expr) -> list[ast.expr]:
    """What a loop over ``iterable`` runs over, tuples of names or of such tuples; none for all others."""
    match iterable:
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            found = list(parts)
        case ast.Call(func=ast.Name(id="zip"), args=rows, keywords=[] | [ast.keyword(arg="strict")] as named):
            columns = [row.elts if isinstance(row, ast.Tuple) else [] for row in rows]
            if named and len({*map(len, columns)}) > 1:
                return []
            found = [ast.Tuple(list(each), ast.Load()) for each in zip(*columns, strict=False)]
        case _:
            return []
    return found


def _is_named(node: ast.expr) -> bool:
    return all(map(_is_named, node.elts)) if isinstance(node, ast.Tuple) else isinstance(node, ast.Name | ast.Constant)


def _given(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """What each name of ``target`` is given; nothing where they do not go together."""
    match target, value:
        case ast.Name(id=name), ast.Name() | ast.Constant():
            yield name, value
        case ast.Tuple(elts=targets), ast.Tuple(elts=values) if len(targets) == len(values):
            inner = [list(_given(*pair)) for pair in zip(targets, values, strict=True)]
            if all(inner):
                yield from (one for pairs in inner for one in pairs)


class _Named(ast.NodeTransformer):
    """Puts ``values`` in the place of the variables of a loop."""

    def __init__(self, values: Mapping[str, ast.expr]) -> None:
        self._values = values

    def visit_Name(self, node: ast.Name) -> ast.expr:
        value = self._values.get(node.id)
        return node if value is None else ast.copy_location(copy.copy(value), node)

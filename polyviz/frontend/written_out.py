"""Tuples and lists of constants: loops over them are written out, and their elements are the numbers they hold.

So are loops over a few numbers that subscripts take remainders with, or that arrays of directions are looked up with
(``polyviz.frontend.steering_tables``).

``for d in (-1, 2): B[i] += w[d] * A[i + d]`` becomes two statements, in which every subscript is affine. Nothing is
kept of a tuple that is assigned once and only looked up; one that is used otherwise stays, and is refused later.
"""

from __future__ import annotations

import ast
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING, Any

from polyviz.frontend.jumps import ends_early, without_continue
from polyviz.frontend.literals import literal_number, literal_table
from polyviz.frontend.own_names import own_name
from polyviz.frontend.parts import argument_names, copies_of, names_in, names_of, parts_of
from polyviz.frontend.steering_tables import shape_of, steering_tables, steers, without_unused
from polyviz.frontend.usage import subscript_chain
from polyviz.frontend.visited import visited

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from polyviz.frontend.literals import Table
    from polyviz.frontend.names import GlobalNames
    from polyviz.frontend.source import Source
    from polyviz.frontend.taken_apart import OfLength

MOST = 64
"""Iterations that are written out at most: every statement inside is analysed as often as it stands there."""

def written_out(source: Source, names: GlobalNames) -> Source:
    """``source`` without the tuples and lists of constants that its loops look up or run over.

    >>> from polyviz.frontend.names import GlobalNames
    >>> from polyviz.frontend.source import read_source
    >>> source = read_source("def f(A, B):\\n w = [0.5, 2]\\n for d in (0, 1, 3): A[d] = w[1] * B[d]", None, None)
    >>> print(ast.unparse(ast.Module(list(written_out(source, GlobalNames(source)).body), [])))
    A[0] = 2 * B[0]
    A[1] = 2 * B[1]
    A[3] = 2 * B[3]
    """
    stored = Counter(part.id for part in names_of(*source.body) if _is_stored(part))
    around = names_in(*source.body) - set(stored)
    arguments = source.arguments
    own = argument_names(arguments)
    tables = {name: table for name in around - own if (table := as_table(names.value(name))) is not None}
    made = {} if source.is_cell else _made(source.body, stored)
    loads = Counter(part.id for part in names_of(*source.body) if _is_loaded(part))
    steering = steering_tables(source.body, names)
    writer = _Writer(source, names, tables | made | steering, loads, frozenset(steering))
    body = [node for node in source.body if not (_target(node) in made and isinstance(node, ast.Assign))]
    written = visited(writer, body)
    # The notebook has the arrays of a cell afterwards.
    return replace(source, body=tuple(written) if source.is_cell else without_unused(written, steering))


def as_table(value: object) -> Table | None:
    """``value`` if it is a tuple of numbers, or of such tuples; a list may change, and is none."""
    if not isinstance(value, tuple) or type(value) is not tuple or not value:
        return None
    fits = all(type(one) in (int, float) or as_table(one) is not None for one in value)
    return value if fits else None


def _is_stored(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def _is_loaded(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)


def _target(node: ast.stmt) -> str:
    match node:
        case ast.Assign(targets=[ast.Name(id=name)]):
            return name
    return ""


def _made(body: Sequence[ast.stmt], stored: Mapping[str, int]) -> dict[str, Table]:
    """The tables that the program makes on its way and only looks up."""
    found = {}
    for node in body:
        name = _target(node)
        table = literal_table(node.value) if name and stored[name] == 1 and isinstance(node, ast.Assign) else None
        if table is not None and _is_looked_up(name, body):
            found[name] = table
    return found


def _is_looked_up(name: str, body: Sequence[ast.stmt]) -> bool:
    """Whether every use of ``name`` asks for an element, the length, or runs over the elements."""
    uses = Counter[bool]()
    for part in parts_of(*body):
        match part:
            case ast.Name(id=other, ctx=ast.Load()) if other == name:
                uses[False] += 1
            case ast.Subscript(value=ast.Name(id=other), ctx=ast.Load()) if other == name:
                uses[True] += 1
            case ast.For(iter=ast.Name(id=other)) if other == name:
                uses[True] += 1
            case ast.For(iter=ast.Call(func=ast.Name(id="enumerate" | "zip"), args=rows)):
                uses[True] += sum(isinstance(one, ast.Name) and one.id == name for one in rows)
            case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=other)]) if other == name:
                uses[True] += 1
            case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[ast.Name(id=other)]) if other == name:
                uses[True] += 1
    return uses[False] == uses[True]


class _Writer(ast.NodeTransformer):
    """Puts numbers in the place of what is looked up; ``values`` are those of tables, and of loops written out.
    ``arrays`` are the tables that are arrays as well, for what is looked up by no number."""

    def __init__(
        self,
        source: Source,
        names: GlobalNames,
        values: Mapping[str, Any],
        loads: Mapping[str, int],
        arrays: frozenset[str],
    ) -> None:
        self._source = source
        self._names = names
        self._values = dict(values)
        self._loads = loads
        self._arrays = arrays

    def visit_For(self, node: ast.For) -> ast.stmt | list[ast.stmt]:
        node.iter = self.visit(node.iter)
        values = None if node.orelse or ends_early(node.body) else self._iterations(node)
        if values is None or len(values) > MOST or _assigns(node.body, _targets(node)):
            return self._kept(node)
        if isinstance(node.target, ast.Name) and (ends := _range_of(values)) and not self._matters(node):
            node.iter = ast.copy_location(_call("range", ends, node.iter), node.iter)
            return self._kept(node)
        body = without_continue(node.body)
        return [one for value in values for one in self._copied(node, body, value)] + self._last(node, values)

    def visit_OfLength(self, node: OfLength) -> OfLength:
        """What is taken for granted of an array is asked of the array."""
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        """``e.size`` of an array that is a table as well."""
        if node.attr == "size" and self._is_array(node.value) and isinstance(node.value, ast.Name):
            return _number(prod(shape_of(self._values[node.value.id])), node)
        return self.generic_visit(node)  # type: ignore[return-value]  # an attribute stays an expression

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        self.generic_visit(node)
        match node:
            case ast.Subscript(value=ast.Attribute(value=ast.Name(id=name), attr="shape"), slice=index) if (
                name in self._arrays
            ):
                extents, axis = shape_of(self._values[name]), literal_number(index, {})
                is_known = type(axis) is int and -len(extents) <= axis < len(extents)
                return _number(extents[axis], node) if is_known and isinstance(axis, int) else node
        node.slice = _Tidy().visit(node.slice)
        value = self._looked_up(node)
        return node if value is None or isinstance(value, tuple) else _number(value, node)

    def visit_Name(self, node: ast.Name) -> ast.expr:
        value = self._values.get(node.id)
        is_number = isinstance(value, int | float) and isinstance(node.ctx, ast.Load)
        return _number(value, node) if is_number else node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        if self._names.canonical(node.func) != "len" or len(node.args) != 1:
            return self.generic_visit(node)  # type: ignore[return-value]  # a call stays an expression
        node.args[0] = self.visit(node.args[0])
        table = self._table(node.args[0])
        return node if table is None else _number(len(table), node)

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self.generic_visit(node)
        match node:
            case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[ast.Name() | ast.Subscript() as place]):
                table = self._table(place)
                if table is not None and not any(isinstance(one, tuple) for one in table):
                    numbers = ast.Tuple([_number(one, place) for one in table], ast.Load())
                    node.comparators = [ast.copy_location(numbers, place)]
        return node

    def _kept(self, node: ast.For) -> ast.For:
        node.body, node.orelse = visited(self, node.body), visited(self, node.orelse)
        return node

    def _iterations(self, node: ast.For) -> Sequence[Any] | None:
        """The values that the loop runs over, where they are written down and are to be seen one by one."""
        table = self._table(node.iter)
        table = self._rows(node.iter) if table is None else table
        if table is not None:
            return table if all(_fits(node.target, value) for value in table) else None
        if not isinstance(node.iter, ast.Call) or self._names.canonical(node.iter.func) != "range":
            return None
        ends = [literal_number(one, {}) for one in node.iter.args]
        whole = [end for end in ends if type(end) is int]
        if len(whole) != len(ends) or not 1 <= len(ends) <= 3 or (len(ends) == 3 and not ends[2]):
            return None
        values = range(*whole)
        # The slice asks before `len` would: there are ranges longer than a length can say.
        return values if 0 < len(values[: MOST + 1]) <= MOST and self._matters(node) else None

    def _rows(self, node: ast.expr) -> Table | None:
        """What ``enumerate`` and ``zip`` make of tables."""
        called = self._names.canonical(node.func) if isinstance(node, ast.Call) else None
        match node:
            case ast.Call(args=[row, *start], keywords=[]) if called == "enumerate" and len(start) < 2:
                table, first = self._table(row), literal_number(start[0], {}) if start else 0
                return tuple(enumerate(table, first)) if table is not None and type(first) is int else None
            case ast.Call(args=[_, *_] as rows, keywords=[]) if called == "zip":
                tables = [table for row in rows if (table := self._table(row)) is not None]
                return tuple(zip(*tables, strict=False)) if len(tables) == len(rows) else None
        return None

    def _table(self, node: ast.expr) -> Table | None:
        value = self._looked_up(node) if isinstance(node, ast.Name | ast.Subscript) else literal_table(node)
        return value if isinstance(value, tuple) else None

    def _looked_up(self, node: ast.expr) -> object:
        """The table or number that ``node``, a table or an element of one, stands for; None for anything else."""
        base, indices = subscript_chain(node) if isinstance(node, ast.Subscript) else (node, ())
        if not isinstance(base, ast.Name) or not self._is_table(base):
            return None
        value = self._values[base.id]
        if indices and base.id in self._arrays and not _has_element(value, indices):
            return None
        for index in indices:
            value = self._element(base, value, index)
        return value

    def _matters(self, node: ast.For) -> bool:
        """Whether more can be said of single iterations of ``node`` than of all of them together."""
        return self._looks_up(node) or _wraps(node) or steers(node, self._arrays)

    def _looks_up(self, node: ast.For) -> bool:
        """Whether an element of a table is chosen by the variable of the loop."""
        wanted = _targets(node)
        chains = (subscript_chain(part) for part in parts_of(*node.body) if isinstance(part, ast.Subscript))
        looked_up = (each for base, each in chains if self._is_table(base) and not self._is_array(base))
        indices = (index for each in looked_up for index in parts_of(*each))
        return any(isinstance(index, ast.Name) and index.id in wanted for index in indices)

    def _is_table(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Name) and isinstance(self._values.get(node.id), tuple)

    def _is_array(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Name) and node.id in self._arrays

    def _copied(self, node: ast.For, body: list[ast.stmt], value: object) -> list[ast.stmt]:
        """``body`` of the loop ``node`` in the iteration with ``value``."""
        before = self._values
        self._values = {**before, **dict(_bindings(node.target, value))}
        written = visited(self, copies_of(body))
        self._values = before
        return written

    def _last(self, node: ast.For, values: Sequence[Any]) -> list[ast.stmt]:
        """What the variables of the loop hold after it, for those that somebody may look at."""
        inside = Counter(part.id for part in names_of(*node.body) if _is_loaded(part))
        return [
            ast.copy_location(
                ast.Assign([ast.copy_location(ast.Name(name, ast.Store()), node.target)], _number(value, node.target)),
                node.target,
            )
            for name, value in _bindings(node.target, values[-1])
            if not isinstance(value, tuple) and (self._source.is_cell or self._loads[name] > inside[name])
        ]

    def _element(self, base: ast.Name, value: object, index: ast.expr) -> object:
        place = literal_number(index, {})
        if not isinstance(value, tuple):
            raise self._source.error(index, f"`{base.id}` holds a number here.", hint="Leave the subscript out.")
        if type(place) is not int:
            raise self._source.error(
                index,
                f"`{base.id}` is a tuple or list of constants, and which of them is meant is not known.",
                reason="Its subscripts have to be numbers, or variables of loops over constants.",
                hint="Use a NumPy array that is made before the loops.",
            )
        if not -len(value) <= place < len(value):
            raise self._source.error(
                index,
                f"`{base.id}` has {len(value)} elements, and none with the subscript {place}.",
                hint="Correct the subscript or the bounds of the loop.",
            )
        return value[place]


def _has_element(value: object, indices: Sequence[ast.expr]) -> bool:
    """Whether ``indices`` are numbers that choose a number of the table ``value``."""
    for index in indices:
        place = literal_number(index, {})
        if not isinstance(value, tuple) or type(place) is not int or not -len(value) <= place < len(value):
            return False
        value = value[place]
    return not isinstance(value, tuple)


def _wraps(node: ast.For) -> bool:
    """Whether a subscript has a remainder by a size of what the loop over a few numbers moves: ``A[(i + d) % n]``.

    With the number in it, it is ``A[i + 1]`` but where it wraps around.
    """
    wanted, indices = _targets(node), [part.slice for part in parts_of(*node.body) if isinstance(part, ast.Subscript)]
    looked_up = {name for index in indices for name in names_in(index)}
    named = [part.value for part in parts_of(*node.body) if isinstance(part, ast.Assign) and _target(part) in looked_up]
    remainders = (part for one in (*indices, *named) for part in parts_of(one) if isinstance(part, ast.BinOp))
    return any(
        isinstance(part.op, ast.Mod) and literal_number(part.right, {}) is None and wanted & names_in(part.left)
        for part in remainders
    )


class _Tidy(ast.NodeTransformer):
    """Subscripts as a person would write them: ``i + -1`` is ``i - 1``, and ``i + 0`` is ``i``."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        match node:
            case ast.BinOp(op=ast.Add() | ast.Sub(), right=ast.Constant(value=0)):
                return node.left
            case ast.BinOp(op=ast.Add(), right=ast.Constant(value=int() as value)) if value < 0:
                return ast.copy_location(ast.BinOp(node.left, ast.Sub(), _number(-value, node.right)), node)
        return node


def _targets(node: ast.For) -> set[str]:
    return names_in(node.target)


def _assigns(body: Sequence[ast.stmt], names: set[str]) -> bool:
    return any(part.id in names for part in names_of(*body) if _is_stored(part))


def _fits(target: ast.expr, value: object) -> bool:
    """Whether a loop variable, or a tuple of them, can be given ``value``."""
    if isinstance(target, ast.Tuple):
        fits = isinstance(value, tuple) and len(value) == len(target.elts)
        return fits and isinstance(value, tuple) and all(map(_fits, target.elts, value))
    return isinstance(target, ast.Name)


def _bindings(target: ast.expr, value: object) -> Iterator[tuple[str, object]]:
    if isinstance(target, ast.Tuple) and isinstance(value, tuple):
        for one, part in zip(target.elts, value, strict=True):
            yield from _bindings(one, part)
    elif isinstance(target, ast.Name):
        yield target.id, value


def _range_of(values: Sequence[Any]) -> tuple[int, int, int] | None:
    """The start, stop and step of the range with these ``values``, where there is one."""
    steps = {after - before for before, after in pairwise(values)} if _are_integers(values) else set()
    if len(steps) != 1 or 0 in steps:
        return None
    (step,) = steps
    return values[0], values[-1] + (1 if step > 0 else -1), step


def _are_integers(values: Sequence[Any]) -> bool:
    return all(type(value) is int for value in values)


def _call(name: str, arguments: Iterable[int], where: ast.expr) -> ast.Call:
    function = ast.copy_location(own_name(name), where)
    return ast.Call(function, [_number(value, where) for value in arguments], [])


def _number(value: Any, where: ast.AST) -> ast.Constant:
    return ast.copy_location(ast.Constant(value), where)

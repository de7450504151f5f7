"""Arrays that are made as copies, or anew in every iteration: made once, before the loops, and filled where they stand.

``B = A.copy()`` is ``B = np.empty_like(A)`` and ``B[...] = A``. Inside a loop the first goes before all loops: nobody
can tell, where the name is used only behind that line of the same block.
"""

from __future__ import annotations

import ast
import copy
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from polyviz.frontend.array_names import mentions
from polyviz.frontend.functions import CREATORS, CREATORS_LIKE
from polyviz.frontend.jumps import ends_early
from polyviz.frontend.own_names import numpy_function
from polyviz.frontend.parts import argument_names, copies_of, copy_of, names_of, parts_of
from polyviz.frontend.regions import call_of, difference, extent_of
from polyviz.frontend.visited import located

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from polyviz.frontend.names import GlobalNames
    from polyviz.frontend.source import Source

_FILLS = {"empty": None, "zeros": ast.Constant(0), "ones": ast.Constant(1)}
_BLOCKS = ("body", "orelse")


def with_new_arrays(source: Source, names: GlobalNames) -> Source:
    """``source`` with copies taken apart, and with arrays made before the loops that are made inside of them.

    In a cell such an array is in the notebook afterwards, so that the loops around have to run: a ``Running`` says so.

    >>> from polyviz.frontend.names import GlobalNames
    >>> from polyviz.frontend.source import read_source
    >>> source = read_source("def f(A, n):\\n for t in range(n):\\n  B = A.copy()\\n  A[0] = B[1]", None, None)
    >>> print(ast.unparse(ast.Module(list(with_new_arrays(source, GlobalNames(source)).body), [])))
    B = np.empty_like(A)
    for t in range(n):
        B[...] = A
        A[0] = B[1]
    """
    writer = _Writer(source, names)
    body = [one for node in source.body for one in writer.outermost(node)]
    kept = tuple(node for node in body if node not in writer.in_vain)
    return replace(source, body=kept, block_names=frozenset(writer.block_names))


class Running(ast.stmt):
    """Each of ``lengths``, which are those of loops around an array that is made, has to be more than 0."""

    _fields = ("lengths",)
    lengths: list[ast.expr]


@dataclass(frozen=True, slots=True)
class _New:
    """An array of this ``name``: the call that makes it, and what its elements are set to, if to anything."""

    name: str
    creation: ast.Call
    value: ast.expr | None

    def made(self, node: ast.stmt) -> ast.stmt:
        """The line that makes it, in the place of ``node``."""
        return located(ast.Assign([ast.Name(self.name, ast.Store())], self.creation), node)

    def filled(self, node: ast.stmt) -> list[ast.stmt]:
        """The line that fills it, in the place of ``node``."""
        if self.value is None:
            return []
        everything = ast.Subscript(ast.Name(self.name, ast.Load()), ast.Constant(...), ast.Store())
        return [located(ast.Assign([everything], self.value), node)]


@dataclass(slots=True)
class _Outermost:
    """The statement around all loops that an array is made in; ``changed`` are the names that it assigns, ``bound``
    those of them that may mean another array afterwards, ``before`` gets the lines that go before it, and ``lengths``
    of the loops from there to here: None where one is not known."""

    changed: set[str]
    bound: set[str]
    before: list[ast.stmt]
    lengths: tuple[ast.expr, ...] | None = ()


class _Writer:
    def __init__(self, source: Source, names: GlobalNames) -> None:
        self._names = names
        self._is_cell = source.is_cell
        self._uses = _uses(source.body)
        self._stored = bindings(source.body)
        arguments = argument_names(source.arguments)
        once = {name for name, count in self._stored.items() if count == 1} - arguments
        given = () if source.is_cell else _values(source.body)
        self._values = {name: value for name, value in given if name in once}
        self._first: dict[str, ast.stmt] = {}
        self.in_vain: list[ast.stmt] = []
        """Lines that make an array that is made anew before anybody looks at it."""
        self.block_names: set[str] = set()

    def outermost(self, node: ast.stmt) -> list[ast.stmt]:
        """A statement outside of loops, behind the lines that make what is made inside of it."""
        new = self._copied(node)
        if new is not None and self._stored[new.name] == 1:
            return [new.made(node), *new.filled(node)]
        new = new or self._created(node)
        if new is not None:
            self._first.setdefault(new.name, node)
        changed = {part.id for part in _names([node]) if isinstance(part.ctx, ast.Store)}
        around = _Outermost(changed, set(bindings([node])), [])
        inside = self._compound(node, around)
        return [*around.before, inside]

    def _compound(self, node: ast.stmt, around: _Outermost) -> ast.stmt:
        if not isinstance(node, ast.For | ast.While | ast.If):
            return node
        written = copy.copy(node)
        inside = replace(around, lengths=self._lengths(node, around))
        for block in _BLOCKS:
            setattr(written, block, self._block(getattr(node, block), inside))
        return written

    def _block(self, body: Sequence[ast.stmt], around: _Outermost) -> list[ast.stmt]:
        written: list[ast.stmt] = []
        for place, node in enumerate(body):
            new = self._copied(node) or self._created(node)
            steady = None if new is None else _Steady(self._names, self._values, around).creation(new)
            if new is None or steady is None or not self._is_own(new, body[place:], around):
                self._note_block_name(node, body[place:])
                written.append(self._compound(node, around))
                continue
            if new.name in self._first:
                self.in_vain.append(self._first[new.name])
            if self._is_cell:
                around.before.append(running(around.lengths or (), node))
            around.before.append(steady.made(node))
            written += new.filled(node) or [ast.copy_location(ast.Pass(), node)]
        return written

    def _note_block_name(self, node: ast.stmt, rest: Sequence[ast.stmt]) -> None:
        """Whether a function looks at what ``node`` assigns from here to the end of its block only."""
        name = node.targets[0].id if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) else ""
        if name and not self._is_cell and self._stored[name] == 1 and _uses(rest)[name] == self._uses[name]:
            self.block_names.add(name)

    def _is_own(self, new: _New, rest: Sequence[ast.stmt], around: _Outermost) -> bool:
        """Whether the array is used from here to the end of its block only."""
        if self._is_cell and around.lengths is None:
            return False
        first = [self._first[new.name]] if new.name in self._first else []
        alone = self._stored[new.name] == 1 + len(first)
        uses = _uses([*first, *rest])[new.name]
        return alone and uses == self._uses[new.name]

    def _lengths(self, node: ast.For | ast.While | ast.If, around: _Outermost) -> tuple[ast.expr, ...] | None:
        match node:
            case ast.For(iter=ast.Call(func=function, args=[*before, stop], keywords=[]), orelse=[]) if len(before) < 2:
                pass
            case _:
                return None
        if ends_early(node.body):
            return None
        known = self._names.canonical(function) == "range" and not _uses([*before, stop]).keys() & around.changed
        length = difference(stop, before[0]) if before else stop
        return (*around.lengths, length) if known and around.lengths is not None else None

    def _copied(self, node: ast.stmt) -> _New | None:
        """The copy of a whole array that ``node`` makes."""
        match node:
            case ast.Assign(
                targets=[ast.Name(id=name)],
                value=ast.Call(func=ast.Attribute(value=ast.Name() as array, attr=method), args=args, keywords=[]),
            ) if (method, len(args)) in (("copy", 0), ("astype", 1)):
                kept = array
            case ast.Assign(
                targets=[ast.Name(id=name)], value=ast.Call(func=function, args=[ast.Name() as kept], keywords=[])
            ) if self._names.canonical(function) in ("numpy.copy", "numpy.array"):
                args = []
            case _:
                return None
        types = [ast.keyword("dtype", one) for one in args]
        like = numpy_function("empty_like")
        return None if name == kept.id else _New(name, ast.Call(like, [copy.copy(kept)], types), kept)

    def _created(self, node: ast.stmt) -> _New | None:
        """The array of numbers that are all the same that ``node`` makes."""
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=function) as call):
                canonical = self._names.canonical(function) or ""
            case _:
                return None
        call, canonical = _of_a_shape(call, canonical)
        kind = CREATORS.get(canonical) or CREATORS_LIKE.get(canonical)
        given = call.args[1:2] or [one.value for one in call.keywords if one.arg == "fill_value"]
        fills = _FILLS | ({"full": given[0]} if given else {})
        if kind not in fills or not call.args:
            return None
        fill = fills[kind]
        value = fill if fill is None else copy_of(fill)
        if canonical in CREATORS:
            call = copy.copy(call)
            call.args = [clipped(call.args[0]), *call.args[1:]]
        return _New(name, call, value)


class _Unsteady(Exception):  # noqa: N818  # no error: the array is left where it is
    """What an array is made of may be something else in another iteration."""


class _Steady(ast.NodeTransformer):
    """Writes the creation of an array so that it is the same in all iterations, wherever that can be."""

    def __init__(self, names: GlobalNames, values: Mapping[str, ast.expr], around: _Outermost) -> None:
        self._names = names
        self._values = values
        self._around = around

    def creation(self, new: _New) -> _New | None:
        """``new`` of what is known before the loops; None where that is not known."""
        try:
            return replace(new, creation=self.visit(copy_of(new.creation)))
        except _Unsteady:
            return None

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        """A shape or type stays what it is while elements change."""
        if isinstance(node.value, ast.Name) and node.attr in ("shape", "dtype", "size", "ndim"):
            self._check_array(node.value)
            return node
        return self.generic_visit(node)  # type: ignore[return-value]  # an attribute stays an expression

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """So does the array that another one is made like."""
        called = self._names.canonical(node.func) or ""
        is_like = called in CREATORS_LIKE or called == "len" or getattr(node.func, "attr", "") == "empty_like"
        if not is_like or not node.args or not isinstance(node.args[0], ast.Name):
            return self.generic_visit(node)  # type: ignore[return-value]  # a call stays an expression
        self._check_array(node.args[0])
        node.args[1:] = [self.visit(one) for one in node.args[1:]]
        node.keywords = [self.visit(one) for one in node.keywords]
        return node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """The number that a name stands for, where the loops give it that."""
        if node.id not in self._around.changed:
            return node
        value = self._values.get(node.id)
        if value is None or not _is_size(value) or mentions(value, node.id):
            raise _Unsteady
        known: ast.expr = self.visit(copy_of(value))
        return located(known, node)

    def _check_array(self, node: ast.Name) -> None:
        if node.id in self._around.bound:
            raise _Unsteady


def _values(body: Iterable[ast.stmt]) -> Iterator[tuple[str, ast.expr]]:
    """What names are given, one by one; of several that get a shape, each has its extent."""
    for node in parts_of(*body):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                yield name, value
            case ast.Assign(
                targets=[ast.Tuple(elts=targets)], value=ast.Attribute(value=ast.Name() as base, attr="shape")
            ):
                named = ((place, one.id) for place, one in enumerate(targets) if isinstance(one, ast.Name))
                yield from ((name, extent_of(base, place)) for place, name in named)


def _is_size(node: ast.expr) -> bool:
    """Whether ``node`` is made of sizes, names and whole numbers, by what cannot fail."""
    match node:
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult(), right=right):
            return _is_size(left) and _is_size(right)
        case ast.BinOp(left=left, op=ast.FloorDiv(), right=ast.Constant(value=int() as value)):
            return value > 0 and _is_size(left)
        case ast.Call(func=ast.Name(id=function), args=args, keywords=[]) if str(function) in ("min", "max"):
            return len(args) > 1 and all(map(_is_size, args))
        case ast.Call(func=ast.Name(id="len"), args=[ast.Name()], keywords=[]):
            return True
        case ast.Subscript(value=ast.Attribute(value=ast.Name(), attr="shape"), slice=ast.Constant()):
            return True
        case ast.Constant(value=value):
            return type(value) is int
    return isinstance(node, ast.Name)


def _of_a_shape(call: ast.Call, canonical: str) -> tuple[ast.Call, str]:
    """``np.zeros_like(A[i])`` as ``np.zeros(A.shape[1:], dtype=A.dtype)``, which is the same in all iterations."""
    match call:
        case ast.Call(args=[ast.Subscript(value=ast.Name() as base, slice=index), *rest], keywords=keywords):
            pass
        case _:
            return call, canonical
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    count = next((place for place, part in enumerate(parts) if is_everything(part)), len(parts))
    is_plain = all(map(is_everything, parts[count:])) and not any(isinstance(one, ast.Slice) for one in parts[:count])
    if canonical not in CREATORS_LIKE or not is_plain or not count:
        return call, canonical
    shape, dtype = (ast.Attribute(copy.copy(base), attr, ast.Load()) for attr in ("shape", "dtype"))
    extents = ast.Subscript(shape, ast.Slice(lower=ast.Constant(count)), ast.Load())
    typed = [] if any(one.arg == "dtype" for one in keywords) else [ast.keyword("dtype", dtype)]
    made = numpy_function(CREATORS_LIKE[canonical])
    return located(ast.Call(made, [extents, *rest], [*keywords, *typed]), call), f"numpy.{made.attr}"


def is_everything(node: ast.expr) -> bool:
    """Whether the index ``node`` is a slice of everything."""
    return isinstance(node, ast.Slice) and node.lower is None and node.upper is None and node.step is None


def clipped(shape: ast.expr) -> ast.expr:
    """``shape`` with 0 for what is negative: a loop that never runs may ask for that, and would not be heard."""
    if isinstance(shape, ast.Tuple):
        return ast.copy_location(ast.Tuple([clipped(one) for one in shape.elts], shape.ctx), shape)
    is_of_shape = isinstance(shape, ast.Subscript) and isinstance(shape.value, ast.Attribute)
    if isinstance(shape, ast.Constant | ast.Attribute) or is_of_shape:
        return shape
    return ast.copy_location(call_of("max", shape, ast.Constant(0)), shape)


def running(lengths: Sequence[ast.expr], node: ast.stmt) -> ast.stmt:
    """The line that asks for each of ``lengths`` to be more than 0, at the place of ``node``."""
    line = Running()
    line.lengths = copies_of(lengths)
    return located(line, node)


def _names(nodes: Iterable[ast.AST]) -> list[ast.Name]:
    return list(names_of(*nodes))


def bindings(nodes: Iterable[ast.AST]) -> Counter[str]:
    """How often names are given something; ``B += x`` changes the elements of an array and leaves it where it is."""
    nodes = list(nodes)
    augmented = [part.target for part in parts_of(*nodes) if isinstance(part, ast.AugAssign)]
    stored = Counter(part.id for part in _names(nodes) if isinstance(part.ctx, ast.Store))
    return stored - Counter(target.id for target in augmented if isinstance(target, ast.Name))


def _uses(nodes: Iterable[ast.AST]) -> Counter[str]:
    return Counter(part.id for part in _names(nodes))


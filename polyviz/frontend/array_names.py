"""Which names of a program stand for arrays, which of them may mean the same one, and which are changed in place."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from polyviz.frontend.functions import CREATORS, CREATORS_LIKE, GENERATORS, PURE
from polyviz.frontend.parts import names_in, parts_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from polyviz.frontend.names import GlobalNames

_PRODUCTS = ("numpy.dot", "numpy.matmul", "numpy.outer")
_VIEWS = ("numpy.real", "numpy.imag")
_ELEMENTWISE = {one for one in (*PURE, "numpy.where", "numpy.clip") if one.startswith("numpy.")} - set(_VIEWS)
_METHODS = frozenset({"copy", "astype", "dot", "sum", "mean", "var", "std", "max", "min", "argmax", "argmin"})
_SUMS = """sum mean var std max min amax amin prod any all argmax argmin count_nonzero vdot inner trace linalg.norm
    cumsum cumprod diff"""
_OF_ALL = frozenset(f"numpy.{name}" for name in _SUMS.split())
_NUMBERS = frozenset({"len", "int", "float", "bool"})
"""Functions of Python that give numbers."""
_MAKERS = frozenset({*CREATORS, *CREATORS_LIKE, *GENERATORS, "numpy.array", "numpy.copy"})


def bound_by(node: ast.AST) -> str:
    """The name that ``node`` assigns, alone and as a whole; nothing for other statements.

    >>> [bound_by(node) for node in ast.parse("a = 1\\na, b = 1, 2\\na += 1\\na[0] = 1").body]
    ['a', '', '', '']
    """
    match node:
        case ast.Assign(targets=[ast.Name(id=name)]):
            return name
    return ""


def binds(node: ast.AST, name: str) -> bool:
    """Whether ``name`` is given another value somewhere in ``node``."""
    return any(bound_by(part) == name for part in parts_of(node))


def mentions(node: ast.AST, name: str) -> bool:
    """Whether ``name`` stands anywhere in ``node``."""
    return any(isinstance(part, ast.Name) and part.id == name for part in parts_of(node))


def in_place(nodes: Iterable[ast.AST]) -> set[str]:
    """The names whose elements are changed, if they are arrays.

    >>> sorted(in_place(ast.parse("a[0] = 1\\nb += 1\\nc = a[1]").body))
    ['a', 'b']
    """
    found = set()
    for part in parts_of(*nodes):
        if isinstance(part, ast.Subscript) and isinstance(part.ctx, ast.Store):
            found |= names_in(_base(part))
        if isinstance(part, ast.AugAssign):
            found |= names_in(_base(part.target))
    return found


class ArrayNames:
    """What the statements of a function, read as a whole, tell of its names; ``known`` are arrays by their head."""

    def __init__(self, body: Sequence[ast.stmt], names: GlobalNames, known: Iterable[str] = ()) -> None:
        self._body = list(body)
        self._names = names
        self._known = frozenset(known)
        self._parts = parts_of(*body)
        self.arrays = self._found()

    def rebound(self, given: set[str]) -> list[str]:
        """The names of arrays that are assigned more than once, being an argument counted, and only as a whole."""
        bound = [bound_by(part) for part in self._parts if bound_by(part)]
        stored = [part.id for part in self._parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)]
        augmented = [part.target for part in self._parts if isinstance(part, ast.AugAssign)]
        changed = [target.id for target in augmented if isinstance(target, ast.Name)]
        names = [one for one in dict.fromkeys(bound) if one in self.arrays]
        plain = [one for one in names if bound.count(one) + changed.count(one) == stored.count(one)]
        return [one for one in plain if bound.count(one) + (one in given) > 1]

    def computes(self, value: ast.expr) -> bool:
        """Whether ``value`` is an array, or computed element by element with one, for certain."""
        return self._is_of_arrays(value, self.arrays)

    def makes(self, value: ast.expr) -> bool:
        """Whether ``value`` is a new array or a number, and no array that has a name already, nor a part of one."""
        match value:
            case ast.BinOp() | ast.UnaryOp() | ast.Compare() | ast.Constant():
                return True
            case ast.Call(func=ast.Attribute(attr=method)) if method in _METHODS:
                return True
            case ast.Call(func=function):
                called = self._names.canonical(function)
                return called in _MAKERS | _ELEMENTWISE | _OF_ALL | _NUMBERS or called in _PRODUCTS
        return False

    def may_take_over(self, name: str, rest: Sequence[ast.stmt], *, is_made: bool) -> bool:
        """Whether new values of ``name`` in ``rest`` may be stored in a copy of the array that it stands for before.

        ``is_made``: the function has made that array, and no argument has its memory.
        """
        handed_over = {one for one in self._pairs(name) if self._is_handed_over(name, one)}
        shared = self._shared(name, handed_over)
        changed = in_place(rest)
        return not changed & shared and (name not in changed or (is_made and not shared))

    def shared(self, name: str) -> set[str]:
        """The names that may mean an array that ``name`` means, or a part of it."""
        return self._shared(name, set())

    def _shared(self, name: str, handed_over: set[str]) -> set[str]:
        """The names that may mean an array that ``name`` means at some time."""
        found, waiting = set[str](), [name]
        while waiting:
            one = waiting.pop()
            others = self._pairs(one)
            kept = handed_over if one == name else {other for other in others if self._is_handed_over(one, other)}
            more = others - found - {name} - kept
            found |= more
            waiting += more
        return found

    def _pairs(self, name: str) -> set[str]:
        """The names that ``name`` gets its array from, or the other way round."""
        passed = [targets | sources for targets, sources in map(self._passed, self._parts) if targets and sources]
        return {other for together in passed if name in together for other in together} - {name}

    def _passed(self, part: ast.AST) -> tuple[set[str], set[str]]:
        """Names that get something in ``part``, and the names of what may be that or hold it."""
        match part:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                is_number = isinstance(value, ast.Subscript) and name not in self.arrays
                return ({name}, set()) if is_number or self.makes(value) else ({name}, names_in(value))
            case ast.Assign(value=ast.Attribute(attr="shape")):
                return set(), set()
            case ast.Assign(targets=targets, value=value):
                plain = {one for target in targets for one in _whole_names(target)}
                return plain, names_in(value) & self.arrays
            case ast.For(target=target, iter=iterable) if not _is_range(iterable):
                return names_in(target), names_in(iterable)
        return set(), set()

    def _is_handed_over(self, name: str, other: str) -> bool:
        """Whether ``other`` is made in a block that has all its mentions, of which ``name = other`` is the last."""
        block = next((one for one in self._blocks() if any(_is_given(name, other, node) for node in one)), [])
        inside = [node for node in block if mentions(node, other)]
        total = sum(isinstance(part, ast.Name) and part.id == other for part in self._parts)
        here = sum(isinstance(part, ast.Name) and part.id == other for part in parts_of(*block))
        bindings = [node for node in inside if bound_by(node) == other]
        return (
            total == here
            and len(bindings) == 1
            and inside[0] is bindings[0]
            and _is_given(name, other, inside[-1])
            and isinstance(inside[0], ast.Assign)
            and self.makes(inside[0].value)
            and self._pairs(other) == {name}
            and not any(part is not inside[0] and bound_by(part) == other for part in self._parts)
        )

    def _blocks(self) -> Iterator[list[ast.stmt]]:
        yield self._body
        for part in self._parts:
            if isinstance(part, ast.For | ast.If | ast.While):
                yield from (part.body, part.orelse)

    def _found(self) -> set[str]:
        """The names that are subscripted, factors, or computed with such element by element."""
        found = {name for part in self._parts for name in self._evidence(part)} | self._known
        assigned = [(bound_by(part), part.value) for part in self._parts if isinstance(part, ast.Assign)]
        while True:
            more = {name for name, value in assigned if name and self._is_of_arrays(value, found)}
            if more <= found:
                return found
            found |= more

    def _evidence(self, part: ast.AST) -> Iterator[str]:
        match part:
            case ast.Subscript(value=ast.Name(id=name)):
                yield name
            case ast.Attribute(value=ast.Name(id=name), attr="shape" | "T" | "copy" | "astype" | "dot"):
                yield name
            case ast.BinOp(left=left, op=ast.MatMult(), right=right):
                yield from (one.id for one in (left, right) if isinstance(one, ast.Name))
            case ast.Call(func=function, args=args) if self._names.canonical(function) in _PRODUCTS:
                yield from (one.id for one in args if isinstance(one, ast.Name))
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=function)):
                if self._names.canonical(function) in _MAKERS:
                    yield name

    def _is_of_arrays(self, value: ast.expr, arrays: set[str]) -> bool:
        """Whether ``value`` is computed element by element with one of ``arrays``."""
        match value:
            case ast.Name(id=name):
                return name in arrays
            case ast.Subscript(slice=index):
                return any(isinstance(part, ast.Slice) for part in parts_of(index))
            case ast.BinOp(op=ast.MatMult()):
                return False
            case ast.BinOp(left=left, right=right):
                return any(self._is_of_arrays(one, arrays) for one in (left, right))
            case ast.UnaryOp(operand=operand):
                return self._is_of_arrays(operand, arrays)
            case ast.Call(func=ast.Attribute(value=inner, attr="copy" | "astype")):
                return self._is_of_arrays(inner, arrays)
            case ast.Call(func=function, args=args) if self._names.canonical(function) in _ELEMENTWISE:
                return any(self._is_of_arrays(one, arrays) for one in args)
        return False


def _is_given(name: str, other: str, node: ast.AST) -> bool:
    """Whether ``node`` is ``name = other``."""
    return bound_by(node) == name and isinstance(node, ast.Assign) and _whole_names(node.value) == {other}


def _whole_names(node: ast.expr) -> set[str]:
    parts = node.elts if isinstance(node, ast.Tuple | ast.List) else [node]
    return {part.id for part in parts if isinstance(part, ast.Name)}


def _base(node: ast.expr) -> ast.expr:
    while isinstance(node, ast.Subscript | ast.Attribute):
        node = node.value
    return node


def _is_range(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and str(node.func.id) in ("range", "prange")

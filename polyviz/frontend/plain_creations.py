"""Arrays that are made in other words: one assignment for several, a type given afterwards, arithmetic of numbers.

``l, m = np.zeros(n), np.zeros(n)`` becomes two lines, ``np.zeros(n).astype(t)`` is ``np.zeros(n, dtype=t)``,
``np.array([1, 2]) / 4`` is ``np.array([0.25, 0.5])``, and what ``np.full`` is given may have a name.
"""

from __future__ import annotations

import ast
import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from polyviz.frontend.array_names import bound_by, mentions
from polyviz.frontend.constant_arrays import array_of, why_not
from polyviz.frontend.functions import GENERATORS, MAKERS
from polyviz.frontend.limits import limit
from polyviz.frontend.literals import NUMBERS, literal_number, literal_table
from polyviz.frontend.new_arrays import bindings
from polyviz.frontend.own_names import numpy_function
from polyviz.frontend.parts import copy_of, parts_of, stored_in
from polyviz.frontend.usage import subscript_chain
from polyviz.frontend.visited import FreshNames, located, visited

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from polyviz.frontend.names import GlobalNames
    from polyviz.frontend.source import Source

_MOST = 64
"""Computed numbers that an array is made of at most: each of them is a statement."""
_SEVERAL = ast.List | ast.Tuple | ast.Starred | ast.Slice
_TYPED = ("numpy.zeros", "numpy.ones", "numpy.empty")
_ARRAYS = ("numpy.array", "numpy.asarray")
_OPERATIONS: dict[type[ast.operator], np.ufunc] = {
    ast.Add: np.add, ast.Sub: np.subtract, ast.Mult: np.multiply, ast.Div: np.true_divide,
    ast.FloorDiv: np.floor_divide, ast.Pow: np.power,
}  # fmt: skip


def with_plain_creations(source: Source, names: GlobalNames) -> Source:
    """``source`` with lines that each make one array, by the call of a function that makes arrays.

    >>> from polyviz.frontend.names import GlobalNames
    >>> from polyviz.frontend.source import read_source
    >>> text = "def f(n):\\n INF = 1e30\\n a, b = np.full(n, -INF), np.ones(n).astype(np.int8)\\n"
    >>> source = read_source(text + " c = np.array([1, 2]) / 4", None, None)
    >>> print(ast.unparse(ast.Module(list(with_plain_creations(source, GlobalNames(source)).body), [])))
    INF = 1e+30
    a = np.full(n, -1e+30)
    b = np.ones(n, dtype=np.int8)
    c = np.array([0.25, 0.5], dtype='float64')
    """
    numbers = {} if source.arguments is None else _numbers(source, names)
    fresh = None if source.arguments is None else FreshNames(source, names)
    writer = _Writer(names, numbers, stored_in(*source.body), fresh)
    return replace(source, body=tuple(visited(writer, source.body)))


def _numbers(source: Source, names: GlobalNames) -> dict[str, ast.expr]:
    """The names that are given a number at the beginning of a line of the function, and nothing else."""
    counts = bindings(source.body)
    if source.arguments is not None:
        counts.update(part.arg for part in parts_of(source.arguments) if isinstance(part, ast.arg))
    lines = [node for node in source.body if isinstance(node, ast.Assign) and counts[bound_by(node)] == 1]
    return {bound_by(node): node.value for node in lines if _is_number(node.value, names)}


def _is_number(node: ast.expr, names: GlobalNames) -> bool:
    match node:
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _is_number(operand, names)
        case ast.Attribute():
            return names.constant(node) is not None or limit(node, names.canonical) is not None
    return literal_number(node, {}) is not None


class _Writer(ast.NodeTransformer):
    """Writes single lines; ``numbers`` are names for them, ``assigned`` all names that are given something.

    ``fresh`` gives names to what has none, in a function.
    """

    def __init__(
        self, names: GlobalNames, numbers: Mapping[str, ast.expr], assigned: set[str], fresh: FreshNames | None
    ) -> None:
        self._names = names
        self._fresh = fresh
        self._numbers = numbers
        self._assigned = assigned

    def visit_Assign(self, node: ast.Assign) -> list[ast.stmt]:
        return [line for one in self._taken_apart(node) for line in self._behind(one)]

    def visit_Return(self, node: ast.Return) -> list[ast.stmt]:
        return self._behind(node)

    def _behind(self, node: ast.Assign | ast.Return) -> list[ast.stmt]:
        """``node`` behind lines that give names to the arrays of numbers inside of what it computes."""
        if self._fresh is None or node.value is None:
            return self._plain(node) if isinstance(node, ast.Assign) else [node]
        parts = _Inside(self._is_of_numbers, self._fresh)
        is_alone = isinstance(node, ast.Assign) and bool(bound_by(node)) and self._is_of_numbers(node.value)
        value = node.value if is_alone else parts.visit(copy_of(node.value))
        if parts.before:
            node = copy.copy(node)
            node.value = value
        lines = self._plain(node) if isinstance(node, ast.Assign) else [node]
        return [*(line for one in parts.before for line in self._plain(one)), *lines]

    def _is_of_numbers(self, node: ast.expr) -> bool:
        """Whether ``node`` makes an array of a list of computed numbers."""
        match node:
            case ast.Call(func=function, args=[ast.List() | ast.Tuple() as table, *_]):
                return self._names.canonical(function) in _ARRAYS and literal_table(table) is None
        return False

    def _taken_apart(self, node: ast.Assign) -> list[ast.Assign]:
        """One assignment for each array, where none is of anything that is assigned before."""
        match node:
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
                pass
            case _:
                return [node]
        if len(targets) != len(values):
            return [node]
        named = [one.id for one in targets if isinstance(one, ast.Name)]
        is_apart = len(set(named)) == len(targets) and not any(mentions(node.value, name) for name in named)
        if not is_apart or not any(self._makes(value) for value in values):
            return [node]
        pairs = zip(targets, values, strict=True)
        return [located(ast.Assign([target], value), target) for target, value in pairs]

    def _makes(self, value: ast.expr) -> bool:
        match value:
            case ast.Call(func=ast.Attribute(value=ast.Name(), attr="copy"), args=[], keywords=[]):
                return True
        called = self._names.canonical(value.func) if isinstance(value, ast.Call) else None
        return called in (*MAKERS, *GENERATORS, *_ARRAYS)

    def _plain(self, node: ast.Assign) -> list[ast.stmt]:
        if not bound_by(node):
            return [node]
        value = self._typed(node.value) or self._computed(node.value)
        value = value or self._with_number(node.value) or node.value
        name = bound_by(node)
        made, behind = self._of_elements(name, value) or self._diagonal(name, value) or self._filled(name, value)
        return [ast.copy_location(ast.Assign(node.targets, made), node), *behind]

    def _typed(self, value: ast.expr) -> ast.expr | None:
        """``value`` with its element type, if that is given to new elements that are all the same."""
        match value:
            case ast.Call(func=ast.Attribute(value=ast.Call() as made, attr="astype"), args=[kind], keywords=[]):
                pass
            case _:
                return None
        kept = [one for one in made.keywords if one.arg != "dtype"]
        if self._names.canonical(made.func) not in _TYPED or len(made.args) != 1 or kept:
            return None
        return located(ast.Call(made.func, made.args, [ast.keyword("dtype", kind)]), value)

    def _diagonal(self, name: str, value: ast.expr) -> tuple[ast.expr, list[ast.stmt]] | None:
        """``np.eye(n, dtype=A.dtype)``: an empty array of that type, and the line that stores ``np.eye(n)``."""
        match value:
            case ast.Call(func=function, args=[rows, *rest], keywords=[ast.keyword(arg="dtype", value=kind)]):
                pass
            case _:
                return None
        is_like = isinstance(kind, ast.Attribute) and kind.attr == "dtype"
        if not is_like or len(rest) > 1 or self._names.canonical(function) not in ("numpy.eye", "numpy.identity"):
            return None
        shape = ast.Tuple([copy_of(one) for one in (rows, (rest or [rows])[0])], ast.Load())
        empty = ast.Call(numpy_function("empty"), [shape], [])
        empty.keywords = [ast.keyword("dtype", kind)]
        everything = ast.Subscript(ast.Name(name, ast.Load()), ast.Constant(...), ast.Store())
        ones = ast.Assign([everything], ast.Call(function, [rows, *rest], []))
        return located(empty, value), [located(ones, value)]

    def _filled(self, name: str, value: ast.expr) -> tuple[ast.expr, list[ast.stmt]]:
        """``np.full`` of a type with what the program computes: the call that makes the array, and the line behind."""
        match value:
            case ast.Call(func=function, args=[shape, fill, *kinds], keywords=named) if self._is_computed(fill):
                pass
            case _:
                return value, []
        if self._names.canonical(function) != "numpy.full" or len(kinds) + len(named) != 1:
            return value, []
        empty = ast.Call(numpy_function("empty"), [shape, *kinds], named)
        everything = ast.Subscript(ast.Name(name, ast.Load()), ast.Constant(...), ast.Store())
        return located(empty, value), [located(ast.Assign([everything], fill), value)]

    def _of_elements(self, name: str, value: ast.expr) -> tuple[ast.expr, list[ast.stmt]] | None:
        """``np.array`` of numbers that are computed: the empty array, and a line for each."""
        match value:
            case ast.Call(func=function, args=[ast.List(elts=parts) | ast.Tuple(elts=parts), *kinds], keywords=named):
                kinds = [*kinds, *(one.value for one in named if one.arg == "dtype")]
            case _:
                return None
        is_array = self._names.canonical(function) in _ARRAYS and len(kinds) <= 1
        is_plain = all(one.arg == "dtype" for one in named) and not mentions(value, name)
        cells = _cells(parts)
        if not (is_array and is_plain and 0 < len(cells) <= _MOST) or literal_table(value.args[0]) is not None:
            return None
        kind = kinds[0] if kinds else _type_of([part for _, part in cells]) or ast.Constant("float64", NUMBERS)
        shape = [place + 1 for place in cells[-1][0]]
        empty = ast.Call(numpy_function("empty"), [_index(shape)], [])
        empty.keywords = [ast.keyword("dtype", kind)]
        lines = [
            ast.Assign([ast.Subscript(ast.Name(name, ast.Load()), _index(places), ast.Store())], part)
            for places, part in cells
        ]
        return located(empty, value), [located(line, value) for line in lines]

    def _is_computed(self, fill: ast.expr) -> bool:
        parts = parts_of(fill)
        names = {part.id for part in parts if isinstance(part, ast.Name)}
        return bool(names & self._assigned) or any(isinstance(part, ast.Subscript) for part in parts)

    def _with_number(self, value: ast.expr) -> ast.expr | None:
        """A call of ``np.full`` with the number in the place of a name for it."""
        if not isinstance(value, ast.Call) or len(value.args) < 2 or self._names.canonical(value.func) != "numpy.full":
            return None
        shape, fill, *rest = value.args
        filled = _Numbers(self._numbers).visit(copy_of(fill))
        return located(ast.Call(value.func, [shape, filled, *rest], value.keywords), value)

    def _computed(self, value: ast.expr) -> ast.expr | None:
        """The array that arithmetic of numbers makes; None for arrays that are written down, and for other values."""
        if not isinstance(value, ast.BinOp | ast.UnaryOp | ast.Call):
            return None
        if isinstance(value, ast.Call) and self._names.canonical(value.func) in _ARRAYS:
            return None
        with np.errstate(all="ignore"):
            found = self._array(value)
        return array_of(found, value) if isinstance(found, np.ndarray) and not why_not(found) else None

    def _array(self, node: ast.expr) -> Any:
        """What ``node`` computes of arrays and numbers that are written down; None where there is anything else."""
        match node:
            case ast.BinOp(left=left, op=operator, right=right) if type(operator) in _OPERATIONS:
                parts = [self._array(left), self._array(right)]
                known = parts[0] is not None and parts[1] is not None
                return _applied(_OPERATIONS[type(operator)], parts) if known else None
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                inner = self._array(operand)
                return None if inner is None else _applied(np.negative, [inner])
            case ast.Call(func=ast.Attribute(value=ast.Call() as made, attr="astype"), args=[kind], keywords=[]):
                inner, dtype = self._array(made), self._dtype(kind)
                return inner.astype(dtype) if isinstance(inner, np.ndarray) and dtype is not None else None
            case ast.Call(func=function, args=[table, *kinds], keywords=named):
                kinds = [*kinds, *(one.value for one in named if one.arg == "dtype")]
                is_array = self._names.canonical(function) in _ARRAYS and len(kinds) <= 1
                return self._written(table, kinds) if is_array and all(one.arg == "dtype" for one in named) else None
        return literal_number(node, {})

    def _written(self, node: ast.expr, kinds: list[ast.expr]) -> Any:
        table = literal_table(node)
        dtype = self._dtype(kinds[0]) if kinds else None
        if table is None or (kinds and dtype is None):
            return None
        try:
            return np.array(table, dtype)
        except (ValueError, OverflowError):
            return None  # rows that are not equally long, or numbers that the type does not hold: refused later

    def _dtype(self, node: ast.expr) -> np.dtype[Any] | None:
        name = self._names.canonical(node) or ""
        known = name.removeprefix("numpy.") if name.startswith("numpy.") else name
        if known not in ("float", "int", *np.sctypeDict):
            return None
        dtype = np.dtype(known)
        return dtype if dtype.kind in "biuf" else None


def _cells(parts: Sequence[ast.expr]) -> list[tuple[list[int], ast.expr]]:
    """The elements of a list, or of lists that are equally long, with their subscripts; none where there are others."""
    if any(isinstance(part, ast.List | ast.Tuple) for part in parts):
        rows = [part.elts if isinstance(part, ast.List | ast.Tuple) else [] for part in parts]
        inner = [_cells(row) for row in rows]
        fits = all(cells and len(cells) == len(inner[0]) and len(cells[0][0]) == 1 for cells in inner)
        whole = [([place, *at], one) for place, cells in enumerate(inner) for at, one in cells]
        return whole if fits else []
    is_plain = not any(isinstance(part, _SEVERAL) for part in parts)
    return [([place], part) for place, part in enumerate(parts)] if is_plain else []


def _index(places: Sequence[int]) -> ast.expr:
    numbers: list[ast.expr] = [ast.Constant(place) for place in places]
    return numbers[0] if len(numbers) == 1 else ast.Tuple(numbers, ast.Load())


def _type_of(parts: Sequence[ast.expr]) -> ast.expr | None:
    """That of the one array of which all ``parts`` are elements."""
    bases = [subscript_chain(part)[0] if isinstance(part, ast.Subscript) else None for part in parts]
    names = {base.id if isinstance(base, ast.Name) else "" for base in bases}
    if len(names) != 1 or "" in names:
        return None
    return ast.Attribute(ast.Name(names.pop(), ast.Load()), "dtype", ast.Load())


def _applied(function: np.ufunc, parts: list[Any]) -> Any:
    """The result of ``function`` where one of ``parts`` is an array; of numbers alone that is Python's."""
    if not any(isinstance(part, np.ndarray) for part in parts):
        return None
    try:
        return function(*parts)
    except (TypeError, ValueError, OverflowError):
        return None


class _Inside(ast.NodeTransformer):
    """Puts names in the place of arrays of numbers, where they are computed in any case; ``before`` makes these."""

    def __init__(self, is_wanted: Callable[[ast.expr], bool], fresh: FreshNames) -> None:
        self._is_wanted = is_wanted
        self._fresh = fresh
        self.before: list[ast.Assign] = []

    def visit(self, node: ast.AST) -> Any:
        """``node`` with names."""
        if isinstance(node, ast.IfExp | ast.BoolOp | ast.Lambda | ast.GeneratorExp | ast.ListComp):
            return node
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in ("max", "min", "amax", "amin"):
            return node  # of single numbers
        if not isinstance(node, ast.expr) or not self._is_wanted(node):
            return super().visit(node)
        name = self._fresh.like("numbers")
        self.before.append(located(ast.Assign([ast.Name(name, ast.Store())], node), node))
        return located(ast.Name(name, ast.Load()), node)


class _Numbers(ast.NodeTransformer):
    def __init__(self, numbers: Mapping[str, ast.expr]) -> None:
        self._numbers = numbers

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id not in self._numbers:
            return node
        number = copy_of(self._numbers[node.id])
        for part in parts_of(number):
            if isinstance(part, ast.expr):
                ast.copy_location(part, node)
        return number

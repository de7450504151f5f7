"""How many dimensions arrays have that nothing subscripts: those with which products of whole arrays have a meaning.

In ``y[i] += (A @ x)[i]`` no subscript speaks of ``A`` and ``x``. Each of them has one dimension or two; what the other
lines say, such as ``y = A @ x`` with ``y[i]``, leaves some of these choices, and what they agree in is known.
"""

from __future__ import annotations

import ast
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from polyviz.frontend.functions import CREATORS, CREATORS_LIKE, PURE
from polyviz.frontend.parts import parts_of
from polyviz.frontend.regions import is_new_axis
from polyviz.frontend.summed import summed_by
from polyviz.frontend.symbols import rank_of_annotation
from polyviz.frontend.usage import look_at, subscript_chain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    Canonical = Callable[[ast.expr], str | None]

    from polyviz.frontend.names import GlobalNames
    from polyviz.frontend.source import Source
    from polyviz.frontend.summed import Summed
    from polyviz.frontend.usage import Usage

_MOST = 6
"""Arrays whose dimensions are found together: each of them doubles the choices."""
_PRODUCTS = ("numpy.dot", "numpy.matmul")
_OF_VECTORS = ("numpy.outer", "numpy.inner", "numpy.vdot")
_SUMS = ("sum", "mean", "var", "std", "max", "min", "amax", "amin", "prod", "any", "all", "argmax", "argmin")
_MADE = {"numpy.arange": 1, "numpy.linspace": 1, "numpy.eye": 2, "numpy.identity": 2}
_ALONG_AXIS = ("numpy.diff", "numpy.cumsum", "numpy.cumprod")


class _Impossible(Exception):  # noqa: N818  # no error: one of several choices has no meaning
    """No array has these dimensions."""


def find_ranks(source: Source, usage: Usage, canonical: Canonical) -> None:
    """Enter in ``usage`` the dimensions of arguments that are factors of products and subscripted nowhere.

    >>> from polyviz.frontend.source import read_source
    >>> from polyviz.frontend.usage import look_at
    >>> source = read_source("def f(A, x, y):\\n y[:] = A @ x\\n x[0] = 1", None, None)
    >>> usage = look_at(source.body, lambda node: None)
    >>> find_ranks(source, usage, lambda node: None)
    >>> usage.ranks
    {'A': 2}
    """
    if source.arguments is None:
        return
    arguments = [part for part in parts_of(source.arguments) if isinstance(part, ast.arg)]
    stated_ranks = {one.arg: rank_of_annotation(one.annotation) for one in arguments}
    usage.ranks |= {name: rank for name, rank in stated_ranks.items() if rank and name not in usage.ranks}
    body, names = source.body, list(stated_ranks)
    parts = parts_of(*body)
    least = _least(parts, canonical)
    known_of = {**dict.fromkeys(usage.least_ranks, 1), **least}
    open_names = [one for one in names if one in known_of and one not in usage.ranks and not usage.subscripts.get(one)]
    if not least or not open_names or len(open_names) > _MOST:
        return
    subscripted = [name for name in usage.names if usage.ranks.get(name) or usage.subscripts.get(name)]
    known = {name: _known(name, usage) for name in subscripted}
    stated = [(name, max(known_of[name], usage.least_ranks.get(name, 1))) for name in open_names]
    choices = [dict(zip(open_names, each, strict=True)) for each in product(*(range(low, 3) for _, low in stated))]
    told = [(_narrow(parts, {**known, **one}, set(names) - known.keys(), canonical), one) for one in choices]
    least_narrow = min((count for count, _ in told if count is not None), default=0)
    fitting = [one for count, one in told if count == least_narrow]
    # Where ``.shape`` or ``.copy()`` is all that is said of an array, it has as few dimensions as that needs.
    fewest = [one for one in fitting if all(one[name] == low for name, low in stated if name in usage.least_ranks)]
    for name in open_names:
        found = {one[name] for one in fewest or fitting}
        if len(found) == 1:
            usage.ranks[name] = found.pop()


def least_ranks(source: Source, names: GlobalNames) -> dict[str, int]:
    """The dimensions that names have at least: by subscripts, ``.shape``, the head, and the arrays of a notebook.

    >>> from polyviz.frontend.names import GlobalNames
    >>> from polyviz.frontend.source import read_source
    >>> text = "def f(A, x: 'float64[:]'):\\n n, m = A.shape\\n for i in range(n): x[i] = A[i][0]"
    >>> source = read_source(text, None, None)
    >>> ranks = least_ranks(source, GlobalNames(source))
    >>> ranks["A"], ranks["x"]
    (2, 1)
    """
    usage = look_at(source.body, names.canonical, names.helper)
    parts = parts_of(source.arguments)
    stated = {one.arg: rank_of_annotation(one.annotation) for one in parts if isinstance(one, ast.arg)}
    values = {name: names.value(name) for name in usage.names} if source.is_cell else {}
    around = {name: value.ndim for name, value in values.items() if isinstance(value, np.ndarray)}
    found = {name: _known(name, usage) for name in (*usage.ranks, *usage.subscripts, *usage.least_ranks)}
    return {**found, **{name: rank for name, rank in stated.items() if rank}, **around}


def ranks_told(source: Source, names: GlobalNames) -> dict[str, int]:
    """The dimensions of names that the text tells: by subscripts, by the head, and by what makes an array.

    Of what is only known to be an array nothing is told.

    >>> from polyviz.frontend.names import GlobalNames
    >>> from polyviz.frontend.source import read_source
    >>> text = "def f(A, x, y):\\n n = A.shape[1]\\n B = np.zeros_like(A)\\n x[0] = y.shape[0]"
    >>> source = read_source(text, None, None)
    >>> ranks_told(source, GlobalNames(source))
    {'A': 2, 'x': 1, 'B': 2}
    """
    usage = look_at(source.body, names.canonical, names.helper)
    told = {name: rank for name, rank in least_ranks(source, names).items() if rank > 1}
    told |= {name: _known(name, usage) for name in (*usage.subscripts, *usage.ranks) if name not in told}
    arguments = parts_of(source.arguments)
    stated = {one.arg: rank_of_annotation(one.annotation) for one in arguments if isinstance(one, ast.arg)}
    told |= {name: rank for name, rank in stated.items() if rank}
    if source.is_cell:
        around = {name: names.value(name) for name in usage.names}
        told |= {name: value.ndim for name, value in around.items() if isinstance(value, np.ndarray)}
    reader = _Reader(told, set(), names.canonical)
    for node in parts_of(*source.body):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() | ast.BinOp() as value):
                made = _of_value(reader, value)
                if made and made > told.get(name, 0):  # where a row is chosen, subscripts tell less
                    told[name] = made
    return told


def ranks_followed(source: Source, names: GlobalNames) -> dict[str, int]:
    """The dimensions of names, also of those that stand for parts of arrays, or for what is computed with such.

    >>> from polyviz.frontend.names import GlobalNames
    >>> from polyviz.frontend.source import read_source
    >>> source = read_source("def f(A, c):\\n row = A[0, :]\\n b = row * c", None, None)
    >>> ranks_followed(source, GlobalNames(source))
    {'A': 2, 'c': 0, 'row': 1, 'b': 1}
    """
    known, given = ranks_told(source, names), dict[str, set[int | None]]()
    arguments = parts_of(source.arguments)
    # Of an argument that is an array the text tells it, or the call, with which it is read again otherwise.
    known = {**{one.arg: 0 for one in arguments if isinstance(one, ast.arg)}, **known}
    told = set(known)
    for node in parts_of(*source.body):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name not in told:
                rank = rank_of(value, known, names)
                given.setdefault(name, set()).add(rank)
                known |= {} if rank is None else {name: rank}
            case ast.For(target=ast.Name(id=name), iter=ast.Call(func=function)) if name not in told:
                known |= {name: 0} if names.canonical(function) == "range" else {}
    return {name: rank for name, rank in known.items() if given.get(name, {rank}) == {rank}}


def rank_of(value: ast.expr, told: Mapping[str, int], names: GlobalNames) -> int | None:
    """How many dimensions ``value`` has, with what is ``told`` of names; None where that does not follow.

    >>> from polyviz.frontend.names import GlobalNames
    >>> from polyviz.frontend.source import read_source
    >>> names = GlobalNames(read_source("x[0] = 1", None, None))
    >>> rank_of(ast.parse("A[1:, 0] @ B", mode="eval").body, {"A": 2, "B": 2}, names)
    1
    """
    return _of_value(_Reader(dict(told), set(), names.canonical), value)


def _of_value(reader: _Reader, value: ast.expr) -> int | None:
    """The dimensions of ``value``; None where it has no meaning, which is refused where it is read."""
    try:
        return reader.of(value)
    except _Impossible:
        return None


def _known(name: str, usage: Usage) -> int:
    return usage.ranks.get(name) or max(*usage.subscripts.get(name, ()), usage.least_ranks.get(name, 1), 1)


def _least(parts: Iterable[ast.AST], canonical: Canonical) -> dict[str, int]:
    """The names that are factors of products, or transposed, with the dimensions that they have at least."""
    found: dict[str, int] = {}
    for part in parts:
        low = 2 if isinstance(part, ast.Attribute) and part.attr == "T" else 1
        for one in [part.value] if isinstance(part, ast.Attribute) and low == 2 else product_factors(part, canonical):
            if isinstance(one, ast.Name):
                found[one.id] = max(low, found.get(one.id, 1))
    return found


def product_factors(node: ast.AST, canonical: Canonical) -> list[ast.expr]:
    """The two factors of ``node``, if it is a product of arrays."""
    match node:
        case ast.BinOp(left=left, op=ast.MatMult(), right=right):
            return [left, right]
        case ast.Call(func=function, args=[left, right]) if canonical(function) in (*_PRODUCTS, *_OF_VECTORS):
            return [left, right]
        case ast.Call(func=ast.Attribute(value=left, attr="dot"), args=[right]):
            return [left, right]
    return []


def _narrow(
    parts: Sequence[ast.AST], ranks: Mapping[str, int], numbers: set[str], canonical: Canonical
) -> int | None:
    """How often a value goes with several elements with these dimensions; None where a line has no meaning.

    ``numbers`` are arguments that are none of the arrays.
    """
    reader = _Reader(dict(ranks), numbers, canonical)
    try:
        while True:
            before, reader.narrow = dict(reader.ranks), 0
            for part in parts:
                reader.look_at(part)
            if reader.ranks == before:
                return reader.narrow
    except _Impossible:
        return None


class _Reader:
    """The dimensions of expressions: None where they are not known."""

    def __init__(self, ranks: dict[str, int], numbers: set[str], canonical: Canonical) -> None:
        self.ranks = ranks
        self.narrow = 0
        self._numbers = numbers
        self._canonical = canonical

    def look_at(self, node: ast.AST) -> None:
        """Raise ``_Impossible`` where a line cannot be; learn the dimensions of the name that it assigns."""
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self._same(name, self.of(value))
            case ast.Assign(targets=[ast.Subscript() as target], value=value) | ast.AugAssign(
                target=ast.Subscript() | ast.Name() as target, value=value
            ):
                whole, part = self.of(target), self.of(value)
                if whole is not None and part is not None:
                    self.narrow += part < whole
                    if part > whole:
                        raise _Impossible
            case ast.Return(value=ast.expr() as value) | ast.Expr(value=value):
                self.of(value)
            case ast.For(iter=ast.Call(args=ends)):
                for one in ends:
                    self.of(one)

    def _same(self, name: str, rank: int | None) -> None:
        if rank is None:
            return
        if self.ranks.setdefault(name, rank) != rank:
            raise _Impossible

    def of(self, node: ast.expr) -> int | None:
        """How many dimensions ``node`` has."""
        if (factors := product_factors(node, self._canonical)) != []:
            return self._of_product(node, *(self.of(one) for one in factors))
        match node:
            case ast.Constant():
                return 0
            case ast.Name(id=name):
                return self.ranks.get(name, 0 if name in self._numbers else None)
            case ast.Attribute(value=value, attr="T"):
                return self._of_turned(value)
            case ast.Subscript():
                return self._of_part(node)
            case ast.Call():
                return self._of_call(node)
            case ast.BinOp() | ast.UnaryOp() | ast.Compare() | ast.IfExp():
                return self._widest(one for one in ast.iter_child_nodes(node) if isinstance(one, ast.expr))
        return None

    def _of_turned(self, value: ast.expr) -> int | None:
        rank = self.of(value)
        if rank == 1:
            raise _Impossible
        return rank

    def _of_product(self, node: ast.expr, left: int | None, right: int | None) -> int | None:
        called = self._canonical(node.func) if isinstance(node, ast.Call) else None
        if called in _OF_VECTORS:
            if {left, right} - {1, None}:
                raise _Impossible
            return 2 if called == "numpy.outer" else 0
        if left is None or right is None:
            return None
        if left not in (1, 2) or right not in (1, 2):
            raise _Impossible
        return left + right - 2

    def _widest(self, parts: Iterator[ast.expr] | Sequence[ast.expr]) -> int | None:
        found = [(one, self.of(one)) for one in parts]
        known = [rank for _, rank in found if rank is not None]
        widest = max(known, default=0)
        products = [rank for one, rank in found if rank is not None and product_factors(one, self._canonical)]
        self.narrow += sum(rank < widest for rank in products)
        return widest if len(known) == len(found) else None

    def _of_part(self, node: ast.Subscript) -> int | None:
        base, indices = subscript_chain(node)
        rank = self.ranks.get(base.id) if isinstance(base, ast.Name) else None
        new = sum(map(is_new_axis, indices))
        indices = tuple(one for one in indices if not is_new_axis(one))
        if rank is None or any(isinstance(one, ast.Constant) and type(one.value) is not int for one in indices):
            return None
        fixed = sum(not isinstance(one, ast.Slice) for one in indices)
        if len(indices) > rank:
            raise _Impossible
        several = max((self.of(one) or 0 for one in indices if not isinstance(one, ast.Slice)), default=0)
        return rank - fixed + new + several if several < 2 else None

    def _of_shape(self, shape: ast.expr) -> int | None:
        """How many dimensions an array of this ``shape`` has."""
        if isinstance(shape, ast.Tuple | ast.List):
            return len(shape.elts)
        return self.of(shape.value) if isinstance(shape, ast.Attribute) and shape.attr == "shape" else 1

    def _of_call(self, node: ast.Call) -> int | None:
        called = self._canonical(node.func) or ""
        method = node.func.attr if isinstance(node.func, ast.Attribute) and not called else ""
        if method in ("copy", "astype") and isinstance(node.func, ast.Attribute):
            return self.of(node.func.value)
        if called in CREATORS and node.args:
            return self._of_shape(node.args[0])
        if called in CREATORS_LIKE or called == "numpy.copy":
            return self.of(node.args[0]) if node.args else None
        if called in _MADE:
            return _MADE[called]
        if called in _ALONG_AXIS and node.args:
            return self.of(node.args[0]) if called == "numpy.diff" or len(node.args) + len(node.keywords) > 1 else 1
        if method in _SUMS or called.partition("numpy.")[2] in (*_SUMS, "linalg.norm"):
            is_of_all = len(node.args) + len(node.keywords) == (0 if method else 1)
            return 0 if is_of_all else self._of_sum(summed_by(node, self._canonical))
        is_choice = called == "numpy.clip" or (called == "numpy.where" and len(node.args) == 3)
        return self._widest(node.args) if called in PURE or is_choice else None

    def _of_sum(self, summed: Summed | None) -> int | None:
        """The dimensions of a sum along some axes."""
        rank = None if summed is None or summed.axes is None else self.of(summed.operand)
        if summed is None or summed.axes is None or rank is None or not summed.fits(rank):
            return None
        return rank if summed.keeps else rank - len(summed.axes)

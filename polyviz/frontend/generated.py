"""Arrays whose elements follow from their positions: ``np.arange``, ``np.linspace``, ``np.eye`` and ``np.identity``.

So do those of ``np.ones(n)`` inside an expression, where no array needs to be, of ``np.diag(A)``, and those of another
shape, ``np.arange(n * m).reshape(n, m)``.
"""

from __future__ import annotations

import ast
from collections import Counter
from dataclasses import dataclass
from functools import reduce
from math import isqrt
from typing import TYPE_CHECKING

from polyviz.frontend.diagonals import offset_of
from polyviz.frontend.functions import GENERATORS, INTEGER_TYPES, PURE, arguments_of, named_arguments
from polyviz.frontend.integers import is_integral
from polyviz.frontend.literals import SUM
from polyviz.frontend.parts import copies_of, copy_of, parts_of
from polyviz.frontend.regions import Axis, call_of, constant_of, difference, extent_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from polyviz.frontend.expressions import ExpressionReader


_FILLS: dict[str, ast.expr | None] = {
    "numpy.zeros": ast.Constant(0.0), "numpy.ones": ast.Constant(1.0), "numpy.full": None,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Generated:
    """``axes`` count the positions; ``value`` gives the element at some of them."""

    axes: tuple[Axis, ...]
    value: Callable[[Sequence[ast.expr]], ast.expr]


def generated(node: ast.expr, expressions: ExpressionReader) -> Generated | None:
    """What ``node`` generates; None for anything else, and where the arguments are beyond what is read here.

    >>> import polyviz as pv
    >>> print(pv.extract("def f(n):\\n    x = np.linspace(0, 1, n)\\n    return x").statements[0].source)
    x = np.linspace(0, 1, n)
    """
    name = expressions.canonical(node.func) or "" if isinstance(node, ast.Call) else ""
    if isinstance(node, ast.Call) and name in _FILLS:
        return _filled(node, name, expressions)
    if isinstance(node, ast.Call) and name in ("numpy.diag", "numpy.diagonal"):
        return _diagonal(node, name, expressions)
    if not name and (other := _copied(node, expressions) or _reshaped(node, expressions)) is not None:
        return other
    if not isinstance(node, ast.Call) or name not in GENERATORS:
        return None
    given = arguments_of(name, node)
    if not given.keys() <= set(GENERATORS[name]) or len(node.args) > len(GENERATORS[name]):
        return None
    dtype = given.pop("dtype", None)
    makers = {"numpy.arange": _arange, "numpy.linspace": _linspace, "numpy.eye": _eye, "numpy.identity": _eye}
    made = makers[name](given, expressions)
    return made if made is None or dtype is None else _of_type(made, dtype, name, expressions)


def _of_type(made: Generated, dtype: ast.expr, name: str, expressions: ExpressionReader) -> Generated | None:
    """What the function called ``name`` makes, with elements of the type ``dtype``."""
    kind = expressions.canonical(dtype) or ""
    if 1 not in PURE.get(kind, ()):
        return None
    rounds = name == "numpy.linspace" and kind in INTEGER_TYPES

    def cast(places: Sequence[ast.expr]) -> ast.expr:
        value = made.value(places)
        # NumPy rounds these down, below 0 as well; a cast would cut them off.
        whole = ast.BinOp(value, ast.FloorDiv(), ast.Constant(1.0)) if rounds else value
        return ast.Call(dtype, [whole], [])

    return Generated(made.axes, cast)


def _filled(node: ast.Call, name: str, expressions: ExpressionReader) -> Generated | None:
    """The same number everywhere: what ``np.zeros`` and its kin make inside an expression."""
    order = ("shape", "fill_value", "dtype") if name == "numpy.full" else ("shape", "dtype")
    given = named_arguments(order, node)
    fill, shape = given.get("fill_value", _FILLS[name]), given.get("shape")
    if not given.keys() <= set(order) or len(node.args) > len(order) or shape is None or fill is None:
        return None
    lengths = _lengths(shape, expressions)
    if not lengths:
        return None
    made = Generated(tuple(map(_positions, lengths)), lambda _: copy_of(fill))
    return _of_type(made, given["dtype"], name, expressions) if "dtype" in given else made


def _lengths(shape: ast.expr, expressions: ExpressionReader) -> list[ast.expr]:
    """The numbers of a shape; none where they are not known to be whole."""
    if isinstance(shape, ast.Attribute) and shape.attr == "shape" and isinstance(shape.value, ast.Name):
        rank = expressions.shape_of(shape.value).rank
        return [extent_of(shape.value, axis) for axis in range(rank)]
    parts = shape.elts if isinstance(shape, ast.Tuple | ast.List) else [shape]
    is_plain = not any(isinstance(one, ast.Starred | ast.Slice) for one in parts_of(*parts))
    return list(parts) if is_plain and all(is_integral(expressions.read(one)) for one in parts) else []


def _arange(given: dict[str, ast.expr], expressions: ExpressionReader) -> Generated | None:
    """``start + i * step``; how many there are is known for whole numbers only."""
    start, stop = given.get("start", ast.Constant(0)), given.get("stop")
    step = constant_of(given.get("step", ast.Constant(1)))
    if stop is None or not step or not all(is_integral(expressions.read(one)) for one in (start, stop)):
        return None
    return Generated((_positions(Axis(start, stop, step).length),), lambda places: _line(places[0], step, start))


def _line(place: ast.expr, step: int, start: ast.expr) -> ast.expr:
    scaled = place if step == 1 else ast.BinOp(place, ast.Mult(), ast.Constant(step))
    return scaled if constant_of(start) == 0 else ast.BinOp(scaled, ast.Add(), start)


def _linspace(given: dict[str, ast.expr], expressions: ExpressionReader) -> Generated | None:
    """NumPy's own arithmetic: ``i * ((stop - start) / (num - 1)) + start``, and exactly ``stop`` at the end."""
    number = given.get("num", ast.Constant(50))
    endpoint = given.get("endpoint", ast.Constant(value=True))
    if not {"start", "stop"} <= given.keys() or "retstep" in given or not isinstance(endpoint, ast.Constant):
        return None
    if not is_integral(expressions.read(number)):
        return None
    start, stop = (ast.BinOp(ast.Constant(1.0), ast.Mult(), given[name]) for name in ("start", "stop"))
    last = call_of("max", difference(number, ast.Constant(1)), ast.Constant(1))
    steps = last if endpoint.value else number

    def value(places: Sequence[ast.expr]) -> ast.expr:
        step = ast.BinOp(ast.BinOp(stop, ast.Sub(), start), ast.Div(), steps)
        line = ast.BinOp(ast.BinOp(places[0], ast.Mult(), step), ast.Add(), start)
        at_end = ast.Compare(places[0], [ast.Eq()], [last])
        return ast.IfExp(at_end, stop, line) if endpoint.value else line

    return Generated((_positions(number),), value)


def _eye(given: dict[str, ast.expr], expressions: ExpressionReader) -> Generated | None:
    """Ones where both positions are equal."""
    rows = given.get("N", given.get("n"))
    if rows is None or "k" in given or not is_integral(expressions.read(rows)):
        return None

    def value(places: Sequence[ast.expr]) -> ast.expr:
        on_diagonal = ast.Compare(places[0], [ast.Eq()], [places[1]])
        return ast.IfExp(on_diagonal, ast.Constant(1.0), ast.Constant(0.0))

    return Generated((_positions(rows), _positions(given.get("M", rows))), value)


def _diagonal(node: ast.Call, name: str, expressions: ExpressionReader) -> Generated | None:
    """The elements along a diagonal of a matrix, or a matrix with the elements of a vector along one."""
    whole, offset = _elements(node.args[0], expressions) if node.args else None, offset_of(node)
    if whole is None or offset is None:
        return None
    right, down = max(offset, 0), max(-offset, 0)
    lengths = [axis.length for axis in whole.axes]
    if len(lengths) == 2:
        rows, columns = difference(lengths[0], ast.Constant(down)), difference(lengths[1], ast.Constant(right))
        length = call_of("min", rows, columns)
        length = call_of("max", length, ast.Constant(0)) if offset else length
        return Generated(
            (_positions(length),), lambda places: whole.value([_moved(places[0], down), _moved(places[0], right)])
        )
    if len(lengths) != 1 or name != "numpy.diag":
        return None

    def value(places: Sequence[ast.expr]) -> ast.expr:
        on_diagonal = ast.Compare(_moved(places[0], right), [ast.Eq()], [_moved(places[1], down)])
        return ast.IfExp(on_diagonal, whole.value([difference(places[0], ast.Constant(down))]), ast.Constant(0, SUM))

    extent = _moved(lengths[0], abs(offset))
    return Generated((_positions(extent), _positions(extent)), value)


def _elements(node: ast.expr, expressions: ExpressionReader) -> Generated | None:
    """The elements of a whole array, or of what is generated."""
    if not isinstance(node, ast.Name):
        return generated(node, expressions)
    axes = [_positions(extent_of(node, axis)) for axis in range(expressions.rank_of(node) or 0)]
    return Generated(tuple(axes), lambda places: _cell(node, places)) if axes else None


def _cell(array: ast.Name, places: Sequence[ast.expr]) -> ast.expr:
    parts = copies_of(places)
    index = parts[0] if len(parts) == 1 else ast.Tuple(parts, ast.Load())
    return ast.Subscript(ast.Name(array.id, ast.Load()), index, ast.Load())


def _moved(place: ast.expr, distance: int) -> ast.expr:
    return ast.BinOp(place, ast.Add(), ast.Constant(distance)) if distance else place


def _copied(node: ast.expr, expressions: ExpressionReader) -> Generated | None:
    """What a copy of something generated is."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Call() as made, attr="copy"), args=[], keywords=[]):
            return generated(made, expressions)
    return None


def _reshaped(node: ast.expr, expressions: ExpressionReader) -> Generated | None:
    """The elements of a vector, row by row, where the text shows that there are as many as in the other shape."""
    match node:
        case ast.Call(
            func=ast.Attribute(value=ast.Call() as made, attr="reshape"), args=[ast.Tuple(elts=shape)]
        ):
            pass
        case ast.Call(func=ast.Attribute(value=ast.Call() as made, attr="reshape"), args=[*shape]):
            pass
        case _:
            return None
    vector = generated(made, expressions) if not node.keywords else None
    if vector is None or len(vector.axes) != 1:
        return None
    lengths = _other_shape(vector.axes[0].length, shape)
    if lengths is None or not all(is_integral(expressions.read(one)) for one in lengths):
        return None

    def value(places: Sequence[ast.expr]) -> ast.expr:
        place = places[0]
        for length, other in zip(lengths[1:], places[1:], strict=True):
            place = ast.BinOp(ast.BinOp(place, ast.Mult(), copy_of(length)), ast.Add(), other)
        return vector.value([place])

    return Generated(tuple(map(_positions, lengths)), value)


def _other_shape(length: ast.expr, shape: Sequence[ast.expr]) -> list[ast.expr] | None:
    """The numbers of ``shape``, with that of ``-1``; None where it is not known to have ``length`` elements."""
    open_places = [place for place, one in enumerate(shape) if constant_of(one) == -1]
    known = [part for one in shape if constant_of(one) != -1 for part in _factors(one)]
    counts, wanted = (Counter(map(ast.unparse, parts)) for parts in (known, _factors(length)))
    rest = list((wanted - counts).elements())
    if counts - wanted or len(open_places) > 1 or (rest and not open_places):
        return None
    nodes = {ast.unparse(part): part for part in _factors(length)}
    parts = [copy_of(nodes[text]) for text in rest] or [ast.Constant(1)]
    missing = reduce(lambda one, other: ast.BinOp(one, ast.Mult(), other), parts)
    return [missing if place in open_places else one for place, one in enumerate(shape)]


def _factors(length: ast.expr) -> list[ast.expr]:
    """What ``length`` is a product of; of a number, the prime factors."""
    if isinstance(length, ast.BinOp) and isinstance(length.op, ast.Mult):
        return [*_factors(length.left), *_factors(length.right)]
    number = constant_of(length)
    return [length] if number is None or number < 1 else [ast.Constant(one) for one in _primes(number)]


def _primes(number: int) -> list[int]:
    """The prime factors of ``number``.

    >>> _primes(12), _primes(1)
    ([2, 2, 3], [])
    """
    for divisor in range(2, isqrt(number) + 1):
        if number % divisor == 0:
            return [divisor, *_primes(number // divisor)]
    return [number] if number > 1 else []


def _positions(length: ast.expr) -> Axis:
    return Axis(ast.Constant(0), length, 1)

"""Arrays whose elements follow from their positions: ``np.arange``, ``np.linspace``, ``np.eye`` and ``np.identity``.

So do those of ``np.ones(n)`` inside an expression, where no array needs to be.
"""

from __future__ import annotations

import ast
import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING

from polyviz.frontend.functions import GENERATORS, INTEGER_TYPES, PURE, arguments_of, named_arguments
from polyviz.frontend.integers import is_integral
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
    made = Generated(tuple(map(_positions, lengths)), lambda _: copy.deepcopy(fill))
    return _of_type(made, given["dtype"], name, expressions) if "dtype" in given else made


def _lengths(shape: ast.expr, expressions: ExpressionReader) -> list[ast.expr]:
    """The numbers of a shape; none where they are not known to be whole."""
    if isinstance(shape, ast.Attribute) and shape.attr == "shape" and isinstance(shape.value, ast.Name):
        rank = expressions.shape_of(shape.value).rank
        return [extent_of(shape.value, axis) for axis in range(rank)]
    parts = shape.elts if isinstance(shape, ast.Tuple | ast.List) else [shape]
    is_plain = not any(isinstance(one, ast.Starred | ast.Slice) for part in parts for one in ast.walk(part))
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


def _positions(length: ast.expr) -> Axis:
    return Axis(ast.Constant(0), length, 1)

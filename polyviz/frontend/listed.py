"""Numbers in a list: the largest and smallest, ``max([a, b])``, ``np.min(np.array([a, b]))``, and ``x in (a, b)``."""

from __future__ import annotations

import ast
from functools import reduce
from typing import TYPE_CHECKING

from polyviz.model.expression import Call, Compare, Constant, Logical

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from polyviz.model.expression import Expression

_BY_NUMPY = {
    "numpy.max": "numpy.maximum", "numpy.amax": "numpy.maximum",
    "numpy.min": "numpy.minimum", "numpy.amin": "numpy.minimum",
}  # fmt: skip


def listed(node: ast.Call, name: str | None, canonical: Callable[[ast.expr], str | None]) -> list[ast.expr]:
    """The numbers of the one list that ``node`` is given, if it asks for their largest or smallest; none elsewhere.

    >>> call = ast.parse("max([a, b + 1])", mode="eval").body
    >>> [ast.unparse(one) for one in listed(call, "max", lambda node: None)]
    ['a', 'b + 1']
    """
    if name not in ("max", "min", *_BY_NUMPY) or len(node.args) != 1 or node.keywords:
        return []
    values = node.args[0]
    match values:
        case ast.Call(func=function, args=[inner], keywords=[]) if name in _BY_NUMPY:
            values = inner if canonical(function) in ("numpy.array", "numpy.asarray") else values
    parts = values.elts if isinstance(values, ast.List | ast.Tuple) else []
    return [] if any(isinstance(part, ast.Starred | ast.List | ast.Tuple) for part in parts) else list(parts)


def extreme(name: str, values: Sequence[Expression]) -> Expression:
    """The largest or smallest of ``values``: Python's first one, or NumPy's, of an array that they are put in.

    >>> from polyviz.model.expression import Name
    >>> extreme("numpy.max", [Name("a"), Name("b")])
    Call(function='numpy.maximum', arguments=(Name(name='a'), Name(name='b')))
    """
    if name not in _BY_NUMPY:
        return Call(name, tuple(values)) if len(values) > 1 else values[0]
    return reduce(lambda one, other: Call(_BY_NUMPY[name], (one, other)), map(_of_an_array, values))


def one_of(node: ast.Compare, read: Callable[[ast.expr], Expression]) -> Expression | None:
    """``x in (1, 2)`` as a comparison with each, where all of them are written down; None for other comparisons."""
    match node:
        case ast.Compare(
            ops=[ast.In() | ast.NotIn() as operator],
            comparators=[ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts)],
        ) if parts and not any(isinstance(part, ast.Starred) for part in parts):
            pass
        case _:
            return None
    value, is_in = read(node.left), isinstance(operator, ast.In)
    each = tuple(Compare(("==" if is_in else "!=",), (value, read(part))) for part in parts)
    return Logical("or" if is_in else "and", each) if len(each) > 1 else each[0]


def _of_an_array(value: Expression) -> Expression:
    """``value`` with the type that it has in an array: a number that is written down has none of its own."""
    if not isinstance(value, Constant) or type(value.value) not in (int, float):
        return value
    return Call("numpy.float64" if isinstance(value.value, float) else "numpy.int64", (value,))

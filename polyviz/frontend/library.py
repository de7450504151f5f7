"""Functions of NumPy that are small programs: each is a helper of its own, whose statements take the place of the call.

What they do with NaN is what NumPy does: it counts as larger than every number.
"""

from __future__ import annotations

import ast
from functools import cache
from typing import TYPE_CHECKING

from polyviz.frontend.own_names import OwnName
from polyviz.frontend.parts import parts_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from polyviz.frontend.names import GlobalNames

_SEARCH = """
def searchsorted(a, v):
    low = 0
    high = len(a)
    while low < high:
        middle = (low + high) // 2
        if {is_behind}:
            low = middle + 1
        else:
            high = middle
    return low
"""
_EXTREME = """
def {name}(a):
    best = a[0]
    for place in range(1, len(a)):
        if a[place] {compared} best:
            best = a[place]
    return best
"""
_CROSS = """
def cross(a, b):
    a0, a1, a2 = a
    b0, b1, b2 = b
    product = np.array([a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0])
    return product
"""
_WITHOUT_REST = """
def {name}(a, b):
    larger = a if a >= 0 else -a
    smaller = b if b >= 0 else -b
    while smaller != 0:
        larger, smaller = smaller, larger % smaller
    return {result}
"""
NEEDED = {"numpy.searchsorted": ("len",)}
"""The functions of Python that such a helper calls."""
_COMPARED = {"max": ">", "min": "<"}
_DIVISORS = {"gcd": "larger", "lcm": "0 if larger == 0 else abs(a // larger * b)"}
_BEHIND = {
    "left": "a[middle] < v or (v != v and a[middle] == a[middle])",
    "right": "not (v < a[middle] or (a[middle] != a[middle] and v == v))",
}


def library_helper(
    call: ast.Call, names: GlobalNames, is_array: Callable[[ast.expr], bool]
) -> tuple[ast.FunctionDef, ast.Call] | None:
    """The helper that ``call`` is of, a function of NumPy or ``math`` or ``max`` or ``min`` of one array, and its call.

    None for all other calls, and where ``is_array`` tells that a whole array stands for a number.

    >>> from polyviz.frontend.names import GlobalNames
    >>> from polyviz.frontend.source import read_source
    >>> names = GlobalNames(read_source("n = 0", None, None))
    >>> asked = ast.parse("np.searchsorted(x, 3.0, side='right')").body[0].value
    >>> helper, call = library_helper(asked, names, lambda value: False)
    >>> helper.name, ast.unparse(call)
    ('searchsorted', 'np.searchsorted(x, 3.0)')
    """
    called = names.canonical(call.func) or ""
    if called in _COMPARED and len(call.args) == 1 and not call.keywords:
        return (_extreme(called), call) if is_array(call.args[0]) else None
    if called == "numpy.cross" and len(call.args) == 2 and not call.keywords:
        return _cross(), call
    module, _, name = called.rpartition(".")
    if module in ("math", "numpy") and name in _DIVISORS and len(call.args) == 2 and not call.keywords:
        return None if any(map(is_array, call.args)) else (_divisor(name), call)
    return _searched(call, is_array) if called == "numpy.searchsorted" else None


def _searched(call: ast.Call, is_array: Callable[[ast.expr], bool]) -> tuple[ast.FunctionDef, ast.Call] | None:
    keywords = {one.arg: one.value for one in call.keywords}
    side = keywords.pop("side", call.args[2] if len(call.args) > 2 else ast.Constant("left"))
    values = [
        *call.args[:2],
        *(keywords.pop(name) for name in ("a", "v")[len(call.args) :] if name in keywords),
    ]
    if keywords or len(call.args) > 3 or len(values) != 2 or not isinstance(side, ast.Constant):
        return None
    if side.value not in _BEHIND or is_array(values[1]):
        return None
    return _search(str(side.value)), ast.copy_location(ast.Call(call.func, values, []), call)


@cache
def _extreme(name: str) -> ast.FunctionDef:
    return own_helper(_EXTREME.format(name=name, compared=_COMPARED[name]))


@cache
def _cross() -> ast.FunctionDef:
    return own_helper(_CROSS)


@cache
def _search(side: str) -> ast.FunctionDef:
    return own_helper(_SEARCH.format(is_behind=_BEHIND[side]))


@cache
def _divisor(name: str) -> ast.FunctionDef:
    return own_helper(_WITHOUT_REST.format(name=name, result=_DIVISORS[name]))


def own_helper(text: str) -> ast.FunctionDef:
    """The function of ``text``, in which ``np``, ``abs`` and ``float`` are those of everybody."""
    found = ast.parse(text).body[0]
    assert isinstance(found, ast.FunctionDef)
    for part in parts_of(found):
        if isinstance(part, ast.Name) and part.id in ("np", "abs", "float"):
            part.id = OwnName(part.id)  # whatever the program calls so
    return found

"""Calls in plain Python over NumPy arrays, widened to give what numba gives: its types, and no exceptions.

The functions of ``math`` raise where numba gives NaN or infinity; NumPy's do not, so they take their place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from polyviz.codegen import dtypes
from polyviz.codegen.dtypes import BOOL, COMPLEX64, FLOAT32, FLOAT64, INT64, Signature
from polyviz.codegen.functions import lookup, signature
from polyviz.codegen.wide import (
    STRONG,
    WEAK_ONLY,
    Wide,
    binary,
    common,
    constant,
    fits,
    nodes,
    one_of,
    resolutions,
)
from polyviz.model.expression import Call

if TYPE_CHECKING:
    from collections.abc import Sequence

NUMPY_NAMES = {
    **{
        name: name
        for name in ("sqrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan")
    },
    **{name: name for name in ("sinh", "cosh")},
    **{name: f"arc{name[1:]}" for name in ("asin", "acos", "acosh", "atanh")},
}
"""The functions of ``math`` that raise outside their domain or range, and what NumPy calls them."""
ROUNDINGS = {"math.floor": "floor", "math.ceil": "ceil", "math.trunc": "trunc", "round": "rint"}
HELPERS = {"math.gamma": "gamma_function", "math.lgamma": "log_gamma_function"}


def widened_call(function: str, arguments: list[Wide]) -> Wide:
    """The call of ``function``; raises ``CodegenError`` where it does not take its arguments."""
    typed = signature(function, tuple(argument.type for argument in arguments))
    if function == "pow":
        return power(arguments[0], arguments[1])
    if lookup(function).kind == "cast" and function.startswith("numpy."):
        value = arguments[0] if fits(arguments[0], typed.result) else _strong(arguments[0])
        return Wide(Call(function, (value.node,)), typed.result, typed.result, STRONG)
    if function in ("min", "max"):
        parts = common(arguments)
        return one_of(parts, Call(function, nodes(parts)))
    if function.startswith("numpy."):
        return _universal(function, typed, arguments)
    return _without_raising(function, typed, arguments) or _python_function(function, typed, arguments)


def power(base: Wide, exponent: Wide) -> Wide:
    """``base ** exponent``; for a whole number whose exponent may be negative by a function of our own."""
    typed = dtypes.binary("**", base.type, exponent.type)
    known = constant(exponent.node)
    if typed.result.is_integral and not (isinstance(known, int) and known >= 0):
        result = Wide(Call("whole_power", (base.node, exponent.node)), INT64, INT64, STRONG)
        return result if typed.result == INT64 else result.converted(typed.result)
    return binary("**", base, exponent)


def _without_raising(function: str, typed: Signature, arguments: list[Wide]) -> Wide | None:
    """A call that CPython would answer with an exception for some arguments, without it; None for the others."""
    value = arguments[0]
    if function.startswith("math.") and function.removeprefix("math.") in NUMPY_NAMES:
        return _universal(f"numpy.{NUMPY_NAMES[function.removeprefix('math.')]}", typed, arguments)
    if function == "math.pow":
        return _universal("numpy.power", typed, arguments)
    if function in HELPERS:
        return Wide(Call(HELPERS[function], nodes(arguments)), FLOAT64, FLOAT64, STRONG).fitted(typed.result)
    if value.type.kind != "f" or len(arguments) > 1:
        return None
    if function == "int":
        return _strong(value).converted(INT64)
    if function in ROUNDINGS:
        rounded = Call(f"numpy.{ROUNDINGS[function]}", (value.node,))
        return Wide(Call("numpy.int64", (rounded,)), INT64, INT64, STRONG)
    return None


def _strong(value: Wide) -> Wide:
    """``value`` as a NumPy scalar, whose conversion to whole numbers never raises."""
    return value if value.strengths == STRONG else value.converted(value.stored)


def _python_function(function: str, typed: Signature, arguments: list[Wide]) -> Wide:
    """Builtins, ``math`` and attributes: ``math`` and conversions give Python numbers, the others what they take."""
    if function == "abs" and arguments[0].stored == BOOL:
        arguments = [arguments[0].converted(typed.result)]
    keeps = function in ("abs", "real", "imag", "conjugate") or (function == "round" and len(arguments) == 2)
    strengths = arguments[0].strengths if keeps else WEAK_ONLY
    bits = arguments[0].bits if function in ("abs", "int") else None
    result = Wide(Call(function, nodes(arguments)), typed.result, typed.result, strengths, bits)
    if function == "round" and arguments[0].type.is_integral and keeps:
        return result.converted(typed.result)
    return result.converted(typed.result) if typed.result in _SINGLE and not keeps else result


_SINGLE = (FLOAT32, COMPLEX64)


def _universal(function: str, typed: Signature, arguments: list[Wide]) -> Wide:
    name = function.removeprefix("numpy.")
    parts = arguments
    if not (isinstance(getattr(np, name), np.ufunc) and _resolves(name, typed, arguments)):
        parts = [
            part if part.stored == target and part.strengths == STRONG else part.converted(target)
            for part, target in zip(arguments, typed.operands, strict=True)
        ]
    return Wide(Call(function, nodes(parts)), typed.result, typed.result, STRONG)


def _resolves(name: str, typed: Signature, arguments: Sequence[Wide]) -> bool:
    plain = all(target == FLOAT64 for target in typed.operands) and all(
        part.type.kind in "if" for part in arguments
    )
    wanted = tuple(operand.name for operand in typed.operands)
    return all(
        plain if found is None else found[: len(wanted)] == wanted for found in resolutions(name, arguments)
    )

"""The pure functions that a statement may call: canonical name, typing rule and spelling in C, in one table.

Typing follows numba 0.68. The functions of ``math`` and the builtins have rules of their own; those of ``numpy`` pick
the first loop of the universal function that takes the operands, as NumPy does.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, reduce
from typing import Literal

import numpy as np

from polyviz.codegen.dtypes import (
    BOOL,
    COMPLEX64,
    COMPLEX128,
    FLOAT32,
    FLOAT64,
    INT8,
    INT64,
    TYPES,
    UINT64,
    Signature,
    Type,
    arithmetic,
    power,
    type_named,
    unify,
)
from polyviz.errors import CodegenError
from polyviz.model.late_terms import SETTLED

Types = tuple[Type, ...]
Rule = Callable[[Types], Signature]
Kind = Literal["library", "helper", "operator", "cast", "special"]


@dataclass(frozen=True, slots=True)
class Function:
    """One callable: how many arguments it takes, how it is typed, how C spells it.

    ``kind`` tells what ``c`` means: a function of the C library (in its double form), a helper of ``runtime_c``
    without the type suffix, an operator, a conversion to the result type, or a name the printer knows itself.
    """

    arguments: range
    rule: Rule
    kind: Kind
    c: str


def signature(function: str, operands: Types) -> Signature:
    """The types ``function`` computes in; raises ``CodegenError`` when it is unknown or does not take the types.

    >>> str(signature("math.sqrt", (type_named("int32"),)).result)
    'float64'
    >>> str(signature("numpy.sqrt", (type_named("float32"),)).result)
    'float32'
    """
    entry = lookup(function)
    if len(operands) not in entry.arguments:
        raise CodegenError(f"`{function}` takes {_count(entry.arguments)}, not {len(operands)}.")
    result = entry.rule(operands) if not _undefined(entry, operands) else None
    if result is None or not result.operands:
        names = ", ".join(f"`{operand}`" for operand in operands)
        hint = "Write `1.0 if condition else 0.0` for the number of a truth value." if BOOL in operands else ""
        raise CodegenError(f"`{function}` is not defined for {names}.", hint=hint)
    return result


def lookup(function: str) -> Function:
    """The table entry of a canonical name; raises ``CodegenError`` with the closest known name."""
    if function in FUNCTIONS:
        return FUNCTIONS[function]
    close = difflib.get_close_matches(function, FUNCTIONS, n=1)
    hint = f"Did you mean `{close[0]}`?" if close else "Write it with arithmetic and `math` functions."
    raise CodegenError(f"The function `{function}` cannot be called in generated code.", hint=hint)


def _count(arguments: range) -> str:
    if arguments == SEVERAL:
        return "2 or more arguments"
    return " or ".join(map(str, arguments)) + (" argument" if arguments == ONE else " arguments")


def _undefined(entry: Function, operands: Types) -> bool:
    return entry.rule in _REAL_ONLY and not all(operand.is_real for operand in operands)


def _same(result: Type, count: int = 1) -> Signature:
    return Signature((result,) * count, result)


NOTHING = Signature((), BOOL)


def _floating(operands: Types) -> Signature:
    return _same(FLOAT64 if operands[0].is_integral else operands[0])


def _floating_pair(operands: Types) -> Signature:
    if all(operand.is_integral for operand in operands):
        return _same(FLOAT64, 2)
    return _same(arithmetic(*operands), 2)


def _copysign(operands: Types) -> Signature:
    # Unlike its neighbours copysign has no integer form: two small integers meet in single precision.
    widened = (arithmetic(operand, FLOAT32) for operand in operands)
    return _same(reduce(arithmetic, widened), 2)


def _math_power(operands: Types) -> Signature:
    base, exponent = operands
    if exponent.is_integral and not (base == FLOAT32 and exponent == BOOL):
        return Signature((FLOAT64, power(FLOAT64, exponent).operands[1]), FLOAT64)
    return _same(arithmetic(base, exponent), 2)


def _whole(operands: Types) -> Signature:
    operand = operands[0]
    computed = FLOAT64 if operand.is_integral else operand
    return Signature((computed,), UINT64 if operand.kind == "u" else INT64)


def _predicate(operands: Types) -> Signature:
    return Signature((FLOAT64 if operands[0].is_integral else operands[0],), BOOL)


def _absolute(operands: Types) -> Signature:
    operand = operands[0]
    if operand == BOOL:
        return _same(INT8)
    return Signature((operand,), _component(operand))


def _component(operand: Type) -> Type:
    return operand if operand.is_real else {COMPLEX64: FLOAT32, COMPLEX128: FLOAT64}[operand]


def _extremum(operands: Types) -> Signature:
    return _same(reduce(unify, operands), len(operands))


def _to_int(operands: Types) -> Signature:
    operand = operands[0]
    keeps = operand.is_integral and operand != BOOL
    return Signature((operand,), operand if keeps else INT64)


def _to_float(operands: Types) -> Signature:
    operand = operands[0]
    if operand == BOOL:
        return NOTHING
    return Signature((operand,), operand if operand.kind == "f" else FLOAT64)


def _to_complex(operands: Types) -> Signature:
    single = operands[0] == FLOAT32 and all(operand == FLOAT32 for operand in operands)
    result = COMPLEX64 if single else COMPLEX128
    if len(operands) == 1:
        return Signature(operands, result) if operands[0] != BOOL else NOTHING
    if not all(operand.is_real for operand in operands):
        return NOTHING
    return Signature((_component(result),) * 2, result)


def _round(operands: Types) -> Signature:
    floating = arithmetic(operands[0], FLOAT32)
    if len(operands) == 1:
        return Signature((floating,), INT64)
    return Signature((floating, INT64), floating) if operands[1].is_integral else NOTHING


def _numpy_round(operands: Types) -> Signature:
    if operands[0] == BOOL:
        return NOTHING
    if operands[0].is_integral:
        return _same(unify(operands[0], INT64)) if len(operands) == 1 else NOTHING
    return Signature((FLOAT64, INT64)[: len(operands)], FLOAT64)


def _power(operands: Types) -> Signature:
    return power(*operands)


def _part(operands: Types) -> Signature:
    return NOTHING if operands[0] == BOOL else Signature(operands, _component(operands[0]))


def _conjugate(operands: Types) -> Signature:
    return NOTHING if operands[0] == BOOL else _same(operands[0])


def _to_bool(operands: Types) -> Signature:
    return Signature(operands, BOOL)


def _conversion(result: Type) -> Rule:
    def rule(operands: Types) -> Signature:
        narrows = not operands[0].is_real and result.is_real and result != BOOL
        return NOTHING if narrows else Signature(operands, result)

    return rule


def _universal(name: str) -> Rule:
    def rule(operands: Types) -> Signature:
        return _loop(name, operands)

    return rule


@cache
def _loop(name: str, operands: Types) -> Signature:
    """The first loop of the universal function that all operands can be cast to safely."""
    kinds = {operand.kind for operand in operands}
    mixed = bool(kinds & {"i", "u"}) and bool(kinds & {"f", "c"})
    for loop in getattr(np, name).types:
        inputs, output = loop.split("->")
        names = [np.dtype(letter).name for letter in inputs + output]
        if "O" in loop or not all(candidate in TYPES for candidate in names):
            continue
        types = [TYPES[candidate] for candidate in names]
        if all(_casts(operand, to, mixed=mixed) for operand, to in zip(operands, types, strict=False)):
            return Signature(tuple(types[:-1]), types[-1])
    return NOTHING


def _casts(operand: Type, to: Type, *, mixed: bool) -> bool:
    if mixed and operand.kind in "iu" and to.kind in "fc":
        return True
    return np.can_cast(operand.name, to.name, "safe")


_REAL_ONLY: frozenset[Rule] = frozenset(
    {
        _floating, _floating_pair, _copysign, _math_power, _whole, _predicate, _extremum, _to_int, _to_float, _round,
        _numpy_round,
    }
)  # fmt: skip

ONE, TWO, ONE_OR_TWO, SEVERAL = range(1, 2), range(2, 3), range(1, 3), range(2, 256)

# The names that math, numpy and the C library share.
_SHARED = [
    "sqrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin",
    "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "fabs",
]  # fmt: skip
# numpy's name -> the C library's.
_NUMPY_LIBRARY = {
    **{name: name for name in [*_SHARED, "cbrt", "rint", "floor", "ceil", "trunc", "hypot", "copysign", "nextafter"]},
    **{f"arc{name[1:]}": name for name in _SHARED if name[0] == "a"},
    "arctan2": "atan2", "atan2": "atan2", "fmod": "fmod",
}  # fmt: skip
_NUMPY_HELPERS = {
    "minimum": "minimum", "maximum": "maximum", "fmin": "fmin", "fmax": "fmax", "sign": "sign", "square": "square",
    "power": "power", "pow": "power", "floor_divide": "floor_quotient", "mod": "modulo", "remainder": "modulo",
    "reciprocal": "reciprocal", "radians": "radians", "deg2rad": "radians", "degrees": "degrees",
    "rad2deg": "degrees", "abs": "abs", "absolute": "abs",
}  # fmt: skip
_NUMPY_OPERATORS = {
    "add": "+", "subtract": "-", "multiply": "*", "divide": "/", "true_divide": "/", "negative": "-",
    "positive": "+", "less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">=", "equal": "==",
    "not_equal": "!=", "bitwise_and": "&", "bitwise_or": "|", "bitwise_xor": "^", "invert": "~", "bitwise_not": "~",
    "left_shift": "<<", "right_shift": ">>", "logical_and": "and", "logical_or": "or", "logical_not": "not",
}  # fmt: skip
_NUMPY_CASTS = [
    "bool_", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32",
    "float64", "complex64", "complex128", "intp", "uintp", "int_", "uint", "intc", "uintc", "short",
    "ushort", "byte", "ubyte", "longlong", "ulonglong", "single", "double",
]  # fmt: skip


def _arity(name: str) -> range:
    count = getattr(np, name).nin
    return range(count, count + 1)


def _rows() -> Iterable[tuple[str, Function]]:
    for name in _SHARED:
        yield f"math.{name}", Function(ONE, _floating, "library", name)
    for name, c in {"erf": "erf", "erfc": "erfc", "gamma": "tgamma", "lgamma": "lgamma"}.items():
        yield f"math.{name}", Function(ONE, _floating, "library", c)
    for name in ("radians", "degrees"):
        yield f"math.{name}", Function(ONE, _floating, "helper", name)
    for name in ("atan2", "hypot", "nextafter"):
        yield f"math.{name}", Function(TWO, _floating_pair, "library", name)
    for name in ("floor", "ceil", "trunc"):
        yield f"math.{name}", Function(ONE, _whole, "library", name)
    for name in ("isnan", "isinf", "isfinite"):
        yield f"math.{name}", Function(ONE, _predicate, "special", name)
        yield f"numpy.{name}", Function(ONE, _universal(name), "special", name)
    yield "math.copysign", Function(TWO, _copysign, "library", "copysign")
    yield "math.pow", Function(TWO, _math_power, "special", "power")
    yield "numpy.signbit", Function(ONE, _universal("signbit"), "special", "signbit")
    yield from _builtin_rows()
    yield from _numpy_rows()


def _builtin_rows() -> Iterable[tuple[str, Function]]:
    yield "abs", Function(ONE, _absolute, "helper", "abs")
    yield "min", Function(SEVERAL, _extremum, "special", "min")
    yield "max", Function(SEVERAL, _extremum, "special", "max")
    yield "int", Function(ONE, _to_int, "cast", "")
    yield "float", Function(ONE, _to_float, "cast", "")
    yield "bool", Function(ONE, _to_bool, "cast", "")
    yield "complex", Function(ONE_OR_TWO, _to_complex, "special", "complex")
    yield "round", Function(ONE_OR_TWO, _round, "special", "round")
    yield "pow", Function(TWO, _power, "special", "power")
    for name in ("real", "imag"):
        yield name, Function(ONE, _part, "special", name)
        yield f"numpy.{name}", Function(ONE, _part, "special", name)
    yield "conjugate", Function(ONE, _conjugate, "special", "conjugate")
    yield SETTLED, Function(ONE, _floating, "helper", SETTLED)


def _numpy_rows() -> Iterable[tuple[str, Function]]:
    for name, c in _NUMPY_LIBRARY.items():
        yield f"numpy.{name}", Function(_arity(name), _universal(name), "library", c)
    for name, c in _NUMPY_HELPERS.items():
        yield f"numpy.{name}", Function(_arity(name), _universal(name), "helper", c)
    for name, c in _NUMPY_OPERATORS.items():
        yield f"numpy.{name}", Function(_arity(name), _universal(name), "operator", c)
    for name in _NUMPY_CASTS:
        dtype = np.dtype(getattr(np, name)).name
        yield f"numpy.{name}", Function(ONE, _conversion(type_named(dtype)), "cast", "")
    for name in ("conj", "conjugate"):
        yield f"numpy.{name}", Function(ONE, _universal(name), "special", "conjugate")
    for name in ("round", "around"):
        yield f"numpy.{name}", Function(ONE_OR_TWO, _numpy_round, "special", "round")


FUNCTIONS: dict[str, Function] = dict(_rows())

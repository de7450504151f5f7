"""Printed C expressions with what is needed to combine them: precedence, meaning and the type C gives them.

C's usual arithmetic conversions differ from numba's rules (``int * int`` stays ``int``, ``float * int64_t`` is
``float``), so every printed value carries both its meaning (``type``) and the type that C sees (``storage``). The
storage of a whole number may be narrower than its meaning as long as the value is the same; a floating point value is
always stored in the type it means.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from polyviz.codegen.dtypes import BOOL, C_TYPE_NAMES, FLOAT32, FLOAT64, INT32, INT64, TYPES, UINT64, Type
from polyviz.codegen.ranges import Range, range_of, within

PRIMARY, UNARY, PRODUCT, SUM, SHIFT, RELATION, EQUALITY = 16, 15, 13, 12, 11, 10, 9
BIT_AND, BIT_XOR, BIT_OR, AND, OR, CONDITIONAL = 8, 7, 6, 5, 4, 3


@dataclass(frozen=True, slots=True)
class Value:
    """A printed C expression; ``constant`` holds the number when it is a literal, ``range`` the whole numbers that it
    can be where more is known than ``storage`` tells."""

    text: str
    precedence: int
    type: Type
    storage: Type
    constant: bool | int | float | None = None
    range: Range | None = None

    @property
    def values(self) -> Range | None:
        """The whole numbers that it can be; None for what is no whole number."""
        if isinstance(self.constant, int):
            return self.constant, self.constant
        return self.range or range_of(self.storage)

    def within(self, precedence: int) -> str:
        """The text, in parentheses where an operator of at least ``precedence`` is expected."""
        return self.text if self.precedence >= precedence else f"({self.text})"


def c_name(scalar: Type) -> str:
    """How C calls a type.

    >>> c_name(TYPES["int32"]), c_name(TYPES["complex64"])
    ('int32_t', 'float _Complex')
    """
    return C_TYPE_NAMES[scalar.name]


def usual_conversion(left: Type, right: Type) -> Type:
    """The type in which C computes ``left op right`` (C11, 6.3.1.8), on machines where ``int`` has 32 bits.

    >>> str(usual_conversion(TYPES["uint32"], TYPES["int64"])), str(usual_conversion(TYPES["float32"], INT64))
    ('int64', 'float32')
    """
    if left.is_integral and right.is_integral:
        left, right = _promoted(left), _promoted(right)
        if left.kind == right.kind or left.bits != right.bits:
            return max(left, right, key=lambda scalar: scalar.bits)
        return left if left.kind == "u" else right
    parts = [_component(scalar) for scalar in (left, right) if not scalar.is_integral]
    widest = max(parts, key=lambda scalar: scalar.bits)
    if left.is_real and right.is_real:
        return widest
    return TYPES["complex64" if widest == FLOAT32 else "complex128"]


def _promoted(scalar: Type) -> Type:
    return INT32 if scalar.bits < 32 else scalar


def _component(scalar: Type) -> Type:
    return scalar if scalar.is_real else {64: FLOAT32, 128: FLOAT64}[scalar.bits]


def literal(value: bool | int | float, scalar: Type) -> Value:
    """A real literal of the given meaning; integers come in the narrowest of C's own types.

    >>> literal(2, FLOAT64).text, literal(3000000000, INT64).text, literal(0.5, FLOAT32).text
    ('2.0', '3000000000LL', '0.5f')
    """
    if scalar.kind == "f":
        return _floating_literal(float(value), scalar)
    value = int(value)
    if value == -(2**63):
        return Value("(-9223372036854775807LL - 1)", PRIMARY, scalar, INT64, value)
    if value >= 2**63:
        return Value(f"{value}ULL", PRIMARY, scalar, UINT64, value)
    narrow = -(2**31) < value < 2**31
    text = str(value) if narrow else f"{value}LL"
    return Value(text, UNARY if value < 0 else PRIMARY, scalar, INT32 if narrow else INT64, value)


def _floating_literal(value: float, scalar: Type) -> Value:
    if not math.isfinite(value):
        name = "NAN" if math.isnan(value) else "INFINITY" if value > 0 else "-INFINITY"
        # Both macros are floats in C, and stay so beside a float unless cast.
        return Value(name, UNARY if value < 0 else PRIMARY, scalar, FLOAT32, value)
    text = repr(value) if scalar == FLOAT64 else f"{_shortest_single(value)}f"
    return Value(text, UNARY if text.startswith("-") else PRIMARY, scalar, scalar, value)


def _shortest_single(value: float) -> str:
    text = str(np.float32(value))
    return text if any(mark in text for mark in ".e") else f"{text}.0"


def convert(value: Value, target: Type) -> Value:
    """``value`` as exactly ``target``, by a literal where it is one and by a cast otherwise.

    >>> convert(Value("n", PRIMARY, INT64, INT64), FLOAT64).text
    '(double)n'
    """
    if target == BOOL:
        return truth(value)
    if value.storage == target:
        return replace(value, type=target)
    if isinstance(value.constant, int | float) and target.kind == "f" and math.isfinite(value.constant):
        return literal(value.constant, target)
    kept = value.values if within(value.values, range_of(target)) else None
    return Value(f"({c_name(target)}){value.within(UNARY)}", UNARY, target, target, range=kept)


def truth(value: Value) -> Value:
    """``value`` as 0 or 1; NaN is true, as in Python."""
    if value.type == BOOL:
        return value
    zero = literal(0, value.storage).text if value.storage.kind == "f" else "0"
    return Value(f"{value.within(RELATION)} != {zero}", EQUALITY, BOOL, BOOL)


def operands_in(left: Value, right: Value, target: Type) -> tuple[Value, Value]:
    """Both operands, with the fewest casts that make C compute in ``target``.

    >>> n = Value("n", PRIMARY, INT64, INT64)
    >>> [value.text for value in operands_in(n, literal(2, INT64), FLOAT64)]
    ['n', '2.0']
    """
    if not target.is_real:
        # A real operand is widened first: its zero imaginary part takes part in sums, sign included.
        return convert(left, target), convert(right, target)
    if usual_conversion(left.storage, right.storage) == target:
        return left, right
    converted = [(convert(left, target), right), (left, convert(right, target))]
    # `x * 2.0` reads better than a cast of x, but `(int64_t)k * 2` better than a cast of 2.
    last = left if target.is_integral else right
    for pair in reversed(converted) if last.constant is not None else converted:
        if usual_conversion(pair[0].storage, pair[1].storage) == target:
            return pair
    return convert(left, target), convert(right, target)


def holds(storage: Type, *parts: Type) -> bool:
    """Whether every value of the integer types ``parts`` is one of ``storage``."""
    return storage.is_integral and (storage.kind != "u" or all(part.kind in "bu" for part in parts))

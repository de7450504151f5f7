"""The scalar types of generated code and how numba's operators combine them.

A type is named like NumPy's dtypes. The rules below are numba 0.68's: integers narrower than 64 bits are widened by
operators, mixed signedness gives ``int64``, and ``float32`` stays single only beside what it can hold exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np

from polyviz.errors import CodegenError


@dataclass(frozen=True, slots=True)
class Type:
    """A scalar type: NumPy dtype name, kind (NumPy's letter) and width in bits.

    >>> type_named("float32").kind
    'f'
    """

    name: str
    kind: Literal["b", "i", "u", "f", "c"]
    bits: int

    def __str__(self) -> str:
        return self.name

    @property
    def is_integral(self) -> bool:
        """Whether the values are whole numbers; booleans count."""
        return self.kind in "biu"

    @property
    def is_real(self) -> bool:
        """Whether the values can be ordered, that is, are not complex."""
        return self.kind != "c"

    @property
    def suffix(self) -> str:
        """The short form that ends the names of helper functions: ``f64``, ``i32``, ``c128``."""
        return "bool" if self.kind == "b" else f"{self.kind}{self.bits}"


@dataclass(frozen=True, slots=True)
class Signature:
    """What an operation does to types: operands are converted to ``operands`` and give ``result``."""

    operands: tuple[Type, ...]
    result: Type


BOOL = Type("bool", "b", 8)
INT8, INT16, INT32, INT64 = (Type(f"int{bits}", "i", bits) for bits in (8, 16, 32, 64))
UINT8, UINT16, UINT32, UINT64 = (Type(f"uint{bits}", "u", bits) for bits in (8, 16, 32, 64))
FLOAT32, FLOAT64 = Type("float32", "f", 32), Type("float64", "f", 64)
COMPLEX64, COMPLEX128 = Type("complex64", "c", 64), Type("complex128", "c", 128)

TYPES = {
    scalar.name: scalar
    for scalar in (
        BOOL, INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64, FLOAT32, FLOAT64, COMPLEX64, COMPLEX128,
    )
}  # fmt: skip

C_TYPE_NAMES = {
    "bool": "uint8_t",
    "float32": "float",
    "float64": "double",
    "complex64": "float _Complex",
    "complex128": "double _Complex",
    **{name: f"{name}_t" for name in TYPES if "int" in name},
}

# What single precision holds without loss in the eyes of numba's operators; anything else beside it means double.
_SINGLE = frozenset({BOOL, INT8, INT16, UINT8, FLOAT32, COMPLEX64})

ORDERINGS = ("<", "<=", ">", ">=")


def type_named(name: str) -> Type:
    """The type called ``name``; raises ``CodegenError`` for a dtype that has no scalar type here.

    >>> type_named("int16").bits
    16
    """
    if name not in TYPES:
        raise CodegenError(
            f"Arrays of dtype `{name}` cannot be handled.", hint=f"Convert to one of: {', '.join(TYPES)}."
        )
    return TYPES[name]


def numpy_name(dtype: str) -> str:
    """What a type is called as an attribute of NumPy.

    >>> numpy_name("bool"), numpy_name("int8")
    ('bool_', 'int8')
    """
    return "bool_" if dtype == "bool" else dtype


@cache
def unify(left: Type, right: Type) -> Type:
    """The type of a variable or expression that is sometimes ``left`` and sometimes ``right``.

    >>> str(unify(INT64, UINT64))
    'float64'
    """
    return TYPES[np.promote_types(left.name, right.name).name]


def arithmetic(left: Type, right: Type) -> Type:
    """The type in which ``+ - * // %`` are carried out.

    >>> str(arithmetic(INT32, INT32)), str(arithmetic(FLOAT32, INT8)), str(arithmetic(FLOAT32, INT32))
    ('int64', 'float32', 'float64')
    """
    if left.is_integral and right.is_integral:
        return UINT64 if left.kind == right.kind == "u" else INT64
    single = left in _SINGLE and right in _SINGLE
    if left.is_real and right.is_real:
        return FLOAT32 if single else FLOAT64
    return COMPLEX64 if single else COMPLEX128


def sum_type(element: Type) -> Type:
    """The type in which numbers of the type ``element`` are summed up: whole numbers in 64 bits.

    >>> str(sum_type(FLOAT32)), str(sum_type(INT8)), str(sum_type(BOOL))
    ('float32', 'int64', 'int64')
    """
    if not element.is_integral:
        return element
    return UINT64 if element.kind == "u" else INT64


def true_division(left: Type, right: Type) -> Type:
    """The type in which ``/`` is carried out: two integers are divided as doubles."""
    return FLOAT64 if left.is_integral and right.is_integral else arithmetic(left, right)


def comparison(left: Type, right: Type) -> Type:
    """The common type in which two values are compared."""
    if left.is_integral and right.is_integral:
        return unify(left, right)
    return arithmetic(left, right)


def power(base: Type, exponent: Type) -> Signature:
    """``**``: an integer exponent keeps the base's precision, as it becomes repeated multiplication.

    >>> str(power(FLOAT32, INT64).result), str(power(INT64, INT64).result)
    ('float32', 'int64')
    """
    if not exponent.is_integral or not base.is_real:
        result = arithmetic(base, exponent)
        return Signature((result, result), result)
    wide = UINT64 if exponent.kind == "u" else INT64
    if base.kind == "f":
        return Signature((base, wide), base)
    if base == BOOL and exponent == INT32:
        # Overload resolution finds float32 ** int32 closer than int64 ** int64 here, and only here.
        return Signature((FLOAT32, wide), FLOAT32)
    return Signature((UINT64 if base.kind == "u" else INT64, wide), arithmetic(base, exponent))


def binary(operator: str, left: Type, right: Type) -> Signature:
    """The signature of a binary operator; raises ``CodegenError`` when the operator has no meaning for the types.

    >>> str(binary("/", INT32, INT32).result)
    'float64'
    """
    if operator == "**":
        return power(left, right)
    if operator in ("<<", ">>"):
        _require(left.is_integral and right.is_integral, operator, left, right)
        result = UINT64 if left.kind == "u" else INT64
        return Signature((result, result), result)
    if operator in ("&", "|", "^"):
        _require(left.is_integral and right.is_integral, operator, left, right)
        result = BOOL if left == right == BOOL else arithmetic(left, right)
        return Signature((result, result), result)
    if operator in ("//", "%"):
        _require(left.is_real and right.is_real, operator, left, right)
    result = true_division(left, right) if operator == "/" else arithmetic(left, right)
    return Signature((result, result), result)


def unary(operator: str, operand: Type) -> Signature:
    """The signature of ``- + ~ not``: computed in the operand's own width, then widened.

    >>> str(unary("-", INT32).operands[0]), str(unary("-", INT32).result)
    ('int32', 'int64')
    """
    if operator == "not":
        return Signature((operand,), BOOL)
    if operator == "~":
        _require(operand.is_integral, operator, operand)
        if operand == BOOL:
            return Signature((BOOL,), BOOL)
    if operand == BOOL:
        return Signature((INT64,), INT64)
    if operand.is_integral:
        return Signature((operand,), UINT64 if operand.kind == "u" else INT64)
    return Signature((operand,), operand)


def compare(operator: str, left: Type, right: Type) -> Signature:
    """The signature of one link of a comparison chain; complex numbers have no order."""
    _require(operator not in ORDERINGS or (left.is_real and right.is_real), operator, left, right)
    common = comparison(left, right)
    return Signature((common, common), BOOL)


def _require(holds: bool, operator: str, *operands: Type) -> None:
    if not holds:
        names = " and ".join(f"`{operand}`" for operand in operands)
        raise CodegenError(f"The operator `{operator}` has no meaning for {names}.")

"""Values of plain Python over NumPy arrays: what they mean to numba, and the number that CPython holds for them.

A Python number (a literal, an iterator) is *weak* in NumPy's terms (NEP 50): it takes the type of the NumPy scalar
beside it. Where two Python numbers meet, CPython computes by itself: without wrapping at 64 bits, and raising where
numba gives infinity, NaN or 0.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, partial, reduce
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from polyviz.codegen import dtypes
from polyviz.codegen.dtypes import BOOL, FLOAT64, Signature, Type, numpy_name, unify
from polyviz.model.expression import Binary, Call, Constant, Expression, Name, Unary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

WEAK = {"b": False, "i": 0, "u": 0, "f": 0.0, "c": 0j}
UFUNCS = {
    "+": "add", "-": "subtract", "*": "multiply", "/": "true_divide", "//": "floor_divide", "%": "remainder",
    "**": "power", "&": "bitwise_and", "|": "bitwise_or", "^": "bitwise_xor", "<<": "left_shift", ">>": "right_shift",
}  # fmt: skip
# What each combination of operands to convert is tried in: the fewest first.
CONVERSIONS = ((), (0,), (1,), (0, 1))
NAME_BITS = 31
"""Iterators and sizes stay below two to this power: no loop of CPython counts further."""
WORD_BITS = 63

STRONG, WEAK_ONLY, EITHER = (True,), (False,), (True, False)


@dataclass(frozen=True, slots=True)
class Wide:
    """A widened expression: what numba's type of it is, and what it may be at run time in Python.

    ``strengths`` tells whether the value may be a NumPy scalar (True) or a Python number (False) of type ``stored``.
    ``bits`` bounds the magnitude of a whole number; None where nothing but the type is known. ``nonzero`` tells that
    the value is not zero, whatever happens.
    """

    node: Expression
    type: Type
    stored: Type
    strengths: tuple[bool, ...]
    bits: int | None = None
    nonzero: bool = False

    @property
    def magnitude(self) -> int:
        """A number of bits that holds the absolute value of a whole number."""
        return self.type.bits - (self.type.kind == "i") if self.bits is None else self.bits

    def converted(self, target: Type) -> Wide:
        """The value after an explicit conversion by NumPy."""
        node = self.node
        if isinstance(node, Constant) and target.kind == "f" and not isinstance(node.value, complex):
            node = Constant(float(node.value))
        if target == FLOAT64 and isinstance(node, Call) and node.function == "float":
            node = node.arguments[0]
        return Wide(Call(f"numpy.{numpy_name(target.name)}", (node,)), target, target, STRONG, self.bits)

    def fitted(self, target: Type) -> Wide:
        """The value as ``target``; a Python number of a lower kind will do, since it takes the type it meets."""
        weak = self.strengths == WEAK_ONLY and target.bits >= 64 and "biufc".index(self.stored.kind) > 0
        if self.stored == target or weak:
            return replace(self, type=target, stored=target)
        return self.converted(target)


def constant(node: Expression) -> complex | None:
    """The number that a literal stands for, its sign included; None for anything else."""
    match node:
        case Constant(value):
            return value
        case Unary("-", Constant(value)):
            return -value
    return None


def computed_bits(operator: str, left: Wide, right: Wide) -> int:
    """A bound on the magnitude of a whole result of two whole numbers that do not wrap."""
    if operator == "*":
        return left.magnitude + right.magnitude
    power = constant(right.node)
    if operator in ("**", "<<") and isinstance(power, int) and 0 <= power <= WORD_BITS:
        return left.magnitude * power if operator == "**" else left.magnitude + power
    if operator in ("**", "<<"):
        return WORD_BITS + 1
    if operator == "%":
        return right.magnitude
    if operator == ">>":
        return left.magnitude
    return max(left.magnitude, right.magnitude) + (operator in ("+", "-"))


def agrees(operator: str, typed: Signature, pair: Sequence[Wide]) -> bool:
    """Whether Python computes ``operator`` of ``pair`` in the type that ``typed`` says, with numba's result."""
    found = list(resolutions(UFUNCS[operator], pair))
    if any(types is not None and types[2] != typed.result.name for types in found):
        return False
    return None not in found or _same_alone(operator, typed, pair[0], pair[1])


def _same_alone(operator: str, typed: Signature, left: Wide, right: Wide) -> bool:
    """Whether two Python numbers give what numba gives: they do not wrap, and division and powers may raise."""
    if operator in ("/", "//", "%"):
        return right.nonzero or bool(constant(right.node))
    if not typed.result.is_integral:
        return operator != "**"
    return typed.result == BOOL or computed_bits(operator, left, right) <= WORD_BITS


def compares(typed: Signature, pair: Sequence[Wide]) -> bool:
    """Whether Python compares ``pair`` with the result that ``typed`` says."""
    common = typed.operands[0]
    if common.is_integral and all(part.stored.is_integral for part in pair):
        return True
    return all(found is None or found[0] == common.name for found in resolutions("less", pair))


def converted_pair(
    pair: tuple[Wide, Wide], typed: Signature, accepted: Callable[[Sequence[Wide]], bool]
) -> tuple[Wide, Wide]:
    """``pair`` with the fewest operands converted that make Python compute as ``typed`` says."""
    order = CONVERSIONS
    if pair[0].strengths == WEAK_ONLY:
        order = (CONVERSIONS[0], CONVERSIONS[2], CONVERSIONS[1], CONVERSIONS[3])
    for chosen in order:
        parts = tuple(
            part.converted(target) if index in chosen else part
            for index, (part, target) in enumerate(zip(pair, typed.operands, strict=True))
        )
        candidate = (parts[0], parts[1])
        if accepted(candidate):
            return candidate
    return pair


def binary(operator: str, left: Wide, right: Wide) -> Wide:
    """A binary operator, its operands converted where Python would compute something else."""
    typed = dtypes.binary(operator, left.type, right.type)
    pair = converted_pair((left, right), typed, partial(agrees, operator, typed))
    bits = computed_bits(operator, left, right) if typed.result.is_integral else None
    node = Binary(operator, pair[0].node, pair[1].node)
    return Wide(node, typed.result, typed.result, combined(pair), bits)


def fits(value: Wide, target: Type) -> bool:
    """Whether NumPy takes ``value`` where a whole number of type ``target`` is wanted; it refuses Python numbers that
    do not fit, where numba wraps around."""
    if value.strengths == STRONG or target.kind not in "iu":
        return True
    known = constant(value.node)
    limits = np.iinfo(target.name)
    if isinstance(known, int):
        return int(limits.min) <= known <= int(limits.max)
    if value.type == BOOL:
        return True
    return value.type.is_integral and target.kind == "i" and value.magnitude < target.bits


def resolutions(ufunc: str, operands: Sequence[Wide]) -> Iterable[tuple[str, ...] | None]:
    """The types NumPy computes in for each way the operands may arrive; None where Python's own numbers meet."""
    for strengths in product(*(operand.strengths for operand in operands)):
        if any(strengths):
            yield _resolution(
                ufunc, tuple((part.stored, strong) for part, strong in zip(operands, strengths, strict=True))
            )
        else:
            yield None


@cache
def _resolution(ufunc: str, operands: tuple[tuple[Type, bool], ...]) -> tuple[str, ...]:
    forms = [
        np.dtype(scalar.name) if strong or scalar == BOOL else type(WEAK[scalar.kind])
        for scalar, strong in operands
    ]
    function = getattr(np, ufunc)
    try:
        found = function.resolve_dtypes((*forms, *[None] * function.nout))
    except TypeError:
        return ("",) * (len(operands) + 1)
    return tuple(dtype.name for dtype in found)


def common(parts: Sequence[Wide]) -> list[Wide]:
    """``parts`` in the one type that numba gives to a value that is sometimes this, sometimes that."""
    target = reduce(unify, (part.type for part in parts))
    return [part.fitted(target) for part in parts]


def nodes(parts: Iterable[Wide]) -> tuple[Expression, ...]:
    """The expressions of ``parts``."""
    return tuple(part.node for part in parts)


def combined(parts: Sequence[Wide]) -> tuple[bool, ...]:
    """What an operator gives: a NumPy scalar as soon as one operand is one."""
    if any(part.strengths == STRONG for part in parts):
        return STRONG
    return chosen(parts)


def chosen(parts: Sequence[Wide]) -> tuple[bool, ...]:
    """What one of the ``parts`` is, whichever it may be."""
    return tuple(sorted({strength for part in parts for strength in part.strengths}, reverse=True))


def one_of(parts: Sequence[Wide], node: Expression) -> Wide:
    """``node``, whose value is that of one of the ``parts``."""
    return replace(parts[0], node=node, strengths=chosen(parts), bits=max(part.magnitude for part in parts))


def loop_variable(node: Name, scalar: Type) -> Wide:
    """A loop variable or size."""
    return Wide(node, scalar, scalar, WEAK_ONLY, NAME_BITS)

"""Calls of pure functions in C: the C library where it agrees with numba, helpers of ``runtime_c`` elsewhere."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING

from polyviz.codegen.dtypes import BOOL, FLOAT32, FLOAT64, INT32, INT64, ORDERINGS, Signature, Type, unify
from polyviz.codegen.functions import lookup, signature
from polyviz.codegen.ranges import absolute_range, chosen_range, range_of, within
from polyviz.codegen.values_c import EQUALITY, PRIMARY, UNARY, Value, convert, literal, truth
from polyviz.errors import CodegenError
from polyviz.model.expression import Call, Constant, Element, Expression, Name, Unary, walk

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from polyviz.codegen.expressions_c import CExpressionPrinter

COMPLEX_LIBRARY = frozenset({
    "sqrt", "exp", "log", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh",
    "acosh", "atanh", "abs", "real", "imag",
})  # fmt: skip
COMPLEX_HELPERS = frozenset({"power", "square", "abs"})
# On whole numbers these differ from an operator's helper in name only.
INTEGRAL_HELPERS = {
    "minimum": "min", "fmin": "min", "maximum": "max", "fmax": "max",
    "floor_quotient": "floor_div", "modulo": "floor_mod",
}  # fmt: skip
COMPARISONS = (*ORDERINGS, "==", "!=")
LARGEST = 2**31 - 1
"""The greatest whole number of 32 bits."""


@dataclass(frozen=True, slots=True)
class TypedCall:
    """A call with its arguments printed and its types resolved."""

    node: Call
    values: tuple[Value, ...]
    typed: Signature

    @property
    def computed(self) -> Type:
        """The type the function computes in."""
        return self.typed.operands[0]


def print_call(printer: CExpressionPrinter, node: Call) -> Value:
    """``node`` as a printed value; raises ``CodegenError`` where C has nothing that means the same."""
    entry = lookup(node.function)
    values = tuple(printer.value(argument) for argument in node.arguments)
    call = TypedCall(node, values, signature(node.function, tuple(value.type for value in values)))
    match entry.kind:
        case "cast":
            return _cast(printer, values[0], call.typed.result)
        case "library":
            return _library(printer, entry.c, call)
        case "helper":
            return _helper(printer, entry.c, call)
        case "operator":
            return _operator(printer, entry.c, call)
    return SPECIAL[entry.c](printer, entry.c, call)


def _cast(printer: CExpressionPrinter, value: Value, target: Type) -> Value:
    if target == BOOL:
        return truth(value)
    if value.type.kind == "f" and target.is_integral:
        return whole(printer, value, target)
    return convert(value, target)


def whole(printer: CExpressionPrinter, value: Value, target: Type) -> Value:
    """The fraction ``value`` as the whole number ``target``, also where C leaves open what a cast gives.

    Compilers leave a conversion out whose result becomes a floating point number again.
    """
    if isinstance(value.constant, float) and value.constant.is_integer():
        exact = int(value.constant)
        if within((exact, exact), range_of(target)):
            return literal(exact, target)
    if target.bits >= 32:
        return printer.helper("whole", target, (value,), target)
    return printer.helper("whole_single" if value.storage == FLOAT32 else "whole_short", target, (value,), target)


def _widened(value: Value, target: Type) -> Value:
    """``value`` with the meaning ``target``; whole numbers that fit need no cast."""
    if value.type.is_integral and target.is_integral and unify(value.type, target) == target:
        return replace(value, type=target)
    return convert(value, target)


def _shortened(computed: Type, values: Sequence[Value]) -> Type | None:
    """32 bits instead of 64 where ``values``, and their negatives, all fit into them; else None.

    Literals alone, as in bounds of loops, gain nothing by it.
    """
    computes = computed == INT64 and any(value.constant is None for value in values)
    short = computes and all(within(value.values, (-LARGEST, LARGEST)) for value in values)
    return INT32 if short else None


def _refused(call: TypedCall) -> CodegenError:
    return CodegenError(
        f"`{call.node.function}` of `{call.computed}` has no counterpart in C.",
        hint="Use the target `numba`.",
    )


def _variant(name: str, call: TypedCall, result: Type) -> Value:
    """A function of the C library in the variant of its operand type: ``sqrtf``, ``csqrt``."""
    computed = call.computed
    if not computed.is_real and name not in COMPLEX_LIBRARY:
        raise _refused(call)
    prefix = "" if computed.is_real else "c"
    suffix = "f" if computed.name in ("float32", "complex64") else ""
    # C++, which CUDA is, does not choose between `float` and `double` for a whole number.
    values = [convert(value, computed) if value.storage.is_integral else value for value in call.values]
    return Value(f"{prefix}{name}{suffix}({', '.join(value.text for value in values)})", PRIMARY, result, result)


def _library(printer: CExpressionPrinter, name: str, call: TypedCall) -> Value:
    if call.computed.is_integral:
        if name == "fmod":
            # numba computes it of unsigned numbers even where they are signed, unlike NumPy.
            raise _refused(call)
        return _widened(call.values[0], call.typed.result)
    if call.typed.result.is_integral:
        return _cast(printer, _variant(name, call, call.computed), call.typed.result)
    return _variant(name, call, call.typed.result)


def _helper(printer: CExpressionPrinter, name: str, call: TypedCall) -> Value:
    computed, result = call.computed, call.typed.result
    if not computed.is_real and name not in COMPLEX_HELPERS:
        raise _refused(call)
    if name == "abs":
        return _absolute(printer, call)
    if name == "square":
        return _square(printer, call)
    if name == "power":
        return _ufunc_power(printer, call)
    if computed.is_integral:
        name = INTEGRAL_HELPERS.get(name, name)
    return printer.helper(name, computed, call.values, result)


def _absolute(printer: CExpressionPrinter, call: TypedCall) -> Value:
    computed, result = call.computed, call.typed.result
    if computed.kind == "f":
        return _variant("fabs", call, result)
    if computed.kind == "c":
        return _variant("abs", call, result)
    if computed.kind == "i" and call.values[0].type != BOOL:
        short = _shortened(computed, call.values)
        found = printer.helper("abs", short or computed, call.values, result)
        return replace(found, storage=short, range=absolute_range(call.values[0].values)) if short else found
    return _widened(call.values[0], result)


def _square(printer: CExpressionPrinter, call: TypedCall) -> Value:
    (value,) = call.values
    if _is_short(call.node.arguments[0]):
        return _product(printer, value, 2, call.typed.result)
    return printer.helper("square", call.computed, call.values, call.typed.result)


def _product(printer: CExpressionPrinter, value: Value, factors: int, scalar: Type) -> Value:
    typed = Signature((scalar, scalar), scalar)
    return reduce(lambda left, right: printer.binary("*", left, right, typed), [value] * factors)


def _is_short(node: Expression) -> bool:
    """Whether repeating the text is better to read than a call."""
    return isinstance(node, Name | Element | Constant)


def _ufunc_power(printer: CExpressionPrinter, call: TypedCall) -> Value:
    if call.computed.kind == "f":
        return _real_power(printer, call)
    name = "rounded_power" if call.computed.is_integral else "power"
    return printer.helper(name, call.computed, call.values, call.typed.result)


def _power(printer: CExpressionPrinter, name: str, call: TypedCall) -> Value:
    """``**``: products for small constant exponents, numba's multiplication loop for whole ones, else ``pow``."""
    result = call.typed.result
    if not result.is_real:
        return printer.helper("power", result, call.values, result)
    if not call.typed.operands[1].is_integral:
        return _real_power(printer, call)
    exponent = _constant(call.node.arguments[1])
    if exponent == 0:
        return literal(1, result)
    if exponent == 1:
        return _widened(call.values[0], result)
    if exponent in (2, 3) and _is_short(call.node.arguments[0]):
        return _product(printer, call.values[0], int(exponent), result)
    if exponent == 2:
        return printer.helper("square", result, call.values[:1], result)
    way = "varying_power" if exponent is None and result.kind == "f" else "power"
    if exponent is None and _is_steady(printer, call.node):
        way = "steady_power"
    return printer.helper(way, result, call.values, result)


def _is_steady(printer: CExpressionPrinter, node: Call) -> bool:
    """Whether all that the value of ``node`` is made of are numbers that never change."""
    leaves = [part for part in walk(node) if isinstance(part, Name | Element)]
    names = (part.name if isinstance(part, Name) else part.array for part in leaves)
    return bool(leaves) and all(name in printer.steady for name in names)


def _real_power(printer: CExpressionPrinter, call: TypedCall) -> Value:
    exponent = _constant(call.node.arguments[1])
    if exponent == 0.5:
        return printer.helper("power_half", call.computed, call.values[:1], call.typed.result)
    return _variant("pow", call, call.typed.result)


def _constant(node: Expression) -> int | float | None:
    match node:
        case Constant(bool() | int() | float() as value):
            return value
        case Unary("-", Constant(int() | float() as value)):
            return -value
    return None


def _operator(printer: CExpressionPrinter, operator: str, call: TypedCall) -> Value:
    if operator in ("and", "or"):
        return printer.junction(operator, call.values)
    if operator == "not":
        return Value(f"!{call.values[0].within(UNARY)}", UNARY, BOOL, BOOL)
    if len(call.values) == 1:
        return printer.unary(operator, call.values[0], call.typed)
    if operator in COMPARISONS:
        return _ufunc_comparison(printer, operator, call)
    if call.computed == BOOL and operator in ("+", "*"):
        # NumPy's sum and product of booleans are `or` and `and`.
        return printer.junction("or" if operator == "+" else "and", call.values)
    left, right = call.values
    return printer.binary(operator, left, right, call.typed)


def _ufunc_comparison(printer: CExpressionPrinter, operator: str, call: TypedCall) -> Value:
    left, right = call.values
    if not call.computed.is_real and operator in ORDERINGS:
        raise _refused(call)
    if call.typed.operands[0] != call.typed.operands[1]:
        # NumPy compares signed with unsigned exactly.
        left, right = (
            Value(f"(__int128){value.within(UNARY)}", UNARY, value.type, INT64) for value in (left, right)
        )
    return printer.compare(operator, left, right, call.typed)


def _extremum(printer: CExpressionPrinter, name: str, call: TypedCall) -> Value:
    """``min`` / ``max`` take operands from left to right, each pair in its own common type, as numba does."""

    def pair(left: Value, right: Value) -> Value:
        common = unify(left.type, right.type)
        short = _shortened(common, (left, right))
        found = printer.helper(name, short or common, (left, right), common)
        return replace(found, storage=short, range=chosen_range(name, left.values, right.values)) if short else found

    return reduce(pair, call.values)


def _classify(printer: CExpressionPrinter, name: str, call: TypedCall) -> Value:
    """``isnan`` and its like: macros of C that need not give 1 for true."""
    (value,) = call.values
    if not call.computed.is_real:
        return printer.helper(name, call.computed, call.values, BOOL)
    if value.storage.is_integral:
        # The macros take floating point numbers only.
        value = convert(value, FLOAT64)
    return Value(f"{name}({value.text}) != 0", EQUALITY, BOOL, BOOL)


def _complex(printer: CExpressionPrinter, name: str, call: TypedCall) -> Value:
    if len(call.values) == 1:
        return convert(call.values[0], call.typed.result)
    return printer.helper("complex", call.typed.result, call.values, call.typed.result)


def _round(printer: CExpressionPrinter, name: str, call: TypedCall) -> Value:
    if len(call.values) == 2:
        return printer.helper("round_digits", call.computed, call.values, call.typed.result)
    if call.computed.is_integral:
        return _widened(call.values[0], call.typed.result)
    return _cast(printer, _variant("rint", call, call.computed), call.typed.result)


def _part(printer: CExpressionPrinter, name: str, call: TypedCall) -> Value:
    if not call.computed.is_real:
        return _variant(name, call, call.typed.result)
    return call.values[0] if name == "real" else literal(0, call.typed.result)


def _conjugate(printer: CExpressionPrinter, name: str, call: TypedCall) -> Value:
    if call.computed.is_real:
        return _widened(call.values[0], call.typed.result)
    suffix = "f" if call.computed.name == "complex64" else ""
    return Value(f"conj{suffix}({call.values[0].text})", PRIMARY, call.typed.result, call.typed.result)


SPECIAL: dict[str, Callable[[CExpressionPrinter, str, TypedCall], Value]] = {
    "min": _extremum, "max": _extremum, "power": _power, "complex": _complex, "round": _round,
    "real": _part, "imag": _part, "conjugate": _conjugate,
    "isnan": _classify, "isinf": _classify, "isfinite": _classify, "signbit": _classify,
}  # fmt: skip

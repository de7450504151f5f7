"""The value of an integer expression over parameters, when a kernel is called."""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from polyviz.errors import ArgumentError
from polyviz.model.expression import (
    Binary,
    Call,
    Compare,
    Conditional,
    Constant,
    Element,
    Expression,
    Logical,
    Name,
    Unary,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from polyviz.model.program import Program

_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
    "/": operator.truediv,
    "<<": operator.lshift,
    ">>": operator.rshift,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
}
_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_CALLS: dict[str, Callable[..., Any]] = {
    "min": min,
    "max": max,
    "abs": abs,
    "int": int,
    "float": float,
    "round": round,
}
_MODULES = {"math": math, "numpy": np}


def evaluate_integer(expression: Expression, values: Mapping[str, int]) -> int:
    """``expression`` with the parameters at ``values``.

    Raises ArgumentError where Python would raise, and where the value does not fit into 64 bits.

    >>> evaluate_integer(Binary("//", Name("n"), Constant(2)), {"n": 7})
    3
    """
    try:
        value = operator.index(evaluate(expression, values))
    except (ArithmeticError, TypeError, ValueError, KeyError) as error:
        raise ArgumentError("A size cannot be computed from the arguments.", reason=str(error)) from error
    if not -(2**63) <= value < 2**63:
        raise ArgumentError(
            "A size that follows from the arguments does not fit into 64 bits.", reason=f"It is {value}."
        )
    return value


def with_made_sizes(program: Program, parameters: Mapping[str, int]) -> Mapping[str, int]:
    """``parameters`` with those that ``program`` makes of them and that are not there."""
    if all(name in parameters for name, _ in program.sizes):
        return parameters
    found = dict(parameters)
    for name, expression in program.sizes:
        if name not in found:
            found[name] = evaluate_integer(expression, found)
    return found


def evaluate(expression: Expression, values: Mapping[str, Any]) -> Any:
    """``expression`` with names and scalars at ``values``, by Python's own arithmetic."""
    # By type and not by a chain of patterns: the launches of a long host loop ask a million times.
    rule = _RULES.get(type(expression))
    if rule is None:
        raise TypeError(f"{type(expression).__name__} cannot be evaluated here")
    return rule(expression, values)


def _element(node: Any, values: Mapping[str, Any]) -> Any:
    if node.subscripts:
        raise TypeError("Element cannot be evaluated here")
    return values[node.array]


def _unary(node: Any, values: Mapping[str, Any]) -> Any:
    if node.operator != "-":
        raise TypeError("Unary cannot be evaluated here")
    return -evaluate(node.operand, values)


def _binary(node: Any, values: Mapping[str, Any]) -> Any:
    return _BINARY[node.operator](evaluate(node.left, values), evaluate(node.right, values))


def _compare(node: Any, values: Mapping[str, Any]) -> bool:
    if len(node.operators) != 1:
        raise TypeError("Compare cannot be evaluated here")
    left, right = node.operands
    return _COMPARE[node.operators[0]](evaluate(left, values), evaluate(right, values))


def _logical(node: Any, values: Mapping[str, Any]) -> bool:
    choose = all if node.operator == "and" else any
    return choose(evaluate(operand, values) for operand in node.operands)


def _conditional(node: Any, values: Mapping[str, Any]) -> Any:
    return evaluate(node.body if evaluate(node.condition, values) else node.otherwise, values)


def _call(node: Any, values: Mapping[str, Any]) -> Any:
    function = _CALLS.get(node.function) or _of_module(node.function)
    return function(*(evaluate(argument, values) for argument in node.arguments))


def _of_module(function: str) -> Callable[..., Any]:
    """The function of ``math`` or ``numpy``, as in ``int(math.log2(n))``."""
    module, _, name = function.rpartition(".")
    found: Callable[..., Any] | None = getattr(_MODULES.get(module), name, None)
    if found is None:
        raise TypeError(f"{function} cannot be evaluated here")
    return found


_RULES: dict[type, Callable[[Any, Mapping[str, Any]], Any]] = {
    Constant: lambda node, _: node.value,
    Name: lambda node, values: values[node.name],
    Element: _element,
    Unary: _unary,
    Binary: _binary,
    Compare: _compare,
    Logical: _logical,
    Conditional: _conditional,
    Call: _call,
}

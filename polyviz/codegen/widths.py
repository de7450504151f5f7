"""Bodies for plain Python over NumPy arrays, widened to compute in the types that numba computes in.

NumPy's scalars do not widen as numba's do: ``B[i] * 0.5`` of a ``float32`` array stays single, ``K[i] * K[j]`` of
``int32`` wraps at 32 bits. Where the types differ, an operand is converted first: ``np.float64(B[i]) * 0.5``. A Python
number (a literal, an iterator) is *weak* in NumPy's terms (NEP 50): it takes the type of the NumPy scalar beside it.

What remains different under CPython: its own numbers do not wrap, and raise where they are divided by zero or leave the
domain of a ``math`` function or the width of an array; NumPy raises for negative powers of whole numbers, and may give
another sign of zero and other last places of powers and complex functions.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, partial, reduce
from itertools import pairwise, product
from typing import TYPE_CHECKING

import numpy as np

from polyviz.codegen import dtypes
from polyviz.codegen.dtypes import BOOL, FLOAT32, Signature, Type, type_named, unify
from polyviz.codegen.functions import lookup, signature
from polyviz.codegen.typing import Environment, infer
from polyviz.model.expression import (
    Assign,
    Binary,
    Branch,
    Call,
    Compare,
    Conditional,
    Constant,
    Element,
    Expression,
    Instruction,
    Logical,
    Loop,
    Name,
    Unary,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

WEAK = {"b": False, "i": 0, "u": 0, "f": 0.0, "c": 0j}
# The low bits of a whole number's result do not depend on the width it is computed in.
MODULAR = ("+", "-", "*", "&", "|", "^")
UFUNCS = {
    "+": "add", "-": "subtract", "*": "multiply", "/": "true_divide", "//": "floor_divide", "%": "remainder",
    "**": "power", "&": "bitwise_and", "|": "bitwise_or", "^": "bitwise_xor", "<<": "left_shift", ">>": "right_shift",
}  # fmt: skip
# What each combination of operands to convert is tried in: the fewest first.
CONVERSIONS = ((), (0,), (1,), (0, 1))

STRONG, WEAK_ONLY, EITHER = (True,), (False,), (True, False)


@dataclass(frozen=True, slots=True)
class Wide:
    """A widened expression: what numba's type of it is, and what it may be at run time in Python.

    ``strengths`` tells whether the value may be a NumPy scalar (True) or a Python number (False) of type ``stored``.
    """

    node: Expression
    type: Type
    stored: Type
    strengths: tuple[bool, ...]

    def converted(self, target: Type) -> Wide:
        """The value after an explicit conversion by NumPy."""
        name = "bool_" if target == BOOL else target.name
        if (
            isinstance(self.node, Constant)
            and target.kind == "f"
            and not isinstance(self.node.value, complex)
        ):
            return Wide(Call(f"numpy.{name}", (Constant(float(self.node.value)),)), target, target, STRONG)
        return Wide(Call(f"numpy.{name}", (self.node,)), target, target, STRONG)

    def fitted(self, target: Type) -> Wide:
        """The value as ``target``; a Python number of a lower kind will do, since it takes the type it meets."""
        weak = self.strengths == WEAK_ONLY and target.bits >= 64 and "biufc".index(self.stored.kind) > 0
        if self.stored == target or weak:
            return replace(self, type=target, stored=target)
        return self.converted(target)


def widened(body: Sequence[Instruction], types: Mapping[str, str]) -> tuple[Instruction, ...]:
    """``body`` with conversions where NumPy's scalars would compute in another type than numba.

    ``types``: dtype names of arrays and scalars. Subscripts stay as they are.

    >>> from polyviz.codegen.expressions_python import PythonExpressionPrinter
    >>> cell = (Name("i"),)
    >>> body = [Assign(Element("A", cell), Binary("*", Element("B", cell), Constant(0.5)))]
    >>> printer = PythonExpressionPrinter({}, lambda element, _: f"{element.array}[i]")
    >>> printer.instructions(widened(body, {"A": "float32", "B": "float32"}), 0)
    ['A[i] = np.float64(B[i]) * 0.5']
    """
    return tuple(_Widener(Environment(types)).instruction(instruction) for instruction in body)


@dataclass(frozen=True, slots=True)
class _Widener:
    environment: Environment

    def instruction(self, node: Instruction) -> Instruction:
        match node:
            case Assign():
                return self._assignment(node)
            case Branch(condition, then, otherwise):
                return Branch(self.value(condition).node, self._block(then), self._block(otherwise))
            case Loop(body=body):
                return replace(node, body=self._block(body))
        raise TypeError(f"not an instruction: {node!r}")

    def _block(self, body: Iterable[Instruction]) -> tuple[Instruction, ...]:
        return tuple(map(self.instruction, body))

    def _assignment(self, node: Assign) -> Assign:
        target, value = self.value(node.target), self.value(node.value)
        if node.operator is None:
            return replace(node, value=self._stored(target, value, node.value))
        typed = dtypes.binary(node.operator, target.type, value.type)
        exact = target.type.is_integral and typed.result.is_integral and node.operator in MODULAR
        if exact and target.type != BOOL:
            return replace(node, value=_low_bits(node.operator, target, value).node)
        for choice in (value, value.converted(typed.operands[1])):
            keeps = target.strengths == STRONG or typed.result == target.type
            if keeps and _agrees(node.operator, typed, (target, choice)):
                return replace(node, value=choice.node)
        written = Binary(node.operator, node.target, node.value)
        return replace(node, operator=None, value=self._stored(target, self.value(written), written))

    def _stored(self, target: Wide, value: Wide, written: Expression) -> Expression:
        """``value`` as it is assigned: a variable takes it as it is, a cell of an array converts it if it fits."""
        if target.strengths != STRONG:
            return value.fitted(target.type).node
        whole = target.type.kind in "iu" and value.stored.is_integral and value.strengths != WEAK_ONLY
        if not whole or np.can_cast(value.stored.name, target.type.name):
            return value.node
        return written if self._wraps(written, target.type) else value.converted(target.type).node

    def _wraps(self, node: Expression, target: Type) -> bool:
        """Whether NumPy computes ``node`` in ``target``, and its low bits are those of the wide result."""
        match node:
            case Binary(operator, left, right):
                return operator in MODULAR and self._wraps(left, target) and self._wraps(right, target)
            case Unary("-" | "+" | "~", operand):
                return self._wraps(operand, target)
            case Element(subscripts=(_, *_)):
                return infer(node, self.environment) == target
            case Constant(int() as value):
                limits = np.iinfo(target.name)
                return not isinstance(value, bool) and limits.min <= value <= limits.max
        return False

    def value(self, node: Expression) -> Wide:
        match node:
            case Constant() | Name():
                scalar = infer(node, self.environment)
                return Wide(node, scalar, scalar, WEAK_ONLY)
            case Element(subscripts=subscripts):
                scalar = infer(node, self.environment)
                return Wide(node, scalar, scalar, STRONG if subscripts else EITHER)
            case Unary(operator, operand):
                return self._unary(operator, self.value(operand))
            case Binary(operator, left, right):
                return self._binary(operator, self.value(left), self.value(right))
            case Call(function, arguments):
                return self._call(function, [self.value(argument) for argument in arguments])
        return self._choice(node)

    def _choice(self, node: Expression) -> Wide:
        match node:
            case Compare(operators, operands):
                return self._comparison(operators, [self.value(operand) for operand in operands])
            case Logical(operator, operands):
                parts = _common([self.value(operand) for operand in operands])
                return replace(parts[0], node=Logical(operator, _nodes(parts)), strengths=_chosen(parts))
            case Conditional(condition, body, otherwise):
                parts = _common([self.value(body), self.value(otherwise)])
                chosen = Conditional(self.value(condition).node, *_nodes(parts))
                return replace(parts[0], node=chosen, strengths=_chosen(parts))
        raise TypeError(f"not an expression: {node!r}")

    def _unary(self, operator: str, operand: Wide) -> Wide:
        typed = dtypes.unary(operator, operand.type)
        if operator == "not":
            return Wide(Unary("not", operand.node), BOOL, BOOL, WEAK_ONLY)
        if operand.stored == BOOL:
            # NumPy refuses the sign of a boolean; Python inverts one as a whole number.
            operand = operand.converted(typed.operands[0])
        return Wide(Unary(operator, operand.node), typed.result, operand.stored, operand.strengths)

    def _binary(self, operator: str, left: Wide, right: Wide) -> Wide:
        typed = dtypes.binary(operator, left.type, right.type)
        pair = _converted((left, right), typed, partial(_agrees, operator, typed))
        node = Binary(operator, pair[0].node, pair[1].node)
        return Wide(node, typed.result, typed.result, _strengths(pair))

    def _comparison(self, operators: Sequence[str], operands: Sequence[Wide]) -> Wide:
        parts = list(operands)
        for index, (operator, (left, right)) in enumerate(zip(operators, pairwise(operands), strict=True)):
            typed = dtypes.compare(operator, left.type, right.type)
            parts[index : index + 2] = _converted((parts[index], right), typed, partial(_compares, typed))
        return Wide(Compare(tuple(operators), _nodes(parts)), BOOL, BOOL, EITHER)

    def _call(self, function: str, arguments: list[Wide]) -> Wide:
        entry = lookup(function)
        typed = signature(function, tuple(argument.type for argument in arguments))
        if entry.kind == "cast" and function.startswith("numpy."):
            return Wide(Call(function, _nodes(arguments)), typed.result, typed.result, STRONG)
        if function in ("min", "max"):
            parts = _common(arguments)
            return replace(parts[0], node=Call(function, _nodes(parts)), strengths=_chosen(parts))
        if function.startswith("numpy."):
            return _universal(function, typed, arguments)
        return _python_function(function, typed, arguments)


def _low_bits(operator: str, target: Wide, value: Wide) -> Wide:
    """The right side of ``target operator= value`` on whole numbers, cut to the target's width where it is wider."""
    found = _resolutions(UFUNCS[operator], (target, value))
    fits = target.strengths != STRONG or all(types is None or types[2] == target.type.name for types in found)
    return value if fits else value.converted(target.type)


def _python_function(function: str, typed: Signature, arguments: list[Wide]) -> Wide:
    """Builtins, ``math`` and attributes: ``math`` and conversions give Python numbers, the others what they take."""
    if function == "abs" and arguments[0].stored == BOOL:
        arguments = [arguments[0].converted(typed.result)]
    keeps = function in ("abs", "real", "imag", "conjugate") or (function == "round" and len(arguments) == 2)
    strengths = arguments[0].strengths if keeps else WEAK_ONLY
    result = Wide(Call(function, _nodes(arguments)), typed.result, typed.result, strengths)
    if function == "round" and arguments[0].type.is_integral and keeps:
        return result.converted(typed.result)
    return result.converted(typed.result) if typed.result in _SINGLE and not keeps else result


_SINGLE = (FLOAT32, type_named("complex64"))


def _universal(function: str, typed: Signature, arguments: list[Wide]) -> Wide:
    name = function.removeprefix("numpy.")
    parts = arguments
    if not (isinstance(getattr(np, name), np.ufunc) and _resolves(name, typed, arguments)):
        parts = [
            part if part.stored == target else part.converted(target)
            for part, target in zip(arguments, typed.operands, strict=True)
        ]
    return Wide(Call(function, _nodes(parts)), typed.result, typed.result, STRONG)


def _resolves(name: str, typed: Signature, arguments: Sequence[Wide]) -> bool:
    return all(
        found is not None
        and found[: len(typed.operands)] == tuple(operand.name for operand in typed.operands)
        for found in _resolutions(name, arguments)
    )


def _converted(
    pair: tuple[Wide, Wide], typed: Signature, agrees: Callable[[Sequence[Wide]], bool]
) -> tuple[Wide, Wide]:
    """``pair`` with the fewest operands converted that make Python compute as ``typed`` says."""
    order = (
        CONVERSIONS
        if pair[0].strengths != WEAK_ONLY
        else (CONVERSIONS[0], *reversed(CONVERSIONS[1:3]), CONVERSIONS[3])
    )
    for chosen in order:
        parts = tuple(
            part.converted(target) if index in chosen else part
            for index, (part, target) in enumerate(zip(pair, typed.operands, strict=True))
        )
        candidate = (parts[0], parts[1])
        if agrees(candidate):
            return candidate
    return pair


def _agrees(operator: str, typed: Signature, pair: Sequence[Wide]) -> bool:
    return all(
        found is None or found[2] == typed.result.name for found in _resolutions(UFUNCS[operator], pair)
    )


def _compares(typed: Signature, pair: Sequence[Wide]) -> bool:
    common = typed.operands[0]
    if common.is_integral and all(part.stored.is_integral for part in pair):
        return True
    return all(found is None or found[0] == common.name for found in _resolutions("less", pair))


def _resolutions(ufunc: str, operands: Sequence[Wide]) -> Iterable[tuple[str, ...] | None]:
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


def _common(parts: Sequence[Wide]) -> list[Wide]:
    target = reduce(unify, (part.type for part in parts))
    return [part.fitted(target) for part in parts]


def _nodes(parts: Iterable[Wide]) -> tuple[Expression, ...]:
    return tuple(part.node for part in parts)


def _strengths(parts: Sequence[Wide]) -> tuple[bool, ...]:
    """What an operator gives: a NumPy scalar as soon as one operand is one."""
    if any(part.strengths == STRONG for part in parts):
        return STRONG
    return _chosen(parts)


def _chosen(parts: Sequence[Wide]) -> tuple[bool, ...]:
    """What one of the ``parts`` is, whichever it may be."""
    return tuple(sorted({strength for part in parts for strength in part.strengths}, reverse=True))

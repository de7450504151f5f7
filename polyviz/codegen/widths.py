"""Bodies for plain Python over NumPy arrays, widened to compute what numba computes.

NumPy's scalars do not widen as numba's do: ``B[i] * 0.5`` of a ``float32`` array stays single, ``K[i] * K[j]`` of
``int32`` wraps at 32 bits. Where the types differ, an operand is converted first: ``np.float64(B[i]) * 0.5``. Python's
own numbers do not wrap, and raise where they are divided by zero or too large: where two of them meet and may do so,
one becomes a NumPy scalar, and so does every whole number that a variable carries from one statement to another.

What remains different under CPython: the sign of a zero and the last places of powers and complex functions, the
quotient of complex numbers by zero, where numba raises, and the smallest whole number by -1, which is 0 there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from polyviz.codegen import dtypes
from polyviz.codegen.calls_python import power, widened_call
from polyviz.codegen.dtypes import BOOL, UINT64, Type
from polyviz.codegen.typing import Environment, infer
from polyviz.codegen.wide import (
    EITHER,
    NAME_BITS,
    STRONG,
    UFUNCS,
    WEAK_ONLY,
    Wide,
    agrees,
    binary,
    common,
    compares,
    converted_pair,
    fits,
    loop_variable,
    nodes,
    one_of,
    resolutions,
)
from polyviz.model.expression import (
    Assign,
    Binary,
    Branch,
    Break,
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
    While,
    rebuild,
    walk,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

# The low bits of a whole number's result do not depend on the width it is computed in.
MODULAR = ("+", "-", "*", "&", "|", "^")


def widened(
    body: Sequence[Instruction],
    types: Mapping[str, str],
    numbers: frozenset[str] = frozenset(),
    never_zero: Callable[[Expression], bool] | None = None,
) -> tuple[Instruction, ...]:
    """``body`` with conversions where CPython would compute something else than numba.

    ``types``: dtype names of arrays and scalars. ``numbers``: the scalars that hold NumPy's numbers
    (``scalars_python.numpy_scalars``). ``never_zero`` tells divisors that need no care.

    >>> from polyviz.codegen.expressions_python import PythonExpressionPrinter
    >>> cell = (Name("i"),)
    >>> body = [Assign(Element("A", cell), Binary("*", Element("B", cell), Constant(0.5)))]
    >>> printer = PythonExpressionPrinter({}, lambda element, _: f"{element.array}[i]")
    >>> printer.instructions(widened(body, {"A": "float32", "B": "float32"}), 0)
    ['A[i] = np.float64(B[i]) * 0.5']
    """
    return tuple(_Widener(Environment(types), numbers, never_zero).instruction(instruction) for instruction in body)


def holds_numpy(value: Expression, types: Mapping[str, str], numbers: frozenset[str]) -> bool:
    """Whether ``value`` is a NumPy scalar whatever happens, where the scalars ``numbers`` hold such."""
    return _Widener(Environment(types), numbers).value(value).strengths == STRONG


@dataclass(frozen=True, slots=True)
class _Widener:
    environment: Environment
    numbers: frozenset[str]
    never_zero: Callable[[Expression], bool] | None = None
    within_subscript: bool = False

    def instruction(self, node: Instruction) -> Instruction:
        match node:
            case Assign():
                return self._assignment(node)
            case Branch(condition, then, otherwise):
                return Branch(self.value(condition).node, self._block(then), self._block(otherwise))
            case Loop(iterator, start, stop, step, body):
                first, last, by = self._index(start), self._index(stop), self._index(step)
                return Loop(iterator, first, last, by, self._block(body))
            case While(condition, body):
                return While(self.value(condition).node, self._block(body))
            case Break():
                return node
        raise TypeError(f"not an instruction: {node!r}")

    def _block(self, body: Iterable[Instruction]) -> tuple[Instruction, ...]:
        return tuple(map(self.instruction, body))

    def _index(self, node: Expression) -> Expression:
        """A subscript or loop bound: those without data hold nothing that could be narrow."""
        if not any(isinstance(part, Element) for part in walk(node)):
            return node
        return replace(self, within_subscript=True).value(node).node

    def _assignment(self, node: Assign) -> Assign:
        target = self.value(node.target)
        value = self._divisor(node.value) if node.operator in ("/", "//", "%") else self.value(node.value)
        place = target.node
        assert isinstance(place, Element)
        if node.operator is None:
            return Assign(place, self._stored(target, value, node.value))
        typed = dtypes.binary(node.operator, target.type, value.type)
        exact = target.type.is_integral and typed.result.is_integral and node.operator in MODULAR
        if exact and target.type != BOOL:
            return Assign(place, _low_bits(node.operator, target, value).node, node.operator)
        for choice in (value, value.converted(typed.operands[1])):
            keeps = typed.result == target.type or (target.strengths == STRONG and target.type.kind not in "iu")
            if keeps and node.operator != "**" and agrees(node.operator, typed, (target, choice)):
                return Assign(place, choice.node, node.operator)
        written = Binary(node.operator, node.target, node.value)
        return Assign(place, self._stored(target, self.value(written), written))

    def _stored(self, target: Wide, value: Wide, written: Expression) -> Expression:
        """``value`` as it is assigned: a variable takes it as it is, what may not fit into a cell is converted."""
        if target.strengths != STRONG:
            return value.fitted(target.type).node
        if not isinstance(target.node, Element) or not target.node.subscripts:
            same = value.strengths == STRONG and value.stored == target.type
            return value.node if same else value.converted(target.type).node
        if not fits(value, target.type):
            return value.converted(value.stored).converted(target.type).node
        if target.type.kind not in "iu" or value.strengths == WEAK_ONLY:
            return value.node
        if np.can_cast(value.stored.name, target.type.name):
            return value.node
        return (
            self._as_written(written)
            if self._wraps(written, target.type)
            else value.converted(target.type).node
        )

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

    def _as_written(self, node: Expression) -> Expression:
        """``node`` with nothing widened but its subscripts."""
        if isinstance(node, Element):
            return self._element(node).node
        result = rebuild(node, lambda part: self._as_written(part) if isinstance(part, Expression) else part)
        assert isinstance(result, Expression)
        return result

    def value(self, node: Expression) -> Wide:
        """``node`` widened."""
        match node:
            case Constant(number):
                scalar = infer(node, self.environment)
                bits = abs(number).bit_length() if isinstance(number, int) else None
                weak = Wide(node, scalar, scalar, WEAK_ONLY, bits)
                return weak.converted(scalar) if scalar == UINT64 else weak
            case Name():
                return loop_variable(node, infer(node, self.environment))
            case Element():
                return self._element(node)
            case Unary(operator, operand):
                return self._unary(operator, self.value(operand))
            case Binary("**", left, right):
                return power(self.value(left), self.value(right))
            case Binary("/" | "//" | "%" as operator, left, right):
                return binary(operator, self.value(left), self._divisor(right))
            case Binary(operator, left, right):
                return binary(operator, self.value(left), self.value(right))
            case Call(function, arguments):
                return widened_call(function, [self.value(argument) for argument in arguments])
        return self._choice(node)

    def _divisor(self, node: Expression) -> Wide:
        value = self.value(node)
        known = value.strengths == WEAK_ONLY and self.never_zero is not None and self.never_zero(node)
        return replace(value, nonzero=known)

    def _element(self, node: Element) -> Wide:
        scalar = infer(node, self.environment)
        if node.subscripts:
            placed = replace(node, subscripts=tuple(map(self._index, node.subscripts)))
            return Wide(placed, scalar, scalar, STRONG)
        if node.array in self.numbers:
            return Wide(node, scalar, scalar, STRONG)
        # A subscript too large for 64 bits is out of range as it is.
        return Wide(node, scalar, scalar, EITHER, NAME_BITS if self.within_subscript else None)

    def _choice(self, node: Expression) -> Wide:
        match node:
            case Compare(operators, operands):
                return self._comparison(operators, [self.value(operand) for operand in operands])
            case Logical(operator, operands):
                parts = common([self.value(operand) for operand in operands])
                return one_of(parts, Logical(operator, nodes(parts)))
            case Conditional(condition, body, otherwise):
                parts = common([self.value(body), self.value(otherwise)])
                return one_of(parts, Conditional(self.value(condition).node, *nodes(parts)))
        raise TypeError(f"not an expression: {node!r}")

    def _unary(self, operator: str, operand: Wide) -> Wide:
        typed = dtypes.unary(operator, operand.type)
        if operator == "not":
            return Wide(Unary("not", operand.node), BOOL, BOOL, WEAK_ONLY)
        if operand.stored == BOOL:
            # NumPy refuses the sign of a boolean; Python inverts one as a whole number.
            operand = operand.converted(typed.operands[0])
        return Wide(
            Unary(operator, operand.node), typed.result, operand.stored, operand.strengths, operand.bits
        )

    def _comparison(self, operators: Sequence[str], operands: Sequence[Wide]) -> Wide:
        parts = list(operands)
        for index, (operator, (left, right)) in enumerate(zip(operators, pairwise(operands), strict=True)):
            typed = dtypes.compare(operator, left.type, right.type)
            parts[index : index + 2] = converted_pair((parts[index], right), typed, partial(compares, typed))
        return Wide(Compare(tuple(operators), nodes(parts)), BOOL, BOOL, EITHER)


def _low_bits(operator: str, target: Wide, value: Wide) -> Wide:
    """The right side of ``target operator= value`` on whole numbers, cut to the target's width where it is wider."""
    value = value if fits(value, target.type) else value.converted(value.stored)
    found = resolutions(UFUNCS[operator], (target, value))
    same = all(types is not None and types[2] == target.type.name for types in found)
    return value if same else value.converted(target.type)

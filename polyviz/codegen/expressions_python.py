"""Statement bodies as Python, for numba and for people: the user's expressions with the fewest parentheses.

Under numba the text means what the user's text meant. CPython over NumPy arrays computes in other types here and there;
``widths.widened`` makes a body mean the same there too before it is printed, and says what remains different.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from polyviz.codegen.functions import lookup
from polyviz.codegen.helpers_python import PYTHON_HELPERS
from polyviz.codegen.typing import Environment, infer
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
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

INDENT = "    "
ATOM, POWER, SIGN, PRODUCT, SUM, SHIFT = 15, 14, 13, 12, 11, 10
BIT_AND, BIT_XOR, BIT_OR, COMPARE, NOT, AND, OR, CONDITIONAL = 9, 8, 7, 6, 5, 4, 3, 2
PRECEDENCE = {
    "*": PRODUCT, "/": PRODUCT, "//": PRODUCT, "%": PRODUCT, "+": SUM, "-": SUM, "<<": SHIFT, ">>": SHIFT,
    "&": BIT_AND, "^": BIT_XOR, "|": BIT_OR,
}  # fmt: skip
ATTRIBUTES = {"real": ".real", "imag": ".imag", "conjugate": ".conjugate()"}

Text = tuple[str, int]


class PythonExpressionPrinter:
    """Prints expressions and instructions as Python source that reads ``math`` and NumPy as ``np``.

    ``names``: text of iterators and parameters, itself where missing. ``element``: text of an array reference.
    ``helpers`` collects the functions of ``helpers_python`` that the text calls.

    >>> printer = PythonExpressionPrinter({}, lambda element, printer: element.array)
    >>> printer.expression(Binary("**", Unary("-", Element("A")), Constant(2)))
    '(-A) ** 2'
    """

    def __init__(
        self, names: Mapping[str, str], element: Callable[[Element, PythonExpressionPrinter], str]
    ) -> None:
        self.names = names
        self.element = element
        self.helpers: set[str] = set()

    def expression(self, node: Expression) -> str:
        """The Python text of a value; raises ``CodegenError`` for a function outside the table."""
        return self._text(node)[0]

    def bound(self, node: Expression) -> str:
        """The text of a bound that something is compared with: a choice between two bounds is in parentheses."""
        return self._within(node, SUM)

    def instructions(self, body: Sequence[Instruction], indent: int) -> list[str]:
        """The lines of a body, indented by ``indent`` levels of four blanks."""
        return [line for instruction in body for line in self._instruction(instruction, indent)]

    def _instruction(self, node: Instruction, indent: int) -> list[str]:
        pad = INDENT * indent
        match node:
            case Assign(target, value, operator):
                return [f"{pad}{self.expression(target)} {operator or ''}= {self.expression(value)}"]
            case Branch():
                return self._branch(node, indent, "if")
            case Loop(iterator, start, stop, step, body):
                name = self.names.get(iterator, iterator)
                return [
                    f"{pad}for {name} in {self._range(start, stop, step)}:",
                    *self._block(body, indent + 1),
                ]
            case While(condition, body):
                return [f"{pad}while {self.expression(condition)}:", *self._block(body, indent + 1)]
            case Break():
                return [f"{pad}break"]
        raise TypeError(f"not an instruction: {node!r}")

    def _block(self, body: Sequence[Instruction], indent: int) -> list[str]:
        return self.instructions(body, indent) or [f"{INDENT * indent}pass"]

    def _branch(self, node: Branch, indent: int, keyword: str) -> list[str]:
        pad = INDENT * indent
        lines = [f"{pad}{keyword} {self.expression(node.condition)}:", *self._block(node.then, indent + 1)]
        match node.otherwise:
            case ():
                return lines
            case (Branch() as nested,):
                return lines + self._branch(nested, indent, "elif")
        return [*lines, f"{pad}else:", *self._block(node.otherwise, indent + 1)]

    def _range(self, start: Expression, stop: Expression, step: Expression) -> str:
        arguments = [start, stop, step]
        if step == Constant(1):
            arguments = [stop] if start == Constant(0) else [start, stop]
        return f"range({', '.join(map(self.expression, arguments))})"

    def _text(self, node: Expression) -> Text:
        match node:
            case Constant():
                return _constant(node)
            case Name(name):
                return self.names.get(name, name), ATOM
            case Element():
                return self.element(node, self), ATOM
            case Unary("-", Constant(int() as value)) if value > 0:
                return _constant(Constant(-value))
            case Unary("not", operand):
                return f"not {self._within(operand, NOT)}", NOT
            case Unary(operator, operand):
                return f"{operator}{self._within(operand, SIGN)}", SIGN
            case Binary():
                return self._binary(node)
            case Call(function, arguments):
                return self._call(function, arguments)
        return self._choice(node)

    def _choice(self, node: Expression) -> Text:
        match node:
            case Compare(operators, operands):
                first, *others = (self._within(operand, BIT_OR) for operand in operands)
                links = (f" {operator} {other}" for operator, other in zip(operators, others, strict=True))
                return first + "".join(links), COMPARE
            case Logical(operator, operands):
                precedence = AND if operator == "and" else OR
                return f" {operator} ".join(
                    self._within(operand, precedence + 1) for operand in operands
                ), precedence
            case Conditional(condition, body, otherwise):
                value, test = self._within(body, OR), self._within(condition, OR)
                return f"{value} if {test} else {self._within(otherwise, CONDITIONAL)}", CONDITIONAL
        raise TypeError(f"not an expression: {node!r}")

    def _within(self, node: Expression, precedence: int) -> str:
        text, own = self._text(node)
        return text if own >= precedence else f"({text})"

    def _binary(self, node: Binary) -> Text:
        if node.operator == "**":
            # The power binds tighter than a sign on its left, less tight than one on its right.
            return f"{self._within(node.left, ATOM)} ** {self._within(node.right, SIGN)}", POWER
        precedence = PRECEDENCE[node.operator]
        left, right = self._within(node.left, precedence), self._within(node.right, precedence + 1)
        return f"{left} {node.operator} {right}", precedence

    def _call(self, function: str, arguments: Sequence[Expression]) -> Text:
        if function in PYTHON_HELPERS:
            self.helpers.add(function)
        else:
            lookup(function)
        if function in ATTRIBUTES:
            return f"{self._owner(arguments[0])}{ATTRIBUTES[function]}", ATOM
        name = function.replace("numpy.", "np.", 1)
        return f"{name}({', '.join(map(self.expression, arguments))})", ATOM

    def _owner(self, node: Expression) -> str:
        # A number's dot would be read as its decimal point.
        return f"({self.expression(node)})" if isinstance(node, Constant) else self._within(node, ATOM)


def _constant(node: Constant) -> Text:
    infer(node, Environment())
    value = node.value
    if isinstance(value, complex):
        return _complex(value), ATOM
    if isinstance(value, float) and not math.isfinite(value):
        text = "np.nan" if math.isnan(value) else "np.inf" if value > 0 else "-np.inf"
    else:
        text = repr(value)
    return text, SIGN if text.startswith("-") else ATOM


def _complex(value: complex) -> str:
    """``1j`` and sums where Python adds them up exactly; ``complex(a, b)`` keeps the signs of zeros and infinities."""
    finite = math.isfinite(value.real) and math.isfinite(value.imag)
    signed = [math.copysign(1.0, part) < 0 for part in (value.real, value.imag)]
    exact = not (value.imag == 0 and signed[1]) if value.real else not any(signed)
    if finite and exact:
        return repr(value)
    parts = ", ".join(_constant(Constant(part))[0] for part in (value.real, value.imag))
    return f"complex({parts})"

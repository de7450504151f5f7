"""Statement bodies as C: the user's expressions with C's meaning made equal to numba's.

What C does differently gets a cast (``(double)a / b`` for two integers, ``(int64_t)k * k`` for narrow ones) or a helper
of ``runtime_c`` (``floor_div_i64``, ``min_f64``); the rest is printed as written, with the parentheses that C needs or
that gcc's ``-Wparentheses`` asks for.

The text counts on these compiler settings: integers wrap (``-fwrapv``), floating point operations are not contracted
where bit-equality matters (``-ffp-contract=off``), and NaN and infinities are honoured (never ``-ffinite-math-only``,
which ``-ffast-math`` implies).

Where numba leaves the outcome open, so does C: shifts by 64 or more, conversion to an integer type of a floating point
value outside its range. Integer division and modulo by zero give 0, and floating point division follows IEEE 754, as
under numba's ``error_model="numpy"``; complex division by zero gives NaN (numba raises there).
"""

from __future__ import annotations

import math
from functools import reduce
from itertools import pairwise
from typing import TYPE_CHECKING

from polyviz.codegen import dtypes
from polyviz.codegen.calls_c import print_call
from polyviz.codegen.complex_products_c import print_product
from polyviz.codegen.dtypes import BOOL, FLOAT64, INT64, unify
from polyviz.codegen.instructions_c import print_instructions
from polyviz.codegen.narrow_c import compared_narrowly, narrow_result, near
from polyviz.codegen.ranges import (
    EXACT_IN_DOUBLES,
    Range,
    joined,
    narrowest,
    within,
)
from polyviz.codegen.typing import Environment, first_span, infer
from polyviz.codegen.values_c import (
    AND,
    BIT_AND,
    BIT_OR,
    BIT_XOR,
    CONDITIONAL,
    EQUALITY,
    OR,
    PRIMARY,
    PRODUCT,
    RELATION,
    SHIFT,
    SUM,
    UNARY,
    Value,
    convert,
    holds,
    literal,
    operands_in,
    usual_conversion,
)
from polyviz.errors import CodegenError
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
    NotNegative,
    Unary,
    While,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from polyviz.codegen.dtypes import Signature, Type

PRECEDENCE = {
    "*": PRODUCT, "/": PRODUCT, "+": SUM, "-": SUM, "<<": SHIFT, ">>": SHIFT,
    "&": BIT_AND, "^": BIT_XOR, "|": BIT_OR, "==": EQUALITY, "!=": EQUALITY,
    "<": RELATION, "<=": RELATION, ">": RELATION, ">=": RELATION,
}  # fmt: skip
SHIFTS = ("<<", ">>")
BITWISE = ("&", "|", "^", *SHIFTS)
ROUNDED = {"//": "floor_div", "%": "floor_mod"}
UNSIGNED = {"//": "plain_div", "%": "plain_mod"}
_BITS = (RELATION, EQUALITY, BIT_AND, BIT_OR, AND, OR)
"""Operators between truth values, and what compares; ``&`` and ``|`` of truth values are such ones too."""
COMPLEX = {"*": "multiply", "/": "divide"}


class CExpressionPrinter:
    """Prints expressions and instructions; collects in ``helpers`` the functions of ``runtime_c`` that the text calls.

    ``uses_complex`` tells whether the text needs ``complex.h``, ``ranges`` holds the values of the variables of whole
    numbers that C keeps in less than the 64 bits of their type, ``steady`` the names of numbers that never change.
    ``is_free`` tells which operands may be evaluated although those before them decide: vector lanes do not branch.
    ``types``: dtype names of arrays and scalars. ``names``: C text of iterators and parameters, itself where missing.
    ``element``: C text of an array reference (an lvalue). ``step``: what becomes of the text of a loop's step.
    ``going_on``: what else has to hold for a ``while`` loop to go on. ``scales``: in products of complex numbers, the
    zeros of real and imaginary ones are left out.

    >>> printer = CExpressionPrinter({"A": "float64"}, {}, lambda element, printer: element.array)
    >>> printer.expression(Binary("*", Element("A"), Binary("//", Name("i"), Constant(2))))
    'A * floor_div_i64(i, 2)'
    >>> sorted(printer.helpers)
    ['floor_div_i64']
    """

    def __init__(
        self,
        types: Mapping[str, str],
        names: Mapping[str, str],
        element: Callable[[Element, CExpressionPrinter], str],
        step: Callable[[Loop, str], str] | None = None,
        going_on: Callable[[], str] = str,
        *,
        scales: bool = False,
    ) -> None:
        self.environment = Environment(types)
        self.names = names
        self.element = element
        self.step = step or _untested
        self.ranges: Mapping[str, Range] = {}
        self.steady = frozenset[str]()
        self.fixed: Mapping[str, int] = {}
        self.is_free: Callable[[Expression], bool] = never_free
        self.versions: Callable[[Loop, int, Callable[[int], list[str]]], list[str]] = _one_version
        self.shared: Callable[[Assign], tuple[list[str], Assign]] = _nothing_shared
        self.choice: Callable[[Conditional], Value | None] = no_choice
        self.choices: Callable[[Branch], Sequence[Assign] | None] = no_choice
        self.search: Callable[[While, int, Callable[[int], list[str]]], list[str]] = _one_version
        self.going_on = going_on
        self.helpers: set[str] = set()
        self.uses_complex = False
        self.scales = scales and any("complex" in one for one in types.values())

    def expression(self, node: Expression) -> str:
        """The C text of a value; raises ``CodegenError`` for what has no meaning in C."""
        try:
            return self.value(node).text
        except CodegenError as error:
            error.span = error.span or first_span(node)
            raise

    def bound(self, node: Expression) -> str:
        """The C text of a bound that something is compared with: a choice between two bounds is in parentheses.

        >>> nowhere = lambda element, printer: element.array
        >>> choice = Conditional(Compare(("<",), (Name("n"), Name("m"))), Name("n"), Name("m"))
        >>> CExpressionPrinter({"n": "int64", "m": "int64"}, {}, nowhere).bound(choice)
        '(n < m ? n : m)'
        """
        return self.value(node).within(SUM)

    def condition(self, node: Expression) -> str:
        """The C text of a value of which only the truth matters."""
        return self.truth(node).text

    def instructions(self, body: Sequence[Instruction], indent: int) -> list[str]:
        """The lines of a body, indented by ``indent`` levels of four blanks."""
        return print_instructions(self, body, indent)

    def helper(self, name: str, scalar: Type, arguments: Iterable[Value], result: Type) -> Value:
        """A call of the helper ``name`` for the given type; the arguments are converted by C itself."""
        full = f"{name}_{scalar.suffix}"
        self.helpers.add(full)
        return Value(f"{full}({', '.join(argument.text for argument in arguments)})", PRIMARY, result, result)

    def value(self, node: Expression) -> Value:
        """``node`` as a printed value."""
        value = self._value(node)
        self.uses_complex = self.uses_complex or not value.type.is_real
        return value

    def _value(self, node: Expression) -> Value:
        match node:
            case Constant():
                return self._constant(node)
            case Name(name) if name in self.fixed:
                return literal(self.fixed[name], INT64)
            case Name(name):
                scalar = self.environment.name(name)
                return Value(self.names.get(name, name), PRIMARY, scalar, scalar)
            case Element():
                scalar = self.environment.array(node.array, node.span)
                known = self.ranges.get(node.array)
                storage = scalar if known is None else narrowest(known)
                return Value(self.element(node, self), PRIMARY, scalar, storage, range=known)
            case Unary(operator, operand):
                return self._unary_node(operator, operand)
            case Binary():
                return self._binary_node(node)
            case Call():
                return print_call(self, node)
        return self._choice(node)

    def truth(self, node: Expression) -> Value:
        """``node`` where only its truth matters: comparisons and short-circuit operators become C's own."""
        match node:
            case Logical(operator, operands):
                return self._joined(operator, operands, [self.truth(operand) for operand in operands])
            case Unary("not", operand):
                return Value(f"!{self.truth(operand).within(UNARY)}", UNARY, BOOL, BOOL)
            case Call("bool", (operand,)):
                return self.truth(operand)
        return self.value(node)

    def junction(self, operator: str, operands: Sequence[Value]) -> Value:
        """``and`` / ``or`` over truth values; gcc wants ``&&`` inside ``||`` in parentheses."""
        symbol, precedence = ("&&", AND) if operator == "and" else ("||", OR)
        texts = [
            operand.within(EQUALITY if operand.precedence != precedence else AND) for operand in operands
        ]
        return Value(f" {symbol} ".join(texts), precedence, BOOL, BOOL)

    def _joined(self, operator: str, operands: Sequence[Expression], values: Sequence[Value]) -> Value:
        """As ``junction``; all of the operands are evaluated where that does no harm, each as 0 or 1."""
        if not all(map(self.is_free, operands[1:])):
            return self.junction(operator, values)
        symbol, precedence = ("&", BIT_AND) if operator == "and" else ("|", BIT_OR)
        texts = [value.within(PRIMARY) if _is_bit(value) else f"({value.within(SHIFT)} != 0)" for value in values]
        return Value(f" {symbol} ".join(texts), precedence, BOOL, BOOL)

    def _constant(self, node: Constant) -> Value:
        scalar = infer(node, self.environment)
        if isinstance(node.value, complex):
            parts = [literal(part, FLOAT64) for part in (node.value.real, node.value.imag)]
            return self.helper("complex", scalar, parts, scalar)
        return literal(node.value, scalar)

    def _choice(self, node: Expression) -> Value:
        match node:
            case Compare(operators, operands):
                return self._comparison(operators, operands)
            case Logical(operator, operands):
                return self._logical(operator, operands)
            case Conditional(condition, body, otherwise):
                if (chosen := self.choice(node)) is not None:
                    return chosen
                return self.conditional(self.truth(condition), self.value(body), self.value(otherwise))
        raise TypeError(f"not an expression: {node!r}")

    def _unary_node(self, operator: str, operand: Expression) -> Value:
        if operator == "not":
            return self.truth(Unary("not", operand))
        if operator == "-" and isinstance(operand, Constant) and isinstance(operand.value, int | float):
            negated = Constant(-operand.value)
            return literal(-operand.value, infer(negated, self.environment))
        value = self.value(operand)
        return self.unary(operator, value, dtypes.unary(operator, value.type))

    def unary(self, operator: str, value: Value, signature: Signature) -> Value:
        """``- + ~`` in the width of the signature's operand, then widened by C without change."""
        (computed,) = signature.operands
        if operator == "~" and computed == BOOL:
            return Value(f"!{value.within(UNARY)}", UNARY, BOOL, BOOL)
        if value.storage not in (computed, BOOL):
            value = convert(value, computed)
        text = value.within(UNARY)
        result = Value(
            f"{operator}({text})" if text[0] in "+-" else f"{operator}{text}", UNARY, computed, computed
        )
        if computed.is_integral and computed.bits < 32:
            result = convert(Value(result.text, UNARY, INT64, INT64), computed)
        return Value(result.text, UNARY, signature.result, computed)

    def _binary_node(self, node: Binary) -> Value:
        if self.scales and (product := print_product(self, node)) is not None:
            return product
        left, right = self.value(node.left), self.value(node.right)
        if node.operator == "**":
            return print_call(self, Call("pow", (node.left, node.right)))
        signature = dtypes.binary(node.operator, left.type, right.type)
        if isinstance(node, NotNegative) and signature.operands[0] == INT64:
            return self.helper(UNSIGNED[node.operator], INT64, (left, right), signature.result)
        return self.binary(node.operator, left, right, signature)

    def binary(self, operator: str, left: Value, right: Value, signature: Signature) -> Value:
        """A binary operator computed in the type of the signature."""
        computed, result = signature.operands[0], signature.result
        if operator in ROUNDED:
            return self.helper(_rounded(operator, right, computed), computed, (left, right), result)
        if not computed.is_real and operator in COMPLEX:
            return self.helper(COMPLEX[operator], computed, (left, right), result)
        if operator in SHIFTS:
            # C shifts in the type of the left operand alone.
            left = left if left.storage == computed else convert(left, computed)
        elif computed.bits >= 32:
            narrow = narrow_result(operator, left, right, computed)
            if narrow is not None:
                storage, values = narrow
                return Value(self._infix(operator, left, right), PRECEDENCE[operator], result, storage, range=values)
            left, right = operands_in(left, right, computed)
        text = self._infix(operator, left, right)
        if computed.is_integral and computed.bits < 32 and computed != BOOL:
            return Value(f"({dtypes.C_TYPE_NAMES[computed.name]})({text})", UNARY, result, computed)
        return Value(text, PRECEDENCE[operator], result, computed)

    def _infix(self, operator: str, left: Value, right: Value) -> str:
        precedence = PRECEDENCE[operator]
        if operator in BITWISE:
            same = left.precedence == precedence and operator not in SHIFTS
            return f"{left.within(precedence if same else UNARY)} {operator} {right.within(UNARY)}"
        return f"{left.within(precedence)} {operator} {right.within(precedence + 1)}"

    def _comparison(self, operators: Sequence[str], operands: Sequence[Expression]) -> Value:
        values = [self.value(operand) for operand in operands]
        links = []
        for operator, ((left, one), (right, other)) in zip(
            operators, pairwise(zip(values, operands, strict=True)), strict=True
        ):
            signature = dtypes.compare(operator, left.type, right.type)
            narrow = compared_narrowly(self, operator, (left, one), (right, other))
            pair = near(self, left, one, right), near(self, right, other, left)
            links.append(narrow or self.compare(operator, *pair, signature))
        return links[0] if len(links) == 1 else self.junction("and", links)

    def compare(self, operator: str, left: Value, right: Value, signature: Signature) -> Value:
        """One comparison; both sides are brought to one type where C would compare in another."""
        computed = signature.operands[0]
        if not _compares_as(computed, left, right):
            left, right = operands_in(left, right, computed)
        return Value(
            f"{left.within(SHIFT)} {operator} {right.within(SHIFT)}", PRECEDENCE[operator], BOOL, BOOL
        )

    def _logical(self, operator: str, operands: Sequence[Expression]) -> Value:
        values = [self.value(operand) for operand in operands]
        result = reduce(unify, (value.type for value in values))
        if result == BOOL:
            return self._joined(operator, operands, values)
        chosen = values[-1]
        for value in reversed(values[:-1]):
            pair = (chosen, value) if operator == "and" else (value, chosen)
            chosen = self.conditional(value, *pair)
        return convert(chosen, result) if chosen.type != result else chosen

    def conditional(self, condition: Value, body: Value, otherwise: Value) -> Value:
        """``body if condition else otherwise``."""
        result = unify(body.type, otherwise.type)
        storage = usual_conversion(body.storage, otherwise.storage)
        if not (result.is_integral and holds(storage, body.storage, otherwise.storage)):
            # Both are cast: unlike an operator, `?:` asks classes, such as the emulator's cells, for the other's type.
            body, otherwise = convert(body, result), convert(otherwise, result)
            storage = result
        text = f"{condition.within(OR)} ? {body.within(OR)} : {otherwise.within(CONDITIONAL)}"
        known = joined((body.values, otherwise.values)) if result.is_integral else None
        return Value(text, CONDITIONAL, result, result if result == BOOL else storage, range=known)


def never_free(_operand: Expression) -> bool:
    """No operand may be evaluated unless those before it leave the choice to it."""
    return False


def no_choice(_node: Conditional | Branch) -> None:
    """Conditions become C's own, which branches for them as it likes."""


def _is_bit(value: Value) -> bool:
    """Whether C computes ``value`` as 0 or 1; what is read from memory may be stored otherwise."""
    return value.type == BOOL and (value.constant is not None or value.precedence in _BITS or value.text[0] == "!")


def _one_version(_loop: Loop | While, indent: int, lines: Callable[[int], list[str]]) -> list[str]:
    return lines(indent)


def _nothing_shared(assign: Assign) -> tuple[list[str], Assign]:
    return [], assign


def _untested(_loop: Loop, text: str) -> str:
    return text


def _compares_as(computed: Type, left: Value, right: Value) -> bool:
    common = usual_conversion(left.storage, right.storage)
    exact = computed.is_integral or all(within(part.values, EXACT_IN_DOUBLES) for part in (left, right))
    return common == computed or (exact and holds(common, left.storage, right.storage))


def _rounded(operator: str, right: Value, computed: Type) -> str:
    """The helper for ``//`` or ``%`` by ``right``."""
    name = ROUNDED[operator]
    if computed == INT64 and right.constant is None:
        return f"{name}_by"
    if operator == "%" and computed.kind == "f" and right.constant is not None:
        part, scale = math.frexp(right.constant)
        return f"{name}_exact" if part == 0.5 and 0 < scale < 64 else name
    return name

"""Products of complex numbers with real and imaginary ones in C: nothing is multiplied by a part that is 0.

    Ez[i] = scale_c128(c[i], Ez[i]) - scale_c128(s, turn_c128(k[i], B[i]));  // c[i] * Ez[i] - s * (1j * k[i] * B[i])

Of finite numbers that gives the same values. Python turns the real number into a complex one, so that ``0 * inf`` makes
the other part of an infinite number NaN: where the last bits of a sum are free, so is that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from polyviz.codegen.dtypes import FLOAT32, FLOAT64, TYPES
from polyviz.codegen.typing import infer
from polyviz.codegen.values_c import PRODUCT, UNARY, Value, convert, literal
from polyviz.model.expression import Binary, Constant, Unary

if TYPE_CHECKING:
    from polyviz.codegen.dtypes import Type
    from polyviz.codegen.expressions_c import CExpressionPrinter
    from polyviz.model.expression import Expression

Kind = Literal["real", "imaginary", "complex"]


def print_product(printer: CExpressionPrinter, node: Binary) -> Value | None:
    """``node``, a product or a quotient, if it is complex and one of its operands is real or imaginary.

    >>> from polyviz.codegen.expressions_c import CExpressionPrinter
    >>> from polyviz.model.expression import Element
    >>> printer = CExpressionPrinter({"z": "complex128", "k": "float64"}, {}, lambda element, printer: element.array)
    >>> print_product(printer, Binary("*", Binary("*", Constant(2j), Element("k")), Element("z"))).text
    'turn_c128(2.0 * k, z)'
    """
    if node.operator not in ("*", "/") or infer(node, printer.environment).is_real:
        return None
    operands = (node.left, node.right)
    kinds = [_kind_of(one, printer) for one in operands]
    if kinds[1 if node.operator == "/" else 0] == "complex" and (node.operator == "/" or kinds[1] == "complex"):
        return None
    if node.operator == "/" and kinds != ["complex", "real"]:
        return None
    return _complex(printer, *_printed(printer, node))


def _kind_of(node: Expression, printer: CExpressionPrinter) -> Kind:
    if infer(node, printer.environment).is_real:
        return "real"
    match node:
        case Constant(complex() as value):
            return "imaginary" if value.real == 0 else "complex"
        case Unary("-" | "+", operand):
            return _kind_of(operand, printer)
        case Binary("*", left, right):
            kinds = {_kind_of(left, printer), _kind_of(right, printer)}
            return "imaginary" if kinds == {"real", "imaginary"} else "complex"
    return "complex"


def _printed(printer: CExpressionPrinter, node: Expression) -> tuple[Kind, Value, Type]:
    """``node`` as a number of its kind, of an imaginary one its size, and the complex type that it has."""
    kind, whole = _kind_of(node, printer), infer(node, printer.environment)
    if kind == "real":
        return kind, printer.value(node), whole
    match node:
        case Constant(complex() as value) if kind == "imaginary":
            return kind, literal(value.imag, part_of(whole)), whole
        case Unary(operator, operand) if kind == "imaginary":
            size = _printed(printer, operand)[1]
            return kind, Value(f"{operator}{size.within(UNARY)}", UNARY, size.type, size.storage), whole
        case Binary("*", left, right):
            return kind, _product(printer, _printed(printer, left), _printed(printer, right), kind, whole), whole
        case Binary("/", left, right) if _kind_of(right, printer) == "real":
            return kind, printer.helper("shrink", whole, (printer.value(left), printer.value(right)), whole), whole
    return kind, printer.value(node), whole


def _product(
    printer: CExpressionPrinter,
    left: tuple[Kind, Value, Type],
    right: tuple[Kind, Value, Type],
    kind: Kind,
    whole: Type,
) -> Value:
    """What two numbers of some kinds make, of the type ``whole``."""
    part = part_of(whole)
    if kind == "imaginary":
        one, other = convert(left[1], part), convert(right[1], part)
        return Value(f"{one.within(PRODUCT)} * {other.within(PRODUCT + 1)}", PRODUCT, part, part)
    for (first, value, _), (second, other, given) in ((left, right), (right, left)):
        if first != "complex":
            turned = _complex(printer, second, other, given) if second != "complex" else other
            return printer.helper("scale" if first == "real" else "turn", whole, (value, turned), whole)
    return printer.helper("multiply", whole, (left[1], right[1]), whole)


def _complex(printer: CExpressionPrinter, kind: Kind, value: Value, whole: Type) -> Value:
    """A number of some kind as a complex one of the type ``whole``."""
    if kind == "complex":
        return value
    zero = literal(0.0, part_of(whole))
    return printer.helper("complex", whole, (value, zero) if kind == "real" else (zero, value), whole)


def part_of(whole: Type) -> Type:
    """The type of the parts of complex numbers.

    >>> str(part_of(TYPES["complex64"]))
    'float32'
    """
    return FLOAT32 if whole == TYPES["complex64"] else FLOAT64

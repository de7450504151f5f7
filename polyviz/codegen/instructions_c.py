"""Assignments, branches and data-dependent loops of a statement body as lines of C."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.codegen import calls_c, dtypes
from polyviz.codegen.dtypes import BOOL, Type
from polyviz.codegen.typing import first_span
from polyviz.codegen.values_c import AND, Value, convert, truth, usual_conversion
from polyviz.errors import CodegenError
from polyviz.model.expression import (
    Assign,
    Binary,
    Branch,
    Break,
    Element,
    Expression,
    Instruction,
    Loop,
    Name,
    While,
    walk,
    whole_literal,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyviz.codegen.expressions_c import CExpressionPrinter

INDENT = "    "
# Operators whose low bits depend on the operands' low bits only, so that C may compute in a narrower integer type.
MODULAR = ("+", "-", "*", "&", "|", "^")
COMPOUND = (*MODULAR, "/")


def print_instructions(printer: CExpressionPrinter, body: Sequence[Instruction], indent: int) -> list[str]:
    """The lines of ``body``; raises ``CodegenError`` at the assignment that C cannot express."""
    lines: list[str] = []
    for instruction in body:
        lines += _instruction(printer, instruction, indent)
    return lines


def _instruction(printer: CExpressionPrinter, instruction: Instruction, indent: int) -> list[str]:
    match instruction:
        case Assign():
            return _with_shared(printer, instruction, indent)
        case Branch():
            chosen = printer.choices(instruction)
            if chosen is not None:
                return print_instructions(printer, chosen, indent)
            return _branch(printer, instruction, indent)
        case Loop():
            return printer.versions(instruction, indent, lambda deeper: _loop(printer, instruction, deeper))
        case While():
            return printer.search(instruction, indent, lambda deeper: _while(printer, instruction, deeper))
        case Break():
            return [INDENT * indent + "break;"]
    raise TypeError(f"not an instruction: {instruction!r}")


def _with_shared(printer: CExpressionPrinter, node: Assign, indent: int) -> list[str]:
    """An assignment behind the values that it asks for several times, in braces of their own."""
    constants, changed = printer.shared(node)
    if not constants:
        return [INDENT * indent + _assignment(printer, node)]
    pad, inside = INDENT * indent, INDENT * (indent + 1)
    return [f"{pad}{{", *(inside + line for line in (*constants, _assignment(printer, changed))), f"{pad}}}"]


def _assignment(printer: CExpressionPrinter, node: Assign) -> str:
    try:
        target = printer.value(node.target)
        if node.operator is None:
            return f"{target.text} = {_stored(printer, printer.value(node.value), target.type).text};"
        return _augmented(printer, node, target)
    except CodegenError as error:
        error.span = error.span or node.target.span or first_span(node.value)
        raise


def _stored(printer: CExpressionPrinter, value: Value, target: Type) -> Value:
    """``value`` as it is assigned; C converts between numbers as numba does, but truth is its own."""
    if target.is_real and not value.type.is_real and target != BOOL:
        raise CodegenError(
            f"A `{value.type}` value cannot be stored where `{target}` is expected.",
            hint="Store its `.real` part.",
        )
    if target == BOOL:
        return truth(value)
    if value.type.kind == "f" and target.is_integral:
        return calls_c.whole(printer, value, target)
    return value


def _augmented(printer: CExpressionPrinter, node: Assign, target: Value) -> str:
    operator = node.operator or ""
    value = printer.value(node.value)
    if operator in COMPOUND:
        computed = dtypes.binary(operator, target.type, value.type).operands[0]
        compound = _compound(operator, target, value, computed)
        if compound is not None:
            return f"{target.text} {operator}= {compound.text};"
    whole = printer.value(Binary(operator, node.target, node.value))
    return f"{target.text} = {_stored(printer, whole, target.type).text};"


def _compound(operator: str, target: Value, value: Value, computed: Type) -> Value | None:
    """The right side of C's own ``target op= value`` when it means the same, else None."""
    if not computed.is_real or (target.type == BOOL and computed != BOOL):
        return None
    if target.type.is_integral and not computed.is_integral:
        return None  # a fraction is made whole by `_stored`
    if computed.is_integral:
        return value if operator in MODULAR else None
    if usual_conversion(target.storage, value.storage) != computed:
        value = convert(value, computed)
    return value if usual_conversion(target.storage, value.storage) == computed else None


def _branch(printer: CExpressionPrinter, node: Branch, indent: int) -> list[str]:
    pad = INDENT * indent
    lines = [f"{pad}if ({printer.condition(node.condition)}) {{"]
    lines += print_instructions(printer, node.then, indent + 1)
    match node.otherwise:
        case ():
            return [*lines, pad + "}"]
        case (Branch() as nested,):
            first, *rest = _branch(printer, nested, indent)
            return [*lines, f"{pad}}} else {first.lstrip()}", *rest]
    return [*lines, pad + "} else {", *print_instructions(printer, node.otherwise, indent + 1), pad + "}"]


def _while(printer: CExpressionPrinter, node: While, indent: int) -> list[str]:
    going_on, pad = printer.going_on(), INDENT * indent
    asked = printer.truth(node.condition).within(AND) if going_on else printer.condition(node.condition)
    head = f"while ({going_on} && {asked}) {{" if going_on else f"while ({asked}) {{"
    return [pad + head, *print_instructions(printer, node.body, indent + 1), pad + "}"]


def _loop(printer: CExpressionPrinter, node: Loop, indent: int) -> list[str]:
    """``range`` evaluates its bounds once; bounds that the body could change are kept beside the iterator."""
    iterator = printer.names.get(node.iterator, node.iterator)
    start = printer.value(node.start)
    kept: list[str] = []
    stop = _kept(printer, node.stop, f"{iterator}_stop", kept)
    step = _kept_step(printer, node, f"{iterator}_step", kept)
    initial = ", ".join([f"int64_t {iterator} = {start.text}", *kept])
    head = f"for ({initial}; {_continues(node.step, iterator, stop, step)}; {_advance(node.step, iterator, step)}) {{"
    body = print_instructions(printer, node.body, indent + 1)
    return [INDENT * indent + head, *body, INDENT * indent + "}"]


def _kept(printer: CExpressionPrinter, node: Expression, name: str, kept: list[str]) -> Value:
    value = printer.value(node)
    if not any(isinstance(part, Element) for part in walk(node)):
        return value
    kept.append(f"{name} = {value.text}")
    return printer.value(Name(name))


def _kept_step(printer: CExpressionPrinter, node: Loop, name: str, kept: list[str]) -> Value:
    plain = printer.value(node.step).text
    tested = printer.step(node, plain)
    if tested == plain:
        return _kept(printer, node.step, name, kept)
    kept.append(f"{name} = {tested}")
    return printer.value(Name(name))


def _continues(node: Expression, iterator: str, stop: Value, step: Value) -> str:
    constant = whole_literal(node)
    limit = stop.within(12)
    if constant is not None:
        return f"{iterator} {'<' if constant > 0 else '>'} {limit}"
    up, down = f"{iterator} < {limit}", f"{iterator} > {limit}"
    return f"{step.text} > 0 ? {up} : {step.text} < 0 && {down}"


def _advance(node: Expression, iterator: str, step: Value) -> str:
    constant = whole_literal(node)
    if constant in (1, -1):
        return iterator + ("++" if constant == 1 else "--")
    if constant is not None and constant < 0:
        return f"{iterator} -= {-constant}"
    return f"{iterator} += {step.text}"

"""Cells of few bits against a wide number that never changes: C compares in few bits, and it means what it did.

``I[x] > t`` of bytes is ``(t < 0) | (I[x] > (uint8_t)clamped_i64(t, 0, 255))``: beyond the values of a byte the number
decides alone. A vector has room for eight times as many bytes as numbers of 64 bits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.codegen.dtypes import BOOL, C_TYPE_NAMES, INT32, INT64
from polyviz.codegen.ranges import computed_range, range_of, within
from polyviz.codegen.values_c import BIT_AND, BIT_OR, PRIMARY, SHIFT, Value, holds, usual_conversion
from polyviz.model.expression import Element, Expression, Name

if TYPE_CHECKING:
    from polyviz.codegen.dtypes import Type
    from polyviz.codegen.expressions_c import CExpressionPrinter
    from polyviz.codegen.ranges import Range

SWAPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
OUTSIDE = {">": ("<", 0, "|"), "<": (">", 1, "|"), ">=": ("<=", 1, "&"), "<=": (">=", 0, "&")}
"""How a number decides a comparison of all of a range with it: its own test, with which end, joined by what."""
MOST_BITS = 16
_Side = tuple[Value, Expression]


def compared_narrowly(printer: CExpressionPrinter, operator: str, one: _Side, other: _Side) -> Value | None:
    """``one operator other`` in the few bits of one of them; None where neither is narrow beside a wide number that
    never changes, or the order is not what is asked for."""
    for (narrow, _), (wide, node), asked in ((one, other, operator), (other, one, SWAPPED.get(operator, ""))):
        around = _around(printer, wide, node, narrow)
        if around is not None and asked in OUTSIDE:
            test, end, joins = OUTSIDE[asked]
            close = f"({C_TYPE_NAMES[narrow.storage.name]}){_clamped(printer, wide, *around)}"
            alone = f"({wide.within(SHIFT)} {test} {around[end]})"
            precedence = BIT_OR if joins == "|" else BIT_AND
            return Value(f"{alone} {joins} ({narrow.within(SHIFT)} {asked} {close})", precedence, BOOL, BOOL)
    return None


def near(printer: CExpressionPrinter, value: Value, node: Expression, narrow: Value) -> Value:
    """``value``, or where that is a number that never changes, as wide as vectors have least room for, the nearest one
    among those of ``narrow`` and its neighbours: it compares with ``narrow`` all the same."""
    around = _around(printer, value, node, narrow)
    if around is None:
        return value
    ends = around[0] - 1, around[1] + 1
    return Value(_clamped(printer, value, *ends), PRIMARY, value.type, INT32, range=ends)


def _around(printer: CExpressionPrinter, value: Value, node: Expression, narrow: Value) -> Range | None:
    """What ``narrow`` can be, where ``value`` is a wide number that never changes; None elsewhere."""
    name = node.name if isinstance(node, Name) else node.array if isinstance(node, Element) else ""
    known = narrow.values if narrow.constant is None and narrow.storage != BOOL else None
    is_wide = name in printer.steady and value.storage == INT64
    return known if is_wide and narrow.storage.bits <= MOST_BITS else None


def _clamped(printer: CExpressionPrinter, value: Value, least: int, greatest: int) -> str:
    printer.helpers.add("clamped_i64")
    return f"clamped_i64({value.text}, {least}, {greatest})"


def narrow_result(operator: str, left: Value, right: Value, computed: Type) -> tuple[Type, Range] | None:
    """The type less wide than ``computed`` in which C computes ``left operator right`` as they are, and the values,
    all of which it holds; None where it would compute in another type, or wrap."""
    if not (computed.is_integral and left.storage.is_integral and right.storage.is_integral):
        return None
    values = computed_range(operator, left.values, right.values)
    storage = usual_conversion(left.storage, right.storage)
    if values is None or storage.bits >= computed.bits or not holds(storage, left.storage, right.storage):
        return None
    return (storage, values) if within(values, range_of(storage)) and within(values, range_of(computed)) else None

"""What every printer has to know of register tiles: which ones the types allow, and what their operands are called."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.codegen.block_place import names_in
from polyviz.codegen.dtypes import type_named
from polyviz.codegen.typing import Environment, infer
from polyviz.model.expression import Binary, Element, Expression, Name, walk
from polyviz.model.plan import COLUMNS, ROWS, SCALARS, SUM

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from polyviz.model.plan import RegisterTile
    from polyviz.model.program import ArrayType

_VECTOR_DTYPES = ("float64", "float32")
_PARTS = {"complex64": "float32", "complex128": "float64"}
_DOUBLES = {"float32": "float64", "complex64": "complex128"}
_LARGEST_ELEMENT = 8
_LONGEST_INTEGER = 63
"""Bits of the largest integer that the source computes, beside its sign."""


def sum_type(
    tile: RegisterTile, types: Mapping[str, ArrayType], environment: Environment, *, widens: bool = False
) -> str:
    """The type in which the cells of the tile add up.

    It is their own or, where ``widens`` and values in double precision take part in sums of packed products, double
    precision, from which cells are rounded once instead of at every step.
    """
    dtype = types[tile.operands.target.array].dtype
    double = _DOUBLES.get(dtype)
    if not (double and widens and tile.packed and _is_sum_of_products(tile)):
        return dtype
    return double if double in _value_types(tile, dtype, environment) else dtype


def refusal(
    tile: RegisterTile,
    types: Mapping[str, ArrayType],
    environment: Environment,
    dtype: str,
    *,
    widens: bool = False,
    splits: bool = False,
) -> str | None:
    """Why the types of this call rule the register tile out, whose cells add up in ``dtype``; None when they do not.

    ``widens`` tells that operands in single precision and short integers may be packed in double precision for sums in
    it, ``splits`` that complex ones may be packed as their real and imaginary parts.
    """
    operands = tile.operands
    if is_whole(dtype):
        return _refused_integers(tile, dtype, environment)
    if splits and dtype in _PARTS:
        if not (tile.packed and _is_sum_of_products(tile)):
            return f"{dtype} takes sums of products whose operands are packed"
    elif dtype not in _VECTOR_DTYPES:
        return f"{operands.target.array} holds {dtype}, not floating point numbers"
    may_widen = widens and tile.packed and _is_sum_of_products(tile)
    for other in _value_types(tile, dtype, environment):
        if other != dtype and not (may_widen and _widens_to(dtype, other, operands.update)):
            return f"{other} and {dtype} meet in one value"
    values = (*operands.rows, *operands.columns, *operands.scalars)
    return None if tile.packed else _scattered((operands.target, *values), types)


def _refused_integers(tile: RegisterTile, dtype: str, environment: Environment) -> str | None:
    """Why integers rule out a tile whose cells hold ``dtype``.

    Sums, differences and products have the same last bits whether they are cut off to the width of a cell at every step
    or only at the end, so that all of them are worked out in that width, in any order.
    """
    if not (tile.packed and _is_sum_of_products(tile)):
        return f"{dtype} takes sums of products whose operands are packed"
    other = next((name for name in _value_types(tile, dtype, environment) if not is_whole(name)), None)
    return None if other is None else f"{other} and {dtype} meet in one value"


def _widens_to(dtype: str, other: str, update: Expression) -> bool:
    """Whether values of type ``other`` may be packed as ``dtype`` for ``update``: all that changes are roundings.

    Integers must not come near the end of theirs, where they would start anew.
    """
    if dtype != "float64" or not is_whole(other):
        return _DOUBLES.get(other) == dtype
    found = type_named(other)
    assert isinstance(update, Binary)
    value = update.right
    if found.kind == "u" and not (_is_square(value) or _only_grows(value)):
        return False
    return _bits(value, found.bits - (found.kind == "i")) < _LONGEST_INTEGER


def _is_square(value: Expression) -> bool:
    return isinstance(value, Binary) and value.operator == "*" and value.left == value.right


def _only_grows(value: Expression) -> bool:
    """Whether nothing is subtracted in ``value``, which without a sign would start anew below zero."""
    return not any(isinstance(part, Binary) and part.operator == "-" for part in walk(value))


def _bits(value: Expression, each: int) -> int:
    """The most bits of ``value``, a sum of products, where each of its operands has ``each``."""
    if not isinstance(value, Binary):
        return each
    left, right = _bits(value.left, each), _bits(value.right, each)
    return left + right if value.operator == "*" else max(left, right) + 1


def is_whole(dtype: str) -> bool:
    """Whether cells of type ``dtype`` hold integers.

    >>> is_whole("int32"), is_whole("bool"), is_whole("float64")
    (True, False, False)
    """
    return type_named(dtype).kind in "iu"


def _value_types(tile: RegisterTile, dtype: str, environment: Environment) -> list[str]:
    """The types of all operands, and of what is computed from them where each of them has the type ``dtype``."""
    operands = tile.operands
    parts = [part for part in walk(operands.update) if isinstance(part, Expression)]
    here = Environment({name: dtype for name in operand_names(tile)})
    found = [infer(value, environment) for value in (*operands.rows, *operands.columns, *operands.scalars)]
    return [one.name for one in (*found, *(infer(part, here) for part in parts))]


def part_type(dtype: str) -> str:
    """The type of the real and imaginary parts of ``dtype``; itself where it is not complex."""
    return _PARTS.get(dtype, dtype)


def _is_sum_of_products(tile: RegisterTile) -> bool:
    """Whether the tile adds or subtracts products, sums and differences of its operands."""
    match tile.operands.update:
        case Binary("+" | "-", Name(name), value) if name == SUM:
            parts = [part for part in walk(value) if isinstance(part, Expression)]
            return all(isinstance(part, Name) or _is_ring(part) for part in parts) and Name(SUM) not in parts
    return False


def _is_ring(part: Expression) -> bool:
    return isinstance(part, Binary) and part.operator in ("+", "-", "*")


def is_widened(tile: RegisterTile, environment: Environment, dtype: str) -> bool:
    """Whether packing makes an operand of a tile whose cells add up in ``dtype`` more precise."""
    found = (infer(value, environment).name for value in (*tile.operands.rows, *tile.operands.columns))
    return not is_whole(dtype) and any(name != dtype and not is_whole(name) for name in found)


def _scattered(values: Sequence[Expression], types: Mapping[str, ArrayType]) -> str | None:
    """What to say of arrays whose elements cannot be loaded as vectors where they are."""
    used = {part.array for value in values for part in walk(value) if isinstance(part, Element)}
    apart = sorted(array for array in used if types[array].layout != "C")
    return f"{', '.join(apart)} is not contiguous, and not packed" if apart else None


def operand_names(tile: RegisterTile) -> list[str]:
    """The names that stand for operands in the update."""
    operands = tile.operands
    counted = ((ROWS, operands.rows), (COLUMNS, operands.columns), (SCALARS, operands.scalars))
    return [SUM, *(f"{stem}{number}" for stem, parts in counted for number in range(len(parts)))]


def named_operands(tile: RegisterTile, stem: str) -> list[str]:
    """The operands of one kind."""
    return [name for name in operand_names(tile) if name.startswith(stem)]


def added_products(update: Expression) -> list[Expression]:
    """``update`` of a sum as several, one for each value that it adds or subtracts; itself where it does other things.

    >>> from polyviz.model.expression import Binary, Name
    >>> two = Binary("-", Name("row0"), Name("row1"))
    >>> [part.operator for part in added_products(Binary("-", Name("sum"), two))]
    ['-', '+']
    """
    match update:
        case Binary("+" | "-" as operator, Name(name), Binary("+" | "-" as inner, first, second) as value) if (
            name == SUM and SUM not in names_in(value)
        ):
            other = "+" if operator == inner else "-"
            parts = [Binary(operator, Name(SUM), first), Binary(other, Name(SUM), second)]
            return [single for part in parts for single in added_products(part)]
    return [update]


def reads_ahead(tile: RegisterTile) -> bool:
    """Whether the packed columns of a block are too many for the second cache, so that each panel comes from afar."""
    _, columns, depth = tile.sizes
    size = tile.turns * columns * depth * _LARGEST_ELEMENT * len(tile.operands.columns)
    return tile.packed and not tile.shared_rows and 2 * size > tile.processor.l2

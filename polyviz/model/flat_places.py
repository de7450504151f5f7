"""Elements that are looked at in one row, ``A.flat[k]``, by their number: where rows follow each other without gaps,
that is all that counts, and nothing has to be divided.

    elev = ((const double *)dem)[k];  // not dem[k / n][k % n]
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.model.expression import (
    Binary,
    Constant,
    Element,
    Expression,
    Instruction,
    Name,
    Node,
    rebuild,
    walk,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from polyviz.model.scop import Array


def by_numbers(instruction: Instruction, contiguous: Iterable[Array]) -> Instruction:
    """``instruction`` with one subscript for the elements of ``contiguous`` arrays that have a number."""
    arrays = {array.name: array for array in contiguous if array.rank > 1}

    def numbered(node: Node) -> Node:
        if isinstance(node, Element) and not node.affine and node.array in arrays:
            number = number_of(arrays[node.array], node.subscripts)
            node = node if number is None else replace(node, subscripts=(number,))
        return rebuild(node, numbered)

    if not any(isinstance(part, Element) and part.array in arrays for part in walk(instruction)):
        return instruction
    changed = numbered(instruction)
    assert isinstance(changed, Instruction)
    return changed


def number_of(array: Array, subscripts: Sequence[Expression]) -> Expression | None:
    """The number of the element of ``array`` at these ``subscripts``, if they are made of one.

    >>> from polyviz.frontend.extract import extract
    >>> part = extract("def f(A: 'float64[:, :]', x: 'int64[:]'):\\n for i in range(9): A.flat[x[i]] = 0.0")
    >>> (element,) = [one for one in walk(part.statements[0].body[0]) if getattr(one, "array", "") == "A"]
    >>> number_of(part.array("A"), element.subscripts).array
    'x'
    """
    extents: list[Expression] = []
    number: Expression | None = None
    for axis in range(array.rank - 1, 0, -1):
        match subscripts[axis]:
            case Binary("%", left, extent) if _is_extent(array, axis, extent):
                number = left if number is None else number
                extents.insert(0, extent)
            case _:
                return None
    return None if number is None or tuple(subscripts) != _places(number, extents) else number


def _places(number: Expression, extents: Sequence[Expression]) -> tuple[Expression, ...]:
    """Where the element with this ``number`` is, by the ``extents`` of all dimensions but the first."""
    places: list[Expression] = []
    for axis in range(len(extents) + 1):
        behind = extents[axis:]
        row = Binary("//", number, reduce(_product, behind)) if behind else number
        places.append(Binary("%", row, extents[axis - 1]) if axis else row)
    return tuple(places)


def _product(left: Expression, right: Expression) -> Expression:
    return Binary("*", left, right)


def _is_extent(array: Array, axis: int, node: Expression) -> bool:
    """Whether ``node`` is how long ``array`` is along ``axis``."""
    extent = array.extents[axis]
    if extent is None:
        return False
    space = extent.get_domain_space()
    local = isl.LocalSpace.from_space(space)
    match node:
        case Constant(int(value)):
            same = isl.Aff.val_on_domain(local, isl.Val(value))
        case Name(name) if (place := space.find_dim_by_name(isl.dim_type.param, name)) >= 0:
            same = isl.Aff.var_on_domain(local, isl.dim_type.param, place)
        case _:
            return False
    return bool(extent.is_equal(isl.PwAff.from_aff(same)))

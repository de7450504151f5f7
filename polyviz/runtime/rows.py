"""The caller's arrays in one dimension, looked at in rows: the same memory with the dimensions that the loops know."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from polyviz.runtime.evaluate import evaluate_integer

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from polyviz.model.expression import Expression
    from polyviz.model.program import Program
    from polyviz.model.scop import Scop


def shape_in_rows(
    length: int, extents: Iterable[Expression], parameters: Mapping[str, int]
) -> tuple[int, ...] | None:
    """The shape of ``length`` elements in rows of the ``extents``; None where these are no whole number of rows.

    >>> from polyviz.model.expression import Name
    >>> shape_in_rows(12, [Name("m")], {"m": 4}), shape_in_rows(13, [Name("m")], {"m": 4})
    ((3, 4), None)
    """
    row = tuple(evaluate_integer(extent, parameters) for extent in extents)
    if min(row) <= 0 or length % prod(row):
        return None
    return (length // prod(row), *row)


def rows_of_call(
    scop: Scop, given: Mapping[str, Any], parameters: Mapping[str, int]
) -> dict[str, tuple[int, ...] | None]:
    """The shapes of the arrays ``given`` that the loops know in rows; None for each array, given or made in the part,
    that has no rows of this kind."""
    in_rows = [array for array in scop.arrays if array.rows]
    shapes = {
        one.name: shape_in_rows(given[one.name].size if one.name in given else 0, one.rows, parameters)
        for one in in_rows
    }
    return {name: shape for name, shape in shapes.items() if shape is None or name in given}


def as_handed_over(program: Program, given: Mapping[str, Any], parameters: Mapping[str, int]) -> Mapping[str, Any]:
    """The arrays ``given`` as ``program`` was written for them: with transposes, and with arrays in rows."""
    if not program.transposed and not program.rows:
        return given
    seen = {name: given[name].T for name in program.transposed}
    for name, extents in ((name, extents) for name, extents in program.rows if name in given):
        shape = shape_in_rows(given[name].size, extents, parameters)
        assert shape is not None, "a call with other lengths gets a program without rows"
        seen[name] = given[name].reshape(shape)
    return {**given, **seen}

"""Arrays with their dimensions the other way round: an array in Fortran order is the transpose of one in C order.

Where ``A`` lies column by column, ``A[i, j]`` is ``T[j, i]`` of an array ``T`` that lies row by row. Instances,
their order and what ties them together stay as they are; what is near in memory is told from ``T``, so that loops are
chosen for the columns of ``A``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.model.expression import Element, rebuild

if TYPE_CHECKING:
    from collections.abc import Set

    from polyviz.model.expression import Node
    from polyviz.model.scop import Access, Array, Parameter, Scop, Statement

_CELL = isl.dim_type.out


def transposable(scop: Scop) -> frozenset[str]:
    """The arguments with several dimensions whose order can be turned round.

    Not those of which digits of a subscript (``A[i * m + j, k]``) are told apart: they belong to one dimension.
    """
    with_digits = {
        access.array
        for statement in scop.statements
        for access in statement.accesses
        if access.apart is not None
    }
    ranked = (array.name for array in scop.arrays if array.origin == "argument" and array.rank > 1 and not array.rows)
    return frozenset(ranked) - with_digits


def with_transposed_arrays(scop: Scop, names: Set[str]) -> Scop:
    """``scop`` for the transposes of the arrays called ``names``, all of them ``transposable``.

    >>> from polyviz.frontend import extract
    >>> part = extract("def f(A):\\n  for i in range(A.shape[0]):\\n    for j in range(A.shape[1]): A[i, j] = i")
    >>> turned = with_transposed_arrays(part, {"A"})
    >>> [source.axis for source in (parameter.source for parameter in turned.parameters)]
    [1, 0]
    >>> print(turned.statements[0].accesses[0].relation)
    [A_shape_0, A_shape_1] -> { S0[i, j] -> A[j, i] : 0 <= i < A_shape_0 and 0 <= j < A_shape_1 }
    >>> [part.name for part in turned.statements[0].body[0].target.subscripts]
    ['j', 'i']
    """
    ranks = {array.name: array.rank for array in scop.arrays if array.name in names}
    return replace(
        scop,
        statements=tuple(_statement(statement, ranks) for statement in scop.statements),
        arrays=tuple(_array(array) if array.name in names else array for array in scop.arrays),
        parameters=tuple(_parameter(parameter, ranks) for parameter in scop.parameters),
    )


def _array(array: Array) -> Array:
    return replace(array, extents=array.extents[::-1], is_transposed=not array.is_transposed)


def _parameter(parameter: Parameter, ranks: dict[str, int]) -> Parameter:
    source = parameter.source
    if source.kind != "shape" or source.name not in ranks:
        return parameter
    return replace(parameter, source=replace(source, axis=ranks[source.name] - 1 - source.axis))


def _statement(statement: Statement, ranks: dict[str, int]) -> Statement:
    def turned(node: Node) -> Node:
        written = rebuild(node, turned)
        if isinstance(written, Element) and written.array in ranks:
            return replace(written, subscripts=written.subscripts[::-1])
        return written

    return replace(
        statement,
        accesses=tuple(_access(access) if access.array in ranks else access for access in statement.accesses),
        body=tuple(turned(instruction) for instruction in statement.body),  # type: ignore[misc]  # nodes stay of a kind
    )


def _access(access: Access) -> Access:
    return access.mapped(_with_turned_cells)


def _with_turned_cells(relation: isl.Map) -> isl.Map:
    """``relation`` to cells whose coordinates stand in the other order."""
    rank, name = relation.dim(_CELL), relation.get_tuple_name(_CELL)
    dimensions = [f"d{position}" for position in range(rank)]
    order = isl.Map(f"{{ [{', '.join(dimensions)}] -> [{', '.join(reversed(dimensions))}] }}", relation.get_ctx())
    order = order.set_tuple_name(isl.dim_type.in_, name).set_tuple_name(_CELL, name)
    return relation.apply_range(order)

"""Arrays in one dimension that hold a matrix row by row, ``A[i * m + j]``, as what they are: ``A[i, j]``.

    for i in range(n):                          for i in range(n):
        for j in range(m):                ->        for j in range(m):
            y[i] += A[i * m + j] * x[j]                 y[i] += A[i, j] * x[j]

With a dimension for each part of the subscripts all accesses are affine, and loops walk along dimensions, so that the
array has tiles, rows and vectors like any other. Memory stays as it is: the caller's array is looked at in rows, which
takes a length that is a whole number of them; calls with others run the loops for one dimension.

Source: Grosser, Ramanujam, Pouchet, Sadayappan, Pop: *Optimistic Delinearization of Parametrically Sized Arrays*
(2015).
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Protocol

import islpy as isl

from polyviz.analysis.accesses import all_accesses
from polyviz.analysis.constant_rows import numbered_rows
from polyviz.analysis.sized_rows import sized_rows
from polyviz.model.expression import Element, rebuild, rewritten
from polyviz.model.linear import linear_terms
from polyviz.model.words import listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from polyviz.model.dependences import Dependences
    from polyviz.model.expression import Expression, Node
    from polyviz.model.linear import Terms
    from polyviz.model.scop import Access, Array, Scop, Statement


def with_arrays_in_rows(scop: Scop, _dependences: Dependences | None = None) -> Scop:
    """``scop`` with a dimension for each part of the linearised subscripts of its arrays; itself where there are none.

    >>> from polyviz.frontend import extract
    >>> part = extract("def f(A, n, m):\\n  for i in range(n):\\n    for j in range(m): A[i * m + j] = 0.0")
    >>> write = with_arrays_in_rows(part).statements[0].accesses[0]
    >>> print(write.relation, write.exact)
    [n, m] -> { S0[i, j] -> A[i, j] : 0 <= i < n and 0 <= j < m } True
    """
    arrays = [array for array in scop.arrays if _may_change(array, scop)]
    local = {array.name for array in arrays if array.origin == "local"}
    told: dict[str, _Rows] = {**sized_rows(arrays, scop), **numbered_rows(arrays, scop)}
    found = {name: rows for name, rows in told.items() if name not in local or rows.sizes[0] is not None}
    if not found:
        return scop
    return replace(
        scop,
        statements=tuple(_statement(one, found) for one in scop.statements),
        arrays=tuple(_array(one, found[one.name]) if one.name in found else one for one in scop.arrays),
        notes=(*scop.notes, *_notes([name for name, rows in found.items() if rows.extents], scop)),
    )


class _Rows(Protocol):
    """The rows of an array: their extents, and how many the part makes where it makes the array itself."""

    @property
    def extents(self) -> tuple[Expression, ...]: ...

    @property
    def sizes(self) -> tuple[isl.PwAff | None, ...]: ...

    def subscripts(self, statement: Statement, subscript: Expression) -> tuple[Expression, ...]: ...

    def access(self, statement: Statement, access: Access) -> Access: ...


def _may_change(array: Array, scop: Scop) -> bool:
    """Whether nothing but the statements needs ``array`` as it is."""
    exchanged = {name for exchange in scop.exchanges for name in (*exchange.names, *exchange.values)}
    has_values = array.creation is not None and array.creation.values is not None
    return not (array.rank != 1 or array.is_point or array.rebound or has_values or array.name in exchanged)


def _statement(statement: Statement, found: Mapping[str, _Rows]) -> Statement:
    def in_rows(node: Node) -> Node:
        if isinstance(node, Element) and node.array in found:
            parts = found[node.array].subscripts(statement, node.subscripts[0])
            return replace(node, subscripts=parts, affine=True)
        return rebuild(node, in_rows)

    return replace(
        statement,
        accesses=tuple(
            found[one.array].access(statement, one) if one.array in found else one for one in statement.accesses
        ),
        body=rewritten(statement.body, in_rows),
    )


def _array(array: Array, rows: _Rows) -> Array:
    return replace(array, rank=len(rows.sizes), extents=rows.sizes, strides=(), rows=rows.extents)


def _notes(names: Sequence[str], scop: Scop) -> Iterator[str]:
    """What is said of the arrays called ``names``, all in one sentence."""
    if not names:
        return
    texts = [next(f"`{one.text}`" for _, one in all_accesses(scop) if one.array == name) for name in names]
    holds, tells, who = ("hold", "tell", "each") if len(names) > 1 else ("holds", "tells", "it")
    yield (
        f"{listed(names)} {holds} rows, as {listed(texts)} {tells}: {who} is taken as an array with a dimension for "
        "each part of its subscript."
    )


def in_one_dimension(scop: Scop, values: Mapping[str, int]) -> Scop:
    """``scop`` with the cells of arrays in rows as the caller's arrays have them, where parameters have ``values``.

    Only accesses and arrays are changed: this is for telling where they lead.
    """
    in_rows = {array.name: _strides(array, values) for array in scop.arrays if array.rows}
    if not in_rows:
        return scop
    return replace(
        scop,
        statements=tuple(_in_one_dimension(one, in_rows) for one in scop.statements),
        arrays=tuple(
            replace(one, rank=1, extents=(None,), rows=()) if one.name in in_rows else one for one in scop.arrays
        ),
    )


def _in_one_dimension(statement: Statement, in_rows: Mapping[str, tuple[int, ...]]) -> Statement:
    accesses = tuple(
        one.mapped(partial(_joined, array=one.array, strides=in_rows[one.array])) if one.array in in_rows else one
        for one in statement.accesses
    )
    return replace(statement, accesses=accesses)


def _strides(array: Array, values: Mapping[str, int]) -> tuple[int, ...]:
    """The numbers of elements between neighbours along each dimension of ``array`` in rows."""
    extents = [_number(linear_terms(extent) or {}, values) for extent in array.rows]
    return tuple(prod(extents[place:]) for place in range(len(extents) + 1))


def _number(terms: Terms, values: Mapping[str, int]) -> int:
    return sum(factor * (values[name] if name else 1) for name, factor in terms.items())


def _joined(relation: isl.Map, array: str, strides: tuple[int, ...]) -> isl.Map:
    """``relation`` to the cells of ``array`` in one dimension."""
    places = [f"d{place}" for place in range(len(strides))]
    sum_of = " + ".join(f"{stride} * {place}" for stride, place in zip(strides, places, strict=True))
    cells = isl.Map(f"{{ {array}[{', '.join(places)}] -> {array}[{sum_of}] }}", relation.get_ctx())
    return relation.apply_range(cells.align_params(relation.get_space()))

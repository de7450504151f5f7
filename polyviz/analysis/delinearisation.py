"""Arrays in one dimension that hold a matrix row by row, ``A[i * m + j]``, as what they are: ``A[i, j]``.

    for i in range(n):                          for i in range(n):
        for j in range(m):                ->        for j in range(m):
            y[i] += A[i * m + j] * x[j]                 y[i] += A[i, j] * x[j]

The extraction has told apart the parts of such subscripts (Grosser, Ramanujam, Pouchet, Sadayappan, Pop: *Optimistic
Delinearization of Parametrically Sized Arrays*, 2015). With a dimension for each part all accesses are affine, so that
the array has tiles, rows and vectors like any other. Memory stays as it is: the caller's array is looked at in rows,
which takes a length that is a whole number of them; calls with others run the loops for one dimension.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.model.expression import Constant, Element, Name, rebuild, rewritten, walk
from polyviz.model.linear import linear_terms
from polyviz.model.linearised import NotLinearisedError, Splitter, count_of, product, ratio

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from polyviz.model.dependences import Dependences
    from polyviz.model.expression import Expression, Node
    from polyviz.model.linear import Terms
    from polyviz.model.scop import Access, Array, Scop, Statement

_PARAMETER = isl.dim_type.param

Subscripts = tuple["Expression", ...]


def with_arrays_in_rows(scop: Scop, _dependences: Dependences | None = None) -> Scop:
    """``scop`` with a dimension for each part of the linearised subscripts of its arguments; itself where none has any.

    >>> from polyviz.frontend import extract
    >>> part = extract("def f(A, n, m):\\n  for i in range(n):\\n    for j in range(m): A[i * m + j] = 0.0")
    >>> write = with_arrays_in_rows(part).statements[0].accesses[0]
    >>> print(write.relation, write.exact)
    [n, m] -> { S0[i, j] -> A[i, j] : 0 <= i < n and 0 <= j < m } True
    """
    splitter = Splitter(_is_linear, _Sizes(scop))
    found = {}
    for array in scop.arrays:
        extents = _rows(array, scop)
        parts = _parts(array, scop, splitter) if extents else None
        if parts:
            found[array.name] = parts
    if not found:
        return scop
    return replace(
        scop,
        statements=tuple(_statement(one, found) for one in scop.statements),
        arrays=tuple(_array(one, scop) if one.name in found else one for one in scop.arrays),
        notes=(*scop.notes, *_notes(scop, found)),
    )


def in_one_dimension(scop: Scop, values: Mapping[str, int]) -> Scop:
    """``scop`` with the cells of arrays in rows as the caller's arrays have them, where parameters have ``values``.

    Only accesses and arrays are changed: this is for telling where they lead.
    """
    in_rows = {array.name: array for array in scop.arrays if array.rows}
    if not in_rows:
        return scop
    numbers = {name: _strides(array, values) for name, array in in_rows.items()}
    return replace(
        scop,
        statements=tuple(
            replace(
                statement,
                accesses=tuple(
                    one.mapped(partial(_joined, array=one.array, strides=numbers[one.array]))
                    if one.array in in_rows
                    else one
                    for one in statement.accesses
                ),
            )
            for statement in scop.statements
        ),
        arrays=tuple(
            replace(one, rank=1, extents=(None,), rows=()) if one.name in in_rows else one for one in scop.arrays
        ),
    )


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


class _Sizes:
    """Whether an expression is made of the parameters of a part."""

    def __init__(self, scop: Scop) -> None:
        self._names = {one.name for one in scop.parameters}

    def __call__(self, expression: Expression) -> bool:
        leaves = [node for node in walk(expression) if isinstance(node, Name | Element)]
        return all(isinstance(leaf, Name) and leaf.name in self._names for leaf in leaves)


def _is_linear(expression: Expression) -> bool:
    return linear_terms(expression) is not None


def _rows(array: Array, scop: Scop) -> tuple[Expression, ...]:
    """The extents of ``array`` in rows but the first; none where it has to stay as it is."""
    exchanged = {name for exchange in scop.exchanges for name in (*exchange.names, *exchange.values)}
    if not array.strides or array.rebound or array.name in exchanged:
        return ()
    if array.origin == "local" and _count(array, scop) is None:
        return ()
    extents = tuple(product(ratio(small, large)) for large, small in pairwise(array.strides))
    return extents if all(map(_is_linear, extents)) else ()


def _count(array: Array, scop: Scop) -> Expression | None:
    """How many of its largest strides the part makes ``array`` of; None where that is no linear number of them."""
    length = array.extents[0]
    if length is None or array.creation is None or array.creation.values is not None:
        return None
    for parameter in scop.parameters:
        written = parameter.source.expression
        if written is not None and length.plain_is_equal(_size(Name(parameter.name), scop)):
            found = count_of(written, array.strides[0])
            return found if found is not None and _is_linear(found) else None
    return None


def _parts(array: Array, scop: Scop, splitter: Splitter) -> dict[Expression, Subscripts]:
    """For each subscript of ``array`` its factors, that of the largest stride first; nothing where one has others."""
    found: dict[Expression, Subscripts] = {}
    for element in _elements(array.name, scop):
        try:
            terms = splitter.terms(element.subscripts[0])
        except NotLinearisedError:
            return {}
        if not terms.keys() <= set(array.strides):
            return {}
        found[element.subscripts[0]] = tuple(terms.get(stride, Constant(0)) for stride in array.strides)
    return found


def _elements(name: str, scop: Scop) -> Iterator[Element]:
    nodes = (node for statement in scop.statements for part in statement.body for node in walk(part))
    return (node for node in nodes if isinstance(node, Element) and node.array == name)


def _statement(statement: Statement, found: Mapping[str, Mapping[Expression, Subscripts]]) -> Statement:
    def in_rows(node: Node) -> Node:
        if isinstance(node, Element) and node.array in found:
            return replace(node, subscripts=found[node.array][node.subscripts[0]], affine=True)
        return rebuild(node, in_rows)

    return replace(
        statement,
        accesses=tuple(_access(one) if one.array in found else one for one in statement.accesses),
        body=rewritten(statement.body, in_rows),
    )


def _access(access: Access) -> Access:
    assert access.apart is not None
    exact = access.exact or bool(access.strides)
    reason = "" if exact else access.reason
    return replace(access, relation=access.apart, exact=exact, reason=reason, apart=None, strides=())


def _array(array: Array, scop: Scop) -> Array:
    rows = _rows(array, scop)
    count = _count(array, scop) if array.origin == "local" else None
    extents = (None if count is None else _size(count, scop), *(_size(extent, scop) for extent in rows))
    return replace(array, rank=len(extents), extents=extents, strides=(), rows=rows)


def _size(extent: Expression, scop: Scop) -> isl.PwAff:
    """``extent``, which is linear, over the parameters."""
    terms: Terms = linear_terms(extent) or {}
    space = scop.context.get_space()
    value = isl.Aff.zero_on_domain(isl.LocalSpace.from_space(space)).set_constant_val(isl.Val(terms.get("", 0)))
    for name, factor in terms.items():
        if name:
            place = space.find_dim_by_name(_PARAMETER, name)
            value = value.set_coefficient_val(_PARAMETER, place, isl.Val(factor))
    return isl.PwAff.from_aff(value)


def _notes(scop: Scop, found: Mapping[str, Mapping[Expression, Subscripts]]) -> Iterator[str]:
    for name in found:
        text = next(
            access.text for statement in scop.statements for access in statement.accesses
            if access.array == name and not access.exact
        )  # fmt: skip
        yield f"{name} holds rows, as `{text}` tells, and is taken as an array with a dimension for each part."

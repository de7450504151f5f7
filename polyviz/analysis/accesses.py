"""Which instances touch which cells, apart by array."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.analysis.times import union_of
from polyviz.model.isl_limits import coalesced

if TYPE_CHECKING:
    from collections.abc import Iterable

    from polyviz.model.scop import Access, Scop, Statement


@dataclass(frozen=True, slots=True)
class ArrayAccesses:
    """Everything a part does to one array: instances to cells, restricted to the domains and the context.

    ``writes`` holds the may writes too; ``must_writes`` only those that certainly happen. The references are the same
    accesses one by one, as they stand in the text; those that certainly write are also among ``write_references``.
    """

    array: str
    reads: isl.UnionMap
    writes: isl.UnionMap
    must_writes: isl.UnionMap
    read_references: tuple[isl.Map, ...]
    write_references: tuple[isl.Map, ...]
    must_references: tuple[isl.Map, ...]


def restricted(scop: Scop, statement: Statement, access: Access) -> isl.Map:
    """The relation of ``access`` on the instances that exist for parameter values of the context."""
    return access.relation.intersect_domain(statement.domain).intersect_params(scop.context)


def told_apart(scop: Scop) -> Scop:
    r"""``scop`` with the cells of arrays that have linearised subscripts told apart: for what only compares cells.

    >>> import polyviz as pv
    >>> part = pv.extract("def f(A, n, m):\n  for i in range(n):\n    for j in range(m):\n      A[i * m + j] = 0.0")
    >>> [str(access.relation) for _, access in all_accesses(told_apart(part))]
    ['[n, m] -> { S0[i, j] -> A[i, j] : 0 <= i < n and 0 <= j < m }']
    """
    unknown = {access.array for _, access in all_accesses(scop) if access.apart is None}
    if all(access.array in unknown for _, access in all_accesses(scop)):
        return scop
    statements = tuple(
        replace(
            statement,
            accesses=tuple(
                replace(access, relation=access.apart)
                if access.apart is not None and access.array not in unknown
                else access
                for access in statement.accesses
            ),
        )
        for statement in scop.statements
    )
    return replace(scop, statements=statements)


def accesses_by_array(scop: Scop) -> tuple[ArrayAccesses, ...]:
    """The accesses of ``scop``, one entry per accessed array in the order of ``scop.arrays``."""
    return tuple(
        ArrayAccesses(
            array.name,
            reads=relation_of(scop, array.name, "read"),
            writes=relation_of(scop, array.name, "write"),
            must_writes=relation_of(scop, array.name, "write", exact_only=True),
            read_references=_references(scop, array.name, "read"),
            write_references=_references(scop, array.name, "write"),
            must_references=_references(scop, array.name, "write", exact_only=True),
        )
        for array in scop.arrays
        if any(access.array == array.name for _, access in all_accesses(scop))
    )


def all_accesses(scop: Scop) -> Iterable[tuple[Statement, Access]]:
    """Every access with its statement, in the order of the text."""
    return ((statement, access) for statement in scop.statements for access in statement.accesses)


def relation_of(scop: Scop, array: str, kind: str, *, exact_only: bool = False) -> isl.UnionMap:
    """The reads or writes of one array as one union map."""
    result = isl.UnionMap.empty(scop.context.get_space())
    for statement, access in all_accesses(scop):
        if access.array == array and access.kind == kind and (access.exact or not exact_only):
            result = result.union(isl.UnionMap.from_map(restricted(scop, statement, access)))
    return coalesced(result)


def _references(scop: Scop, array: str, kind: str, *, exact_only: bool = False) -> tuple[isl.Map, ...]:
    return tuple(
        restricted(scop, statement, access)
        for statement, access in all_accesses(scop)
        if access.array == array and access.kind == kind and (access.exact or not exact_only)
    )


def parts_of(accesses: ArrayAccesses) -> tuple[ArrayAccesses, ...]:
    """``accesses`` in parts of which none touches a cell of another: constant subscripts tell most of them apart.

    What is found out of pairs of accesses takes the square of their number, and what would be asked of isl for two that
    never meet has no answer but no.

    >>> import polyviz as pv
    >>> [found] = accesses_by_array(pv.extract("for i in range(n):\\n    A[0, i] = 1.0\\n    A[1, i] = A[1, i] + 2.0"))
    >>> [(len(part.write_references), len(part.read_references)) for part in parts_of(found)]
    [(1, 0), (1, 1)]
    """
    groups = _meeting({_constants(one) for one in (*accesses.write_references, *accesses.read_references)})
    if len(groups) < 2:
        return (accesses,)
    return tuple(_part(accesses, group) for group in groups)


_Constants = tuple[int | None, ...]
"""The subscripts of a reference that are one number, None for the others."""


def _constants(reference: isl.Map) -> _Constants:
    values = (
        reference.plain_get_val_if_fixed(isl.dim_type.out, axis) for axis in range(reference.dim(isl.dim_type.out))
    )
    return tuple(int(value.to_python()) if value.is_int() else None for value in values)


def _meeting(places: set[_Constants]) -> list[set[_Constants]]:
    """``places`` in groups; no two of different groups hold a cell that both may be."""
    groups: list[set[_Constants]] = []
    for place in sorted(places, key=str):
        together = [group for group in groups if any(_may_meet(place, other) for other in group)]
        groups = [group for group in groups if group not in together]
        groups.append({place}.union(*together))
    return groups


def _may_meet(first: _Constants, second: _Constants) -> bool:
    pairs = zip(first, second, strict=False)
    return all(one is None or other is None or one == other for one, other in pairs)


def _part(accesses: ArrayAccesses, places: set[_Constants]) -> ArrayAccesses:
    reads, writes, must = (
        tuple(one for one in references if _constants(one) in places)
        for references in (accesses.read_references, accesses.write_references, accesses.must_references)
    )
    parameters = accesses.writes.get_space()

    def together(references: Iterable[isl.Map]) -> isl.UnionMap:
        return coalesced(union_of(references, parameters))

    return ArrayAccesses(accesses.array, together(reads), together(writes), together(must), reads, writes, must)

"""Parts of one record that several statements read, such as the colours of a pixel or the coordinates of a point.

``red[image[y, x, 0]] += 1; green[image[y, x, 1]] += 1`` read no cell in common, so nothing keeps them together, but a
loop for each goes through the whole image. The parts of a record lie in one cache line: what reads one of them had
better be near what reads another.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import islpy as isl

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from polyviz.model.scop import Access, Scop, Statement

LARGEST = 8
"""Parts of a record, in doubles a cache line."""


def side_by_side(scop: Scop, known: Collection[tuple[str, str]]) -> isl.UnionMap:
    """The pairs of instances of two statements, once each, that read parts of one record; not those of statements that
    are ``known`` to have to do with each other."""
    result = isl.UnionMap.empty(scop.domain.get_space())
    for first, second in combinations(scop.statements, 2):
        if (first.name, second.name) in known or (second.name, first.name) in known:
            continue
        for pairs in _pairs(first, second):
            result = result.union(isl.UnionMap.from_map(pairs))
    return result


def _pairs(first: Statement, second: Statement) -> Iterator[isl.Map]:
    """The pairs of instances that read parts of one record, where an instance of each has one of the other."""
    for one in _parts(first):
        for other in _parts(second):
            if one.array != other.array:
                continue
            pairs = _record(one, first).apply_range(_record(other, second).reverse())
            if pairs.is_bijective():
                yield pairs


def _parts(statement: Statement) -> Iterator[Access]:
    """The reads of ``statement`` whose last subscript of several is a small number."""
    for access in statement.accesses:
        last = access.relation.dim(isl.dim_type.out) - 1
        if access.kind != "read" or last < 1:
            continue
        number = access.relation.plain_get_val_if_fixed(isl.dim_type.out, last)
        if number.is_int() and 0 <= number.to_python() < LARGEST:
            yield access


def _record(access: Access, statement: Statement) -> isl.Map:
    """The record of which ``access`` reads a part: its subscripts but the last."""
    relation = access.relation.intersect_domain(statement.domain)
    last = relation.dim(isl.dim_type.out) - 1
    return relation.project_out(isl.dim_type.out, last, 1)

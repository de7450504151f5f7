"""Parts of one record that several statements touch, such as the colours of a pixel or the coordinates of a point.

``red[image[y, x, 0]] += 1; green[image[y, x, 1]] += 1`` read no cell in common, so nothing keeps them together, but a
loop for each goes through the whole image; so it is with ``z[2 * i] = re[i]; z[2 * i + 1] = im[i]``. The parts of a
record lie in one cache line: what touches one of them had better be near what touches another.
"""

from __future__ import annotations

from itertools import combinations
from math import gcd
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.analysis.strides import access_rows

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from polyviz.model.scop import Access, Scop, Statement

LARGEST = 8
"""Parts of a record, in doubles a cache line."""


def side_by_side(scop: Scop, known: Collection[tuple[str, str]]) -> isl.UnionMap:
    """The pairs of instances of two statements, once each, that touch parts of one record; not those of statements
    that are ``known`` to have to do with each other."""
    result = isl.UnionMap.empty(scop.domain.get_space())
    for first, second in combinations(scop.statements, 2):
        if (first.name, second.name) in known or (second.name, first.name) in known:
            continue
        for pairs in _pairs(first, second):
            result = result.union(isl.UnionMap.from_map(pairs))
    return result


def _pairs(first: Statement, second: Statement) -> Iterator[isl.Map]:
    """The pairs of instances that touch parts of one record, where an instance of each has one of the other."""
    for one, size in _parts(first):
        for other, other_size in _parts(second):
            if (one.array, one.kind, size) != (other.array, other.kind, other_size):
                continue
            pairs = _record(one, size, first).apply_range(_record(other, size, second).reverse())
            if pairs.is_bijective():
                yield pairs


def _parts(statement: Statement) -> Iterator[tuple[Access, int]]:
    """The accesses of ``statement`` to parts of records, and the size of those: 0 where the last subscript of several
    is a small number and nothing else, or the number by which the last subscript advances."""
    for access in statement.accesses:
        last = access.relation.dim(isl.dim_type.out) - 1
        if last < 0:
            continue
        number = access.relation.plain_get_val_if_fixed(isl.dim_type.out, last)
        if last > 0 and number.is_int() and 0 <= number.to_python() < LARGEST:
            yield access, 0
            continue
        rows = access_rows(access, len(statement.iterators)) if access.exact else None
        step = gcd(*(int(factor) for factor in rows[-1])) if rows else 0
        if 1 < step <= LARGEST:
            yield access, step


def _record(access: Access, size: int, statement: Statement) -> isl.Map:
    """The record of which ``access`` touches a part: its subscripts but the last, which counts records if any."""
    relation = access.relation.intersect_domain(statement.domain)
    rank = relation.dim(isl.dim_type.out)
    if not size:
        return relation.project_out(isl.dim_type.out, rank - 1, 1)
    names = [f"s{axis}" for axis in range(rank)]
    places = [*names[:-1], f"floor({names[-1]} / {size})"]
    records = isl.Map(f"{{ {access.array}[{', '.join(names)}] -> {access.array}[{', '.join(places)}] }}")
    return relation.apply_range(records.align_params(relation.get_space()))

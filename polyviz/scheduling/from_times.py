"""A map into time as a tree of loops and sequences, as a person would have written it."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.analysis.times import union_of
from polyviz.model.isl_callbacks import pieces_of
from polyviz.transform.shape import LEAF, Part, Shape, loops_around, restricted, sequence_of, tree_of

if TYPE_CHECKING:
    from collections.abc import Mapping


def tree_from_times(domain: isl.UnionSet, times: Mapping[str, isl.Map]) -> isl.Schedule:
    """The tree that runs ``domain`` in the order of ``times``, one single-valued map per statement into one space.

    A time that is a number for each statement makes a sequence; the others make the loops of bands.

    >>> domain = isl.UnionSet("{ S[i] : 0 <= i < 9; T[i] : 0 <= i < 9 }")
    >>> times = {"S": isl.Map("{ S[i] -> [i, 0] }"), "T": isl.Map("{ T[i] -> [i, 1] }")}
    >>> tree = tree_from_times(domain, times)
    >>> [tree.get_root().child(0).get_type().name, tree.get_root().child(0).child(0).get_type().name]
    ['band', 'sequence']
    """
    every = union_of(times.values(), domain.get_space()).intersect_domain(domain)
    functions = isl.MultiUnionPwAff.from_union_map(every)
    rows = tuple(functions.get_at(place) for place in range(functions.dim(isl.dim_type.out)))
    # Within the domain the functions need not say again where they are defined.
    return tree_of(domain, _shape(tuple(row.gist(domain) for row in rows), domain))


def _shape(rows: tuple[isl.UnionPwAff, ...], domain: isl.UnionSet) -> Shape:
    """The nodes for ``rows`` of the statements in ``domain``."""
    if not rows:
        return LEAF
    groups = _groups(rows[0], domain)
    if groups is None:
        count = next((place for place, row in enumerate(rows) if _groups(row, domain) is not None), len(rows))
        inner = _shape(rows[count:], domain)
        return loops_around([restricted(row, domain) for row in rows[:count]], inner)
    return sequence_of(Part(_shape(rows[1:], group), group) for group in groups)


def _groups(row: isl.UnionPwAff, domain: isl.UnionSet) -> list[isl.UnionSet] | None:
    """The statements by the number that ``row`` is for them, in its order; None when it is none for some."""
    found: defaultdict[int, isl.UnionSet] = defaultdict(lambda: isl.UnionSet.empty(domain.get_space()))
    parts = domain.get_set_list()
    for place in range(parts.n_set()):
        part = parts.get_at(place)
        number = _constant(row, part.get_tuple_name())
        if number is None:
            return None
        space = isl.Set.universe(part.get_space())
        found[number] = found[number].union(isl.UnionSet.from_set(space))
    return [found[number] for number in sorted(found)]


def _constant(row: isl.UnionPwAff, statement: str) -> int | None:
    functions = row.get_pw_aff_list()
    pieces: list[isl.Aff] = []
    for place in range(functions.n_pw_aff()):
        function = functions.get_at(place)
        if function.get_space().get_tuple_name(isl.dim_type.in_) == statement:
            pieces += [piece for _, piece in pieces_of(function)]
    numbers = {_number(piece) for piece in pieces}
    return numbers.pop() if len(numbers) == 1 else None


def _number(function: isl.Aff) -> int | None:
    value = function.get_constant_val()
    return value.to_python() if function.is_cst() and value.is_int() else None

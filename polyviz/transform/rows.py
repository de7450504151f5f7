"""Rows of a band: expressions that a person typed, changes for some statements only, and how a loop is called."""

from __future__ import annotations

from typing import TYPE_CHECKING

import islpy as isl

from polyviz.errors import OptionError
from polyviz.transform.tree import Path, band_at, members, replace_rows, row_texts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    Change = Callable[[isl.UnionPwAff], isl.UnionPwAff]

Amount = int | str
"""A number, or an affine expression over the sizes (and, where the move says so, over the iterators) as text."""


def sets_of(instances: isl.UnionSet) -> Iterator[isl.Set]:
    """The instances statement by statement, in the order of their names."""
    parts = instances.get_set_list()
    found = [parts.get_at(place) for place in range(parts.n_set())]
    return iter(sorted(found, key=lambda part: part.get_tuple_name() or ""))


def expression_row(amount: Amount, instances: isl.UnionSet) -> isl.UnionPwAff:
    """``amount`` as a function of the statements in ``instances``, whose iterators and sizes it may use.

    Raises ``OptionError`` when it is no affine expression of these.

    >>> print(expression_row("n - i", isl.UnionSet("[n] -> { S[i] : 0 <= i < n }")))
    [n] -> { S[i] -> [(n - i)] }
    """
    row = isl.UnionPwAff(f"{_parameters(instances)} {{ }}")
    for part in sets_of(instances):
        row = row.union_add(isl.UnionPwAff.from_pw_aff(_function(amount, part)))
    return row


def _parameters(instances: isl.UnionSet) -> str:
    space = instances.get_space()
    names = (space.get_dim_name(isl.dim_type.param, place) for place in range(space.dim(isl.dim_type.param)))
    return f"[{', '.join(name or '' for name in names)}] ->"


def _function(amount: Amount, part: isl.Set) -> isl.PwAff:
    parameters = _parameters(isl.UnionSet.from_set(part))
    iterators = iterator_names(part)
    head = f"{part.get_tuple_name()}[{', '.join(iterators)}]"
    try:
        return isl.PwAff(f"{parameters} {{ {head} -> [({amount})] }}")
    except isl.Error as error:
        known = [*iterators, *parameters.removesuffix(" ->").strip("[]").split(", ")]
        raise OptionError(
            f"`{amount}` is no affine expression in {', '.join(filter(None, known)) or 'numbers'} "
            f"(statement {part.get_tuple_name()})."
        ) from error


def iterator_names(part: isl.Set) -> tuple[str, ...]:
    """The names of the dimensions of one statement's instances; ``i0``, ``i1`` … where it has none."""
    places = range(part.dim(isl.dim_type.set))
    named = (part.has_dim_name(isl.dim_type.set, place) for place in places)
    return tuple(
        (part.get_dim_name(isl.dim_type.set, place) if has_name else None) or f"i{place}"
        for place, has_name in zip(places, named, strict=True)
    )


def changed_for(row: isl.UnionPwAff, statements: Iterable[str], change: Change) -> isl.UnionPwAff:
    """``row`` with ``change`` applied to the functions of ``statements``; to all of them when there are none.

    Raises ``OptionError`` for a statement that ``row`` does not have.
    """
    wanted = set(statements)
    if not wanted:
        return change(row)
    inside = _universe(row, wanted)
    outside = row.domain().universe().subtract(inside)
    return change(row.intersect_domain(inside)).union_add(row.intersect_domain(outside))


def _universe(row: isl.UnionPwAff, wanted: set[str]) -> isl.UnionSet:
    domain = row.domain()
    parts = {part.get_tuple_name(): part for part in sets_of(domain)}
    missing = sorted(wanted - parts.keys())
    if missing:
        raise OptionError(f"{missing[0]} is not in this loop; the statements there are {', '.join(parts)}.")
    chosen = isl.UnionSet.empty(domain.get_space())
    for name in wanted:
        chosen = chosen.union(isl.UnionSet.from_set(isl.Set.universe(parts[name].get_space())))
    return chosen


def with_changed_row(tree: isl.Schedule, path: Path, member: int, change: Change) -> isl.Schedule:
    """The tree with one row of the band at ``path`` changed; what was known of the band's loops is forgotten."""
    rows = list(members(band_at(tree, path)))
    rows[checked_member(tree, path, member)] = change(rows[member])
    changed = replace_rows(tree, path, rows)
    return band_at(changed, path).band_set_permutable(0).get_schedule()


def checked_member(tree: isl.Schedule, path: Path, member: int) -> int:
    """``member``; raises ``OptionError`` when the band at ``path`` does not have it."""
    count = band_at(tree, path).band_n_member()
    if not 0 <= member < count:
        raise OptionError(f"The band at {path} has {count} members, there is no member {member}.")
    return member


def loop_text(row: isl.UnionPwAff) -> str:
    """How a loop is called in a sentence: the functions it runs over.

    >>> loop_text(isl.UnionPwAff("{ S[t, i] -> [(2t + i)]; R[t, i] -> [(2t + i)] }"))
    '2t + i'
    """
    return " | ".join(dict.fromkeys(row_texts(row).values()))


def loops_text(band: isl.ScheduleNode) -> str:
    """The loops of a band as the beginning of a sentence: ``The loops i, j are``, or ``Loop i is``."""
    names = [loop_text(row) for row in members(band)]
    return f"Loop {names[0]} is" if len(names) == 1 else f"The loops {', '.join(names)} are"


def of_statements(statements: Sequence[str]) -> str:
    """`` of S0, S1`` for a move that concerns some statements only."""
    return f" of {', '.join(statements)}" if statements else ""


LARGEST_UNROLLING = 1024
"""Copies of a body; far beyond what pays, and soon more text than a compiler takes."""


def unroll_factor(value: object) -> int:
    """``value``, a number of copies; raises ``OptionError``."""
    factor = positive("An unroll factor", value, least=2)
    if factor > LARGEST_UNROLLING:
        raise OptionError(
            f"An unroll factor is at most {LARGEST_UNROLLING}, not {factor}: each iteration is written out."
        )
    return factor


def positive(what: str, value: object, least: int = 1) -> int:
    """``value``, a whole number of at least ``least``; raises ``OptionError``."""
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise OptionError(f"{what} is a whole number from {least} on, not {value!r}.")
    return value

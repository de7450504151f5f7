"""Rows that are legal only when they run backwards, or when some statements are shifted against the others.

Shifts are potentials: a dependence from S to T whose distances begin at ``low`` needs ``shift(T) - shift(S) >= -low``.
Such a system has a solution unless a cycle of it is positive (Bellman and Ford).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyviz.analysis.loop_kinds import Distances, Terms

Need = tuple[str, str, int]
"""Source, sink, and the least difference of their shifts."""


def retimed(terms: Terms, distances: Distances) -> Terms | None:
    """``terms`` reversed or shifted such that no dependence runs backwards; None when that is not possible.

    Reversal alone is tried first, then shifts that bring every distance to zero, then shifts that make all of them
    non-negative, in both directions.
    """
    backwards = {name: replace(term, sign=-term.sign) for name, term in terms.items()}
    if distances.kind(backwards) != "violation":
        return backwards
    for direction in (terms, backwards):
        for exact in (True, False):
            shifts = _shifts(direction, distances, exact=exact)
            if shifts is not None:
                return {name: replace(term, shift=shifts[name]) for name, term in direction.items()}
    return None


def _shifts(terms: Terms, distances: Distances, *, exact: bool) -> dict[str, int] | None:
    needs = _needs(terms, distances, exact=exact)
    return None if needs is None else _potentials(list(terms), needs)


def _needs(terms: Terms, distances: Distances, *, exact: bool) -> list[Need] | None:
    """What the shifts have to satisfy; None when no shift helps."""
    needs = []
    for found, span in distances.spans(terms):
        if distances.is_reduction(found, terms) and exact:
            continue
        if span.low is None or (exact and span.high != span.low):
            return None
        needs.append((found.source, found.sink, -span.low))
        if exact:
            needs.append((found.sink, found.source, span.low))
    return needs


def _potentials(names: Sequence[str], needs: Sequence[Need]) -> dict[str, int] | None:
    """The smallest shifts, none of them negative, that satisfy ``needs``; None when there are none.

    >>> _potentials(["S", "T"], [("S", "T", 2)])
    {'S': 0, 'T': 2}
    >>> _potentials(["S"], [("S", "S", 1)])
    """
    shifts = dict.fromkeys(names, 0)
    for _ in range(len(names) + 1):
        changed = False
        for source, sink, least in needs:
            if shifts[sink] < shifts[source] + least:
                shifts[sink] = shifts[source] + least
                changed = True
        if not changed:
            return shifts
    return None

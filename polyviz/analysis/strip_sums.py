"""Sums that strips of a loop have each of their own, before they are added to a cell: together they are one sum.

    for kk in range(0, n, 32):                        s = 0.0
        s = 0.0                                       for k in range(n):
        for k in range(kk, min(kk + 32, n)):    ->        s += A[i, k] * B[k, j]
            s += A[i, k] * B[k, j]                    C[i, j] += s
        C[i, j] += s

That is another order of additions: it needs permission, as any other one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from polyviz.analysis.privatization import users_of
from polyviz.model.expression import Assign, Constant, Element, walk

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from polyviz.model.dependences import Dependence, Dependences
    from polyviz.model.scop import Scop, Statement


@dataclass(frozen=True, slots=True)
class StripSum:
    """The variable ``array``, which the statement ``zero`` clears and the statement ``total`` adds to a cell."""

    array: str
    zero: str
    total: str

    def is_one(self, scop: Scop, known: Dependences) -> bool:
        """Whether ``scop`` has it as one sum: a variable of the iteration, for one cell."""
        zero, total = scop.statement(self.zero), scop.statement(self.total)
        private = {found.array: found.depth for found in known.privatizations}
        cells = [access.relation for access in total.accesses if access.kind == "write"]
        return private.get(self.array) == len(zero.iterators) and all(one.is_single_valued() for one in cells)


def strip_sums(scop: Scop, known: Dependences) -> Iterator[StripSum]:
    """The sums of ``scop`` that a statement clears and another one adds to a cell, in the same iteration."""
    for private in known.privatizations:
        parts = [scop.statement(name) for name in users_of(scop, private.array)]
        zeros = [one.name for one in parts if _clears(one, private.array)]
        totals = [one.name for one in parts if _adds(one, private.array)]
        updates = [one.name for one in parts if _grows(one, private.array)]
        if len(zeros) != 1 or len(totals) != 1 or len(updates) + 2 != len(parts) or private.last is not None:
            continue
        if (
            private.depth
            == len(scop.statement(zeros[0]).iterators)
            == len(scop.statement(totals[0]).iterators)
        ):
            yield StripSum(private.array, zeros[0], totals[0])


def without_order(found: Iterable[Dependence], totals: Collection[str]) -> tuple[Dependence, ...]:
    """The dependences ``found``, but for those between the additions of ``totals``, which may come in any order."""
    return tuple(one for one in found if one.source != one.sink or one.source not in totals)


def _clears(statement: Statement, array: str) -> bool:
    match statement.body:
        case (Assign(Element(name, ()), Constant(value), None),):
            return name == array and value == 0
    return False


def _grows(statement: Statement, array: str) -> bool:
    match statement.body:
        case (Assign(Element(name, ()), value, "+" | "-"),):
            return name == array and not any(
                isinstance(part, Element) and part.array == array for part in walk(value)
            )
    return False


def _adds(statement: Statement, array: str) -> bool:
    match statement.body:
        case (Assign(Element(cell), Element(name, ()), "+" | "-"),):
            return name == array != cell and statement.exact
    return False

"""What each loop of a nest of sums of products is for: rows, columns, steps of the sum, and more matrices of these."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.analysis.strides import access_rows
from polyviz.analysis.trip_counts import SHORT, SMALLEST_PACKED_PRODUCT, THIN, is_worth_packing, longest
from polyviz.mapping.operands import NotSeparableError, moving_names, split_update
from polyviz.model.expression import Element, walk
from polyviz.transform.tree import Path, band_at

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from polyviz.model.expression import Expression
    from polyviz.model.plan import Operands
    from polyviz.model.scop import Access, Statement

LOOPS = 3


class RefusedError(Exception):
    """A nest that cannot run by register tiles; the message says why."""


@dataclass(frozen=True, slots=True)
class Roles:
    """What each loop of a band is for: members of the band, and the iterators of the statement that they carry.

    ``copies`` as :func:`copies_of` has them; ``matrices`` are two more members, if there are any: one that moves rows,
    and one that moves columns.
    """

    row: int
    column: int
    depth: int
    iterators: tuple[int, ...]
    copies: Mapping[str, int]
    matrices: tuple[int, int] | None = None

    @property
    def members(self) -> tuple[int, ...]:
        """All of them: those of ``matrices``, then rows, columns and steps."""
        return (*(self.matrices or ()), self.row, self.column, self.depth)

    def iterator(self, member: int) -> int:
        """The position of the iterator that a member carries."""
        return self.iterators[member]


def roles_of(tree: isl.Schedule, path: Path, statement: Statement, copies: Mapping[str, int]) -> Roles:
    """What each loop of the band at ``path`` is for; ``copies`` as :func:`copies_of` has them."""
    found = possible_roles(tree, path, statement, copies)
    count = len(found[0].iterators)
    if count == LOOPS:
        return found[0]
    several = (with_matrices(statement, roles) for roles in found)
    whole = next((roles for roles in several if roles and len(roles.members) == count), None)
    if whole is None:
        raise RefusedError("it takes three permutable loops")
    return whole


def with_matrices(statement: Statement, roles: Roles) -> Roles | None:
    """``roles`` with two more members that move the updated cells, one that moves operands of rows and none of columns,
    and one that does the contrary; None where there are none, or where the loops depend on one another."""
    if not _is_box(statement):
        return None
    try:
        operands = operands_of(statement, roles, pack=True)
    except RefusedError:
        return None
    rows, columns = (_moving(values, statement, roles) for values in (operands.rows, operands.columns))
    cells = _moving((operands.target,), statement, roles)
    others = [member for member, moves in enumerate(cells) if moves and member not in roles.members]
    below = [member for member in others if rows[member] and not columns[member]]
    beside = [member for member in others if columns[member] and not rows[member]]
    return replace(roles, matrices=(below[-1], beside[-1])) if below and beside else None


def _moving(values: Sequence[Expression], statement: Statement, roles: Roles) -> list[bool]:
    """For each member, whether some of ``values`` moves along it."""
    names = {name for value in values for name in moving_names(value, statement, roles.copies)}
    return [statement.iterators[iterator] in names for iterator in roles.iterators]


def _is_box(statement: Statement) -> bool:
    """Whether no bound of a loop depends on another loop."""
    count = len(statement.iterators)
    constraints = [one for part in statement.domain.get_basic_sets() for one in part.get_constraints()]
    return all(
        sum(one.involves_dims(isl.dim_type.set, position, 1) for position in range(count)) <= 1
        for one in constraints
    )


def possible_roles(
    tree: isl.Schedule, path: Path, statement: Statement, copies: Mapping[str, int]
) -> tuple[Roles, ...]:
    """Every choice of three loops of the band at ``path``, those with inner loops first; at least one.

    Raises RefusedError where the updated cells do not move as a register tile needs it.
    """
    band = band_at(tree, path)
    rows = band.band_get_partial_schedule()
    iterators = tuple(iterator_of(rows.get_at(member), statement) for member in range(band.band_n_member()))
    [write] = [access for access in statement.accesses if access.kind == "write"]
    changes = _changes(write, statement, iterators, copies.get(write.array, 0))
    still = [member for member, change in enumerate(changes) if not any(change)]
    unit = [
        member for member, change in enumerate(changes) if change and change[-1] == 1 and not any(change[:-1])
    ]
    if not still or len(unit) != 1:
        raise RefusedError(f"{write.array} is not updated along one loop and contiguous along another")
    moving = [member for member, change in enumerate(changes) if any(change[:-1])]
    if not moving or len(moving) + len(still) + 1 != len(changes):
        raise RefusedError(f"the loops meet the same cells of {write.array} again")
    choices = (Roles(row, unit[0], depth, iterators, copies) for depth in reversed(still) for row in reversed(moving))
    found = tuple(roles for roles in choices if _is_worth_it(statement, roles))
    if not found:
        raise RefusedError(
            f"at most {SMALLEST_PACKED_PRODUCT} updates of {write.array} are one product of matrices, or they are of "
            f"at most {THIN} rows or columns, or of at most {SHORT} steps for one of these"
        )
    return found


def _is_worth_it(statement: Statement, roles: Roles) -> bool:
    """Whether the product of matrices in the three loops may be larger than what the plain loops do as fast."""
    row, column, steps = (
        longest(statement.domain, roles.iterator(member)) for member in (roles.row, roles.column, roles.depth)
    )
    return is_worth_packing((row, column), steps)


def iterator_of(row: isl.UnionPwAff, statement: Statement) -> int:
    """The position of the iterator that the row is equal to."""
    domain = statement.domain
    values = row.intersect_domain(isl.UnionSet.from_set(domain)).get_pw_aff_list()
    value = values.get_at(0)
    local = isl.LocalSpace.from_space(domain.get_space())
    for position in range(len(statement.iterators)):
        iterator = isl.PwAff.from_aff(isl.Aff.var_on_domain(local, isl.dim_type.set, position))
        if domain.is_subset(iterator.eq_set(value)):
            return position
    raise RefusedError("a loop is not one of the source's loops")


def _changes(
    access: Access, statement: Statement, iterators: Sequence[int], copies: int
) -> list[tuple[object, ...]]:
    """How the subscripts change along each of ``iterators``; a temporary has one copy per outer iteration."""
    if copies:
        return [tuple(int(iterator == level) for level in range(copies)) for iterator in iterators]
    rows = access_rows(access, len(statement.iterators))
    if not rows:
        raise RefusedError("it updates a scalar")
    return [tuple(row[iterator] for row in rows) for iterator in iterators]


def operands_of(statement: Statement, roles: Roles, *, pack: bool) -> Operands:
    """The parts of the update, as they are packed, or elements to read in place."""
    names = [statement.iterators[roles.iterator(member)] for member in (roles.row, roles.column, roles.depth)]
    try:
        operands = split_update(statement, roles.copies, *names, in_place=not pack)
    except NotSeparableError as error:
        raise RefusedError(str(error)) from error
    if not operands.rows or not operands.columns:
        raise RefusedError("no operand is used again along a row or a column")
    if not pack:
        _require_contiguous(statement, operands, roles.iterator(roles.column))
    return operands


def _require_contiguous(statement: Statement, operands: Operands, column: int) -> None:
    """Refuse operands of columns that lie apart in memory, unless they are packed."""
    count = len(statement.iterators)
    for operand in operands.columns:
        # Where one line of the source stands for several elements, all of them have its span.
        found = [
            access_rows(access, count)
            for access in statement.accesses
            if isinstance(operand, Element) and access.span == operand.span and access.array == operand.array
        ]
        changes = [[row[column] for row in rows or ()] for rows in found]
        if not changes or any(not change or change[-1] != 1 or any(change[:-1]) for change in changes):
            raise RefusedError(
                f"{', '.join(arrays_of(operand))} is not contiguous along the columns, and not packed"
            )


def arrays_of(operand: Expression) -> set[str]:
    """The arrays of which ``operand`` reads elements."""
    return {part.array for part in walk(operand) if isinstance(part, Element)}

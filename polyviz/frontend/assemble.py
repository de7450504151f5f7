"""The last step of extraction: arrays with their extents and liveness, arguments, everything over one space."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from polyviz.errors import UnknownNameError
from polyviz.frontend.cells import Cells
from polyviz.frontend.liveness import (
    ReadFromBefore,
    arrays_maybe_unwritten,
    arrays_maybe_written,
    arrays_read_from_before,
    arrays_written,
)
from polyviz.frontend.reading_order import first_use
from polyviz.model.expression import Element, walk
from polyviz.model.scop import Argument, Array, Statement

if TYPE_CHECKING:
    from collections.abc import Sequence

    import islpy as isl

    from polyviz.frontend.program import Program
    from polyviz.frontend.symbols import ArrayDraft
    from polyviz.model.scop import Creation


@dataclass(frozen=True, slots=True)
class Liveness:
    """Names of arrays that are read from before, maybe written, written but not for all sizes, and written."""

    read_from_before: ReadFromBefore
    maybe_written: set[str]
    maybe_unwritten: set[str]
    written: set[str]

    @property
    def notes(self) -> tuple[str, ...]:
        """A sentence for each array about which too little is known."""
        return tuple(
            f"Whether `{name}` is read before it is written would take too long to tell: its value from before is kept."
            for name in sorted(self.read_from_before.undecided)
        )


def aligned(statement: Statement, context: isl.Set) -> Statement:
    """``statement`` with its sets and relations over the parameters of ``context``, in that order."""
    space = context.get_space()
    accesses = tuple(
        access.mapped(lambda relation: relation.align_params(space)) for access in statement.accesses
    )
    return replace(statement, domain=statement.domain.align_params(space), accesses=accesses)


def liveness_of(statements: Sequence[Statement], schedule: isl.Schedule, context: isl.Set) -> Liveness:
    """What the statements do to the arrays, seen from outside."""
    return Liveness(
        arrays_read_from_before(statements, schedule, context),
        arrays_maybe_written(statements),
        arrays_maybe_unwritten(statements, context),
        arrays_written(statements),
    )


def arrays(
    program: Program, statements: Sequence[Statement], liveness: Liveness, context: isl.Set
) -> tuple[Array, ...]:
    """All arrays, then all scalars that some statement, creation or result names."""
    used = _used_names(program, statements)
    drafts = [*program.arrays.values(), *(draft for name, draft in program.scalars.items() if name in used)]
    return tuple(_array(program, draft, liveness, context) for draft in drafts)


def arguments(program: Program, found: Sequence[Array]) -> tuple[Argument, ...]:
    """The function's own arguments, or the names that a cell takes from the notebook."""
    if not program.source.is_cell:
        return program.symbols.arguments
    taken = (array.name for array in found if array.origin == "argument")
    names = dict.fromkeys((*program.from_notebook, *taken))
    # A name that is new, and that the loops may leave unassigned, starts as False: it unites with every other type.
    known = {name for name in names if program.symbols.kind(name) != "unknown"}
    new = (Argument(name, False, has_default=True) for name in names if name not in known)
    return (*(Argument(name) for name in names if name in known), *new)


def _used_names(program: Program, statements: Sequence[Statement]) -> set[str]:
    used = {access.array for statement in statements for access in statement.accesses}
    used |= set(program.result.names)
    for draft in program.arrays.values():
        fill = draft.creation.fill if draft.creation is not None else None
        if fill is not None:
            used |= {part.array for part in walk(fill) if isinstance(part, Element)}
    return used


def _array(program: Program, draft: ArrayDraft, liveness: Liveness, context: isl.Set) -> Array:
    cells = Cells(program)
    extents = tuple(_aligned_extent(cells.extent(draft, axis), context) for axis in range(draft.rank))
    live_out = _is_seen_afterwards(program, draft, liveness)
    live_in = _is_needed_from_before(program, draft, liveness, live_out=live_out)
    creation = draft.creation
    taken = live_in and _is_scalar_of_cell(program, draft)
    if taken and draft.name in liveness.read_from_before.certain:
        _check_defined(program, draft)
    return Array(
        name=draft.name,
        rank=draft.rank,
        origin="argument" if taken else draft.origin,
        extents=extents,
        live_in=live_in,
        live_out=live_out,
        dtype="bool" if draft.name in program.masks else _dtype(creation),
        creation=creation,
        span=draft.span,
        is_point=draft.is_point,
        rebound=draft.rebound,
    )


def _dtype(creation: Creation | None) -> str | None:
    if creation is None or creation.dtype is not None:
        return None if creation is None else creation.dtype
    is_known = creation.like is None and creation.fill is None and not (creation.of_values or creation.numbers)
    return "float64" if is_known else None


def _aligned_extent(extent: isl.PwAff | None, context: isl.Set) -> isl.PwAff | None:
    return None if extent is None else extent.align_params(context.get_space())


def _is_needed_from_before(
    program: Program, draft: ArrayDraft, liveness: Liveness, *, live_out: bool
) -> bool:
    """Whether the value from before the part may be read, or may still be there afterwards."""
    if _is_new_in_function(program, draft):
        return False
    if draft.name in liveness.read_from_before.possible:
        return True
    may_stay = liveness.maybe_written
    if _is_scalar_of_cell(program, draft):
        may_stay = may_stay | liveness.maybe_unwritten
    return live_out and draft.name in may_stay


def _is_new_in_function(program: Program, draft: ArrayDraft) -> bool:
    """Whether this is a variable of a function: there is no value of it from before."""
    return not program.source.is_cell and draft.rank == 0 and draft.origin == "local"


def _check_defined(program: Program, draft: ArrayDraft) -> None:
    """Refuse a scalar of a cell that the text reads before it assigns it, and that the notebook does not know."""
    first = first_use(draft.name, program.source.body)
    if first is not None and program.symbols.kind(draft.name) == "unknown":
        raise program.source.error(
            first,
            f"`{draft.name}` is read before it has a value.",
            hint=f"Assign `{draft.name}` before the loops.",
            kind=UnknownNameError,
        )


def _is_scalar_of_cell(program: Program, draft: ArrayDraft) -> bool:
    """Whether this is a scalar of a cell, and not one of our own: the notebook may have and keep its value."""
    return program.source.is_cell and draft.rank == 0 and draft.name in _users_names(program)


def _is_seen_afterwards(program: Program, draft: ArrayDraft, liveness: Liveness) -> bool:
    if draft.name in program.result.names:
        return True
    if program.source.is_cell:
        is_users = draft.name in _users_names(program)
        return is_users and (draft.name in liveness.written or draft.creation is not None)
    return draft.origin == "argument" and draft.rank > 0 and draft.name in liveness.written


def _users_names(program: Program) -> set[str]:
    """The names of the text; sums over generators have names of our own."""
    return program.usage.names - program.source.own_loops

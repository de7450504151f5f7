"""What temporaries hold at the end is found apart, before or behind the loops.

In a cell of a notebook every temporary stays visible: after ``for i in range(n): d = x[i] - m`` the name ``d`` has the
value of the last iteration. Handing it over inside the loops puts a condition into each of them, where vectors,
register tiles and sums in lanes have no room for one. The last iteration is cheap to compute once more: behind the
loops what reads final values, before them what reads cells that are overwritten later. What follows from values between
the two is read back, if some array keeps it as it was.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.analysis.order import Order
from polyviz.analysis.times import sets_of, times_by_statement
from polyviz.mapping.storage import copies_of_scalar
from polyviz.model.expression import Assign, Element
from polyviz.model.isl_limits import at_most
from polyviz.model.schedule import Decision

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from polyviz.model.dependences import Dependences, Privatization
    from polyviz.model.scop import Access, Scop, Statement

OPERATIONS = 2_000_000
FEW_ITERATIONS = 32
"""So many iterations of the loops that have copies, or fewer, make one of them too much to do again."""


@dataclass(frozen=True, slots=True)
class OnceMore:
    """``dependences`` with no final values but those that loops have to hand over, the order of the instances that
    compute the others ``ahead`` of all loops and ``behind`` them (None: there are none), the statements whose instances
    there read back what they have stored, and what is said of them."""

    dependences: Dependences
    ahead: isl.Schedule | None = None
    behind: isl.Schedule | None = None
    read_back: tuple[str, ...] = ()
    decisions: tuple[Decision, ...] = ()


def compute_once_more(scop: Scop, dependences: Dependences) -> OnceMore:
    """Which final values are found apart: those that follow from what the loops have not changed yet, or will not
    change any more, and those that an array keeps."""
    visible = {found.array: found for found in dependences.privatizations if found.last is not None}
    if not visible:
        return OnceMore(dependences)
    search = _Search(scop, dependences)
    try:
        with at_most(OPERATIONS):
            needed, kept = _needed(search, visible)
            parts = search.parts(_union(scop, needed.values()))
    except isl.Error:
        parts = None
    if parts is None or not (needed or kept):
        return OnceMore(dependences, decisions=_left(visible))
    names = (*needed, *kept)
    privatizations = tuple(
        replace(found, last=None) if found.array in names else found for found in dependences.privatizations
    )
    orders = parts[0], _union(scop, (parts[1], *kept.values()))
    ahead, behind = (None if part.is_empty() else scop.schedule.intersect_domain(part) for part in orders)
    return OnceMore(
        replace(dependences, privatizations=privatizations),
        ahead,
        behind,
        read_back=tuple(one.get_tuple_name() for part in kept.values() for one in sets_of(part)),
        decisions=(*_said(tuple(needed), parts, tuple(kept)), *_left([name for name in visible if name not in names])),
    )


def _needed(
    search: _Search, visible: Mapping[str, Privatization]
) -> tuple[dict[str, isl.UnionSet], dict[str, isl.UnionSet]]:
    """The instances that compute each final value again, of those where that is possible, and those that have stored
    one of the others."""
    found = {name: search.instances(one) for name, one in visible.items()}
    kept = {name: search.stored(visible[name]) for name, part in found.items() if part is None}
    stored = {name: part for name, part in kept.items() if part is not None}
    possible = {name: part for name, part in found.items() if part is not None}
    writes = {name: search.written(part) for name, part in possible.items()}
    # Whoever computes one value again overwrites what others hold: those have to be computed again, too.
    while clobbering := [name for name in possible if not writes[name] <= possible.keys() | stored.keys()]:
        for name in clobbering:
            del possible[name]
    return possible, stored


def _union(scop: Scop, parts: Iterable[isl.UnionSet]) -> isl.UnionSet:
    result = isl.UnionSet.empty(scop.context.get_space())
    for part in parts:
        result = result.union(part)
    return result.coalesce()


class _Search:
    """Looks for the instances on which a final value depends."""

    def __init__(self, scop: Scop, dependences: Dependences) -> None:
        self.scop = scop
        self.private = {found.array: found for found in dependences.privatizations}
        self.order = Order(times_by_statement(scop.schedule.get_map()), scop.context.get_space())

    def instances(self, wanted: Privatization) -> isl.UnionSet | None:
        """The instances that leave the final value of a temporary, from the first that matters to the last; None where
        they cannot run again, or are too many for that."""
        copies = copies_of_scalar(self.scop, wanted)
        assert wanted.last is not None
        last = wanted.last.apply(copies)
        if self._are_few(copies.range()):
            return None
        found = self._writers(wanted, last)
        for _ in range(len(self.private) + 1):
            grown = found
            for name in self._read(found):
                used = found.apply(self._reads_of(name))
                grown = grown.union(self._writers(self.private[name], used))
            if grown.is_subset(found):
                return found if self.parts(found) is not None else None
            found = grown.coalesce()
        return None

    def stored(self, wanted: Privatization) -> isl.UnionSet | None:
        """The instance that has stored the final value of a temporary, as it is, in a cell that nobody has changed
        since; None where there is none."""
        assert wanted.last is not None
        last = wanted.last.apply(copies_of_scalar(self.scop, wanted))
        for statement in self.scop.statements:
            if not self._stores(statement, wanted.array):
                continue
            copies = self._of_statements(copies_of_scalar(self.scop, wanted), [statement.name])
            behind = self._behind(statement.name, wanted.last)
            found = copies.intersect_range(last).domain().intersect(behind)
            if self._is_one(found, wanted.last) and not self._changes_again(statement, found):
                return found
        return None

    def _stores(self, statement: Statement, name: str) -> bool:
        """Whether ``statement`` does nothing but copy the temporary into an array that the user sees."""
        if len(statement.body) != 1 or not statement.exact:
            return False
        (assign,) = statement.body
        if not isinstance(assign, Assign) or assign.operator or not isinstance(assign.value, Element):
            return False
        target = assign.target
        plain = assign.value.array == name and not assign.value.subscripts
        return plain and bool(target.subscripts) and self.scop.array(target.array).live_out

    def _behind(self, name: str, instances: isl.UnionSet) -> isl.UnionSet:
        """The instances of the statement called ``name`` that run after one of ``instances``."""
        found = []
        for part in sets_of(instances):
            after = self.order.after(name, part.get_tuple_name()).intersect_range(part)
            found.append(isl.UnionSet.from_set(after.domain()))
        return _union(self.scop, found)

    def _is_one(self, found: isl.UnionSet, last: isl.UnionSet) -> bool:
        """Whether ``found`` is one instance for all parameters for which there is a last one."""
        if found.is_empty() or not last.params().is_subset(found.params()):
            return False
        (part,) = sets_of(found)
        return bool(isl.Map.from_range(part).is_single_valued())

    def _changes_again(self, statement: Statement, found: isl.UnionSet) -> bool:
        """Whether the cell that ``statement`` writes in ``found`` is written later."""
        (part,) = sets_of(found)
        (write,) = [access for access in statement.accesses if access.kind == "write"]
        cell = write.relation.intersect_domain(part)
        for writer, other in self._writes_to(write.array):
            pairs = cell.apply_range(other.relation.reverse()).subtract(self.order.after(statement.name, writer))
            if writer == statement.name:
                pairs = pairs.subtract(part.identity())
            if not pairs.is_empty():
                return True
        return False

    def written(self, instances: isl.UnionSet) -> set[str]:
        """The arrays and scalars that ``instances`` write."""
        return {access.array for access in self._accesses(instances, "write")}

    def _read(self, instances: isl.UnionSet) -> list[str]:
        read = (access.array for access in self._accesses(instances, "read"))
        return [name for name in dict.fromkeys(read) if name in self.private]

    def _reads_of(self, name: str) -> isl.UnionMap:
        """Instances that read the temporary, each mapped to the copy it uses."""
        reading = [one.name for one in self.scop.statements if any(_reads(access, name) for access in one.accesses)]
        return self._of_statements(copies_of_scalar(self.scop, self.private[name]), reading)

    def _writers(self, privatization: Privatization, copies: isl.UnionSet) -> isl.UnionSet:
        """The instances that write one of ``copies``."""
        name = privatization.array
        writing = [one.name for one in self.scop.statements if any(_writes(access, name) for access in one.accesses)]
        by_copy = self._of_statements(copies_of_scalar(self.scop, privatization), writing)
        return by_copy.intersect_range(copies).domain()

    def _of_statements(self, relation: isl.UnionMap, names: list[str]) -> isl.UnionMap:
        domain = isl.UnionSet.empty(self.scop.context.get_space())
        for name in names:
            domain = domain.union(isl.UnionSet.from_set(self.scop.statement(name).domain))
        return relation.intersect_domain(domain)

    def _accesses(self, instances: isl.UnionSet, kind: str) -> list[Access]:
        names = {part.get_tuple_name() for part in sets_of(instances)}
        return [
            access
            for statement in self.scop.statements
            if statement.name in names
            for access in statement.accesses
            if access.kind == kind
        ]

    def _are_few(self, copies: isl.UnionSet) -> bool:
        cells = isl.Set.from_union_set(copies).project_out_all_params()
        count = 1
        for position in range(cells.dim(isl.dim_type.set)):
            length = cells.dim_max_val(position).sub(cells.dim_min_val(position))
            if not length.is_int():
                return False
            count *= length.to_python() + 1
        return bool(count <= FEW_ITERATIONS)

    def parts(self, instances: isl.UnionSet) -> tuple[isl.UnionSet, isl.UnionSet] | None:
        """Those of ``instances`` that run before all loops, up to the last that reads what is overwritten later, and
        the others, which run behind them; None where they change, or read, what is neither as before nor as behind."""
        if any(name not in self.private or self.private[name].last is None for name in self.written(instances)):
            return None
        changing, changed = self._unsteady(instances)
        ahead = self._until(changing, instances)
        if not ahead.intersect(changed).is_empty():
            return None
        return ahead, instances.subtract(ahead).coalesce()

    def _unsteady(self, instances: isl.UnionSet) -> tuple[isl.UnionSet, isl.UnionSet]:
        """Those of ``instances`` that read a cell which is written then or later, and those that read one which was
        written before."""
        changing, changed = [], []
        for part in sets_of(instances):
            reader = part.get_tuple_name()
            for access in self.scop.statement(reader).accesses:
                if access.kind != "read" or access.array in self.private:
                    continue
                read = access.relation.intersect_domain(part)
                for writer, write in self._writes_to(access.array):
                    pairs, earlier = read.apply_range(write.relation.reverse()), self.order.after(reader, writer)
                    changing.append(isl.UnionSet.from_set(pairs.subtract(earlier).domain()))
                    changed.append(isl.UnionSet.from_set(pairs.intersect(earlier).domain()))
        return _union(self.scop, changing), _union(self.scop, changed)

    def _writes_to(self, array: str) -> list[tuple[str, Access]]:
        return [(one.name, access) for one in self.scop.statements for access in one.accesses if _writes(access, array)]

    def _until(self, some: isl.UnionSet, instances: isl.UnionSet) -> isl.UnionSet:
        """Those of ``instances`` that run before one of ``some``, which are among them, and these."""
        found = [some]
        for part in sets_of(some):
            for other in sets_of(instances):
                before = self.order.after(part.get_tuple_name(), other.get_tuple_name()).intersect_domain(part)
                found.append(isl.UnionSet.from_set(before.range().intersect(other)))
        return _union(self.scop, found)


def _reads(access: Access, name: str) -> bool:
    return access.kind == "read" and access.array == name


def _writes(access: Access, name: str) -> bool:
    return access.kind == "write" and access.array == name


def _left(names: Collection[str]) -> tuple[Decision, ...]:
    text = (
        f"the loops hand over what the last iteration leaves in {', '.join(names)}, which costs them register tiles "
        "and mostly vectors: what it follows from is overwritten on the way, or the iterations are so few that one is "
        "much; a function that does not return it has no need of that"
    )
    return (Decision("storage", text),) if names else ()


def _said(
    computed: tuple[str, ...], parts: tuple[isl.UnionSet, isl.UnionSet], kept: tuple[str, ...]
) -> tuple[Decision, ...]:
    ahead, behind = (not part.is_empty() for part in parts)
    where = " and ".join(word for word, some in (("before", ahead), ("behind", behind)) if some)
    statements = tuple(sorted({one.get_tuple_name() for part in parts for one in sets_of(part)}))
    again = f"is computed once more {where} the loops"
    back = "is read back behind the loops from where it was stored"
    found = ((computed, again, statements), (kept, back, ()))
    text = "what the last iteration leaves in {} {}: handed over inside, it would be a condition in every iteration"
    return tuple(Decision("storage", text.format(", ".join(names), how), of) for names, how, of in found if names)

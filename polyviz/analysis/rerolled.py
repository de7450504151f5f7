"""Loops that were unrolled by hand are rolled up again, where that keeps every dependence.

    for i in range(0, n, 2):                 for i in range(2 * ((n + 1) // 2)):
        y[i] += a * x[i]             ->          y[i] += a * x[i]
        y[i + 1] += a * x[i + 1]

Someone who writes copies of a statement decides what the registers hold; here vectors, register tiles and unrolling are
chosen for the machine, and copies would be in their way. Statements of a loop that advances by some steps at once are
one where each of the next is the first one some steps further on, perhaps with a variable of its own (``s0``, ``s1``)
for what an iteration keeps; all statements of the loop have to belong to such families.

Source: the inverse of unrolling and of unroll-and-jam (Callahan, Cocke and Kennedy, "Estimating interlock and improving
balance for pipelined architectures", 1988), and legal when that is.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.analysis.dependences import dependences
from polyviz.analysis.other_loops import (
    Changed,
    bounded_by_sizes,
    changed_order,
    identity,
    is_used_at_once,
    loop_name,
    may_run_again,
    source_loops,
)
from polyviz.model.expression import Binary, Constant, Element, Expression, Instruction, Name, Unary, walk
from polyviz.model.linear import linear_parts, linear_terms

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from polyviz.errors import Span
    from polyviz.model.dependences import Dependences
    from polyviz.model.expression import Node
    from polyviz.model.linear import Terms
    from polyviz.model.scop import Access, Scop, Statement

MOST_COPIES = 16
"""Copies of a statement that are looked for: nobody writes more of them by hand."""
_OUT, _CHEAP = isl.dim_type.out, (Element, Name, Constant, Unary, Binary)


def with_loops_rolled_up(scop: Scop, known: Dependences) -> Scop:
    """``scop`` with one statement for all copies of it in loops that advance by several steps; itself without such.

    Notes say which loops were rolled up.

    >>> import polyviz as pv
    >>> part = pv.extract('''def double(A, n):
    ...     for i in range(0, 2 * n, 2):
    ...         A[i] = 2 * A[i]
    ...         A[i + 1] = 2 * A[i + 1]''')
    >>> rolled = with_loops_rolled_up(part, pv.analysis.dependences(part))
    >>> [str(one.domain) for one in rolled.statements]
    ['[n] -> { S0[i] : 0 <= i < 2n }']
    """
    names, done = list[str](), Changed.nothing(scop)
    for span in source_loops(scop):
        change = _rolled_up(done.scop, span, known)
        total = change and done.then(change, scop, known.validity_relations)
        if total is not None:
            names.append(loop_name(done.scop, span))
            done = total
    if not names:
        return scop
    loops = (
        f"loop `{names[0]}` is"
        if len(names) == 1
        else f"loops {', '.join(f'`{name}`' for name in names)} are"
    )
    note = f"The {loops} rolled up: the copies of its statements, some steps apart, are taken as one."
    return replace(done.scop, notes=(*scop.notes, note))


@dataclass(frozen=True, slots=True)
class _Family:
    """Statements of which the one at ``n`` is the first, ``n`` steps of its iterator at ``position`` further on.

    There are ``count`` of them, or one for all of these steps: a temporary that does not move with the loop.
    """

    members: tuple[Statement, ...]
    position: int
    count: int

    @property
    def first(self) -> Statement:
        """The one that stands for all of them."""
        return self.members[0]

    def moved(self) -> Iterator[tuple[Statement, isl.Map]]:
        """Each member with the function that tells where its instances go."""
        space = self.first.domain.get_space()
        for steps, member in enumerate(self.members):
            values = isl.MultiAff.identity(space.map_from_set())
            values = values.set_aff(
                self.position, values.get_at(self.position).add_constant_val(isl.Val(steps))
            )
            relation = isl.Map.from_multi_aff(values).set_tuple_name(isl.dim_type.in_, member.name)
            yield member, relation

    def domain(self) -> isl.Set:
        """All instances, by the iterators of the first member."""
        space = self.first.domain.get_space().map_from_set()
        steps = isl.Map.from_multi_aff(isl.MultiAff.identity(space))
        unbound = steps.eliminate(_OUT, self.position, 1)
        start = isl.Constraint.alloc_inequality(isl.LocalSpace.from_space(space))
        start = start.set_coefficient_val(_OUT, self.position, 1).set_coefficient_val(
            isl.dim_type.in_, self.position, -1
        )
        end = isl.Constraint.alloc_inequality(isl.LocalSpace.from_space(space))
        end = end.set_coefficient_val(_OUT, self.position, -1).set_coefficient_val(
            isl.dim_type.in_, self.position, 1
        )
        end = end.set_constant_val(self.count - 1)
        found = self.first.domain.apply(unbound.add_constraint(start).add_constraint(end))
        named = found.set_tuple_name(self.first.name)
        for place, name in enumerate(self.first.iterators):
            named = named.set_dim_name(isl.dim_type.set, place, name)
        return bounded_by_sizes(named.coalesce())


def _rolled_up(scop: Scop, span: Span, known: Dependences) -> Changed | None:
    """``scop`` with the loop at ``span`` rolled up; None where its statements are no families."""
    families = _Search(scop, span, known).families()
    if not families:
        return None
    made = {family.first.name: _made(family) for family in families}
    if any(one is None for one in made.values()):
        return None
    gone = {member.name for family in families for member in family.members[1:]}
    statements = tuple(made.get(one.name) or one for one in scop.statements if one.name not in gone)
    domains = {one.name: one.domain for one in statements}

    def row(name: str, depth: int, old: isl.Map) -> isl.Map:
        return _extended(old, scop.statement(name).domain, domains[name])

    smaller = replace(scop, statements=statements, schedule=changed_order(scop, domains, row))
    again = [family.first.name for family in families if len(family.members) < family.count]
    if again and not all(is_used_at_once(smaller, dependences(smaller), name) for name in again):
        return None
    used = {access.array for one in statements for access in one.accesses}
    left = {access.array for one in scop.statements for access in one.accesses} - used
    moved = {one.name: identity(one) for one in scop.statements}
    moved |= {member.name: function for family in families for member, function in family.moved()}
    kept = tuple(one for one in scop.arrays if one.name not in left)
    return Changed(replace(smaller, arrays=kept), moved)


def _extended(old: isl.Map, domain: isl.Set, wider: isl.Set) -> isl.Map:
    """What ``old`` says of the instances in ``domain``, said of those in ``wider``."""
    return old.gist_domain(domain).intersect_domain(wider)


def _made(family: _Family) -> Statement | None:
    """The statement that stands for ``family``; None where isl cannot tell so from the copies."""
    first, domain = family.first, family.domain()
    accesses = tuple(one.mapped(lambda old: _extended(old, first.domain, domain)) for one in first.accesses)
    for member, relation in family.moved():
        pairs = zip(accesses, member.accesses, strict=True)
        if not all(_stands_for(one, own, relation) for one, own in pairs):
            return None
    return replace(first, domain=domain, accesses=accesses)


def _stands_for(wider: Access, access: Access, moved: isl.Map) -> bool:
    """Whether ``wider`` is the ``access`` of a copy, where ``moved`` takes it; a variable may have another name."""
    if (wider.apart is None) != (access.apart is None) or wider.kind != access.kind:
        return False
    pairs = [(wider.relation, access.relation)]
    if wider.apart is not None and access.apart is not None:
        pairs.append((wider.apart, access.apart))
    return all(_says(one, own.apply_domain(moved)) for one, own in pairs)


def _says(wider: isl.Map, own: isl.Map) -> bool:
    here = wider.intersect_domain(own.domain())
    return bool(own.is_equal(here.set_tuple_id(_OUT, own.get_tuple_id(_OUT))))


class _Search:
    """Looks for the families of the loop at ``span``."""

    def __init__(self, scop: Scop, span: Span, known: Dependences) -> None:
        self.scop, self.known = scop, known
        inside = [one for one in scop.statements if span in one.loop_spans]
        positions = {one.loop_spans.index(span) for one in inside}
        # A line that became several loops, at several depths, is none that somebody unrolled.
        self.statements = inside if len(positions) == 1 else []
        self.position = positions.pop() if self.statements else 0
        self.iterator = self.statements[0].iterators[self.position] if self.statements else ""
        self.private = {
            found.array
            for found in known.privatizations
            if found.depth > self.position and found.last is None
        } & {array.name for array in scop.arrays if not array.rank}
        self.variables: dict[tuple[str, int], str] = {}

    def families(self) -> list[_Family]:
        """All statements of the loop, in families; none where some do not belong to one."""
        moving = [one for one in self.statements if not self._stays(one)]
        steps = {int(one.domain.get_stride(self.position).to_python()) for one in self.statements}
        count = steps.pop() if len(steps) == 1 else 1
        if not 1 < count <= MOST_COPIES or not moving or len(moving) % count:
            return []
        # Copies of `s0 = 0.0` are known by the variables of those that move with the loop.
        left, found = sorted(self.statements, key=self._stays), list[_Family]()
        while left:
            family = self._family(left, count)
            if family is None:
                return []
            found.append(family)
            left = [one for one in left if one not in family.members]
        return [] if self._reads_copies() else found

    def _reads_copies(self) -> bool:
        """Whether a variable of a copy is one of the first statements', too: it would be gone with the copy."""
        first = {name for name, _ in self.variables}
        return any(copy in first and copy != name for (name, _), copy in self.variables.items())

    def _stays(self, statement: Statement) -> bool:
        return not any(self.iterator in terms for terms in linear_parts(statement.body))

    def _family(self, left: Sequence[Statement], count: int) -> _Family | None:
        first, members = left[0], [left[0]]
        for steps in range(1, count):
            copy = next(
                (one for one in left[1:] if one not in members and self._is_copy(first, one, steps)), None
            )
            if copy is None:
                return _Family((first,), self.position, count) if self._may_run_again(first) else None
            members.append(copy)
        return _Family(tuple(members), self.position, count)

    def _may_run_again(self, statement: Statement) -> bool:
        """Whether ``statement`` is a value for all copies, which costs little to compute for each of them."""
        parts = [part for line in statement.body for part in walk(line) if isinstance(part, Expression)]
        cheap = all(isinstance(part, _CHEAP) and getattr(part, "operator", "+") in "+-*" for part in parts)
        return cheap and self._stays(statement) and may_run_again(self.scop, self.known, statement.name)

    def _is_copy(self, first: Statement, other: Statement, steps: int) -> bool:
        """Whether ``other`` is ``first``, so many ``steps`` further on."""
        if first.loop_spans != other.loop_spans or len(first.body) != len(other.body):
            return False
        if not other.domain.set_tuple_name(first.name).is_equal(first.domain):
            return False
        if len(first.accesses) != len(other.accesses):
            return False
        variables = dict(self.variables)
        pairs = zip(first.body, other.body, strict=True)
        if all(self._are_alike(one, copy, steps, variables) for one, copy in pairs):
            self.variables = variables
            return True
        return False

    def _are_alike(self, one: Node, copy: Node, steps: int, variables: dict[tuple[str, int], str]) -> bool:
        mine, other = _terms(one), _terms(copy)
        if mine is not None and other is not None:
            advanced = mine.get("", 0) + steps * mine.get(self.iterator, 0)
            return _plain({**mine, "": advanced}) == _plain(other)
        if type(one) is not type(copy):
            return False
        if (
            isinstance(one, Element)
            and isinstance(copy, Element)
            and not self._is_array(one, copy, steps, variables)
        ):
            return False
        return all(
            self._are_parts_alike(getattr(one, item.name), getattr(copy, item.name), steps, variables)
            for item in fields(one)
            if item.name not in ("span", "array")
        )

    def _are_parts_alike(
        self, mine: object, other: object, steps: int, variables: dict[tuple[str, int], str]
    ) -> bool:
        if isinstance(mine, Expression | Instruction) and isinstance(other, Expression | Instruction):
            return self._are_alike(mine, other, steps, variables)
        if isinstance(mine, tuple) and isinstance(other, tuple):
            pairs = zip(mine, other, strict=False)
            return len(mine) == len(other) and all(
                self._are_parts_alike(part, copy, steps, variables) for part, copy in pairs
            )
        return mine == other and type(mine) is type(other)

    def _is_array(
        self, one: Element, copy: Element, steps: int, variables: dict[tuple[str, int], str]
    ) -> bool:
        """Whether both are of one array, or of variables that stand for each other: each iteration has its own."""
        if not {one.array, copy.array} <= self.private:
            return one.array == copy.array
        taken = {name for (_, number), name in variables.items() if number == steps}
        if (one.array, steps) not in variables and copy.array not in taken:
            variables[one.array, steps] = copy.array
        return variables.get((one.array, steps)) == copy.array


def _terms(node: Node) -> Terms | None:
    return linear_terms(node) if isinstance(node, Expression) else None


def _plain(terms: Mapping[str, int]) -> dict[str, int]:
    return {name: factor for name, factor in terms.items() if factor}

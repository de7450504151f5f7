"""Statements that a private temporary ties together are scheduled as one.

A value that is written and read within one iteration of a loop body lives in a register as long as its statements stay
together. A scheduler that places them one by one may tear them apart; the temporary then needs an array with a cell for
every iteration, and the loops wait for memory. So the consecutive statements of a body between which such a value
lives are contracted to one statement before the search, and expanded again in what it finds.

Source: the contraction is that of isl's ``isl_schedule_expand``, as PPCG uses it for chains of statements.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.analysis.times import maps_of, union_of
from polyviz.model.isl_limits import coalesced
from polyviz.model.schedule import Decision
from polyviz.scheduling.group_choice import find_groups
from polyviz.scheduling.problem import Proposal, SchedulingProblem
from polyviz.transform.tree import is_band, kind_of, node_at, path_of, statements_under, walk

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from polyviz.model.dependences import Dependence, Dependences
    from polyviz.model.scop import Access, Scop, Statement
    from polyviz.scheduling.group_choice import Group


@dataclass(frozen=True, slots=True)
class Contraction:
    """A problem whose groups are single statements, and the way back."""

    problem: SchedulingProblem
    groups: tuple[Group, ...]
    original: SchedulingProblem

    def expanded_tree(self, tree: isl.Schedule) -> isl.Schedule:
        """``tree`` over the contracted statements with every group in the order of the source again."""
        pulled = tree.pullback_union_pw_multi_aff(self._contraction())
        tree = pulled.intersect_domain(self.original.domain)
        for path in [path_of(node) for node in walk(tree) if kind_of(node) == "leaf"]:
            leaf = node_at(tree, path)
            inside = {
                name: group
                for group in self.groups
                for name in statements_under(leaf)
                if name in group.members
            }
            tree = self._ordered(leaf, tuple(dict.fromkeys(inside.values()))).get_schedule()
        return tree

    def _ordered(self, leaf: isl.ScheduleNode, groups: Sequence[Group]) -> isl.ScheduleNode:
        """``leaf`` with the bodies of ``groups``, which run there, below it."""
        domain, scop = leaf.get_domain(), self.original.scop
        own = [_restricted(scop, group.members).intersect(domain) for group in groups]
        others = domain
        for instances in own:
            others = others.subtract(instances)
        filters = [*own, *([] if others.is_empty() else [others])]
        if len(filters) > 1:
            leaf = leaf.insert_set(_filter_list(filters))
        for place, group in enumerate(groups):
            at = leaf.child(place).child(0) if len(filters) > 1 else leaf
            body = _below(scop.schedule.intersect_domain(_restricted(scop, group.members)), group.depth)
            planted = _planted(at, body)
            leaf = planted.parent().parent() if len(filters) > 1 else planted
        return leaf

    def _contraction(self) -> isl.UnionPwMultiAff:
        """Every instance of the original problem to the instance that stands for it."""
        groups = {name: group for group in self.groups for name in group.members}
        maps = [
            isl.UnionMap.from_map(_onto(part, groups.get(part.get_tuple_name())))
            for part in _sets_of(self.original.domain)
        ]
        return isl.UnionPwMultiAff.from_union_map(functools.reduce(isl.UnionMap.union, maps))

    def expanded(self, proposal: Proposal) -> Proposal:
        """``proposal`` for the contracted problem as one for the original."""
        together = (_decision(group) for group in self.groups)
        return Proposal(self.expanded_tree(proposal.tree), (*together, *proposal.decisions))


def contracted(problem: SchedulingProblem) -> Contraction | None:
    """``problem`` with the statements that private temporaries tie together as one; None where there are none."""
    groups = tuple(find_groups(problem))
    if not groups:
        return None
    scop, names = problem.scop, {name: group for group in groups for name in group.members}
    gone = {name for group in groups for name in group.members if name != group.leader}
    statements = tuple(
        _merged(scop, names[statement.name]) if statement.name in names else statement
        for statement in scop.statements
        if statement.name not in gone
    )
    kept = _restricted(scop, [statement.name for statement in statements])
    part = replace(scop, statements=statements, schedule=scop.schedule.intersect_domain(kept))
    found = _dependences(problem.dependences, names)
    return Contraction(SchedulingProblem(part, found, problem.sizes), groups, problem)


def _merged(scop: Scop, group: Group) -> Statement:
    """One statement that does what the members of ``group`` do; what lives only inside it is no access of its own."""
    leader = scop.statement(group.leader)
    parts = [scop.statement(name) for name in group.members]
    accesses = tuple(
        _access_of(access, part, group)
        for part in parts
        for access in part.accesses
        if access.array not in group.temporaries
    )
    body = tuple(instruction for part in parts for instruction in part.body)
    return replace(leader, accesses=accesses, body=body, source="; ".join(part.source for part in parts))


def _access_of(access: Access, statement: Statement, group: Group) -> Access:
    return access.mapped(
        lambda relation: _of_group(relation.intersect_domain(statement.domain), isl.dim_type.in_, group)
    )


def _dependences(known: Dependences, names: Mapping[str, Group]) -> Dependences:
    space = known.validity.get_space().params()
    relations = tuple(_contracted_relations(known.relations, names))
    validity_relations = tuple(_contracted_relations(known.validity_relations, names))
    return replace(
        known,
        relations=relations,
        privatizations=tuple(
            found
            for found in known.privatizations
            if not any(found.array in g.temporaries for g in names.values())
        ),
        validity=_contracted_union(known.validity, names, space),
        proximity=_contracted_union(known.proximity, names, space),
        coincidence=_contracted_union(known.coincidence, names, space),
        validity_relations=validity_relations,
    )


def _contracted_relations(
    relations: Iterable[Dependence], names: Mapping[str, Group]
) -> Iterable[Dependence]:
    for dependence in relations:
        relation = _contracted_map(dependence.relation, names)
        if relation is not None:
            source, sink = (relation.get_tuple_name(end) for end in (isl.dim_type.in_, isl.dim_type.out))
            yield replace(dependence, source=source, sink=sink, relation=relation)


def _contracted_union(union: isl.UnionMap, names: Mapping[str, Group], parameters: isl.Space) -> isl.UnionMap:
    found = (_contracted_map(relation, names) for relation in maps_of(union))
    return coalesced(union_of((relation for relation in found if relation is not None), parameters))


def _contracted_map(relation: isl.Map, names: Mapping[str, Group]) -> isl.Map | None:
    """``relation`` between groups; None when only pairs inside one instance of a group are left."""
    source, sink = (names.get(relation.get_tuple_name(end)) for end in (isl.dim_type.in_, isl.dim_type.out))
    if source is not None:
        relation = _of_group(relation, isl.dim_type.in_, source)
    if sink is not None:
        relation = _of_group(relation, isl.dim_type.out, sink)
    if source is None or source != sink:
        return relation
    relation = relation.subtract(isl.Map.identity(relation.get_space()))
    return None if relation.is_empty() else relation


def _below(tree: isl.Schedule, depth: int) -> isl.ScheduleNode:
    """The node of ``tree`` below its ``depth`` outermost loops, which all its statements share."""
    node = tree.get_root().child(0)
    while depth > 0:
        depth -= node.band_n_member() if is_band(node) else 0
        node = node.child(0)
    return node


def _planted(leaf: isl.ScheduleNode, body: isl.ScheduleNode) -> isl.ScheduleNode:
    """``leaf`` with a copy of what hangs below ``body``: loops, and branches one after the other."""
    kind = kind_of(body)
    if kind == "leaf":
        return leaf
    if kind == "filter":
        return _planted(leaf, body.child(0))
    if is_band(body):
        return _planted(
            leaf.insert_partial_schedule(body.band_get_partial_schedule()).child(0), body.child(0)
        ).parent()
    branches = [body.child(place) for place in range(body.n_children())]
    domain = leaf.get_domain()
    node = leaf.insert_sequence(
        _filter_list([branch.child(0).get_domain().intersect(domain) for branch in branches])
    )
    for place, branch in enumerate(branches):
        node = _planted(node.child(place).child(0), branch.child(0)).parent().parent()
    return node


def _filter_list(filters: Sequence[isl.UnionSet]) -> isl.UnionSetList:
    result = isl.UnionSetList.alloc(isl.DEFAULT_CONTEXT, len(filters))
    for one in filters:
        result = result.add(one)
    return result


def _restricted(scop: Scop, names: Iterable[str]) -> isl.UnionSet:
    result = isl.UnionSet.empty(scop.context.get_space())
    for name in names:
        result = result.union(isl.UnionSet.from_set(scop.statement(name).domain))
    return result


def _sets_of(union: isl.UnionSet) -> list[isl.Set]:
    sets = union.get_set_list()
    return [sets.get_at(position) for position in range(sets.n_set())]


def _onto(instances: isl.Set, group: Group | None) -> isl.Map:
    identity = isl.Map.identity(instances.get_space().map_from_set())
    return identity if group is None else _of_group(identity, isl.dim_type.out, group)


def _of_group(relation: isl.Map, end: isl.dim_type, group: Group) -> isl.Map:
    """``relation`` with the instances at one ``end`` replaced by those of the group that they belong to."""
    inner = relation.dim(end) - group.depth
    return relation.project_out(end, group.depth, inner).set_tuple_name(end, group.leader)


def _decision(group: Group) -> Decision:
    names = ", ".join(group.members[:-1]) + " and " + group.members[-1]
    values = ", ".join(f"`{name}`" for name in group.temporaries)
    lives = "lives" if len(group.temporaries) == 1 else "live"
    text = (
        f"{names} are scheduled as one, and the rows below call it {group.leader}: {values} {lives} only between them, "
        "within one iteration, so no array of copies is needed."
    )
    return Decision("group", text, group.members)

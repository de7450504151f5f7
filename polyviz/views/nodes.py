"""A schedule tree as plain values: what text, HTML and JSON all read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import islpy as isl

from polyviz.model.plan import END, UNROLL
from polyviz.model.recent import Recent
from polyviz.views.notation import constant_last, constraints, row_texts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from polyviz.model.schedule import Band

_NAMES = {
    getattr(isl.schedule_node_type, name): name
    for name in (
        "band",
        "context",
        "domain",
        "expansion",
        "extension",
        "filter",
        "leaf",
        "guard",
        "mark",
        "sequence",
        "set",
    )
}


@dataclass(frozen=True, slots=True)
class Member:
    """One loop of a band; ``reduction_parallel`` is None where nobody has recorded it."""

    rows: Mapping[str, str]
    coincident: bool
    reduction_parallel: bool = False
    role: Literal["loop", "tile", "point"] = "loop"


@dataclass(frozen=True, slots=True)
class Node:
    """A node of the tree: its isl type, what reaches it, a text (marks, filters with conditions) and its children."""

    kind: str
    statements: tuple[str, ...]
    text: str = ""
    members: tuple[Member, ...] = ()
    permutable: bool = False
    children: tuple[Node, ...] = ()


@dataclass(slots=True)
class _Reader:
    """Walks the tree once; ``bands`` are matched with the tree's bands in depth-first order."""

    bands: list[Band]
    domains: dict[str, isl.Set]
    seen: int = field(default=0)

    def read(self, node: isl.ScheduleNode, statements: tuple[str, ...]) -> Node:
        kind = _NAMES.get(node.get_type(), "node")
        text = ""
        members: tuple[Member, ...] = ()
        if kind == "filter":
            statements, text = self._filter(node.filter_get_filter(), statements)
        elif kind == "band":
            members = self._members(node)
            self.seen += 1
        elif kind == "mark":
            text = _mark_text(node)
        elif kind in ("context", "guard"):
            text = constraints(getattr(node, f"{kind}_get_{kind}")())
        permutable = kind == "band" and bool(node.band_get_permutable())
        children = (_past_end(node.child(place)) for place in range(node.n_children()))
        below = tuple(self.read(child, statements) for child in children if not _is_leaf(child))
        return Node(kind, statements, text, members, permutable, below)

    def _filter(self, passing: isl.UnionSet, statements: tuple[str, ...]) -> tuple[tuple[str, ...], str]:
        parts = _by_name(passing)
        conditions = []
        for name, part in parts.items():
            left = part.gist(self.domains[name]) if name in self.domains else None
            condition = "" if left is None or left.plain_is_universe() else constraints(left)
            if condition:
                conditions.append(f"{name}: {condition}")
        return tuple(name for name in statements if name in parts), "; ".join(sorted(conditions))

    def _members(self, node: isl.ScheduleNode) -> tuple[Member, ...]:
        count = node.band_n_member()
        known = self.bands[self.seen] if self.seen < len(self.bands) else None
        if known is not None and len(known.members) == count:
            return tuple(
                Member(_readable(member.rows), member.coincident, member.reduction_parallel, member.role)
                for member in known.members
            )
        partial = node.band_get_partial_schedule()
        return tuple(
            Member(row_texts(partial.get_at(place)), bool(node.band_member_get_coincident(place)))
            for place in range(count)
        )


def _past_end(node: isl.ScheduleNode) -> isl.ScheduleNode:
    """``node``, or what is below it when it is only the mark that ends the reach of another one."""
    while _NAMES.get(node.get_type()) == "mark" and node.mark_get_id().get_name() == END:
        node = node.child(0)
    return node


def _mark_text(node: isl.ScheduleNode) -> str:
    """The name of a mark; numbers that only the code generator needs are left out."""
    kind, _, ending = node.mark_get_id().get_name().partition(":")
    numbered = ending.isdigit() and kind != UNROLL
    return kind if not ending or numbered else f"{kind} {ending}"


def _readable(rows: Mapping[str, str]) -> dict[str, str]:
    return {statement: constant_last(function) for statement, function in rows.items()}


def _is_leaf(node: isl.ScheduleNode) -> bool:
    return _NAMES.get(node.get_type()) == "leaf"


def read_tree(tree: isl.Schedule, bands: Sequence[Band] = ()) -> Node:
    """The tree below its domain node; what ``bands`` know is used where they match the tree.

    >>> tree = isl.Schedule('{ domain: "{ S[i] : 0 <= i < 9 }", child: { schedule: "[{ S[i] -> [(i)] }]" } }')
    >>> root = read_tree(tree)
    >>> root.kind, root.statements, root.children[0].members[0].rows
    ('domain', ('S',), {'S': 'i'})
    """
    return _RECENT.of(tree, id(bands), lambda: (bands, _read(tree, bands)))[1]


# The forms of one schedule all ask for its tree. With the bands, that nothing else gets their identity.
_RECENT: Recent[tuple[Sequence[Band], Node]] = Recent(16)


def _read(tree: isl.Schedule, bands: Sequence[Band]) -> Node:
    domains = _by_name(tree.get_domain())
    return _Reader(list(bands), domains).read(tree.get_root(), tuple(sorted(domains, key=_natural)))


def _by_name(instances: isl.UnionSet) -> dict[str, isl.Set]:
    parts: list[isl.Set] = []
    instances.foreach_set(parts.append)
    return {part.get_tuple_name() or "": part for part in parts}


def _natural(name: str) -> tuple[str, int, str]:
    """Sorts ``S2`` before ``S10``."""
    letters = name.rstrip("0123456789")
    digits = name[len(letters) :]
    return letters, int(digits) if digits else -1, name


def walk(node: Node) -> Iterator[Node]:
    """``node`` and everything below it, in depth-first order."""
    yield node
    for child in node.children:
        yield from walk(child)


def loop_paths(root: Node) -> dict[str, tuple[int, ...]]:
    """The loops around each statement, outermost first, as numbers that are unique in the tree.

    >>> text = '{ domain: "{ S[i]; T[i] }", child: { schedule: "[{ S[i] -> [(i)]; T[i] -> [(i)] }]" } }'
    >>> loop_paths(read_tree(isl.Schedule(text)))
    {'S': (0,), 'T': (0,)}
    """
    paths: dict[str, tuple[int, ...]] = dict.fromkeys(root.statements, ())
    number = 0
    for node in walk(root):
        for _ in node.members:
            for name in node.statements:
                paths[name] = (*paths[name], number)
            number += 1
    return paths


def common_depth(paths: Mapping[str, tuple[int, ...]], first: str, second: str) -> int:
    """How many outermost loops two statements share."""
    pairs = zip(paths.get(first, ()), paths.get(second, ()), strict=False)
    depth = 0
    for one, other in pairs:
        if one != other:
            break
        depth += 1
    return depth

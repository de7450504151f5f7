"""The structure of a schedule tree as plain values, for moves that take whole subtrees apart and put them together.

isl edits trees node by node and cannot graft one subtree into another. A shape is the same tree as nested values; a
path means the same node in both, so ``part_at(shape_of(tree), path)`` is the node at ``path`` of the tree.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.analysis.nesting import Kind, node_kind
from polyviz.errors import OptionError
from polyviz.transform.tree import Path, coincident_members, is_band, members

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """Base of the nodes; one without children is a leaf."""

    @property
    def children(self) -> tuple[Shape, ...]:
        """The nodes directly below."""
        return ()

    def with_children(self, children: Sequence[Shape]) -> Shape:
        """The same node around other children."""
        return self


@dataclass(frozen=True, slots=True, eq=False)
class Nested(Shape):
    """A node with one child."""

    child: Shape

    @property
    def children(self) -> tuple[Shape, ...]:
        """The child."""
        return (self.child,)

    def with_children(self, children: Sequence[Shape]) -> Shape:
        """The same node around another child."""
        return replace(self, child=children[0])


@dataclass(frozen=True, slots=True, eq=False)
class Loops(Nested):
    """A band: one row per loop, outermost first. The flags are what was known when the shape was read."""

    rows: tuple[isl.UnionPwAff, ...]
    permutable: bool = False
    coincident: tuple[bool, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Marked(Nested):
    """A mark."""

    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Part(Nested):
    """A child of a sequence or set: the instances that run there."""

    instances: isl.UnionSet


@dataclass(frozen=True, slots=True, eq=False)
class Branches(Shape):
    """A sequence, or a set when ``ordered`` is False."""

    parts: tuple[Part, ...]
    ordered: bool = True

    @property
    def children(self) -> tuple[Shape, ...]:
        """The parts."""
        return self.parts

    def with_children(self, children: Sequence[Shape]) -> Shape:
        """The same node around other parts."""
        return replace(self, parts=tuple(part for part in children if isinstance(part, Part)))


LEAF = Shape()


def shape_of(tree: isl.Schedule) -> Shape:
    """What stands below the domain node of ``tree``; raises ``OptionError`` for nodes that are more than an order."""
    root = tree.get_root()
    return _read(root.child(0)) if root.n_children() else LEAF


def tree_of(domain: isl.UnionSet, shape: Shape) -> isl.Schedule:
    """The tree of ``shape`` over ``domain``.

    >>> text = '{ domain: "{ S[i]; T[] }", child: { sequence: [ { filter: "{ T[] }" }, { filter: "{ S[i] }" } ] } }'
    >>> tree = isl.Schedule(text)
    >>> tree_of(tree.get_domain(), shape_of(tree)).plain_is_equal(tree)
    True
    """
    return _write(isl.Schedule.from_domain(domain).get_root().child(0), shape).get_schedule()


def part_at(shape: Shape, path: Path) -> Shape:
    """The node at ``path``, which starts below the domain node; raises ``OptionError`` when there is none."""
    for position in path[1:]:
        if not 0 <= position < len(shape.children):
            raise OptionError(f"The schedule has no node at {path}.")
        shape = shape.children[position]
    return shape


def with_part(shape: Shape, path: Path, part: Shape) -> Shape:
    """``shape`` with ``part`` in place of the node at ``path``."""
    if len(path) <= 1:
        return part
    children = list(shape.children)
    children[path[1]] = with_part(children[path[1]], path[1:], part)
    return shape.with_children(children)


def loops_at(shape: Shape, path: Path) -> Loops:
    """The band at ``path``; raises ``OptionError`` when another kind of node is there."""
    found = part_at(shape, path)
    if not isinstance(found, Loops):
        raise OptionError(f"The node at {path} is no band of loops.")
    return found


def branches_at(shape: Shape, path: Path) -> Branches:
    """The sequence at ``path``; raises ``OptionError`` when another kind of node is there."""
    found = part_at(shape, path)
    if not isinstance(found, Branches):
        raise OptionError(f"The node at {path} is no sequence.")
    return found


def loops_around(rows: Sequence[isl.UnionPwAff], child: Shape) -> Shape:
    """A band of ``rows`` around ``child``; without rows ``child`` itself. Nothing is known of its flags."""
    return Loops(child, tuple(rows)) if rows else child


def sequence_of(parts: Iterable[Part]) -> Shape:
    """The parts one after the other: sequences directly inside become part of this one, a single part its child."""
    flat: list[Part] = []
    for part in parts:
        inner = part.child
        if isinstance(inner, Branches) and inner.ordered:
            flat += [replace(one, instances=one.instances.intersect(part.instances)) for one in inner.parts]
        else:
            flat.append(part)
    return flat[0].child if len(flat) == 1 else Branches(tuple(flat))


def tidy(shape: Shape) -> Shape:
    """``shape`` without sequences directly inside sequences: their parts stand in one."""
    below = [tidy(child) for child in shape.children]
    if isinstance(shape, Branches) and shape.ordered:
        return sequence_of(part for part in below if isinstance(part, Part))
    return shape.with_children(below)


def pruned(shape: Shape, instances: isl.UnionSet) -> Shape:
    """``shape`` for ``instances`` only: what runs none of them is left out."""
    if isinstance(shape, Branches):
        kept = [
            Part(pruned(part.child, inside), part.instances.intersect(inside.universe()))
            for part in shape.parts
            if not (inside := part.instances.intersect(instances)).is_empty()
        ]
        return kept[0].child if len(kept) == 1 else Branches(tuple(kept), shape.ordered)
    below = [pruned(child, instances) for child in shape.children]
    if isinstance(shape, Loops):
        return replace(shape, child=below[0], rows=tuple(restricted(row, instances) for row in shape.rows))
    return shape.with_children(below)


def joined(rows: Sequence[isl.UnionPwAff]) -> isl.UnionPwAff:
    """One row from rows of different statements."""
    result = rows[0]
    for row in rows[1:]:
        result = result.union_add(row)
    return result


def restricted(row: isl.UnionPwAff, instances: isl.UnionSet) -> isl.UnionPwAff:
    """``row`` for the statements of ``instances`` only."""
    return row.intersect_domain(instances.universe())


def statements_in(instances: isl.UnionSet) -> tuple[str, ...]:
    """The names of the statements in ``instances``, in alphabetical order."""
    parts = instances.get_set_list()
    return tuple(sorted({parts.get_at(place).get_tuple_name() for place in range(parts.n_set())}))


def _read(node: isl.ScheduleNode) -> Shape:
    kind = node_kind(node)
    if kind == Kind.leaf:
        return LEAF
    below = [_read(node.child(position)) for position in range(node.n_children())]
    if kind in (Kind.sequence, Kind.set):
        return Branches((), kind == Kind.sequence).with_children(below)
    if kind == Kind.filter:
        return Part(below[0], node.filter_get_filter())
    if kind == Kind.mark:
        return Marked(below[0], node.mark_get_id().get_name())
    if is_band(node):
        return Loops(below[0], members(node), bool(node.band_get_permutable()), coincident_members(node))
    raise OptionError(f"A {kind.name} node is more than an order: no move can go on with this tree.")


def _write(node: isl.ScheduleNode, shape: Shape) -> isl.ScheduleNode:
    """``node``, which is a leaf, replaced by ``shape``."""
    match shape:
        case Loops():
            node = _insert_band(node, shape)
        case Marked():
            node = node.insert_mark(isl.Id(shape.name))
        case Branches():
            node = _insert_branches(node, shape)
        case _:
            return node
    for position, child in enumerate(shape.children):
        below = child.child if isinstance(child, Part) else child
        down = 2 if isinstance(child, Part) else 1
        place = node.child(position).child(0) if down == 2 else node.child(position)
        node = _write(place, below).ancestor(down)
    return node


def _insert_band(node: isl.ScheduleNode, loops: Loops) -> isl.ScheduleNode:
    functions = isl.UnionPwAffList.alloc(isl.DEFAULT_CONTEXT, len(loops.rows))
    for row in loops.rows:
        functions = functions.add(row)
    space = node.get_domain().get_space().set_from_params().add_dims(isl.dim_type.set, len(loops.rows))
    node = node.insert_partial_schedule(isl.MultiUnionPwAff.from_union_pw_aff_list(space, functions))
    node = node.band_set_permutable(int(loops.permutable))
    for position, flag in enumerate(loops.coincident):
        node = node.band_member_set_coincident(position, int(flag))
    return node


def _insert_branches(node: isl.ScheduleNode, branches: Branches) -> isl.ScheduleNode:
    filters = isl.UnionSetList.alloc(isl.DEFAULT_CONTEXT, len(branches.parts))
    for part in branches.parts:
        filters = filters.add(part.instances)
    return node.insert_sequence(filters) if branches.ordered else node.insert_set(filters)

"""Schedule trees by path: find nodes, take bands apart, put rows and marks in.

A path is the tuple of child positions from the root; ``()`` is the root (the domain node), ``(0,)`` its only child.
Everything here is a pure function: isl trees are values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import islpy as isl

from polyviz.analysis.nesting import Kind, node_kind
from polyviz.errors import OptionError
from polyviz.model.isl_callbacks import pieces_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Path = tuple[int, ...]


def node_at(tree: isl.Schedule, path: Path) -> isl.ScheduleNode:
    """The node at ``path``; raises ``OptionError`` when the tree has no such node.

    >>> tree = isl.Schedule.from_domain(isl.UnionSet("{ S[i] }"))
    >>> node_at(tree, (0,)).get_type().name
    'leaf'
    """
    node = tree.get_root()
    for position in path:
        if not 0 <= position < node.n_children():
            raise OptionError(f"The schedule has no node at {path}.")
        node = node.child(position)
    return node


def path_of(node: isl.ScheduleNode) -> Path:
    """Where ``node`` is in its tree."""
    positions = []
    while node.has_parent():
        positions.append(node.get_child_position())
        node = node.parent()
    return tuple(reversed(positions))


def walk(tree: isl.Schedule) -> Iterator[isl.ScheduleNode]:
    """All nodes, each before its children, children from left to right."""
    pending = [tree.get_root()]
    while pending:
        node = pending.pop()
        yield node
        pending += [node.child(position) for position in reversed(range(node.n_children()))]


def kind_of(node: isl.ScheduleNode) -> str:
    """What kind of node it is, by isl's name: ``band``, ``filter``, ``leaf``, ``mark``, ``sequence`` …"""
    return str(node_kind(node).name)


def is_band(node: isl.ScheduleNode) -> bool:
    """Whether ``node`` is a band with at least one member."""
    return bool(node_kind(node) == Kind.band and node.band_n_member() > 0)


def is_under_mark(node: isl.ScheduleNode, name: str) -> bool:
    """Whether there is a mark called ``name`` right above ``node``."""
    above = node.parent()
    return kind_of(above) == "mark" and bool(above.mark_get_id().get_name() == name)


def bands(tree: isl.Schedule) -> Iterator[tuple[Path, isl.ScheduleNode]]:
    """Every band with its path, in depth-first order.

    >>> tree = isl.Schedule('{ domain: "{ S[i] }", child: { schedule: "[{ S[i] -> [i] }]" } }')
    >>> [path for path, band in bands(tree)]
    [(0,)]
    """
    return ((path_of(node), node) for node in walk(tree) if is_band(node))


def band_at(tree: isl.Schedule, path: Path) -> isl.ScheduleNode:
    """The band at ``path``; raises ``OptionError`` when another kind of node is there."""
    node = node_at(tree, path)
    if not is_band(node):
        raise OptionError(f"The node at {path} is a {node_kind(node).name}, not a band of loops.")
    return node


def statements_under(node: isl.ScheduleNode) -> tuple[str, ...]:
    """The names of the statements that run under ``node``, in alphabetical order."""
    # Above its domain node a tree has no instances yet.
    domain = node.get_domain() if node.has_parent() else node.get_schedule().get_domain()
    parts = domain.get_set_list()
    return tuple(sorted(parts.get_at(position).get_tuple_name() for position in range(parts.n_set())))


def members(band: isl.ScheduleNode) -> tuple[isl.UnionPwAff, ...]:
    """The rows of ``band``, outermost first."""
    rows = band.band_get_partial_schedule()
    return tuple(rows.get_at(position) for position in range(band.band_n_member()))


def coincident_members(band: isl.ScheduleNode) -> tuple[bool, ...]:
    """The coincident flag of each member."""
    return tuple(bool(band.band_member_get_coincident(position)) for position in range(band.band_n_member()))


def row_texts(row: isl.UnionPwAff) -> dict[str, str]:
    """The function of each statement in ``row`` as text.

    >>> row_texts(isl.UnionPwAff("[n] -> { S[t, i] -> [(t + 2i)]; R[i] -> [(n)] }"))
    {'R': 'n', 'S': 't + 2i'}
    """
    functions = row.get_pw_aff_list()
    texts = {}
    for position in range(functions.n_pw_aff()):
        function = functions.get_at(position)
        pieces = [piece for _, piece in pieces_of(function)]
        texts[function.get_space().get_tuple_name(isl.dim_type.in_) or ""] = " or ".join(
            map(_affine_text, pieces)
        )
    return dict(sorted(texts.items()))


def replace_rows(
    tree: isl.Schedule,
    path: Path,
    rows: Sequence[isl.UnionPwAff],
    *,
    coincident: Sequence[bool] | None = None,
) -> isl.Schedule:
    """The tree with ``rows`` as the members of the band at ``path``.

    The band stays as permutable as it was; ``coincident`` gives the flags of the members, all unset by default.
    """
    band = band_at(tree, path)
    permutable = band.band_get_permutable()
    functions = isl.UnionPwAffList.alloc(isl.DEFAULT_CONTEXT, len(rows))
    for row in rows:
        functions = functions.add(row)
    space = band.get_domain().get_space().set_from_params().add_dims(isl.dim_type.set, len(rows))
    changed = isl.MultiUnionPwAff.from_union_pw_aff_list(space, functions)
    node = band.delete().insert_partial_schedule(changed).band_set_permutable(permutable)
    for position, flag in enumerate(coincident or ()):
        node = node.band_member_set_coincident(position, int(flag))
    return node.get_schedule()


def split_band(tree: isl.Schedule, path: Path, position: int) -> isl.Schedule:
    """The band at ``path`` as two: its first ``position`` members at ``path``, the rest below at ``(*path, 0)``."""
    band = band_at(tree, path)
    if not 0 < position < band.band_n_member():
        raise OptionError(f"A band of {band.band_n_member()} cannot be split after {position} members.")
    return band.band_split(position).get_schedule()


def isolate_member(tree: isl.Schedule, path: Path, member: int) -> tuple[isl.Schedule, Path]:
    """The tree with ``member`` of the band at ``path`` as a band of its own, and the path of that band.

    Members before it and after it become bands around and inside.
    """
    count = band_at(tree, path).band_n_member()
    if not 0 <= member < count:
        raise OptionError(f"The band at {path} has {count} members, there is no member {member}.")
    if member + 1 < count:
        tree = split_band(tree, path, member + 1)
    if member == 0:
        return tree, path
    return split_band(tree, path, member), (*path, 0)


def insert_mark(tree: isl.Schedule, path: Path, name: str) -> isl.Schedule:
    """The tree with a mark called ``name`` at ``path``; what was there is now below it, at ``(*path, 0)``."""
    return node_at(tree, path).insert_mark(isl.Id(name)).get_schedule()


def marks_above(node: isl.ScheduleNode) -> tuple[str, ...]:
    """The names of the marks directly above ``node``, with only bands and marks between, nearest first."""
    names = []
    while node.has_parent():
        node = node.parent()
        if node_kind(node) == Kind.mark:
            names.append(node.mark_get_id().get_name())
        elif node_kind(node) != Kind.band:
            break
    return tuple(names)


def _affine_text(function: isl.Aff) -> str:
    text = str(function)
    return text[text.index("[(", text.rindex("->")) + 2 : text.rindex(")]")]

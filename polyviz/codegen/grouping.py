"""Keeping together what isl would write in several loops: what one copy of a temporary is for, tiles that wait.

isl writes the loops of two statements apart where no iteration of the first comes after one of the second, even below
a mark. A variable declared inside such a loop would be written in one loop and read in the other, and a tile that was
taken out of the loop over all of them has no place that another could wait for.

Tiles that several statements share, in fronts, are kept together for the sake of those who wait. isl bounds the loop
over fronts by what holds for each statement, with dozens of quotients where their union needs two, and may work on that
for many seconds; and it writes the tiles at the ends of each statement's fronts apart, in texts that numba compiles
for longer still.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import islpy as isl

from polyviz.model.plan import LOCAL, PIPELINE, POINTS, WAITING
from polyviz.transform.tree import is_band, kind_of, node_at, path_of, statements_under, walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from polyviz.model.plan import Plan
    from polyviz.transform.tree import Path


def group_copies(tree: isl.Schedule) -> isl.Schedule:
    """``tree`` with all that runs below a ``local`` mark as one instance of the loops around it.

    The instances of the group are the prefix schedule's values, which tell the copies apart (``mapping.storage``);
    an expansion node takes them back to the statements. isl scans them as it would a single statement.

    >>> tree = isl.Schedule('''{ domain: "{ S[i] : 0 <= i < 9; T[i] : i = 8 }", child: {
    ...     schedule: "[{ S[i] -> [i]; T[i] -> [i] }]", child: { mark: "local:s", child: {
    ...     sequence: [{ filter: "{ S[i] }" }, { filter: "{ T[i] }" }] } } } }''')
    >>> [kind_of(node) for node in walk(group_copies(tree))][:4]
    ['domain', 'band', 'expansion', 'mark']
    """
    # Inner marks first: a group above leaves what is below it at its place, one level deeper.
    for number, path in enumerate(sorted(_homes(tree), key=len, reverse=True)):
        tree = node_at(tree, path).group(isl.Id(f"~copy{number}")).get_schedule()
    return tree


def keeps_fronts_whole(plan: Plan) -> bool:
    """Whether a slow compiler reads the loops of ``plan``, so that tiles at ends of fronts get no texts of their own.

    Blocks in registers need these texts: they say which tiles hold pivots.
    """
    return plan.target == "numba" and not plan.register_tiles


def group_fronts(tree: isl.Schedule) -> isl.Schedule:
    """``tree`` with one loop for all fronts of the tiles that several statements share, and each tile as one instance.

    >>> tree = isl.Schedule('''{ domain: "{ S[i, j] : 0 <= i, j < 99; T[i, j] : 0 <= i, j < 99 }", child: {
    ...     schedule: "[{ S[i, j] -> [i // 8 + j // 8]; T[i, j] -> [i // 8 + (j + 1) // 8] }]", child: {
    ...     schedule: "[{ S[i, j] -> [j // 8]; T[i, j] -> [(j + 1) // 8] }]", child: { mark: "points:0", child: {
    ...     sequence: [{ filter: "{ S[i, j] }" }, { filter: "{ T[i, j] }" }] } } } } }''')
    >>> [kind_of(node) for node in walk(group_fronts(tree))][:5]
    ['domain', 'band', 'band', 'expansion', 'mark']
    """
    for number, path in enumerate(sorted(_tiles_in_fronts(tree), key=len, reverse=True)):
        tree = node_at(_whole_around(tree, path), path).group(isl.Id(f"~tile{number}")).get_schedule()
    return tree


def join_pipelines(tree: isl.Schedule) -> isl.Schedule:
    """``tree`` with one loop for all rows of tiles of a pipeline, and one for all tiles of a row."""
    for path in [path_of(node) for node in walk(tree) if _is_in_pipeline(node)]:
        tree = node_at(tree, path).band_member_set_ast_loop_type(0, isl.ast_loop_type.atomic).get_schedule()
    return tree


def _is_in_pipeline(node: isl.ScheduleNode) -> bool:
    if not is_band(node) or kind_of(node.parent()) != "mark":
        return False
    return node.parent().mark_get_id().get_name().partition(":")[0] in (PIPELINE, WAITING)


def _homes(tree: isl.Schedule) -> Iterator[Path]:
    """Where temporaries are declared that several statements use; the outermost of marks in a row."""
    return (
        path_of(node)
        for node in walk(tree)
        if _is_local(node) and not _is_local(node.parent()) and len(statements_under(node)) > 1
    )


def _tiles_in_fronts(tree: isl.Schedule) -> Iterator[Path]:
    for node in walk(tree):
        is_tile = kind_of(node) == "mark" and node.mark_get_id().get_name().partition(":")[0] == POINTS
        if is_tile and len(statements_under(node)) > 1 and _is_in_fronts(node):
            yield path_of(node)


def _is_in_fronts(tile: isl.ScheduleNode) -> bool:
    """Whether the outermost loop around the tile runs over fronts: one after the other, sums of tiles' numbers."""
    outermost = next((node for node in _from_the_root(tile) if is_band(node)), None)
    if outermost is None or kind_of(outermost.parent()) == "mark":
        return False
    rows = outermost.band_get_partial_schedule_union_map().get_map_list()
    pieces = [piece for place in range(rows.n_map()) for piece in rows.get_at(place).get_basic_maps()]
    return all(int(piece.dim(isl.dim_type.div)) > 1 for piece in pieces)


def _from_the_root(node: isl.ScheduleNode) -> Iterator[isl.ScheduleNode]:
    if node.has_parent():
        yield from _from_the_root(node.parent())
    yield node


def _whole_around(tree: isl.Schedule, tile: Path) -> isl.Schedule:
    """``tree`` whose loops around the tile at that path are written once each."""
    for length in range(len(tile)):
        node = node_at(tree, tile[:length])
        if is_band(node):
            for member in range(node.band_n_member()):
                node = node.band_member_set_ast_loop_type(member, isl.ast_loop_type.atomic)
            tree = node.get_schedule()
    return tree


def _is_local(node: isl.ScheduleNode) -> bool:
    return kind_of(node) == "mark" and node.mark_get_id().get_name().partition(":")[0] == LOCAL

"""Keeping together what isl would write in several loops: what one copy of a temporary is for, tiles that wait.

isl writes the loops of two statements apart where no iteration of the first comes after one of the second, even below
a mark. A variable declared inside such a loop would be written in one loop and read in the other, and a tile that was
taken out of the loop over all of them has no place that another could wait for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import islpy as isl

from polyviz.model.plan import LOCAL, PIPELINE, WAITING
from polyviz.transform.tree import is_band, kind_of, node_at, path_of, statements_under, walk

if TYPE_CHECKING:
    from collections.abc import Iterator

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


def _is_local(node: isl.ScheduleNode) -> bool:
    return kind_of(node) == "mark" and node.mark_get_id().get_name().partition(":")[0] == LOCAL

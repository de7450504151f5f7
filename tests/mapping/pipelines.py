"""What has to hold for rows of tiles that wait for each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import islpy as isl

from polyviz.model.plan import PIPELINE, WAITING
from polyviz.transform.tree import is_band, kind_of, walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from polyviz.model.dependences import Dependences
    from polyviz.model.plan import Plan


def assert_pipelines_wait_enough(dependences: Dependences, plan: Plan) -> None:
    """Waiting for the same place of the row before is enough only if nothing a tile needs lies later in either."""
    for rows, places in _pipelines(plan):
        around = isl.UnionMap.from_multi_union_pw_aff(rows.get_prefix_schedule_multi_union_pw_aff())
        tiles = isl.UnionMap.from_multi_union_pw_aff(
            rows.band_get_partial_schedule().flat_range_product(places.band_get_partial_schedule())
        )
        for relation in dependences.validity_relations:
            pairs = isl.UnionMap.from_map(relation.relation)
            together = pairs.intersect(around.apply_range(around.reverse()))
            between = together.apply_domain(tiles).apply_range(tiles).deltas()
            for backwards in ("{ [row, place] : row < 0 }", "{ [row, place] : place < 0 }"):
                assert between.intersect(isl.UnionSet(backwards)).is_empty(), relation


def _pipelines(plan: Plan) -> Iterator[tuple[isl.ScheduleNode, isl.ScheduleNode]]:
    """The bands of rows and of places, each a band of one member under its mark."""
    for node in walk(plan.tree):
        if _mark_of(node) != PIPELINE:
            continue
        rows = node.child(0)
        waiting = next(inner for inner in _below(rows) if _mark_of(inner) == WAITING)
        places = waiting.child(0)
        assert is_band(rows) and rows.band_n_member() == 1
        assert is_band(places) and places.band_n_member() == 1
        yield rows, places


def _below(node: isl.ScheduleNode) -> Iterator[isl.ScheduleNode]:
    for position in range(node.n_children()):
        yield node.child(position)
        yield from _below(node.child(position))


def _mark_of(node: isl.ScheduleNode) -> str:
    return str(node.mark_get_id().get_name()).partition(":")[0] if kind_of(node) == "mark" else ""

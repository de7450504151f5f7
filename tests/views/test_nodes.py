from __future__ import annotations

import islpy as isl

from polyviz.model.schedule import Band, BandMember
from polyviz.views.nodes import common_depth, loop_paths, read_tree, walk
from tests.builders import loop, scop, statement
from tests.views.samples import gemm, tiled


def test_kinds_in_depth_first_order():
    schedule = tiled()
    root = read_tree(schedule.tree, schedule.bands)
    assert [node.kind for node in walk(root)] == [
        "domain", "sequence", "filter", "band", "filter", "mark", "band", "band", "band",
    ]  # fmt: skip
    assert root.statements == ("S0", "S1")
    assert [node.text for node in walk(root) if node.kind == "mark"] == ["parallel"]


def test_bands_carry_what_the_schedule_records():
    schedule = tiled()
    bands = [node for node in walk(read_tree(schedule.tree, schedule.bands)) if node.kind == "band"]
    assert [member.role for member in bands[1].members] == ["tile", "tile"]
    assert [member.reduction_parallel for member in bands[1].members] == [False, True]
    assert bands[3].members[0].rows == {"S1": "j + 1"}


def test_without_records_isl_is_asked():
    bands = [node for node in walk(read_tree(tiled().tree)) if node.kind == "band"]
    assert [member.coincident for member in bands[0].members] == [True, True]
    assert bands[0].permutable
    assert bands[1].members[0].rows == {"S1": "floor(i/32)"}


def test_records_of_another_shape_are_not_trusted():
    wrong = Band((BandMember({"S0": "wrong"}, True, True),), True, ("S0",), 0)
    bands = [node for node in walk(read_tree(tiled().tree, (wrong,))) if node.kind == "band"]
    assert bands[0].members[0].rows == {"S0": "i"}


def test_a_filter_that_splits_a_statement_shows_its_condition():
    text = """{ domain: "[n] -> { S[i] : 0 <= i < n }", child: { sequence: [
        { filter: "[n] -> { S[i] : i < 5 }" }, { filter: "[n] -> { S[i] : i >= 5 }" } ] } }"""
    filters = read_tree(isl.Schedule(text)).children[0].children
    assert [node.text for node in filters] == ["S: i <= 4", "S: i >= 5"]


def test_common_loops():
    part, _ = gemm()
    paths = loop_paths(read_tree(part.schedule))
    assert common_depth(paths, "S0", "S1") == 1
    assert common_depth(paths, "S1", "S1") == 3
    assert common_depth(paths, "S0", "unknown") == 0
    apart = scop(
        "n",
        loop("i", "S0"),
        loop("i", "S1"),
        S0=statement("0 <= i < n", writes="a[i]"),
        S1=statement("0 <= i < n", writes="b[i]"),
    )
    assert common_depth(loop_paths(read_tree(apart.schedule)), "S0", "S1") == 0


def test_statements_are_sorted_by_number():
    names = {f"S{place}": statement("0 <= i < n", writes="a[i]") for place in range(12)}
    root = read_tree(scop("n", loop("i", *names), **names).schedule)
    assert root.statements == tuple(names)

"""Common loops are common nodes of the tree."""

from __future__ import annotations

from polyviz.analysis import common_loops, loop_nests
from tests.builders import loop, scop, statement


def test_common_loops_end_where_the_branches_part():
    part = scop(
        "n",
        loop("i", loop("j", "S0", loop("k", "S1")), loop("j", "S2")),
        loop("i", "S3"),
        S0=statement("0 <= i, j < n"),
        S1=statement("0 <= i, j, k < n"),
        S2=statement("0 <= i, j < n"),
        S3=statement("0 <= i < n"),
    )
    nests = loop_nests(part.schedule)
    assert [len(nests[name].loops) for name in ("S0", "S1", "S2", "S3")] == [2, 3, 2, 1]
    assert common_loops([nests["S0"], nests["S1"]]) == 2
    assert common_loops([nests["S1"], nests["S2"]]) == 1
    assert common_loops([nests["S0"], nests["S1"], nests["S2"]]) == 1
    assert common_loops([nests["S2"], nests["S3"]]) == 0
    assert common_loops([nests["S1"]]) == 3

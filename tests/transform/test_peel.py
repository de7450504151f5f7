from __future__ import annotations

import polyviz as pv

ADD = "def f(A, n):\n    for i in range(n):\n        for j in range(n):\n            A[i, j] = A[i, j] + 1.0"


def marked_loops(schedule) -> str:
    return str(schedule.tree).count('mark: "parallel"')


def test_both_parts_of_a_parallel_loop_stay_parallel():
    """A mark says how the loop below it runs, so each part of that loop needs one."""
    for loop in ("i", "j"):
        edit = pv.edit(ADD, schedule="original").apply("parallel", at=loop)
        for side in ("first", "last"):
            peeled = edit.apply("peel", at=loop, side=side).schedule
            assert marked_loops(peeled) == 2
            assert all(member.coincident for band in peeled.bands for member in band.members)


def test_a_mark_further_out_stays_where_it_is():
    edit = pv.edit(ADD, schedule="original").apply("parallel", at="i")
    assert marked_loops(edit.apply("peel", at="j").schedule) == 1

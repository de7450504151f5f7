"""Marks that promise independent iterations are proven for the tree they stand in."""

from __future__ import annotations

from polyviz.analysis import dependences
from polyviz.transform.proof import promises
from polyviz.transform.tree import insert_mark
from tests.scheduling import kernels


def test_promises_are_kept_or_not() -> None:
    part = kernels.matmul()
    known = dependences(part)
    tree = insert_mark(insert_mark(part.schedule, (0, 0, 0, 1, 0), "vector"), (0,), "parallel")
    kept, broken = promises(part, known, tree)
    assert (kept.mark, kept.is_kept, kept.path) == ("parallel", True, (0,))
    assert (broken.mark, broken.is_kept) == ("vector", False)
    assert "iteration k=0 writes C[0, 0]" in broken.reason


def test_a_mark_above_no_loop_promises_nothing() -> None:
    part = kernels.matmul()
    tree = insert_mark(part.schedule, (0, 0, 0), "parallel")
    (found,) = promises(part, dependences(part), tree)
    assert not found.is_kept
    assert found.reason == "no loop stands under the mark `parallel`"


def test_other_marks_promise_nothing() -> None:
    part = kernels.matmul()
    tree = insert_mark(insert_mark(part.schedule, (0,), "tile"), (0,), "unroll:4")
    assert promises(part, dependences(part), tree) == ()

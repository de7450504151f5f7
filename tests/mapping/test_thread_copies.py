"""Loops whose iterations meet only in arrays that each of them fills before it reads: which of these threads copy."""

from __future__ import annotations

import pytest

import polyviz as pv
from polyviz.mapping.thread_copies import find_thread_copies
from polyviz.transform.tree import bands
from tests.running import function_of

FILLED = """
def filled(A, B, x):
    t = np.empty((A.shape[1], A.shape[2]))
    for r in range(A.shape[0]):
        for i in range({first}, A.shape[1]):
            for j in range(A.shape[2]):
                t[i, j] = {value}
        for i in range({first}, A.shape[1]):
            for j in range(A.shape[2]):
                A[r, i, j] = {used}
    for i in range(A.shape[1]):
        for j in range(A.shape[2]):
            B[i, j] = {after}
"""


def copied(**parts: str) -> tuple[str, ...]:
    """What threads copy to share the loop over ``r`` in the order as written."""
    text = FILLED.format(**{"first": "0", "value": "2.0 * A[r, i, j]", "used": "t[i, j]", "after": "t[i, j]", **parts})
    scop = pv.extract(function_of(text))
    path, _ = next(iter(bands(scop.schedule)))
    return find_thread_copies(scop, pv.dependences(scop), scop.schedule, path)


def test_an_array_that_is_filled_anew_is_copied_and_may_be_read_behind_the_loop() -> None:
    assert copied() == ("t",)
    assert copied(after="0.0") == ("t",)
    assert copied(used="t[i, A.shape[2] - 1 - j]") == ("t",)


@pytest.mark.parametrize(
    "parts",
    [
        {"value": "2.0 * t[i, j]"},
        {"value": "x[r] + A[A.shape[0] - 1 - r, i, j]"},
        {"first": "r"},
    ],
    ids=["from the iteration before", "another array", "not from the last iteration"],
)
def test_what_else_ties_iterations_keeps_them_on_one_thread(parts: dict[str, str]) -> None:
    assert copied(**parts) == ()


def test_what_starts_with_values_or_is_seen_outside_is_not_copied() -> None:
    given = FILLED.format(first="0", value="2.0 * A[r, i, j]", used="t[i, j]", after="t[i, j]")
    for text in (
        given.replace("np.empty", "np.zeros"),
        given.replace("    t = np.empty((A.shape[1], A.shape[2]))\n", "").replace("(A, B, x)", "(A, B, t)"),
    ):
        scop = pv.extract(function_of(text))
        path, _ = next(iter(bands(scop.schedule)))
        assert find_thread_copies(scop, pv.dependences(scop), scop.schedule, path) == ()

"""Notes of what is only approximated are sentences of one line."""

from __future__ import annotations

from polyviz.frontend import extract

STEPS = """
def f(b, steps):
    n = len(b)
    x = np.zeros(n)
    for t in range(steps):
        new = np.zeros_like(x)
        for i in range(n):
            new[i] = b[i] - x[i] / 4
        if np.max(np.abs(x - new)) < 1e-10:
            return new
        x = new
    return x
"""


def test_loops_that_are_taken_apart_are_told_by_their_first_line() -> None:
    notes = extract(STEPS).notes
    assert any("`for t in range(steps): …`" in note for note in notes)
    assert not any("\n" in note for note in notes)

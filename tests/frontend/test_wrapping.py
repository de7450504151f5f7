"""A subscript that is negative in some iterations only is right Python, and most often a slip: a note says so."""

from __future__ import annotations

import pytest

import polyviz as pv


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("for i in range(n):\n    A[i] = A[i - 1] + A[i - 2]", ["at i = 0 a subscript of `A[i - 1]`", "`A[i - 2]`"]),
        ("for i in range(3, n):\n    for j in range(i):\n        A[i, j] = A[i, j - 1]", ["at i = 3, j = 0 a"]),
        ("for i in range(1, n):\n    A[i] = A[i - 1] + A[-1]", []),
        ("for i in range(n):\n    A[i] = B[-1 - i]", []),
        ("for i in range(n):\n    A[i] = A[i - 1] if i > 0 else A[0]", []),
    ],
)
def test_what_is_said(text: str, places: list[str]) -> None:
    notes = pv.extract(text).notes
    assert len(notes) == len(places)
    for note, place in zip(notes, places, strict=True):
        assert place in note
        assert "counts from the end of `A`, as in Python" in note


def test_each_element_is_named_once() -> None:
    [note] = pv.extract("for i in range(n):\n    A[i] = A[i - 1] * A[i - 1]").notes
    assert note.startswith("S0: at i = 0 ")

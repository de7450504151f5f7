"""Signatures of functions that are given as text."""

from __future__ import annotations

import inspect

import pytest

from polyviz.api.text_signature import signature_of_text


def test_the_same_as_of_the_function() -> None:
    text = "def f(A, /, b, c=-2, *, d, e='mean', g=None):\n    A[0] = b"
    names: dict[str, object] = {}
    exec(text, names)
    assert signature_of_text(text) == inspect.signature(names["f"])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text",
    ["for i in range(3): A[i] = 0", "def f(:", "def f(a=n): pass", "def f(*a): pass", "def f(): pass\ndef g(): pass"],
)
def test_what_has_none(text: str) -> None:
    assert signature_of_text(text) is None

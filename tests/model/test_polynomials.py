"""Polynomials: what they are worth, and that a quotient is one only where it never leaves a remainder."""

from __future__ import annotations

import itertools
from math import prod
from typing import TYPE_CHECKING

import pytest

from polyviz.model.polynomials import polynomial
from tests.codegen.expression_text import expression

if TYPE_CHECKING:
    from polyviz.model.expression import Expression

POLYNOMIALS = [
    "3",
    "-i",
    "i * (i + 1) // 2 + j",
    "n * i - i * (i + 1) // 2 + j - i - 1",
    "n * (n - 1) // 2 - (n - i) * (n - i - 1) // 2 + j - i - 1",
    "i * (i + 1) * (i + 2) // 6",
    "(4 * i + 6 * j) // 2",
    "(i * (i - 1) // 2 * 2 + 2 * j) // 2",
]
NONE = ["i // 2", "i * j // 2", "i * (i + 2) // 2", "i % 2", "(i + 1) // n", "1 // 0"]


def _read(text: str) -> Expression:
    return expression(text, ())


@pytest.mark.parametrize("text", POLYNOMIALS)
def test_a_polynomial_has_the_values_of_the_expression(text: str) -> None:
    found = polynomial(_read(text))
    assert found is not None
    for i, j, n in itertools.product(range(-3, 4), repeat=3):
        names = {"i": i, "j": j, "n": n}
        assert sum(part * prod(names[name] for name in one) for one, part in found.items()) == eval(text, {}, names)


@pytest.mark.parametrize("text", NONE)
def test_what_may_leave_a_remainder_is_none(text: str) -> None:
    assert polynomial(_read(text)) is None


def test_terms_that_cancel_are_gone() -> None:
    assert polynomial(_read("i * j - j * i")) == {}
    assert polynomial(_read("0 * i")) == {}

"""Polynomials: what they are worth, and that a quotient is one only where it never leaves a remainder."""

from __future__ import annotations

import ast
import itertools
from math import prod

import pytest

from polyviz.model.expression import Binary, Constant, Expression, Name, Unary
from polyviz.model.polynomials import polynomial

_OPERATORS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "//", ast.Mod: "%"}
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


def _expression(node: ast.expr) -> Expression:
    match node:
        case ast.Constant(value):
            return Constant(value)
        case ast.Name(name):
            return Name(name)
        case ast.UnaryOp(ast.USub(), operand):
            return Unary("-", _expression(operand))
        case ast.BinOp(left, operator, right):
            return Binary(_OPERATORS[type(operator)], _expression(left), _expression(right))
    raise AssertionError(node)


def _read(text: str) -> Expression:
    return _expression(ast.parse(text, mode="eval").body)


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

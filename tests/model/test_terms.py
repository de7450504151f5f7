"""Sums in their shortest form: what is taken out, and what stays as it was written."""

import ast

import pytest

from polyviz.model.expression import Assign, Binary, Call, Constant, Element, Expression, Unary
from polyviz.model.terms import factored, operations

_OPERATORS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}


def parsed(text: str) -> Expression:
    """``text`` as an expression whose names are cells."""
    return _expression(ast.parse(text, mode="eval").body)


def _expression(node: ast.expr) -> Expression:
    match node:
        case ast.Constant(int() | float() as value):
            return Constant(value)
        case ast.Name(name):
            return Element(name)
        case ast.UnaryOp(ast.USub(), operand):
            return Unary("-", _expression(operand))
        case ast.BinOp(left, operator, right):
            return Binary(_OPERATORS[type(operator)], _expression(left), _expression(right))
        case ast.Call(ast.Name(name), arguments):
            return Call(f"math.{name}", tuple(map(_expression, arguments)))
    raise TypeError(node)


def short(text: str) -> Expression:
    made = factored(Assign(Element("result"), parsed(text)))
    assert isinstance(made, Assign)
    return made.value


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (
            "0.125 * (a - 2.0 * x + b) + 0.125 * (c - 2.0 * x + d) + 0.125 * (e - 2.0 * x + f) + x",
            "0.125 * (a + b + c + d + e + f - 6.0 * x) + x",
        ),
        ("x + (a - 2.0 * y) * 0.5 - 0.5 * (b + 2.0 * y)", "x + 0.5 * (a - b - 4.0 * y)"),
        ("2 * a + 3 * a - 4 * a", "5 * a - 4 * a"),
        ("-0.5 * (a - 2.0 * b) - 0.5 * (c - 2.0 * b)", "0.5 * (4.0 * b - a - c)"),
        ("sqrt(2.0 * a + 3.0 * a) / 3.0", "sqrt(5.0 * a) / 3.0"),
    ],
)
def test_common_factors_are_taken_out(written: str, expected: str) -> None:
    found = short(written)
    assert found == parsed(expected)
    assert operations(found) < operations(parsed(written))


@pytest.mark.parametrize(
    "written",
    [
        "1e308 * a + 1e308 * a",
        "9007199254740991 * a + 1 * a",
        "0.2 * (a + b + c + d + e)",
        "0.5 * a + 0.5 * b",
        "x + x + 2.0 * x",
        "a * (b + c) + a * (d + e)",
        "(a + b) / 3.0 + (c + d) / 3.0",
        "1e999 * (a - 2.0 * b) + 1e999 * (c - 2.0 * b)",
        "5.0 * a - 4.0 * a",
        "a",
    ],
)
def test_other_sums_stay_as_they_were_written(written: str) -> None:
    assert short(written) == parsed(written)

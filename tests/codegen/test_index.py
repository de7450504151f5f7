"""Subscripts are collected: the same value, in the shape a person would write."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyviz.codegen.index import simplify_subscripts
from polyviz.model.expression import Binary, Constant, Element, Expression, Name, Unary
from polyviz.runtime.evaluate import evaluate


def read(text: str) -> Expression:
    def convert(node: ast.expr) -> Expression:
        match node:
            case ast.Constant(value):
                return Constant(value)
            case ast.Name(name):
                return Name(name)
            case ast.UnaryOp(ast.USub(), operand):
                return Unary("-", convert(operand))
            case ast.BinOp(left, operator, right):
                symbol = {"Add": "+", "Sub": "-", "Mult": "*", "FloorDiv": "//"}[type(operator).__name__]
                return Binary(symbol, convert(left), convert(right))
        raise AssertionError(node)

    return convert(ast.parse(text, mode="eval").body)


def simplified(subscript: Expression) -> Expression:
    element = simplify_subscripts(Element("A", (subscript,)))
    assert isinstance(element, Element)
    return element.subscripts[0]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("i + 1 - 1", "i"),
        ("(i - 2 * t) + 2 * t", "i"),
        ("-t + i", "i - t"),
        ("1 + i", "i + 1"),
        ("-(i - j)", "j - i"),
        ("3 * (i + 2) - i", "2 * i + 6"),
        ("i - i", "0"),
        ("-i", "-i"),
        ("i - 3 + 1", "i - 2"),
    ],
)
def test_affine_subscripts(before: str, after: str) -> None:
    assert simplified(read(before)) == read(after)


@pytest.mark.parametrize("text", ["i * j + 1 - 1", "i // 2 + 1 - 1"])
def test_others_stay_as_they_are(text: str) -> None:
    assert simplified(read(text)) == read(text)


def test_only_subscripts_change() -> None:
    value = Binary("-", Binary("+", Name("i"), Constant(1)), Constant(1))
    assert simplify_subscripts(value) == value


def test_subscripts_of_subscripts() -> None:
    inner = Element("J", (read("i + 1 - 1"),))
    assert simplified(inner) == Element("J", (Name("i"),))


def test_truth_values_are_no_numbers() -> None:
    text = Binary("+", Name("i"), Constant(True))
    assert simplified(text) == text


EXPRESSIONS = st.recursive(
    st.one_of(st.integers(-4, 4).map(Constant), st.sampled_from("ijk").map(Name)),
    lambda parts: st.one_of(
        st.builds(Binary, st.sampled_from(["+", "-"]), parts, parts),
        st.builds(lambda factor, part: Binary("*", Constant(factor), part), st.integers(-3, 3), parts),
        parts.map(lambda part: Unary("-", part)),
    ),
)


@given(EXPRESSIONS, st.tuples(*[st.integers(-50, 50)] * 3))
def test_the_value_stays_the_same(subscript: Expression, values: tuple[int, int, int]) -> None:
    names = dict(zip("ijk", values, strict=True))
    assert evaluate(simplified(subscript), names) == evaluate(subscript, names)

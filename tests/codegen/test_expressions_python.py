from __future__ import annotations

import ast
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyviz.codegen.expressions_python import PythonExpressionPrinter
from polyviz.codegen.functions import FUNCTIONS
from polyviz.errors import CodegenError
from polyviz.model.expression import Binary, Call, Constant, Element, Name, Unary
from tests.codegen.expression_text import body, expression
from tests.codegen.random_expressions import expressions

ARRAYS = {"A", "B", "s", "F"}


def element(node, printer):
    inner = ", ".join(printer.expression(subscript) for subscript in node.subscripts)
    return f"{node.array}[{inner}]" if inner else node.array


PRINTER = PythonExpressionPrinter({"i": "i0"}, element)

# Every pair of operators side by side, once with parentheses where they change the meaning and once without.
OPERATORS = ["+", "-", "*", "/", "//", "%", "**", "&", "|", "^", "<<", ">>", "<", "==", "and", "or"]
NESTED = [f"a {first} b {second} c" for first in OPERATORS for second in OPERATORS]
NESTED += [f"(a {first} b) {second} c" for first in OPERATORS for second in OPERATORS]
NESTED += [f"a {first} (b {second} c)" for first in OPERATORS for second in OPERATORS]
NESTED += [f"{sign}(a {symbol} b)" for sign in ("-", "~", "not ") for symbol in OPERATORS]
NESTED += [f"({sign}a) {symbol} {other}b" for sign in "-~" for other in "-~" for symbol in OPERATORS]
NESTED += [f"(not a) {symbol} b" for symbol in OPERATORS]
NESTED += [
    "a if b else c if d else e",
    "(a if b else c) if d else e",
    "a if (b if c else d) else e",
    "(a if b else c) + d",
]
NESTED += [
    "(a + b).real",
    "a.imag ** 2",
    "a.conjugate()",
    "min(a, b if c else d)",
    "np.float32(a)",
    "math.sqrt(a < b)",
]


@pytest.mark.parametrize("start", range(0, len(NESTED), 100))
def test_the_text_parses_back_to_the_same_expression_without_spare_parentheses(start):
    for text in NESTED[start : start + 100]:
        node = expression(text, {"a", "b", "c", "d", "e"})
        printed = PRINTER.expression(node)
        assert expression(printed, {"a", "b", "c", "d", "e"}) == node, (text, printed)
        assert printed.count("(") <= text.count("("), (text, printed)


@pytest.mark.slow
@settings(max_examples=200)
@given(node=expressions())
def test_random_expressions_parse_back(node):
    names = {"p", "b1", "k", "m", "i8", "v1", "u4", "u", "x4", "y4", "x", "y"}
    printed = PRINTER.expression(node)
    again = PRINTER.expression(expression(printed, names))
    assert again == printed
    assert ast.dump(ast.parse(printed)) == ast.dump(ast.parse(again))


VALUES = [0, 7, -3, 2**62, 0.1, 1e-320, 1e22, -2.5, -0.0, math.inf, -math.inf, True, False]
COMPLEX = [
    1j,
    -1j,
    2.5 - 1.5j,
    -1 + 0j,
    complex(1, -0.0),
    complex(-0.0, 1),
    complex(0, -2),
    complex(math.inf, -1),
]


@pytest.mark.parametrize("value", [*VALUES, *COMPLEX], ids=repr)
def test_literals_evaluate_to_the_same_bits(value):
    got = eval(PRINTER.expression(Constant(value)), {"np": np})
    assert type(got) is type(value)
    assert repr(got) == repr(value)


@given(value=st.floats(allow_nan=False))
def test_floats_round_trip(value):
    assert repr(eval(PRINTER.expression(Constant(value)), {"np": np})) == repr(value)


def test_a_negative_literal_is_bound_before_a_power():
    assert PRINTER.expression(Binary("**", Constant(-2), Name("n"))) == "(-2) ** n"
    assert PRINTER.expression(Binary("**", Constant(-1j), Constant(2))) == "complex(-0.0, -1.0) ** 2"
    assert PRINTER.expression(Unary("-", Binary("**", Element("A"), Constant(2)))) == "-A ** 2"


def test_functions_are_written_as_modules_np_and_math():
    for function in FUNCTIONS:
        arguments = (Element("A"), Element("B"))[: FUNCTIONS[function].arguments.start]
        assert expression(PRINTER.expression(Call(function, arguments)), ARRAYS) == Call(function, arguments)


def test_unknown_functions_and_wide_integers_are_refused():
    with pytest.raises(CodegenError, match=r"`math\.factorial` cannot be called"):
        PRINTER.expression(Call("math.factorial", (Name("n"),)))
    with pytest.raises(CodegenError, match="does not fit into 64 bits"):
        PRINTER.expression(Constant(2**64))


def test_typical_bodies_read_well(golden):
    text = """
A[i, j] += A[i, k] * A[k, j] / (n + 1)
s **= 2
if A[i] > s and not F[i]:
    s = A[i]
elif 0 <= i < n:
    s = max(s, 0.0)
else:
    B[i] = i
if F[i]:
    pass
for c in range(n):
    s += A[c]
for c in range(1, n):
    s += A[c] if F[c] else -1.5
for c in range(n, 0, -1):
    for d in range(c, n, 2):
        s -= A[c] ** -d
"""
    golden("\n".join(PRINTER.instructions(body(text, ARRAYS), 1)))

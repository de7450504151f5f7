from __future__ import annotations

import builtins
import itertools
import math
import operator as operators

import numba
import numpy as np
import pytest
from numba.core import types as numba_types
from numba.core.registry import cpu_target

from polyviz.codegen import dtypes
from polyviz.codegen.dtypes import TYPES, type_named
from polyviz.codegen.functions import FUNCTIONS, signature
from polyviz.codegen.typing import Environment, infer, infer_scalars
from polyviz.errors import CodegenError, Span
from polyviz.model.expression import Assign, Constant, Element
from tests.codegen.expression_text import body, expression

NUMBA = {name: getattr(numba_types, "boolean" if name == "bool" else name) for name in TYPES}
NAMES = {str(scalar): name for name, scalar in NUMBA.items()}
REAL = [name for name in TYPES if "complex" not in name]
INTEGRAL = [name for name in REAL if "float" not in name]

BINARY = {
    "+": operators.add, "-": operators.sub, "*": operators.mul, "/": operators.truediv, "//": operators.floordiv,
    "%": operators.mod, "**": operators.pow, "&": operators.and_, "|": operators.or_, "^": operators.xor,
    "<<": operators.lshift, ">>": operators.rshift,
}  # fmt: skip
COMPARE = {"<": operators.lt, "<=": operators.le, "==": operators.eq, "!=": operators.ne}
UNARY = {"-": operators.neg, "+": operators.pos, "~": operators.invert, "not": operators.not_}


def numba_signature(function, *names):
    """numba's (operand types, result type), or None where numba has no such operation."""
    cpu_target.typing_context.refresh()
    arguments = tuple(NUMBA[name] for name in names)
    try:
        found = cpu_target.typing_context.resolve_function_type(function, arguments, {})
    except (numba.errors.TypingError, NotImplementedError):
        return None
    return None if found is None else (tuple(map(str, found.args)), NAMES[str(found.return_type)])


def ours(rule, *names):
    try:
        return rule(*map(type_named, names)).result.name
    except CodegenError:
        return None


def result(found):
    return found and found[1]


@pytest.mark.parametrize("symbol", BINARY)
def test_every_pair_of_types_meets_in_a_binary_operator_as_in_numba(symbol):
    for left, right in itertools.product(TYPES, TYPES):
        expected = result(numba_signature(BINARY[symbol], left, right))
        assert ours(lambda a, b: dtypes.binary(symbol, a, b), left, right) == expected, (left, symbol, right)


@pytest.mark.parametrize("symbol", COMPARE)
def test_every_pair_of_types_is_compared_in_numbas_common_type(symbol):
    for left, right in itertools.product(TYPES, TYPES):
        expected = numba_signature(COMPARE[symbol], left, right)
        assert ours(lambda a, b: dtypes.compare(symbol, a, b), left, right) == result(expected), (left, right)
        if expected:
            computed = dtypes.compare(symbol, type_named(left), type_named(right)).operands
            assert tuple(map(str, computed)) == expected[0], (left, symbol, right)


@pytest.mark.parametrize("symbol", UNARY)
def test_unary_operators_are_typed_as_in_numba(symbol):
    for name in TYPES:
        expected = numba_signature(UNARY[symbol], name)
        assert ours(lambda a: dtypes.unary(symbol, a), name) == result(expected), (symbol, name)


def test_variables_unify_as_in_numba():
    for left, right in itertools.product(TYPES, TYPES):
        expected = cpu_target.typing_context.unify_types(NUMBA[left], NUMBA[right])
        assert dtypes.unify(type_named(left), type_named(right)).name == NAMES[str(expected)], (left, right)


def callable_of(function):
    module, _, name = function.rpartition(".")
    return getattr({"math": math, "numpy": np, "": builtins}[module], name, None)


RESOLVED = sorted(
    name
    for name in FUNCTIONS
    if name.startswith("math.")
    or isinstance(callable_of(name), np.ufunc)
    or name in ("abs", "min", "max", "bool", "round")
)


def with_arguments(count):
    return [name for name in RESOLVED if count in FUNCTIONS[name].arguments]


@pytest.mark.parametrize("function", with_arguments(1))
def test_functions_of_one_argument_are_typed_as_in_numba(function):
    for name in TYPES:
        expected = result(numba_signature(callable_of(function), name))
        assert ours(lambda a: signature(function, (a,)), name) == expected, name


@pytest.mark.thinned(12)
@pytest.mark.parametrize("function", with_arguments(2))
def test_functions_of_two_arguments_are_typed_as_in_numba(function):
    # numba would also take a fraction for the number of digits.
    seconds = INTEGRAL if function == "round" else TYPES
    for left, right in itertools.product(TYPES, seconds):
        expected = result(numba_signature(callable_of(function), left, right))
        assert ours(lambda a, b: signature(function, (a, b)), left, right) == expected, (left, right)


def compiled_type(text, **arguments):
    """The type numba gives to ``text`` when it compiles it."""
    scope = {"math": math, "np": np}
    exec(f"def function({', '.join(arguments)}):\n    return {text}", scope)
    compiled = numba.njit(tuple(NUMBA[name] for name in arguments.values()))(scope["function"])
    return NAMES[str(compiled.nopython_signatures[0].return_type)]


COMPILED = [
    ("a + 1", ["int32", "uint64", "float32"]),
    ("a * 0.5", ["float32"]),
    ("a * np.float32(0.5)", ["float32"]),
    ("a ** 2", ["int32", "float32", "complex64"]),
    ("a ** -1", ["int64", "float32"]),
    ("a and 1.5", ["bool", "float32"]),
    ("a or a < 2", ["int8", "bool"]),
    ("1 if a else a", ["bool", "uint64", "float32"]),
    ("0 < a <= 5", ["uint64"]),
    ("min(a, 1, 2.5)", ["int8", "uint64"]),
    ("int(a)", ["bool", "int16", "uint8", "float32", "float64"]),
    ("float(a)", ["int16", "float32", "float64"]),
    ("complex(a)", ["int16", "float32", "complex64"]),
    ("complex(a, 1)", ["float32"]),
    ("complex(a, a)", ["int64", "float32", "float64"]),
    ("a.real + a.imag", ["int32", "float32", "complex64"]),
    ("a.conjugate()", ["int32", "complex64"]),
    ("np.real(a)", ["complex64", "float32"]),
    ("np.round(a)", ["int32", "uint64", "float32", "float64"]),
    ("np.round(a, 2)", ["float32"]),
    ("np.int32(a)", ["float64", "int64"]),
    ("np.intp(a)", ["float64"]),
    ("np.bool_(a)", ["int8", "complex64"]),
    ("np.complex64(a)", ["float64", "complex128"]),
    ("abs(a)", ["bool", "complex64"]),
]


@pytest.mark.thinned(7)
@pytest.mark.parametrize(("text", "dtype"), [(text, dtype) for text, dtypes in COMPILED for dtype in dtypes])
def test_expressions_have_the_type_that_numba_compiles_them_to(text, dtype):
    node = expression(text, {"a"})
    assert infer(node, Environment({"a": dtype})).name == compiled_type(text, a=dtype)


@pytest.mark.parametrize(
    ("text", "dtype", "message"),
    [
        ("a < 1", "complex64", "The operator `<` has no meaning for `complex64` and `int64`."),
        ("a & 1", "float64", "The operator `&` has no meaning for `float64` and `int64`."),
        ("math.sqrt(a)", "complex128", "`math.sqrt` is not defined for `complex128`."),
        ("float(a)", "bool", "`float` is not defined for `bool`."),
        ("np.float32(a)", "complex64", "`numpy.float32` is not defined for `complex64`."),
        ("math.sqrt(a, a)", "float64", "`math.sqrt` takes 1 argument, not 2."),
        ("min(a)", "float64", "`min` takes 2 or more arguments, not 1."),
        (
            "math.sqr(a)",
            "float64",
            "The function `math.sqr` cannot be called in generated code.\n  Hint: Did you mean `math.sqrt`?",
        ),
        ("a + 18446744073709551616", "int64", "The integer 18446744073709551616 does not fit into 64 bits."),
        ("a + b", "int64", "The type of `b` is not known."),
        ("a + 1", "float16", "Arrays of dtype `float16` cannot be handled."),
    ],
)
def test_what_numba_cannot_type_is_refused_with_the_reason(text, dtype, message):
    with pytest.raises(CodegenError) as caught:
        infer(expression(text, {"a", "b"}), Environment({"a": dtype}))
    assert str(caught.value).startswith(message)


def scalars(text, **known):
    names = {"s", "t", "u", "x", *known}
    return infer_scalars([body(text, names)], known)


def test_a_sum_that_starts_as_a_whole_number_becomes_a_float():
    assert scalars("s = 0\nfor i in range(9):\n    s += A[i]", A="float64") == {"s": "float64"}


def test_single_precision_stays_single_until_a_double_joins():
    assert scalars("s = A[0]\nt = s * A[1]\nu = s * 0.5", A="float32") == {
        "s": "float32", "t": "float32", "u": "float64"
    }  # fmt: skip


def test_types_spread_against_the_order_of_the_text():
    assert scalars("if A[0]:\n    t = s\ns = 1.5\ns = t", A="bool") == {"s": "float64", "t": "float64"}


def test_known_scalars_keep_their_type():
    assert scalars("x = 1.5\ns = x", x="float32") == {"s": "float32"}


def test_a_scalar_assigned_only_from_itself_is_refused_where_it_stands():
    place = Span(3, 5, 3, 6)
    with pytest.raises(CodegenError, match="The type of `s` does not follow") as caught:
        infer_scalars(
            [[Assign(Element("s", span=place), Element("s")), Assign(Element("t"), Constant(1))]], {}
        )
    assert caught.value.span == place

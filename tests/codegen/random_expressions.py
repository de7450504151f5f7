"""Random expressions that have a type, over the names of ``differential.TYPES``."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from hypothesis import strategies as st

from polyviz.codegen.typing import Environment, infer
from polyviz.errors import CodegenError
from polyviz.model.expression import (
    Binary,
    Call,
    Compare,
    Conditional,
    Constant,
    Element,
    Expression,
    Logical,
    Unary,
)
from tests.codegen.differential import TYPES

if TYPE_CHECKING:
    from polyviz.codegen.dtypes import Type

NAMES = ["p", "b1", "k", "m", "i8", "v1", "u4", "u", "x4", "y4", "x", "y"]
LITERALS = [0, 1, 2, -3, 7, 0.5, -2.0, 3.0, 1e-3, True]
BINARY = ["+", "-", "*", "/", "//", "%", "&", "|", "^"]
FUNCTIONS = [
    "min",
    "max",
    "numpy.minimum",
    "numpy.maximum",
    "numpy.fmin",
    "numpy.add",
    "numpy.multiply",
    "math.copysign",
]
SINGLE = [
    "abs",
    "bool",
    "float",
    "numpy.float32",
    "numpy.float64",
    "numpy.int64",
    "math.sqrt",
    "numpy.sqrt",
    "math.isnan",
]


def typed(node: Expression) -> Type | None:
    try:
        return infer(node, Environment(TYPES))
    except CodegenError:
        return None


@st.composite
def expressions(draw: st.DrawFn, depth: int = 3) -> Expression:
    """Expressions that can be typed; whole numbers stay far from overflow, which numba leaves open."""
    for _ in range(4):
        node = _node(draw, depth)
        if typed(node) is not None and not isinstance(node, Constant):
            return node
    return Element(draw(st.sampled_from(NAMES)))


def _node(draw: st.DrawFn, depth: int) -> Expression:
    if depth == 0 or draw(st.integers(0, 5)) == 0:
        named = draw(st.integers(0, 3)) > 0
        return Element(draw(st.sampled_from(NAMES))) if named else Constant(draw(st.sampled_from(LITERALS)))
    shape = draw(
        st.sampled_from([_binary, _binary, _unary, _compare, _chain, _logical, _conditional, _pair, _single])
    )
    return shape(draw, lambda: draw(expressions(depth - 1)))


Part = Callable[[], Expression]


def _binary(draw: st.DrawFn, part: Part) -> Expression:
    return Binary(draw(st.sampled_from(BINARY)), part(), part())


def _unary(draw: st.DrawFn, part: Part) -> Expression:
    return Unary(draw(st.sampled_from(["-", "+", "~", "not"])), part())


def _compare(draw: st.DrawFn, part: Part) -> Expression:
    return Compare((draw(st.sampled_from(["<", "<=", ">", "==", "!="])),), (part(), part()))


def _chain(draw: st.DrawFn, part: Part) -> Expression:
    return Compare(("<", "<="), (part(), part(), part()))


def _logical(draw: st.DrawFn, part: Part) -> Expression:
    return Logical(draw(st.sampled_from(["and", "or"])), (part(), part()))


def _conditional(draw: st.DrawFn, part: Part) -> Expression:
    return Conditional(part(), part(), part())


def _pair(draw: st.DrawFn, part: Part) -> Expression:
    return Call(draw(st.sampled_from(FUNCTIONS)), (part(), part()))


def _single(draw: st.DrawFn, part: Part) -> Expression:
    return Call(draw(st.sampled_from(SINGLE)), (part(),))

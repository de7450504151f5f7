"""Unrolled loops run every iteration once, in order, whatever the bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyviz.codegen.loops import Block, For, If, Instance, descendants
from polyviz.codegen.unroll import unrolled
from polyviz.model.expression import Binary, Call, Compare, Constant, Expression, Name, Unary

if TYPE_CHECKING:
    from collections.abc import Mapping

    from polyviz.codegen.loops import LoopNode

N, M = Name("n"), Name("m")


def value(expression: Expression, names: Mapping[str, int]) -> int:
    match expression:
        case Constant(number):
            return int(number)
        case Name(name):
            return names[name]
        case Binary(operator, left, right):
            one, other = value(left, names), value(right, names)
            return {"+": one + other, "-": one - other, "*": one * other, "//": one // (other or 1)}[operator]
        case Unary("-", operand):
            return -value(operand, names)
        case Call(function, arguments):
            return {"min": min, "max": max}[function](value(argument, names) for argument in arguments)
        case Compare(("<",), (left, right)):
            return int(value(left, names) < value(right, names))
    raise AssertionError(expression)


def run(node: LoopNode, names: Mapping[str, int]) -> list[int]:
    """The arguments of the instances in the order in which they run."""
    match node:
        case Instance(_, (argument,)):
            return [value(argument, names)]
        case Block(children):
            return [one for child in children for one in run(child, names)]
        case If(condition, then, otherwise):
            taken = then if value(condition, names) else otherwise
            return [] if taken is None else run(taken, names)
        case For(iterator, start, stop, step, body):
            steps = range(value(start, names), value(stop, names), step)
            return [one for i in steps for one in run(body, {**names, iterator: i})]
    raise AssertionError(node)


def loop(start: Expression, stop: Expression, step: int, unroll: int) -> For:
    return For("i", start, stop, step, Instance("S", (Name("i"),)), unroll=unroll)


BOUNDS = st.sampled_from(
    [
        Constant(0),
        Constant(5),
        N,
        M,
        Binary("+", M, Constant(3)),
        Binary("+", M, Constant(4)),
        Binary("-", N, Constant(1)),
        Call("min", (N, Binary("+", M, Constant(4)))),
        Call("max", (Constant(0), M)),
        Binary("//", N, Constant(2)),
        Binary("*", N, M),
    ]
)


@given(BOUNDS, BOUNDS, st.integers(1, 3), st.integers(2, 5), st.integers(-3, 12), st.integers(-3, 12))
def test_the_same_iterations_in_the_same_order(
    start: Expression, stop: Expression, step: int, factor: int, n: int, m: int
) -> None:
    plain, names = loop(start, stop, step, 1), {"n": n, "m": m}
    assert run(unrolled(loop(start, stop, step, factor)), names) == run(plain, names)


def loops_in(node: LoopNode) -> int:
    return sum(isinstance(found, For) for found in descendants(node))


@pytest.mark.parametrize(
    ("start", "stop", "loops"),
    [
        (Constant(0), Constant(4), 0),
        (M, Binary("+", M, Constant(3)), 0),
        (Constant(0), Constant(8), 1),
        (Constant(0), Constant(9), 2),
        (Constant(0), N, 2),
        (
            Binary("*", Constant(4), M),
            Call("min", (N, Binary("+", Binary("*", Constant(4), M), Constant(4)))),
            1,
        ),
    ],
)
def test_no_loop_is_written_that_is_not_needed(start: Expression, stop: Expression, loops: int) -> None:
    assert loops_in(unrolled(loop(start, stop, 1, 4))) == loops


def test_only_the_bound_that_may_be_too_small_is_asked() -> None:
    strip = Binary("*", Constant(4), M)
    result = unrolled(loop(strip, Call("min", (N, Binary("+", strip, Constant(4)))), 1, 4))
    assert isinstance(result, If)
    assert result.condition == Compare(("<",), (Binary("+", strip, Constant(3)), N))


def test_loops_that_do_not_ask_stay() -> None:
    plain = loop(Constant(0), N, 1, 1)
    assert unrolled(plain) == plain

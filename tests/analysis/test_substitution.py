"""Temporaries of one use give way to their values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polyviz as pv
from polyviz.analysis import dependences, find_reductions, with_values_in_place
from polyviz.runtime.toolchain import find_toolchain
from tests.running import agree, function_of

DISTANCES = """
    def distances(X, Y, D):
        for i in range(X.shape[0]):
            for j in range(Y.shape[0]):
                s = 0.0
                for k in range(X.shape[1]):
                    t = X[i, k] - Y[j, k]
                    s += t * t
                D[i, j] = math.sqrt(s)
    """
CHAIN = DISTANCES.replace("s += t * t", "u = t * t\n                    s += u")
ONE_USE_OF_A_CALL = DISTANCES.replace("X[i, k] - Y[j, k]", "math.exp(X[i, k])").replace("t * t", "t")
SUBSTITUTED = {"a square": DISTANCES, "a chain": CHAIN, "a call": ONE_USE_OF_A_CALL}
STENCIL = """
    def heat(u, v, c, steps):
        for t in range(steps):
            for i in range(1, u.shape[0] - 1):
                for j in range(1, u.shape[1] - 1):
                    lap = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]
                    v[i, j] = u[i, j] + c * (lap - 4.0 * u[i, j])
            for i in range(1, u.shape[0] - 1):
                for j in range(1, u.shape[1] - 1):
                    u[i, j] = v[i, j]
    """
KEPT = {
    "a stencil that reads it twice": STENCIL.replace("c * (lap", "lap * (lap"),
    "a value that may fail": STENCIL.replace("lap = u[i - 1, j]", "lap = u[int(v[i, j]), j]"),
    "a loop of its own": STENCIL.replace(
        "v[i, j] = u[i, j] + c", "while v[i, j] < u[i, j]: v[i, j] += c"
    ),
    "two statements read it": DISTANCES.replace("s += t * t", "s += t * t\n                    D[i, j] += t"),
    "two definitions": DISTANCES.replace("s += t * t", "t = t * 2.0\n                    s += t"),
    "an operand is written between": DISTANCES.replace(
        "s += t * t", "X[i, k] = 0.0\n                    s += t * t"
    ),
    "a call that would be computed twice": DISTANCES.replace("X[i, k] - Y[j, k]", "math.exp(X[i, k])"),
    "it is used in other iterations": DISTANCES.replace(
        "s += t * t", "if k > 0:\n                        s += t * t"
    ),
    "its use is no sum": """
        def f(A, B):
            for i in range(A.shape[0]):
                t = A[i] + 1.0
                B[i] = t * t
        """,
    "two loops, nothing to tile": """
        def f(x, y):
            for i in range(x.shape[0]):
                s = 0.0
                for j in range(x.shape[0]):
                    t = x[j] - x[i]
                    s += t * t
                y[i] = s
        """,
    "a literal": DISTANCES.replace("X[i, k] - Y[j, k]", "2").replace("t * t", "X[i, k] ** t"),
}


def substituted(text: str) -> tuple[pv.Scop, pv.Scop]:
    part = pv.extract(function_of(text))
    return part, with_values_in_place(part, dependences(part))


@pytest.mark.parametrize("name", SUBSTITUTED)
def test_the_sum_is_one_statement(name: str) -> None:
    part, found = substituted(SUBSTITUTED[name])
    assert "t" not in {array.name for array in found.arrays}
    assert len(found.statements) == 3
    [reduction] = find_reductions(found)
    assert {"X", "s"} <= {access.array for access in found.statement(reduction.statement).accesses}
    assert found.notes[len(part.notes)].startswith(("`t` gives way", "`u` gives way"))


def test_a_stencil_of_two_steps_is_one_statement() -> None:
    part, found = substituted(STENCIL)
    assert [len(part.statements), len(found.statements)] == [3, 2]
    assert "one statement is left" in found.notes[-1]
    source = pv.compile(function_of(STENCIL), target="c").source
    assert "double lap" not in source
    assert "u_row0_plus1" in source


@pytest.mark.parametrize("name", KEPT)
def test_what_stays_as_it_is(name: str) -> None:
    part, found = substituted(KEPT[name])
    assert found is part


def given(dtype: str) -> list[Any]:
    random = np.random.default_rng(7)
    shapes = ((37, 21), (29, 21), (37, 29))
    return [(100 * random.random(shape)).astype(dtype) for shape in shapes]


@pytest.mark.thinned(5)
@pytest.mark.skipif(find_toolchain() is None, reason="no C compiler")
@pytest.mark.parametrize("dtype", ["float64", "float32", "int8", "uint8", "complex128"])
def test_values_in_c_are_those_of_the_program(dtype: str) -> None:
    text = DISTANCES.replace("math.sqrt(s)", "s")
    text = text.replace("s = 0.0", "s = X[i, 0] - X[i, 0]") if dtype == "complex128" else text
    target = "float64" if dtype.endswith("int8") else dtype
    first, second, _ = given(dtype)
    kernel = agree(text, first, second, np.zeros((37, 29), target), target="c", floating_point="strict")
    assert "t" not in {array.name for array in kernel.scop.arrays}


@pytest.mark.thinned(3)
@pytest.mark.skipif(find_toolchain() is None, reason="no C compiler")
@pytest.mark.parametrize("text", [DISTANCES, CHAIN, DISTANCES.replace("t * t", "t ** 2")])
def test_the_sums_stay_in_registers_bit_for_bit(text: str) -> None:
    function, arguments = function_of(text), given("float64")
    expected = [argument.copy() for argument in arguments]
    function(*expected)
    kernel = pv.compile(function, target="c", contract="strict")
    kernel(*arguments)
    assert np.array_equal(expected[2], arguments[2])
    assert "tiles of s stay in registers" in " ".join(found.text for found in kernel.plan.decisions)


@pytest.mark.parametrize("target", ["numba", "python"])
def test_values_elsewhere(target: str) -> None:
    agree(DISTANCES, *given("float64"), target=target, floating_point="strict")


def test_it_can_be_switched_off() -> None:
    kernel = pv.compile(function_of(DISTANCES), target="python", substitute=False)
    assert "t" in {array.name for array in kernel.scop.arrays}

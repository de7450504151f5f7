"""Sums under conditions keep the sign of their zeros under the strict contract, whatever the compiler likes to do."""

from __future__ import annotations

import numpy as np
import pytest

import polyviz as pv
from polyviz.codegen.conditional_sums import adds_under_conditions
from polyviz.codegen.typing import Environment
from polyviz.runtime.execute import BRANCHING_FLAGS, BRANCHING_NOTE, _extra_flags
from polyviz.runtime.toolchain import find_toolchain
from tests.running import function_of

HEAD = "def f(A, B, z):\n    for i in range(A.shape[0]):\n"
LOOP = "        for j in range(A.shape[1]):\n            "
ADDED = "if A[i, j] > 0: {} += A[i, j]\n"
FOUND = {
    "cell": LOOP + ADDED.format("z[i]"),
    "assigned": LOOP + "if A[i, j] > 0: z[i] = z[i] + A[i, j]\n",
    "choice": LOOP + "z[i] += A[i, j] if A[i, j] > 0 else -0.0\n",
    "variable": f"        s = -0.0\n{LOOP}{ADDED.format('s')}        z[i] = s\n",
    "beside": f"{LOOP}{ADDED.format('z[i]')}            else: B[i, j] = -0.0\n",
    "begun with data": f"        z[i] = B[i, 0]\n{LOOP}{ADDED.format('z[i]')}",
}
OTHERS = {
    "no condition": LOOP + "z[i] += A[i, j]\n",
    "each its own": LOOP + ADDED.format("B[i, j]"),
    "from zero": f"        s = 0.0\n{LOOP}{ADDED.format('s')}        z[i] = s\n",
    "largest": LOOP + "if A[i, j] > z[i]: z[i] = A[i, j]\n",
    "choice of two": LOOP + "z[i] += A[i, j] if A[i, j] > 0 else B[i, j]\n",
}
NEW = """
def f(A):
    z = np.{}
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            if A[i, j] > 0:
                z[i] += A[i, j]
    return z
"""
DOUBLE = Environment({"A": "float64", "B": "float64", "z": "float64", "s": "float64"})


@pytest.mark.parametrize("case", FOUND)
def test_sums_that_may_be_negative_zero_are_found(case: str) -> None:
    part = pv.extract(HEAD + FOUND[case])
    assert adds_under_conditions(part, DOUBLE)
    assert not adds_under_conditions(part, Environment(dict.fromkeys(DOUBLE.types, "int64")))


@pytest.mark.parametrize("case", OTHERS)
def test_what_loses_no_sign_is_none_of_them(case: str) -> None:
    assert not adds_under_conditions(pv.extract(HEAD + OTHERS[case]), DOUBLE)


@pytest.mark.parametrize(("made", "found"), [("full(A.shape[0], -0.0)", True), ("zeros(A.shape[0])", False)])
def test_a_new_array_begins_with_what_fills_it(made: str, found: bool) -> None:
    assert adds_under_conditions(pv.extract(NEW.format(made), namespace={"np": np}), DOUBLE) is found


@pytest.mark.parametrize("case", FOUND)
def test_a_sum_of_negative_zero_stays_one(case: str) -> None:
    kernel = pv.compile(function_of(HEAD + FOUND[case]), target="c", contract="strict")
    A, B, z = -np.ones((9, 67)), np.full((9, 67), -0.0), np.full(9, -0.0)
    kernel(A, B, z)
    assert np.all(np.signbit(z))
    assert np.all(z == 0)


@pytest.mark.parametrize(("contract", "kept"), [("strict", True), ("reassociate", False)])
def test_only_the_strict_contract_keeps_branches(contract: str, kept: bool) -> None:
    kernel = pv.compile(function_of(HEAD + FOUND["cell"]), target="c", contract=contract)
    kernel(-np.ones((3, 5)), np.ones((3, 5)), np.ones(3))
    program = kernel.program
    assert program.branching is kept
    toolchain = find_toolchain()
    assert toolchain is not None
    asked = set(BRANCHING_FLAGS) <= set(_extra_flags(program, toolchain))
    assert asked is (kept and not toolchain.is_clang)
    assert (BRANCHING_NOTE in " ".join(kernel.report().split())) is asked

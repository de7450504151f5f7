"""Programs for the types of a call: where they rule out all register tiles, another plan arranges the loops."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import polyviz as pv
from polyviz.runtime.toolchain import find_toolchain

if TYPE_CHECKING:
    from polyviz.runtime.kernel import Kernel

needs_compiler = pytest.mark.skipif(find_toolchain() is None, reason="no C compiler")


def distances(X, D):
    for i in range(X.shape[0]):
        for j in range(X.shape[0]):
            s = 0.0
            for k in range(X.shape[1]):
                d = X[i, k] - X[j, k]
                s += d * d
            D[i, j] = s


def given(dtype: str) -> tuple[Any, Any]:
    return np.arange(120).reshape(40, 3).astype(dtype), np.zeros((40, 40))


def decisions(kernel: Kernel) -> list[str]:
    return [decision.step for decision in kernel.plan.decisions]


@pytest.mark.parametrize("target", ["c", "numba"])
@needs_compiler
def test_loops_without_their_tiles_are_planned_anew(target: str) -> None:
    kernel = pv.compile(distances, target=target)
    for dtype, tiled in (("int64", False), ("float64", True), ("int64", False), ("float64", True)):
        X, D = given(dtype)
        expected = np.zeros((40, 40))
        kernel(X, D)
        distances(X, expected)
        np.testing.assert_allclose(D, expected)
        assert ("register-tile" in decisions(kernel)) == tiled
        assert ("int64 and float64 meet in one value" in kernel.report()) != tiled


def test_a_plan_without_tiles_is_what_one_without_the_technique_is() -> None:
    kernel, plain = pv.compile(distances, target="c"), pv.compile(distances, target="c", register_tile=False)
    types = kernel.bind(given("int64"), {}).types
    assert kernel.specialise(types).text == plain.specialise(types).text


def test_what_was_asked_for_still_holds() -> None:
    kernel = pv.compile(distances, target="c", accumulate=False, threads=3)
    program = kernel.specialise(kernel.bind(given("int64"), {}).types)
    assert program.threads == 3
    assert "s_lanes" not in program.text


def test_other_contracts_plan_anew_as_well() -> None:
    strict = pv.compile(distances, target="c").with_floating_point("strict")
    types = strict.bind(given("float32"), {}).types
    assert strict.specialise(types).untiled == ("S2",)
    assert "s_extent0" not in strict.specialise(types).text

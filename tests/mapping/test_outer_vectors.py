"""Bands around further loops: what follows memory goes innermost in them, and into vector lanes around short loops."""

from __future__ import annotations

import numpy as np
import pytest

import polyviz as pv
from polyviz.model.plan import VECTOR
from polyviz.runtime.toolchain import find_toolchain
from polyviz.transform.tree import bands
from tests.mapping.test_cpu import assert_sound, marked
from tests.running import function_of

WINDOW = """
def window(X, W, Y):
    for c in range(Y.shape[2]):
        for y in range(Y.shape[0]):
            for x in range(Y.shape[1]):
                s = 0.0
                for u in range(3):
                    for v in range({width}):
                        s += X[y + u, x + v, c] * W[u, v, c]
                Y[y, x, c] = s
"""


def planned(text: str) -> tuple[pv.Scop, pv.Dependences, pv.Plan]:
    kernel = pv.compile(function_of(text), target="c")
    return kernel.scop, pv.dependences(kernel.scop), kernel.plan


def test_lanes_go_through_a_short_window_together() -> None:
    scop, dependences, plan = planned(WINDOW.format(width="3"))
    assert_sound(scop, dependences, plan)
    (path,) = marked(plan, VECTOR)
    assert any("goes innermost" in decision.text for decision in plan.decisions)
    assert any(other != path and other[: len(path)] == path for other, _ in bands(plan.tree))


def test_a_window_of_any_length_is_left_to_its_own_loops() -> None:
    scop, dependences, plan = planned(WINDOW.format(width="W.shape[1]"))
    assert_sound(scop, dependences, plan)
    every = [path for path, _ in bands(plan.tree)]
    lanes = marked(plan, VECTOR)
    assert not any(other != path and other[: len(path)] == path for path in lanes for other in every)


@pytest.mark.skipif(find_toolchain() is None, reason="no C compiler")
def test_the_loops_inside_lanes_are_written_out_and_the_values_are_right() -> None:
    kernel = pv.compile(function_of(WINDOW.format(width="3")), target="c")
    random = np.random.default_rng(3)
    X, W, Y = random.random((11, 12, 5)), random.random((3, 3, 5)), np.zeros((9, 10, 5))
    kernel(X, W, Y)
    wanted = sum(X[u : u + 9, v : v + 10] * W[u, v] for u in range(3) for v in range(3))
    assert np.allclose(Y, wanted)
    text = kernel.program_for(kernel.bind([X, W, Y], {})).text
    lanes = text[text.index("#pragma omp simd") :]
    assert lanes.count("#pragma") == 3
    assert lanes.count("#pragma GCC unroll 3") == 2
    assert lanes.split("\n")[1].strip().startswith("for (int64_t c = 0;")


def test_lanes_are_said_and_can_be_switched_off() -> None:
    text = function_of(WINDOW.format(width="3"))
    without = pv.compile(text, target="c", outer_vectors=False).plan
    plans = (pv.compile(text, target="c").plan, without, pv.compile(text, target="numba").plan)
    found = [[one.text for one in plan.decisions if one.step == "outer_vectors"] for plan in plans]
    why = "neighbours lie side by side in memory, and the loops inside are too short for vectors of their own"
    assert found == [
        [f"a parallel loop runs in vector lanes around the loops inside it: {why}"],
        [],
        [
            "the loops inside a parallel loop are left to the compiler of numba: in c it runs in vector lanes around "
            f"them, since {why}"
        ],
    ]
    assert not marked(without, VECTOR)

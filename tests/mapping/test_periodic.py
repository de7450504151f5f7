"""Vector loops over periodic subscripts: which ones, what is said of them, and that they can be left as they are."""

from __future__ import annotations

import pytest

import polyviz as pv
from polyviz.model.program import ArrayType
from tests.periodic import ring
from tests.running import function_of

NEXT = "(j + 1) % m"
RING = """
def single(u, v, n):
    for i in range(n):
        v[i] = u[(i - 1) % n] + 2.0 * u[(i + 2) % n]
"""


def compiled(subscript: str, target: str = "c", **options: object) -> pv.Kernel:
    return pv.compile(function_of(ring(f"u[i, {subscript}]")), target=target, **options)


def said(kernel: pv.Kernel) -> list[str]:
    return [decision.text for decision in kernel.plan.decisions if decision.step == "periodic"]


def remainders(kernel: pv.Kernel) -> int:
    """In how many lines a remainder of the column is taken."""
    text = kernel.specialise({name: ArrayType("float64", 2) for name in "uv"}).text
    return sum("floor_mod_by_i64(j + 1, m)" in line.partition("//")[0] for line in text.splitlines())


def test_the_loop_in_parts_is_said() -> None:
    kernel = compiled(NEXT)
    assert len(kernel.plan.periodic) == 1
    assert said(kernel) == [
        "the loop runs in three parts: subscripts of u wrap around in the first and the last one only, and are "
        "plain in between"
    ]
    assert remainders(kernel) == 2


def test_it_can_be_switched_off() -> None:
    kernel = compiled(NEXT, periodic=False)
    assert not kernel.plan.periodic
    assert not said(kernel)
    assert remainders(kernel) == 1


def test_numba_gets_the_same_parts() -> None:
    kernel = compiled(NEXT, target="numba")
    assert said(kernel) == said(compiled(NEXT))
    assert kernel.source.count("% m)]") == remainders(compiled(NEXT)) == 2


@pytest.mark.parametrize("subscript", ["(i + 1) % m", "(2 * j) % m", "(m - j) % m", "j"])
def test_what_does_not_move_one_by_one_with_the_loop_stays(subscript: str) -> None:
    kernel = compiled(subscript)
    assert not kernel.plan.periodic
    assert not said(kernel)


def test_a_single_loop_that_threads_share_has_parts_too() -> None:
    kernel = pv.compile(function_of(RING), target="c")
    assert said(kernel) == [
        "the loop runs in three parts: subscripts of u wrap around in the first and the last one only, and are plain "
        "in between"
    ]
    lines = kernel.source.splitlines()
    shared = next(number for number, line in enumerate(lines) if "#pragma omp parallel for" in line)
    assert "floor_mod" not in lines[shared + 2].partition("//")[0]
    assert sum("#pragma omp parallel" in line for line in lines) == 2  # one without tests of subscripts, one with


def test_no_parts_where_there_are_loops_inside_the_one_that_threads_share() -> None:
    text = RING.replace("v[i] = ", "for k in range(3):\n            v[i] += ")
    kernel = pv.compile(function_of(text), target="c")
    assert "#pragma omp parallel for" in kernel.source
    assert not said(kernel)

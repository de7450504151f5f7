"""Nothing is left half-written: interpreted loops are rolled back, native ones finish first."""

from __future__ import annotations

import os
import signal
from functools import cache
from typing import TYPE_CHECKING

import islpy as isl
import numpy as np
import pytest

from polyviz.api import compile, extract
from polyviz.notebook.inplace import (
    FinishedError,
    _interrupts_later,
    _rolled_back,
    exchanged_names,
    final_iterators,
    run_in_place,
)
from tests.frontend.test_rewritten import TWICE

if TYPE_CHECKING:
    from polyviz.runtime.kernel import Kernel

LOOPS = "for i in range(n):\n    for j in range(i, n, 2):\n        A[i, j] = 0.0\n"


def test_an_interrupted_block_is_rolled_back() -> None:
    namespace = {"A": np.ones((3, 3)), "n": 3}
    scop = extract(LOOPS, namespace=namespace)
    array = namespace["A"]
    with pytest.raises(KeyboardInterrupt), _rolled_back(scop, namespace):
        array[0, 0] = 7.0
        raise KeyboardInterrupt
    assert namespace["A"] is array
    assert array.tolist() == np.ones((3, 3)).tolist()


def test_an_interrupt_in_native_code_counts_when_it_is_done() -> None:
    finished = False
    with pytest.raises(FinishedError), _interrupts_later():
        os.kill(os.getpid(), signal.SIGINT)
        finished = True
    assert finished
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("n", [0, 1, 4, 5])
def test_final_iterators_are_those_of_python(n: int) -> None:
    namespace = {"A": np.ones((5, 5)), "n": n}
    scop = extract(LOOPS, namespace=namespace)
    expected = dict(namespace)
    exec(LOOPS, expected)
    found = final_iterators(scop, {"n": n})
    assert found == {name: expected[name] for name in ("i", "j") if name in expected}


def test_an_expression_outside_of_its_domain_has_no_value() -> None:
    class Part:
        final_iterators = (("i", isl.PwAff("[n] -> { [(n - 1)] : n > 0 }")),)

    assert final_iterators(Part, {"n": 0}) == {}
    assert final_iterators(Part, {"n": 3}) == {"i": 2}


@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_exchanged_names_are_those_of_python(n: int) -> None:
    text = "for t in range(1, n):\n    w[0] = u[0] + v[0]\n    u, v, w = v, w, u\n"
    namespace = {name: np.full(2, place) for place, name in enumerate("uvw")} | {"n": n}
    found = exchanged_names(extract(text, namespace=namespace), {"n": n}, namespace)
    expected = dict(namespace)
    exec(text, expected)
    assert all(found[name] is expected[name] for name in "uvw")


@cache
def twice() -> Kernel:
    """For any numbers of steps: these are sizes."""
    arrays = {name: np.arange(4.0) for name in "ABC"}
    return compile(extract(TWICE, namespace=arrays | {"n": 2, "m": 3}), target="python")


@pytest.mark.thinned(5)
@pytest.mark.parametrize("n", [0, 1, 2])
@pytest.mark.parametrize("m", [0, 2, 3, 4])
def test_several_exchanges_are_those_of_python(n: int, m: int) -> None:
    namespace = {name: np.arange(4.0) + place for place, name in enumerate("ABC")} | {"n": n, "m": m}
    expected = {name: np.copy(value) if name in "ABC" else value for name, value in namespace.items()}
    exec(TWICE, expected)
    run_in_place(twice(), namespace)
    assert all(namespace[name].tolist() == expected[name].tolist() for name in "ABC")


@pytest.mark.parametrize("target", ["c", "numba", "python", "emulated"])
def test_arrays_made_between_loops_are_left_in_the_notebook(target: str) -> None:
    text = """
for i in range(n):
    A[i] = i + 0.5
made = np.ones(n, dtype=np.float32)
for i in range(n - 3):
    made[i] = A[i]
for t in range(2):
    kept = A.copy()
    for i in range(1, n):
        A[i] = kept[i - 1]
"""
    namespace = {"np": np, "A": np.ones(3), "n": 3, "made": None}
    expected = {**namespace, "A": np.ones(3)}
    exec(text, expected)
    run_in_place(compile(extract(text, namespace=namespace), target=target), namespace)
    for name in ("A", "made", "kept"):
        assert namespace[name].dtype == expected[name].dtype
        assert namespace[name].tolist() == expected[name].tolist()

"""Superposed plans at work: on processors, and emulated with blocks and threads in random order."""

from __future__ import annotations

import copy
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import polyviz as pv
from polyviz.analysis import dependences
from polyviz.frontend import extract
from polyviz.gallery import kernel, polybench
from polyviz.scheduling import schedule
from tests.running import agree
from tests.scheduling.superposed.emulator import run_shuffled

if TYPE_CHECKING:
    from collections.abc import Callable

    from polyviz.model.scop import Scop
    from polyviz.model.superposition import Superposition

KNOWN = [
    "jacobi-2d-alt",
    "doitgen-expanded",
    "gemm",
    "gemver",
    "mvt",
    "atax",
    "bicg",
    "gesummv",
    "syr2k",
    "symm",
]


def arguments_of(name: str) -> tuple[Any, ...]:
    """Small data of extents that no tile divides and no two of which are equal."""
    entry = kernel(name)
    extents = {
        size: min(9 + 3 * place, value) for place, (size, value) in enumerate(entry.sizes["mini"].items())
    }
    return entry.arguments(extents, seed=1)


@pytest.mark.thinned(3)
@pytest.mark.parametrize("name", KNOWN)
def test_plans_run_in_python(name: str) -> None:
    agree(
        kernel(name).function,
        *arguments_of(name),
        target="python",
        schedule="superposition",
        tile_sizes=(4, 4),
    )


@pytest.mark.slow
@pytest.mark.hardly_optimised
@pytest.mark.parametrize(
    ("name", "target"),
    [
        (name, target)
        for name in dict.fromkeys([entry.name for entry in polybench()] + KNOWN)
        for target in ("python", "c", "numba")
        # Python runs the text that numba takes seconds to compile.
        if target != "numba" or name in KNOWN
    ],
)
def test_every_kernel_runs(name: str, target: str) -> None:
    """Without reassociation by the compiler, which makes noise of the zeros of gramschmidt under any schedule."""
    agree(
        kernel(name).function,
        *arguments_of(name),
        target=target,
        schedule="superposition",
        tile_sizes=(4, 4),
        floating_point="strict",
    )


def test_blocks_are_a_parallel_loop_and_barriers_end_loops(golden: Callable[[str], None]) -> None:
    golden(pv.compile(kernel("jacobi-2d-alt").function, schedule="superposition", target="numba").source)


EXTENTS = {
    "jacobi-2d-alt": {"tsteps": 3, "n": 8},
    "jacobi-2d": {"tsteps": 2, "n": 8},
    "doitgen-expanded": {"nr": 3, "nq": 2, "ns": 4},
    "gemm": {"ni": 5, "nj": 6, "nk": 3},
    "fdtd-2d": {"tmax": 3, "nx": 5, "ny": 6},
    "trisolv": {"n": 6},
    "lu": {"n": 6},
    "cholesky": {"n": 6},
    "nussinov": {"n": 7},
    "seidel-2d": {"tsteps": 2, "n": 6},
    **{key: {"n": 6} for key in ("gemver", "mvt", "gesummv")},
    **{key: {"m": 5, "n": 6} for key in ("atax", "bicg")},
    "syr2k": {"m": 4, "n": 6},
}


@cache
def emulated(name: str) -> tuple[Scop, Superposition]:
    part = extract(kernel(name).function)
    found = schedule(part, "superposition", dependences=dependences(part), tile_sizes=(2, 2))
    return part, found.superposition


def outcomes(name: str, seed: int, without: Any = ()) -> tuple[list[Any], list[Any]]:
    """The arguments after the function, and after the plan with everything in random order."""
    part, value = emulated(name)
    given = kernel(name).arguments(EXTENTS[name], seed=3)
    expected, actual = copy.deepcopy(given), copy.deepcopy(given)
    kernel(name).function(*expected)
    named = dict(zip((one.name for one in part.arguments), actual, strict=True))
    run_shuffled(part, named, value, seed, without)
    return list(expected), list(actual)


def same(expected: list[Any], actual: list[Any]) -> bool:
    return all(
        np.allclose(one, other, rtol=1e-10)
        for one, other in zip(expected, actual, strict=True)
        if isinstance(one, np.ndarray)
    )


@pytest.mark.thinned(4)
@pytest.mark.parametrize("name", EXTENTS)
def test_any_order_of_blocks_and_threads_is_right(name: str) -> None:
    assert not dependences(emulated(name)[0]).privatizations
    for seed in range(3):
        assert same(*outcomes(name, seed)), seed


@pytest.mark.parametrize("name", ["jacobi-2d-alt", "doitgen-expanded", "atax", "gesummv"])
def test_no_barrier_can_be_left_out(name: str) -> None:
    kernels = emulated(name)[1].kernels
    needed = [barrier for found in kernels for barrier in found.needed_barriers]
    assert needed
    for barrier in needed:
        assert not all(same(*outcomes(name, seed, [barrier])) for seed in range(4)), barrier

"""The kernels of the suite, on which data they run, and what they have to compute."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from polyviz import gallery
from polyviz.api.building import build_kernel
from polyviz.api.compiling import compile
from polyviz.api.remembered import AtHand
from polyviz.benchmark.generation import analysed
from polyviz.benchmark.subject import SEED
from polyviz.codegen.calling import handed_back
from polyviz.runtime.agreement import compare_values
from polyviz.runtime.original import original_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from polyviz.runtime.kernel import Kernel

KERNELS = (
    *(
        "2mm",
        "3mm",
        "atax",
        "bicg",
        "covariance",
        "doitgen-expanded",
        "gemm",
        "gemver",
        "gesummv",
        "jacobi-2d",
    ),
    *("jacobi-2d-alt", "mvt", "symm", "syr2k", "mri-q", "sp-xsolve-1", "sp-xsolve-3"),
)
"""Shirako, Hayashi, Sarkar, *Optimized two-level parallelization for GPU accelerators using the polyhedral model*
(CC 2017), table 2; its doitgen has a buffer for each row, as doitgen-expanded has."""
SCHEDULES = "superposition,isl,spatial"


def fresh(kernel: str, size: str, dtype: str) -> tuple[Any, ...]:
    """Freshly initialised arguments."""
    return gallery.kernel(kernel).arguments(size, dtype, SEED)


def built(kernel: str, schedule: str, size: str, dtype: str, target: str) -> Kernel:
    """The kernel under one schedule; schedulers that choose by sizes are told those of the run."""
    scop, found = analysed(kernel)
    function = gallery.kernel(kernel).function
    bound = compile(function, schedule="original", target="python").bind(fresh(kernel, size, dtype), {})
    return build_kernel(scop, found, function, schedule=schedule, target=target, at_hand=AtHand.of(bound))


def outputs(arguments: tuple[Any, ...], result: Any) -> dict[str, Any]:
    """All arrays of a call and what it gave, by place."""
    found = {
        f"argument {place}": value for place, value in enumerate(arguments) if isinstance(value, np.ndarray)
    }
    results = result if isinstance(result, tuple) else () if result is None else (result,)
    return {**found, **{f"result {place}": value for place, value in enumerate(results)}}


@lru_cache(maxsize=1)
def expected(kernel: str, size: str, dtype: str) -> Mapping[str, Any]:
    """What the loops as written compute under numba."""
    scop, _ = analysed(kernel)
    arguments = fresh(kernel, size, dtype)
    result = original_of(scop, gallery.kernel(kernel).function).numba()(*arguments)
    return outputs(arguments, result if handed_back(scop) else None)


def disagreement(kernel: str, size: str, dtype: str, found: Mapping[str, Any]) -> str:
    """Where ``found`` is something else than the loops as written compute; empty where it is not."""
    return compare_values(expected(kernel, size, dtype), found).sentence

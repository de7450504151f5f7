"""The real device, where there is one; elsewhere the reason why not."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import polyviz as pv
from polyviz.gallery import kernels
from polyviz.runtime.cuda import cuda_availability

KERNELS = ["jacobi-2d-alt", "doitgen-expanded", "gemm", "gesummv", "atax", "jacobi-2d", "lu", "durbin"]


@pytest.mark.gpu
@pytest.mark.parametrize("schedule", ["superposition", "isl"])
@pytest.mark.parametrize("name", KERNELS)
def test_the_device_computes_what_the_loops_do(name, schedule):
    entry = next(entry for entry in kernels() if entry.name == name)
    arguments = entry.arguments("small")
    expected = copy.deepcopy(arguments)
    pv.compile(entry.function, schedule=schedule, target="cuda")(*arguments)
    pv.compile(entry.function, schedule="original", target="c")(*expected)
    for got, want in zip(arguments, expected, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-8)


def test_without_a_device_the_target_says_why():
    available, reason = cuda_availability()
    if available:
        pytest.skip("there is a device")
    assert pv.targets()["cuda"].available is False
    assert "CuPy" in reason
    with pytest.raises(pv.PolyvizError, match="'cuda' cannot run here"):
        pv.compile(next(iter(kernels())).function, target="cuda")

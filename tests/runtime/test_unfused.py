"""The strict contract holds where gcc fuses products that are added and subtracted in turn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import polyviz as pv
from polyviz.runtime.cache import BuildCache
from polyviz.runtime.toolchain import compile_shared
from polyviz.runtime.unfused import NOTE, fuses_in_turn
from tests.running import function_of

if TYPE_CHECKING:
    from pathlib import Path

    from polyviz.runtime.toolchain import Toolchain

IN_TURN = """
void turn(long n, const double *restrict a, const double *restrict b, const double *restrict c, double *restrict o)
{
    #pragma omp simd
    for (long j = 0; j < n; j++) {
        o[2 * j] = a[2 * j] * b[2 * j] - c[2 * j];
        o[2 * j + 1] = a[2 * j + 1] * b[2 * j + 1] + c[2 * j + 1];
    }
}
"""
COMPLEX = """
def f(A, B, C):
    for i in range(len(A)):
        C[i] = C[i] + A[i] * B[i]
"""


def test_a_library_that_fuses_is_compiled_without_vectors(
    toolchain: Toolchain, cache_directory: Path, tmp_path: Path
) -> None:
    plain = tmp_path / "plain.so"
    compile_shared(toolchain, IN_TURN, plain, flags=("-ffp-contract=off",))
    if not fuses_in_turn(plain, toolchain):
        pytest.skip("this compiler does not fuse here")
    built = BuildCache().library(IN_TURN, toolchain, "strict")
    assert built.note == NOTE
    assert not fuses_in_turn(built.path, toolchain)
    assert BuildCache().library(IN_TURN, toolchain, "reassociate").note == ""


def test_strict_products_of_complex_numbers_are_those_of_python(toolchain: Toolchain) -> None:
    random = np.random.default_rng(4)
    A, B, C = (random.standard_normal(500) + 1j * random.standard_normal(500) for _ in range(3))
    expected = [complex(c) + complex(a) * complex(b) for a, b, c in zip(A, B, C, strict=True)]
    pv.compile(function_of(COMPLEX), target="c", floating_point="strict")(A, B, C)
    assert C.tolist() == expected


def test_what_cannot_be_read_may_fuse(toolchain: Toolchain, tmp_path: Path) -> None:
    assert fuses_in_turn(tmp_path / "none.so", toolchain) is not toolchain.is_clang

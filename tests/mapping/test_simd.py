"""Vector instructions switched off: every loop runs one iteration at a time, with the same result."""

from __future__ import annotations

import re
import shutil
import subprocess
from typing import TYPE_CHECKING

import numpy as np
import pytest

import polyviz as pv
from polyviz.runtime.cache import BuildCache
from polyviz.runtime.execute import _extra_flags
from polyviz.runtime.toolchain import Toolchain, find_toolchain
from tests.running import function_of

if TYPE_CHECKING:
    from pathlib import Path

PRODUCT = """
def product(C, A, B):
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            for k in range(A.shape[1]):
                C[i, j] += A[i, k] * B[k, j]
"""
STENCIL = """
def stencil(C, A, B):
    for t in range(9):
        for i in range(1, C.shape[0] - 1):
            for j in range(1, C.shape[1] - 1):
                C[i, j] = A[i - 1, j] + A[i + 1, j] + A[i, j - 1] + A[i, j + 1]
        for i in range(1, C.shape[0] - 1):
            for j in range(1, C.shape[1] - 1):
                A[i, j] = 0.2 * (C[i - 1, j] + C[i + 1, j] + C[i, j - 1] + C[i, j + 1])
"""
WRITTEN_OUT = """
def written_out(C, A, B):
    for i in range(C.shape[0]):
        C[i, 1:-1] = A[i, 2:] + B[i, :-2]
"""
PROGRAMS = {"product": PRODUCT, "stencil": STENCIL, "written_out": WRITTEN_OUT}
PACKED = re.compile(r"\b(v?(add|mul|div)p[sd]|vf?m(add|sub)\w*p[sd])\b")


def arrays() -> list[np.ndarray]:
    return list(np.random.default_rng(1).random((3, 37, 37)))


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_text_asks_for_no_vectors(name: str) -> None:
    usual, scalar = (pv.compile(function_of(PROGRAMS[name]), target="c", simd=on) for on in (True, False))
    assert re.search("omp simd|vector_size", usual.source)
    assert not re.search("omp simd|vector_size", scalar.source)
    assert "simd: no loop runs in vector lanes, as asked" in scalar.report()
    assert "simd:" not in usual.report()
    given, expected = arrays(), arrays()
    scalar(*given)
    pv.compile(function_of(PROGRAMS[name]), target="python")(*expected)
    for one, other in zip(given, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("objdump") is None, reason="nothing reads machine code here")
@pytest.mark.skipif(find_toolchain() is None, reason="no C compiler")
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_compiler_makes_none_either(name: str, cache_directory: Path) -> None:
    toolchain = find_toolchain()
    assert toolchain is not None
    usual, scalar = (_listing(PROGRAMS[name], toolchain, simd=on) for on in (True, False))
    assert PACKED.search(usual)
    assert not PACKED.search(scalar)


def _listing(text: str, toolchain: Toolchain, *, simd: bool) -> str:
    """The machine code of the program for ``text``."""
    program = pv.compile(function_of(text), target="c", simd=simd).program
    flags = ("-O3", *_extra_flags(program, toolchain))
    built = BuildCache().library(program.text, toolchain, program.compiled_as, extra_flags=flags)
    return subprocess.run(["objdump", "-d", str(built.path)], capture_output=True, text=True, check=True).stdout

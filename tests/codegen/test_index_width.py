"""Subscripts of 32 bits where sizes allow them, and 64 where they do not."""

from __future__ import annotations

import numpy as np
import pytest

import polyviz as pv
from polyviz.codegen.index_width import SIZE, IndexWidth
from polyviz.gallery import kernel as entry_of
from polyviz.model.device_program import IndexBound
from polyviz.model.expression import Binary, Call, Constant, Name


def shifted(x, y, start):
    for i in range(start, start + y.shape[0]):
        y[i - start] = x[i - start] * 2.0 + i


def test_what_is_printed_bounds_what_is_computed():
    width = IndexWidth({"n": SIZE})
    width.name("block", Binary("//", Binary("+", Name("n"), Constant(127)), Constant(128)))
    width.note(Binary("+", Binary("*", Constant(128), Name("block")), Name("n")))
    assert width.bound == IndexBound(2, 256)
    width.note(Call("numpy.sqrt", (Name("n"),)))
    assert width.bound is None


@pytest.mark.parametrize("start", [0, 2**31 - 5, 5 * 10**9, -(2**33)])
def test_sizes_decide_how_wide_subscripts_are(start):
    kernel = pv.compile(shifted, schedule="isl", target="emulated")
    x, found, wanted = np.arange(10.0), np.zeros(10), np.zeros(10)
    kernel(x, found, start)
    shifted(x, wanted, start)
    assert np.array_equal(found, wanted)


def test_arithmetic_of_the_user_keeps_its_64_bits():
    def squares(A):
        for i in range(A.shape[0]):
            for j in range(A.shape[1]):
                A[i, j] = i * j * 100000 * 70000

    kernel = pv.compile(squares, schedule="isl", target="emulated")
    found, wanted = np.zeros((30, 20)), np.zeros((30, 20))
    kernel(found)
    squares(wanted)
    assert np.array_equal(found, wanted)
    assert "A[i * A_shape_1 + j] = (int64_t)i * (int64_t)j" in kernel.source


@pytest.mark.slow
def test_usual_kernels_have_32_bits_up_to_a_billion():
    for name in ("gemm", "jacobi-2d", "doitgen-expanded"):
        kernel = pv.compile(entry_of(name).function, schedule="superposition", target="emulated")
        assert all(one.index is not None and one.index.fits(10**9) for one in kernel.program.device.kernels)

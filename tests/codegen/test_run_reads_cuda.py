"""Operands of register tiles: taken in pieces, multiplied when the sum is complete."""

from __future__ import annotations

import numpy as np
import pytest

import polyviz as pv
from polyviz.gallery import kernel as entry_of


def compiled(function, **options):
    return pv.compile(function, schedule="superposition", target="emulated", **options)


def test_a_step_takes_its_operands_in_pieces_of_sixteen_bytes():
    text = compiled(entry_of("gemm").function).source
    assert "take<2>(&A_near[2], &A_tile[buffer][k - tile][32 + 2 * thread_y]);" in text
    assert "C_own[element_y][element_x] += A_near[element_y] * B_near[element_x];" in text
    plain = compiled(entry_of("gemm").function, device={"vectors": False}).source
    assert "take<" not in plain.partition("// Kernel 0")[2]


def test_a_tile_at_the_border_is_read_without_bank_conflicts_too():
    """The cells beyond the border are 0, so that a piece may hold some of them."""
    kernel = compiled(entry_of("gemm").function)
    kernel(*entry_of("gemm").arguments("mini"))
    sites = {site.number: site for one in kernel.program.device.kernels for site in one.sites}
    reads = [
        one for one in kernel.emulation.counts if not one.write and sites[one.site].memory == "shared"
    ]
    assert sum(one.requests for one in reads) > 100
    assert sum(one.conflicts for one in reads) == 0


def test_a_tile_of_subscripts_is_read_inside_the_subscript():
    def picked(B, C, chosen, n):
        for i in range(n):
            for j in range(n):
                B[j] += C[chosen[i], j]

    kernel = pv.compile(picked, schedule="pluto", target="emulated")
    assert "C[(checked_index(chosen_tile[buffer][i - tile]," in kernel.source
    B, C, picks = np.zeros(70), np.arange(4900.0).reshape(70, 70), np.arange(70)[::-1] // 3
    kernel(B, C, picks, 70)
    np.testing.assert_array_equal(B, C[picks].sum(axis=0))


def test_a_factor_of_the_whole_sum_stands_outside_unless_bits_must_not_change():
    text = compiled(entry_of("gemm").function).source
    assert "+= alpha * C_own[element_y][element_x];" in text
    strict = compiled(entry_of("gemm").function, contract="strict").source
    assert "C_own[element_y][element_x] += alpha * A_near[element_y] * B_near[element_x];" in strict


def test_a_factor_stays_inside_where_the_sum_is_one_of_whole_numbers():
    def product(A, B, C):
        for i in range(C.shape[0]):
            for j in range(C.shape[1]):
                for k in range(A.shape[1]):
                    C[i, j] += 3 * A[i, k] * B[k, j]

    kernel = compiled(product)
    A, B = (np.arange(9).reshape(3, 3).astype("int8") for _ in range(2))
    found, wanted = np.zeros((3, 3), "int64"), np.zeros((3, 3), "int64")
    kernel(A, B, found)
    product(A.astype("int64"), B.astype("int64"), wanted)
    assert np.array_equal(found, wanted)
    assert "+= 3 * " not in kernel.source.partition("the result")[0].rpartition("C_own")[2]


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("size", [(128, 128, 16), (131, 67, 13)])
def test_full_and_partial_register_tiles_agree(dtype, size):
    rows, columns, depth = size
    rng = np.random.default_rng(2)
    A, B, C = (rng.random(shape).astype(dtype) for shape in ((rows, depth), (depth, columns), (rows, columns)))
    alpha, beta = np.dtype(dtype).type(1.5), np.dtype(dtype).type(0.5)
    wanted = beta * C + alpha * (A @ B)
    compiled(entry_of("gemm").function)(alpha, beta, C, A, B)
    assert np.allclose(C, wanted, rtol=1e-4 if dtype == "float32" else 1e-12)

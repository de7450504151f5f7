"""Where kernels meet limits: grids that are too large or empty, indices beyond 32 bits, types that no kernel knows."""

from __future__ import annotations

import re

import numpy as np
import pytest

import polyviz as pv
from polyviz.codegen.preamble_cuda import with_wide_indices
from polyviz.errors import ArgumentError
from polyviz.gallery import kernel as entry_of
from polyviz.gallery import kernels
from polyviz.runtime import device_host
from polyviz.runtime.cache import BuildCache
from polyviz.runtime.device_host import launch_calls, scalar_of
from polyviz.runtime.emulator import EmulatedRunner
from polyviz.runtime.native import NativeFunction, integer, pointer
from polyviz.runtime.toolchain import find_cxx_toolchain
from tests.shared import emulated_program

MOST = 2**31 - 1
SHIM = """\
#include <stdint.h>
#define __global__
#define __device__
#define __launch_bounds__(threads)
struct Place { unsigned x, y, z; };
static Place blockIdx, threadIdx, gridDim;
extern "C" int64_t stand_at(int64_t block_x, int64_t block_y, int64_t blocks_y, int64_t thread_x, int64_t thread_y)
{
    blockIdx = {(unsigned)block_x, (unsigned)block_y, 0}, gridDim = {1, (unsigned)blocks_y, 1};
    threadIdx = {(unsigned)thread_x, (unsigned)thread_y, 0};
    return 0;
}
"""


def product(schedule, rows=300):
    generator = np.random.default_rng(3)
    C, A, B = generator.random((rows, 70)), generator.random((rows, 20)), generator.random((20, 70))
    made = pv.compile(entry_of("gemm").function, schedule=schedule, target="emulated")
    return made, made.bind((1.5, 0.5, C, A, B), {}), 1.5 * A @ B + 0.5 * C


@pytest.mark.slow
@pytest.mark.thinned(3)
@pytest.mark.parametrize("schedule", ["superposition", "isl"])
@pytest.mark.parametrize("most", [1, 2])
def test_a_grid_with_too_many_rows_of_blocks_goes_round(schedule, most, monkeypatch):
    monkeypatch.setattr(device_host, "LARGEST_GRID", (MOST, most, most))
    made, bound, expected = product(schedule)
    program = made.program_for(bound)
    (call,) = launch_calls(program.device, bound.parameters)
    assert call.grid == (2, most, 1)
    EmulatedRunner(program)(bound.given, bound.parameters)
    np.testing.assert_allclose(bound.given["C"], expected)


@pytest.mark.slow
def test_phases_stay_apart_where_a_grid_goes_round(monkeypatch):
    monkeypatch.setattr(device_host, "LARGEST_GRID", (MOST, 2, 2))
    made = pv.compile(entry_of("doitgen-expanded").function, schedule="superposition", target="emulated")
    arguments = entry_of("doitgen-expanded").arguments({"nr": 13, "nq": 5, "ns": 9})
    expected = entry_of("doitgen-expanded").arguments({"nr": 13, "nq": 5, "ns": 9})
    made(*arguments)
    entry_of("doitgen-expanded").function(*expected)
    for got, want in zip(arguments, expected, strict=True):
        np.testing.assert_allclose(got, want)


def bump(A):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            A[i, j] = A[i, j] + 1


def test_more_blocks_than_any_device_takes_are_refused():
    made = pv.compile(bump, schedule="superposition", target="emulated", tile_sizes=(1, 1))
    device, sizes = made.program.device, {one.name: 2**31 for one in made.scop.parameters}
    with pytest.raises(
        ArgumentError, match=r"would need 2147483648 blocks along x; a device takes 2147483647"
    ):
        next(launch_calls(device, sizes))


def test_the_text_reaches_elements_beyond_two_to_the_31():
    """One thread of the plain text, on the processor, at the last of 2.1 billion cells; only its page is touched."""
    toolchain = find_cxx_toolchain()
    assert toolchain is not None
    made = pv.compile(bump, schedule="isl", target="emulated")
    A = np.zeros((65536, 32769), np.int8)
    bound = made.bind((A,), {})
    program = made.program_for(bound)
    library = str(BuildCache().library(SHIM + with_wide_indices(program.text), toolchain, "strict").path)
    (kernel,) = program.device.kernels
    (call,) = launch_calls(program.device, bound.parameters)
    assert (call.grid, kernel.block) == ((2049, 4096, 1), (16, 16, 1))
    place = (call.grid[0] - 1, call.grid[1] - 1, call.grid[1], (A.shape[1] - 1) % 16, 15)
    NativeFunction(library, "stand_at")(*map(integer, place))
    values = [
        pointer(A)
        if argument.kind == "array"
        else integer(int(scalar_of(argument, bound.given, bound.parameters)))
        for argument in kernel.arguments
    ]
    NativeFunction(library, kernel.name)(*values)
    assert A[-1, -1] == 1
    assert A[-1].sum() == 1


def test_steps_of_more_than_two_to_the_31_elements():
    def raised(A):
        for i in range(A.shape[0]):
            A[i] = A[i] + 1

    memory = np.zeros(2**31 + 1, np.int8)
    pv.compile(raised, schedule="isl", target="emulated")(memory[:: 2**30])
    assert [memory[place] for place in (0, 1, 2**30, 2**31)] == [1, 0, 1, 1]


def narrow_variables(text):
    """The variables of fewer than 64 bits: in kernels these count within a block only."""
    body = text.partition("// Kernel 0")[2]
    return set(re.findall(r"\b(?:int|unsigned|int32_t) (\w+)", body))


WITHIN_A_BLOCK = r"(worker|cell|column|place\d|spot|near_[xyz]|width|buffer|element_[xyz])_*"


@pytest.mark.thinned(3)
@pytest.mark.parametrize("schedule", ["superposition", "isl"])
@pytest.mark.parametrize("name", ["gemm", "jacobi-2d-alt", "gesummv", "spmv-guarded", "symm"])
def test_only_what_counts_within_a_block_has_fewer_than_64_bits(name, schedule):
    text = emulated_program(name, schedule).text
    assert all(re.fullmatch(WITHIN_A_BLOCK, variable) for variable in narrow_variables(text))


@pytest.mark.slow
@pytest.mark.parametrize("name", [entry.name for entry in kernels()])
def test_the_same_for_every_kernel(name):
    for schedule in ("superposition", "isl"):
        test_only_what_counts_within_a_block_has_fewer_than_64_bits(name, schedule)


@pytest.mark.parametrize("schedule", ["superposition", "isl"])
@pytest.mark.parametrize("extents", [(0, 5, 5), (5, 0, 5), (0, 0, 0)])
def test_empty_grids_launch_nothing(schedule, extents):
    rows, columns, depth = extents
    made = pv.compile(entry_of("gemm").function, schedule=schedule, target="emulated")
    C, A, B = np.ones((rows, columns)), np.ones((rows, depth)), np.ones((depth, columns))
    made(1.5, 0.5, C, A, B)
    assert made.emulation is not None
    assert made.emulation.launches == 0


@pytest.mark.parametrize("dtype", ["longdouble", "float16", "object", "datetime64[s]"])
def test_a_type_that_kernels_lack_is_a_sentence_and_nothing_changes(dtype):
    made = pv.compile(bump, schedule="isl", target="emulated")
    A = np.ones((3, 3)).astype(dtype)
    before = A.copy()
    with pytest.raises(
        ArgumentError, match=rf"A holds {re.escape(str(A.dtype))}, which generated code cannot"
    ):
        made(A)
    np.testing.assert_array_equal(A, before)

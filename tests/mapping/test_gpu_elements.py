"""Cells per thread: as many as registers hold, for the size that cells have."""

from __future__ import annotations

import pytest

import polyviz as pv
from polyviz.gallery import kernel as entry_of
from polyviz.mapping.gpu_elements import MOST_REGISTERS
from polyviz.model.program import ArrayType
from polyviz.runtime.nvrtc import compile_text, nvrtc_availability


def specialised(name, dtype):
    kernel = pv.compile(entry_of(name).function, schedule="superposition", target="emulated")
    types = {array.name: ArrayType(dtype, array.rank, "C") for array in kernel.scop.arrays}
    return kernel, kernel.specialise(types)


@pytest.mark.parametrize(("dtype", "elements"), [("float32", (8, 8)), ("float64", (8, 4))])
def test_shorter_cells_give_larger_register_tiles(dtype, elements):
    kernel, _ = specialised("gemm", dtype)
    (run,) = kernel.plan.device.kernels[0].runs
    assert tuple(size for _, size in run.elements) == elements
    assert run.registers <= MOST_REGISTERS


def test_more_operands_leave_registers_for_fewer_cells():
    kernel, _ = specialised("syr2k", "float64")
    (run,) = kernel.plan.device.kernels[0].runs
    assert run.elements == (("y", 4), ("x", 4))


def test_cells_of_the_user_are_those_of_the_user():
    function = entry_of("gemm").function
    kernel = pv.compile(function, schedule="superposition", target="emulated", device={"elements": (16, 8)})
    (run,) = kernel.plan.device.kernels[0].runs
    assert run.registers > MOST_REGISTERS
    assert "__launch_bounds__(256)" in kernel.source


@pytest.mark.slow
@pytest.mark.skipif(not nvrtc_availability()[0], reason="NVRTC is not installed")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_nothing_of_a_product_spills_and_two_blocks_share_a_multiprocessor(dtype):
    _, program = specialised("gemm", dtype)
    (kernel,) = compile_text(program.text, "sm_80").kernels
    assert kernel.spill_stores + kernel.spill_loads == 0
    assert kernel.occupancy("sm_80", 256) >= 0.25

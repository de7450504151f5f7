"""CUDA text compiled without a device: it is accepted, and its resources are reported."""

from __future__ import annotations

import pytest

import polyviz as pv
from polyviz.errors import ToolchainError
from polyviz.gallery import kernels
from polyviz.runtime.nvrtc import ARCHITECTURES, compile_text, nvrtc_availability, resources_in

available, reason = nvrtc_availability()
needs_nvrtc = pytest.mark.skipif(not available, reason=reason)


@needs_nvrtc
@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("name", ["jacobi-2d-alt", "doitgen-expanded", "gemm", "gesummv", "durbin"])
def test_kernels_compile_for_the_architectures_of_today(name, architecture):
    function = next(entry.function for entry in kernels() if entry.name == name)
    kernel = pv.compile(function, schedule="superposition", target="emulated")
    compiled = compile_text(kernel.source, architecture)
    assert compiled.binary.startswith(b"\x7fELF")
    assert [one.name for one in compiled.kernels] == [one.name for one in kernel.program.device.kernels]
    assert all(0 < one.registers <= 255 for one in compiled.kernels)


@needs_nvrtc
@pytest.mark.slow
@pytest.mark.parametrize("schedule", ["superposition", "isl"])
@pytest.mark.parametrize("name", [entry.name for entry in kernels()])
def test_every_kernel_compiles_under_both_mappings(name, schedule):
    function = next(entry.function for entry in kernels() if entry.name == name)
    kernel = pv.compile(function, schedule=schedule, target="emulated")
    for architecture in ARCHITECTURES:
        found = compile_text(kernel.source, architecture).kernels
        assert all(one.shared <= 48 * 1024 for one in found)


@needs_nvrtc
def test_a_register_tile_of_a_product_fits_into_registers():
    function = next(entry.function for entry in kernels() if entry.name == "gemm")
    (found,) = pv.compile(function, schedule="superposition", target="emulated").resources("sm_90")
    assert found.registers < 200
    assert found.spill_stores == found.spill_loads == 0
    assert found.shared == 24 * 1024


@needs_nvrtc
def test_an_error_in_the_text_is_told():
    with pytest.raises(ToolchainError, match="could not compile") as caught:
        compile_text('extern "C" __global__ void f() { nothing(); }')
    assert 'identifier "nothing" is undefined' in str(caught.value)


def test_the_messages_of_the_assembler_are_read_per_kernel():
    log = """
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'second' for 'sm_90'
ptxas         .     8 bytes stack frame, 4 bytes spill stores, 12 bytes spill loads
ptxas info    : Used 40 registers, used 1 barriers, 4096 bytes smem
ptxas info    : Compiling entry function 'first' for 'sm_90'
ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 8 registers, used 0 barriers
"""
    first, second = resources_in(log)
    assert (first.name, first.registers, first.shared) == ("first", 8, 0)
    assert (second.registers, second.shared, second.spill_stores, second.spill_loads) == (40, 4096, 4, 12)
    assert second.barriers == 1


def test_without_the_library_a_kernel_says_what_to_install(monkeypatch):
    monkeypatch.setattr(
        "polyviz.runtime.nvrtc._library", lambda: (None, "the library of NVRTC was not found")
    )
    assert nvrtc_availability() == (False, "the library of NVRTC was not found")
    function = next(entry.function for entry in kernels() if entry.name == "jacobi-2d-alt")
    kernel = pv.compile(function, schedule="superposition", target="emulated")
    with pytest.raises(ToolchainError, match="pip install nvidia-cuda-nvrtc"):
        kernel.resources()

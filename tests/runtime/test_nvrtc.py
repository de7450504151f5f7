"""CUDA text compiled without a device: it is accepted, and its resources are reported."""

from __future__ import annotations

import os
import platform
import sys
from importlib.util import find_spec

import pytest

import polyviz as pv
from polyviz.benchmark.gpu import subjects
from polyviz.errors import ToolchainError
from polyviz.gallery import kernels, polybench
from polyviz.model.occupancy import LIMITS
from polyviz.runtime.nvrtc import (
    ARCHITECTURES,
    architecture_of,
    compile_text,
    nvrtc_availability,
    resource_report,
    resources_in,
)
from tests.shared import emulated_program

available, reason = nvrtc_availability()
needs_nvrtc = pytest.mark.skipif(not available, reason=reason)


def gemm():
    return next(entry.function for entry in kernels() if entry.name == "gemm")


def check_report(name, schedule, architectures=ARCHITECTURES):
    """The text compiles for these architectures, and what the report says of each kernel fits a multiprocessor."""
    program = emulated_program(name, schedule)
    threads = {one.name: one.block[0] * one.block[1] * one.block[2] for one in program.device.kernels}
    for architecture in architectures:
        compiled = compile_text(program.text, architecture)
        assert compiled.binary.startswith(b"\x7fELF")
        assert {one.name for one in compiled.kernels} == set(threads)
        for one in compiled.kernels:
            assert 0 < one.registers * threads[one.name] <= LIMITS[architecture].registers, one
            assert one.shared <= 48 * 1024, one
            assert 0 < one.occupancy(architecture, threads[one.name]) <= 1, one


@pytest.mark.thinned(3)
@needs_nvrtc
@pytest.mark.parametrize("name", ["jacobi-2d-alt", "doitgen-expanded", "gemm", "gesummv", "durbin"])
def test_kernels_compile_for_the_architectures_of_today(name):
    check_report(name, "superposition")


@needs_nvrtc
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "schedule", "architecture"),
    [
        (entry.name, schedule, architecture)
        for place, entry in enumerate(kernels())
        for turn, (schedule, architecture) in enumerate([("superposition", "sm_90"), ("isl", "sm_80")])
        # The examples, many of them alike, under one of the two in turn.
        if entry in polybench() or place % 2 == turn
    ],
)
def test_every_kernel_compiles_under_both_mappings(name, schedule, architecture):
    check_report(name, schedule, (architecture,))


@needs_nvrtc
@pytest.mark.slow
@pytest.mark.parametrize("name", subjects.KERNELS)
def test_kernels_of_the_suite_compile_under_the_spatial_order(name):
    check_report(name, "spatial")


@needs_nvrtc
def test_launch_bounds_keep_the_registers_of_a_full_block_within_a_multiprocessor():
    text = pv.compile(gemm(), schedule="superposition", target="emulated", device={"elements": (1, 1)}).source
    (bounded,) = compile_text(text).kernels
    (free,) = compile_text(text.replace("__launch_bounds__(1024) ", "")).kernels
    assert bounded.registers * 1024 <= LIMITS["sm_90"].registers
    assert free.registers >= bounded.registers


@needs_nvrtc
def test_loops_inside_a_statement_are_not_unrolled_with_its_tile():
    function = next(entry.function for entry in kernels() if entry.name == "spmv-guarded")
    for schedule in ("superposition", "isl"):
        text = pv.compile(function, schedule=schedule, target="emulated").source
        assert len(compile_text(text).binary) < 20_000


def test_the_library_is_where_the_tests_run():
    """The extra ``test`` brings it, so that no machine of the tests leaves the compiler out."""
    if sys.platform != "linux" or platform.machine() != "x86_64" or find_spec("cupy_backends") is None:
        pytest.skip("the wheel is for Linux on x86-64")
    if find_spec("nvidia") is None:
        pytest.skip("this environment was made without the extra `test`")
    assert "LD_LIBRARY_PATH" not in os.environ or "nvidia" not in os.environ["LD_LIBRARY_PATH"]
    assert available, reason


@needs_nvrtc
def test_a_register_tile_of_a_product_fits_into_registers():
    (found,) = pv.compile(gemm(), schedule="superposition", target="emulated").resources("sm_90")
    assert found.registers < 200
    assert found.spill_stores == found.spill_loads == 0
    assert found.shared == 2 * 8 * (128 + 2 + 64) * 8  # two buffers of 8 steps, rows of A longer by two cells


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
    monkeypatch.setattr("polyviz.runtime.nvrtc.find_nvcc", lambda: None)
    assert nvrtc_availability() == (False, "the library of NVRTC was not found")
    function = next(entry.function for entry in kernels() if entry.name == "jacobi-2d-alt")
    kernel = pv.compile(function, schedule="superposition", target="emulated")
    with pytest.raises(ToolchainError, match="pip install nvidia-cuda-nvrtc"):
        kernel.resources()


NVCC = """#!/bin/sh
# Stands for NVIDIA's compiler: says what it was given, and refuses text that names an unknown function.
for last; do true; done
case "$*" in *"-cubin -arch=sm_80 -std=c++17 -Xptxas=-v -fmad=true"*) ;; *) echo "bad flags: $*" >&2; exit 1;; esac
if grep -q nothing "$6"; then echo 'kernels.cu(1): error: identifier "nothing" is undefined' >&2; exit 2; fi
printf binary > "$last"
echo "ptxas info    : Compiling entry function 'kernel_one' for 'sm_80'" >&2
echo "ptxas         .     0 bytes stack frame, 8 bytes spill stores, 0 bytes spill loads" >&2
echo "ptxas info    : Used 12 registers, used 1 barriers, 64 bytes smem" >&2
"""


@pytest.fixture
def only_nvcc(monkeypatch, tmp_path):
    """A machine without the library whose PATH has a compiler."""
    (tmp_path / "nvcc").write_text(NVCC)
    (tmp_path / "nvcc").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(
        "polyviz.runtime.nvrtc._library", lambda: (None, "the library of NVRTC was not found")
    )
    return str(tmp_path / "nvcc")


def test_the_compiler_on_the_path_takes_over_where_the_library_is_missing(only_nvcc):
    assert nvrtc_availability() == (True, f"nvcc ({only_nvcc})")
    compiled = compile_text('extern "C" __global__ void kernel_one() {}', "sm_80")
    assert compiled.binary == b"binary"
    (found,) = compiled.kernels
    assert (found.name, found.registers, found.shared, found.spill_stores) == ("kernel_one", 12, 64, 8)
    with pytest.raises(ToolchainError, match="nvcc could not compile") as caught:
        compile_text("nothing();", "sm_80")
    assert 'identifier "nothing" is undefined' in str(caught.value)


class Older:
    """A compiler that knows nothing newer than 9.0."""

    @staticmethod
    def getSupportedArchs():
        return (75, 80, 90)


def test_a_device_newer_than_the_compiler_gets_portable_code(monkeypatch):
    monkeypatch.setattr("polyviz.runtime.nvrtc._library", lambda: (Older, ""))
    assert [architecture_of(one) for one in ("80", "90", "86", "120")] == [
        "sm_80",
        "sm_90",
        "compute_80",
        "compute_90",
    ]
    monkeypatch.setattr("polyviz.runtime.nvrtc._library", lambda: (object(), ""))
    assert architecture_of("120") == "sm_120"


@needs_nvrtc
def test_portable_code_is_text_for_the_driver():
    compiled = compile_text('extern "C" __global__ void k(float *a) { a[0] *= 2.0f; }', "compute_90")
    assert b".target sm_90" in compiled.binary
    assert b".entry k(" in compiled.binary


@needs_nvrtc
def test_small_float32_numbers_are_not_flushed_to_zero():
    made = compile_text('extern "C" __global__ void k(float *a) { a[0] *= 2.0f; }', "compute_90")
    assert b"mul.f32" in made.binary or b"add.f32" in made.binary
    assert b".ftz" not in made.binary


@pytest.mark.slow
@needs_nvrtc
def test_the_report_has_a_row_per_kernel_and_architecture():
    made = pv.compile(gemm(), schedule="superposition", target="emulated")
    rows, compiler = resource_report(made.program)
    assert [(row.kernel, row.architecture) for row in rows] == [
        ("kernel_gemm_0", "sm_80"),
        ("kernel_gemm_0", "sm_90"),
    ]
    assert all(row.occupancy > 0 for row in rows)
    assert compiler.startswith("NVRTC")
    assert made.device_view(resources=True).resources == rows


def test_a_report_without_a_compiler_says_what_to_install(monkeypatch):
    monkeypatch.setattr(
        "polyviz.runtime.nvrtc._library", lambda: (None, "the library of NVRTC was not found")
    )
    monkeypatch.setattr("polyviz.runtime.nvrtc.find_nvcc", lambda: None)
    rows, why = resource_report(pv.compile(gemm(), schedule="superposition", target="emulated").program)
    assert rows == ()
    assert why == "the library of NVRTC was not found; run: pip install nvidia-cuda-nvrtc"

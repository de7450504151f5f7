"""Rows that C asks for ahead: which cells, how far, and that nothing else changes."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import polyviz as pv
from polyviz.codegen import runtime_c
from polyviz.codegen.runtime_c import HELPERS, helper_source
from polyviz.runtime.toolchain import compile_shared, find_toolchain
from tests.running import agree_at, function_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SWEEPS = """
def sweeps(u, v, p, q):
    n = u.shape[0]
    for i in range(1, n - 1):
        for j in range(1, n - 1):
            p[i, j] = 0.3 / (1.5 - 0.4 * p[i, j - 1])
            q[i, j] = (u[j, i - 1] + 0.2 * u[j, i] + u[j + 1, i + 1] + 0.4 * q[i, j - 1]) / (1.5 - 0.4 * p[i, j - 1])
        for j in range(n - 2, 0, -1):
            v[j, i] = p[i, j] * v[j + 1, i] + q[i, j]
"""
SLABS = """
def slabs(a, b, w):
    for i in range(a.shape[0]):
        for j in range(1, a.shape[1]):
            for k in range(a.shape[2]):
                w[k] += a[i, j, k] * b[j - 1, k]
"""
PRIVATE = """
def private(u, v, p, q):
    for i in range(1, u.shape[1] - 1):
        last = 0.0
        for j in range(1, u.shape[0] - 1, 2):
            last = u[j, i] / (last + 1.5)
            p[i, j] = last
"""


@pytest.fixture
def everything_is_far(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of small arrays are asked for, too."""
    far = HELPERS["rows_are_far", ""]
    text = far.text.replace("size >= 1024 && (size_t)rows * size > cache", "rows > 0 && size > 0 && cache > 0")
    assert text != far.text
    monkeypatch.setitem(runtime_c.HELPERS, ("rows_are_far", ""), type(far)(text))


def test_text(golden: Callable[..., None]) -> None:
    golden(pv.compile(function_of(SWEEPS), target="c").source, "sweeps")
    golden(pv.compile(function_of(SLABS), target="c").source, "slabs")


def asked(source: str) -> list[str]:
    lines = [line.strip() for line in source.splitlines() if "fetch_row(" in line and "static" not in line]
    return list(dict.fromkeys(lines))


@pytest.mark.usefixtures("one_processor")
def test_what_shares_a_cache_line_is_asked_for_once_and_more_lines_come_later() -> None:
    whole = next(line for line in asked(pv.compile(function_of(SWEEPS), target="c").source) if "(u," in line)
    assert whole == "fetch_row(u, sizeof(double) * ((size_t)(j + 33) * u_extent1 + i_tile + 8), 1);"
    slabs = asked(pv.compile(function_of(SLABS), target="c").source)
    assert [line.rpartition(",")[2] for line in slabs] == [" 8);", " 8);"]
    assert all("j + 4" in line or "j + 3" in line for line in slabs)


@pytest.mark.usefixtures("one_processor")
def test_half_as_many_lines_hold_a_strip_of_single_numbers() -> None:
    function = function_of(SLABS)
    kernel = pv.compile(function, target="c")
    arrays = [np.ones((3, 4, 70), np.float32), np.ones((4, 70), np.float32), np.zeros(70, np.float32)]
    kernel(*arrays)
    assert [line.rpartition(",")[2] for line in asked(kernel.source)] == [" 4);", " 4);"]


@pytest.mark.usefixtures("one_processor")
def test_rows_that_do_not_follow_each_other_in_memory_are_left_alone() -> None:
    kernel = pv.compile(function_of(SLABS), target="c")
    transposed = np.ones((70, 4, 3)).transpose(2, 1, 0)
    kernel(transposed, np.ones((4, 70)), np.zeros(70))
    assert [line.startswith("fetch_row(b,") for line in asked(kernel.source)] == [True]


@pytest.mark.usefixtures("everything_is_far")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("contract", ["strict", "reassociate"])
@pytest.mark.parametrize("text", [SWEEPS, PRIVATE])
def test_results(text: str, contract: str, dtype: type) -> None:
    generator = np.random.default_rng(3)
    for side in (0, 1, 2, 3, 9, 23, 70):
        arrays = [generator.random((side, side)).astype(dtype) for _ in range(4)]
        kernel = agree_at(text, *arrays, target="c", contract=contract, threads=2)
    assert "fetch_row(" in kernel.source


@pytest.mark.usefixtures("everything_is_far")
def test_results_of_slabs() -> None:
    generator = np.random.default_rng(3)
    for sizes in ((0, 3, 5), (2, 1, 64), (3, 4, 0), (3, 4, 65), (1, 9, 200)):
        arrays = generator.random(sizes), generator.random(sizes[1:]), np.zeros(sizes[2])
        kernel = agree_at(SLABS, *arrays, target="c", threads=2)
    assert "fetch_row(" in kernel.source


def test_rows_are_far_in_large_arrays_of_long_rows_only(tmp_path: Path) -> None:
    source = helper_source(["rows_are_far"]).replace("static inline ", "")
    library = tmp_path / "far.so"
    compile_shared(find_toolchain(), f"#include <stdint.h>\n#include <stddef.h>\n{source}", library)
    far: Any = ctypes.CDLL(str(library)).rows_are_far
    far.argtypes = (ctypes.c_int64, ctypes.c_size_t, ctypes.c_size_t)
    cache = 512 * 1024
    assert far(1000, 8000, cache)
    assert not far(64, 8000, cache)
    assert not far(1_000_000, 512, cache)
    assert not far(0, 8000, cache)

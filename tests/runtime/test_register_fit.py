"""Register tiles that no registers hold give way to the next smaller ones, on a device of Python."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import polyviz as pv
from polyviz.api.targets import _cuda
from polyviz.gallery import kernel
from polyviz.mapping import with_smaller_tiles
from polyviz.runtime import device_code
from polyviz.runtime.nvrtc import CompiledText, KernelResources
from tests.runtime.fake_cupy import FakeGpu


@pytest.fixture
def compilations(monkeypatch, cache_directory):
    """Texts that a compiler was given which spills whatever holds one of ``too_large``, the first of the two values."""
    too_large, texts = [], []

    def compile_text(text, architecture, _floating_point):
        texts.append(text)
        spilled = 12 * any(words in text for words in too_large)
        (name,) = (one for one in ("kernel_matmul_0", "kernel_matmul_1") if one in text)
        needs = KernelResources(name, 128, 0, spilled // 3, 2 * spilled // 3, 1)
        return CompiledText(architecture, b"\x7fELF" + name.encode(), (needs,))

    monkeypatch.setitem(sys.modules, "cupy", FakeGpu({"kernel_matmul_0": None}).module())
    monkeypatch.setattr(device_code, "compile_text", compile_text)
    _cuda.cache_clear()
    yield too_large, texts
    _cuda.cache_clear()


def prepared(dtype="float64", **device):
    made = pv.compile(kernel("matmul").function, schedule="isl", target="cuda", device=device)
    made.prepare(made.bind(kernel("matmul").arguments("mini", dtype), {}))
    return made


def elements(made):
    return [run.elements for one in made.plan.device.kernels for run in one.runs]


def measured(made):
    return [one.text for one in made.plan.decisions if one.step == "registers"]


def test_a_tile_that_fits_stays_and_is_compiled_once(compilations):
    made = prepared()
    assert elements(made) == [(("y", 8), ("x", 4))]
    assert measured(made) == []
    assert len(compilations[1]) == 1


def test_a_tile_that_spills_becomes_the_next_smaller_one_and_says_so(compilations):
    compilations[0].append("8 x 4 cells per thread")
    made = prepared()
    assert elements(made) == [(("y", 4), ("x", 4))]
    assert measured(made) == [
        "8 x 4 cells per thread were too many: 128 registers do not hold them on sm_90, and 12 bytes would move to and "
        "from memory; the next smaller tile is used"
    ]
    assert measured(made)[0] in made.report()
    assert "4 x 4 cells per thread" in made.source


def test_where_every_tile_spills_a_thread_has_one_cell(compilations):
    compilations[0].append("cells per thread")
    made = prepared()
    assert all(size == 1 for run in elements(made) for _, size in run)
    assert [text.partition(" cells")[0] for text in measured(made)] == ["8 x 4", "4 x 4", "4 x 2", "2 x 2"]


def test_cells_that_the_user_has_chosen_stay(compilations):
    compilations[0].append("cells per thread")
    made = prepared(elements=(4, 4))
    assert elements(made) == [(("y", 4), ("x", 4))]
    assert measured(made) == []


def test_what_was_measured_of_long_cells_does_not_hold_for_short_ones(compilations):
    compilations[0].append("8 x 4 cells per thread")
    made = prepared()
    made.prepare(made.bind(kernel("matmul").arguments("mini", "float32"), {}))
    assert elements(made) == [(("y", 8), ("x", 8))]
    assert measured(made) == []


def test_smaller_tiles_compute_the_same():
    made = pv.compile(kernel("matmul").function, schedule="isl", target="emulated")
    made._programs.plan = with_smaller_tiles(made.scop, made.plan, {0: "for this test"})
    arguments = kernel("matmul").arguments({"n": 37})
    expected = [one.copy() if isinstance(one, np.ndarray) else one for one in arguments]
    made(*arguments)
    kernel("matmul").function(*expected)
    np.testing.assert_allclose(arguments[0], expected[0])
    assert elements(made) == [(("y", 4), ("x", 4))]

"""A comparison knows the roof of the machine once it was measured."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import polyviz as pv
from polyviz.api.rooflines import roofline_of
from polyviz.api.workbench import Workbench
from polyviz.model.roofline import Peaks
from polyviz.runtime.binding import Binder
from polyviz.runtime.machine import thread_count
from polyviz.runtime.peaks import keep_peaks, known_peaks
from tests.views.samples import comparison

ADD = "def add(A, B):\n    for i in range(A.shape[0]):\n        A[i] = A[i] + B[i]"


@pytest.fixture
def peaks(tmp_path, monkeypatch):
    monkeypatch.setenv("POLYVIZ_CACHE_DIR", str(tmp_path))
    return Peaks({"float64": 2e11, "float32": 4e11}, 2e10, 6e10, 1 << 20, thread_count().count)


def bound(dtype="float64"):
    part = pv.extract(ADD)
    return part, Binder(part, None).bind((np.zeros(80, dtype), np.ones(80, dtype)), {})


def test_a_measurement_is_remembered_for_this_machine(peaks):
    assert known_peaks() is None
    keep_peaks(peaks)
    assert known_peaks() == peaks
    keep_peaks(replace(peaks, threads=peaks.threads + 1))
    assert known_peaks() is None


def test_a_damaged_file_is_no_measurement(peaks, tmp_path):
    keep_peaks(peaks)
    (tmp_path / "peaks.json").write_text('{"machine": 3}')
    assert known_peaks() is None
    (tmp_path / "peaks.json").write_text("[")
    assert known_peaks() is None


def test_work_stands_below_the_roof(peaks):
    assert roofline_of(*bound()) is None
    keep_peaks(peaks)
    roof = roofline_of(*bound())
    assert (roof.work.operations, roof.work.traffic, roof.dtype) == (80, 3 * 640, "float64")
    assert roof.limit.bottleneck == "cache bandwidth"
    assert roofline_of(*bound("float32")).dtype == "float32"


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint8"])
def test_whole_numbers_have_no_roof(peaks, dtype):
    keep_peaks(peaks)
    assert roofline_of(*bound(dtype)) is None


def test_what_was_timed_gets_its_roof_later(peaks):
    bench = Workbench(pv.inspect(ADD, np.zeros(80), np.ones(80), schedules=("original",)))
    bench.add_roofline()
    assert bench.comparison is None
    bench.comparison = comparison()
    keep_peaks(peaks)
    bench.add_roofline()
    assert bench.comparison.roofline.work.operations == 80

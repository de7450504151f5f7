"""Variants on a device take turns: with processes that only tell their order, and with a device made of Python."""

from __future__ import annotations

import sys
from importlib import import_module

import pytest

from polyviz.api.targets import _cuda
from polyviz.benchmark.gpu import times
from polyviz.benchmark.gpu.command import run_gpu
from polyviz.benchmark.gpu.records import load
from polyviz.benchmark.gpu.rounds import Race
from polyviz.errors import DeviceError
from polyviz.runtime.nvrtc import nvrtc_availability
from tests.runtime.fake_cupy import FakeGpu


class Here:
    """As ``Workers``, in this process; ``jobs`` are those that were asked for."""

    def __init__(self, answers=None):
        self.jobs = []
        self.answers = answers

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    def run(self, worker, job, *arguments, time_limit, label):
        module, _, name = job.partition(":")
        self.jobs.append((name, worker))
        assert label == f"{arguments[1]} on {arguments[0]}"
        if self.answers is None:
            return getattr(import_module(module), name)(*arguments)
        return self.answers(name, worker, len(self.jobs))


def race(answers, repeats=3):
    workers = Here(answers)
    rows = Race(workers, "gemm", "mini", "float32", repeats).rows(["a", "b", "c"])
    return rows, workers.jobs


def test_every_round_has_a_sample_of_everybody_and_starts_with_another_one():
    rows, jobs = race(lambda job, _variant, number: (number / 1000, number / 100) if job == "sample" else "")
    assert [variant for job, variant in jobs if job == "sample"] == [*"abc", *"bca", *"cab"]
    assert [job for job, _ in jobs if job != "sample"] == ["prepare"] * 3 + ["verify"] * 3
    assert [row.verified for row in rows] == [True] * 3
    assert rows[0].alone == (0.004, 0.009, 0.011)
    assert rows[0].together == (0.04, 0.09, 0.11)


def test_who_is_wrong_at_first_takes_no_part():
    rows, jobs = race(lambda job, variant, _: (1.0, 2.0) if job == "sample" else "no" * (variant == "b"))
    assert [variant for job, variant in jobs if job == "sample"] == [*"ac", *"ca", *"ac"]
    assert [(row.verified, row.remark) for row in rows] == [(True, ""), (False, "no"), (True, "")]
    assert rows[1].alone == ()


def test_who_fails_in_a_round_drops_out_of_the_rest():
    def answers(job, variant, number):
        if job == "sample" and variant == "b" and number > 6:
            raise DeviceError("The device failed while kernels ran.")
        return (1.0, 2.0) if job == "sample" else ""

    rows, jobs = race(answers)
    assert [variant for job, variant in jobs if job == "sample"] == [*"abc", *"bca", *"ac"]
    assert not rows[1].verified
    assert rows[1].remark.startswith("The device failed while kernels ran.")
    assert ("verify", "b") not in jobs


def test_who_is_wrong_in_the_end_has_no_times():
    rows, _ = race(lambda job, variant, _: (1.0, 2.0) if job == "sample" else "A[0]" * (job == "verify"))
    assert {(row.verified, row.alone) for row in rows} == {(False, ())}
    assert rows[0].remark == "right in its first run, wrong in the last one: A[0]"


def add_one(arrays, _numbers):
    arrays[0][...] += 1


@pytest.fixture
def gpu(monkeypatch):
    """A device with one kernel; its clock counts steps."""
    available, reason = nvrtc_availability()
    if not available:
        pytest.skip(reason)
    fake = FakeGpu({"kernel_increment_0": add_one})
    monkeypatch.setitem(sys.modules, "cupy", fake.module())
    monkeypatch.setattr(times, "_runs", {})
    _cuda.cache_clear()
    yield fake
    _cuda.cache_clear()


def suite(output, monkeypatch, schedules, *, resume=False):
    workers = Here()
    monkeypatch.setattr("polyviz.benchmark.gpu.command.Workers", lambda: workers)
    monkeypatch.setattr("polyviz.benchmark.gpu.command.NUMBA", times.CUPY)
    options = {"size": "mini", "dtype": "float32", "repeats": 2, "resume": resume}
    code = run_gpu(("increment",), schedules, output, lambda _: None, **options)
    return code, load(output, "gpu-times"), workers.jobs


def test_the_suite_on_a_device_takes_turns_and_tells_its_times(gpu, tmp_path, monkeypatch):
    code, results, jobs = suite(tmp_path, monkeypatch, ("isl", "superposition"))
    assert code == 0
    assert results.where.startswith("Imaginary GPU")
    own = [row for row in results.rows if row.schedule != times.CUPY]
    # A launch is one step of this device's clock; A moves there and back beside it.
    assert [(row.verified, row.alone) for row in own] == [(True, (0.001, 0.001))] * 2
    assert all(together > alone for row in own for alone, together in zip(row.alone, row.together, strict=True))
    assert [variant for job, variant in jobs if job == "sample"] == [
        *("isl", "superposition"),
        *("superposition", "isl"),
    ]


def test_a_wrong_kernel_is_no_fast_one(gpu, tmp_path, monkeypatch):
    gpu.kernels["kernel_increment_0"] = lambda arrays, numbers: None
    code, results, jobs = suite(tmp_path, monkeypatch, ("isl",))
    assert code == 1
    assert "the original loop gives" in results.rows[0].remark
    assert all(job == "prepare" for job, _ in jobs)


def test_a_schedule_that_is_added_later_meets_the_others_again(gpu, tmp_path, monkeypatch):
    suite(tmp_path, monkeypatch, ("isl",))
    _, results, jobs = suite(tmp_path, monkeypatch, ("isl", "superposition"), resume=True)
    assert ("sample", "isl") in jobs
    assert [row.schedule for row in results.rows] == ["isl", "superposition", times.CUPY]
    assert suite(tmp_path, monkeypatch, ("isl", "superposition"), resume=True)[2] == []

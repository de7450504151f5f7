"""``polyviz bench --suite gpu`` without a device: counts and resources, verified, and never a time."""

from __future__ import annotations

import json
import sys

import pytest

from polyviz.api.targets import _cuda
from polyviz.benchmark.command import run
from polyviz.benchmark.gpu.command import run_gpu
from polyviz.benchmark.gpu.counts import Counted, Resources, count
from polyviz.benchmark.gpu.records import GpuResults, load
from polyviz.benchmark.gpu.subjects import KERNELS
from polyviz.benchmark.gpu.timed import Timed
from polyviz.benchmark.gpu.times import CUPY
from polyviz.benchmark.options import parse
from polyviz.errors import ToolchainError


@pytest.fixture
def no_device(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    _cuda.cache_clear()
    yield
    _cuda.cache_clear()


def results():
    rows = (
        Counted("gemm", "isl", True, 1, 1, 8, 100, 3200, 12800, 5, (Resources("sm_80", 40, 8192, 8, 0.5),)),
        Counted("gemm", "superposition", True, 1, 1, 8, 100, 400, 12800, 0),
        Counted("mvt", "isl", False, remark="x1[0] is 0.0, the original loop gives 1.0"),
    )
    return GpuResults("gpu-counts", "no device", "small", "float32", {"polyviz": "1"}, rows)


def test_the_suite_has_the_seventeen_kernels_of_its_source(no_device):
    options = parse(["--suite", "gpu"])
    assert options.kernels == KERNELS
    assert len(KERNELS) == 17
    assert options.schedules == ("superposition", "isl", "spatial")
    assert (options.size, options.dtype) == ("small", "float32")


def test_the_table_of_counts(golden):
    golden(results().markdown())


def test_the_table_of_times(golden):
    rows = (
        # The device slows down from round to round: medians of the two would make isl 1.5 times as slow.
        Timed("gemm", "superposition", True, (0.001, 0.002, 0.003), (0.01, 0.011, 0.012)),
        Timed("gemm", "isl", True, (0.002, 0.003, 0.0066), (0.01, 0.011, 0.012)),
        Timed("symm", "superposition", True, (0.001, 0.001, 0.001), (0.01, 0.011, 0.012)),
        Timed("symm", "isl", True, (0.007, 0.008, 0.009), (0.02, 0.021, 0.022)),
        Timed("symm", CUPY, False, remark="no call does this"),
    )
    golden(GpuResults("gpu-times", "Imaginary GPU", "large", "float32", {"polyviz": "1"}, rows).markdown())


@pytest.mark.slow
def test_counts_are_those_of_a_verified_run():
    superposed, single = (
        count("doitgen-expanded", schedule, "mini", "float32") for schedule in ("superposition", "isl")
    )
    assert superposed.verified
    assert single.verified
    assert superposed.per_request < single.per_request
    assert superposed.launches == 1


@pytest.mark.slow
def test_a_run_writes_both_files_and_goes_on(no_device, tmp_path, capsys):
    arguments = ["--suite", "gpu", "--size", "mini", "--kernels", "mvt", "--output", str(tmp_path)]
    assert run([*arguments, "--schedules", "isl"]) == 0
    assert "no times, counts of the emulator instead" in capsys.readouterr().err
    assert run([*arguments, "--schedules", "superposition,isl", "--resume"]) == 0
    assert "mvt, isl" not in capsys.readouterr().err
    data = json.loads((tmp_path / "gpu-counts.json").read_text())
    assert [(row["schedule"], row["verified"]) for row in data["rows"]] == [
        ("isl", True),
        ("superposition", True),
    ]
    assert "seconds" not in data["rows"][0]
    assert load(tmp_path, "gpu-counts").rows[0].verified
    assert "No times stand here" in (tmp_path / "gpu-counts.md").read_text()


def test_what_fails_is_a_row(no_device, tmp_path, monkeypatch):
    class Failing:
        def __enter__(self):
            return self

        def __exit__(self, *_):
            return None

        def run(self, *_, **__):
            raise ToolchainError("The emulator is missing.")

    monkeypatch.setattr("polyviz.benchmark.gpu.command.Workers", Failing)
    options = {"size": "mini", "dtype": "float32", "repeats": 2, "resume": False}
    assert run_gpu(("mvt",), ("isl",), tmp_path, lambda _: None, **options) == 1
    assert load(tmp_path, "gpu-counts").rows[0].remark == "The emulator is missing."

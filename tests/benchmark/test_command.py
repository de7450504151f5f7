from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from polyviz.benchmark import command, main
from polyviz.benchmark.command import run
from polyviz.benchmark.contest import Contest
from polyviz.benchmark.workers import fixed_threads
from polyviz.errors import OptionError
from tests.benchmark.fakes import FakePeer
from tests.benchmark.samples import FAST, SLOW

if TYPE_CHECKING:
    from pathlib import Path

    from polyviz.benchmark.records import KernelRecord
    from polyviz.benchmark.subject import Data

PEERS = (FakePeer("good"), FakePeer("gone", missing="it is not installed"))


class Recorder:
    """Stands for a contest: remembers which kernels were run, and is interrupted at one of them."""

    def __init__(self, interrupted_at: str = "") -> None:
        self.interrupted_at = interrupted_at
        self.kernels: list[str] = []

    def run(self, data: Data) -> KernelRecord:
        if data.kernel == self.interrupted_at:
            raise KeyboardInterrupt
        self.kernels.append(data.kernel)
        return {"gemm": FAST, "lu": SLOW}[data.kernel]


@pytest.fixture
def record(monkeypatch: pytest.MonkeyPatch):
    def install(interrupted_at: str = "") -> Recorder:
        recorder = Recorder(interrupted_at)
        monkeypatch.setattr(Contest, "run", lambda _, data: recorder.run(data))
        monkeypatch.setattr(command, "_peaks", lambda _: None)
        return recorder

    return install


def written(directory: Path) -> dict[str, Any]:
    return json.loads((directory / "polybench-large.json").read_text(encoding="utf-8"))


def test_an_interrupted_run_is_resumed_where_it_ended(tmp_path: Path, record) -> None:
    words = ["--kernels", "gemm,lu", "--output", str(tmp_path)]
    record("lu")
    with pytest.raises(KeyboardInterrupt):
        run(words, PEERS)
    assert [kernel["kernel"] for kernel in written(tmp_path)["kernels"]] == ["gemm"]
    recorder = record()
    run([*words, "--resume"], PEERS)
    assert recorder.kernels == ["lu"]
    assert [kernel["kernel"] for kernel in written(tmp_path)["kernels"]] == ["gemm", "lu"]


def test_a_finished_run_is_not_repeated(tmp_path: Path, record) -> None:
    words = ["--kernels", "gemm", "--output", str(tmp_path), "--resume"]
    record()
    run(words, PEERS)
    recorder = record()
    run(words, PEERS)
    assert recorder.kernels == []


def test_resuming_under_other_options_is_refused(tmp_path: Path, record) -> None:
    words = ["--kernels", "gemm", "--output", str(tmp_path)]
    record()
    run(words, PEERS)
    with pytest.raises(OptionError, match="schedules pluto,isl,original there, pluto now"):
        run([*words, "--resume", "--schedules", "pluto"], PEERS)


def test_a_file_that_is_there_is_replaced_and_that_is_said(
    tmp_path: Path, record, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--output", str(tmp_path)]
    record()
    run([*words, "--kernels", "gemm"], PEERS)
    record()
    run([*words, "--kernels", "lu"], PEERS)
    assert [kernel["kernel"] for kernel in written(tmp_path)["kernels"]] == ["lu"]
    assert "will be replaced" in capsys.readouterr().err


def test_the_status_tells_of_a_wrong_variant(tmp_path: Path, record) -> None:
    record()
    assert run(["--kernels", "gemm", "--output", str(tmp_path)], PEERS) == 0
    assert run(["--kernels", "lu", "--output", str(tmp_path)], PEERS) == 1


def test_absent_peers_are_recorded(tmp_path: Path, record) -> None:
    record()
    run(["--kernels", "gemm", "--output", str(tmp_path)], PEERS)
    assert written(tmp_path)["peers"][1] == {
        "name": "gone",
        "available": False,
        "reason": "it is not installed",
    }


def test_the_environment_is_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    monkeypatch.delenv("NUMBA_NUM_THREADS", raising=False)
    with fixed_threads() as threads:
        assert threads == 3
        assert os.environ["NUMBA_NUM_THREADS"] == "3"
    assert os.environ["OMP_NUM_THREADS"] == "3"
    assert "NUMBA_NUM_THREADS" not in os.environ


@pytest.mark.slow
def test_the_short_run_compares_with_whatever_is_installed(tmp_path: Path) -> None:
    assert main(["--short", "--kernels", "gemm", "--repeats", "2", "--output", str(tmp_path)]) == 0
    document = json.loads((tmp_path / "polybench-short.json").read_text(encoding="utf-8"))
    (gemm,) = document["kernels"]
    verified = {variant["label"] for variant in gemm["variants"] if variant["verified"]}
    assert {"numba", "NumPy/BLAS", "pluto/c", "pluto/numba"} <= verified
    assert gemm["best_peer"] is not None
    assert {variant["status"] for variant in gemm["variants"]} <= {"ok", "unavailable"}
    assert "| gemm |" in (tmp_path / "polybench-short.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("suite", ["polybench", "ablation", "schedulers", "gpu"])
def test_a_directory_that_cannot_be_written_is_said_before_anything_runs(
    tmp_path: Path, suite: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("run_survey", "run_gpu", "run_ablation", "_fresh"):
        monkeypatch.setattr(command, name, lambda *_, **__: pytest.fail("it has begun"))
    (tmp_path / "benchmarks").write_text("in the way")
    with pytest.raises(OptionError, match=r"benchmarks cannot be written: File exists\.$"):
        run(["--suite", suite, "--output", str(tmp_path / "benchmarks")], [])

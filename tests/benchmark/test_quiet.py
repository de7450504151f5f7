from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from polyviz.benchmark import quiet
from polyviz.benchmark.quiet import processor_seconds, wait_until_quiet
from polyviz.benchmark.workers import Workers

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def short_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quiet, "WINDOW", 0.001)


class Spinner:
    """A process that uses ``busy`` seconds between two looks for the first ``looks`` of them, and then none."""

    def __init__(self, looks: int, busy: float = 1.0) -> None:
        self.looks, self.busy, self.asked = looks, busy, 0

    def __call__(self, _process: int) -> float:
        self.asked += 1
        return self.busy * min(self.asked, self.looks)


def test_it_waits_until_a_process_stops_spinning() -> None:
    spinner = Spinner(looks=10)
    assert wait_until_quiet([1], spinner)
    assert spinner.asked == 10 + quiet.CALM_WINDOWS


def test_one_quiet_look_is_not_enough() -> None:
    times: Iterator[float] = iter([0.0, 1.0, 1.0, 2.0, 2.0, 2.0, 2.0])
    assert wait_until_quiet([1], lambda _: next(times))
    assert list(times) == [2.0]


def test_it_gives_up_on_a_process_that_never_sleeps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quiet, "LONGEST_WAIT", 0.01)
    assert not wait_until_quiet([1], Spinner(looks=10**9))


def test_a_process_that_is_gone_does_not_count() -> None:
    def gone(_process: int) -> float:
        raise OSError("no such process")

    assert wait_until_quiet([1], gone)


@pytest.mark.skipif(sys.platform != "linux", reason="these clocks are Linux's")
def test_the_processor_time_of_another_process_is_read() -> None:
    program = "import sys\nfor n in range(10**6): pass\nprint(flush=True)\nsys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        first = processor_seconds(process.pid)
        assert 0 < first <= processor_seconds(process.pid)
    with pytest.raises(OSError, match="Invalid argument"):
        processor_seconds(process.pid)


def test_a_race_watches_the_processes_it_started(monkeypatch: pytest.MonkeyPatch) -> None:
    watched: list[int] = []
    monkeypatch.setattr(
        "polyviz.benchmark.workers.wait_until_quiet", lambda numbers: watched.extend(numbers) or True
    )
    with Workers() as workers:
        number = workers.run("one", "os:getpid", time_limit=60.0, label="x")
        assert workers.settle()
    assert watched == [number]
    assert number != os.getpid()

"""The progress line: silent for quick jobs, rewritten at most ten times a second, finished at the end."""

from __future__ import annotations

import io
import re
import time
from contextlib import contextmanager
from types import SimpleNamespace
from typing import TYPE_CHECKING

import numpy as np
import pytest

import polyviz as pv
from polyviz.notebook import progress as module
from polyviz.notebook.progress import NotebookLine, Progress, TerminalLine, line_for
from polyviz.runtime import stages

if TYPE_CHECKING:
    from collections.abc import Iterator


class Recorder:
    def __init__(self) -> None:
        self.written: list[tuple[float, str]] = []
        self.finished: list[str] = []

    def write(self, text: str) -> None:
        self.written.append((time.monotonic(), text))

    def finish(self, text: str) -> None:
        self.finished.append(text)

    def wait_for(self, different: int) -> None:
        """Until so many different texts were written."""
        deadline = time.monotonic() + 60
        while len({text for _, text in self.written}) < different and time.monotonic() < deadline:
            time.sleep(0.01)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PATIENCE", 0.01)


def test_a_quick_job_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PATIENCE", 60.0)
    line = Recorder()
    with Progress(line) as progress:
        progress.report("verifying", 0, 3)
    assert line.written == []
    assert line.finished == []


def test_stage_count_and_elapsed_time_are_shown(impatient: None) -> None:
    line = Recorder()
    with Progress(line) as progress:
        progress.report("verifying pluto/c", 1, 3)
        line.wait_for(2)
    texts = [text for _, text in line.written]
    assert all(re.fullmatch(r"polyopt: verifying pluto/c \(2/3\), \d+\.\d s", text) for text in texts)
    assert len(set(texts)) > 1, "the clock stands still between reports"
    assert re.fullmatch(r"polyopt: done in \d+\.\d s", "".join(line.finished))


def test_reports_in_quick_succession_are_limited(impatient: None) -> None:
    line = Recorder()
    began = time.monotonic()
    with Progress(line) as progress:
        for number in range(200):
            progress.report("timing", number, 200)
            time.sleep(0.002)
    # On a busy machine one may come late, and the next in time.
    assert 1 <= len(line.written) <= 2 + (time.monotonic() - began) / 0.1


def test_an_interrupted_job_says_where_it_stopped(impatient: None) -> None:
    line = Recorder()
    with pytest.raises(KeyboardInterrupt), Progress(line) as progress:
        progress.report("timing", 0, 2)
        line.wait_for(1)
        raise KeyboardInterrupt
    assert re.match(r"polyopt: stopped at 'timing' after \d+\.\d", line.finished[0])


def test_a_terminal_line_is_overwritten_and_erased() -> None:
    stream = io.StringIO()
    line = TerminalLine(stream)
    line.write("a long text")
    line.write("short")
    line.finish("unused")
    assert stream.getvalue() == "\ra long text\rshort      \r     \r"


def test_nothing_is_shown_where_nobody_watches() -> None:
    assert line_for(object(), io.StringIO()) is None


def test_a_kernel_gets_an_updated_output() -> None:
    class Shell:
        kernel = object()

    assert isinstance(line_for(Shell()), NotebookLine)


def test_stages_inside_are_shown_while_they_last() -> None:
    with Progress(None) as progress:
        progress.report("running in place", 4, 5)
        with stages.told("compiling f with numba"):
            assert progress.text().startswith("polyopt: compiling f with numba, ")
        assert progress.text().startswith("polyopt: running in place (5/5), ")
    with stages.told("compiling g with numba"):
        assert progress.stage == "running in place"


def test_a_compilation_that_takes_long_gets_a_line_of_its_own(
    impatient: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = Recorder()
    monkeypatch.setattr(module, "line_for", lambda shell: line)
    module.watch(object())
    try:
        with stages.told("compiling f with numba"):
            line.wait_for(1)
    finally:
        module.watch_no_longer()
    assert re.match(r"compiling f with numba, \d+\.\d", line.written[0][1])
    assert re.match(r"compiling f with numba: done in \d+\.\d", line.finished[0])


def test_a_job_outside_the_magic_reports_to_the_line_of_the_notebook(
    impatient: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = Recorder()

    def told(beginning: str) -> bool:
        return any(text.startswith(beginning) for _, text, *_ in line.written)

    monkeypatch.setattr(module, "line_for", lambda shell: line)
    module.watch(object())
    try:
        with stages.reporting("pv.compare", None) as report:
            report("timing", 1, 3)
            deadline = time.monotonic() + 60
            while not told("pv.compare: timing (2/3), ") and time.monotonic() < deadline:
                time.sleep(0.01)
    finally:
        module.watch_no_longer()
    assert told("pv.compare: timing (2/3), ")


@pytest.mark.slow
@pytest.mark.thinned(2)
@pytest.mark.parametrize("job", ["compare", "tune"])
def test_comparing_and_tuning_tell_where_they_are(job: str) -> None:
    said: list[tuple[str, str]] = []

    @contextmanager
    def show(stage: str) -> Iterator[SimpleNamespace]:
        yield SimpleNamespace(report=lambda at, done, total: said.append((stage, at)))

    def double(A):
        for i in range(A.shape[0]):
            A[i] = 2.0 * A[i]

    with stages.telling(show):
        if job == "compare":
            pv.compare(double, np.ones(8), schedules=("original",), targets=("python",), repeats=1)
        else:
            pv.tune(double, np.ones(8), target="python", seconds=0.01, remember=False)
    assert {stage for stage, _ in said} == {f"pv.{job}"}

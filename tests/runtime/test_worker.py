from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from polyviz.errors import ArgumentError, OptionError, Span, UnsupportedSyntaxError, WorkerError
from polyviz.runtime.worker import Worker, shared_worker

if TYPE_CHECKING:
    from collections.abc import Callable

HERE = str(Path(__file__).parent)
ROOT = str(Path(__file__).parents[2])


def run_program(text: str, *command: str) -> str:
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{HERE}"}
    outcome = subprocess.run(
        [sys.executable, *(command or ("-c", text))],
        capture_output=True,
        text=True,
        env=environment,
        timeout=600,
        check=False,
    )
    assert outcome.returncode == 0, outcome.stderr
    return outcome.stdout


def test_arrays_go_and_come_back_and_the_callers_stay_untouched(worker: Worker) -> None:
    array = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(worker.run("worker_jobs:add_one", array, time_limit=30), array + 1)
    np.testing.assert_array_equal(array, np.arange(6.0).reshape(2, 3))


def test_jobs_share_one_process_that_is_not_this_one(worker: Worker) -> None:
    worker.start()
    started = worker.process_id
    first = worker.run("worker_jobs:process_id", time_limit=30)
    second = worker.run("worker_jobs:process_id", time_limit=30)
    assert first == second == started != os.getpid()


def test_a_fresh_worker_has_nothing_heavy_loaded(worker: Worker) -> None:
    modules = worker.run("worker_jobs:loaded_modules", time_limit=30)
    heavy = {"numba", "llvmlite", "islpy", "plotly", "IPython", "cupy", "numpy"}
    assert heavy.isdisjoint(modules)


def test_progress_arrives_in_order_in_the_thread_that_waits(worker: Worker) -> None:
    told: list[tuple[object, str]] = []
    result = worker.run(
        "worker_jobs:count",
        4,
        time_limit=30,
        progress=lambda step: told.append((step, threading.current_thread().name)),
    )
    assert result == 4
    assert told == [(step, threading.current_thread().name) for step in range(4)]
    assert worker.run("worker_jobs:count", 4, time_limit=30) == 4


def test_a_progress_callback_that_fails_ends_the_job(worker: Worker) -> None:
    def refuse(step: int) -> None:
        raise KeyError(step)

    with pytest.raises(KeyError, match="0"):
        worker.run("worker_jobs:count", 1000, 1.0, time_limit=60, progress=refuse)
    assert worker.process_id is None
    assert worker.run("worker_jobs:count", 2, time_limit=30) == 2


def test_a_job_called_directly_reports_to_nobody() -> None:
    from polyviz.runtime.jobs import report_progress

    assert report_progress("unheard") is None


def test_an_exception_of_the_job_comes_back_with_its_story(worker: Worker) -> None:
    with pytest.raises(ValueError, match=r"^no such thing(\n|$)") as raised:
        worker.run("worker_jobs:fail", time_limit=30)
    (note,) = raised.value.__notes__
    assert note.startswith("In the worker process:\nTraceback")
    assert "in fail" in note
    assert "worker_main" not in note
    assert worker.run("worker_jobs:count", 1, time_limit=30) == 1


def test_errors_of_polyviz_come_back_as_they_are(worker: Worker) -> None:
    with pytest.raises(
        ArgumentError, match=r"^The integer 36893488147419103232 does not fit into 64 bits\.$"
    ) as raised:
        worker.run("polyviz.runtime.native:integer", 2**65, time_limit=30)
    assert not hasattr(raised.value, "__notes__")
    sent = UnsupportedSyntaxError("No.", span=Span(1, 1, 1, 6), text="while x:", reason="r", hint="h")
    received = worker.run("copy:copy", sent, time_limit=30)
    assert str(received) == str(sent)
    assert received.span == sent.span


def test_an_exception_that_cannot_travel_is_described(worker: Worker) -> None:
    with pytest.raises(
        WorkerError,
        match=r"^The job in the worker process failed\.\n  Why: worker_jobs\.UnpicklableError: locked$",
    ):
        worker.run("worker_jobs:fail_unpicklably", time_limit=30)


def test_a_job_cannot_end_the_worker_by_sys_exit(worker: Worker) -> None:
    first = worker.run("worker_jobs:process_id", time_limit=30)
    with pytest.raises(WorkerError, match=r"Why: SystemExit: 3$"):
        worker.run("sys:exit", 3, time_limit=30)
    assert worker.run("worker_jobs:process_id", time_limit=30) == first


@pytest.mark.parametrize(
    ("path", "error", "message"),
    [
        ("no_such_module:f", ModuleNotFoundError, "No module named 'no_such_module'"),
        ("math:no_such_function", AttributeError, "module 'math' has no attribute 'no_such_function'"),
        ("math:pi", WorkerError, r"^`math:pi` is not a function\.$"),
    ],
)
def test_a_job_that_does_not_exist(path: str, error: type[Exception], message: str, worker: Worker) -> None:
    with pytest.raises(error, match=message):
        worker.run(path, time_limit=30)


def test_arguments_and_results_that_cannot_travel(worker: Worker) -> None:
    with pytest.raises(
        WorkerError, match=r"^The comparison gets arguments that cannot be sent to the worker process\."
    ):
        worker.run("math:sqrt", lambda: None, time_limit=30, label="The comparison")
    endless = np.lib.stride_tricks.as_strided(np.zeros(1, np.int8), shape=(2**60,), strides=(0,))
    with pytest.raises(WorkerError, match=r"^The comparison works on copies of its arrays, and there is not enough"):
        worker.run("math:sqrt", endless, time_limit=30, label="The comparison")
    with pytest.raises(Exception, match="pickle"):
        worker.run("worker_jobs:return_unpicklable", time_limit=30)


@pytest.mark.parametrize("limit", [0, -1.0, float("nan"), float("inf")])
def test_a_time_limit_that_makes_no_sense(limit: float, worker: Worker) -> None:
    with pytest.raises(OptionError, match=r"^A time limit is a positive number of seconds, not "):
        worker.run("math:sqrt", 1.0, time_limit=limit)


def test_the_worker_follows_environment_and_directory(
    worker: Worker, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    first = worker.run("worker_jobs:process_id", time_limit=30)
    monkeypatch.setenv("POLYVIZ_EXAMPLE", "seen")
    assert worker.run("worker_jobs:environment", "POLYVIZ_EXAMPLE", time_limit=30) == "seen"
    assert worker.run("worker_jobs:process_id", time_limit=30) != first
    monkeypatch.chdir(tmp_path)
    assert worker.run("os:getcwd", time_limit=30) == str(tmp_path)


def test_a_file_in_the_current_directory_does_not_shadow_the_library(
    worker: Worker, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "socket.py").write_text("raise RuntimeError('the wrong file')", encoding="utf-8")
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry])
    monkeypatch.chdir(tmp_path)
    assert worker.run("worker_jobs:count", 1, time_limit=30) == 1


def test_a_directory_that_was_deleted(
    worker: Worker, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    try:
        assert worker.run("worker_jobs:count", 1, time_limit=30) == 1
    finally:
        os.chdir(tmp_path)


def test_jobs_of_several_threads_queue_up(worker: Worker) -> None:
    results: list[int] = []
    threads = [
        threading.Thread(
            target=lambda: results.append(worker.run("worker_jobs:count", 3, 0.02, time_limit=30))
        )
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [3, 3, 3, 3]


def test_a_worker_started_in_a_thread_outlives_the_thread(worker: Worker) -> None:
    thread = threading.Thread(target=worker.start)
    thread.start()
    thread.join()
    started = worker.process_id
    assert worker.run("worker_jobs:process_id", time_limit=30) == started


def test_a_closed_worker_takes_no_jobs(worker: Worker) -> None:
    worker.run("worker_jobs:count", 1, time_limit=30)
    worker.close()
    worker.close()
    assert worker.process_id is None
    with pytest.raises(WorkerError, match=r"^The worker was closed and takes no more jobs\.$"):
        worker.run("math:sqrt", 1.0, time_limit=30)


def test_a_progress_callback_may_close_the_worker(worker: Worker) -> None:
    with pytest.raises(WorkerError, match=r"was cancelled after"):
        worker.run("worker_jobs:count", 1000, 0.1, time_limit=60, progress=lambda _: worker.close())
    assert worker.closed


def test_the_shared_worker_is_one_until_it_is_closed() -> None:
    first = shared_worker()
    assert shared_worker() is first
    first.close()
    second = shared_worker()
    assert second is not first
    second.close()


def test_a_script_without_a_main_guard(tmp_path: Path) -> None:
    path = tmp_path / "script.py"
    path.write_text(
        "from polyviz.runtime.worker import shared_worker\n"
        "print('once')\n"
        "print(shared_worker().run('worker_jobs:count', 3, time_limit=30))\n",
        encoding="utf-8",
    )
    assert run_program("", str(path)) == "once\n3\n"


def test_a_cell_of_ipython() -> None:
    program = """
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
outcome = shell.run_cell('''
from polyviz.runtime.worker import shared_worker
shared_worker().run("worker_jobs:count", 3, time_limit=30)
''')
print("result", outcome.result)
"""
    assert run_program(program).endswith("result 3\n")


def test_a_fork_of_this_process_gets_a_worker_of_its_own() -> None:
    program = """
import os, sys
from polyviz.runtime.worker import shared_worker
first = shared_worker().run("worker_jobs:process_id", time_limit=30)
child = os.fork()
if child == 0:
    own = shared_worker().run("worker_jobs:process_id", time_limit=30)
    sys.exit(0 if own != first else 1)
status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
print(status, shared_worker().run("worker_jobs:process_id", time_limit=30) == first)
"""
    assert run_program(program) == "0 True\n"


def test_kernels_run_in_the_worker(worker: Worker, build: Callable[[str], str]) -> None:
    assert worker.run("worker_jobs:call", build("int seven(void) { return 7; }"), "seven", time_limit=30) == 7

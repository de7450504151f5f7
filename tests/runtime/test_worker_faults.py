"""Code that crashes, hangs, is killed or floods the output: a sentence comes back and the next job works."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from polyviz.errors import WorkerError
from polyviz.runtime import worker as worker_module
from polyviz.runtime.storage import process_directory
from polyviz.runtime.worker import CancelledError, CrashError, TimeLimitError, Worker

if TYPE_CHECKING:
    from collections.abc import Callable

HERE = str(Path(__file__).parent)
ROOT = str(Path(__file__).parents[2])

FAULTS = """
#include <stdio.h>
#include <stdlib.h>
int wild(void) { volatile int *nowhere = (int *)8; *nowhere = 1; return 0; }
int divide(void) { volatile int zero = 0, many = 7; return many / zero; }
int give_up(void) { fputs("terrible news\\n", stderr); abort(); }
int leave(void) { exit(3); }
int forever(void) { volatile int on = 1; while (on) { } return 0; }
int deep(void) { volatile char frame[1 << 20]; frame[0] = 1; return deep() + frame[0]; }
int flood(void) { for (int line = 0; line < 1000000; line++) puts("a line of output nobody asked for"); return 0; }
int illegal(void) { __builtin_trap(); }
int imitate(void) { char message[64] = { 2 }; fwrite(message, 1, sizeof message, stdout); return 0; }
"""


def gone(process_id: int) -> bool:
    """Whether the process has ended; one that nobody has waited for yet has."""
    try:
        state = Path(f"/proc/{process_id}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return True
    return state == "Z"


def wait_until(condition: Callable[[], bool], seconds: float = 120.0) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def children() -> list[int]:
    listed = Path(f"/proc/self/task/{os.getpid()}/children").read_text(encoding="utf-8").split()
    return [int(child) for child in listed]


@pytest.fixture
def library(build: Callable[[str], str]) -> str:
    return build(FAULTS)


@pytest.mark.parametrize(
    ("symbol", "message"),
    [
        ("wild", r"SIGSEGV after \d+\.\d s: it touched memory that is not its own\.$"),
        ("deep", r"SIGSEGV after \d+\.\d s: it touched memory that is not its own\.$"),
        ("divide", r"SIGFPE after \d+\.\d s: it divided an integer by zero, or the quotient does not fit\.$"),
        ("illegal", r"SIG(ILL|TRAP) after \d+\.\d s: it "),
        (
            "give_up",
            r"SIGABRT after \d+\.\d s: it gave up by itself\.\n  Why: Its last output was: terrible news$",
        ),
    ],
)
def test_native_code_that_crashes(symbol: str, message: str, library: str, worker: Worker) -> None:
    before = worker.run("worker_jobs:process_id", time_limit=30)
    with pytest.raises(CrashError, match=rf"^The tiled variant crashed the worker process with {message}"):
        worker.run("worker_jobs:call", library, symbol, time_limit=30, label="The tiled variant")
    assert gone(before)
    assert worker.run("worker_jobs:count", 2, time_limit=30) == 2


def test_native_code_that_exits(library: str, worker: Worker) -> None:
    message = r"^The job `worker_jobs:call` ended the worker process with exit status 3 after \d+\.\d s\.$"
    with pytest.raises(CrashError, match=message):
        worker.run("worker_jobs:call", library, "leave", time_limit=30)


@pytest.mark.parametrize("job", ["call", "call_without_releasing_the_interpreter"])
def test_native_code_that_never_returns(job: str, library: str, worker: Worker) -> None:
    message = rf"^The job `worker_jobs:{job}` ran longer than its time limit of 0\.3 s and was stopped\.$"
    with pytest.raises(TimeLimitError, match=message):
        worker.run(f"worker_jobs:{job}", library, "forever", time_limit=0.3)
    assert worker.run("worker_jobs:count", 2, time_limit=30) == 2


@pytest.mark.slow
def test_the_time_limit_does_not_count_the_start(
    worker: Worker, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "sitecustomize.py").write_text("import time; time.sleep(2.0)", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert worker.run("math:sqrt", 4.0, time_limit=1.9) == 2.0


def test_memory_without_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(HERE)
    with Worker(memory_limit=512 * 1024**2) as worker:
        message = (
            r"^The job `worker_jobs:allocate` ran out of memory \(a job may use 0\.5 GiB\)\.\n  Hint: Try "
        )
        with pytest.raises(CrashError, match=message):
            worker.run("worker_jobs:allocate", 2**31, time_limit=30)
        assert worker.run("worker_jobs:allocate", 2**20, time_limit=30) == 2**20


def test_a_worker_killed_while_it_works(worker: Worker) -> None:
    message = (
        r"^The job `worker_jobs:count` crashed the worker process with SIGKILL after \d+\.\d s: "
        r"it was killed from outside, as the system does when memory runs out\.$"
    )
    running = worker.run("worker_jobs:process_id", time_limit=30)
    with pytest.raises(CrashError, match=message):
        worker.run(
            "worker_jobs:count",
            1000,
            0.1,
            time_limit=60,
            progress=lambda step: os.kill(running, signal.SIGKILL) if step == 2 else None,
        )


@pytest.mark.parametrize(
    ("number", "name"), [(signal.SIGTERM, "SIGTERM"), (signal.SIGRTMIN + 3, r"signal \d+")]
)
def test_a_job_ended_by_another_signal(number: int, name: str, worker: Worker) -> None:
    running = worker.run("worker_jobs:process_id", time_limit=30)
    with pytest.raises(CrashError, match=rf"with {name} after \d+\.\d s: it was ended by this signal\.$"):
        worker.run("os:kill", running, int(number), time_limit=30)


def test_a_worker_killed_between_jobs(worker: Worker) -> None:
    first = worker.run("worker_jobs:process_id", time_limit=30)
    os.kill(first, signal.SIGKILL)
    second = worker.run("worker_jobs:process_id", time_limit=30)
    assert second != first
    os.kill(second, signal.SIGKILL)
    assert wait_until(lambda: gone(second))
    assert worker.run("worker_jobs:count", 3, time_limit=30) == 3


def test_a_worker_that_cannot_start(worker: Worker, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "pickle.py").write_text("raise ImportError('a file in the way')", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(WorkerError, match=r"^The worker process ends before it takes a job\.") as raised:
        worker.run("math:sqrt", 4.0, time_limit=30)
    assert "ImportError: a file in the way" in raised.value.reason


def test_a_worker_that_never_gets_ready(
    worker: Worker, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "sitecustomize.py").write_text("import time; time.sleep(600)", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(worker_module, "START_LIMIT", 0.5)
    with pytest.raises(WorkerError, match=r"^The worker process did not start within 0\.5 s\.$"):
        worker.run("math:sqrt", 4.0, time_limit=30)


@pytest.mark.slow
def test_output_of_native_code_neither_blocks_nor_disturbs(library: str, worker: Worker) -> None:
    assert worker.run("worker_jobs:call", library, "flood", time_limit=120) == 0
    assert worker.run("worker_jobs:call", library, "imitate", time_limit=30) == 0
    assert worker.run("worker_jobs:print_much", 2_000_000, time_limit=30) == "printed"


def test_cancel_from_another_thread(worker: Worker) -> None:
    cancelled: list[bool] = []
    # Once it has reported something it runs.
    going = threading.Event()
    other = threading.Thread(target=lambda: cancelled.append(going.wait(60) and worker.cancel()))
    other.start()
    with pytest.raises(CancelledError, match=r"^The comparison was cancelled after \d+\.\d s\.$"):
        worker.run(
            "worker_jobs:count",
            1000,
            0.1,
            time_limit=100,
            label="The comparison",
            progress=lambda _: going.set(),
        )
    other.join()
    assert cancelled == [True]
    assert worker.cancel() is False
    assert worker.run("worker_jobs:count", 2, time_limit=30) == 2


@pytest.mark.slow
def test_cancel_stops_code_that_holds_the_interpreter(library: str, worker: Worker) -> None:
    # Until there is a job to stop.
    timer = threading.Timer(0.5, wait_until, (worker.cancel,))
    timer.start()
    with pytest.raises(CancelledError, match=r"was cancelled after"):
        worker.run("worker_jobs:call_without_releasing_the_interpreter", library, "forever", time_limit=100)
    timer.join()


@pytest.mark.slow
def test_an_interrupt_stops_the_job_and_the_worker_lives_on(worker: Worker) -> None:
    running = worker.run("worker_jobs:process_id", time_limit=30)
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        worker.run("worker_jobs:count", 1000, 0.1, time_limit=100)
    timer.join()
    assert gone(running)
    # The answer of the interrupted job must not be taken for this one's.
    assert worker.run("math:sqrt", 4.0, time_limit=30) == 2.0


@pytest.mark.slow
def test_what_a_job_started_ends_with_it(worker: Worker) -> None:
    started: list[int] = []
    with pytest.raises(TimeLimitError):
        worker.run("worker_jobs:leave_a_child_behind", time_limit=3.0, progress=started.append)
    assert len(started) == 1
    assert wait_until(lambda: gone(started[0]))


def test_no_process_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(HERE)
    before = set(children())
    with Worker() as closed:
        closed.run("worker_jobs:count", 1, time_limit=30)
        with pytest.raises(CrashError):
            closed.run("os:abort", time_limit=30)
        closed.start()
    forgotten = Worker()
    forgotten.start()
    del forgotten
    assert wait_until(lambda: set(children()) <= before)


@pytest.mark.thinned(3)
@pytest.mark.parametrize("job", ["call", "call_without_releasing_the_interpreter"])
@pytest.mark.parametrize("death", [signal.SIGKILL, signal.SIGTERM])
def test_the_worker_dies_with_this_process(job: str, death: signal.Signals, library: str) -> None:
    program = f"""
import threading, time
from polyviz.runtime.worker import shared_worker
worker = shared_worker()
print(worker.run("worker_jobs:process_id", time_limit=30), flush=True)
threading.Thread(target=worker.run, args=("worker_jobs:{job}", {library!r}, "forever"),
                 kwargs={{"time_limit": 600}}).start()
time.sleep(0.5)
print("busy", flush=True)
time.sleep(600)
"""
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{HERE}"}
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, env=environment
    ) as parent:
        assert parent.stdout is not None
        busy = int(parent.stdout.readline())
        assert parent.stdout.readline() == "busy\n"
        assert not gone(busy)
        parent.send_signal(death)
    assert wait_until(lambda: gone(busy))


def test_the_shared_worker_ends_when_the_program_does() -> None:
    program = """
from polyviz.runtime.worker import shared_worker
print(shared_worker().run("worker_jobs:process_id", time_limit=30))
"""
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{HERE}"}
    outcome = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        capture_output=True,
        text=True,
        env=environment,
        check=True,
    )
    assert outcome.stderr == ""
    assert wait_until(lambda: gone(int(outcome.stdout)))


def test_the_files_of_a_killed_worker_go_with_it(worker: Worker) -> None:
    directory = Path(worker.run("worker_jobs:own_directory", time_limit=30))
    assert directory.is_dir()
    assert process_directory() in directory.parents
    assert worker.process_id is not None
    os.kill(worker.process_id, signal.SIGKILL)
    second = Path(worker.run("worker_jobs:own_directory", time_limit=30))
    assert second.is_dir()
    assert not directory.parent.exists()
    worker.close()
    assert not second.parent.exists()

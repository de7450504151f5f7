"""Runs jobs in a child process that may crash or hang, and goes on."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from tests.random_programs.oracle import EXTRACTION, Outcome, Variant

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.random_programs.program import Program

ROOT = Path(__file__).parent.parent.parent
PATIENCE = 60.0
"""Seconds that one variant may take."""


class Runner:
    """A child process, restarted when it dies; usable in a ``with`` statement."""

    def __init__(self, patience: float = PATIENCE) -> None:
        self.patience = patience
        self._process: subprocess.Popen[bytes] | None = None
        self._pending = b""

    def __enter__(self) -> Runner:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def judge(self, program: Program, variants: Sequence[Variant]) -> list[Outcome]:
        """The extraction's outcome, then those of ``variants``; after a crash or a hang a new process goes on."""
        outcomes = self._answers(program, variants)
        while outcomes[0].kind == "equal" and len(outcomes) <= len(variants):
            outcomes += self._answers(program, variants[len(outcomes) - 1 :])[1:]
        return outcomes

    def _answers(self, program: Program, variants: Sequence[Variant]) -> list[Outcome]:
        self._send(program, variants)
        names = [EXTRACTION, *map(str, variants)]
        outcomes: list[Outcome] = []
        while True:
            line = self._line()
            if isinstance(line, str):
                self.close()
                return [
                    *outcomes,
                    Outcome(names[len(outcomes)], "timeout" if line == "timeout" else "crash", line),
                ]
            if "done" in line:
                return outcomes
            outcomes.append(Outcome(**line))

    def _send(self, program: Program, variants: Sequence[Variant]) -> None:
        process = self._running()
        names = [[variant.schedule, variant.target, variant.contract] for variant in variants]
        job = {"variants": names, "program": asdict(program)}
        assert process.stdin is not None
        process.stdin.write(json.dumps(job).encode() + b"\n")
        process.stdin.flush()

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self._pending = b""
            environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_WAIT_POLICY": "passive"}
            # A group of its own: what the product starts ends with it.
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.random_programs.child"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=environment,
                cwd=ROOT,
                start_new_session=True,
            )
        return self._process

    def _line(self) -> dict[str, Any] | str:
        """The next answer; ``timeout`` or the reason of death otherwise."""
        process = self._running()
        assert process.stdout is not None
        end = time.monotonic() + self.patience
        while b"\n" not in self._pending:
            ready, _, _ = select.select([process.stdout], [], [], max(0.0, end - time.monotonic()))
            if not ready:
                return "timeout"
            received = os.read(process.stdout.fileno(), 65536)
            if not received:
                return _death(process.wait())
            self._pending += received
        line, self._pending = self._pending.split(b"\n", 1)
        return cast("dict[str, Any]", json.loads(line))

    def close(self) -> None:
        """End the child."""
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            for stream in (self._process.stdin, self._process.stdout):
                if stream is not None:
                    stream.close()
            self._process = None


def _death(status: int) -> str:
    return f"killed by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}"

"""Runs jobs in a child process that may crash or hang, and goes on."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any, cast

from tests.random_programs.oracle import Outcome, Variant
from tests.random_programs.program import Program

ROOT = Path(__file__).parent.parent.parent
PATIENCE = 60.0
"""Seconds that one variant may take."""


class Runner:
    """A child process, restarted when it dies; usable in a ``with`` statement."""

    def __init__(self, patience: float = PATIENCE) -> None:
        self.patience = patience
        self._process: subprocess.Popen[bytes] | None = None
        self._errors: IO[bytes] = tempfile.TemporaryFile()
        self._pending = b""

    def __enter__(self) -> Runner:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def judge(self, program: Program | int, variants: Sequence[Variant]) -> list[Outcome]:
        """Outcomes in the order of ``variants``; after a crash or a hang the remaining ones run in a new process."""
        outcomes: list[Outcome] = []
        while len(outcomes) < len(variants):
            remaining = variants[len(outcomes) :]
            self._send(program, remaining)
            expected = len(remaining)
            for _ in range(expected):
                line = self._line()
                outcomes.append(self._outcome(line, variants[len(outcomes)]))
                if not isinstance(line, dict):
                    break
            else:
                self._line()
        return outcomes

    def _outcome(self, line: dict[str, Any] | str, variant: Variant) -> Outcome:
        if isinstance(line, dict):
            return Outcome(**line)
        self.close()
        return Outcome(str(variant), "timeout" if line == "timeout" else "crash", line)

    def _send(self, program: Program | int, variants: Sequence[Variant]) -> None:
        process = self._running()
        job: dict[str, Any] = {"variants": [[variant.schedule, variant.target] for variant in variants]}
        job |= {"seed": program} if isinstance(program, int) else {"program": asdict(program)}
        assert process.stdin is not None
        process.stdin.write(json.dumps(job).encode() + b"\n")
        process.stdin.flush()

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self._pending = b""
            environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_WAIT_POLICY": "passive"}
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.random_programs.child"],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, env=environment, cwd=ROOT,
            )  # fmt: skip
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
            self._process.kill()
            self._process.wait()
            for stream in (self._process.stdin, self._process.stdout):
                if stream is not None:
                    stream.close()
            self._process = None


def _death(status: int) -> str:
    return f"killed by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}"

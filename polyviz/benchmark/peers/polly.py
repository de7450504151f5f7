"""clang with Polly, LLVM's own polyhedral optimiser, on the original order in C."""

from __future__ import annotations

import tempfile
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from polyviz.api.targets import Availability
from polyviz.benchmark.peers.clang import CLANG
from polyviz.benchmark.peers.native import OPTIMISED
from polyviz.runtime.compiler import run_compiler
from polyviz.runtime.machine import thread_count
from polyviz.runtime.storage import process_directory

if TYPE_CHECKING:
    from polyviz.benchmark.peers.protocol import Candidate
    from polyviz.benchmark.subject import Subject

_POLLY = ("-mllvm", "-polly")
_STRIPMINE = ("-mllvm", "-polly-vectorizer=stripmine")
_PROBE = "void zero(double *a) { for (int i = 0; i < 100; i++) a[i] = 0; }\n"


class Polly:
    """Polly on one core and on all of them."""

    name = "Polly"

    def available(self) -> Availability:
        """Whether clang is there and knows Polly's options and its threads."""
        clang = CLANG.available()
        if not clang.available:
            return clang
        missing = _missing(CLANG.command() or "")
        return Availability(False, missing) if missing else Availability(True, f"in {clang.reason}")

    def candidates(self, subject: Subject) -> tuple[Candidate, ...]:
        """Serial, serial with its own vectorizer, which takes other loops innermost, and parallel."""
        return (
            CLANG.candidate("Polly", subject, (*OPTIMISED, *_POLLY)),
            CLANG.candidate("Polly stripmine", subject, (*OPTIMISED, *_POLLY, *_STRIPMINE)),
            CLANG.candidate("Polly parallel", subject, (*OPTIMISED, *_POLLY, *_threads())),
        )


def _threads() -> tuple[str, ...]:
    return ("-mllvm", "-polly-parallel", "-mllvm", f"-polly-num-threads={thread_count().count}", "-fopenmp")


@lru_cache(maxsize=1)
def _missing(command: str) -> str:
    """Why Polly cannot be used; empty when a small library can be built with it."""
    with tempfile.TemporaryDirectory(prefix="polly-", dir=process_directory()) as directory:
        source = Path(directory) / "probe.c"
        source.write_text(_PROBE, encoding="utf-8")
        output = str(source.with_suffix(".so"))
        words = [command, "-O3", *_POLLY, *_threads(), "-fPIC", "-shared", str(source), "-o", output]
        answer = run_compiler("clang", words)
    if answer.returncode == 0:
        return ""
    first = (answer.stderr.splitlines() or ["it cannot compile a small loop"])[0]
    return f"clang is here without Polly or its OpenMP library ({first})"

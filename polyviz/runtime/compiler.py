"""Running a C compiler: environment, time limit, and the first errors it reports."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

from polyviz.runtime.storage import cache_directory, process_directory

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

COMPILE_LIMIT = 300.0
"""Seconds after which a compiler is given up."""


def compile_file(
    name: str, command: Sequence[str], source: Path, output: Path, flags: Sequence[str]
) -> str | None:
    """Compile one file with the compiler called ``name``; None when it worked, else its first errors."""
    try:
        outcome = run_compiler(name, [*command, str(source), "-o", str(output), *flags])
    except subprocess.TimeoutExpired:
        return f"the compiler did not finish within {COMPILE_LIMIT:.0f} s"
    except OSError as error:
        return f"the compiler does not start ({error})"
    return None if outcome.returncode == 0 else first_errors(outcome)


def run_compiler(name: str, arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Run a command and collect its output.

    Raises OSError when it does not start and subprocess.TimeoutExpired when it does not end.
    """
    return subprocess.run(
        list(arguments),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=COMPILE_LIMIT,
        env=_environment(name),
        check=False,
    )


def first_errors(outcome: subprocess.CompletedProcess[str]) -> str:
    """The first lines of what a compiler complains of."""
    lines = [line.strip() for line in (outcome.stderr or outcome.stdout).splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line or "undefined reference" in line]
    return "\n".join((errors or lines)[:5]) or f"the compiler ended with status {outcome.returncode}"


def _environment(name: str) -> dict[str, str]:
    # English messages, so that "error" can be recognised in them.
    environment = {**os.environ, "LC_ALL": "C"}
    if name == "zig":
        directory = str(_zig_cache())
        environment.setdefault("ZIG_GLOBAL_CACHE_DIR", directory)
        environment.setdefault("ZIG_LOCAL_CACHE_DIR", directory)
    return environment


def _zig_cache() -> Path:
    """zig keeps its compiled C run time in a cache and fails when that is not writable."""
    directory = cache_directory() / "zig"
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError:
        return process_directory()
    return directory if os.access(directory, os.W_OK) else process_directory()

"""Failing programs become small and stay failing."""

from __future__ import annotations

import pytest

from tests.random_programs.generator import generate
from tests.random_programs.oracle import Outcome
from tests.random_programs.program import Program
from tests.random_programs.reporting import script
from tests.random_programs.runner import Runner
from tests.random_programs.shrinking import shrink, valid


@pytest.mark.slow
def test_only_what_the_failure_needs_is_left() -> None:
    program = next(generate(seed) for seed in range(100) if " // 3" in generate(seed).source)
    small = shrink(program, lambda candidate: " // 3" in candidate.source)
    assert " // 3" in small.source
    assert valid(small)
    assert len(small.source.splitlines()) <= 4, small.source
    assert len(small.cases) == 1


def test_a_script_runs_by_itself() -> None:
    program = generate(0)
    compile(script(program, Outcome("pluto/c", "wrong", "argument 0 differs")), "<script>", "exec")


def _program(body: str) -> Program:
    return Program(0, f"def program():\n    {body}\n", (), (generate(0).cases[0],))


@pytest.mark.slow
def test_the_runner_survives_a_crash_and_a_hang() -> None:
    with Runner(patience=120) as runner:
        crash = runner.judge(_program("import os; os.abort()"), [])
    assert [(outcome.kind, outcome.detail) for outcome in crash] == [("crash", "killed by SIGABRT")]
    with Runner(patience=3) as runner:
        hang = runner.judge(_program("import time; time.sleep(60)"), [])
        assert [outcome.kind for outcome in hang] == ["timeout"]

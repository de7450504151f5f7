"""``polyviz bench --suite schedulers``: one finding after the other, each in a process that may fail alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.benchmark.survey.findings import RUN_LIMIT, Finding
from polyviz.benchmark.survey.growth import LIMIT, SIZES, Growth
from polyviz.benchmark.survey.records import NAME, Survey, load, save
from polyviz.benchmark.versions import versions
from polyviz.errors import PolyvizError
from polyviz.runtime.machine import this_machine
from polyviz.runtime.worker import Worker

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

SHORT_SIZES = SIZES[:2]


def run_survey(
    kernels: Sequence[str],
    schedulers: Sequence[str],
    output: Path,
    say: Callable[[str], None],
    *,
    resume: bool,
    sizes: Sequence[int] = SIZES,
) -> int:
    """Survey ``schedulers`` on ``kernels`` and on programs of ``sizes`` statements; 1 when something was not verified.

    Writes ``schedulers.json``, ``.md`` and ``.svg`` into ``output`` after every step; ``resume`` goes on with them.
    """
    survey = (load(output) if resume else None) or Survey(this_machine().describe(), versions())
    with Worker() as worker:
        for kernel, scheduler in _missing(survey, kernels, schedulers):
            finding = _examined(worker, kernel, scheduler)
            survey = survey.with_finding(finding)
            save(survey, output)
            say(f"{kernel}, {scheduler}: {finding.text}")
        for statements, scheduler in _missing_growth(survey, sizes, schedulers):
            growth = _measured(worker, statements, scheduler)
            survey = survey.with_growth(growth)
            save(survey, output)
            say(f"{statements} statements, {scheduler}: {growth.text}")
    say(f"{output / NAME}.md holds the table")
    return int(not all(finding.verified for finding in survey.findings))


def _missing(survey: Survey, kernels: Sequence[str], schedulers: Sequence[str]) -> list[tuple[str, str]]:
    done = {(finding.kernel, finding.scheduler) for finding in survey.findings}
    return [(kernel, name) for kernel in kernels for name in schedulers if (kernel, name) not in done]


def _missing_growth(survey: Survey, sizes: Sequence[int], schedulers: Sequence[str]) -> list[tuple[int, str]]:
    done = {(growth.statements, growth.scheduler) for growth in survey.growth}
    return [(size, name) for name in schedulers for size in sizes if (size, name) not in done]


def _examined(worker: Worker, kernel: str, scheduler: str) -> Finding:
    label = f"{scheduler} on {kernel}"
    try:
        found: Finding = worker.run(
            "polyviz.benchmark.survey.findings:examine",
            kernel,
            scheduler,
            time_limit=RUN_LIMIT,
            label=label,
        )
    except PolyvizError as error:
        return Finding(kernel, scheduler, (), None, False, (error.message,))
    return found


def _measured(worker: Worker, statements: int, scheduler: str) -> Growth:
    label = f"{scheduler} on {statements} statements"
    try:
        found: Growth = worker.run(
            "polyviz.benchmark.survey.growth:measure",
            statements,
            scheduler,
            time_limit=LIMIT,
            label=label,
        )
    except PolyvizError as error:
        return Growth(statements, scheduler, None, None, error.message)
    return found

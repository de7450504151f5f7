"""How the time to schedule grows with the program: chains of loop nests of any length, and the job that times one."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from polyviz.analysis import dependences
from polyviz.api.extracting import extract
from polyviz.errors import PolyvizError
from polyviz.scheduling import schedule

if TYPE_CHECKING:
    from collections.abc import Mapping

SIZES = (5, 20, 50, 100, 200)
"""Numbers of statements."""

EXTENT = 1000
"""The size of the arrays, for schedulers that choose by sizes."""

LIMIT = 300.0
"""Seconds for one program under one scheduler."""


@dataclass(frozen=True, slots=True)
class Growth:
    """The seconds that one scheduler took for a program; None, and why, where it did not get there."""

    statements: int
    scheduler: str
    dependence_seconds: float | None
    seconds: float | None
    remark: str = ""

    @property
    def text(self) -> str:
        """The cell of a table.

        >>> Growth(5, "pluto", 0.1, 0.254).text
        '0.25 s'
        """
        if self.seconds is None:
            return self.remark
        return f"{self.seconds:.2f} s" + (f" ({self.remark})" if self.remark else "")

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Growth:
        """The measurement from its fields as plain data."""
        return cls(**data)


def program_text(statements: int) -> str:
    """A function of that many statements: two-dimensional sweeps, each reading the two before it, two to a nest.

    Neighbouring sweeps may be fused after a shift, so that clustering has something to decide at every step.

    >>> print(program_text(2))
    def chain(A0, A1, A2, A3):
        n = A0.shape[0]
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                A2[i, j] = A1[i, j - 1] + A0[i, j]
                A3[i, j] = A2[i, j] + A1[i, j]
    """
    names = ", ".join(f"A{number}" for number in range(statements + 2))
    lines = [f"def chain({names}):", "    n = A0.shape[0]"]
    for number in range(statements):
        target = number + 2
        if number % 2 == 0:
            lines += ["    for i in range(1, n - 1):", "        for j in range(1, n - 1):"]
            value = f"A{target - 1}[i, j - 1] + A{target - 2}[i, j]"
        else:
            value = f"A{target - 1}[i, j] + A{target - 2}[i, j]"
        lines.append(f"            A{target}[i, j] = {value}")
    return "\n".join(lines)


def measure(statements: int, scheduler: str) -> Growth:
    """Schedule the program of that many statements; a job.

    >>> measure(2, "original").remark
    ''
    """
    part = extract(program_text(statements))
    started = time.perf_counter()
    found = dependences(part)
    analysed = time.perf_counter()
    try:
        order = schedule(part, scheduler, dependences=found, sizes={"n": EXTENT})
    except PolyvizError as error:
        return Growth(statements, scheduler, analysed - started, None, error.message)
    seconds = time.perf_counter() - analysed
    fallbacks = [decision.text for decision in order.decisions if decision.step == "fallback"]
    return Growth(statements, scheduler, analysed - started, seconds, " ".join(fallbacks[:1]))

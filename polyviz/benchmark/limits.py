"""How long things may take: time limits that follow the best so far, and who takes part in the timed rounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from polyviz.benchmark.session import LONG_RUN

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

HOPELESS = 20.0
"""A variant that needs so many times the best time so far is stopped: it cannot matter for the table."""

CLOSE = 1.5
"""Single runs that differ by less may well change places in the rounds."""

PATIENCE = 20.0
SHORTEST_LIMIT = 10.0
COMPILE_LIMIT = 120.0
GENERATE_LIMIT = 60.0
REFERENCE_LIMIT = 300.0

SECOND_LOOK = 1.0
"""Who would be left out for a first run that is shorter runs once more."""

VERIFICATION_SHARE = 3.0
"""How much longer than the timed rounds the verifying runs of one kernel may take together."""

SLOW_RUN = 2.0
ROUNDS_OF_SLOW_RUNS = 3

_REPEATED_TIME = 0.1
"""What one sample of a short run costs, with its repetitions, its fresh data and the pause before it."""

_COLD_START = 0.2
"""What threads, pages and libraries may cost when a variant runs for the first time, on a machine with other work."""


def run_limit(best: float | None) -> float:
    """Seconds one run may take when the best verified run so far took ``best``.

    >>> run_limit(None), run_limit(0.001), run_limit(1.0), run_limit(10.0)
    (300.0, 10.0, 20.0, 60.0)
    """
    if best is None:
        return REFERENCE_LIMIT
    # Twenty times a long run would cost more than the figure is worth.
    return max(SHORTEST_LIMIT, min(HOPELESS * best, 4 * best + PATIENCE))


@dataclass(frozen=True, slots=True)
class Field:
    """Who is timed in how many rounds, and who is left at the single verified run."""

    racing: tuple[str, ...]
    rounds: int
    left_out: tuple[str, ...]


def choose_field(seconds: Mapping[str, float], kept: Collection[str], repeats: int, budget: float) -> Field:
    """The field for runs of ``seconds`` by label: first the slowest go, until all rounds fit into ``budget`` seconds.

    Those more than `HOPELESS` times slower than the fastest go in any case, unless their run was so short that a cold
    start explains it; ``kept`` stay in any case.

    >>> choose_field({"a": 4.0, "b": 5.0, "c": 9.0, "d": 99.0}, ("a", "b"), 5, 40.0)
    Field(racing=('a', 'b'), rounds=3, left_out=('c', 'd'))
    """
    if not seconds:
        return Field((), repeats, ())
    fastest = min(seconds.values())
    rounds = min(repeats, ROUNDS_OF_SLOW_RUNS) if fastest > SLOW_RUN else repeats
    longest = max(HOPELESS * fastest, _COLD_START)
    racing = {label for label in seconds if label in kept or seconds[label] <= longest}
    for label in sorted(racing - set(kept), key=seconds.__getitem__, reverse=True):
        if rounds * sum(_sample_time(seconds[one]) for one in racing) <= budget:
            break
        racing.remove(label)
    return Field(
        tuple(label for label in seconds if label in racing),
        rounds,
        tuple(label for label in seconds if label not in racing),
    )


def _sample_time(run: float) -> float:
    """What one sample of a variant costs whose first run took ``run`` seconds."""
    return max(2 * run if run < LONG_RUN else run, _REPEATED_TIME)

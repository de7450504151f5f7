"""What `polyviz.check` says of random orders, against enumeration and the reference interpreter."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.random_programs.orders import examine


@pytest.mark.thinned(2)
@pytest.mark.parametrize("first", range(0, 12, 6))
def test_orders(first: int) -> None:
    _examine_all(range(first, first + 6))


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("first", range(100, 140, 20))
def test_more_orders(first: int) -> None:
    _examine_all(range(first, first + 20))


def _examine_all(seeds: range) -> None:
    verdicts = [(seed, verdict) for seed in seeds for verdict in examine(seed)]
    problems = [
        f"seed {seed}: {verdict.problem}\n{verdict.order}" for seed, verdict in verdicts if verdict.problem
    ]
    assert not problems, "\n\n".join(problems)
    counts = Counter(verdict.accepted for _, verdict in verdicts)
    assert counts[True] and counts[False], counts

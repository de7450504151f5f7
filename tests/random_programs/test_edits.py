"""Random edits of random programs: the results stay, the scripts make them again, the refusals are true."""

from __future__ import annotations

import pytest

from tests.random_programs.edits import judge_edits
from tests.random_programs.generator import ODD, SMALL, Profile


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize(("first", "profile"), [(10400000, SMALL), (10400010, ODD)], ids=["small", "odd"])
def test_random_edits(first: int, profile: Profile) -> None:
    problems = [problem for seed in range(first, first + 3) for problem in judge_edits(seed, profile, ("python",))]
    assert problems == []

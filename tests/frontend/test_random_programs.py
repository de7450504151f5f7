"""Random programs agree with plain Python, in results and in every access that happens."""

from __future__ import annotations

import copy

import pytest

from polyviz.errors import ExtractionError
from tests.frontend.agreement import agree, run_function
from tests.frontend.random_programs import random_program


def refused(seeds: range) -> list[int]:
    """The seeds whose program is refused; every other agrees."""
    found = []
    for seed in seeds:
        program = random_program(seed)
        try:
            run_function(program.text, "f", copy.deepcopy(program.arguments))
        except ZeroDivisionError:
            continue
        try:
            agree(program.text, **program.arguments)
        except ExtractionError:
            found.append(seed)
    return found


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_few() -> None:
    assert refused(range(40)) == []


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_many() -> None:
    assert refused(range(40, 600)) == []

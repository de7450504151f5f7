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
@pytest.mark.slow
def test_few() -> None:
    assert refused(range(40)) == []


def as_cell(text: str) -> str:
    """The body of a random function as the bare statements of a cell."""
    return "\n".join(line.removeprefix("    ") for line in text.splitlines()[1:-1]) + "\n"


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.slow
def test_cells_leave_what_python_leaves() -> None:
    for seed in range(1000, 1030):
        program = random_program(seed)
        try:
            run_function(program.text, "f", copy.deepcopy(program.arguments))
        except ZeroDivisionError:
            continue
        agree(as_cell(program.text), **program.arguments)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_many() -> None:
    assert refused(range(40, 320)) == []

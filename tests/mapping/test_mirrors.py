"""Rows updated from both ends: for which loops, that isl finds them independent, and what is said of them."""

from __future__ import annotations

import numpy as np
import pytest

import polyviz as pv
from tests.mapping.mirror_programs import ALONE, PROGRAMS
from tests.running import agree, function_of


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_cell_and_its_image_are_updated_together(name: str) -> None:
    plan = pv.compile(function_of(PROGRAMS[name]), target="c").plan
    (mirror,) = plan.mirrors
    assert mirror.temporary == "z"
    (said,) = [decision for decision in plan.decisions if decision.step == "mirror"]
    assert said.statements == (mirror.first, mirror.second)
    assert said.text.startswith("y is updated from both ends in one loop: ")


@pytest.mark.parametrize("name", ALONE)
def test_what_is_read_elsewhere_or_in_other_places_is_copied(name: str) -> None:
    assert pv.compile(function_of(ALONE[name]), target="c").plan.mirrors == ()


def test_rows_of_a_matrix_are_updated_so_with_a_copy_for_each_thread() -> None:
    text = """
    def rows(Y, x, n):
        z = np.zeros(len(x))
        for m in range(Y.shape[0]):
            for k in range(1, n):
                for i in range(k):
                    z[i] = Y[m, i] + x[k] * Y[m, k - i - 1]
                for i in range(k):
                    Y[m, i] = z[i]
    """
    random = np.random.default_rng(3)
    agree(text, random.random((5, 12)), random.random(12), 12, target="c", contract="strict")
    assert pv.compile(function_of(text), target="c").plan.mirrors


@pytest.mark.parametrize(
    "options", [{"fuse_passes": False}, {"schedule": "original"}, {"target": "numba"}], ids=str
)
def test_loops_that_stay_as_they_are_keep_their_copy(options: dict[str, object]) -> None:
    plan = pv.compile(function_of(PROGRAMS["reversed"]), **{"target": "c", **options}).plan
    assert plan.mirrors == ()

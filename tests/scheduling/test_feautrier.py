"""Feautrier: sequential rows outside that carry everything, parallel loops inside."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from polyviz.analysis import check, dependences
from polyviz.scheduling import schedule
from tests.analysis.programs import Program, programs
from tests.scheduling import kernels


def test_one_sequential_row_carries_a_stencil() -> None:
    outer, *inner = schedule(kernels.jacobi_2d(), "feautrier").bands
    assert outer.members[0].rows == {"R": "1 + 2t", "S": "2t"}
    assert all(member.coincident for band in inner for member in band.members)


def test_seidel_runs_along_one_front() -> None:
    outer, inner = schedule(kernels.seidel_2d(), "feautrier").bands
    assert outer.members[0].rows == {"S": "4t + 2i + j"}
    assert [member.coincident for member in inner.members] == [True, True]


def test_the_reduction_loop_goes_outside() -> None:
    bands = schedule(kernels.matmul(), "feautrier").bands
    rows = [member.rows["R"] for band in bands for member in band.members if "R" in member.rows]
    assert rows == ["k", "i", "j"]


@settings(max_examples=30)
@given(programs())
@pytest.mark.slow
def test_random_programs_are_scheduled_legally(program: Program) -> None:
    part = program.scop()
    known = dependences(part)
    assert check(part, schedule(part, "feautrier", dependences=known).map, known=known), str(program)

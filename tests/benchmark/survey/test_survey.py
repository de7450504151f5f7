"""The survey of the schedulers: what a finding says, what the table shows, and that a run can be taken up again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import polyviz as pv
from polyviz.benchmark.survey.command import run_survey
from polyviz.benchmark.survey.findings import Finding, letters
from polyviz.benchmark.survey.growth import Growth, program_text
from polyviz.benchmark.survey.picture import can_be_drawn, growth_picture
from polyviz.benchmark.survey.records import Survey, load, save
from polyviz.benchmark.survey.table import markdown
from polyviz.errors import OptionError
from polyviz.model.schedule import Band, BandMember

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FINDINGS = (
    Finding("gemm", "pluto", ("(pps)",), 0.12, True),
    Finding("gemm", "isl", (), None, False, ("It took longer than 120 s.",)),
    Finding("lu", "pluto", ("(sss)", "s"), 1.0, False, ("A differs.",)),
)
GROWTH = (
    Growth(5, "pluto", 0.1, 0.1),
    Growth(20, "pluto", 0.4, 0.8),
    Growth(20, "isl", None, None, "It took longer than 300 s."),
)


def test_letters_of_a_band() -> None:
    members = tuple(
        BandMember({}, coincident, reduction)
        for coincident, reduction in [(True, True), (False, True), (False, False)]
    )

    assert letters(Band(members, True, ("S",), 0)) == "(prs)"
    assert letters(Band(members[2:], False, ("S",), 0)) == "s"


@pytest.mark.parametrize("statements", [1, 5, 8])
def test_programs_have_as_many_statements_as_asked_for(statements: int) -> None:
    assert len(pv.extract(program_text(statements)).statements) == statements


def test_table(golden: Callable[..., None]) -> None:
    golden(markdown("a machine\nwith two cores", {"polyviz": "1"}, FINDINGS, GROWTH))


def test_picture_names_the_schedulers() -> None:
    assert can_be_drawn(GROWTH)
    assert ">pluto</text>" in growth_picture(GROWTH)
    assert not can_be_drawn(GROWTH[:1])


def test_survey_is_read_as_it_was_written(tmp_path: Path) -> None:
    survey = Survey("a machine", {"polyviz": "1"}, FINDINGS, GROWTH)
    save(survey, tmp_path)

    assert load(tmp_path) == survey
    (tmp_path / "schedulers.json").write_text("[]")
    with pytest.raises(OptionError, match="no survey that can be resumed"):
        load(tmp_path)


@pytest.mark.slow
def test_survey_goes_on_where_it_ended(tmp_path: Path) -> None:
    said: list[str] = []
    first = run_survey(["mvt"], ["original"], tmp_path, said.append, resume=False, sizes=(2,))
    count = len(said)

    second = run_survey(["mvt"], ["original"], tmp_path, said.append, resume=True, sizes=(2, 3))

    assert (first, second) == (0, 0)
    assert said[0].startswith("mvt, original: (p) (r) (p) (r) ")
    assert [line.partition(",")[0] for line in said[count:-1]] == ["3 statements"]


@pytest.mark.slow
def test_a_scheduler_that_fails_is_a_finding(tmp_path: Path) -> None:
    said: list[str] = []

    status = run_survey(["mvt"], ["nobody"], tmp_path, said.append, resume=False, sizes=(2,))

    assert status == 1
    assert said[0] == "mvt, nobody: failed"
    assert "Unknown schedule `nobody`" in (tmp_path / "schedulers.md").read_text()

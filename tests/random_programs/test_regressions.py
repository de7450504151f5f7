"""Programs that the long run once found a fault with."""

from __future__ import annotations

import pytest

from tests.random_programs.generator import SMALL, generate
from tests.random_programs.oracle import Variant, judge


def test_copies_of_a_temporary_where_no_loop_runs() -> None:
    """Their number is a choice between two expressions, and negative for these sizes."""
    outcomes = judge(generate(1021, SMALL), [Variant("original", "c")])
    assert [outcome.kind for outcome in outcomes] == ["equal", "equal"]


@pytest.mark.slow
def test_a_scalar_that_the_text_mentions_before_it_assigns_it() -> None:
    """isl puts the reading under a condition that never holds in front."""
    outcomes = judge(generate(154), [Variant("isl", "numba")])
    assert [outcome.kind for outcome in outcomes] == ["equal", "equal"]


@pytest.mark.slow
def test_tiles_whose_loops_isl_cannot_write() -> None:
    outcomes = judge(generate(25, SMALL), [Variant("isl", "python")])
    assert [outcome.kind for outcome in outcomes] == ["equal", "equal"]


@pytest.mark.slow
def test_a_limit_that_strikes_where_isl_cannot_stop() -> None:
    """It ended the process while isl looked for the integer divisions of a relation that is subtracted."""
    outcomes = judge(generate(70032), [Variant("pluto", "python")])
    assert [outcome.kind for outcome in outcomes] == ["equal", "equal"]


@pytest.mark.slow
def test_what_stands_beside_a_band_that_the_host_splits() -> None:
    """The facts about the bands beside it were looked for one level too deep."""
    outcomes = judge(generate(7200082, SMALL), [Variant("pluto", "emulated")])
    assert [outcome.kind for outcome in outcomes] == ["equal", "equal"]


@pytest.mark.slow
def test_offsets_of_strides_that_depend_on_the_block() -> None:
    outcomes = judge(generate(7200004, SMALL), [Variant("spatial", "emulated")])
    assert [outcome.kind for outcome in outcomes] == ["equal", "equal"]

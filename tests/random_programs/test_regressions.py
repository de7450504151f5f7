"""Programs that the long run once found a fault with."""

from __future__ import annotations

from tests.random_programs.generator import SMALL, generate
from tests.random_programs.oracle import Variant, judge


def test_copies_of_a_temporary_where_no_loop_runs() -> None:
    """Their number is a choice between two expressions, and negative for these sizes."""
    outcomes = judge(generate(1021, SMALL), [Variant("original", "c")])
    assert [outcome.kind for outcome in outcomes] == ["equal", "equal"]

"""Candidates: what is one step away, and how it reads."""

from __future__ import annotations

from polyviz.tuning.candidates import Candidate, Dimension, Space

SPACE = Space(
    (Dimension("fusion", ("none", "smart"), "smart"), Dimension("threads", (None, 1), None)), tile=(8, 4096)
)


def test_neighbours_change_one_thing() -> None:
    assert [str(one) for one in SPACE.neighbours(Candidate())] == [
        "tile 8 x 2048",
        "tile 16 x 4096",
        "tile 4 x 4096",
        "without tile",
        "fusion none",
        "threads 1",
    ]


def test_going_back_to_a_default_leaves_the_keyword_out() -> None:
    here = Candidate.of({"fusion": "none", "tile": False})
    assert Candidate.of({"tile": False}) in list(SPACE.neighbours(here))
    assert Candidate.of({"fusion": "none"}) in list(SPACE.neighbours(here))


def test_loops_without_tiles_are_offered_some() -> None:
    space = Space()
    assert [one.keywords for one in space.neighbours(Candidate())] == [
        {"tile": (32,)},
        {"tile": (128,)},
    ]
    assert list(Space(tiles=False).neighbours(Candidate())) == []


def test_candidates_are_equal_by_their_keywords() -> None:
    assert Candidate.of({"a": 1, "b": 2}) == Candidate.of({"b": 2, "a": 1})


def test_a_space_holds_what_changes_its_keywords_only() -> None:
    assert SPACE.holds(Candidate.of({"tile": (32,), "fusion": "none"}))
    assert not SPACE.holds(Candidate.of({"contract": "strict"}))
    assert not Space(tiles=False).holds(Candidate.of({"tile": (32,)}))

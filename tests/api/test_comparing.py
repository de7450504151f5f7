"""compare: every variant a row of its own, verified; arguments untouched; options in one line."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

import polyviz as pv
from polyviz.api.compiling import named_schedules
from polyviz.api.targets import Availability
from tests.running import function_of

SHIFT = """
def shift(A, B):
    for i in range(len(A)):
        A[i] = B[i] + 1.0
"""


@pytest.fixture(scope="module")
def comparison() -> pv.Comparison:
    function = function_of(SHIFT)
    return pv.compare(
        function,
        np.zeros(50),
        np.arange(50.0),
        schedules=("original", "{ S0[i] -> [-i] }", "original", "{ S0[i] -> [i] }", "pluto"),
        targets=("c", "c"),
        baselines=("python", "numba", "python"),
        repeats=2,
    )


@pytest.mark.slow
def test_rows_are_told_apart(comparison: pv.Comparison) -> None:
    labels = [row.label for row in comparison.rows]
    assert labels == [
        "as written/python",
        "as written/numba",
        "original/c",
        "user/c",
        "user 2/c",
        "pluto/c",
    ]
    assert list(comparison.kernels) == labels[2:]


@pytest.mark.slow
def test_every_row_is_verified_and_compared_with_the_first(comparison: pv.Comparison) -> None:
    assert all((row.status, row.verified) == ("ok", True) for row in comparison.rows)
    assert comparison.data.baseline == "as written/python"
    assert comparison.rows[0].speedup == 1.0
    assert all(row.speedup is not None and row.median is not None for row in comparison.rows)
    assert comparison.best is None or comparison.best in {row.label for row in comparison.rows}


def test_names_of_schedules_are_unique() -> None:
    scop = pv.extract(function_of(SHIFT))
    chosen = pv.schedule(scop, "pluto")
    named = named_schedules(["pluto", chosen, "pluto", "{ S0[i] -> [i] }", "{ S0[i] -> [2i] }"])
    assert list(named) == ["pluto", "pluto 2", "user", "user 2"]
    assert list(named_schedules("pluto")) == ["pluto"]  # type: ignore[arg-type]


@pytest.mark.slow
def test_a_refused_variant_is_a_row_and_arguments_stay_as_they_are() -> None:
    text = "def running(A):\n    for i in range(1, len(A)):\n        A[i] = A[i - 1] + A[i]\n"
    array = np.arange(5.0)
    result = pv.compare(
        function_of(text),
        array,
        schedules=("{ S0[i] -> [-i] }", "original"),
        targets="python",
        baselines=(),
        repeats=1,
    )
    assert [(row.label, row.status, row.verified) for row in result.rows] == [
        ("user/python", "refused", None),
        ("original/python", "ok", True),
    ]
    assert result.data.baseline is None
    assert all(row.speedup is None for row in result.rows)
    np.testing.assert_array_equal(array, np.arange(5.0))


def test_nothing_verified_is_said() -> None:
    result = pv.compare(
        function_of(SHIFT), np.zeros(5), np.ones(5), schedules=("original",), targets=("python",), baselines=(),
        repeats=1, verify=False,
    )  # fmt: skip
    assert result.rows[0].verified is None
    assert result.data.notes[-1] == "nothing was verified, as asked"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"repeats": 0}, "The number of repeats is a whole number of at least 1, not 0."),
        ({"repeats": 2.5}, "The number of repeats is a whole number of at least 1, not 2.5."),
        ({"time_limit": 0}, "The time limit is a positive number of seconds, not 0."),
        ({"baselines": ("numpy",)}, "Unknown baseline 'numpy'; known: python, numba, numba-parallel."),
        ({"contract": "fast"}, "Unknown contract 'fast'; known: reassociate, strict."),
        (
            {"fusion": "max"},
            "compare has no option `fusion`: options of a scheduler belong into pv.schedule, whose result can race.",
        ),
        ({"packs": False}, "compare has no option `packs` (did you mean `pack`?)."),
    ],
)
def test_wrong_options_are_one_line(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(pv.OptionError) as caught:
        pv.compare(function_of(SHIFT), np.zeros(5), np.ones(5), **options)
    assert str(caught.value) == sentence


@pytest.mark.slow
def test_a_target_that_is_not_here_is_a_row_with_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    room = sys.modules["polyviz.api.targets"]
    missing = {**room._looked_for(), "c": lambda: Availability(False, "No C compiler was found.")}
    monkeypatch.setattr(room, "_looked_for", lambda: missing)
    result = pv.compare(
        function_of(SHIFT),
        np.zeros(5),
        np.ones(5),
        schedules="original",
        targets=("c", "python"),
        baselines=(),
        repeats=1,
    )
    [absent, present] = result.rows
    assert (absent.label, absent.status, absent.verified, absent.median) == (
        "original/c",
        "unavailable",
        None,
        None,
    )
    assert absent.note == "The target 'c' cannot run here. No C compiler was found."
    assert present.status == "ok"
    assert "unavailable" in repr(result)


def test_schedules_under_names_of_ones_own() -> None:
    result = pv.compare(
        function_of(SHIFT),
        np.zeros(5),
        np.ones(5),
        schedules={"backwards": "{ S0[i] -> [-i] }"},
        targets="python",
        baselines=(),
        repeats=1,
    )
    assert [(row.label, row.status) for row in result.rows] == [("backwards/python", "ok")]


def test_techniques_that_are_off_are_said() -> None:
    result = pv.compare(
        function_of(SHIFT), np.zeros(5), np.ones(5), schedules=("original",), targets=("python",), baselines=(),
        repeats=1, pack=False, tile=False, register_tile=True, threads=1,
    )  # fmt: skip
    assert [note for note in result.data.notes if note.startswith("without")] == [
        "without tile, threads, pack, as asked: pv.ablation races the loops with and without each of them"
    ]


def test_a_loop_that_leaves_its_array_is_not_ok_under_numba_either() -> None:
    text = "def f(y, x, place):\n    for i in range(len(x)):\n        y[place[i]] += x[i]\n"
    arguments = (np.zeros(4), np.ones(4), np.array([0, 1, 4, 2]))
    found = pv.compare(function_of(text), *arguments, schedules="pluto", targets="c", repeats=2)
    assert [row.status for row in found.rows] == ["failed", "failed"]
    assert found.rows[0].note.startswith("reads or writes outside of an array, which numba does not notice")
    assert found.data.notes[0] == (
        "nothing to compare: `y[place[i]]` leaves its array in iteration i=2: `place[i]` is 4, and `y` has 4 elements "
        "(subscripts from -4 to 3)."
    )

"""ablation: everything on, each technique off, everything off, each verified."""

from __future__ import annotations

import contextlib
import re
import sys

import numpy as np
import pytest

import polyviz as pv
from polyviz.api.targets import Availability
from polyviz.model.techniques import techniques_for
from polyviz.runtime.stages import telling
from tests.running import function_of

PRODUCT = """
def product(C, A, B):
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            for k in range(A.shape[1]):
                C[i, j] += A[i, k] * B[k, j]
"""


@pytest.mark.slow
def test_one_row_per_technique_every_one_verified() -> None:
    arrays = (np.zeros((40, 40)), np.ones((40, 40)), np.ones((40, 40)))
    found = pv.ablation(function_of(PRODUCT), *arrays, target="c", baselines=(), repeats=1)
    names = [name for name in techniques_for(device=False) if name != "tuned"]
    assert [row.schedule for row in found.rows] == [
        "everything on",
        *(f"without {name}" for name in names),
        "everything off",
    ]
    assert all(row.verified for row in found.rows)
    everything, nothing = found.kernels["everything on/c"], found.kernels["everything off/c"]
    steps = {decision.step for decision in nothing.plan.decisions}
    assert not steps & {"tile", "register-tile"}
    assert nothing.program.threads == 1
    assert everything.program.threads is None
    assert found.kernels["without threads/c"].program.threads == 1


@pytest.mark.slow
def test_a_technique_that_finds_nothing_to_do_says_so() -> None:
    text = "def scale(A):\n    for i in range(len(A)):\n        A[i] = 2 * A[i]\n"
    found = pv.ablation(
        function_of(text), np.ones(5), target="python", without=["pack", "threads"], baselines=(), repeats=1
    )
    notes = {row.schedule: row.note for row in found.rows}
    assert notes["without pack"] == "the same program: nothing to do for it here"
    assert notes["everything on"] == notes["without threads"] == ""
    rows = {row.schedule: row for row in found.rows}
    assert rows["without pack"].verified and rows["without threads"].verified
    assert (rows["without pack"].median, rows["without pack"].source) == (None, "")
    assert rows["without threads"].median is not None
    assert "without pack" not in found.figure().layout.title.subtitle.text


def test_progress_is_that_of_an_ablation() -> None:
    told: list[str] = []
    with telling(lambda stage: contextlib.nullcontext(told.append(stage))):
        pv.ablation(
            "def f(A):\n    for i in range(3):\n        A[i] = 1.0\n",
            np.ones(3),
            target="python",
            without=[],
            baselines=(),
            repeats=1,
        )
    assert any(stage.startswith("pv.ablation") for stage in told)
    assert not any(stage.startswith("pv.compare") for stage in told)


def test_names_that_do_not_exist_are_refused() -> None:
    with pytest.raises(
        pv.OptionError, match=r"^Unknown technique 'register' \(did you mean `register_tile`\?\)\.$"
    ):
        pv.ablation(function_of(PRODUCT), without=["register"])


@pytest.mark.slow
def test_without_a_device_counts_tell_what_a_technique_gives() -> None:
    arrays = (np.zeros((70, 70)), np.ones((70, 70)), np.ones((70, 70)))
    found = pv.ablation(
        function_of(PRODUCT), *arrays, schedule="superposition", target="emulated", baselines=(), repeats=1
    )
    names = techniques_for(device=True)
    assert [row.schedule for row in found.rows] == [
        "everything on",
        *(f"without {name}" for name in names),
        "everything off",
    ]
    assert all(row.verified and row.median is None for row in found.rows)
    counted = {row.schedule: int(re.search(r"\((\d+) in all\)", row.note)[1]) for row in found.rows}
    assert counted["everything on"] < counted["without elements"] < counted["without stage"]
    # Vectors shorten what threads read from shared memory, of which the note counts no requests.
    assert counted["everything on"] == counted["without vectors"]
    notes = {row.schedule: row.note for row in found.rows}
    assert "the same program" not in notes["without vectors"]
    assert "the same program: nothing to do for it here" in notes["without trees"]


def test_a_target_that_is_not_here_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    room = sys.modules["polyviz.api.targets"]
    missing = {**room._looked_for(), "c": lambda: Availability(False, "No C compiler was found.")}
    monkeypatch.setattr(room, "_looked_for", lambda: missing)
    with pytest.raises(pv.ToolchainError, match="The target 'c' cannot run here"):
        pv.ablation(function_of(PRODUCT), target="c")


def test_one_technique_may_be_named_alone() -> None:
    arrays = (np.zeros((4, 4)), np.ones((4, 4)), np.ones((4, 4)))
    options = {"target": "python", "baselines": (), "repeats": 1}
    found = pv.ablation(function_of(PRODUCT), *arrays, without="tile", **options)
    assert [row.schedule for row in found.rows] == ["everything on", "without tile", "everything off"]

"""ablation: everything on, each technique off, everything off, each verified."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import polyviz as pv
from tests.running import function_of

PRODUCT = """
def product(C, A, B):
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            for k in range(A.shape[1]):
                C[i, j] += A[i, k] * B[k, j]
"""


def test_one_row_per_technique_every_one_verified() -> None:
    arrays = (np.zeros((40, 40)), np.ones((40, 40)), np.ones((40, 40)))
    found = pv.ablation(function_of(PRODUCT), *arrays, target="c", baselines=(), repeats=1)
    names = [name for name in pv.techniques() if name != "tuned"]
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


def test_a_technique_that_finds_nothing_to_do_says_so() -> None:
    text = "def scale(A):\n    for i in range(len(A)):\n        A[i] = 2 * A[i]\n"
    found = pv.ablation(
        function_of(text), np.ones(5), target="python", without=["pack", "threads"], baselines=(), repeats=1
    )
    notes = {row.schedule: row.note for row in found.rows}
    assert notes["without pack"] == "the same program: nothing to do for it here"
    assert notes["everything on"] == notes["without threads"] == ""


def test_names_that_do_not_exist_and_devices_are_refused() -> None:
    with pytest.raises(pv.OptionError, match=r"^Unknown technique 'packing' \(did you mean `pack`\?\)\.$"):
        pv.ablation(function_of(PRODUCT), without=["packing"])
    if pv.targets()["emulated"].available:
        with pytest.raises(pv.OptionError, match="The techniques are those of processors"):
            pv.ablation(function_of(PRODUCT), target="emulated")


def test_a_target_that_is_not_here_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    here = pv.targets()
    missing = {**here, "c": type(here["c"])(False, "No C compiler was found.")}
    monkeypatch.setattr(sys.modules["polyviz.api.targets"], "targets", lambda: missing)
    with pytest.raises(pv.ToolchainError, match="The target 'c' cannot run here"):
        pv.ablation(function_of(PRODUCT), target="c")

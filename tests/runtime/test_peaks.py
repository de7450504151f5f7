"""The measurement of the machine gives figures that make sense; how large they are is the machine's business."""

from __future__ import annotations

import pytest

from polyviz.errors import ToolchainError
from polyviz.runtime import peaks


@pytest.mark.slow
def test_figures_make_sense() -> None:
    found = peaks.measure_peaks()
    assert found.threads >= 1
    assert found.multiply_add["float64"] > 1e8
    assert found.multiply_add["float32"] > found.multiply_add["float64"] / 2
    assert found.copy > 1e8
    assert found.cached_copy > 1e8


def test_without_a_compiler_nothing_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peaks, "find_toolchain", lambda: None)
    with pytest.raises(ToolchainError, match="Nothing can be measured without a C compiler"):
        peaks.measure_peaks()


def test_copies_that_contradict_each_other_are_measured_again() -> None:
    rates = iter([16.5, 7.3, 12.0, 40.0, 99.0, 99.0])
    found = peaks._with_copies({}, lambda count: next(rates), 2**20, 2)
    assert (found.copy, found.cached_copy) == (16.5, 40.0)


def test_a_contradiction_that_stays_is_not_measured_for_ever() -> None:
    found = peaks._with_copies({}, lambda count: 16.5 if count > 2**20 else 7.3, 2**20, 2)
    assert not found.consistent

"""Everybody in a race works on equal data at the same place of a cache line."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from polyviz.benchmark.session import LINE, OFFSET, placed, sample
from polyviz.benchmark.subject import Data, analyse

if TYPE_CHECKING:
    from collections.abc import Mapping

    from polyviz.benchmark.session import Call


@pytest.mark.parametrize("shape", [(1,), (7,), (5, 3), (2, 3, 4)])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "complex128"])
def test_copies_begin_at_one_place_of_a_cache_line(shape: tuple[int, ...], dtype: str) -> None:
    array = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
    for _ in range(5):
        copy = placed(array)
        assert copy.ctypes.data % LINE == OFFSET
        assert copy.flags.c_contiguous
        assert copy.dtype == array.dtype
        np.testing.assert_array_equal(copy, array)
        copy[...] = 0
        assert array.any() == (array.size > 1)


def test_numbers_and_arrays_without_elements_are_copied_as_they_are() -> None:
    assert placed(2.5) == 2.5
    assert placed(np.zeros((0, 3))).shape == (0, 3)
    assert placed(np.asarray(3.0))[()] == 3.0


@dataclass
class Watcher:
    """Notes the arrays that each run gets, and changes one of them."""

    runs: list[dict[str, np.ndarray]] = field(default_factory=list)
    first: list[float] = field(default_factory=list)

    def prepare(self, _example: Mapping[str, Any], _parameters: Mapping[str, int]) -> Call:
        def run(values: Mapping[str, Any], _: Mapping[str, int]) -> None:
            self.runs.append(dict(values))
            self.first.append(values["x1"][0])
            values["x1"][0] += 1.0

        return run


def test_every_sample_has_a_place_in_memory_of_its_own_and_the_same_values() -> None:
    subject = analyse(Data("mvt", "mini", "float64"))
    watcher = Watcher()
    for _ in range(2):
        sample(subject, "watcher", watcher, keep=False)
    assert len(set(watcher.first)) == 1
    places = [{run["A"].ctypes.data for run in part} for part in _halves(watcher.runs)]
    assert [len(one) for one in places] == [1, 1]
    assert not places[0] & places[1]


def _halves(runs: list[dict[str, np.ndarray]]) -> list[list[dict[str, np.ndarray]]]:
    """The runs of the first sample, which have the first array, and those of the second."""
    first = [run for run in runs if run["A"] is runs[0]["A"]]
    return [first, runs[len(first) :]]

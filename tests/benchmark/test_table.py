from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from polyviz.benchmark.table import best_ratio, markdown
from tests.benchmark.samples import FAST, GCC, MEASURED, NUMBA, PLUTO, RESULTS, SLOW

if TYPE_CHECKING:
    from collections.abc import Callable


def test_the_document(golden: Callable[..., None]) -> None:
    golden(markdown(RESULTS))


def test_the_limits_of_the_machine(golden: Callable[..., None]) -> None:
    golden(markdown(MEASURED, "polybench-large.svg"))


def test_no_section_about_troubles_when_there_are_none() -> None:
    text = markdown(replace(RESULTS, kernels=(FAST,)))
    assert "Kernels below" not in text
    assert "did not run" not in text


def test_the_ratio_comes_from_pairs() -> None:
    found = best_ratio(FAST)
    assert found is not None
    assert found.value == 2.0
    assert found.interval is not None
    assert found.interval[0] < 2.0 < found.interval[1]


def test_the_best_variant_is_the_one_with_the_best_ratio() -> None:
    peer = replace(GCC, samples=(1.0, 4.0, 1.0))
    lower = replace(PLUTO, samples=(0.9, 4.4, 1.1))
    faster = replace(PLUTO, label="isl/c", samples=(1.2, 3.0, 0.95))
    assert (lower.median, faster.median) == (1.1, 1.2)
    record = replace(FAST, variants=(peer, lower, faster))
    assert record.best_own == faster
    assert best_ratio(record) is not None
    once = replace(record, variants=(NUMBA, replace(faster, samples=(), first_seconds=1.5), lower))
    assert once.best_own == lower, "no ratios: the lowest median"


def test_a_variant_that_is_wrong_makes_no_ratio() -> None:
    assert SLOW.best_own is not None
    assert SLOW.best_own.label == "pluto/c"

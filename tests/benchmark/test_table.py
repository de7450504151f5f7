from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from polyviz.benchmark.table import best_ratio, markdown
from tests.benchmark.samples import FAST, MEASURED, RESULTS, SLOW

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


def test_a_variant_that_is_wrong_makes_no_ratio() -> None:
    assert SLOW.best_own is not None
    assert SLOW.best_own.label == "pluto/c"

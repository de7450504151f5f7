"""What compiling took, whoever it was for, and whether anything had to be compiled at all."""

from __future__ import annotations

import numpy as np
import pytest

import polyviz as pv
from polyviz.runtime.variants import Baseline, run_variant

TEXT = "def f(A):\n    for i in range(len(A)):\n        A[i] = {number}.0\n"


def seconds(variant: object) -> float | None:
    return run_variant(variant, {"A": np.zeros(3)}, {"A_shape_0": 3}, ("A",)).compile_seconds  # type: ignore[arg-type]


def test_the_loop_as_written_tells_what_its_first_job_took() -> None:
    """The reference runs it first; its row must not look as if numba took no time."""
    baseline = Baseline(pv.compile(TEXT.format(number=1), target="python").original, "numba")
    first = seconds(baseline)
    assert first is not None
    assert first > 0.0
    assert seconds(baseline) == first
    assert seconds(Baseline(baseline.original, "python")) is None


@pytest.mark.parametrize("target", ["c", "numba"])
def test_what_was_compiled_before_is_kept(target: str, cache_directory: object) -> None:
    program = pv.compile(TEXT.format(number=2), target=target).program
    first = seconds(program)
    assert first is not None
    assert first > 0.0
    assert seconds(program) == 0.0


def test_readable_python_is_not_compiled() -> None:
    assert seconds(pv.compile(TEXT.format(number=3), target="python").program) is None

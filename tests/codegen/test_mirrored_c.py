"""Rows updated from both ends, in C: the text, and the bits of the loops as written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import polyviz as pv
from tests.mapping.mirror_programs import ALONE, PROGRAMS
from tests.running import function_of, shared_function, shared_kernel

if TYPE_CHECKING:
    from collections.abc import Callable

STEPS = (0, 1, 2, 3, 4, 7, 8, 9, 16, 17, 33, 40)


def arguments(dtype: str = "float64") -> list[np.ndarray]:
    random = np.random.default_rng(7)
    return [random.random(41).astype(dtype), 1.0 + random.random(42).astype(dtype)]


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_size_gives_the_bits_of_the_loops_as_written(name: str) -> None:
    kernel = shared_kernel(PROGRAMS[name], "c", contract="strict", tuned=False)
    function = shared_function(PROGRAMS[name])
    for steps in STEPS:
        found, expected = arguments(), arguments()
        kernel(*found, steps)
        function(*expected, steps)
        np.testing.assert_array_equal(found[0], expected[0], err_msg=f"{steps} steps")
    assert "z_far" in kernel.source


@pytest.mark.parametrize("name", ALONE)
def test_what_is_copied_gives_them_too(name: str) -> None:
    kernel = shared_kernel(ALONE[name], "c", contract="strict", tuned=False)
    for steps in (0, 1, 2, 9, 40):
        found, expected = arguments(), arguments()
        kernel(*found, steps)
        shared_function(ALONE[name])(*expected, steps)
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one, other, err_msg=f"{steps} steps")
    assert "z_far" not in kernel.source


def test_values_are_rounded_as_the_copy_rounds_them() -> None:
    """The copy holds single precision, the row double."""
    text = PROGRAMS["reversed"].replace("np.zeros(len(y))", "np.zeros(len(y), dtype=np.float32)")
    kernel = pv.compile(function_of(text), target="c", contract="strict", tuned=False)
    found, expected = arguments(), arguments()
    kernel(*found, 40)
    function_of(text)(*expected, 40)
    np.testing.assert_array_equal(found[0], expected[0])
    assert "const float z_far" in kernel.source


@pytest.mark.parametrize("dtype", ["float32", "int64", "complex128"])
def test_rows_of_other_types_are_updated_from_both_ends_too(dtype: str) -> None:
    text = PROGRAMS["reversed"].replace("np.zeros(len(y))", f"np.zeros(len(y), dtype=np.{dtype})")
    kernel = shared_kernel(text, "c", contract="strict", tuned=False)
    for steps in (0, 1, 2, 5, 8, 9):
        found, expected = ([(np.arange(41 + more) % 5).astype(dtype) for more in range(2)] for _ in range(2))
        kernel(*found, steps)
        shared_function(text)(*expected, steps)
        np.testing.assert_array_equal(found[0], expected[0], err_msg=f"{steps} steps")
    assert "z_far" in kernel.program_for(kernel.bind((*found, 3), {})).text


def test_without_lanes_the_loop_is_the_same() -> None:
    source = pv.compile(function_of(PROGRAMS["reversed"]), target="c", tuned=False, simd=False).source
    assert "z_far" in source
    assert "omp simd" not in source


def test_the_text(golden: Callable[..., None]) -> None:
    source = pv.compile(function_of(PROGRAMS["reversed"]), target="c", tuned=False).source
    golden(source, "c")

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from polyviz import gallery
from polyviz.analysis import dependences
from polyviz.benchmark.subject import Data, analyse, with_prange
from polyviz.frontend import extract

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.mark.parametrize("name", ["gemm", "jacobi-1d", "lu", "durbin"])
def test_prange_stands_in_the_outermost_parallel_loops(name: str, golden: Callable[..., None]) -> None:
    scop = extract(gallery.kernel(name).function)
    golden(with_prange(scop, dependences(scop)) or "")


@pytest.mark.parametrize("name", ["seidel-2d", "trisolv", "floyd-warshall"])
def test_no_prange_where_nothing_is_parallel_as_written(name: str) -> None:
    subject = analyse(Data(name, "mini", "float64"))
    assert subject.parallel is None
    assert subject.parallel_reason == "no loop is parallel as written, so there is no place for prange"


def test_a_loop_with_a_step_is_left_to_the_loops_inside() -> None:
    text = (
        "def f(A):\n    for i in range(8, -1, -1):\n        for j in range(9):\n            A[i, j] = 0.0\n"
    )
    scop = extract(text)
    found = with_prange(scop, dependences(scop))
    assert found is not None
    assert "for i in range(8, -1, -1)" in found
    assert "for j in prange(9)" in found


def test_data_are_equal_whenever_they_are_made() -> None:
    one, other = (Data("gramschmidt", "mini", "float64").arguments() for _ in range(2))
    assert one[2] is not other[2]
    np.testing.assert_array_equal(one[2], other[2])
    assert np.linalg.matrix_rank(one[2]) == min(one[2].shape)


def test_a_subject_knows_what_changes_and_its_sizes() -> None:
    subject = analyse(Data("gemm", "small", "float32"))
    assert subject.names == ("alpha", "beta", "C", "A", "B")
    assert subject.written == ("C",)
    assert subject.parameters["ni"] == 60
    assert subject.example_parameters["ni"] == 20
    assert subject.program is not None
    assert subject.program.types["C"].dtype == "float32"
    assert "#pragma omp" not in subject.program.text

"""Arrays in one dimension that hold rows become arrays with a dimension for each part of their subscripts."""

from __future__ import annotations

import numpy as np
import pytest

from polyviz.analysis import with_arrays_in_rows
from polyviz.analysis.delinearisation import in_one_dimension
from polyviz.frontend import extract
from polyviz.model.expression import Name

ROWS = """
def f(A, x, y, n, m):
    for i in range(n):
        for j in range(m):
            y[i] += A[i * m + j] * x[j]
"""


def test_an_argument_in_rows_has_a_dimension_for_each_part_and_exact_accesses() -> None:
    part = with_arrays_in_rows(extract(ROWS))
    [access] = [one for one in part.statements[0].accesses if one.array == "A"]
    assert access.exact and not access.reason
    assert str(access.relation) == "[n, m] -> { S0[i, j] -> A[i, j] : 0 <= i < n and 0 <= j < m }"
    array = part.array("A")
    assert (array.rank, array.rows, array.extents[0]) == (2, (Name("m"),), None)
    assert part.array("x").rank == 1
    assert any("A holds rows" in note for note in part.notes)


def test_three_parts_make_three_dimensions() -> None:
    part = with_arrays_in_rows(
        extract(
            "def f(A, n, m, p):\n for i in range(n):\n  for j in range(m):\n   for k in range(p):\n"
            "    A[(i * m + j) * p + k] = A[i * m * p + j * p + k] + 1.0"
        )
    )
    assert part.array("A").rows == (Name("m"), Name("p"))
    assert all("A[i, j, k]" in str(access.relation) for access in part.statements[0].accesses)


@pytest.mark.parametrize(
    "text",
    [
        # Places that no row holds for sure.
        "def f(A, n, m):\n for i in range(n):\n  for j in range(m): A[i * m + j] = A[i]",
        # Columns beyond the end of a row.
        "def f(A, n, m, k):\n for i in range(n):\n  for j in range(k): A[i * m + j] = 0.0",
        # Data decide on a place.
        "def f(A, p, n, m):\n for i in range(n):\n  for j in range(m): A[i * m + j] = A[p[i]]",
        # All of the array gets another content.
        "def f(A, n, m):\n for i in range(n):\n  for j in range(m): A[i * m + j] += 1.0\n A = A * 2",
    ],
)
def test_other_arrays_stay_as_they_are(text: str) -> None:
    part = extract(text, namespace={"np": np})
    assert with_arrays_in_rows(part).array("A").rank == 1


def test_an_array_that_the_part_makes_has_whole_rows() -> None:
    text = "def f(n, m):\n A = np.zeros(n * m)\n for i in range(n):\n  for j in range(m): A[i * m + j] = i\n return A"
    array = with_arrays_in_rows(extract(text, namespace={"np": np})).array("A")
    assert [str(extent) for extent in array.extents] == [
        f"{'[n, m, n_times_m]'} -> {{ [({name})] }}" for name in ("n", "m")
    ]


def test_the_cells_of_the_caller_are_told_again() -> None:
    part = in_one_dimension(with_arrays_in_rows(extract(ROWS)), {"n": 3, "m": 5})
    [access] = [one for one in part.statements[0].accesses if one.array == "A"]
    assert "A[5i + j]" in str(access.relation)
    assert part.array("A").rank == 1

"""Arrays in one dimension that hold rows become arrays with a dimension for each part of their subscripts."""

from __future__ import annotations

import numpy as np
import pytest

from polyviz.analysis import with_arrays_in_rows
from polyviz.analysis.constant_rows import numbered_rows
from polyviz.analysis.delinearisation import in_one_dimension
from polyviz.frontend import extract
from polyviz.model.expression import Constant, Element, Name, walk

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


STENCIL = """
def f(A, B, n):
    for i in range(1, n - 1):
        for j in range(1, 99):
            B[i * 100 + j] = A[(i - 1) * 100 + j] + A[i * 100 + j - 1] + A[100 * i + 101 + j]
"""


def test_strides_that_are_numbers_are_found_by_dividing() -> None:
    part = with_arrays_in_rows(extract(STENCIL))
    reads = [str(one.relation.range_product(one.relation)) for one in part.statements[0].accesses if one.kind == "read"]
    for cell, text in zip(("A[-1 + i, j]", "A[i, -1 + j]", "A[1 + i, 1 + j]"), reads, strict=True):
        assert cell in text
    assert part.array("A").rows == (Constant(100),)
    cells = [node.subscripts for node in walk(part.statements[0].body[0]) if isinstance(node, Element)]
    assert cells[0] == (Name("i"), Name("j"))


def test_a_diagonal_takes_part_in_both_strides() -> None:
    part = extract("def f(A):\n for i in range(50):\n  A[i * 50 + i] = 1.0\n  for j in range(50): A[i * 50 + j] += 1.0")
    found = with_arrays_in_rows(part)
    assert "A[i, i]" in str(found.statements[0].accesses[0].relation)


@pytest.mark.parametrize(
    "text",
    [
        # Strips of one long loop.
        "def f(A, n):\n for i in range(n):\n  for j in range(64): A[64 * i + j] += 1.0",
        # The rows overlap.
        "def f(A, n):\n for i in range(n):\n  for j in range(65): A[64 * i + j] += 1.0",
        # Cells of three numbers.
        "def f(A, n):\n for i in range(n):\n  for j in range(2): A[3 * i + j] += 1.0",
        # A walk along the diagonal that leaves its row.
        "def f(A, n):\n for i in range(n):\n  A[i * 65] = 1.0\n  for j in range(63): A[64 * i + j] += 1.0",
    ],
)
def test_what_is_no_matrix_has_no_rows(text: str) -> None:
    part = extract(text)
    assert not numbered_rows(part.arrays, part)


def test_a_sweep_beside_a_matrix_has_the_same_rows() -> None:
    text = "def f(A, B, n):\n for i in range(n):\n  for j in range(64): A[64 * i + j] = B[64 * i + j]\n"
    alone, beside = (
        extract(text + more)
        for more in ("", " for i in range(n):\n  for j in range(1, 64): A[64 * i + j] += A[64 * i + j - 1]")
    )
    assert not numbered_rows(alone.arrays, alone)
    assert numbered_rows(beside.arrays, beside).keys() == {"A", "B"}


def test_parts_whose_strides_differ_by_a_number_share_a_dimension() -> None:
    part = with_arrays_in_rows(
        extract(
            "def f(A, n, m):\n for i in range(n):\n  for j in range(m):\n   for c in range(3):\n"
            "    A[3 * (i * m + j) + c] = A[(i * m + j) * 3 + 2 - c]"
        )
    )
    assert [str(extent) for extent in part.array("A").extents[1:]] == ["[n, m] -> { [(3m)] }"]
    read, write = sorted(str(one.relation) for one in part.statements[0].accesses if one.array == "A")
    assert "-> A[i, 2 + 3j - c]" in read
    assert "-> A[i, 3j + c]" in write

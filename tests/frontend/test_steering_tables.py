"""Arrays that say which neighbours a loop looks at: their elements stand in the subscripts, as numbers."""

from __future__ import annotations

import numpy as np
import pytest

from polyviz.errors import OutOfBoundsError
from polyviz.frontend import extract
from tests.frontend.agreement import agree
from tests.running import function_of

TABLES = "    e = np.array([0, 1, -1])\n    d = np.array([[1, 0], [-1, 2]], dtype=np.int32)\n"


def written(lines: str) -> str:
    inner = "".join(f"    {line}\n" for line in lines.split("; "))
    return f"def f(A, B, x):\n{TABLES}    n = len(A)\n{inner}"


def affine(lines: str) -> int:
    """How many statements there are, all of them exact, with the results of the plain run."""
    scop = agree(written(lines), A=np.zeros((8, 8)), B=np.arange(64.0).reshape(8, 8), x=np.ones(8))
    assert all(access.exact for statement in scop.statements for access in statement.accesses)
    assert not {"e", "d"} & {access.array for statement in scop.statements for access in statement.accesses}
    return len(scop.statements)


@pytest.mark.parametrize(
    ("lines", "statements"),
    [
        ("for i in range(1, n - 1):;     for q in range(3): A[i, q] = B[i - e[q], q]", 3),
        ("for q in range(3):;     for i in range(1, n - 1): A[i + e[q], 0] += B[i, q]", 3),
        ("for i in range(1, n - 1):;     for q in range(3):;         k = i + e[q];         A[k, q] = B[i, q]", 3),
        ("for i in range(n):;     for q in range(len(e)): A[(i + e[q]) % n, q] = B[i, q]", None),
        ("for i in range(1, n):;     for q in range(2):;         p, r = d[q];         A[i, q] = B[i - p, 3 + r]", None),
        ("for i in range(n):;     for q in range(3):;         if i + e[q] < n: A[i, q] = B[i, q] * e[q]", 3),
        ("for q in range(e.size):;     for i in range(1, n - 1): A[i, q] = B[i - e[q], q]", 3),
        ("for q in range(d.shape[0]):;     for i in range(2, n - 2): A[i, q] = B[i - d[q, 0], 3 + d[q, 1]]", 2),
        ("for p, r in d:;     for i in range(2, n - 2): A[i, 3 + r] += B[i - p, 3 + r] * d.shape[-1]", 2),
        ("for i in range(n): A[i, e[1]] = B[i, e[2]]; for q in range(1): A[e[q], 1] = 2.0", None),
    ],
    ids=["read", "written", "named", "wrapped", "taken apart", "condition", "size", "shape",
         "rows", "outside"],
)
def test_what_a_table_steers_is_affine(lines: str, statements: int | None) -> None:
    if statements is None:
        lines = lines.replace("B[i - p, 3 + r]", "B[i - p - 1, 3 + r]").replace("range(1, n)", "range(2, n - 1)")
    found = affine(lines)
    assert statements is None or found == statements


def test_a_cell_keeps_its_tables() -> None:
    text = "e = np.array([0, 1, -1])\nfor q in range(e.size):\n for i in range(1, 7): A[i, q] = B[i - e[q], q]"
    scop = agree(text, A=np.zeros((8, 8)), B=np.arange(64.0).reshape(8, 8))
    assert all(access.exact for statement in scop.statements for access in statement.accesses)
    assert "e" in {array.name for array in scop.arrays if array.live_out}


def test_arrays_around_a_function_steer_as_well() -> None:
    directions = np.array([-1, 0, 1])
    text = "def f(A, B):\n    for i in range(1, len(A) - 1):\n        for q in range(3): A[i] += B[i + directions[q]]"
    scop = extract(function_of(text), namespace={"directions": directions})
    assert [access.text for one in scop.statements for access in one.accesses if access.array == "B"] == [
        "B[i + directions[q]]"
    ] * 3
    assert any("taken with its values of now" in note for note in scop.notes)


@pytest.mark.parametrize(
    "lines",
    [
        "for i in range(n):;     for q in range(3): A[i, q] = B[i, q] * e[q]",
        "e[0] = 1; for i in range(1, n - 1):;     for q in range(3): A[i, q] = B[i - e[q], q]",
        "for i in range(1, n - 1):;     for q in range(3): A[i, q] = B[i - e[int(x[q])], q]",
        "w = e; w[0] = 1; for i in range(1, n - 1):;     for q in range(3): A[i, q] = B[i - e[q], q]",
    ],
    ids=["weights", "changed", "found in data", "under another name"],
)
def test_other_arrays_stay(lines: str) -> None:
    scop = extract(written(lines))
    assert "e" in {access.array for statement in scop.statements for access in statement.accesses}


def test_elements_that_are_not_there_are_refused() -> None:
    with pytest.raises(OutOfBoundsError, match=r"e\["):
        extract(written("for i in range(1, n - 1):;     for q in range(4): A[i, q] = B[i - e[q], q]"))

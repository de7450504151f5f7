"""Sums over generators and lists are those of Python; loops over ``np.arange`` are loops over ``range``."""

from __future__ import annotations

import numpy as np
import pytest

from polyviz.errors import ExtractionError
from polyviz.frontend import extract
from tests.frontend.agreement import agree
from tests.frontend.compiled import same_compiled


def sums(A, x, n):
    i = 7
    A[0, 0] = sum(x[i] for i in range(n))
    x[0] += 2.0 * sum(A[i, j] for i in range(n) for j in range(i) if A[i, j] > 1) - sum([v for v in x])
    if sum(v * v for v in x) > 10.0:
        x[1] = np.sum([x[k] for k in range(0, n, 2)])
    for k in np.arange(1, n):
        x[k] = x[k] + sum(A[k, j] for j in range(k))
    return sum(x[j] > 0 for j in range(n)), i


@pytest.mark.parametrize("target", ["c", "numba"])
@pytest.mark.parametrize("contract", ["strict", "reassociate"])
@pytest.mark.parametrize("dtype", ["float64", "int64"])
def test_the_values_of_python(target: str, contract: str, dtype: str) -> None:
    given = {"A": (np.arange(16).reshape(4, 4) % 5).astype(dtype), "x": np.array([3, -1, 4, 2]).astype(dtype)}
    for n in (2, 4):
        same_compiled(sums, {**given, "n": n}, target, contract)


def of_parts(A, x, n):
    element = 2.0
    x[0] = sum(x) * element + sum(a * b for a, b in zip(x, A[0])) - sum(A[1])  # noqa: B905
    x[1] = sum((i * a for i, a in enumerate(x)), 10) + sum([a for a in x], x[2])
    x[2] = sum(sum(A[i, j] * sum(A[j, k] for k in range(i)) for j in range(n) if A[i, j] > 1) ** 2 for i in range(n))
    x[3] = sum(sum(row) for row in A if sum(row) > 7) + sum(p - s for p, q, r, s in A)
    return sum(v > 0 for v in x), element


@pytest.mark.parametrize("target", ["c", "numba"])
@pytest.mark.parametrize("dtype", ["float64", "int64"])
def test_sums_of_sums_of_what_is_taken_apart_and_from_a_start(target: str, dtype: str) -> None:
    given = {"A": (np.arange(16).reshape(4, 4) % 5).astype(dtype), "x": np.array([3, -1, 4, 2]).astype(dtype)}
    same_compiled(of_parts, {**given, "n": 4}, target, "strict")


def test_sums_in_cells_leave_no_names() -> None:
    scop = agree("s = sum(x) + sum(a * b for a, b in zip(x, y))", x=np.arange(4.0), y=np.ones(4))
    assert [array.name for array in scop.arrays if array.live_out] == ["s"]


def test_a_cell_keeps_its_names() -> None:
    agree("i = 3\nx[0] = sum(x[i] for i in range(n)) + i", x=np.arange(4.0), n=4)


@pytest.mark.parametrize(
    "line",
    ["x[0] = max(x[i] for i in range(n))", "x[0] = n > 2 and sum(x[i] for i in range(n))",
     "x[0] = sum((1, n))", "y = [x[i] for i in range(n) if x[i] > n]",
     "for i in np.arange(0.0, 1.0, 0.25): x[0] = i", "x[0] = sum(i for i in range(i))",
     "x[0] = sum(i + j for i in range(j) for j in range(3))"],
)  # fmt: skip
def test_what_is_no_sum_is_refused(line: str) -> None:
    with pytest.raises(ExtractionError):
        extract(f"import numpy as np\ndef f(x, n):\n x[1] = 0.0\n {line}")

"""Arrays that are made of what is computed: ``C = A @ B``, ``return a + trace``. The same result as in Python."""

from __future__ import annotations

import numpy as np
import pytest

from polyviz.errors import ExtractionError
from polyviz.frontend import extract
from tests.frontend.agreement import agree

PROGRAMS = {
    "sum with a number": """
trace = 0.0
for i in range(A.shape[0]):
    trace += np.tanh(A[i, i])
return A + trace
""",
    "product": """
C = A[:, :] @ B[:, :]
D = C + A
return D, C
""",
    "parts of different places": """
lap = 4.0 * A[1:-1, 1:-1] - (A[2:, 1:-1] + A[:-2, 1:-1])
step = lap[1:, :] - lap[:-1, :]
flow = np.where(step * B[1:-2, 1:-1] > 0, 0.0, step)
return flow
""",
    "means of columns": """
m = np.sum(A[:, :], axis=0) / n
c = A - m
return c
""",
    "a copy in a sum": """
C = B[:, :].copy() * 2.0
B[:, :] = A[:, :]
return C
""",
    "written again element by element": """
C = A[:, :] * B[:, :]
for i in range(C.shape[0]):
    C[i, 0] += 1.5
return C
""",
    "conditions": """
M = A[:, :] > B[:, :]
count = 0
for i in range(n):
    for j in range(n):
        if M[i, j]:
            count += 1
return count, M
""",
    "made anew in every step": """
for t in range(3):
    change = A[1:, :] - A[:-1, :]
    if t > 0:
        flow = 0.5 * change[:, 1:]
        A[1:, 1:] = A[1:, 1:] - flow
    A[0, :] = change[0, :]
return A[0, 0]
""",
    "empty": """
C = A[3:2, :] + 1.0
return C
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_result_of_python(name: str) -> None:
    text = "def f(A, B, n):\n    " + PROGRAMS[name].strip().replace("\n", "\n    ")
    data = np.random.default_rng(3)
    # Whole numbers: a product adds them up in any order.
    A, B = data.integers(-9, 9, (2, 5, 5)).astype(float)
    agree(text, A=A, B=B, n=5)


def test_a_cell_leaves_the_array_in_the_notebook() -> None:
    part = extract("C = A + 1.0\nC[0] = 2.0", namespace={"A": np.ones(4)})
    [made] = [array for array in part.arrays if array.name == "C"]
    assert made.live_out and made.rank == 1


@pytest.mark.parametrize(
    "text",
    [
        "def f(A):\n for t in range(3):\n  if t > 0: A[0] = B[0]\n  B = A[:] + 1.0",
        "def f(A):\n for t in range(3):\n  B = A[t:] + 1.0\n  A[0] = B[0]",
    ],
    ids=["used before", "of many sizes"],
)
def test_one_name_stands_for_one_array_made_once(text: str) -> None:
    with pytest.raises(ExtractionError):
        extract(text)

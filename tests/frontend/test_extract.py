"""Whole scops as golden text: domains, accesses, schedule trees, liveness, notes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from polyviz.errors import ExtractionError
from polyviz.frontend import extract
from polyviz.gallery import kernels, polybench
from tests.frontend.description import describe

if TYPE_CHECKING:
    from collections.abc import Callable

    from polyviz.gallery.entry import GalleryKernel

TEXTS = {
    "triangular": """
def f(A, n):
    for i in range(n):
        for j in range(i, n):
            A[i, j] = A[j, i]
        A[i, i] = 0.0
""",
    "negative steps": """
def f(A, n):
    for i in range(n - 1, -1, -2):
        for j in range(i, 0, -1):
            A[i, j] = A[i, j - 1]
        A[i, 0] = 1.0
""",
    "conditions": """
def f(A, n):
    for i in range(n):
        if i % 2 == 0 and i != 4:
            A[i] = 1.0
        elif 2 <= i < n // 2 or i == n - 1:
            A[i] = 2.0
        else:
            A[i] = 3.0
""",
    "sparse product": """
def f(start, column, values, x, y):
    n = len(y)
    for i in range(n):
        total = 0.0
        for k in range(start[i], start[i + 1]):
            total += values[k] * x[column[k]]
        y[i] = total
""",
    "condition on data": """
def f(A, B, n):
    for i in range(n):
        if A[i] > 0.0 and i > 0:
            t = A[i] * 2.0
            B[i] = t
        else:
            B[i] = A[i - 1]
""",
    "condition around a loop": """
def f(A, B, flag, n):
    if flag > 0.5:
        for i in range(n):
            A[i] = B[i]
""",
    "integer temporaries": """
def f(A, n):
    half = n // 2
    count = 0
    for i in range(half):
        mirrored = n - 1 - i
        A[i], A[mirrored] = A[mirrored], A[i]
        count += 2
    return count
""",
    "derived parameters": """
def f(A, n, m):
    for i in range(n * m):
        A[i] = 0.0
    for i in range(int(n / 2)):
        A[i] = 1.0
""",
    "arrays made inside": """
import numpy as np

def f(A, v):
    n, m = A.shape
    B = np.zeros((n, m + 1), dtype=np.float32)
    C = np.empty_like(A)
    D = np.full(n, v)
    for i in range(n):
        for j in range(m):
            C[i, j] = A[i, j] + B[i, j + 1] + D[i]
    return C, D[0] / n
""",
    "periodic": """
def f(A, B):
    n = len(A)
    for i in range(n):
        B[i] = A[i - 1] + A[(i + 1) % n] + A[-1]
""",
    "both arms write": """
def f(A, B, n):
    for i in range(n):
        if A[i] > 0.0:
            B[i] = 1.0
        else:
            B[i] = -1.0
""",
    "names hidden by loops": """
def f(A, n):
    for n in range(n):
        A[n] = 1.0
    for i in range(3):
        A[i] = 2.0
        for i in range(2):
            A[i] += 1.0
""",
}


@pytest.mark.parametrize("name", TEXTS)
def test_function(name: str, golden: Callable[..., None]) -> None:
    golden(describe(extract(TEXTS[name])))


CELL = """%%polyopt --compare
import numpy as np
half = N // 2
total = 0.0
B = np.zeros((N, N))
for i in range(half):
    for j in range(1, N):
        B[i, j] = A[i, j - 1] * alpha
        total += B[i, j]
count += 1
"""


def test_cell_of_unknown_names(golden: Callable[..., None]) -> None:
    golden(describe(extract(CELL)))


def test_cell_of_a_notebook(golden: Callable[..., None]) -> None:
    namespace = {"N": 10, "A": np.zeros((10, 10)), "alpha": 2.0, "count": np.int64(3), "np": np}
    golden(describe(extract(CELL, namespace=namespace)))


@pytest.mark.thinned(3)
@pytest.mark.parametrize("kernel", polybench(), ids=lambda kernel: kernel.name)
def test_polybench(kernel: GalleryKernel, golden: Callable[..., None]) -> None:
    golden(describe(extract(kernel.function)))


@pytest.mark.parametrize("kernel", kernels(), ids=lambda kernel: kernel.name)
def test_every_kernel_of_the_gallery_is_extracted(kernel: GalleryKernel) -> None:
    scop = extract(kernel.function)
    assert scop.statements
    assert {statement.name for statement in scop.statements} == set(names_in_schedule(scop.schedule))


def names_in_schedule(schedule: object) -> list[str]:
    domain = schedule.get_domain()  # type: ignore[attr-defined]
    found: list[str] = []
    domain.foreach_set(lambda part: found.append(part.get_tuple_name()))
    return found


@pytest.mark.parametrize("terms", [900, 3000])
def test_an_endless_sum_is_refused_in_words(terms: int) -> None:
    with pytest.raises(ExtractionError, match="nested too deeply") as caught:
        extract(f"for i in range(n): A[i] = {' + '.join(['x'] * terms)}")
    assert "several statements" in str(caught.value.hint)

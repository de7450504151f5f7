"""Recurrences whose rows wait for each other through sums, for the tests of panels."""

from __future__ import annotations

from typing import Any

import numpy as np

PROGRAMS = {
    "forward": """
        def forward(L, x, b):
            for i in range(len(x)):
                x[i] = b[i]
                for j in range(i):
                    x[i] -= L[i, j] * x[j]
                x[i] = x[i] / L[i, i]
        """,
    "temporary": """
        def temporary(L, x, b):
            for i in range(len(x)):
                w = b[i]
                for j in range(i):
                    w -= L[i, j] * x[j]
                x[i] = w / L[i, i]
        """,
    "called": """
        def called(L, x, b):
            for i in range(len(x)):
                x[i] = b[i]
                for j in range(i):
                    x[i] -= np.sin(L[i, j]) * x[j]
                x[i] = x[i] / L[i, i]
        """,
    "backward": """
        def backward(L, x, b):
            for i in range(len(x) - 1, -1, -1):
                for j in range(len(x) - 1, i, -1):
                    b[i] = b[i] - x[j] * L[i, j]
                x[i] = b[i] / L[i, i]
        """,
    "transposed": """
        def transposed(L, x, b):
            for i in range(len(x)):
                for j in range(i):
                    b[i] = b[i] - L[j, i] * x[j]
                x[i] = b[i] / L[i, i]
        """,
    "filter": """
        def filter(L, x, b):
            for i in range(len(b), len(x)):
                for k in range(len(b)):
                    x[i] += b[k] * x[i + k - len(b)]
        """,
    "several": """
        def several(L, x, b):
            for m in range(len(L)):
                for i in range(len(x)):
                    for j in range(i):
                        L[m, i] -= 0.01 * (b[i] + x[j]) * L[m, j]
        """,
    "coupled": """
        def coupled(L, x, b):
            for i in range(len(x)):
                for j in range(i):
                    x[i] -= L[i, j] * b[j]
                    b[i] += L[i, j] * x[j]
        """,
    "longest": """
        def longest(L, x, b):
            for i in range(len(x)):
                for j in range(i):
                    x[i] = max(x[i], x[j] + L[i, j])
        """,
    "newest_first": """
        def newest_first(L, x, b):
            for i in range(len(x) - 1, -1, -1):
                for j in range(i + 1, len(x)):
                    b[i] -= L[i, j] * x[j]
                x[i] = b[i] / L[i, i]
        """,
    "all_needed": """
        def all_needed(L, x, b):
            for i in range(len(x)):
                for j in range(len(x)):
                    x[i] += L[i, j] * b[j]
                for j in range(len(x)):
                    b[j] = 0.5 * b[j] + L[i, j] * x[i]
        """,
}
REFUSED = ("newest_first", "all_needed")
"""Those whose rows have nothing to do before the row above them is done."""


def arguments(size: int, dtype: str = "float64", order: str = "C", taps: int | None = None) -> list[Any]:
    """Arguments of the programs, well conditioned; ``taps`` is the length of ``b``."""
    random = np.random.default_rng(11)
    square = random.standard_normal((size, size)) / max(1, size) + np.eye(size)
    vectors = (random.standard_normal(size), random.standard_normal(size if taps is None else taps) / 8)
    return [np.array(square, dtype=dtype, order=order), *(vector.astype(dtype) for vector in vectors)]  # type: ignore[call-overload]

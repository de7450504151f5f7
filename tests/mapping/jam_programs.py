"""Passes over matrices whose rows share what they go through, for the tests of rows together."""

from __future__ import annotations

from typing import Any

import numpy as np

PROGRAMS = {
    "product": """
        def product(A, x, y, s):
            for i in range(A.shape[0]):
                for j in range(A.shape[1]):
                    x[i] += A[i, j] * y[j]
        """,
    "through": """
        def through(A, x, y, s):
            for i in range(A.shape[0]):
                for j in range(A.shape[1]):
                    x[i] += A[i, j] * y[j]
                for j in range(A.shape[1]):
                    s[j] += A[i, j] * x[i]
        """,
    "outer": """
        def outer(A, x, y, s):
            for i in range(A.shape[0]):
                for j in range(A.shape[1]):
                    A[i, j] = A[i, j] + x[i] * y[j]
        """,
    "shifted": """
        def shifted(A, x, y, s):
            for i in range(3, A.shape[0]):
                for j in range(2, A.shape[1] - 1):
                    x[i] += A[i, j] * y[j + 1]
        """,
    "a sum in a variable": """
        def product(A, x, y, s):
            for i in range(A.shape[0]):
                t = 0.0
                for j in range(A.shape[1]):
                    t += A[i, j] * y[j]
                x[i] = t
        """,
    "two variables": """
        def both(A, x, y, s):
            for i in range(A.shape[0]):
                t = x[i]
                u = 1.0
                for j in range(A.shape[1]):
                    t -= A[i, j] * y[j]
                for j in range(A.shape[1]):
                    u += A[i, j] * s[j]
                x[i] = t / u
        """,
    "some rows": """
        def part(A, x, y, s):
            for i in range(A.shape[0]):
                t = 0.0
                if i > 2:
                    for j in range(A.shape[1]):
                        t += A[i, j] * y[j]
                x[i] = t
        """,
}
ALONE = {
    "triangle": """
        def triangle(A, x, y, s):
            for i in range(A.shape[0]):
                for j in range(i):
                    x[i] += A[i, j] * y[j]
        """,
    "nothing in common": """
        def copied(A, x, y, s):
            for i in range(A.shape[0]):
                for j in range(A.shape[1]):
                    A[i, j] = 2.0 * A[i, j] + x[i]
        """,
    "two matrices": """
        def two(A, x, y, s, B):
            for i in range(A.shape[0]):
                for j in range(A.shape[1]):
                    x[i] += A[i, j] * y[j]
                    s[i] += B[i, j] * y[j]
        """,
    "few rows": """
        def few(A, x, y, s):
            for i in range(9):
                for j in range(A.shape[1]):
                    x[i] += A[i, j] * y[j]
        """,
    "a variable of each column": """
        def squares(A, x, y, s):
            for i in range(A.shape[0]):
                for j in range(A.shape[1]):
                    t = x[i] * y[j]
                    A[i, j] = A[i, j] + t * t
        """,
    "a temporary": """
        def temporary(A, x, y, s):
            for i in range(A.shape[0]):
                t = 0.0
                for j in range(A.shape[1]):
                    t = 0.5 * t + A[i, j] * y[j]
                x[i] = t
        """,
}


def arguments(rows: int, columns: int) -> list[Any]:
    """Arrays for the programs with these extents."""
    random = np.random.default_rng(rows * 1000 + columns)
    longer = max(rows, columns) + 2
    return [random.random((rows, columns)), *(random.random(longer) for _ in range(3))]

"""Programs whose generated text is kept, and what generation needs to know of them."""

from __future__ import annotations

import polyviz as pv
from tests.running import function_of

SOURCES = {
    "gemm": """
        def gemm(alpha, beta, C, A, B):
            for i in range(C.shape[0]):
                for j in range(C.shape[1]):
                    C[i, j] *= beta
                for k in range(A.shape[1]):
                    for j in range(C.shape[1]):
                        C[i, j] += alpha * A[i, k] * B[k, j]
        """,
    "jacobi_2d": """
        def jacobi_2d(A, B, steps):
            n = A.shape[0]
            for t in range(steps):
                for i in range(1, n - 1):
                    for j in range(1, n - 1):
                        B[i, j] = 0.2 * (A[i, j] + A[i, j - 1] + A[i, j + 1] + A[i - 1, j] + A[i + 1, j])
                for i in range(1, n - 1):
                    for j in range(1, n - 1):
                        A[i, j] = 0.2 * (B[i, j] + B[i, j - 1] + B[i, j + 1] + B[i - 1, j] + B[i + 1, j])
        """,
    "lu": """
        def lu(A):
            for i in range(len(A)):
                for j in range(i):
                    for k in range(j):
                        A[i, j] -= A[i, k] * A[k, j]
                    A[i, j] /= A[j, j]
                for j in range(i, len(A)):
                    for k in range(i):
                        A[i, j] -= A[i, k] * A[k, j]
        """,
    "scan": """
        def scan(A):
            for i in range(1, len(A)):
                A[i] += A[i - 1]
        """,
    "temporary": """
        def temporary(A, B):
            for i in range(len(A)):
                t = A[i] * A[i]
                B[i] = t / (1.0 + t)
        """,
    "sum": """
        def total(A):
            s = 0.0
            for i in range(len(A)):
                s += A[i]
            return s
        """,
    "csr": """
        def csr(y, values, columns, rows, x):
            for i in range(len(y)):
                y[i] = 0.0
                for k in range(rows[i], rows[i + 1]):
                    y[i] += values[k] * x[columns[k]]
        """,
    "negative_step": """
        def backward(A, n):
            for i in range(n - 1, 0, -2):
                A[i] = A[i - 1] + i
        """,
    "local_array": """
        def smooth(A):
            n = len(A)
            B = np.zeros(n, dtype=np.float32)
            for i in range(1, n - 1):
                B[i] = (A[i - 1] + A[i] + A[i + 1]) / 3
            return B
        """,
    "names": """
        def names(I, double, min, c0, i_tile, n):
            for i in range(c0):
                for j in range(c0):
                    for k in range(c0):
                        I[i, j] += double[i, k] * min[k, j] + i_tile[i] + n
        """,
}


def program(name: str, target: str, schedule: str = "pluto") -> pv.Kernel:
    """The kernel of one of the programs, the same on every machine (register tiles depend on the processor)."""
    return pv.compile(function_of(SOURCES[name]), schedule=schedule, target=target, register_tile=False)

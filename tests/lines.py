"""Stencils along a line, and a processor with long vectors, for the tests of how such sweeps are run."""

from polyviz.model.processor import Processor

WIDE = Processor(64, 32, 49152, 1048576, 2)
LINE = """
def line(A, B, steps, n):
    for t in range(steps):
        for i in range(1, n - 1):
            B[i] = 0.3 * (A[i - 1] + A[i] + A[i + 1])
        for i in range(1, n - 1):
            A[i] = 0.3 * (B[i - 1] + B[i] + B[i + 1])
"""
ROWS = """
def rows(A, steps, n):
    for t in range(1, steps):
        for i in range(1, n - 1):
            A[t, i] = 0.3 * A[t - 1, i - 1] + 0.4 * A[t - 1, i] + 0.2 * A[t - 1, i + 1]
"""

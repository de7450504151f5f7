"""Kernels to edit: small texts whose arrays can be made, and a run beside the original."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import polyviz as pv
from tests.running import copies, function_of

if TYPE_CHECKING:
    from polyviz.editing import Edit

GEMM = """
def gemm(C, A, B):
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            C[i, j] *= 0.5
        for k in range(A.shape[1]):
            for j in range(C.shape[1]):
                C[i, j] += A[i, k] * B[k, j]
"""
JACOBI = """
def jacobi(T: int, A, B):
    for t in range(T):
        for i in range(1, len(A) - 1):
            B[i] = A[i - 1] + A[i] + A[i + 1]
        for i in range(1, len(A) - 1):
            A[i] = 0.3 * B[i]
"""
PLAIN = """
def plain(A, B):
    for i in range(A.shape[0]):
        for j in range(7):
            A[i, j] = 2 * A[i, j] + i + B[j]
"""
CHAIN = """
def chain(A, B):
    for i in range(A.shape[0]):
        for j in range(1, A.shape[1]):
            A[i, j] = A[i, j - 1] + B[j]
"""


def arguments(text: str) -> tuple[object, ...]:
    random = np.random.default_rng(7)
    if text is GEMM:
        return random.random((9, 11)), random.random((9, 6)), random.random((6, 11))
    if text is JACOBI:
        return 5, random.random(14), random.random(14)
    return random.random((10, 7)), random.random(7)


def edit(text: str, schedule: str = "original") -> Edit:
    return pv.edit(function_of(text), schedule)


def runs_like_the_original(text: str, edited: Edit, target: str = "python") -> pv.Kernel:
    """Run the edited order and the source on copies of the same arrays; the results agree."""
    expected, actual = copies(arguments(text)), copies(arguments(text))
    function_of(text)(*expected)
    kernel = pv.compile(function_of(text), schedule=edited.schedule, target=target)
    kernel(*actual)
    for one, other in zip(expected, actual, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)
    return kernel

"""Kernels with register tiles, for a processor that the test names, so that every machine tests the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import polyviz as pv
from polyviz.mapping import make_plan
from polyviz.model.processor import Processor
from polyviz.runtime.kernel import Kernel
from polyviz.runtime.original import original_of
from tests.running import function_of

if TYPE_CHECKING:
    from polyviz.model.plan import Plan
    from polyviz.model.program import FloatingPoint

WIDE = Processor(vector_bytes=64, vector_registers=32, l1_data=48 * 1024, l2=1024 * 1024, cores=2)
NARROW = Processor(vector_bytes=32, vector_registers=16, l1_data=32 * 1024, l2=256 * 1024, cores=4)
PLAIN = Processor(vector_bytes=0, vector_registers=0, l1_data=32 * 1024, l2=256 * 1024, cores=4)

SUMS = {
    "gemm": """
        def gemm(alpha, beta, C, A, B):
            for i in range(C.shape[0]):
                for j in range(C.shape[1]):
                    C[i, j] *= beta
                for k in range(A.shape[1]):
                    for j in range(C.shape[1]):
                        C[i, j] += alpha * A[i, k] * B[k, j]
        """,
    "syr2k": """
        def syr2k(alpha, C, A, B):
            for i in range(A.shape[0]):
                for k in range(A.shape[1]):
                    for j in range(i + 1):
                        C[i, j] += A[j, k] * alpha * B[i, k] + B[j, k] * alpha * A[i, k]
        """,
    "trmm": """
        def trmm(A, B):
            for i in range(A.shape[0]):
                for j in range(B.shape[1]):
                    for k in range(i + 1, A.shape[0]):
                        B[i, j] = B[i, j] - A[k, i] * B[k, j]
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
    "batch": """
        def batch(C, A, B):
            for b in range(C.shape[0]):
                for i in range(C.shape[1]):
                    for j in range(C.shape[2]):
                        for k in range(A.shape[2]):
                            C[b, i, j] += A[b, i, k] * B[b, k, j]
        """,
    "tensors": """
        def tensors(C, A, B):
            for i in range(C.shape[0]):
                for j in range(C.shape[1]):
                    for k in range(C.shape[2]):
                        for l in range(C.shape[3]):
                            for m in range(A.shape[2]):
                                for n in range(A.shape[3]):
                                    C[i, j, k, l] += A[i, j, m, n] * B[m, l, n, k]
        """,
    "temporary": """
        def temporary(C, A, B):
            for i in range(C.shape[0]):
                for j in range(C.shape[1]):
                    t = 0.0
                    for k in range(i):
                        t += A[i, k] * B[k, j]
                    C[i, j] += t
        """,
}


def blocked_plan(
    text: str,
    processor: Processor = WIDE,
    schedule: str = "pluto",
    *,
    target: str = "c",
    **options: Any,
) -> tuple[pv.Scop, Plan]:
    """The plan of the function in ``text``."""
    scop = pv.extract(function_of(text))
    dependences = pv.dependences(scop)
    chosen = pv.schedule(scop, schedule, dependences=dependences)
    return scop, make_plan(scop, dependences, chosen, target, processor=processor, **options)


def blocked_kernel(
    text: str,
    processor: Processor = WIDE,
    schedule: str = "pluto",
    floating_point: FloatingPoint = "strict",
    **options: Any,
) -> Kernel:
    """A kernel of the function in ``text``."""
    scop, plan = blocked_plan(text, processor, schedule, **options)
    original = original_of(scop, function_of(text), None)
    return Kernel(scop, pv.dependences(scop), plan, original, floating_point=floating_point)


def arguments(name: str, sizes: tuple[int, int, int], dtype: str = "float64") -> list[Any]:
    """Arguments of one of the ``SUMS``; well conditioned where it divides."""
    rows, columns, depth = sizes
    random = np.random.default_rng(7)

    def matrix(*shape: int) -> np.ndarray:
        return random.standard_normal(shape).astype(dtype)

    scalar = np.dtype(dtype).type
    if name == "gemm":
        return [scalar(1.5), scalar(0.5), matrix(rows, columns), matrix(rows, depth), matrix(depth, columns)]
    if name == "syr2k":
        return [scalar(1.5), matrix(rows, rows), matrix(rows, depth), matrix(rows, depth)]
    if name == "trmm":
        return [matrix(rows, rows), matrix(rows, columns)]
    if name == "batch":
        return [matrix(3, rows, columns), matrix(3, rows, depth), matrix(3, depth, columns)]
    if name == "tensors":
        return [matrix(3, rows, 19, columns), matrix(3, rows, 2, depth), matrix(2, columns, depth, 19)]
    if name == "lu":
        return [matrix(rows, rows) + (rows * np.eye(rows)).astype(dtype)]
    return [matrix(rows, columns), matrix(rows, rows), matrix(rows, columns)]

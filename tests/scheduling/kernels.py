"""Programs whose schedules are known, built without the front end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.builders import loop, scop, statement

if TYPE_CHECKING:
    from polyviz.model.scop import Scop


def matmul() -> Scop:
    return scop(
        "n",
        loop("i", loop("j", "S", loop("k", "R"))),
        S=statement("0 <= i, j < n", writes="C[i, j]"),
        R=statement("0 <= i, j, k < n", reads="C[i, j] A[i, k] B[k, j]", writes="C[i, j]"),
    )


def two_products() -> Scop:
    """D = A B C with the intermediate product in memory."""
    return scop(
        "n",
        loop("i", loop("j", "S1", loop("k", "S2"))),
        loop("i", loop("j", "S3", loop("k", "S4"))),
        S1=statement("0 <= i, j < n", writes="T[i, j]"),
        S2=statement("0 <= i, j, k < n", reads="T[i, j] A[i, k] B[k, j]", writes="T[i, j]"),
        S3=statement("0 <= i, j < n", reads="D[i, j]", writes="D[i, j]"),
        S4=statement("0 <= i, j, k < n", reads="D[i, j] T[i, k] C[k, j]", writes="D[i, j]"),
    )


def lu() -> Scop:
    return scop(
        "n",
        loop("i", loop("j", loop("k", "S1"), "S2"), loop("j", loop("k", "S3"))),
        S1=statement(
            "0 <= i < n and 0 <= j < i and 0 <= k < j", reads="A[i, j] A[i, k] A[k, j]", writes="A[i, j]"
        ),
        S2=statement("0 <= i < n and 0 <= j < i", reads="A[i, j] A[j, j]", writes="A[i, j]"),
        S3=statement(
            "0 <= i < n and i <= j < n and 0 <= k < i", reads="A[i, j] A[i, k] A[k, j]", writes="A[i, j]"
        ),
    )


def seidel_2d() -> Scop:
    reads = " ".join(f"A[i{di:+d}, j{dj:+d}]" for di in (-1, 0, 1) for dj in (-1, 0, 1))
    return scop(
        "T, n",
        loop("t", loop("i", loop("j", "S"))),
        S=statement("0 <= t < T and 1 <= i, j < n - 1", reads=reads, writes="A[i, j]"),
    )


def jacobi_1d() -> Scop:
    return scop(
        "T, n",
        loop("t", loop("i", "S"), loop("i", "R")),
        S=statement("0 <= t < T and 1 <= i < n - 1", reads="A[i-1] A[i] A[i+1]", writes="B[i]"),
        R=statement("0 <= t < T and 1 <= i < n - 1", reads="B[i-1] B[i] B[i+1]", writes="A[i]"),
    )


def jacobi_2d() -> Scop:
    star = "{0}[i, j] {0}[i-1, j] {0}[i+1, j] {0}[i, j-1] {0}[i, j+1]"
    inside = "0 <= t < T and 1 <= i, j < n - 1"
    return scop(
        "T, n",
        loop("t", loop("i", loop("j", "S")), loop("i", loop("j", "R"))),
        S=statement(inside, reads=star.format("A"), writes="B[i, j]"),
        R=statement(inside, reads=star.format("B"), writes="A[i, j]"),
    )


def heat_3d() -> Scop:
    around = [
        f"{{0}}[{', '.join(i + (step if i == axis else '') for i in 'ijk')}]"
        for axis in "ijk"
        for step in ("-1", "+1")
    ]
    star = " ".join(["{0}[i, j, k]", *around])
    inside = "0 <= t < T and 1 <= i, j, k < n - 1"
    return scop(
        "T, n",
        loop("t", loop("i", loop("j", loop("k", "S"))), loop("i", loop("j", loop("k", "R")))),
        S=statement(inside, reads=star.format("A"), writes="B[i, j, k]"),
        R=statement(inside, reads=star.format("B"), writes="A[i, j, k]"),
    )


def fdtd_2d() -> Scop:
    return scop(
        "T, n, m",
        loop(
            "t",
            loop("j", "S1"),
            loop("i", loop("j", "S2")),
            loop("i", loop("j", "S3")),
            loop("i", loop("j", "S4")),
        ),
        S1=statement("0 <= t < T and 0 <= j < m", reads="f[t]", writes="ey[0, j]"),
        S2=statement(
            "0 <= t < T and 1 <= i < n and 0 <= j < m",
            reads="ey[i, j] hz[i, j] hz[i-1, j]",
            writes="ey[i, j]",
        ),
        S3=statement(
            "0 <= t < T and 0 <= i < n and 1 <= j < m",
            reads="ex[i, j] hz[i, j] hz[i, j-1]",
            writes="ex[i, j]",
        ),
        S4=statement(
            "0 <= t < T and 0 <= i < n - 1 and 0 <= j < m - 1",
            reads="hz[i, j] ex[i, j+1] ex[i, j] ey[i+1, j] ey[i, j]",
            writes="hz[i, j]",
        ),
    )


def mvt() -> Scop:
    return scop(
        "n",
        loop("i", loop("j", "S")),
        loop("i", loop("j", "R")),
        S=statement("0 <= i, j < n", reads="x1[i] A[i, j] y1[j]", writes="x1[i]"),
        R=statement("0 <= i, j < n", reads="x2[i] A[j, i] y2[j]", writes="x2[i]"),
    )


def pointwise_chain() -> Scop:
    """Three sweeps, each reading what the one before wrote at the same place."""
    return scop(
        "n",
        loop("i", "S1"),
        loop("i", "S2"),
        loop("i", "S3"),
        S1=statement("0 <= i < n", reads="A[i]", writes="B[i]"),
        S2=statement("0 <= i < n", reads="B[i]", writes="C[i]"),
        S3=statement("0 <= i < n", reads="C[i]", writes="D[i]"),
    )


KERNELS = {
    function.__name__: function
    for function in (
        matmul,
        two_products,
        lu,
        seidel_2d,
        jacobi_1d,
        jacobi_2d,
        heat_3d,
        fdtd_2d,
        mvt,
        pointwise_chain,
    )
}

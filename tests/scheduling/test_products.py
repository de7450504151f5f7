"""Products keep bands of their own where they share no more than an operand; sums that share a matrix do not."""

from __future__ import annotations

import pytest

import polyviz as pv
from polyviz.scheduling.products import has_large_product


def projections(X, V, W, Q, K):
    for i in range(X.shape[0]):
        for j in range(V.shape[1]):
            for k in range(X.shape[1]):
                Q[i, j] += X[i, k] * V[k, j]
                K[i, j] += X[i, k] * W[k, j]


def two_vectors(A, x, z, y, w):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            y[i] += A[i, j] * x[j]
            w[i] += A[i, j] * z[j]


def test_products_that_share_an_operand_stay_apart():
    order = pv.schedule(pv.extract(projections), "pluto")
    assert [band.statements for band in order.bands] == [("S0",), ("S1",)]
    (reason,) = [one for one in order.decisions if one.step == "fusion"]
    assert reason.text == (
        "S0 and S1 stay apart: each is a product that uses its operands again by itself, "
        "and they share no more than operands."
    )


def test_vectors_times_one_matrix_share_its_rows():
    order = pv.schedule(pv.extract(two_vectors), "pluto")
    assert [band.statements for band in order.bands] == [("S0", "S1")]


def test_everything_is_fused_where_asked():
    order = pv.schedule(pv.extract(projections), "pluto", fusion="max")
    assert [band.statements for band in order.bands] == [("S0", "S1")]


def hoisted(A, B, C):
    for i in range(C.shape[0]):
        for k in range(A.shape[1]):
            a = A[i, k]
            for j in range(C.shape[1]):
                C[i, j] += a * B[k, j]


def outer_product(u, v, A):
    for i in range(A.shape[0]):
        a = u[i]
        for j in range(A.shape[1]):
            A[i, j] += a * v[j]


def without_sum(A, B, C):
    for i in range(C.shape[0]):
        for k in range(A.shape[1]):
            a = A[i, k]
            for j in range(C.shape[1]):
                C[i, j] = a * B[k, j]


def of_one_operand(A, x, C):
    for i in range(C.shape[0]):
        for k in range(A.shape[1]):
            a = A[i, k]
            for j in range(C.shape[1]):
                C[i, j] += a * x[k]


@pytest.mark.parametrize(
    ("function", "depth", "expected"),
    [(hoisted, 2, True), (outer_product, 1, False), (without_sum, 2, False), (of_one_operand, 2, False)],
)
def test_products_with_a_factor_in_a_variable(function, depth, expected):
    statement = pv.extract(function).statement("S1")
    assert has_large_product(statement, statement.domain, {"a": depth}) is expected


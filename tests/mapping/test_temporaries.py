"""Nests that hand a temporary from one to the next share their outer loop, unless that costs a product its tiles."""

from __future__ import annotations

from tests.blocked import blocked_plan

SUBSTITUTION = """
    def solve(L, X):
        n, m = X.shape
        for i in range(n):
            for k in range(i):
                for j in range(m):
                    X[i, j] -= L[i, k] * X[k, j]
            d = 1.0 / L[i, i]
            for j in range(m):
                X[i, j] *= d
    """
RECURRENCE = """
    def sums(A, x):
        n, m = A.shape
        for i in range(n):
            t = 0.0
            for j in range(m):
                t = 0.5 * t + A[i, j]
                A[i, j] = t
            x[i] = t
    """


def test_a_temporary_of_a_row_stays_a_variable() -> None:
    _, plan = blocked_plan(RECURRENCE)
    assert all(expansion.window for expansion in plan.expansions)


def test_a_product_keeps_its_tiles() -> None:
    _, plan = blocked_plan(SUBSTITUTION)
    assert [expansion.array for expansion in plan.expansions] == ["d"]
    assert [tile.statement for tile in plan.register_tiles] == ["S0"]

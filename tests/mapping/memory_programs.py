"""Loops whose time goes into reading memory, for the tests of what the mapping makes of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import polyviz as pv
from polyviz.mapping import make_plan
from tests.running import function_of

if TYPE_CHECKING:
    from polyviz.model.plan import Plan

PROGRAMS = {
    "both_products": """
        def both_products(A, x, y, p, q):
            for i in range(A.shape[0]):
                for j in range(A.shape[1]):
                    p[i] += A[i, j] * x[j]
            for j in range(A.shape[1]):
                for i in range(A.shape[0]):
                    q[j] += A[i, j] * y[i]
        """,
    "two_sums": """
        def two_sums(A, x, y, p, q):
            for i in range(A.shape[0]):
                for j in range(A.shape[1]):
                    p[i] = A[i, j] * x[j] + p[i]
                    y[i] = A[i, j] * q[j] - 1.0 + y[i]
        """,
    "substitution": """
        def substitution(A, x):
            for i in range(len(A)):
                for j in range(i):
                    x[i] -= A[i, j] * x[j]
                x[i] = x[i] / A[i, i]
        """,
    "columns": """
        def columns(A, B):
            for j in range(A.shape[1]):
                for i in range(1, A.shape[0]):
                    A[i, j] = A[i, j] + 0.5 * A[i - 1, j]
                for i in range(1, A.shape[0]):
                    B[i, j] = B[i - 1, j] + A[i, j]
        """,
    "recurrence": """
        def recurrence(A, B):
            for i in range(A.shape[0]):
                t = 0.0
                for j in range(A.shape[1]):
                    B[i, j] = 0.5 * t + A[i, j]
                    t = B[i, j]
        """,
    "shortest_paths": """
        def shortest_paths(P):
            for k in range(len(P)):
                for i in range(len(P)):
                    for j in range(len(P)):
                        P[i, j] = min(P[i, j], P[i, k] + P[k, j])
        """,
    "smallest": """
        def smallest(A, low):
            for i in range(A.shape[0]):
                for j in range(A.shape[1]):
                    low[i] = min(low[i], A[i, j])
        """,
    "strided": """
        def strided(A, p):
            for j in range(A.shape[1]):
                for i in range(j):
                    p[j] += A[i, j] * A[i, 0]
        """,
}


def memory_plan(name: str, target: str = "c", schedule: str = "pluto", **rules: Any) -> tuple[pv.Scop, Plan]:
    """The plan of one of the programs with some techniques switched."""
    scop = pv.extract(function_of(PROGRAMS[name]))
    dependences = pv.dependences(scop)
    chosen = pv.schedule(scop, schedule, dependences=dependences)
    plan = make_plan(scop, dependences, chosen, target, **rules)
    assert pv.check(scop, plan.tree, known=dependences)
    return scop, plan


def steps(plan: Plan) -> set[str]:
    """What the plan decided, in short words."""
    return {decision.step for decision in plan.decisions}


def arguments(
    name: str, rows: int, columns: int, dtype: str = "float64", order: str = "C"
) -> list[np.ndarray]:
    """Arguments of one of the programs, those that divide well conditioned."""
    random = np.random.default_rng(3)
    square = name in ("substitution", "shortest_paths")
    shape = (rows, rows) if square else (rows, columns)

    def matrix() -> np.ndarray:
        values = random.standard_normal(shape)
        values = values + 4.0 * np.eye(*shape) if name == "substitution" else values
        return np.array(values, dtype=dtype, order=order)  # type: ignore[call-overload]

    def vector(length: int) -> np.ndarray:
        return random.standard_normal(length).astype(dtype)

    lengths = {
        "both_products": (columns, rows, rows, columns),
        "two_sums": (columns, rows, rows, columns),
        "substitution": (rows,),
        "smallest": (rows,),
        "strided": (columns,),
    }
    if name in ("columns", "recurrence"):
        return [matrix(), matrix()]
    if name == "substitution":
        return [matrix() / max(1, rows) + np.eye(rows, dtype=dtype), vector(rows)]
    return [matrix(), *map(vector, lengths.get(name, ()))]

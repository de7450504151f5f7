"""Loops over a ring of cells, whose neighbours wrap around at its ends."""

from __future__ import annotations


def ring(value: str) -> str:
    """A function of arrays ``u`` and ``v`` that stores ``value`` in each cell ``v[i, j]`` of an n x m grid."""
    return f"""
def ring(u, v):
    n = u.shape[0]
    m = u.shape[1]
    for i in range(n):
        for j in range(m):
            v[i, j] = {value}
"""

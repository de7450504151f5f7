"""A search by halves in a sorted array, for each of several numbers."""

from __future__ import annotations

SEARCH = """
def search(x, t, out):
    for i in range(x.shape[0]):
        low = 0
        high = t.shape[0]
        while low < high:
            middle = (low + high) // 2
            if t[middle] < x[i]:
                low = middle + 1
            else:
                high = middle
        out[i] = low
"""

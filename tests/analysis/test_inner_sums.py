"""Loops of whole statements that do nothing but add along memory."""

from __future__ import annotations

import pytest

import polyviz as pv
from polyviz.analysis.inner_sums import inner_sums
from polyviz.model.expression import Loop, walk

TEXT = """
for t in range(n):
    for i in range(n):
        {line}
    if s[0] < limit:
        break
"""


def sums_in(line: str, bounds: str = "n") -> int:
    (statement,) = pv.extract(TEXT.format(line=line).replace("i in range(n)", f"i in range({bounds})")).statements
    loops = [node for one in statement.body for node in walk(one) if isinstance(node, Loop) and node.iterator == "i"]
    return len(inner_sums(loops[0], 64))


@pytest.mark.parametrize(
    "line",
    ["s[0] += x[i]", "s[0] -= x[i] * y[i + 1]", "s[t] += A[t, i] * x[n - t + i]", "q[0] += x[i + t] * y[t]"],
)
def test_sums_along_memory(line: str) -> None:
    assert sums_in(line) == 1


@pytest.mark.parametrize(
    "line",
    [
        "s[0] = x[i]",
        "s[0] *= x[i]",
        "s[i] += x[i]",
        "s[0] += A[i, t]",
        "s[0] += x[2 * i]",
        "s[0] += x[n - i]",
        "s[0] += x[i] * s[1]",
        "s[0] += y[0]",
        "s[0] += x[k[i]]",
    ],
)
def test_what_is_no_such_sum(line: str) -> None:
    assert sums_in(line) == 0


def test_several_sums_of_different_cells() -> None:
    assert sums_in("s[0] += x[i]\n        q[0] += x[i] * x[i]") == 2
    assert sums_in("s[0] += x[i]\n        s[0] += y[i]") == 0
    assert sums_in("s[0] += x[i]\n        q[0] += x[i] * s[0]") == 0


def test_loops_known_to_be_short_are_left_alone() -> None:
    assert sums_in("s[0] += x[i]", "64") == 1
    assert sums_in("s[0] += x[i]", "63") == 0
    assert sums_in("s[0] += x[i]", "0, n, 2") == 0

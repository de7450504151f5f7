"""What is waited for is added last, where that is sooner, and nothing else is moved."""

from __future__ import annotations

from typing import Any

import pytest

import polyviz as pv
from polyviz.analysis.recurrences import waits_of

LOOP = """
def f(x, y, z, a, b):
    for i in range(3, x.shape[0]):
        {body}
"""


def moved(body: str, **options: Any) -> str:
    """The value of the first statement as it is printed in C."""
    text = LOOP.format(body=body.replace("\n", "\n        "))
    lines = pv.compile(text, target="c", **options).source.splitlines()
    line = next(line for line in lines if "// line 4" in line)
    return line.partition("=")[2].partition(";")[0].strip().replace("settled_f64", "settled")


@pytest.mark.parametrize(
    ("body", "value"),
    [
        ("y[i] = x[i] + a * y[i - 1] + b * y[i - 2]", "settled(x[i] + b * y[i - 2]) + a * y[i - 1]"),
        ("y[i] = y[i - 1] - x[i] - z[i]", "y[i - 1] - x[i] - z[i]"),
        ("y[i] = y[i - 1] + x[i] - z[i]", "settled(x[i] - z[i]) + y[i - 1]"),
        ("y[i] = -y[i - 1] + x[i] + z[i]", "settled(x[i] + z[i]) - y[i - 1]"),
        ("y[i] = (y[i - 1] + x[i] + z[i]) / 3.0", "(settled(x[i] + z[i]) + y[i - 1]) * (1.0 / 3.0)"),
        ("y[i] = x[i] + z[i] + a * y[i - 1]", "x[i] + z[i] + a * y[i - 1]"),
        ("y[i] = a * y[i - 1] + x[i]", "a * y[i - 1] + x[i]"),
        ("y[i] = x[i] + z[i - 1] + z[i + 1]", "x[i] + z[i - 1] + z[i + 1]"),
        ("y[i] = (y[i - 1] + a + b) * (y[i - 2] + b + a)", "(settled(a + b) + y[i - 1]) * (settled(b + a) + y[i - 2])"),
    ],
)
def test_terms(body: str, value: str) -> None:
    assert moved(body) == value


def test_values_on_their_way_through_other_statements_are_told_apart() -> None:
    body = "y[i] = x[i] + a * z[0] + b * z[1]\nz[1] = z[0]\nz[0] = y[i]"
    assert moved(body) == "settled(x[i] + b * z[1]) + a * z[0]"


def test_loops_that_count_down() -> None:
    text = """
    def f(x, y, a, b):
        for i in range(x.shape[0] - 3, -1, -1):
            y[i] = x[i] + a * y[i + 1] + b * y[i + 2]
    """
    part = pv.extract(text)
    waits = waits_of(part, pv.dependences(part), part.statements[0])
    assert [(access.text, count) for access, count in waits] == [("y[i + 1]", 1), ("y[i + 2]", 2)]

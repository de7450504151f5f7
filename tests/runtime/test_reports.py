"""What a kernel tells of itself."""

from __future__ import annotations

import polyviz as pv


def test_loops_of_one_name_say_whose_they_are() -> None:
    text = "def f(a, b):\n    for i in range(9):\n        a[i] = 1.0\n    for i in range(9):\n        b[i] = 2.0\n"
    report = str(pv.compile(text, schedule="original", target="python").report())
    assert "loop: Loop i of S0 is parallel" in report
    assert "loop: Loop i of S1 is parallel" in report

"""Sums in which terms cancel but for rounding keep their order; others do not lose theirs by mistake."""

from __future__ import annotations

import numpy as np
import pytest

import polyviz as pv
from polyviz.codegen.compensated import compensated_statements
from polyviz.codegen.typing import Environment
from tests.running import function_of

KAHAN = """
def kahan(x, out):
    s = 0.0
    c = 0.0
    for i in range(len(x)):
        y = x[i] - c
        t = s + y
        c = (t - s) - y
        s = t
    out[0] = s
"""
NEUMAIER = """
def neumaier(x, out):
    s = 0.0
    c = 0.0
    for i in range(len(x)):
        t = s + x[i]
        if abs(s) >= abs(x[i]):
            c += (s - t) + x[i]
        else:
            c += (x[i] - t) + s
        s = t
    out[0] = s + c
"""
TWO_SUM = """
def two_sum(x, out):
    for i in range(len(x) - 1):
        s = x[i] + x[i + 1]
        b = s - x[i]
        out[i] = (x[i] - (s - b)) + (x[i + 1] - b)
"""
SPLIT = """
def split(x, out):
    for i in range(len(x)):
        c = 134217729.0 * x[i]
        out[i] = c - (c - x[i])
"""
LOGARITHM = """
def logarithm(x, out):
    for i in range(len(x)):
        u = 1.0 + x[i] * 1e-30
        out[i] = u - 1.0
"""
NOTHING = """
def nothing(x, out):
    for i in range(len(x)):
        out[i] = x[i] * 0 + (2.0 * x[i] - 2.0 * x[i])
"""
NO_NUMBER = """
def no_number(x, out):
    for i in range(len(x)):
        out[i] = x[i] * 0
"""
ALL = [KAHAN, NEUMAIER, TWO_SUM, SPLIT, LOGARITHM, NOTHING, NO_NUMBER]
NAMES = ["kahan", "neumaier", "two_sum", "split", "logarithm", "nothing", "no_number"]


@pytest.mark.parametrize("target", ["c", "numba"])
@pytest.mark.parametrize("text", ALL, ids=NAMES)
def test_what_rounding_leaves_is_kept(text: str, target: str) -> None:
    function = function_of(text)
    data = np.random.default_rng(3).random(203) * 10.0 ** np.arange(-12, 191) / 1e80
    if text in (NOTHING, NO_NUMBER):
        data[[3, 50, 201]], data[[7, 120]] = np.inf, np.nan
    if text in (KAHAN, NEUMAIER):
        data = np.concatenate([[1e16], np.ones(200), [-1e16, 0.5]])
    ours, plain = np.zeros(203), np.zeros(203)
    kernel = pv.compile(function, target=target)
    kernel(data, ours)
    with np.errstate(all="ignore"):
        function(data, plain)
    np.testing.assert_array_equal(ours, plain)
    assert "terms cancel but for what rounding leaves of them" in kernel.report()


@pytest.mark.parametrize(
    "body",
    [
        "s += x[i] * y[i]",
        "z[i] = 2.0 * x[i] - y[i] + x[i + 1] - 2.0 * x[i] * y[i] + x[i - 1]",
        "t = x[i] - y[i]\n    s += t / n\n    z[i] += t * (x[i] - s)",
        "if x[i] > s: s = x[i]\n    z[i] = x[i] - s",
        "s = x[i]\n    x[i] = y[i]\n    z[i] = x[i] - s",
        "z[i] = y[i] + 0.0 * x[i] - 1.0 * x[i + 1]",
        "z[i] = x[i] + 0.5 * (y[i] - x[i])",
    ],
)
def test_other_sums_may_be_reordered(body: str) -> None:
    part = pv.extract(f"for i in range(1, n):\n    {body}")
    types = dict.fromkeys(["x", "y", "z", "s", "t"], "float64")
    assert compensated_statements(part, Environment(types)) == ()


def test_a_value_of_another_loop_is_another_one() -> None:
    part = pv.extract("for i in range(n):\n    s = x[i]\nfor i in range(n):\n    z[i] = x[i] - s")
    assert compensated_statements(part, Environment(dict.fromkeys(["x", "z", "s"], "float64"))) == ()


def test_whole_numbers_have_no_rounding() -> None:
    part = pv.extract("for i in range(n):\n    s = x[i] + y[i]\n    z[i] = s - x[i]")
    assert compensated_statements(part, Environment(dict.fromkeys(["x", "y", "z", "s"], "int64"))) == ()
    assert compensated_statements(part, Environment(dict.fromkeys(["x", "y", "z", "s"], "float64"))) == ("S1",)

"""Functions of ``math`` and NumPy that are a line of others, or a small loop: the same as there, to the last bit."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

import polyviz as pv

NUMBERS = np.array([0.0, -0.0, 1.0, -1.5, 2.25, 3.0, 3.0000000001, 1e-300, 1e300, np.inf, -np.inf, np.nan])
WHOLE = np.array([0, 1, -1, 12, 18, -18, 7, 2**40, 3**20])
OF_NUMBERS = (
    "math.isclose(x[i], y[i])",
    "math.isclose(x[i], y[i], rel_tol=0.1, abs_tol=0.01)",
    "np.isclose(x[i], y[i])",
    "np.isclose(x[i], y[i], atol=2.0)",
    "math.fmod(x[i], y[i])",
    "np.heaviside(x[i], y[i])",
    "np.heaviside(x[i], 0.5)",
    "np.float_power(x[i], y[i])",
    "np.logaddexp(x[i], y[i])",
    "np.sinc(x[i])",
    "np.fix(x[i])",
    "math.cbrt(x[i])",
)
OF_WHOLE = ("math.gcd(x[i], y[i])", "np.gcd(x[i], y[i])", "np.lcm(x[i], 12)", "math.gcd(x[i] + 1, 6) + 1")


def alone(expression: str, x: Any, y: Any) -> float:
    """The value of ``expression`` in Python; NaN where ``math`` raises, as for all of its functions."""
    function = eval(f"lambda x, y, i: {expression}", {"np": np, "math": math})
    with np.errstate(all="ignore"):
        try:
            return float(function([x], [y], 0))
        except ValueError:
            return math.nan


@pytest.mark.parametrize("target", ["c", "numba", "python", "emulated"])
@pytest.mark.parametrize("expression", [*OF_NUMBERS, *OF_WHOLE])
def test_values_are_those_of_the_libraries(expression: str, target: str) -> None:
    pairs = np.array([*itertools.product(WHOLE if expression in OF_WHOLE else NUMBERS, repeat=2)])
    x, y = pairs[:, 0].copy(), pairs[:, 1].copy()
    found = np.zeros(len(x))
    text = f"def f(found, x, y):\n    for i in range(len(found)):\n        found[i] = {expression}\n"
    pv.compile(text, target=target, contract="strict")(found, x, y)
    expected = [alone(expression, one, other) for one, other in zip(x, y, strict=True)]
    # Plain Python hands whole arrays to NumPy, which on some processors rounds those otherwise than single numbers.
    np.testing.assert_allclose(found, expected, rtol=4e-16 if target == "python" else 0, atol=0)


@pytest.mark.parametrize("name", ["factorial", "comb", "perm"])
def test_what_soon_needs_more_than_64_bits_is_looked_up(name: str) -> None:
    arguments = "k[i]" if name == "factorial" else "k[i], 2"
    with pytest.raises(pv.ExtractionError) as caught:
        pv.extract(f"def f(x, k):\n    for i in range(len(k)):\n        x[i] = math.{name}({arguments})")
    assert "Look it up in an array made outside" in caught.value.hint


def test_names_of_the_program_hide_nothing() -> None:
    text = """
    def f(x, np, abs):
        for i in range(len(x)):
            x[i] = math.isclose(x[i], np) + math.lcm(4, 6) * abs
    """
    x = np.array([1.0, 2.0])
    pv.compile(text, target="python")(x, 2.0, 10)
    assert x.tolist() == [120.0, 121.0]

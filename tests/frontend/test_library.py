"""Functions of NumPy that are small programs: the same as in NumPy, also for NaN, equal elements and empty arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polyviz as pv
from polyviz.errors import ArgumentError, UnsupportedSyntaxError
from polyviz.frontend import extract
from tests.frontend.compiled import same_compiled

KNOTS = np.array([-1.0, 0.5, 0.5, 0.5, 2.0, 3.0])
ASKED = np.array([-2.0, -1.0, 0.5, 0.7, 3.0, 4.0, np.nan, np.inf, -np.inf])


def left(knots: Any, asked: Any) -> Any:
    found = np.zeros(len(asked), dtype=np.int64)
    for i in range(len(asked)):
        found[i] = np.searchsorted(knots, asked[i])
    return found


def right(knots: Any, asked: Any) -> Any:
    found = np.zeros(len(asked), dtype=np.int64)
    for i in range(len(asked)):
        found[i] = 2 * np.searchsorted(knots, v=asked[i], side="right") - 1
    return found


def interpolated(knots: Any, values: Any, asked: Any) -> Any:
    found = np.empty_like(asked)
    last = len(knots)
    for i in range(asked.shape[0]):
        k = np.searchsorted(knots, asked[i], "left")
        if k == 0:
            found[i] = values[0]
        elif k == last:
            found[i] = values[last - 1]
        else:
            t = (asked[i] - knots[k - 1]) / (knots[k] - knots[k - 1])
            found[i] = (1 - t) * values[k - 1] + t * values[k]
    return found


def in_rows(table: Any, asked: Any) -> Any:
    found = np.zeros(len(asked), dtype=np.int64)
    for i in range(table.shape[0]):
        found[i] = np.searchsorted(table[i], asked[i])
    return found


def scaled(x: Any) -> Any:
    high = max(x)
    y = x - min(x)
    for i in range(len(x)):
        y[i] /= high
    return y, max(y[1:3])


def moments(P: Any, F: Any, T: Any) -> Any:
    for i in range(P.shape[0]):
        arm = P[i] - P[0]
        T[i] = np.cross(arm, F[i])
        T[i] += np.cross(F[i], T[i]) * 0.5
    return np.cross(P[1], F[2]), np.dot(P[0], np.cross(P[1], P[2]))


CASES: dict[Any, list[dict[str, Any]]] = {
    left: [
        {"knots": KNOTS, "asked": ASKED},
        {"knots": np.append(KNOTS, [np.nan, np.nan]), "asked": ASKED},
        {"knots": KNOTS[:0], "asked": ASKED},
        {"knots": np.array([1, 4, 4, 9]), "asked": np.array([0, 4, 5, 9])},
    ],
    moments: [
        {name: np.random.default_rng(seed).random((4, 3)).astype(kind) for seed, name in enumerate("PFT")}
        for kind in (np.float64, np.float32)
    ],
    right: [{"knots": KNOTS, "asked": ASKED}, {"knots": np.append(KNOTS, [np.nan]), "asked": ASKED}],
    interpolated: [{"knots": np.arange(6.0), "values": KNOTS, "asked": ASKED[:6]}],
    scaled: [{"x": np.array(one)} for one in ([3.0, 1.0, 2.0], [np.nan, 1.0, 2.0], [1.0, np.nan, 2.0])],
    in_rows: [{"table": np.array([KNOTS, KNOTS + 1, KNOTS - 1]), "asked": ASKED[:3]}],
}


@pytest.mark.parametrize("target", ["c", "numba"])
@pytest.mark.parametrize("function", CASES, ids=lambda function: function.__name__)
def test_as_in_numpy(function: Any, target: str) -> None:
    for given in CASES[function]:
        same_compiled(function, given, target, "strict")


def test_a_variable_that_hides_a_function_of_python_is_named() -> None:
    with pytest.raises(UnsupportedSyntaxError, match=r"The call of `np.searchsorted` is not supported") as caught:
        extract("def f(x, v, z):\n    len = 3\n    z[0] = np.searchsorted(x, v[0]) + len")
    assert caught.value.hint == "Call the variable `len` something else: what is read here is the function."


def test_only_vectors_of_three_are_multiplied_so() -> None:
    text = "def f(a: 'float64[:]', b: 'float64[:]'): return np.cross(a, b)"
    kernel = pv.compile(text, target="python")
    assert kernel(np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0])).tolist() == [0.0, 0.0, 1.0]
    with pytest.raises(ArgumentError):
        kernel(np.ones(2), np.ones(2))
    with pytest.raises(UnsupportedSyntaxError):
        extract(text.replace("[:]", "[:, :]"))


@pytest.mark.parametrize(
    "call",
    [
        "np.searchsorted(x, y[:])",
        "np.searchsorted(x, y[0], sorter=z)",
        "np.searchsorted(x, y[0], side)",
        "np.searchsorted(x, y[0], 'middle')",
        "np.searchsorted(x)",
    ],
)
def test_other_searches_are_refused(call: str) -> None:
    with pytest.raises(UnsupportedSyntaxError, match=r"The call of `np.searchsorted` is not supported"):
        extract(f"def f(x, y, z, side):\n    z[0] = {call} + y[1]")

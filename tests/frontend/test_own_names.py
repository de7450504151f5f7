"""Variables of a program that are called like functions which the reader needs: its own lines still mean these."""

from __future__ import annotations

import numpy as np
import pytest

from polyviz.errors import ExtractionError
from polyviz.frontend import extract
from tests.frontend.compiled import same_compiled
from tests.running import function_of

PROGRAMS = {
    "an_argument": "def f(x, max):\n    y = x[:-1] + max\n    return y",
    "several": "def f(x, min, len):\n    x[2:len] = min\n    y = x[-3:] * 1.0\n    return y",
    "range": "def f(x, range):\n    x[1:] = x[:-1] * range\n    return x.mean()",
    "np": "def f(x, np):\n    x[1:] = x[1:] * np\n    s = x.max()\n    y = x.copy()\n    return s, y",
    "a_counter": "def f(x, sum):\n    max = 0\n    while max < len(x):\n        x[max] *= sum\n        max += 1",
    "elements": "def f(x, range):\n    min = 0.0\n    for a, b in zip(x, x[1:]):\n        min += a * b\n    return min",
    "running": "def f(x, np):\n    y = x.cumsum() * np\n    return y.std()",
    "an_array": "def f(max, min):\n    abs = max[1:] - min\n    return abs[::-1] * 2",
    "clipped": "def f(x, abs):\n    for int in range(6):\n        x[int] = np.clip(x[int], 0.2, abs)",
}  # fmt: skip


@pytest.mark.parametrize("target", ["c", "numba"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_names_of_functions_may_be_variables(name: str, target: str) -> None:
    function = function_of(PROGRAMS[name])
    values = {"x": np.random.default_rng(2).random(6), "max": np.random.default_rng(3).random(6), "len": 5}
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    given = {
        one: values["max"].copy() if one == "max" and "x" not in names else values.get(one, 2.0)
        for one in names
    }
    if "max" in names and "x" in names:
        given["max"] = 2.0
    same_compiled(function, given, target, "strict")


def test_a_function_of_the_program_does_not_take_the_place_of_the_own_one() -> None:
    text = "def max(a, b): return 7.0 * a\n\ndef f(x):\n    y = x[:-1] + max(x[0], 2.0)\n    return y"
    scop = extract(text)
    assert "7.0" in repr(scop.statements)
    assert {parameter.name for parameter in scop.parameters} == {"x_shape_0"}


def test_what_the_program_itself_calls_is_what_it_says() -> None:
    with pytest.raises(ExtractionError, match="`max` is a variable here"):
        extract("def f(x, max):\n    for i in range(len(x)):\n        x[i] = max(x[i], 1.0)")

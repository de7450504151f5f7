"""Second names of arrays that nobody calls by their first any more."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np
import pytest

from polyviz.frontend.names import GlobalNames
from polyviz.frontend.second_names import without_second_names
from polyviz.frontend.source import read_source
from tests.frontend.compiled import same_compiled


def steps(u: Any, v: Any, n: int) -> Any:
    old = u
    new = v
    for _ in range(n):
        for i in range(1, u.shape[0] - 1):
            new[i] = 0.5 * (old[i - 1] + old[i + 1])
        old, new = new, old
    return old[len(v) - 2]


def given_anew(u: Any, v: Any, n: int) -> Any:
    w = u
    w += v
    w = w * 2.0
    w[0] = n
    return w


@pytest.mark.parametrize("target", ["c", "numba"])
@pytest.mark.parametrize("function", [steps, given_anew], ids=lambda function: function.__name__)
def test_as_in_python(function: Any, target: str) -> None:
    for n in (4, 5):
        same_compiled(function, {"u": np.arange(7.0) ** 2, "v": np.ones(7), "n": n}, target, "strict")


@pytest.mark.parametrize(
    "text",
    [
        "w = u\n w[0] = u[1]",  # both are asked for
        "u[0] = w\n w = u\n w[1] = 2",  # the name meant something before
        "v = u\n v[1] = 2",  # so does an argument
        "w = G\n w[1] = 2",  # an array around the function
        "w = n\n w += 1\n u[0] = w",  # a number
        "for i in range(n):\n  w = u\n  w[i] = 1",
    ],
)
def test_other_names_stay(text: str) -> None:
    source = read_source(f"def f(u, v, n):\n {text}", None, None)
    found = without_second_names(source, GlobalNames(source))
    assert [ast.unparse(node) for node in found.body] == [ast.unparse(node) for node in source.body]

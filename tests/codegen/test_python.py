"""The readable text: plain Python that can be copied out, with parallel loops marked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import polyviz as pv
from tests.codegen.programs import SOURCES, program
from tests.running import agree, function_of

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.mark.parametrize("name", SOURCES)
def test_text(name: str, golden: Callable[..., None]) -> None:
    golden(program(name, "python").source)


def test_the_text_alone_is_the_function() -> None:
    names: dict[str, object] = {}
    exec(compile(program("gemm", "python").source, "copied out", "exec"), names)
    result = np.ones((3, 5))
    names["gemm"](2.0, 0.5, result, np.ones((3, 4)), np.ones((4, 5)))  # type: ignore[operator]
    np.testing.assert_array_equal(result, 8.5)


@pytest.mark.parametrize("name", ["min", "max", "np", "range", "math"])
@pytest.mark.parametrize("target", ["numba", "python"])
def test_a_function_called_like_what_the_text_calls(name: str, target: str) -> None:
    function = function_of(
        """
        def replaced(A, n):
            for i in range(n):
                for j in range(i, n):
                    A[i, j] = A[j, i] + 1
        """.replace("replaced", f"{name}2")
    )
    text = pv.extract(function).text.replace(f"{name}2", name)
    array = np.ones((20, 20))
    pv.compile(text, target=target, tile=(8,))(array, 20)
    expected = np.ones((20, 20))
    function(expected, 20)
    np.testing.assert_array_equal(array, expected)


def test_size_expressions_are_evaluated_in_the_text() -> None:
    for target in ("c", "numba", "python"):
        agree(
            """
            def f(A, n, m):
                k = n * m
                for i in range(k):
                    A[i] = i + k
            """,
            np.zeros(12),
            3,
            4,
            target=target,
        )

"""What programs raise, as the user reads it."""

from __future__ import annotations

import numba
import numpy as np
import pytest

import polyviz as pv
from polyviz.runtime.failures import explained
from tests.running import agree, function_of


@pytest.fixture
def program() -> object:
    return pv.compile(
        function_of("def f(A):\n    for i in range(len(A)):\n        A[i] += 1\n"), target="numba"
    ).program


def test_numbas_own_errors_lose_their_heading(program) -> None:
    error = numba.core.errors.TypingError(
        "Failed in nopython mode pipeline (step: x)\nNo such attribute.\nmore"
    )
    told = explained(error, program, "<text>")
    assert isinstance(told, pv.CodegenError)
    assert told.message == "numba refuses the generated program: No such attribute."


@pytest.mark.parametrize("error", [KeyboardInterrupt(), MemoryError(), pv.OutOfBoundsError("A subscript.")])
def test_what_is_not_the_programs_stays_as_it_is(program, error: BaseException) -> None:
    assert explained(error, program, "<text>") is error


def test_the_failing_line_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("polyviz.runtime.kernel.located", lambda error, *_: error)
    kernel = pv.compile(
        function_of("def f(A, K):\n    for i in range(len(K)):\n        A[K[i]] = 1 / A[K[i]]\n"),
        target="python",
    )
    with pytest.raises(pv.OutOfBoundsError) as caught:
        kernel(np.ones(2), np.array([5]))
    assert caught.value.message == "A subscript of A is out of range (line 3)."


@pytest.mark.parametrize("target", ["c", "numba", "python"])
def test_names_of_helpers_are_the_users(target: str) -> None:
    agree(
        """
        def whole_power(A, K, gamma, gamma_function):
            for i in range(len(A)):
                A[i] = math.gamma(A[i]) * gamma + K[i] ** (i - 1) + gamma_function
        """,
        np.array([0.5, 1, 3]),
        np.array([2, 3, 4]),
        2.0,
        1.5,
        target=target,
    )

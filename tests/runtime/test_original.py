"""The reference is rebuilt from text: with what it needs from outside, and nothing else."""

from __future__ import annotations

import inspect
import math
import pickle
import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import polyviz as pv
from polyviz.runtime.original import Original, original_of
from tests.running import function_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

THREE = 3


def rebuilt(function: Callable[..., Any]) -> Original:
    # The worker gets it by pickle.
    return pickle.loads(pickle.dumps(original_of(pv.extract(function), function)))  # type: ignore[no-any-return]


def both(original: Original, *arguments: Any) -> None:
    """The rebuilt function under both engines gives what is expected of the first argument."""
    expected = arguments[0].copy()
    original.python()(expected, *arguments[1:])
    actual = arguments[0].copy()
    original.numba()(actual, *arguments[1:])
    np.testing.assert_allclose(actual, expected)


def offset(A):  # type: ignore[no-untyped-def]
    for i in range(len(A)):
        A[i] = A[i] + THREE + math.pi


def test_constants_and_modules_of_the_surroundings() -> None:
    original = rebuilt(offset)
    assert original.constants == {"THREE": 3}
    both(original, np.zeros(3))
    array = np.zeros(2)
    original.python()(array)
    np.testing.assert_array_equal(array, 3 + math.pi)


def test_single_precision_constants_stay_single() -> None:
    function = function_of(
        "def f(A):\n    for i in range(len(A)):\n        A[i] = A[i] * tenth", tenth=np.float32(0.1)
    )
    assert isinstance(rebuilt(function).constants["tenth"], np.float32)


@pytest.mark.parametrize(
    ("name", "value"), [("root", math.sqrt), ("wave", np.sin), ("xp", np), ("m", math)]
)
def test_functions_and_modules_under_other_names(name: str, value: object) -> None:
    call = {"root": "root(A[i])", "wave": "wave(A[i])", "xp": "xp.cos(A[i])", "m": "m.exp(A[i])"}[name]
    text = f"def f(A):\n    for i in range(len(A)):\n        A[i] = {call}\n"
    both(rebuilt(function_of(text, **{name: value})), np.ones(3))


def test_helpers_bring_their_own_surroundings() -> None:
    inner = function_of("def inner(x):\n    return x - scale", scale=2)
    helper = function_of("def helper(x):\n    return inner(x) * scale", inner=inner, scale=10)
    function = function_of(
        "def f(A):\n    for i in range(len(A)):\n        A[i] = help(A[i]) + scale", help=helper, scale=0.5
    )
    original = rebuilt(function)
    array = np.array([3.0])
    original.python()(array)
    assert array[0] == (3 - 2) * 10 + 0.5
    both(original, np.arange(3.0))


def test_closures() -> None:
    def make(factor: float) -> Callable[..., Any]:
        def scale(A):  # type: ignore[no-untyped-def]
            for i in range(len(A)):
                A[i] = factor * A[i]

        return scale

    both(rebuilt(make(7.0)), np.ones(3))


def test_decorators_annotations_and_defaults_are_left_behind() -> None:
    text = """
        @numba.njit(fastmath=True)
        def f(A: np.ndarray, k: int = limit, *, scale: float = math.pi) -> None:
            for i in range(k):
                A[i] = scale * A[i]
    """
    function = function_of(textwrap.dedent(text).replace("@numba.njit(fastmath=True)\n", ""), limit=2)
    original = rebuilt(function)
    assert original.text.splitlines()[0] == "def f(A, k, scale):"
    both(original, np.ones(3), 2, 0.5)


def test_prange_is_what_numba_calls_so() -> None:
    original = rebuilt(function_of("def f(A):\n    for i in prange(len(A)):\n        A[i] = i"))
    both(original, np.ones(3))
    array = np.ones(3)
    original.numba(parallel=True)(array)
    np.testing.assert_array_equal(array, [0, 1, 2])


def test_cells_become_functions_that_hand_back_their_scalars() -> None:
    text = "s = 0.0\nfor i in range(n):\n    s += A[i] * scale\n"
    namespace = {"A": np.arange(4.0), "n": 4, "scale": 2.0}
    scop = pv.extract(text, namespace=namespace)
    original = original_of(scop, text, namespace)
    values = [namespace[argument.name] for argument in scop.arguments]
    assert original.python()(*values) == (12.0,)
    assert original.numba()(*values) == (12.0,)


def test_texts_without_surroundings_know_the_usual_modules() -> None:
    text = "def f(A):\n    for i in range(len(A)):\n        A[i] = np.sqrt(A[i]) + math.sin(1.0)\n"
    both(original_of(pv.extract(text), text), np.ones(3))


def test_texts_with_functions_imports_and_numbers_beside_the_loops() -> None:
    text = """
from math import fabs as size
LIMIT = 2.5

def bounded(a):
    return min(size(a), LIMIT)

def twice(a):
    return 2 * bounded(a)

def f(A, B):
    for i in range(A.shape[0]):
        B[i] = twice(A[i]) + LIMIT
"""
    both(original_of(pv.extract(text), text), np.array([-1.0, 3.0]), np.zeros(2))
    result = np.zeros(3)
    original_of(pv.extract(text), text).python()(np.array([-1.0, 0.5, 3.0]), result)
    np.testing.assert_array_equal(result, [4.5, 3.5, 7.5])


def test_a_kernel_knows_its_original() -> None:
    kernel = pv.compile(offset, target="python")
    assert original_of(kernel.scop, kernel) is kernel.original


def test_a_file_with_the_name_of_the_function_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "doubled.py").write_text("raise SystemExit('this file must not be imported')", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    source = "def doubled(A):\n    for i in range(len(A)):\n        A[i] = 2.0 * A[i]"

    both(original_of(pv.extract(source), source), np.ones(3))
    kernel = pv.compile(source, target="numba")
    array = np.ones(3)
    kernel(array)

    assert array.tolist() == [2.0, 2.0, 2.0]


def test_array_around_a_helper_under_the_name_of_its_variable() -> None:
    helper = function_of("def helper(x):\n    K = x + 1\n    return K", K=np.ones(3))
    function = function_of("def f(A):\n    for i in range(len(A)):\n        A[i] = helper(A[i])", helper=helper)
    both(rebuilt(function), np.arange(3.0))


def test_tuples_of_the_surroundings() -> None:
    text = "def f(A):\n    for i in range(2):\n        for q in range(3):\n            A[i] += steps[q] * pairs[q][i]"
    original = rebuilt(function_of(text, steps=(0, -1, 2), pairs=((1.5, 2.0), (3.0, 4.0), (5.0, 6.0))))
    both(original, np.ones(2))
    assert original.constants == {"steps": (0, -1, 2), "pairs": ((1.5, 2.0), (3.0, 4.0), (5.0, 6.0))}


def sliding(x, A):  # type: ignore[no-untyped-def]
    x[1:] += x[:-1]
    A[1:, :] -= A[:-1, :]
    A[2] += A[2, ::-1]
    x += x[::-1]
    A += A.T


@pytest.mark.slow
def test_numba_computes_a_part_before_it_stores_it() -> None:
    """As NumPy does: where numba reads what it has just changed, every variant would look wrong beside it."""
    text, matrix = textwrap.dedent(inspect.getsource(sliding)), np.arange(16.0).reshape(4, 4)
    original = Original("sliding", text)
    expected, actual = ([np.arange(6.0), matrix.copy()] for _ in range(2))
    original.python()(*expected)
    original.numba()(*actual)
    for wanted, found in zip(expected, actual, strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_names_that_a_function_stores_are_its_own() -> None:
    def helper(x: float) -> float:
        return x

    text = "def f(x, y):\n    for helper in range(3):\n        y[helper] = x[helper]\n"
    assert not rebuilt(function_of(text, helper=helper)).helpers

"""Elements that a mask chooses are set as NumPy sets them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polyviz as pv
from polyviz.errors import ArgumentError, ExtractionError
from polyviz.frontend import extract
from tests.frontend.compiled import same_compiled
from tests.running import function_of


def several(A, b, c, x):
    A[0, 0] = 9.0
    A[A > 3] = 0
    b[b > c] += c[b > c]
    m = (b < 2.5) & ~(c > 2)
    c[m] = 2 * b[m] - 1
    b[m] *= 3
    x[x > np.mean(x)] = np.max(x) + 1
    first = x[0]
    x[x != first] = first


@pytest.mark.parametrize("target", ["c", "numba"])
@pytest.mark.parametrize("contract", ["strict", "reassociate"])
@pytest.mark.parametrize("dtype", ["float64", "int64", "float32"])
def test_chosen_elements_are_set(target: str, contract: str, dtype: str) -> None:
    values = np.random.default_rng(1).integers(0, 6, (4, 5)).astype(dtype)
    given = {"A": values.copy(), "b": values[0].copy(), "c": values[1].copy(), "x": values[2].copy()}
    same_compiled(several, given, target, contract)


def of_parts(Z, N, x, i):
    birth = (N == 3) & (Z[1:-1, 1:-1] < 2)
    Z[1:-1, 1:-1][birth | (N > 4)] = 7
    Z[:, 1:][Z[:, 1:] > 8] -= 1
    Z.T[Z.T < 1] = -1
    part = Z[1:-1, 1:-1]
    part[~birth & (part > 3)] += 1
    part[birth[::-1, :]] *= 2
    Z[i, 1:][Z[i, 1:] > 4] += i
    Z[2:, :][N[:, 0] > 3] = 5
    end = x[2:]
    end[end > 1] = 0


@pytest.mark.parametrize("target", ["c", "numba"])
def test_elements_of_parts_are_chosen(target: str) -> None:
    random = np.random.default_rng(3)
    given = {
        "Z": random.integers(0, 6, (7, 6)),
        "N": random.integers(0, 6, (5, 4)),
        "x": random.integers(0, 6, 5),
        "i": 2,
    }
    same_compiled(of_parts, given, target, "strict")


def test_a_mask_of_a_part_says_nothing_of_the_dimensions_of_the_array() -> None:
    given = {"Z": np.arange(20.0).reshape(4, 5), "m": np.arange(6).reshape(2, 3) > 2}
    text = "def f(Z, m):\n mask = m[:, :] != 0\n Z[1:-1, 1:-1][mask] = 1.0"
    same_compiled(function_of(text), given, "c", "strict")


@pytest.mark.parametrize(
    "line",
    [
        "Z[at][Z[at, 0] > 1] = 1.0",  # a copy gets the elements
        "Z[Z > 2][Z[Z > 2] > 1] = 1.0",
        "Z[1:, :][::-1, :][Z[1:, :] > 2] = 1.0",
        "Z[::-1, :][Z > 2] = 1.0",  # NumPy finds the elements before it sets the first one
        "Z[1:, :][Z[1:, 0] > 1, 1:] = 7.0",
    ],
)
def test_other_choices_of_parts_are_refused(line: str) -> None:
    with pytest.raises(ExtractionError):
        extract(f"def f(Z, at):\n B = Z[at, 0] + 1.0\n {line}")


def flagged(m, x):
    flags = x[:] > 1
    flags[~flags] = True
    x[flags] = -1.0
    m[m > 100] = 1


def by_functions(x, y):
    x[x < 0] = np.nan
    x[np.isnan(x)] = 0.5
    y[np.logical_and(x > 1, y < 3) | ~np.isfinite(y)] += 2.0


def test_functions_that_test_elements_make_masks() -> None:
    same_compiled(by_functions, {"x": np.array([-1.0, 2.0, 3.0]), "y": np.array([np.inf, 1.0, 4.0])}, "c", "strict")


def test_arrays_of_truth_values_in_the_notebook_are_masks() -> None:
    m, x = np.array([True, False, True]), np.arange(3.0)
    scop = extract("x[m & (x > 1)] = 7.0\nx[~m] = 1.0", namespace={"m": m, "x": x})
    assert len(scop.statements) == 2
    assert len(extract("x[m] = 7.0", namespace={"m": m.astype(int), "x": x}).statements) == 1  # places
    with pytest.raises(ExtractionError):
        extract("m = x * 2.0\nx[m] = 7.0", namespace={"m": m, "x": x})


@pytest.mark.parametrize("index", ["A > 1", "m"])
def test_how_many_elements_are_chosen_is_not_the_length_of_a_row(index: str) -> None:
    with pytest.raises(ExtractionError, match=r"A mask here|An array as a subscript"):
        extract(f"def f(A, m):\n return len(A[{index}]) + A[0, 0] + m[0]")


def test_masks_of_the_array_itself_and_of_nothing() -> None:
    same_compiled(flagged, {"m": np.arange(3.0), "x": np.arange(3.0)}, "c", "strict")


@pytest.mark.parametrize(
    "line",
    ["B = A[A > 3]", "s = np.sum(A[A > 3] + m)", "A[A > 3] = c", "A[A > 3] = A[::-1]", "A[A > 3] = c[c > 3]",
     "A[A > 3] = A[0]", "A[A > A[0]] = 1.0", "A[m] = 1.0", "A[m & k] = 1", "A[0 < A < 3] = 1.0", "M[A > 3] = 1.0",
     "M[m[0] > 3] = 1.0"],
)  # fmt: skip
def test_what_is_no_choice_for_each_element_is_refused(line: str) -> None:
    with pytest.raises(ExtractionError):
        extract(f"import numpy as np\ndef f(A, c, m, k, M):\n c[0] = m[0] + k[0] + M[0, 0]\n {line}")


RANDOM = np.random.default_rng(7)
GIVEN = {
    "A": RANDOM.random((4, 3)) - 0.5, "x": RANDOM.random(12) - 0.5, "y": RANDOM.random(12), "X": RANDOM.random((12, 3)),
    "L": RANDOM.integers(0, 3, 12), "C": np.zeros((3, 3)), "c": 1, "D": RANDOM.random((12, 3)), "h": 0.25,
}  # fmt: skip
ADDED_UP = {
    "sum": "def f(x):\n    return x[x > 0].sum(), x[x > 100].sum()",
    "others": "def f(x, y):\n    return np.mean(y[x > 0]), x[x < 0].std(), np.count_nonzero(x[y > 0.5] > 0)",
    "rows": "def f(X, L, c):\n    return X[L == c].sum()",
    "means": "def f(X, L, C):\n    k, d = C.shape\n    for c in range(k):\n        C[c] = X[L == c].mean(axis=0)",
    "all_dimensions": "def f(A: 'float64[:, :]'):\n    return A[A > 0].sum(), A[A > 0].mean(axis=0)",
    "named": "def f(x, y):\n    m = (x > 0) & (y < 0.8)\n    s = np.sum((x[m] - y[m]) ** 2)\n    return s / np.sum(m)",
    "of_a_mean": "def f(x):\n    return x[x > x.mean()].var()",
    "distances": "def f(X: 'float64[:, :]', L, y, c):\n    return np.sum((X[L == c] - y[:3]) ** 2)",
    "columns": "def f(X: 'float64[:, :]', L, x, c):\n    x[L == c] = X[L == c, 1]\n"
    "    return X[L == c, 0].mean(), np.sum(X[L == c, 1:] ** 2), np.sum(X[L == c, c] * x[L == c])",
    "thresholds": "def f(x, h):\n    x[x > h] = 0.5\n    x[(x < -h) | (x == h)] = h\n    return x[x > h].sum()",
    "stored_rows": "def f(X, L):\n    X[L == 1] = 7.0\n    X[L == 2] *= 2",
    "rows_of_others": "def f(X: 'float64[:, :]', L, D: 'float64[:, :]', y: 'float64[:]'):\n"
    "    X[L == 1] += D[L == 1] * 2\n    X[L == 2] = y[:3]",
    "in_a_loop": "def f(x, y):\n    s = 0.0\n    for i in range(len(y)):\n        s += y[i] * x[x > y[i]].sum()\n"
    "    if x[x > 0].sum() > 1:\n        y[0] = 7.0\n    return s",
}  # fmt: skip


@pytest.mark.parametrize("target", ["c", "numba"])
@pytest.mark.parametrize("name", ADDED_UP)
def test_chosen_elements_are_added_up(name: str, target: str) -> None:
    function = function_of(ADDED_UP[name])
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    same_compiled(function, {one: GIVEN[one] for one in names}, target, "reassociate")


@pytest.mark.parametrize("kind", ["int32", "float32", "bool", "complex128"])
def test_sums_of_chosen_elements_have_the_type_of_all(kind: str) -> None:
    function = function_of("def f(x, y):\n    return x[y > 2].sum(), x[y > 2].mean()")
    same_compiled(function, {"x": np.arange(6).astype(kind), "y": np.arange(6)}, "c", "strict")


def test_a_mean_of_nothing_is_no_number() -> None:
    found = pv.compile(function_of("def f(x):\n    return x[x > 100].mean()"), target="c")(np.arange(3.0))
    assert np.isnan(found)


@pytest.mark.parametrize(
    "value",
    [
        "X[L > 1].sum(axis=1)",
        "np.sum(X[L > 1] * w[L > 1])",
        "np.sum(w[L > 1] - w[L > 2])",
        "np.sum(w[L > 1] - w)",
        "np.sum(X[L > 1], axis=0, keepdims=True)",
        "w[L > 1].max()",
        "np.sum(X[L, L > 1])",
        "np.sum(V[X > 1, 0])",
        "np.sum(X[L > 1, 0] * X[L > 1])",
        "np.min(w[L > 1])",
    ],
)
def test_what_goes_with_the_chosen_elements_is_not_known(value: str) -> None:
    with pytest.raises(ExtractionError):
        head = "X: 'float64[:, :]', L: 'int64[:]', w: 'float64[:]', V: 'float64[:, :, :]'"
        extract(f"def f({head}):\n return {value}")


@pytest.mark.parametrize(
    "line",
    [
        "X[w > 1] = Y",
        "X[w > 1] = w[w > 1]",
        "X[X[:, 0] > 0] = 1.0",
        "X[w > 1] = X[0, 0]",
        "w[X > 0] = 1.0",
        "X[X > 0] = y",
    ],
)
def test_what_chosen_rows_are_given_is_not_known(line: str) -> None:
    with pytest.raises(ExtractionError):
        extract(f"def f(X: 'float64[:, :]', Y: 'float64[:, :]', w: 'float64[:]', y: 'float64[:]'):\n {line}")


def along_one_dimension(X, Y, m, y, r):
    X[m, 0] = 1.0
    X[m, :] = r
    X[y > 0.5, 1] *= 2.0
    X[m, 2] = y[m]
    X[y > 0.5, 1:3] = r[1:3]
    X[m, 0] += X[m, 1]
    X[X[:, 0] > 0.9, 3] = 0.25
    X[:, r > 0.5] = 7.0
    Y[1, ~m, :] = 3.0
    Y[:, y < 0.5, 2] += 1
    for k in range(4):
        X[y > 0.2 * k, k] = k


@pytest.mark.parametrize("target", ["c", "numba"])
def test_masks_along_one_dimension_choose_beside_numbers_and_slices(target: str) -> None:
    random = np.random.default_rng(4)
    given = {"X": random.random((6, 4)), "Y": random.random((3, 6, 4)), "y": random.random(6), "r": random.random(4)}
    given["m"] = np.array([True, False, True, True, False, True])
    same_compiled(along_one_dimension, given, target, "strict")


@pytest.mark.parametrize(
    "line",
    [
        "X[:, y > 1] = y",
        "X[:, y > 1] = X[:, y > 1] * 2",
        "X[y > 1, 0] = y",
        "X[y > 1, y > 2] = 0.0",
        "X[y > 1, 0] += X[y > 1, -1]",
        "X[X > 1, 0] = 0.0",
        "X[X[:, 0] > 1, :] = 0.0",
    ],
)
def test_what_goes_along_with_a_mask_of_one_dimension_is_not_known(line: str) -> None:
    with pytest.raises(ExtractionError):
        extract(f"def f(X: 'float64[:, :]', y: 'float64[:]'):\n {line}")


def test_a_mask_is_as_long_as_its_dimension() -> None:
    kernel = pv.compile("def f(X: 'float64[:, :]', y: 'float64[:]'):\n X[:, y > 1] = 0.0", target="python")
    X = np.ones((2, 3))
    kernel(X, np.array([0.0, 2.0, 3.0]))
    assert X.tolist() == [[1.0, 0.0, 0.0]] * 2
    with pytest.raises(ArgumentError, match="sizes"):
        kernel(X, np.ones(2))


def beside_numbers(A: Any, m: Any, k: int) -> Any:
    total = 0.0
    for i in range(k):
        total += np.sum(A[i, m] * A[i + 1, m])
    return A[0, m].sum(), A[m, 0].mean(), A[:, 1][m].sum(), np.count_nonzero(A[1][A[1] > 3.0]), total


def test_masks_behind_numbers_and_of_parts() -> None:
    given = {"A": np.arange(9.0).reshape(3, 3), "m": np.array([True, False, True]), "k": 2}
    same_compiled(beside_numbers, given, "c", "strict")


@pytest.mark.parametrize("part", ["A[m, m]", "A[m, k]", "A[k, m]", "A[:, k][m, 0]"])
def test_arrays_beside_a_mask_go_with_it_element_by_element(part: str) -> None:
    names = {"A": np.ones((3, 3)), "m": np.array([True, False, True]), "k": np.array([2, 1]), "s": np.ones(1)}
    with pytest.raises(ExtractionError):
        extract(f"s[0] = np.sum({part})", namespace={**names, "np": np})

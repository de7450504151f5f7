"""Sums over arrays and products of them as loops: the same result as NumPy's."""

from __future__ import annotations

import textwrap

import numpy as np
import pytest

import polyviz as pv
from tests.frontend.agreement import agree


@pytest.mark.parametrize(
    "line",
    [
        "s = np.sum(M)",
        "s = M.sum() / 2",
        "s = np.sum(M[1:, 0]) + np.sum(x * x)",
        "s = np.dot(x, x)",
        "s = x.dot(y)",
        "s = x @ x - 1.0",
        "s = np.mean(M)",
        "s = np.std(M) + M[1].var() * x.std()",
        "y[:] = np.var(M, axis=0)",
        "x[:] = (x - np.mean(x)) / np.std(x * x)",
        "for i in range(2): y[i] = np.std(M[i]) + np.var(M[:, i])",
        "s = M[1].mean()",
        "s = np.sum(x - np.mean(M)) + np.sum(x * x.dot(x))",
        "s = np.sum(x / M.size) + np.sum(x * M.shape[0]) + np.sum(x * len(M))",
        "s = np.sum(np.where(x > 1.0, x, M[2, 1]))",
        "s = np.argmax(M[2, 1] - x)",
        "s = np.sum(M * x)",
        "x[0] += np.sum(x[1:])",
        "y[:] = M @ x[:4]",
        "y[:] = np.dot(M, x)",
        "y += 2.0 * (M @ x)",
        "M[:, :] = M @ N",
        "C[:, :] = M @ N + np.sum(x)",
        "y[:] = x @ N",
        "x[:] = x / np.sum(x)",
        "x[:] = x - np.mean(x)",
        "s = np.sum(x[2:2])",
        "s = x.max() - np.min(M[1:])",
        "y[:] = M.sum(axis=0)",
        "y[:] = np.mean(M, axis=1)",
        "C[1:, :] = M[1:, :] - np.max(M, 0)",
        "y[:] = np.clip(x, 1.0, 2.5)",
        "for i in range(4): y[i] = np.clip(x[i], 1.0, 2.5)",
        "for i in range(4): y[i] = np.dot(M[i, :], x)",
        "for i in range(4):\n    for j in range(4): C[i, j] = M[i] @ N[:, j]",
    ],
)
def test_a_sum_is_the_loop_that_adds(line: str) -> None:
    matrices = "M[0, 0] = 1.0\nN[0, 0] = 1.0\nC[0, 0] = 1.0\nx[0] = 1.0\ny[0] = 2.0\n"
    names = {"M": np.arange(16.0).reshape(4, 4), "N": np.eye(4) + 1, "C": np.zeros((4, 4))}
    agree(matrices + line, **names, x=np.arange(4.0), y=np.ones(4))


@pytest.mark.parametrize(
    "called",
    [
        "np.sum(M[i, 1])",
        "M[i, 1].sum()",
        "np.sum(M[i][1] + 1.0)",
        "(x[i] ** 2).sum()",
        "np.sum(x[k[i]])",
        "np.sum(np.abs(x[i]))",
        "np.sum(np.max(M) * x[i])",
        "np.linalg.norm(x[i] - x[0])",
        "np.sum(np.arange(4) * x[i])",
    ],
)
def test_what_has_no_elements_of_its_own_is_not_added_up(called: str) -> None:
    """The array behind a single element, a size or another sum says nothing of how often something is added."""
    head = "M: 'float64[:, :]', x: 'float64[:]', k: 'int64[:]', y: 'float64[:]'"
    with pytest.raises(pv.PolyvizError, match=r"The (call of `np\.\S*`|method `\.sum\(\)`) is not supported"):
        pv.extract(f"def f({head}):\n    for i in range(4): y[i] = {called}")


def test_a_function_returns_a_sum() -> None:
    agree("def f(x):\n    x[0] = 3.0\n    return np.sum(x) / 2, x @ x", x=np.arange(4.0))


@pytest.mark.parametrize("dtype", ["complex128", "complex64", "float64", "int64"])
def test_vdot_takes_the_conjugates_of_the_first(dtype: str) -> None:
    def product(a, b, c):
        for i in range(2):
            c[i] = np.vdot(a[:], b[:])

    unit = 1j if dtype.startswith("complex") else 1
    one, two = np.array([1, 2 * unit, 3]).astype(dtype), np.array([unit, 2, 1]).astype(dtype)
    given = np.zeros(2, dtype)
    pv.compile(product)(one, two, given)
    np.testing.assert_allclose(given, np.vdot(one, two), rtol=1e-6)


def test_the_largest_of_a_part_without_elements_is_refused_at_the_call() -> None:
    """NumPy raises there; what starts with the first element of the part would take one beside it."""

    def largest(A, b, low, high, wanted):
        if wanted > 0:
            b[0] = np.max(A[low:high])

    kernel = pv.compile(largest, target="python")
    values, found = np.array([3.0, 1.0, 2.0]), np.zeros(1)
    kernel(values, found, 1, 3, 1)
    assert found[0] == 2.0
    for low, high in ((1, 1), (2, 1), (0, 0)):
        with pytest.raises(pv.PolyvizError, match=r"`A\[low:high\]` leaves its array.* reads A\[3\]"):
            kernel(values, found, low, high, 1)
    kernel(values, found, 2, 1, 0)


def test_the_largest_of_a_row_up_to_an_empty_part_is_refused() -> None:
    def before(A, b):
        for i in range(len(b)):
            b[i] = np.max(A[i, :i])

    with pytest.raises(pv.PolyvizError, match=r"`A\[i, :i\]` leaves the array"):
        pv.compile(before, target="python")(np.ones((3, 3)), np.zeros(3))


SEVERAL_AXES = {
    "np.sum(T, axis=(0, 2))": (3,),
    "T.max(axis=(1, -1))": (2,),
    "np.mean(T, axis=None) + np.sum(T)": (),
    "T - np.mean(T, axis=1, keepdims=True)": (2, 3, 4),
    "np.sum(T, axis=(0, 1), keepdims=True)": (1, 1, 4),
    "np.sum(T, keepdims=True) / T": (2, 3, 4),
    "np.exp(T - T.max(axis=-1, keepdims=True))": (2, 3, 4),
    "np.sum(T * T, axis=2, keepdims=False)": (2, 3),
}


@pytest.mark.parametrize("value", SEVERAL_AXES)
def test_sums_along_several_axes_and_axes_that_stay(value: str) -> None:
    text = f"def f(T: 'float64[:, :, :]'):\n    return {value}"
    T = np.arange(24.0).reshape(2, 3, 4) / 7 + 1
    expected = eval(value, {"np": np, "T": T})
    found = pv.compile(text, target="python")(T)
    assert np.shape(found) == SEVERAL_AXES[value]
    np.testing.assert_allclose(found, expected)


def test_a_named_sum_whose_axis_stays_goes_with_all() -> None:
    text = """
    def softmax(x: "float64[:, :]"):
        largest = np.max(x, axis=1, keepdims=True)
        e = np.exp(x - largest)
        total = np.sum(e, axis=1, keepdims=True)
        e /= total
        return e
    """
    x = np.arange(12.0).reshape(3, 4) % 5
    found = pv.compile(textwrap.dedent(text), target="python")(x)
    e = np.exp(x - x.max(axis=1, keepdims=True))
    np.testing.assert_allclose(found, e / e.sum(axis=1, keepdims=True))


def test_an_element_cannot_become_many() -> None:
    text = "def f(x: 'float64[:, :]'):\n    m = np.zeros((4, 1))\n    m[:, :] = x[:4, :3]\n    return m"
    with pytest.raises(pv.ExtractionError, match="never have the same number of elements"):
        pv.extract(text)


@pytest.mark.parametrize("axis", ["(0, 0)", "3", "()", "k"])
def test_axes_that_there_are_not(axis: str) -> None:
    with pytest.raises(pv.PolyvizError, match="not supported"):
        pv.extract(f"def f(T: 'float64[:, :, :]', k):\n    return np.sum(T, axis={axis})")


@pytest.mark.parametrize(
    "test", ["np.max(M) < 8.0 * y[i] or np.sum(x) > i + 1", "i > 0 and not (x.sum() > 3.0 and np.min(M) < 1.0)"]
)
def test_conditions_of_several_sums(test: str) -> None:
    head = "def f(M: 'float64[:, :]', x: 'float64[:]', y: 'float64[:]'):"
    text = f"{head}\n    for i in range(3):\n        if {test}:\n            y[i] += 1.0\n            x[i] -= 0.5"
    agree(text, M=np.arange(9.0).reshape(3, 3), x=np.arange(3.0), y=np.arange(3.0))


def test_what_a_condition_may_not_come_to_is_not_added_up_before() -> None:
    names = {"M": np.ones((3, 3)), "y": np.ones(3)}
    with pytest.raises(pv.PolyvizError, match="not supported"):
        pv.extract("for i in range(3):\n    if i > 0 and np.sum(M[i - 1]) > 3: y[i] = 1.0", namespace=names)


@pytest.mark.parametrize(
    "value",
    [
        "M[:, 1:].sum(axis=0)",
        "M[1:, 1:].max(axis=1)",
        "M[1:] / M[1:].sum(axis=0)",
        "M[::2, ::-1].mean(axis=0)",
        "np.sum(M[:, :, None] * y[None, None, :], axis=(0, 1))",
        "np.sqrt(((M[:, None, :] - M[None, :2]) ** 2).sum(axis=-1))",
    ],
)
def test_what_stays_may_start_elsewhere_and_new_axes_count(value: str) -> None:
    text = f"def f(M: 'float64[:, :]', y: 'float64[:]'):\n    y[0] = 1.0\n    return {value}"
    agree(text, M=np.arange(12.0).reshape(4, 3), y=np.arange(2.0))


def test_several_targets_of_one_sum() -> None:
    text = "def f(X: 'float64[:, :]', K: 'float64[:, :]'):\n    for i in range(3):\n        for j in range(i, 3):\n"
    text += "            K[i, j] = K[j, i] = np.exp(-np.sum((X[i] - X[j]) ** 2))\n"
    text += "    a, b = X.max(), K.sum()\n    return a, b"
    agree(text, X=np.arange(9.0).reshape(3, 3) / 7, K=np.zeros((3, 3)))


def test_bounds_that_count_on_from_computed_steps() -> None:
    text = "def f(L, x, n, size):\n    for k in range(0, n, size):\n        for i in range(k, min(k + size, n)):\n"
    agree(text + "            x[i] -= np.dot(L[i, k:i], x[k:i])", L=np.ones((5, 5)), x=np.arange(5.0), n=5, size=2)

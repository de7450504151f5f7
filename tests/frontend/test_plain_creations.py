"""Arrays that are made in other words: several in one line, types given afterwards, arithmetic, names for numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polyviz as pv
from polyviz.errors import ArgumentError, CodegenError, UnsupportedSyntaxError
from polyviz.frontend import extract
from tests.frontend.compiled import same_compiled
from tests.running import function_of

A = np.arange(12.0).reshape(3, 4)
V = np.arange(6.0) + 0.25


def of_named_numbers(n: int) -> Any:
    INF = -1e30
    BIG = np.finfo(np.float64).max
    NONE = -np.inf
    p = np.full(n + 1, INF)
    q = np.full(n, -INF, dtype=np.float32)
    r, s = np.full(n, BIG), np.full((n, 2), NONE)
    for i in range(n):
        p[i] = i
    return p, q, r, s


def of_computed_numbers(x: Any) -> Any:
    s = x[0] + 1
    b = np.full(len(x), s, dtype=np.int32)
    c = np.full(len(x), x[1], np.float32)
    b[0] = 2
    return b, c


def of_computed_numbers_in_a_loop(x: Any, v: float, n: int) -> float:
    INF = 1e3
    total = 0.0
    for t in range(3):
        c = np.full(n, v, dtype=np.float32)
        d = np.full(n, INF)
        like = np.full_like(x, 2)
        v += 1
        d[0] = x[t]
        for i in range(n):
            total += c[i] * d[i] + like[i]
    return total


def several(n: int) -> Any:
    l, m = np.zeros(n), np.zeros(n - 1)  # noqa: E741  # as in books about tridiagonal systems
    for i in range(n - 1):
        l[i] = i
        m[i] = i
    return l, m


def like_rows(A: Any) -> Any:
    b, d = np.zeros_like(A[0]), np.ones_like(A[:, -1])
    e, f = np.zeros(A.shape[1:]), np.empty(A.shape[:1])
    for i in range(A.shape[1]):
        b[i] = A[1, i]
        e[i] = 1
    for i in range(A.shape[0]):
        d[i] += 1
        f[i] = 2
    return b, d, e, f


def solved(below: Any, right: Any) -> Any:
    x = np.zeros_like(right)
    for i in range(1, len(right)):
        x[i] = right[i] - below[i] * x[i - 1]
    return x


def like_rows_in_a_loop(A: Any) -> Any:
    B = np.zeros(A.shape)
    for n in range(A.shape[0]):
        y = np.full_like(A[n], 2)
        z = np.ones_like(A[n, :], dtype=np.int32)
        B[n, :] = solved(A[0], A[n, :])
        for i in range(A.shape[1]):
            z[i] += y[i] * A[n, i]
            B[n, i] += z[i]
    return B


def of_arithmetic(x: Any) -> Any:
    k = np.array([[1, 2], [3, 4]], dtype=np.float32) / 16.0
    m = -np.array([1, 2, 3]) * 2
    w = np.array([1.5, 2.5]).astype(np.int32)
    for i in range(2):
        x[i] = k[i, 0] + m[i] + w[i]
    return k, m, w


def of_elements(A: Any) -> Any:
    s = 0
    for i in range(1, A.shape[0]):
        c = np.array([A[i - 1, i], A[i, i - 1], A[i - 1, i - 1]])
        s += np.argmin(c)
    v = np.array([s, s + 1, 3], dtype=np.float32)
    return s, v


def in_a_while_loop(x: Any) -> int:
    k = 0
    while k < len(x) and x[k] < 3:
        t = np.zeros(len(x))
        u = x * 2
        w = x.copy()
        for i in range(len(x)):
            t[i] += x[i] + u[i] + w[0]
        x[k] = t[2]
        k += 1
    return k


def of_types(x: Any) -> Any:
    o = np.zeros(x.shape).astype(np.uint8)
    p = np.ones(3, dtype=np.int64).astype(np.float32)
    for i in range(3):
        o[i] = 1
    return o, p


CASES: dict[Any, list[dict[str, Any]]] = {
    of_named_numbers: [{"n": 4}],
    of_computed_numbers: [{"x": V}],
    of_computed_numbers_in_a_loop: [{"x": V, "v": 0.5, "n": 4}],
    several: [{"n": 4}],
    like_rows: [{"A": A}, {"A": A.astype(np.int32)}],
    like_rows_in_a_loop: [{"A": A}, {"A": A.astype(np.float32)}],
    of_elements: [{"A": np.sin(A[:, :3] * 7)}, {"A": np.array([[3, 1], [0, 2]])}],
    in_a_while_loop: [{"x": V}],
    of_arithmetic: [{"x": V}],
    of_types: [{"x": V}],
}


@pytest.mark.parametrize("target", ["c", "numba"])
@pytest.mark.parametrize("function", CASES, ids=lambda function: function.__name__)
def test_as_in_python(function: Any, target: str) -> None:
    for given in CASES[function]:
        same_compiled(function, given, target, "strict")


def like_first_row(A: Any) -> Any:
    b = np.zeros_like(A[0])
    b[0] = 1
    return b


def test_row_has_to_be_there() -> None:
    with pytest.raises(ArgumentError, match="these sizes are not what the loops assume"):
        pv.compile(like_first_row, target="c")(np.zeros((0, 4)))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("b = np.zeros_like(A[0, 0])", "is no row or plane"),
        ("b = np.zeros_like(A[n])", "is no row or plane"),
        ("b = np.zeros(A.shape[n:])", "is no part of a shape"),
        ("b = np.zeros(A.shape[2:])", "needs at least one dimension"),
        ("b = np.array([[A[0, 0], n], [n]])", "The call of `np.array` is not supported"),
        ("b = np.array([A[0], A[1]])", "used with 1 subscript"),
        ("b = np.full(n, A[0, 0])", "computed by the program"),
        ("b = np.array([1, 300], dtype=np.uint8) / 2", "The call of `np.array` is not supported"),
    ],
)
def test_others_are_refused(line: str, message: str) -> None:
    with pytest.raises(UnsupportedSyntaxError, match=message) as caught:
        extract(f"def f(A: 'float64[:, :]', n):\n    {line}\n    b[0] = n\n    A[0, 0] = b[0]")
    assert caught.value.hint


def diagonals(A, n):
    one, other = np.eye(n, dtype=A.dtype), np.eye(n, 2, dtype=A.dtype)
    return one + A, other


@pytest.mark.parametrize("target", ["c", "numba"])
@pytest.mark.parametrize("kind", [np.float32, np.int64, np.float64])
def test_diagonals_have_the_type_of_an_array(kind: Any, target: str) -> None:
    same_compiled(diagonals, {"A": np.arange(9).reshape(3, 3).astype(kind), "n": 3}, target, "strict")


def of_numbers(a, out, k):
    total = 0.0
    for i in range(a.shape[0] - 1):
        c, s = np.cos(a[i]), np.sin(a[i])
        turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        place = np.array([a[i + 1] - a[i], 2 * k, 1]) / (1.0 + a[i])
        out[i] = np.sum(turn @ place)
        steps = np.array([i, k])
        steps[0] = steps[0] // 2
        total += steps[0] + steps[1] * np.max(np.array([a[i], 0.5]))
    return np.array([k, k + 1]), np.array([total, k]), np.array([a[0], 2j])


@pytest.mark.parametrize("target", ["c", "numba", "python"])
def test_arrays_of_computed_numbers_have_the_type_of_numpy(target: str) -> None:
    given = {"a": np.random.default_rng(2).random(7), "out": np.zeros(6), "k": 3}
    same_compiled(of_numbers, given, target, "strict")


@pytest.mark.parametrize(
    ("line", "kind"),
    [("np.array([a[0] > 0, k > 1])", np.float64), ("np.array([a[0], a[1] * 2.0])", np.float32),
     ("np.array([a[0], a[1]])", np.float32), ("np.array([a[0] + a[1], a[2]])", np.float32)],
)  # fmt: skip
@pytest.mark.parametrize("target", ["c", "numba"])
def test_a_type_that_is_not_clear_is_refused(line: str, kind: Any, target: str) -> None:
    text = f"def f(a, k):\n    b = {line}\n    return b"
    function = function_of(text)
    given = np.array([1.5, 2.5, 3.5], kind)
    try:
        found = pv.compile(function, target=target)(given, 3)
    except CodegenError as error:
        assert "is not clear" in str(error)
    else:
        assert found.dtype == function(given, 3).dtype
        assert found.tolist() == function(given, 3).tolist()


def by_their_class(x: Any) -> Any:
    a = np.ndarray(x.shape, x.dtype)
    b = np.ndarray(shape=(len(x), 3), dtype=np.float32)
    for i in range(len(x)):
        a[i] = 2 * x[i]
        for j in range(3):
            b[i, j] = x[i] + j
    return a, b


def test_arrays_made_by_their_class() -> None:
    same_compiled(by_their_class, {"x": V}, "c", "strict")
    with pytest.raises(UnsupportedSyntaxError, match="with the option `buffer`"):
        extract(function_of("def f(x):\n    y = np.ndarray((4,), buffer=x)\n    y[0] = 1\n    return y\n"))

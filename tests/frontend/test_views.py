"""Names of rows, columns and slices mean the elements of their arrays, at any time, as in NumPy."""

from __future__ import annotations

import ast

import numpy as np
import pytest

import polyviz as pv
from polyviz.errors import ArgumentError, ExtractionError
from polyviz.frontend import extract
from polyviz.frontend.names import GlobalNames
from polyviz.frontend.source import read_source
from polyviz.frontend.views import without_views
from tests.frontend.compiled import same_compiled


def rows(A, n):
    total = 0.0
    first = A[0]
    for i in range(1, n):
        before = A[i - 1, :]
        row = A[i]
        row /= np.sqrt(np.sum(row * row))
        row[0] = first[1] + len(row) + row.shape[0] + before[2]
        for value in row:
            total += value
    return total + first[-1]


def columns(A, n):
    last = A[:, -1]
    for j in range(n):
        column = A[:, j]
        kept = column.copy()
        column[0] = kept[-1] + len(column) + kept[n - 1]
        column += last
    return np.sum(last)


def slices(A, x, n):
    inner = A[1:-1, 1:-1]
    inner += 0.5 * (A[:-2, 1:-1] + A[2:, 1:-1])
    right = x[1:]
    left = 0.0
    for i in range(n - 2):
        window = x[i : i + 3]
        left += window.sum() * np.max(right)
    tail = x[2:]
    tail *= 2.0
    return left, right @ x[:-1]


def transposed(A, n):
    other = A.T
    other[0, 1] = 5.0
    for i in range(other.shape[0]):
        for j in range(len(other)):
            A[i, 0] += other[j, i] * other.shape[1]
    return other @ A


def parts(A, x, n):
    tail, head = 0.0, 0.0
    right = x[1:]
    left = x[: n + 1]
    inner = A[1:-1, 1:]
    for k in range(n):
        tail += right[0] * right[-1] + left[k + 1] - left[-2]
        for j in range(k):
            tail += right[k - j - 1]
            right[j] += 0.5
        if right[k] > 4.0:
            head += right[k] + A[:, 1][k]
    for i in range(n - 2):
        inner[i, n - 2] += inner[i, 0] + inner[-1, -1]
    return tail, head


def lengths(A, x, n):
    right, inner, few, backwards = x[1:], A[1:-1, :], x[2:7], x[::-1]
    out = np.zeros(right.shape[0])
    for i in range(len(right)):
        out[i] = right[i] - x[i] + inner.shape[0]
    for i in range(inner.shape[0]):
        for j in range(inner.shape[1]):
            inner[i, j] += few.shape[0] * backwards[len(backwards) - 1]
    return out


def along_new_axes(A, x, n):
    column = x[:n, np.newaxis]
    row = x[None, 1:]
    A += column * row + A[1, :][0]
    return column - row


def new_axes_of_parts(A, x, n):
    total = A * 0.0
    last = A[:, n - 1]
    tail = x[1:]
    turned = A.T
    for k in range(n):
        first = A[:, k]
        total += first[np.newaxis, :] * x[:n, np.newaxis] + last[:, None] * tail[None, :]
        total[k, :] += turned[k, 0]
    return total


def found_in_data(A, x, places, n):
    total = 0.0
    for i in range(n):
        row = A[places[i]]
        apart = row - A[places[n - 1 - i], :]
        total += np.sqrt(apart @ apart) + row[0]
        row[1] += 1.0
    return total


def turned_round(A, x, n):
    back = x[::-1]
    upper = np.flip(A, 0)
    upper[0, 1] = 9.0
    total = 0.0
    for i in range(n):
        total += back[i] * i
        back[i] += 1.0
    return total, upper + A[::-1, ::-1] + np.fliplr(A), np.flipud(x)


def made_and_turned_round(A, x, n):
    y = x[:n] * 2.0
    z = np.flip(y)
    A[:, :] = np.flip(A)
    return z - y + y[::-1]


def of_rows(A, n):
    total = 0.0
    for i in range(n):
        one = A[i]
        for j in range(i):
            two = A[j]
            apart = one - two
            total += np.sqrt(apart @ apart)
    for point in A:
        moved = point - A[0, :]
        total += np.sum(moved)
    return total


def windows(A, x, n):
    total, width = 0.0, 2
    middle = x[1:n]
    for i in range(len(x) - width):
        window = x[i : i + width]
        for j in range(len(window)):
            total += window[j] * window[-1]
    for i in range(len(x)):
        around = x[max(0, i - width) : min(len(x), i + width + 1)]
        total += around.mean() / len(around)
    for j, value in enumerate(middle):
        middle[j] = value + middle.shape[0] * j
    inner = A[1:-1, 1:]
    rows, columns = inner.shape
    for i in range(rows):
        for j in range(columns):
            inner[i, j] += middle.size
    return total, middle[-2]


def windows_of_windows(A, x, n):
    inner = x[1:-1]
    left, right = inner[:-1], inner[1:]
    total = 0.0
    for i in range(len(left)):
        total += right[i] - left[i]
    last, but_last = x[-n:], x[:-n]
    for i in range(but_last.shape[0]):
        total += last[i] * but_last[i]
    block = A[1:, :-1]
    corner = block[1:, 1:]
    corner[0, 1] = total
    return corner.sum()


def every_second(A, x, n):
    odd = x[1::2]
    few = x[0:n:3]
    for i in range(len(odd)):
        odd[i] *= few[0] + len(few)
    further = odd[1:]
    further[0] = 9.0
    total = 0.0
    for k, a in enumerate(A[1::2, 0]):
        total += a * k
    for a in A[::-1, 1]:
        total = total / 2 + a
    for a in A[2, 1:n]:
        total += a
    return total


def cut_rows(A, x, places, n):
    total = 0.0
    for i in range(n):
        for lag in range(1, 3):
            here, there = A[i][:-lag], A[places[i]][lag:]
            total += np.sum(here * there)
        A[i][1:] *= x[i]
    turned = A.T
    for i in range(2):
        turned[i][1:] += np.sum(turned[i + 1][:-1])
    return A[places][1:] + total


def rows_of_what_is_made(A, x, n):
    B = A * 2.0
    for i in range(n):
        row = B[i]
        row -= x[i]
    C = np.zeros((2, n, 3))
    for i in range(2):
        for j in range(n):
            line = C[i, j]
            line += B[i, j]
    return B, C


FUNCTIONS = [
    windows, windows_of_windows, every_second, made_and_turned_round,
    rows, columns, slices, transposed, turned_round, of_rows, parts, lengths, along_new_axes, new_axes_of_parts,
    found_in_data, cut_rows, rows_of_what_is_made,
]  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda one: one.__name__)
@pytest.mark.parametrize("target", ["c", "numba"])
@pytest.mark.parametrize("contract", ["strict", "reassociate"])
def test_the_values_of_numpy(function, target: str, contract: str) -> None:
    matrix = np.random.default_rng(3).random((4, 4)) + 1.0
    given = {"A": matrix, "n": 4} | ({"x": np.arange(1.0, 6.0)} if "x" in function.__code__.co_varnames else {})
    given |= {"places": np.array([2, 0, 3, 2])} if "places" in function.__code__.co_varnames else {}
    same_compiled(function, given, target, contract)


def _written(body: str) -> str:
    source = read_source(f"def f(A, B, x, n):\n {body}", None, None)
    return "\n".join(map(ast.unparse, without_views(source, GlobalNames(source)).body))


@pytest.mark.parametrize(
    "body",
    [
        "row = A[n]\n n = 2\n row[0] = n",
        "row = A[0]\n A = A * 2\n x[0] = row[1]",
        "row = A[0]\n if n > 2: row = A[1]\n row[0] = 1",
        "row = A[0]\n for i in range(n):\n  row[i] = 1\n  row = A[i]",
        "for i in range(n):\n  row = A[i]\n x[0] = row[0]",
        "h = x[::n]\n for i in range(n): B[i, 0] = h[i]",
        "row = A[B[0, n]]\n B[0, n] = 1\n row[0] = 2",
        "h = x[n::-1]\n B[0, 0] = len(h) + h[0]",
        "row = A[int(x[0])]\n row[0] = 1",
        "for n in range(3):\n  row = A[n]\n  for n in range(2): row[n] = 1",
        "x = x[1:]\n x[0] = 2",
        "v = x[n]\n v += 1\n B[0, 0] = v",
        "turned = A.T\n x[0] = turned[0:2, 1:][0, 0]",
        "row = A[0]\n x[0] = row.strides",
        "turned = A.T\n turned += 1",
    ],
    ids=["subscript changes", "array gets a value", "bound again", "bound in a loop", "used outside",
         "any step", "place changes", "from a place backwards", "found in data", "loop variable changes",
         "name of its own", "number", "part of the turned", "other attribute", "turned as a whole"],
)  # fmt: skip
def test_what_may_mean_something_else_stays(body: str) -> None:
    assert _written(body) == ast.unparse(ast.parse(f"if 1:\n {body}").body[0]).replace("\n    ", "\n")[6:].strip()


def test_an_array_as_a_subscript_chooses_copies() -> None:
    with pytest.raises(ExtractionError, match="An array as a subscript"):
        extract("def f(A, k):\n k[0] = 1\n rows = A[k]\n rows[0, 1] = 2.0")


def test_a_cell_says_that_its_name_is_not_set() -> None:
    scop = extract("for i in range(3):\n row = A[i]\n row[0] = row[1] + A[0, 0]")
    note = "`row` keeps the value it had before the cell: it stands for parts of an array inside its loop only."
    assert note in scop.notes
    with pytest.raises(ExtractionError):
        extract("row = A[0]\nrow[1] = A[1, 1]")


@pytest.mark.parametrize(
    "body",
    [
        "h = x[1:]\n for i in range(n): B[i, 0] = h[i - 1]",
        "h = x[:n]\n for i in range(n): B[i, 0] = h[i + 1]",
        "h = x[::-1]\n for i in range(n): B[i, 0] = h[i - 1]",
        "B[:, 0] = np.flip(x, -1)",
        "y = x * B\n x[:] = np.flip(y)",
        "h = x[k:]\n for i in range(n): B[i, 0] = h[i]\n k = n - 10",
        "h = x[1:]\n for i in range(n): B[i, 0] = h[int(B[i, 1])]",
        "h = x[2:n]\n B[0, 0] = h[n - 2]",
        "h = x[2:n]\n w = h[1:n]\n for i in range(n - 1): B[i, 0] = w[i]",
        "h = x[1:]\n i = 0\n while x[i] > 0:\n  i += 1\n  B[i, 0] = h[i]",
        "h = x[1:]\n for i in range(n):\n  if x[i] > 0:\n   for j in range(n):\n    h[j] = 0\n    if B[i, 0]: break",
    ],
)
def test_an_element_that_may_be_outside_of_a_slice_is_refused(body: str) -> None:
    with pytest.raises(ExtractionError):
        extract(f"def f(B, x, n):\n {body}")


def test_sizes_for_which_an_element_is_outside_of_a_slice_are_refused() -> None:
    kernel = pv.compile("def f(x, s, n, k):\n h = x[k:]\n for i in range(n):\n  s[i] = h[i]", target="python")
    s = np.zeros(3)
    kernel(np.arange(6.0), s, 3, 2)
    assert s.tolist() == [2.0, 3.0, 4.0]
    with pytest.raises(ArgumentError):
        kernel(np.arange(6.0), s, 3, -2)


@pytest.mark.parametrize("target", ["c", "numba"])
def test_slices_that_end_with_the_array_are_as_short_as_those_of_numpy(target: str) -> None:
    text = "def f(x, y, a, b):\n w = x[a:b]\n y[0] = len(w)\n for i in range(len(w)): y[i + 1] = w[i]"
    kernel = pv.compile(text, target=target)
    for a, b in ((2, 5), (3, 99), (5, 2), (99, 3)):
        x, y = np.arange(1.0, 7.0), np.zeros(8)
        kernel(x, y, a, b)
        assert y.tolist() == [len(x[a:b]), *x[a:b], *[0.0] * (7 - len(x[a:b]))]
    with pytest.raises(ArgumentError):
        kernel(np.arange(6.0), np.zeros(8), 2, -1)


def test_an_element_counted_from_the_end_is_that_of_the_array_where_the_slice_ends_with_it() -> None:
    kernel = pv.compile("def f(x):\n w = x[2:6]\n return w[-2]", target="python")
    assert kernel(np.arange(8.0)) == 4.0
    with pytest.raises(ArgumentError):
        kernel(np.arange(5.0))  # NumPy's slice has three elements

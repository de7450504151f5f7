"""Loops over elements, with and without positions, compared with Python."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from polyviz import extract
from polyviz.errors import UnsupportedSyntaxError
from tests.frontend.agreement import WORLD, agree
from tests.frontend.compiled import same_compiled

RANDOM = np.random.default_rng(8)

LOOPS = {
    "elements": "for a in A:\n        B[0] += a",
    "positions": "for i, a in enumerate(A):\n        B[i] = a",
    "from_one": "for i, a in enumerate(A, 1):\n        B[i - 1] = a * i",
    "together": "for a, b in zip(A, B):\n        A[0] += a * b",
    "written_while_read": "for i, a in enumerate(A):\n        A[(i + 1) % 5] = a + 1",
    "not_strict": "for a, b in zip(A, B, strict=False):\n        A[0] += a * b",
    "shortest": "for a, (i, b), k in zip(A, enumerate(B), range(3)):\n        B[k] = a * b + i",
    "inside": "for a in A:\n        for b in B:\n            if a > b:\n                C[0, 0] += a * b",
    "places": "for i, j in np.ndindex(C.shape):\n        C[i, j] += A[j]",
    "places_of_numbers": "for i, j in np.ndindex(2, 3):\n        C[i, j] += A[j]",
    "places_and_values": "for (i, j), c in np.ndenumerate(C):\n        B[j] += c * A[i]",
    "all_but_the_first": "for i, a in enumerate(A[1:]):\n        B[i] = a",
    "neighbours": "for a, b in zip(A[:-1], A[1:]):\n        B[0] += a * b",
    "fewer_than_left_out": "for a in A[3:-3]:\n        B[0] += a",
    "parts_of_numbers": "for a, b in zip(A, B):\n        B[0] += a.real * b.conjugate() - b.imag",
    "rows": "for row in C:\n        for c in row:\n            B[0] += c",
    "rows_by_subscript": "for i, row in enumerate(C):\n        for j in range(len(row)):\n            row[j] += A[i]",
    "rows_together": "for row, a in zip(C, A):\n        for c, b in zip(row, B):\n            B[1] += a * c * b",
    "parts_of_rows": "for row in C:\n        row[1:] = row[:-1]\n        row *= 2",
    "rows_of_a_part": "for row in C[1:]:\n        for j in range(len(row)):\n            row[j] += C[0, j]",
    "rows_of_a_part_read": "for i, row in enumerate(C[1:-1], 2):\n        for c in row:\n            B[i] += c",
    "neighbouring_rows": "for a, c in zip(C[:-1], C[1:]):\n        for j in range(3):\n            a[j] += c[j + 1]",
    "position_given_anew": "for i, row in enumerate(C):\n        for i in range(2):\n            row[i] = i + 7",
    "position_counted_on": "for i, row in enumerate(C):\n        i += 1\n        row[0] = i",
    "a_row_before": "for i in range(3):\n        for c in C[i - 1]:\n            B[i] += c",
    "rows_added_up": "for i, row in enumerate(C):\n        B[i] = row.sum() / row.shape[0]",
    "a_row": "for c in C[k]:\n        B[0] += c",
    "from_a_place": "for a in A[k:]:\n        A[0] += a",
    "last_ones": "for a in A[-2:]:\n        A[0] += a",
    "every_second": "for i, a in enumerate(A[1::2]):\n        A[i] += a",
    "backwards": "for a, b in zip(A[::-1], A):\n        A[0] += a * b\n        A[3] /= 2",
    "between_places": "for a in A[k : k + 2]:\n        A[2] += a",
    "beyond_the_end": "for a in A[k : 3 * k + 7]:\n        B[2] += a",
    "a_part_of_a_row": "for c in C[k, 1:-k]:\n        B[0] += c",
    "a_column": "for c in C[:, k]:\n        C[0, k] += c",
    "generated": "D = np.linspace(0, 1, 4)\n    for d in D:\n        A[0] += d",
    "computed_before": "D = A[:] * 2\n    for d in D:\n        B[0] += d",
    "computed_rows": "D = C[:, :] - 1\n    for row in D:\n        for d in row:\n            B[1] += d",
    "made_before": "D = np.ones(4)\n    for d in D:\n        A[0] += d",
}

NOT_IN_CELLS = (
    "made_before",
    "computed_before",
    "computed_rows",
    "generated",
    "position_given_anew",
    "position_counted_on",
)


@pytest.mark.parametrize("name", LOOPS)
@pytest.mark.parametrize("shape", ["function", "cell"])
def test_agrees_with_python(name: str, shape: str) -> None:
    given: dict[str, Any] = {
        "A": RANDOM.standard_normal(5),
        "B": RANDOM.standard_normal(6),
        "C": RANDOM.integers(-9, 9, (3, 4)).astype(float),
        "k": 1,
    }
    if shape == "function":
        agree(f"def f(A, B, C, k):\n    {LOOPS[name]}\n", **given)
    elif name not in NOT_IN_CELLS:
        agree(LOOPS[name].replace("\n    ", "\n"), **given)


def test_product_of_ranges(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(WORLD, "itertools", itertools)
    scop = agree("import itertools\nfor i, j in itertools.product(range(n), range(m)):\n    A[i, j] += i * j", **{
        "A": RANDOM.standard_normal((3, 4)), "n": 3, "m": 4,
    })  # fmt: skip
    assert str(scop.statements[0].domain) == "[n, m] -> { S0[i, j] : 0 <= i < n and 0 <= j < m }"


def test_position_without_a_name_is_not_left_behind() -> None:
    scop = extract("for a in A:\n    s += a", namespace={"A": np.ones(3), "s": 0.0})
    assert [name for name, _ in scop.final_iterators] == []
    assert scop.statements[0].iterators == ("a_at",)
    assert scop.statements[0].source == "a in A"
    named = extract("for i, a in enumerate(A):\n    s += a", namespace={"A": np.ones(3), "s": 0.0})
    assert [name for name, _ in named.final_iterators] == ["i"]


@pytest.mark.parametrize(
    "loop",
    [
        "for i, j in itertools.product(range(n), range(i)): A[i] = j",
        "for i, a in enumerate(A, 1, 2): A[i] = a",
        "for a, b in zip(A): A[0] = a",
        "for a in A[n::-1]: A[0] = a",
        "for a in A[::n]: A[0] = a",
        "for a in A[K[0]:]: K[0] = a",
        "for i, a in enumerate(A[K[0]:]): K[0] = a",
        "for a, b in zip(A, A[K[0]:]): K[0] = a",
        "for a in names: A[0] = 1.0",
        "for k in np.ndindex(A.shape): A[k] = sum(k)",
        "for i, j in np.ndindex(2, K[0]): K[0] = 1",
        "for i, a in enumerate(A, K[0]): K[0] += i",
    ],
)
def test_what_is_no_loop_over_elements_is_refused(loop: str) -> None:
    names = {"A": np.ones(3), "K": np.ones(3, int), "names": ["x"], "n": 2, "i": 1, "np": np}
    with pytest.raises(UnsupportedSyntaxError, match=r"is not supported|a loop nest cannot work with"):
        extract(f"import itertools\n{loop}", namespace=names)


def test_a_cell_says_that_the_name_of_rows_is_not_left() -> None:
    text = "for row in C:\n    for c in row:\n        s += c"
    note = "`row` keeps the value it had before the cell: it stands for parts of an array inside its loop only."
    assert note in extract(text, namespace={"C": np.ones((2, 3)), "s": 0.0}).notes
    assert not extract("def f(C, s):\n    " + text.replace("\n", "\n    ") + "\n    return s").notes


def ranges_beside_places(x, out, n):
    for k, s in enumerate(range(2, len(x), 3)):
        out[k] = x[s]
    for a, (i, j) in enumerate(zip(range(1, 5), range(8, 0, -2), strict=False), start=7):
        out[a] = x[i] * x[j] + i + j
    for i, v in zip(range(3, len(x)), x, strict=False):
        out[i] += v
    total = 0
    for k, s in enumerate(range(5, n)):
        out[k] += x[s]
        total += s
    return total


@pytest.mark.parametrize("target", ["c", "numba"])
def test_ranges_with_bounds_and_steps(target: str) -> None:
    for n in (3, 9):
        same_compiled(ranges_beside_places, {"x": np.arange(20.0) ** 2, "out": np.ones(20), "n": n}, target, "strict")


def test_loops_over_elements_of_rows_keep_plain_names() -> None:
    text = "def f(A: 'float64[:, :]', s):\n    for row in A:\n        for v in row:\n            s[0] += v\n"
    assert extract(text).statements[-1].iterators == ("row_at", "v_at")

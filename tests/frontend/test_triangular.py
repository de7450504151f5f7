"""Rows of growing length, one behind the other: what is told apart, that it is so, and where it ends."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import islpy as isl
import numpy as np
import pytest

import polyviz as pv
from polyviz.analysis.accesses import all_accesses, restricted, told_apart
from polyviz.analysis.witness import fixed
from polyviz.errors import OutOfBoundsError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

LOWER = "def f(A, n):\n    for i in range(n):\n        for j in range(i + 1):\n            "
STRICT = LOWER.replace("range(i + 1)", "range(i)")
UPPER = LOWER.replace("range(i + 1)", "range(i + 1, n)")
TOLD = {
    "by rows": LOWER + "A[i * (i + 1) // 2 + j] += 1.0",
    "by rows, without the diagonal": STRICT + "A[i * (i - 1) // 2 + j] += 1.0",
    "by columns": "def f(A, n):\n    for j in range(n):\n        for i in range(j, n):\n"
    "            A[i + (2 * n - j - 1) * j // 2] += 1.0",
    "all pairs": UPPER + "A[n * i - i * (i + 1) // 2 + j - i - 1] += 1.0",
    "all pairs from the end": UPPER
    + "A[n * (n - 1) // 2 - (n - i) * (n - i - 1) // 2 + j - i - 1] += 1.0",
    "upper half": LOWER.replace("range(i + 1)", "range(i, n)") + "A[n * i - i * (i - 1) // 2 + j - i] += 1.0",
    "from one on": "def f(A, n):\n    for i in range(1, n + 1):\n        for j in range(1, i + 1):\n"
    "            A[i * (i - 1) // 2 + j - 1] += 1.0",
    "three rows": "def f(A, n):\n    for i in range(1, n - 1):\n        for j in range(i):\n"
    "            A[i * (i + 1) // 2 + j] += A[(i - 1) * i // 2 + j] + A[(i + 1) * (i + 2) // 2 + j] + A[0]",
    "the diagonal": LOWER + "A[i * (i + 1) // 2 + j] += A[j * (j + 1) // 2 + j] + A[i * (i + 1) // 2 + i]",
    "a counter": "def f(A, n):\n    k = 0\n    for i in range(n):\n        for j in range(i + 1, n):\n"
    "            A[k] += 1.0\n            k += 1",
    "twice as long": LOWER.replace("range(i + 1)", "range(2 * i + 1)") + "A[i * i + j] += 1.0",
    "a row beforehand": "def f(A, n):\n    for i in range(n):\n        row = i * (i + 1) // 2\n"
    "        for j in range(i + 1):\n            A[row + j] += 1.0",
}
LEFT = {
    "too long": LOWER.replace("range(i + 1)", "range(i + 2)") + "A[i * (i + 1) // 2 + j] += 1.0",
    "two kinds of rows": LOWER + "A[i * (i + 1) // 2 + j] += A[i * i + j]",
    "halves": LOWER + "A[i * i // 2 + j] += 1.0",
    "the third power": LOWER + "A[i * i * i + j] += 1.0",
    "data": LOWER.replace("(A,", "(A, p,") + "A[i * (i + 1) // 2 + p[j]] += 1.0",
    "two squares": LOWER + "A[i * i + j * j] += 1.0",
}


@pytest.mark.parametrize("text", TOLD.values(), ids=TOLD)
def test_rows_and_places_tell_cells_apart(text: str) -> None:
    part = pv.extract(text)
    assert all(access.starts is not None for _, access in all_accesses(part) if access.array == "A")
    assert all(access.relation.is_single_valued() for _, access in all_accesses(told_apart(part)))
    assert sum("of the same row" in note for note in part.notes) == len(part.statements)


@pytest.mark.parametrize("text", LEFT.values(), ids=LEFT)
def test_what_the_loops_do_not_tell_stays_unknown(text: str) -> None:
    part = pv.extract(text)
    assert not any(access.apart is not None for _, access in all_accesses(part))


@pytest.mark.parametrize("name", [name for name in TOLD if name not in ("a counter", "a row beforehand")])
@pytest.mark.parametrize("n", [2, 5])
def test_rows_and_places_are_equal_exactly_where_the_numbers_are(name: str, n: int) -> None:
    part = pv.extract(TOLD[name])
    number_of: dict[tuple[int, ...], int] = {}
    for statement, access in all_accesses(told_apart(part)):
        for instance in itertools.product(range(2 * n), repeat=len(statement.iterators)):
            here = restricted(part, statement, access)
            for position, value in enumerate(instance):
                here = here.fix_val(isl.dim_type.in_, position, value)
            cell = fixed(here.range(), {"n": n, "n_times_n_minus_1": n * (n - 1)})
            if not cell.is_empty():
                names = {"n": n, **dict(zip(statement.iterators, instance, strict=True))}
                number = eval(access.text[2:-1], {}, names)
                point = tuple(cell.dim_max_val(axis).to_python() for axis in range(2))
                assert number_of.setdefault(point, number) == number
    assert len(number_of) > 1 or n < 3
    assert len(set(number_of.values())) == len(number_of)
    ordered = [number_of[point] for point in sorted(number_of)]
    assert ordered == sorted(ordered)


def _run(text: str, data: Array, n: int) -> Array:
    namespace: dict[str, Any] = {}
    exec(text, namespace)
    namespace["f"](data, n)
    return data


@pytest.mark.parametrize("text", TOLD.values(), ids=TOLD)
def test_the_last_cell_is_known_before_the_loops_run(text: str) -> None:
    kernel = pv.compile(text, target="c")
    assert "failure" not in kernel.source
    for n in (0, 1, 2, 7, 40):
        length = next(size for size in range(n * n + n + 2) if _fits(text, size, n))
        data = np.random.default_rng(n).random(length)
        expected = _run(text, data.copy(), n)
        kernel(data, n)
        np.testing.assert_allclose(data, expected)
        if length:
            short = np.ones(length - 1)
            with pytest.raises(OutOfBoundsError, match="leaves its array"):
                kernel(short, n)
            assert short.tolist() == [1.0] * (length - 1)


def _fits(text: str, size: int, n: int) -> bool:
    try:
        _run(text, np.ones(size), n)
    except IndexError:
        return False
    return True


def test_loops_over_rows_are_parallel() -> None:
    part = pv.extract(TOLD["a counter"])
    assert pv.dependences(part).validity.is_empty()
    assert pv.compile(part, target="c").source.count("#pragma omp parallel for") == 1


def test_a_packed_factorisation_keeps_its_order() -> None:
    text = (
        "def f(A, n):\n    for j in range(n):\n        for i in range(j, n):\n            s = A[i * (i + 1) // 2 + j]\n"
        "            for k in range(j):\n"
        "                s -= A[i * (i + 1) // 2 + k] * A[j * (j + 1) // 2 + k]\n"
        "            if i == j:\n                A[i * (i + 1) // 2 + j] = s ** 0.5\n"
        "            else:\n                A[i * (i + 1) // 2 + j] = s / A[j * (j + 1) // 2 + j]"
    )
    n = 70
    matrix = np.random.default_rng(2).random((n, n))
    matrix = matrix @ matrix.T + n * np.eye(n)
    packed = matrix[np.tril_indices(n)]
    for schedule in ("pluto", "isl", "original"):
        found = packed.copy()
        pv.compile(text, target="c", schedule=schedule)(found, n)
        np.testing.assert_allclose(found, np.linalg.cholesky(matrix)[np.tril_indices(n)])

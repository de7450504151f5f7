"""Linearised subscripts: what is told apart, and that it is so in every small case."""

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
    from polyviz.model.scop import Scop

IN = "def f(A, n, m):\n    for i in range(n):\n        for j in range(m):\n            "
TOLD = {
    "rows": IN + "A[i * m + j] += 1.0",
    "up": IN.replace("range(n)", "range(1, n)") + "A[i * m + j] = A[(i - 1) * m + j] + 1.0",
    "three": IN + "for k in range(n):\n                A[(i * m + j) * n + k] = A[m * i * n + n * j + k] * 2.0",
    "twice": IN.replace("range(m)", "range(2 * m)") + "A[i * (2 * m) + j] = 0.0",
    "sum of sizes": "def f(A, B, w, k):\n    for i in range(w - k + 1):\n        for j in range(w - k + 1):\n"
    "            A[i * (w - k + 1) + j] = B[i, j]",
}
LEFT = {
    "too wide": IN.replace("range(m)", "range(m + 1)") + "A[i * m + j] += 1.0",
    "another stride": IN + "A[i * n + j] = 1.0",
    "two strides": IN + "A[i * m + j] = A[j * n + i]",
    "from the end": IN + "A[(i - 1) * m + j] = 1.0",
    "data": IN.replace("(A,", "(A, p,") + "A[i * m + p[j]] = 1.0",
    "iterators": IN + "A[i * j] = 1.0",
}


def _written(part: Scop) -> list[bool]:
    return [access.apart is not None for _, access in all_accesses(part) if access.array == "A"]


@pytest.mark.parametrize("text", TOLD.values(), ids=TOLD)
def test_parts_within_their_strides_tell_cells_apart(text: str) -> None:
    part = pv.extract(text)
    assert all(_written(part))
    relations = {access.relation.is_single_valued() for _, access in all_accesses(told_apart(part))}
    assert relations == {True}


@pytest.mark.parametrize("text", LEFT.values(), ids=LEFT)
def test_what_the_loops_do_not_tell_stays_unknown(text: str) -> None:
    part = pv.extract(text)
    assert not any(_written(part))
    assert told_apart(part) is part


@pytest.mark.parametrize("text", TOLD.values(), ids=TOLD)
@pytest.mark.parametrize("size", [1, 2, 3])
def test_parts_are_equal_exactly_where_the_numbers_are(text: str, size: int) -> None:
    sizes = {"n": 3, "m": size, "p": 4 - size, "w": 4, "k": size}
    part = pv.extract(text)
    names = {parameter.name: sizes[parameter.name] for parameter in part.parameters if parameter.name in sizes}
    number_of: dict[tuple[int, ...], int] = {}
    for statement, access in all_accesses(told_apart(part)):
        if access.array != "A":
            continue
        relation = restricted(part, statement, access)
        for instance in itertools.product(range(8), repeat=len(statement.iterators)):
            here = relation
            for position, value in enumerate(instance):
                here = here.fix_val(isl.dim_type.in_, position, value)
            parts = fixed(here.range(), {**sizes, **dict.fromkeys(_parameters(here), 8), **names})
            if not parts.is_empty():
                number = eval(access.text[2:-1], {}, {**names, **dict(zip(statement.iterators, instance, strict=True))})
                assert number_of.setdefault(_point(parts), number) == number
    assert len(number_of) > 1
    assert len(set(number_of.values())) == len(number_of)


def _parameters(relation: isl.Map) -> list[str]:
    kind = isl.dim_type.param
    return [relation.get_dim_name(kind, position) for position in range(relation.dim(kind))]


def _point(cells: isl.Set) -> tuple[int, ...]:
    assert cells.is_singleton()
    return tuple(cells.dim_max_val(axis).to_python() for axis in range(cells.dim(isl.dim_type.set)))


def test_a_kronecker_product_is_parallel_and_says_why() -> None:
    part = pv.extract(
        "def kron(A, B, C):\n    n, m = A.shape\n    p, q = B.shape\n"
        "    for i in range(n):\n        for j in range(m):\n"
        "            for k in range(p):\n                for l in range(q):\n"
        "                    C[i * p + k, j * q + l] = A[i, j] * B[k, l]"
    )
    assert pv.dependences(part).validity.is_empty()
    assert any("within its stride" in note for note in part.notes)


@pytest.mark.parametrize("schedule", ["pluto", "isl"])
def test_a_flat_sweep_keeps_its_dependences(schedule: str) -> None:
    text = (
        "def sweep(A, n, m):\n    for i in range(1, n):\n        for j in range(1, m):\n"
        "            A[i * m + j] += A[(i - 1) * m + j] + A[i * m + j - 1]"
    )
    kernel = pv.compile(text, target="c", schedule=schedule)
    data = np.random.default_rng(3).random(37 * 41)
    expected = data.copy()
    for i in range(1, 37):
        for j in range(1, 41):
            expected[i * 41 + j] += expected[(i - 1) * 41 + j] + expected[i * 41 + j - 1]
    kernel(data, 37, 41)
    np.testing.assert_allclose(data, expected)
    with pytest.raises(OutOfBoundsError):
        kernel(np.zeros(5), 37, 41)


def test_reuse_of_what_is_read_does_not_skew_loops_whose_writes_are_linearised() -> None:
    text = (
        "def columns(X, C, k):\n    c, h, w = X.shape\n    for ch in range(c):\n        for u in range(k):\n"
        "            for i in range(h - k + 1):\n                for j in range(w):\n"
        "                    C[ch * k + u, i * w + j] = X[ch, i + u, j]"
    )
    source = pv.compile(text, target="c").source
    assert "#pragma omp parallel for" in source
    assert "skew" not in source
    assert "wave" not in source
    assert "_tile" not in source


BOUNDED = {
    "flat": (IN + "A[i * m + j] += 1.0", 37 * 41),
    "up": (IN.replace("range(n)", "range(1, n)") + "A[i * m + j] = A[(i - 1) * m + j] + 1.0", 37 * 41),
    "condition on sizes": (IN + "if i < 5:\n                A[i * m + j] = 1.0", 5 * 41),
}


@pytest.mark.parametrize(("text", "size"), BOUNDED.values(), ids=BOUNDED)
def test_parts_within_their_strides_are_bounded_before_the_loops_run(text: str, size: int) -> None:
    kernel = pv.compile(text, target="c")
    assert "failure" not in kernel.source
    data, expected = np.ones(size), np.ones(size)
    kernel(data, 37, 41)
    namespace: dict[str, Any] = {}
    exec(text, namespace)
    namespace["f"](expected, 37, 41)
    np.testing.assert_array_equal(data, expected)
    short = np.ones(size - 1)
    with pytest.raises(OutOfBoundsError, match=f"axis 0 of `A` has {size - 1} elements"):
        kernel(short, 37, 41)
    assert (short == 1.0).all()


TESTED = {
    "condition on data": IN.replace("(A,", "(A, p,") + "if p[i] > 0.0:\n                A[i * m + j] = 1.0",
    "choice on data": IN.replace("(A,", "(A, p,") + "p[i] = A[i * m + j] if p[i] > 0.0 else 1.0",
    "loop on data": "def f(A, p, n, m):\n    for i in range(n):\n        for j in range(m):\n"
    "            for k in range(p[i]):\n                A[i * m + j] = 1.0",
}


@pytest.mark.parametrize("text", TESTED.values(), ids=TESTED)
def test_what_may_not_happen_is_tested_where_it_does(text: str) -> None:
    assert "checked_index" in pv.compile(text, target="c").source


@pytest.mark.parametrize("target", ["c", "numba", "python"])
def test_arrays_that_the_loops_create_are_bounded_too(target: str) -> None:
    text = "def f(n, m, k):\n    A = np.zeros(k)\n" + IN.split("\n", 1)[1] + "A[i * m + j] = 1.0 + i\n    return A"
    kernel = pv.compile(text, target=target)
    np.testing.assert_array_equal(kernel(2, 3, 6), [1.0, 1.0, 1.0, 2.0, 2.0, 2.0])
    with pytest.raises(OutOfBoundsError, match="axis 0 of `A` has 5 elements"):
        kernel(2, 3, 5)

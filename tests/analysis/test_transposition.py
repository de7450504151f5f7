"""A part for the transposes of arrays: only the order of dimensions is another one."""

from __future__ import annotations

import pytest

from polyviz.analysis import dependences, transposable, with_transposed_arrays
from polyviz.frontend import extract
from polyviz.gallery import kernels

PRODUCT = """\
def f(A, B, x, n, m):
    T = np.zeros((n, m))
    for i in range(n):
        for j in range(m):
            T[i, j] = A[i, j] * x[j]
            B[j, i, 2] += T[i, j]
"""


def test_arguments_with_several_dimensions_can_be_turned() -> None:
    assert transposable(extract(PRODUCT)) == {"A", "B"}


def test_an_array_with_digits_in_a_subscript_cannot() -> None:
    text = "def f(A, B, n, m):\n for i in range(n):\n  for j in range(m): A[i * m + j, 0] = B[i, j]"
    assert transposable(extract(text)) == {"B"}


def test_others_stay_as_they_are() -> None:
    part = extract(PRODUCT)
    turned = with_transposed_arrays(part, {"B"})
    assert [array.is_transposed for array in turned.arrays if array.name == "B"] == [True]
    assert [array for array in turned.arrays if array.name != "B"] == [
        array for array in part.arrays if array.name != "B"
    ]
    for statement, other in zip(part.statements, turned.statements, strict=True):
        assert statement.domain.is_equal(other.domain)
        for access, changed in zip(statement.accesses, other.accesses, strict=True):
            assert changed.relation.is_equal(access.relation) == (access.array != "B")


@pytest.mark.parametrize("kernel", kernels()[::6], ids=lambda kernel: str(kernel.name))
def test_turned_twice_is_as_before_and_nothing_depends_on_it(kernel) -> None:
    part = extract(kernel.function)
    names = transposable(part)
    turned = with_transposed_arrays(part, names)
    again = with_transposed_arrays(turned, names)
    assert [statement.body for statement in again.statements] == [statement.body for statement in part.statements]
    assert again.parameters == part.parameters
    assert again.reads.is_equal(part.reads)
    assert again.writes.is_equal(part.writes)
    before, after = dependences(part), dependences(turned)
    for kind in ("flow", "anti", "output", "reduction"):
        assert getattr(before, kind).is_equal(getattr(after, kind))

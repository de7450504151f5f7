"""What a caller has to know: which subscripts are tested while the loops run."""

import numpy as np
import pytest

import polyviz as pv
from tests.running import agree

BESIDE = """
    def f(k, x):
        n = x.shape[0]
        A = np.zeros((n, 1))
        for i in range(n):
            for j in range(i):
                A[i, k[j, 0]] = x[i] + A[i - j, k[j, 1] + 0 * i]
        return A
    """


def test_beside_a_subscript_that_depends_on_data_affine_ones_are_tested_once_before() -> None:
    """Also where the other has one place to lead to: nothing else is known of it."""
    kernel = agree(BESIDE, np.zeros((9, 2), dtype=np.int64), np.arange(9.0), target="c")
    text = kernel.specialise(kernel.program.types).text
    store = next(line for line in text.splitlines() if " = x[" in line)
    assert store.count("_index(") == 2
    assert "A[i][" in store
    with pytest.raises(pv.OutOfBoundsError, match=r"`A\[.*leaves its array"):
        kernel(np.ones((9, 2), dtype=np.int64), np.arange(9.0))


def test_an_affine_subscript_of_an_argument_is_tested_where_nothing_else_tells_its_length() -> None:
    text = """
    def f(k, A, x):
        for i in range(x.shape[0]):
            for j in range(3):
                x[i] += A[i, k[i, j]]
    """
    kernel = agree(text, np.zeros((4, 3), dtype=np.int64), np.ones((4, 2)), np.ones(4), target="c")
    assert "A[checked_index(i, " in kernel.specialise(kernel.program.types).text.replace("noted", "checked")
    with pytest.raises(pv.OutOfBoundsError, match=r"`A\[.*leaves its array"):
        kernel(np.zeros((9, 3), dtype=np.int64), np.ones((4, 2)), np.ones(9))

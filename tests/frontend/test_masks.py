"""Elements that a mask chooses are set as NumPy sets them."""

from __future__ import annotations

import numpy as np
import pytest

from polyviz.errors import ExtractionError
from polyviz.frontend import extract
from tests.frontend.compiled import same_compiled


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


def flagged(m, x):
    flags = x[:] > 1
    flags[~flags] = True
    x[flags] = -1.0
    m[m > 100] = 1


def test_masks_of_the_array_itself_and_of_nothing() -> None:
    same_compiled(flagged, {"m": np.arange(3.0), "x": np.arange(3.0)}, "c", "strict")


@pytest.mark.parametrize(
    "line",
    ["B = A[A > 3]", "s = np.sum(A[A > 3])", "A[A > 3] = c", "A[A > 3] = A[::-1]", "A[A > 3] = c[c > 3]",
     "A[A > 3] = A[0]", "A[A > A[0]] = 1.0", "A[m] = 1.0", "A[m & k] = 1", "A[0 < A < 3] = 1.0", "M[A > 3] = 1.0",
     "M[m[0] > 3] = 1.0"],
)  # fmt: skip
def test_what_is_no_choice_for_each_element_is_refused(line: str) -> None:
    with pytest.raises(ExtractionError):
        extract(f"import numpy as np\ndef f(A, c, m, k, M):\n c[0] = m[0] + k[0] + M[0, 0]\n {line}")

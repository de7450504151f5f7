"""Arrays as one row of elements: loops over ``A.flat``, and ``A.flat[k]``, compiled and compared with NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from polyviz.errors import ExtractionError, PolyvizError
from polyviz.frontend import extract
from tests.frontend.compiled import same_compiled
from tests.running import function_of

RANDOM = np.random.default_rng(6)
GIVEN = {"A": RANDOM.random((4, 3)), "B": RANDOM.random((4, 3)), "x": RANDOM.random(12)}
PROGRAMS = {
    "elements": "def f(A):\n    s = 0.0\n    for v in A.flat:\n        s += v * v\n    return s",
    "elements_of_a_copy": "def f(A):\n    s = 0.0\n    for v in np.ravel(A):\n        s += v * v\n    return s",
    "with_numbers": "def f(A):\n    s = 0.0\n    for k, v in enumerate(A.flat):\n        s += k * v\n    return s, k",
    "changed_on_the_way": "def f(A):\n    for v in A.flat:\n        A[0, 0] += v",
    "numbered": "def f(A):\n    s = 0.0\n    for k in range(A.size):\n        s += A.flat[k]\n    return s",
    "stored": "def f(A, B):\n    for k in range(A.size):\n        A.flat[k] = 2 * B.ravel()[k] + k",
    "beside_a_vector": "def f(A, x):\n    for k in range(len(A.flat)):\n        x[k] += 2 * A.reshape(-1)[k]",
    "of_a_vector": "def f(A, x):\n    for k in range(x.size):\n        x.flat[k] = 2 * x[k] + A[0, 0]",
    "named": "def f(A, B):\n    a, s = A[0, 0], 0.0\n    p = A.ravel()\n    q = B.flat\n    for k in range(p.size):\n"
    "        s += p[k] * q[k]\n        q[k] = s\n    return s + a",
    "all_of_them": "def f(A):\n    return np.sum(A.ravel()) + A.flatten().max()",
    "left_out": "def f(A):\n    for k in range(A.size):\n        if A.flat[k] < 0.5:\n            continue\n"
    "        A.flat[k] = 0.0",
}  # fmt: skip


@pytest.mark.parametrize("target", ["c", "numba"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_they_are_the_elements(name: str, target: str) -> None:
    function = function_of(PROGRAMS[name])
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    same_compiled(function, {one: GIVEN[one] for one in names}, target, "strict")


def test_elements_of_arrays_that_are_not_contiguous() -> None:
    function = function_of(PROGRAMS["stored"])
    for A, B in ((GIVEN["A"].T, GIVEN["B"].T), (GIVEN["A"][::2], np.asfortranarray(GIVEN["B"])[1:3])):
        same_compiled(function, {"A": A, "B": B}, "c", "strict")


def test_subscripts_stay_affine() -> None:
    scop = extract("def f(A: 'float64[:, :]'):\n for k in range(A.size):\n  A.flat[k] *= 2.0")
    assert scop.statements[0].iterators == ("k_0", "k_1")
    assert all(access.exact for access in scop.statements[0].accesses)


def test_arrays_of_another_shape_are_refused_by_the_call() -> None:
    with pytest.raises(PolyvizError, match="what the loops assume"):
        same_compiled(function_of(PROGRAMS["stored"]), {"A": GIVEN["A"], "B": GIVEN["B"].reshape(3, 4)}, "c", "strict")


@pytest.mark.parametrize(
    "lines",
    [
        "for k in range(A.size):\n  A.ravel()[k] = 1.0",
        "for k in range(A.size):\n  A.flat[k] = 1.0\n A[0, 0] = k",
        "for v in A.ravel():\n  A[0, 0] += v",
        "x = A.ravel()\n for k in range(len(x)):\n  x[k] = 1.0",
        "x = A.ravel()\n A[0, 0] = x[1]",
        "A.flat[:] = 1.0\n A[0, 0] = 2.0",
    ],
)
def test_what_may_be_a_copy_or_no_place_is_refused(lines: str) -> None:
    with pytest.raises(ExtractionError):
        extract(f"def f(A: 'float64[:, :]', B: 'float64[:, :]'):\n {lines}")


@pytest.mark.parametrize(
    "lines",
    [
        "for k in range(A.size):\n  if A.flat[k] > 1: break\n  A.flat[k] = 1.0",
        "for t in range(3):\n  for k in range(A.size):\n   A.flat[k] = B.flat[k] + B[0, 0]",
        "A.flat[3] = 2.0\n A.flat[-1] += B.ravel()[5] + B.flat[-4]",
        "for k in range(1, 9, 3): A.flat[k] = A.ravel()[k - 1]",
        "n, m = A.shape\n for k in range(n * m): A.flat[k] += k",
        "n = B.shape[0]\n m = B.shape[1]\n for k in range(m * n): A[0, 1] += B.flat[k]",
    ],
)
def test_single_places(lines: str) -> None:
    given = {"A": np.zeros((4, 3)), "B": np.arange(12.0).reshape(4, 3) ** 2}
    same_compiled(function_of(f"def f(A, B):\n {lines}"), given, "c", "strict")


def test_single_places_of_three_dimensions() -> None:
    lines = "C.flat[k] = 3.0\n C.flat[-1] += C.flat[k + 1]\n C.flat[-k] = 7.0\n "
    lines += "for m in range(len(i)): C.flat[i[m]] += m"
    given = {"C": np.arange(30.0).reshape(2, 3, 5), "k": 4, "i": np.array([0, 29, -1, -30])}
    same_compiled(function_of(f"def f(C: 'float64[:, :, :]', k, i):\n {lines}"), given, "c", "strict")


def test_all_places_of_named_extents_are_affine() -> None:
    scop = extract("def f(A):\n n, m = A.shape\n for k in range(n * m): A.flat[k] = k")
    assert scop.statements[0].iterators == ("k_0", "k_1")
    other = extract("def f(A, m):\n n, k = A.shape\n for k in range(n * m): A.flat[k] = k")
    assert len(other.statements[0].iterators) == 1


def test_one_variable_for_several_loops() -> None:
    loops = "".join(f"    for k in range(A.size):\n        A.flat[k] {change}\n" for change in ("+= 1", "*= k"))
    same_compiled(function_of(f"def f(A):\n{loops}"), {"A": GIVEN["A"]}, "c", "strict")


def test_a_cell_says_that_the_number_is_not_left() -> None:
    names = {"A": np.ones((2, 3)), "np": np}
    scop = extract("for k in range(A.size):\n    A.flat[k] = k", namespace=names)
    assert scop.statements[0].iterators == ("k_0", "k_1")
    assert any(note.startswith("`k` keeps the value it had before the cell") for note in scop.notes)
    assert scop.final_iterators == ()

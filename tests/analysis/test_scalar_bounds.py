"""Subscripts that loops keep inside their arrays need no test; all others keep theirs."""

from __future__ import annotations

import numpy as np
import pytest

import polyviz as pv
from polyviz.analysis.bounds import axes_inside
from polyviz.codegen.calling import run_time_failures
from polyviz.errors import OutOfBoundsError
from tests.running import function_of
from tests.searching import SEARCH

INSERTION = """
def insertion(a):
    for i in range(1, len(a)):
        v = a[i]
        j = i - 1
        while j >= 0 and a[j] > v:
            a[j + 1] = a[j]
            j -= 1
        a[j + 1] = v
"""

MERGE = """
def merge(a, b):
    n, m = a.shape[0], b.shape[0]
    out = np.empty(n + m)
    i = 0
    j = 0
    k = 0
    while i < n and j < m:
        if a[i] <= b[j]:
            out[k] = a[i]
            i += 1
        else:
            out[k] = b[j]
            j += 1
        k += 1
    while i < n:
        out[k] = a[i]
        i += 1
        k += 1
    while j < m:
        out[k] = b[j]
        j += 1
        k += 1
    return out
"""

SMALLEST = """
def smallest(D, k):
    n = D.shape[0]
    value = np.full((n, k), np.inf)
    for i in range(n):
        for j in range(n):
            d = D[i, j]
            if d < value[i, k - 1]:
                p = k - 1
                while p > 0 and value[i, p - 1] > d:
                    value[i, p] = value[i, p - 1]
                    p -= 1
                value[i, p] = d
    return value
"""

WINDOW = """
def window(x, y, w):
    out = np.zeros(y.shape[0], dtype=np.int64)
    first = 0
    for i in range(y.shape[0]):
        while first < x.shape[0] and x[first] < y[i] - w:
            first += 1
        out[i] = first
    return out
"""

PACKED = """
def packed(mask, x):
    n = x.shape[0]
    out = np.empty(n)
    k = 0
    for i in range(n):
        if mask[i]:
            out[k] = x[i]
            k += 1
    return out
"""

SIFT = """
def sift(a):
    i = 0
    n = len(a)
    while True:
        child = 2 * i + 1
        if child >= n:
            break
        if child + 1 < n and a[child + 1] > a[child]:
            child += 1
        if a[i] >= a[child]:
            break
        v = a[i]
        a[i] = a[child]
        a[child] = v
        i = child
"""

SHELL = """
def shell(a):
    n = a.shape[0]
    gap = n // 2
    while gap > 0:
        for i in range(gap, n):
            v = a[i]
            j = i
            while j >= gap and a[j - gap] > v:
                a[j] = a[j - gap]
                j -= gap
            a[j] = v
        gap //= 2
"""

INSIDE = [SEARCH, INSERTION, MERGE, SMALLEST, WINDOW, SIFT, SHELL]


@pytest.mark.parametrize("text", INSIDE, ids=lambda text: text.split("(")[0][5:])
def test_loops_that_keep_their_subscripts_inside(text: str) -> None:
    assert run_time_failures(pv.extract(text)) == ()


@pytest.mark.parametrize(
    ("text", "wrong", "right"),
    [
        (SEARCH, "low = 0", "low = -1"),
        (SEARCH, "high = t.shape[0]", "high = t.shape[0] + 1"),
        (SEARCH, "low < high", "low <= high"),
        (INSERTION, "j >= 0 and a[j] > v", "a[j] > v"),
        (INSERTION, "j >= 0", "j >= -1"),
        (INSERTION, "j -= 1", "j -= 2"),
        (INSERTION, "a[j + 1] = v", "a[j + 2] = v"),
        (MERGE, "k = 0", "k = 1"),
        (MERGE, "k += 1", "k += 2"),
        (MERGE, "np.empty(n + m)", "np.empty(n + m - 1)"),
        (MERGE, "i < n and j < m", "i < n or j < m"),
        (SMALLEST, "p > 0", "p >= 0"),
        (SMALLEST, "p = k - 1", "p = k"),
        (WINDOW, "first = 0", "first = -1"),
        (WINDOW, "first += 1", "first = int(y[i])"),
        (SIFT, "child >= n", "child > n"),
        (SIFT, "child + 1 < n and ", ""),
        (SIFT, "2 * i + 1", "2 * i - 1"),
        (SHELL, "j >= gap and ", ""),
        (SHELL, "j = i", "j = i + 1"),
    ],
)
def test_what_leads_outside_is_tested(text: str, wrong: str, right: str) -> None:
    assert wrong in text
    assert run_time_failures(pv.extract(text.replace(wrong, right)))


def test_a_number_that_may_be_none_is_not_followed() -> None:
    """A quotient is a fraction, and what a caller gives may be one."""
    for change in ("first = len(x) / 2", "first = w"):
        assert run_time_failures(pv.extract(WINDOW.replace("first = 0", change)))


def test_what_other_iterations_leave_is_followed() -> None:
    assert axes_inside(pv.extract(WINDOW))
    falls = WINDOW.replace("        out[i] = first", "        out[i] = first\n        first -= 1")
    assert run_time_failures(pv.extract(falls))


def test_a_number_that_grows_at_most_with_the_loop() -> None:
    assert run_time_failures(pv.extract(PACKED)) == ()
    assert run_time_failures(pv.extract(PACKED.replace("k += 1", "k += 2")))
    assert run_time_failures(pv.extract(PACKED.replace("range(n)", "range(n + 1)").replace("mask[i]", "mask[i - 1]")))


def random_arguments(name: str, size: int) -> tuple[object, ...]:
    random = np.random.default_rng(size).random
    return {
        "search": (random(size), np.sort(random(max(size - 1, 0))), np.zeros(size, np.int64)),
        "insertion": (random(size),),
        "sift": (random(size),),
        "shell": (random(size),),
        "merge": (np.sort(random(size)), np.sort(random(size + 2))),
        "smallest": (random((size, size)), 3),
        "window": (np.sort(random(size)), np.sort(random(size + 1)), 0.1),
    }[name]


@pytest.mark.slow
@pytest.mark.parametrize("target", ["c", "numba"])
@pytest.mark.parametrize("text", INSIDE, ids=lambda text: text.split("(")[0][5:])
def test_values_are_those_of_python(text: str, target: str) -> None:
    function = function_of(text)
    kernel = pv.compile(function, target=target)
    assert "checked_index" not in kernel.source
    assert "boundscheck" not in kernel.source
    for size in (0, 1, 2, 3, 17):
        given = random_arguments(function.__name__, size)
        copies = [one.copy() if isinstance(one, np.ndarray) else one for one in given]
        found, wanted = kernel(*given), function(*copies)
        np.testing.assert_array_equal(found, wanted)
        for one, other in zip(given, copies, strict=True):
            np.testing.assert_array_equal(one, other)


def test_sizes_that_an_exact_access_refuses_may_be_taken_for_granted() -> None:
    kernel = pv.compile(function_of(SMALLEST), target="python")
    with pytest.raises(OutOfBoundsError):
        kernel(np.ones((2, 2)), 0)

"""Serial loops that choose between fractions instead of branching."""

from __future__ import annotations

import numpy as np
import pytest

import polyviz as pv
from tests.running import agree, function_of
from tests.searching import SEARCH

LAST_POSITIVE = """
def last_positive(a, b, c):
    s = 0.0
    for i in range(a.shape[0]):
        if a[i] > 0.0:
            s = b[i] * b[i]
        c[i] = s + a[i]
"""


def loop_of(text: str, **options: object) -> str:
    """The lines of the C text for vectors of doubles that are long enough, without comments."""
    kernel = pv.compile(function_of(text), target="c", **options)
    kernel(*(np.zeros(9, np.int64 if name == "k" else np.float64) for name in kernel.__signature__.parameters))
    text = kernel.source[kernel.source.index("int64_t kernel_") :]
    return "\n".join(line.partition("  //")[0] for line in text.splitlines())


def test_a_variable_that_is_carried_is_chosen() -> None:
    assert "s = chosen_f64(less_f64(0.0, a[i]), b[i] * b[i], s);" in loop_of(LAST_POSITIVE)
    assert "if (a[i] > 0.0) {" in loop_of(LAST_POSITIVE, select=False)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("contract", ["strict", "reassociate"])
def test_nan_and_infinity_are_chosen_as_by_a_branch(dtype: str, contract: str) -> None:
    text = """
    def f(a, b, c):
        s = b[0]
        for i in range(a.shape[0]):
            if a[i] <= s and not (b[i] == 2.0 or a[i] != a[i]):
                s = b[i]
            else:
                s = s - a[i]
            c[i] = s
    """
    special = [0.0, -0.0, np.nan, np.inf, -np.inf, 1.0, 2.0, -3.0]
    values = np.random.default_rng(1).choice(special, (2, 500), p=[0.1, 0.1, 0.02, 0.02, 0.02, 0.3, 0.3, 0.14])
    a, b = values.astype(dtype)
    kernel = agree(text, a, b, np.zeros(500, dtype), target="c", contract=contract)
    assert "chosen_" in kernel.source


def test_what_a_condition_looks_at_is_replaced_last() -> None:
    text = """
    def f(a, least, place):
        for i in range(a.shape[0]):
            best = 1e300
            where = -1
            for j in range(a.shape[1]):
                if a[i, j] * a[i, j] < best:
                    best = a[i, j] * a[i, j]
                    where = j
                elif a[i, j] == 3.0:
                    where = 100 + where
            least[i] = best
            place[i] = where
    """
    data = np.random.default_rng(2).integers(-9, 9, (50, 40)) * 1.0
    agree(text, data, np.zeros(50), np.zeros(50, np.int64), target="c")


@pytest.mark.parametrize("condition", ["a[i] < s", "s >= a[i] and b[i] > 0.0"])
def test_the_least_value_so_far_is_kept_by_a_branch(condition: str) -> None:
    text = """
    def f(a, b, c):
        s = 1e300
        k = -1
        for i in range(a.shape[0]):
            if CONDITION:
                s = a[i]
                k = i
        c[0] = s
        c[1] = k
    """.replace("CONDITION", condition)
    a, b = np.random.default_rng(3).integers(-50, 50, (2, 200)) * 1.0
    a[90] = np.nan
    kernel = agree(text, a, b, np.zeros(2), target="c", contract="strict")
    assert "chosen_" not in kernel.source
    of_three = agree(text.replace("a.shape[0]", "3"), a, b, np.zeros(2), target="c", contract="strict")
    assert "chosen_" in of_three.source


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("s = b[k[i]]", "the cell may not exist"),
        ("s = b[i] / a[i]", "a division takes as long as a wrong guess"),
        ("s = math.sin(b[i])", "so does a function"),
    ],
)
def test_a_branch_stays_where_the_value_is_not_free(line: str, why: str) -> None:
    text = LAST_POSITIVE.replace("s = b[i] * b[i]", line).replace("(a, b, c)", "(a, b, c, k)")
    assert "chosen_" not in loop_of(f"import math\n{text}" if "math" in line else text), why


def test_conditions_on_iterators_and_whole_numbers_stay() -> None:
    text = """
    def f(a, x):
        s = 0.0
        count = 0
        for i in range(a.shape[0]):
            if i == 5:
                s = a[i]
            if a[i] > 0.0:
                count = i
            x[i] = s + count
    """
    assert "chosen_" not in loop_of(text)


def test_sums_under_a_condition_stay_as_they_are() -> None:
    text = """
    def f(a, b):
        s = 0.0
        for i in range(a.shape[0]):
            if a[i] > 0.0:
                s += b[i]
        return s
    """
    assert "chosen_" not in loop_of(text)
    assert "chosen_f64" in loop_of(LAST_POSITIVE.replace("s = b", "s = s + b"), contract="strict")


def test_vector_loops_keep_what_compilers_make_vectors_of() -> None:
    text = """
    def f(a, b):
        for i in range(a.shape[0]):
            b[i] = a[i] if a[i] > 0.0 else 0.1 * a[i]
    """
    assert "chosen_" not in loop_of(text)


def test_calls_agree_where_fractions_and_whole_numbers_meet() -> None:
    text = """
    def f(a, k, b):
        s = 1.0
        t = np.float32(0.5)
        for i in range(a.shape[0]):
            if k[i] > 3:
                s = k[i]
                t = 2
            b[i] = s * t
            s = 0.25 if k[i] == 1 else s
    """
    random = np.random.default_rng(3)
    data = random.random(300).astype(np.float32), random.integers(0, 6, 300), np.zeros(300)
    agree(text, *data, target="c")


def search_text(text: str = SEARCH, **options: object) -> str:
    kernel = pv.compile(function_of(text), target="c", **options)
    kernel(np.zeros(3), np.zeros(4), np.zeros(3, np.int64))
    return kernel.source[kernel.source.index("int64_t kernel_") :]


def test_a_search_in_a_small_array_chooses() -> None:
    text = search_text()
    chosen, branches = text[text.index("<= 32768") :].split("} else {", 1)
    assert "low = chosen_i64(t[middle] < x[i], middle + 1, low);" in chosen
    assert "high = chosen_i64(t[middle] < x[i], high, middle);" in chosen
    assert "if (t[middle] < x[i]) {" in branches
    assert "chosen_i64" not in branches


@pytest.mark.parametrize(
    "text",
    [
        SEARCH.replace("t[middle] < x[i]", "middle < i"),  # nothing is read
        SEARCH.replace("low = middle + 1", "low = middle + 1\n                out[i] += 1"),  # more than a choice
        SEARCH.replace("low = middle + 1", "low = int(t[middle])"),  # dear, and nobody asks for it
    ],
)
def test_other_branches_stay(text: str) -> None:
    assert "chosen_i64" not in search_text(text)


def test_a_search_branches_where_that_is_asked_for() -> None:
    assert "chosen_i64" not in search_text(select=False)


@pytest.mark.parametrize("length", [0, 1, 2, 100, 32_768, 40_000])
def test_both_searches_find_the_same(length: int) -> None:
    t = np.sort(np.random.default_rng(1).random(length))
    x = np.random.default_rng(2).random(200)
    found = np.zeros(200, np.int64)
    pv.compile(function_of(SEARCH), target="c")(x, t, found)
    assert np.array_equal(found, np.searchsorted(t, x))


def test_a_truth_value_in_memory_chooses_by_whether_it_is_zero() -> None:
    text = """
    def f(mask, out):
        for i in range(out.shape[0]):
            k = 0
            last = -1
            while k < mask.shape[0] and mask[k] != 7:
                if mask[k]:
                    last = k + i
                else:
                    last = last - 1
                k += 1
            out[i] = last
    """
    mask = np.random.default_rng(1).integers(0, 3, 50).astype(np.uint8)
    kernel = agree(text, mask, np.zeros(4, np.int64), target="c")
    assert "chosen_i64" in kernel.source

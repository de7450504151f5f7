"""Sums that share a loop, or take their values from temporaries: in vector registers, and right for every length."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.running import agree_at, shared_kernel

if TYPE_CHECKING:
    from tests.conftest import Golden

MOMENTS = """
def moments(x, r):
    a = 0.0
    b = 0.0
    for i in range(len(x)):
        v = x[i]
        a += v
        b -= v * v
    r[0] = a
    r[1] = b
"""
ROWS = """
def rows(A, x, y, z):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            d = A[i, j] - x[j]
            w = d * d
            y[i] += w * d + x[j]
            z[i] = d - 0.5 * x[i] + z[i]
"""
VARIANCE = """
def variance(x, r):
    total = 0.0
    for i in range(len(x)):
        total += x[i]
    mean = total / len(x)
    spread = 0.0
    skew = 0.0
    for i in range(len(x)):
        d = x[i] - mean
        spread += d * d
        skew += d * d * (d + 1.0)
    r[0] = spread
    r[1] = skew
"""
NEIGHBOURS = """
def neighbours(x, r):
    for i in range(1, len(x) - 1):
        d = x[i + 1] - 2.0 * x[i] + x[i - 1]
        r[1] += d * d
"""
CHOSEN = """
def chosen(x, r):
    low = x[0]
    high = x[0]
    near = 0.0
    for i in range(len(x)):
        v = abs(x[i] - 0.5)
        low = min(low, v)
        high = max(high, v)
        near += v if v < 0.25 else 0.5
    r[0] = low
    r[1] = high
    r[2] = near
"""
MATRICES = """
def matrices(A, B, x, y, z):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            y[i] += A[i, j] * x[j]
            z[i] += B[i, j] * x[j]
"""
PRODUCT = """
def product(x, r):
    for i in range(len(x) - 2):
        r[0] += x[i] * x[i + 2]
"""
LINES = """
def lines(A, x, y, z):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            y[i] -= A[i, j]
"""
TOTAL = """
def total(x, r):
    for i in range(len(x)):
        r[0] += x[i]
"""
LENGTHS = [1, 3, 15, 31, 32, 33, 63, 64, 65, 79, 100, 517]


def arrays_of(text: str, count: int, dtype: str) -> tuple[np.ndarray, ...]:
    x = np.random.default_rng(count).random(count).astype(dtype)
    if text not in (ROWS, MATRICES, LINES):
        return x, np.ones(3, dtype)
    A = np.random.default_rng(1).random((max(5, count // 40), count)).astype(dtype)
    vectors = np.resize(x, max(count, len(A))), np.ones(len(A), dtype), np.zeros(len(A), dtype)
    return (A, A + A, *vectors) if text is MATRICES else (A, *vectors)


def text_of(text: str, **options: object) -> str:
    return shared_kernel(text, "c", **options).source


@pytest.mark.parametrize("text", [MOMENTS, ROWS], ids=["moments", "rows"])
def test_text(text: str, golden: Golden) -> None:
    golden(text_of(text))


@pytest.mark.usefixtures("one_processor")
@pytest.mark.parametrize(
    ("text", "vectors"),
    [(MOMENTS, 4), (ROWS, 4), (VARIANCE, 4), (NEIGHBOURS, 4), (CHOSEN, 0), (PRODUCT, 4), (LINES, 4), (TOTAL, 0)],
)
def test_who_gets_vectors(text: str, vectors: int) -> None:
    source = text_of(text)
    assert ("_lanes0 = " in source) == (vectors > 0)
    assert "lane" in source
    assert (f"_lanes{vectors - 1} = " in source) == (vectors > 0)
    assert f"_lanes{vectors} = " not in source or not vectors


@pytest.mark.thinned(4)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("count", LENGTHS)
@pytest.mark.parametrize("text", [MOMENTS, ROWS, VARIANCE, NEIGHBOURS, CHOSEN, MATRICES, PRODUCT, LINES])
def test_all_lengths(text: str, count: int, dtype: str) -> None:
    agree_at(text, *arrays_of(text, count, dtype), target="c")


@pytest.mark.parametrize("text", [MOMENTS, VARIANCE, CHOSEN], ids=["moments", "variance", "chosen"])
def test_on_threads(text: str) -> None:
    agree_at(text, *arrays_of(text, 70_001, "float64"), target="c")


@pytest.mark.parametrize("options", [{"contract": "strict"}, {"accumulate": False}], ids=["strict", "switched off"])
def test_no_lanes(options: dict[str, object]) -> None:
    for text in (MOMENTS, ROWS):
        assert "lane" not in text_of(text, **options)
        agree_at(text, *arrays_of(text, 100, "float64"), target="c", **options)


OTHERWISE = {
    "types differ": "v = x[i]; a += v; k += 1",
    "a division": "v = 1.0 / (x[i] + 1.0); a += v; b += v * v",
    "a function": "v = np.exp(x[i]); a += v; b += v * v",
    "a temporary twice": "v = x[i]; a += v; v = v * 2.0; b += v",
    "a temporary from a sum": "v = x[i] + a; a += x[i]; b += v",
    "every second": "v = x[2 * i // 4]; a += v; b += v * v",
    "backwards": "v = x[len(x) - 1 - i]; a += v; b += v * v",
    "nothing that moves": "v = 2.0; a += v; b += v * x[i]",
    "a product": "v = x[i] + 0.5; a *= v; b += v",
    "several steps": "v = x[i]; a += v; a += v * v; b += v",
    "a condition": "v = x[i]\n        if v > 0.5:\n            a += v\n        b += v",
}


@pytest.mark.parametrize("body", OTHERWISE.values(), ids=list(OTHERWISE))
def test_others_are_right(body: str) -> None:
    lines = "".join(f"        {line}\n" for line in body.split("; "))
    text = (
        "def f(x, r):\n    a = 1.0\n    b = 0.0\n    k = 0\n    for i in range(len(x)):\n"
        f"{lines}    r[0] = a\n    r[1] = b\n    r[2] = k\n"
    )
    for count in (5, 100):
        agree_at(text, *arrays_of(text, count, "float64"), target="c")


@pytest.mark.parametrize("loop", ["range(0, len(x), 2)", "range(len(x))"])
def test_no_lanes_are_promised_where_iterations_are_left_out(loop: str) -> None:
    text = f"def f(x, r):\n    for i in {loop}:\n        if i % 2 == 0:\n            r[0] += x[i]\n"
    text += "        else:\n            r[1] -= x[i]\n"
    kernel = agree_at(text, np.arange(101.0), np.ones(2), target="c")
    promised = [found.details["lanes"] for found in kernel.plan.decisions if found.step == "accumulate"]
    assert promised
    assert not any(promised)
    assert "lane" not in kernel.source


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("text", [MOMENTS, ROWS, VARIANCE, NEIGHBOURS, MATRICES, PRODUCT, LINES])
def test_the_same_bits_wherever_arrays_lie(text: str, dtype: str) -> None:
    kernel = shared_kernel(text, "c")
    for count in (517, 1003, 1100):  # Long rows are those of 64 vectors and more.
        found = []
        for offset in range(0, 64, np.dtype(dtype).itemsize):
            given = [_placed(array, offset) for array in arrays_of(text, count, dtype)]
            kernel(*given)
            found.append([array.tobytes() for array in given])
        assert all(one == found[0] for one in found)


def _placed(array: np.ndarray, offset: int) -> np.ndarray:
    """A copy of ``array`` that begins ``offset`` bytes behind the beginning of a cache line."""
    memory = np.empty(array.nbytes + 128, np.uint8)
    start = -memory.ctypes.data % 64 + offset
    copy = memory[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy

"""Flat arrays that hold matrices run as matrices do, and calls that do not fit get the loops for one dimension."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import polyviz as pv
from polyviz.errors import OutOfBoundsError
from polyviz.model.program import ArrayType
from polyviz.runtime.binding import Binder

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]


def product(a: Array, b: Array, c: Array, n: int, m: int, depth: int) -> None:
    for i in range(n):
        for j in range(m):
            for k in range(depth):
                c[i * m + j] += a[i * depth + k] * b[k * m + j]


def smoothed(a: Array, n: int, m: int) -> Array:
    out = np.zeros(n * m)
    for i in range(1, n - 1):
        for j in range(1, m - 1):
            out[i * m + j] = a[(i - 1) * m + j] + a[(i + 1) * m + j] + a[i * m + j - 1] + a[i * m + j + 1]
    return out


def nearest(points: Array, centres: Array, n: int, count: int, m: int) -> Array:
    found = np.zeros(count, dtype=np.int64)
    for i in range(n):
        least, best = 1e300, 0
        for c in range(count):
            distance = 0.0
            for t in range(m):
                distance += (points[i * m + t] - centres[c * m + t]) ** 2
            if distance < least:
                least, best = distance, c
        found[best] += 1
    return found


def negative(image: Array, n: int, m: int) -> None:
    for i in range(n):
        for j in range(m):
            for c in range(3):
                image[(i * m + j) * 3 + c] = 255 - image[(i * m + j) * 3 + c]


def _arguments(n: int, m: int, depth: int, more: int = 0) -> tuple[Any, ...]:
    random = np.random.default_rng(1)
    lengths = (n * depth, depth * m, n * m)
    return (*(random.random(length + more) for length in lengths), n, m, depth)


def _copied(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(one.copy() if isinstance(one, np.ndarray) else one for one in arguments)


@pytest.mark.parametrize("target", ["c", "numba", "python"])
def test_a_product_of_flat_matrices_gives_the_same(target: str) -> None:
    kernel = pv.compile(product, target=target, contract="strict")
    for sizes in [(5, 7, 3), (33, 30, 41), (0, 3, 2), (3, 0, 2), (1, 1, 1)]:
        given = _arguments(*sizes)
        want, got = _copied(given), _copied(given)
        product(*want)
        kernel(*got)
        kernel(*got[:2], (again := given[2].copy()), *sizes)
        assert np.array_equal(want[2], got[2])
        assert np.array_equal(want[2], again)


def test_it_has_register_tiles_that_can_be_switched_off() -> None:
    given = _arguments(200, 200, 200)
    kernel = pv.compile(product, target="c")
    kernel(*given)
    assert "A tile of" in kernel.source
    assert any("a, b and c hold rows" in note for note in kernel.scop.notes)
    plain = pv.compile(product, target="c", delinearise=False)
    plain(*given)
    assert "A tile of" not in plain.source


@pytest.mark.parametrize("target", ["c", "numba"])
def test_arrays_with_more_than_whole_rows_run_in_one_dimension(target: str) -> None:
    kernel = pv.compile(product, target=target)
    given = _arguments(9, 8, 7, more=3)
    want, got = _copied(given), _copied(given)
    product(*want)
    kernel(*got)
    assert np.allclose(want[2], got[2])
    assert "i * m + j" in kernel.source
    whole = _arguments(9, 8, 7)
    want, got = _copied(whole), _copied(whole)
    product(*want)
    kernel(*got)
    assert np.allclose(want[2], got[2])


@pytest.mark.parametrize("target", ["c", "numba"])
def test_every_second_element_may_hold_the_rows(target: str) -> None:
    given = _arguments(9, 8, 7)
    apart = tuple(np.repeat(one, 2)[::2] if isinstance(one, np.ndarray) else one for one in given)
    want = _copied(given)
    product(*want)
    pv.compile(product, target=target)(*apart)
    assert np.allclose(want[2], apart[2])


@pytest.mark.parametrize("target", ["c", "numba", "python"])
def test_what_is_made_in_rows_is_handed_back_in_one_dimension(target: str) -> None:
    kernel = pv.compile(smoothed, target=target)
    for n, m in [(6, 9), (40, 31), (0, 4), (4, 0), (2, 2)]:
        a = np.random.default_rng(2).random(n * m)
        want = smoothed(a, n, m)
        for _ in range(3):
            got = kernel(a, n, m)
            assert got.shape == want.shape
            assert np.allclose(want, got)


@pytest.mark.parametrize("target", ["c", "numba", "python"])
def test_rows_of_a_short_length_are_seen_once_that_is_known(target: str) -> None:
    random = np.random.default_rng(3)
    points, centres, sizes = random.random(2000 * 4), random.random(5 * 4), (2000, 5, 4)
    kernel = pv.compile(nearest, target=target)
    assert np.array_equal(kernel(points, centres, *sizes), nearest(points, centres, *sizes))
    text = re.sub(r"index\((\w+)\)", r"\1", kernel.source.replace("][", ", "))
    assert "points[i, t]" in text


@pytest.mark.parametrize("target", ["c", "numba"])
def test_what_lies_together_in_a_row_is_one_dimension(target: str) -> None:
    image = np.random.default_rng(4).integers(0, 256, 200 * 150 * 3).astype(np.uint8)
    got, kernel = image.copy(), pv.compile(negative, target=target)
    kernel(got, 200, 150)
    assert np.array_equal(got, 255 - image)
    assert "for c in range(3 * m)" in kernel.source or "c < 3 * m" in kernel.source


def test_too_short_an_array_is_told_as_the_user_wrote_it() -> None:
    a, b, c, *sizes = _arguments(4, 5, 6)
    with pytest.raises(OutOfBoundsError, match=r"i=3, j=0, k=0 reads a\[18\], but axis 0 of `a` has 18 elements"):
        pv.compile(product, target="c")(a[:18], b, c, *sizes)


WIDTH = 48


def smoothed_in_place(a: Array, b: Array, n: int, steps: int) -> None:
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, WIDTH - 1):
                b[i * WIDTH + j] = a[(i - 1) * WIDTH + j] + a[i * WIDTH + j + 1] + a[(i + 1) * WIDTH + j - 1]
        for i in range(1, n - 1):
            for j in range(1, WIDTH - 1):
                a[i * WIDTH + j] = b[i * WIDTH + j] / 3


@pytest.mark.parametrize("target", ["c", "numba", "python"])
@pytest.mark.parametrize(("n", "more"), [(30, 0), (30, 5), (3, 0), (2, 0), (0, 0)])
def test_rows_of_a_constant_length_give_the_same(target: str, n: int, more: int) -> None:
    kernel = pv.compile(smoothed_in_place, target=target)
    random = np.random.default_rng(3)
    given = random.random(n * WIDTH + more), random.random(n * WIDTH + more), n, 4
    want, got = _copied(given), _copied(given)
    smoothed_in_place(*want)
    kernel(*got)
    assert np.allclose(want[0], got[0])
    assert np.allclose(want[1], got[1])


def test_programs_are_made_for_the_types_of_one_dimension_too() -> None:
    kernel = pv.compile(product, target="c")
    types = {name: ArrayType("float32", 1) for name in "abc"}
    assert "float (*restrict c)[c_extent1]" in kernel.specialise(types).text


def test_a_call_that_others_have_bound_gets_the_program_that_fits_it() -> None:
    kernel, binder = pv.compile(product, target="c"), Binder(pv.extract(product))
    whole, more = (binder.bind(_arguments(9, 8, 7, more), {}) for more in (0, 3))
    assert [name for name, _ in kernel.program_for(whole).rows] == ["a", "b", "c"]
    assert not kernel.program_for(more).rows
    kernel.prepare(more)
    assert not kernel.program.rows

"""Sizes that are roots, logarithms and powers of others."""

from __future__ import annotations

import math
from math import isqrt

import numpy as np
import pytest

import polyviz as pv


def of_root(n):
    marks = np.zeros(int(math.sqrt(n)))
    for i in range(marks.shape[0]):
        marks[i] = i * 2.0
    return marks


def of_named_logarithm(n):
    levels = math.ceil(math.log2(n)) + 1
    sums = np.zeros(levels)
    for i in range(levels):
        sums[i] = i + 0.5
    return sums


def of_logarithm_rounded_twice(n):
    sums = np.zeros(int(np.ceil(np.log2(n))))
    for i in range(sums.shape[0]):
        sums[i] = i + 0.5
    return sums


def of_whole_root(n):
    last = isqrt(n)
    squares = np.zeros(last + 1, dtype=np.int64)
    for i in range(last + 1):
        squares[i] = i * i
    return squares


def of_power(n):
    states = np.zeros(2**n)
    for i in range(2**n):
        states[i] = 0.5 * i
    return states


@pytest.mark.parametrize("function", [of_root, of_named_logarithm, of_logarithm_rounded_twice, of_whole_root, of_power])
def test_sizes_computed_of_sizes(function):
    kernel = pv.compile(function)
    for n in (1, 2, 9, 15):
        assert np.array_equal(kernel(n), function(n))


def test_a_number_below_a_root_need_not_be_whole():
    def at_distance(values, x):
        return values[int(math.sqrt(x))] + 0.0

    kernel = pv.compile(at_distance)
    values = np.arange(6.0)
    assert [kernel(values, 5), kernel(values, 4.5), kernel(values, 16)] == [2.0, 2.0, 4.0]


def test_whole_roots_of_data():
    def roots(x, y):
        for i in range(x.shape[0]):
            y[i] = isqrt(x[i])

    x, y = np.arange(50), np.zeros(50, dtype=np.int64)
    pv.compile(roots)(x, y)
    assert y.tolist() == [isqrt(i) for i in range(50)]


def test_a_whole_root_is_said_to_be_computed_as_a_fraction():
    assert pv.extract(of_whole_root).notes == ("`isqrt(n)` is computed as `int(math.sqrt(n))`: the same below 2**52.",)

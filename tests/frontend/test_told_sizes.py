"""Sizes that numbers among the arguments tell."""

from __future__ import annotations

import math

import numpy as np
import pytest

import polyviz as pv
from polyviz.errors import ArgumentError, NotAffineError
from polyviz.runtime.quick_calls import QuickCalls


def weights(sigma):
    radius = int(3 * sigma + 0.5)
    found = np.empty(2 * radius + 1)
    for i in range(-radius, radius + 1):
        found[i + radius] = -i * i / (2 * sigma)
    return found


def steps(start, length, step):
    path = np.zeros(math.ceil(length / step) + 1)
    path[0] = start
    for i in range(len(path) - 1):
        path[i + 1] = path[i] - 0.5 * path[i]
    return path


def share(values, part):
    kept = int(np.floor(part * len(values)))
    first = np.zeros(kept)
    for i in range(kept):
        first[i] = 2.0 * values[i]
    return first


CALLS = [
    (weights, [(1.2,), (0.1,), (2.6,), (np.float64(1.4),)]),
    (steps, [(1.0, 1.0, 0.1), (1.0, 1.0, 0.4), (1.0, 3, 2), (1.0, 0.0, 0.1)]),
    (share, [(np.arange(20.0), 0.3), (np.arange(20.0), 0.95), (np.arange(3.0), 1.0), (np.zeros(0), 0.5)]),
]


@pytest.mark.parametrize("target", ["c", "python", pytest.param("numba", marks=pytest.mark.slow)])
@pytest.mark.parametrize(("function", "calls"), CALLS)
def test_every_call_tells_its_own(function, calls, target):
    kernel = pv.compile(function, target=target, contract="strict")
    for given in (*calls, *calls, calls[0]):
        np.testing.assert_array_equal(kernel(*given), function(*given))


def test_what_need_not_be_computed_is_not():
    def inverse(values, x):
        count = int(1 / x) if x > 0 else 0
        if x > 1:
            count = int(8 / (x - 1))
        for i in range(len(values)):
            values[i] += count
        return count

    kernel = pv.compile(inverse)
    for x in (0.0, 1.0, 0.2, 3.0):
        assert kernel(np.zeros(3), x) == inverse(np.zeros(3), x)


def test_what_cannot_be_made_whole_is_said_before_anything_is_changed():
    def filled(values, x):
        count = int(x)
        values[:] = 0.0
        more = np.ones(count)
        return more

    values = np.ones(3)
    with pytest.raises(ArgumentError):
        pv.compile(filled)(values, math.nan)
    assert values.all()


def test_numbers_that_change_tell_nothing():
    def halved(x):
        x = x / 2
        zeros = np.zeros(int(x))
        return zeros

    with pytest.raises(NotAffineError, match="not known when the program starts"):
        pv.extract(halved)


def test_calls_like_one_before_are_told_by_these_numbers_too(monkeypatch):
    ran = []
    run = QuickCalls.run

    def noted(calls, arguments):
        found = run(calls, arguments)
        ran.append(found is not None)
        return found

    monkeypatch.setattr(QuickCalls, "run", noted)
    kernel = pv.compile(steps, target="c")
    for step in (0.1, 0.1, 0.2, 0.2, 0.1, 0.2):
        assert len(kernel(1.0, 1.0, step)) == len(steps(1.0, 1.0, step))
    assert ran[-4:] == [False, True, True, True]

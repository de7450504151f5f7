"""Functions as users define them in modules: decorated, with globals, closures and helpers."""

from __future__ import annotations

import functools
import math as m
from math import exp as exponential
from typing import Any

import numpy as xyz
from numba import njit, prange

SIZE = 16
EPSILON = xyz.float64(1e-3)
TWO_PI = xyz.pi * 2
ENABLED = True
TABLE = xyz.arange(4000.0)


@njit(cache=False)
def clip(x: float, low: float, high: float = TWO_PI) -> float:
    return min(max(x, low), high)


def square(x: float) -> float:
    """The square, and a little more."""
    y = x * x
    return y + EPSILON


@njit(parallel=True)
def decorated(A: Any, B: Any) -> None:
    """Everything a module offers.

    More text.
    """
    for i in prange(A.shape[0]):
        for j in range(SIZE):
            B[i, j] = clip(A[i, j], -1.0) + square(A[i, j]) + exponential(1.0) + m.sin(TWO_PI) + xyz.sqrt(2.0)


def with_closure(distance: int) -> Any:
    def shift(A: Any) -> None:
        for i in range(distance, len(A)):
            A[i] = A[i - distance]

    return shift


def passed_on(function: Any) -> Any:
    @functools.wraps(function)
    def call(*arguments: Any) -> Any:
        return function(*arguments)

    return call


@passed_on
def wrapped(A: Any) -> None:
    for i in range(3):
        A[i] = 0.0


@passed_on
def doubled(x: float) -> float:
    return 2 * x


def calls_wrapped(A: Any) -> None:
    for i in range(3):
        A[i] = doubled(A[i])


def uses_global_array(A: Any) -> None:
    for i in range(4):
        A[i] = TABLE[i]


def constant_condition(A: Any) -> None:
    for i in range(3):
        if ENABLED:
            A[i] = 1.0
        else:
            A[i] = 2.0


class Owner:
    def method(self, A: Any) -> None:
        for i in range(3):
            A[i] = 0.0


anonymous = lambda A: A[0]  # noqa: E731

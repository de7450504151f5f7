"""Whether a variant computed what the original loop computed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

RELATIVE_TOLERANCE = {"float32": 1e-4, "complex64": 1e-4, "float64": 1e-9, "complex128": 1e-9}
"""Largest accepted difference, relative to the largest magnitude of the array: reordered sums round differently."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """The verdict: ``agrees``, the largest relative difference seen, and a sentence about the first disagreement."""

    agrees: bool
    largest_difference: float
    sentence: str = ""


def compare_values(
    reference: Mapping[str, Any], actual: Mapping[str, Any], given: Iterable[Any] = ()
) -> Agreement:
    """Compare all outputs by name; integers and booleans must be equal, floating-point values within tolerance.

    ``given`` are the arguments that they were computed from: of numbers of single precision a sum in double precision
    is as exact as they are.

    >>> compare_values({"A": np.ones(3)}, {"A": np.array([1.0, 1.0, 2.0])}).sentence
    'A[2] is 2.0, the original loop gives 1.0'
    """
    largest = 0.0
    least = max((RELATIVE_TOLERANCE.get(np.asarray(value).dtype.name, 0.0) for value in given), default=0.0)
    for name, expected in reference.items():
        agreement = _compare(name, np.asarray(expected), np.asarray(actual[name]), least)
        largest = max(largest, agreement.largest_difference)
        if not agreement.agrees:
            return Agreement(False, largest, agreement.sentence)
    return Agreement(True, largest)


def _compare(name: str, expected: Any, actual: Any, least: float = 0.0) -> Agreement:
    if expected.shape != actual.shape:
        return Agreement(False, float("inf"), f"{name} has shape {actual.shape}, the original gives {expected.shape}")
    if expected.dtype.kind not in "fc" and actual.dtype.kind not in "fc":
        wrong = np.argwhere(expected != actual)
        return Agreement(True, 0.0) if not len(wrong) else _disagreement(name, expected, actual, wrong[0], float("inf"))
    wanted, found = _components(expected), _components(actual)
    with np.errstate(all="ignore"):
        finite = np.isfinite(wanted) & np.isfinite(found)
        same = (wanted == found) | (np.isnan(expected) & np.isnan(actual))[..., np.newaxis]
        scale = float(np.max(np.abs(wanted[finite]), initial=0.0)) or 1.0
        difference = np.where(finite, np.abs(wanted - found), 0.0) / scale
    wrong = np.argwhere(~same & (~finite | (difference > max(least, *map(_tolerance, (expected, actual))))))
    largest = float(np.max(difference, initial=0.0))
    return Agreement(True, largest) if not len(wrong) else _disagreement(name, expected, actual, wrong[0], largest)


def _tolerance(values: Any) -> float:
    return RELATIVE_TOLERANCE.get(values.dtype.name, RELATIVE_TOLERANCE["float64"])


def bit_difference(reference: Mapping[str, Any], actual: Mapping[str, Any]) -> str:
    """A sentence about the first value that is not the same bit for bit; empty when all are.

    Zeros of different sign differ; one NaN is as good as another.

    >>> bit_difference({"A": np.array([0.0, np.nan])}, {"A": np.array([-0.0, -np.nan])})
    'A[0] is -0.0, the original loop gives 0.0'
    """
    for name, value in reference.items():
        expected, found = np.asarray(value), np.asarray(actual[name])
        if expected.shape != found.shape:
            return _compare(name, expected, found).sentence
        same = expected == found
        if expected.dtype.kind in "fc" and found.dtype.kind in "fc":
            signs = np.signbit(_components(expected)) == np.signbit(_components(found))
            same = (same & signs.all(axis=-1)) | (np.isnan(expected) & np.isnan(found))
        wrong = np.argwhere(~np.asarray(same))
        if len(wrong):
            return _disagreement(name, expected, found, wrong[0], 0.0).sentence
    return ""


def _components(values: Any) -> Any:
    """Values with real and imaginary parts apart, last: one of them may be infinite while the other was rounded.

    >>> _components(np.array([1.0 - 2.0j])).tolist(), _components(np.array([3.0])).tolist()
    ([[1.0, -2.0]], [[3.0, 0.0]])
    """
    return np.stack((values.real, values.imag), axis=-1)


def _disagreement(name: str, expected: Any, actual: Any, where: Any, largest: float) -> Agreement:
    position = tuple(int(value) for value in where[: expected.ndim])
    subscript = f"[{', '.join(map(str, position))}]" if position else ""
    sentence = f"{name}{subscript} is {actual[position]}, the original loop gives {expected[position]}"
    return Agreement(False, largest, sentence)

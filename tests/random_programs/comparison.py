"""Whether two runs of a program agree; rounding is judged by what noise on the inputs does to the result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

TOLERANCE = {"float32": 2e-4, "complex64": 2e-4, "float64": 1e-9, "complex128": 1e-9}
"""Accepted difference relative to the largest magnitude of the array: reordered sums round differently."""
NOISE_FACTOR = 1e4
"""How much more than the effect of noise a difference has to be before it counts."""

Values = Sequence[Any]


def outputs(values: Values, result: Any) -> dict[str, Any]:
    """Everything that a run leaves behind, by a name for messages."""
    found = {
        f"argument {position}": value
        for position, value in enumerate(values)
        if isinstance(value, np.ndarray)
    }
    results = result if isinstance(result, tuple) else () if result is None else (result,)
    return found | {f"result {position}": value for position, value in enumerate(results)}


def difference(expected: dict[str, Any], actual: dict[str, Any], *, exact: bool = False) -> str:
    """The first disagreement as a sentence; empty when there is none. ``exact`` allows no rounding."""
    if expected.keys() != actual.keys():
        return f"the outputs are {sorted(actual)}, expected {sorted(expected)}"
    for name, value in expected.items():
        sentence = _difference(name, np.asarray(value), np.asarray(actual[name]), exact)
        if sentence:
            return sentence
    return ""


def _difference(name: str, expected: Any, actual: Any, exact: bool) -> str:
    if expected.shape != actual.shape:
        return f"{name} has shape {actual.shape}, expected {expected.shape}"
    wrong = np.argwhere(~_close(expected, actual, exact))
    if not len(wrong):
        return ""
    where = tuple(int(part) for part in wrong[0])
    return f"{name}{list(where)} is {actual[where]}, expected {expected[where]} ({len(wrong)} cells differ)"


def _close(expected: Any, actual: Any, exact: bool = False) -> Any:
    """Cell by cell; of a complex number one part may be infinite while the other was rounded."""
    wanted, found = _parts(expected), _parts(actual)
    with np.errstate(all="ignore"):
        same = wanted == found
        if expected.dtype.kind in "fc" or actual.dtype.kind in "fc":
            same |= (np.isnan(expected) & np.isnan(actual))[..., np.newaxis]
        if not exact and (expected.dtype.kind in "fc" or actual.dtype.kind in "fc"):
            scale = np.max(np.abs(wanted[np.isfinite(wanted)]), initial=0.0)
            tolerance = max(TOLERANCE.get(kind.dtype.name, 0.0) for kind in (expected, actual))
            same |= np.isfinite(wanted) & (np.abs(wanted - found) <= tolerance * scale)
    return same.all(axis=-1)


def _parts(values: Any) -> Any:
    return np.stack((values.real, values.imag), axis=-1)


def within_noise(
    function: Callable[..., Any],
    make: Callable[[], list[Any]],
    expected: dict[str, Any],
    actual: dict[str, Any],
) -> bool:
    """Whether tiny changes of the inputs explain the disagreement: then it says nothing about the order.

    Relative noise of a few units in the last place is put on all floating-point inputs; a cell may differ by as much
    as the noise moves it, times a factor.
    """
    if any(
        name not in actual or np.shape(actual[name]) != np.shape(value) for name, value in expected.items()
    ):
        return False
    spread = {name: np.zeros(np.shape(value)) for name, value in expected.items()}
    for round_ in range(3):
        values = [_noisy(value, round_ * 100 + position) for position, value in enumerate(make())]
        with np.errstate(all="ignore"):
            moved = outputs(values, function(*values))
            for name, value in expected.items():
                change = np.abs(np.asarray(moved[name]) - np.asarray(value, np.asarray(moved[name]).dtype))
                spread[name] = np.maximum(spread[name], np.where(np.isfinite(change), change, np.inf))
    with np.errstate(all="ignore"):
        return all(
            _explained(np.asarray(value), np.asarray(actual[name]), spread[name])
            for name, value in expected.items()
        )


def _noisy(value: Any, seed: int) -> Any:
    if np.asarray(value).dtype.kind not in "fc":
        return value
    random = np.random.default_rng(seed)
    precision = np.finfo(np.asarray(value).dtype).eps
    factor = 1 + 4 * precision * random.uniform(-1, 1, np.shape(value))
    if isinstance(value, np.ndarray):
        value[...] = value * factor
        return value
    return type(value)(value * factor)


def _explained(expected: Any, actual: Any, spread: Any) -> bool:
    close = _close(expected, actual)
    with np.errstate(all="ignore"):
        return bool(np.all(close | (np.abs(expected - actual) <= NOISE_FACTOR * spread) | np.isinf(spread)))

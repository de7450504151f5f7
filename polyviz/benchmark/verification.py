"""Whether a variant computed what the original loop computed, where that can be told from rounding at all."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from polyviz.runtime.agreement import bit_difference, compare_values

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

UNSTABLE = 1e-10
"""A value that moves so far, relative to the largest, when the inputs change in their last bits, is mostly rounding."""

MOST_UNSTABLE = 0.5
"""When more than this part of an array is amplified rounding, all of it is compared, with a wider tolerance."""

WIDENING = 30.0
"""How much farther than the nudged run another order of summation may lie from the original one."""

WIDEST = 1e-3
"""The widest tolerance, relative to the largest value, that still tells anything."""


@dataclass(slots=True)
class Judge:
    """Compares outputs with ``expected``, those of the original loop.

    ``nudged`` runs the original loop once more on inputs changed in their last bits. It is asked only when somebody
    disagrees: where the loop itself then gives another value, nobody can be held to the first one.
    """

    expected: Mapping[str, Any]
    nudged: Callable[[], Mapping[str, Any]]
    _unstable: dict[str, _Instability] | None = field(default=None, init=False)

    def verdict(self, actual: Mapping[str, Any], *, exact: bool = False) -> tuple[bool, str]:
        """Whether ``actual`` agrees, and what is to be said about it; ``exact`` asks for the same bits.

        >>> judge = Judge({"x": np.array([1.0, 2.0])}, lambda: {"x": np.array([1.0, 2.5])})
        >>> judge.verdict({"x": np.array([1.0, 7.0])})
        (True, '1 of 2 values of x are not compared: the original loop amplifies rounding there')
        >>> judge.verdict({"x": np.array([0.0, 2.0])})
        (False, 'x[0] is 0.0, the original loop gives 1.0')
        """
        strangers = sorted(actual.keys() - self.expected.keys())
        if strangers:
            return False, f"it changed {', '.join(strangers)}"
        if exact:
            difference = bit_difference({name: self.expected[name] for name in actual}, actual)
            return not difference, difference
        agreement = compare_values(self.expected, actual)
        if agreement.agrees:
            return True, ""
        masks = self._masks()
        settled = {
            name: _settled(value, self.expected[name], masks.get(name)) for name, value in actual.items()
        }
        again = compare_values(self.expected, settled)
        return again.agrees, _told(masks) if again.agrees else again.sentence

    def _masks(self) -> dict[str, _Instability]:
        """By array, what cannot be compared as usual; arrays without such values are left out."""
        if self._unstable is None:
            nudged = self.nudged()
            found = {
                name: _instability(np.asarray(value), np.asarray(nudged[name]))
                for name, value in self.expected.items()
            }
            self._unstable = {name: each for name, each in found.items() if each is not None}
        return self._unstable


@dataclass(frozen=True, slots=True)
class _Instability:
    """The values of an array that are amplified rounding; with a ``tolerance``, they are still compared within it."""

    mask: Any
    tolerance: float | None


def _instability(one: Any, other: Any) -> _Instability | None:
    mask = _moved(one, other)
    if not np.any(mask):
        return None
    if np.mean(mask) <= MOST_UNSTABLE:
        return _Instability(mask, None)
    with np.errstate(all="ignore"):
        moved = float(np.max(np.abs(one - other)))
    tolerance = WIDENING * moved / _scale(one)
    return _Instability(mask, tolerance) if tolerance <= WIDEST else None


def _scale(values: Any) -> float:
    return float(np.max(np.abs(values[np.isfinite(values)]), initial=0.0)) or 1.0


def _moved(one: Any, other: Any) -> Any:
    if one.dtype.kind not in "fc":
        return np.zeros(one.shape, bool)
    with np.errstate(all="ignore"):
        finite = np.isfinite(one) & np.isfinite(other)
        return ~(finite & (np.abs(one - other) <= UNSTABLE * _scale(one)))


def _settled(actual: Any, expected: Any, instability: _Instability | None) -> Any:
    """``actual`` with what cannot be held against it replaced by what is expected."""
    if instability is None:
        return actual
    forgiven = instability.mask
    if instability.tolerance is not None:
        with np.errstate(all="ignore"):
            forgiven = np.abs(actual - expected) <= instability.tolerance * _scale(expected)
    return np.where(forgiven, expected, actual)


def _told(found: Mapping[str, _Instability]) -> str:
    reason = "the original loop amplifies rounding there"
    left_out = [
        f"{int(np.sum(each.mask))} of {each.mask.size} values of {name}"
        for name, each in found.items()
        if each.tolerance is None
    ]
    widened = [
        f"{name} is compared within {each.tolerance:.1g}" for name, each in found.items() if each.tolerance
    ]
    parts = [f"{', '.join(left_out)} are not compared"] if left_out else []
    return f"{'; '.join([*parts, *widened])}: {reason}"

"""Whether a variant computed what the original loop computed, where that can be told from rounding at all."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from polyviz.runtime.agreement import compare_values

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

UNSTABLE = 1e-10
"""A value that moves so far, relative to the largest, when the inputs change in their last bits, is mostly rounding."""

MOST_UNSTABLE = 0.5
"""When more than this part of an array is amplified rounding, nothing can be said about the array."""


@dataclass(slots=True)
class Judge:
    """Compares outputs with ``expected``, those of the original loop.

    ``nudged`` runs the original loop once more on inputs changed in their last bits. It is asked only when somebody
    disagrees: where the loop itself then gives another value, nobody can be held to the first one.
    """

    expected: Mapping[str, Any]
    nudged: Callable[[], Mapping[str, Any]]
    _unstable: dict[str, Any] | None = field(default=None, init=False)

    def verdict(self, actual: Mapping[str, Any]) -> tuple[bool, str]:
        """Whether ``actual`` agrees, and what is to be said about it.

        >>> judge = Judge({"x": np.array([1.0, 2.0])}, lambda: {"x": np.array([1.0, 2.5])})
        >>> judge.verdict({"x": np.array([1.0, 7.0])})
        (True, '1 of 2 values of x are not compared: the original loop amplifies rounding there')
        >>> judge.verdict({"x": np.array([0.0, 2.0])})
        (False, 'x[0] is 0.0, the original loop gives 1.0')
        """
        strangers = sorted(actual.keys() - self.expected.keys())
        if strangers:
            return False, f"it changed {', '.join(strangers)}"
        agreement = compare_values(self.expected, actual)
        if agreement.agrees:
            return True, ""
        masks = self._masks()
        settled = {
            name: _settled(value, self.expected[name], masks.get(name)) for name, value in actual.items()
        }
        again = compare_values(self.expected, settled)
        return again.agrees, _told(masks) if again.agrees else again.sentence

    def _masks(self) -> dict[str, Any]:
        """By array, the values that cannot be compared; arrays without any, or with too many, are left out."""
        if self._unstable is None:
            nudged = self.nudged()
            found = {
                name: _moved(np.asarray(value), np.asarray(nudged[name]))
                for name, value in self.expected.items()
            }
            self._unstable = {
                name: mask for name, mask in found.items() if 0 < np.mean(mask) <= MOST_UNSTABLE
            }
        return self._unstable


def _moved(one: Any, other: Any) -> Any:
    if one.dtype.kind not in "fc":
        return np.zeros(one.shape, bool)
    with np.errstate(all="ignore"):
        finite = np.isfinite(one) & np.isfinite(other)
        scale = float(np.max(np.abs(one[finite]), initial=0.0)) or 1.0
        return ~(finite & (np.abs(one - other) <= UNSTABLE * scale))


def _settled(actual: Any, expected: Any, mask: Any) -> Any:
    return actual if mask is None else np.where(mask, expected, actual)


def _told(masks: Mapping[str, Any]) -> str:
    parts = [f"{int(np.sum(mask))} of {mask.size} values of {name}" for name, mask in masks.items()]
    return f"{', '.join(parts)} are not compared: the original loop amplifies rounding there"

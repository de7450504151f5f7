"""The whole numbers among the arguments of a call: sizes and bounds."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from polyviz.errors import ArgumentError


def integer(name: str, value: Any) -> int:
    """``value`` of the argument that messages call ``name``, which is a size or bound; raises ArgumentError."""
    try:
        number = operator.index(value)
    except TypeError:
        raise ArgumentError(
            f"{name} is used as a size or bound and must be an integer, not {_briefly(value)}.",
            hint=_instead(name.rpartition(" ")[2], value),
        ) from None
    if not -(2**63) <= number < 2**63:
        raise ArgumentError(
            f"{name} is used as a size or bound, and {number} does not fit into 64 bits.",
            hint="Pass a smaller number.",
        )
    return number


def _briefly(value: Any) -> str:
    return f"an array of {value.dtype}" if isinstance(value, np.ndarray) and value.ndim else repr(value)


def _instead(name: str, value: Any) -> str:
    """What to write or to pass where ``value`` was passed for an integer called ``name``."""
    if isinstance(value, float | np.floating):
        return f"Pass an integer. Where it is only compared, write `{name}: float` in the function's head."
    if not (isinstance(value, np.ndarray) and value.ndim):
        return ""
    if value.dtype == bool:
        return f"Where it chooses elements, write `{name}[:] != 0` in the place of `{name}`."
    return f"Write `{name}[i]` where one of its elements is meant."

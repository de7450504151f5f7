"""The slow way for arrays that overlap in memory: the user's own loop, in its own order, under numba or Python.

Every other order was proved right for arrays that share no memory. The loop as written needs no such proof.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from polyviz.errors import OutOfBoundsError, OverlapWarning

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from polyviz.errors import OverlapError
    from polyviz.runtime.original import Original

PROCESSORS = ("c", "numba", "python")
"""The targets whose kernels can fall back to the loop as written."""


@dataclass(slots=True)
class AsWritten:
    """Runs ``original``: as plain Python for the target ``python``, else under numba where that takes it."""

    original: Original
    target: str
    _function: Callable[..., Any] | None = field(default=None)

    def __call__(self, given: Mapping[str, Any], written: Iterable[str], why: OverlapError) -> Any:
        """Run on ``given`` in place, and warn that this was the slow way and ``why``.

        Raises OutOfBoundsError, with the arrays ``written`` restored, for a subscript that is out of range.
        """
        plain = self.target == "python" or not all(_native(value) for value in given.values())
        engine = "plain Python" if plain else "numba"
        warnings.warn(
            f"{why.message} The loop ran as written, under {engine}: right, but slower. {why.hint}",
            OverlapWarning,
            stacklevel=3,
        )
        backups = {name: given[name].copy() for name in written if isinstance(given.get(name), np.ndarray)}
        try:
            return self._run(given, plain=plain)
        except BaseException as error:
            for name, backup in backups.items():
                given[name][...] = backup
            if isinstance(error, IndexError):
                raise OutOfBoundsError(
                    "A subscript is out of range.", hint="No array was changed."
                ) from error
            raise

    def _run(self, given: Mapping[str, Any], *, plain: bool) -> Any:
        if plain:
            with np.errstate(all="ignore"):
                return self.original.python()(*given.values())
        if self._function is None:
            self._function = self.original.numba(checked=True)
        return self._function(*given.values())


def _native(value: object) -> bool:
    """Whether numba takes the bytes of an array in their order."""
    return not isinstance(value, np.ndarray) or value.dtype.isnative

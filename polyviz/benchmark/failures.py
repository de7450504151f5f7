"""How what went wrong becomes a row."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from polyviz.errors import PolyvizError, WorkerError
from polyviz.runtime.worker import CrashError, TimeLimitError

if TYPE_CHECKING:
    from polyviz.benchmark.records import VariantRecord
    from polyviz.model.measurement import Status

_STATUS: tuple[tuple[type[Exception], Status], ...] = ((TimeLimitError, "timeout"), (CrashError, "crashed"))


def failed(row: VariantRecord, error: Exception) -> VariantRecord:
    """``row`` as that of a variant that ended with ``error``; it has no time."""
    status: Status = next((name for kind, name in _STATUS if isinstance(error, kind)), "failed")
    note = "; ".join(filter(None, [row.note, first_line(error)]))
    return replace(row, status=status, verified=None, first_seconds=None, samples=(), note=note)


def refused(row: VariantRecord, error: Exception) -> VariantRecord:
    """``row`` as that of a variant for which no program was made; a crash on the way is no refusal."""
    if isinstance(error, PolyvizError) and not isinstance(error, WorkerError):
        return replace(row, status="refused", note=first_line(error))
    return failed(row, error)


def first_line(error: Exception) -> str:
    """What happened and why, in one line; numba's errors start with a heading that says nothing.

    >>> first_line(ValueError("Failed in nopython mode pipeline (step: x)\\nUnknown name."))
    'Unknown name.'
    """
    if isinstance(error, PolyvizError):
        return " ".join([error.message, *error.reason.splitlines()[:1]])
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    told = [line for line in lines if not line.startswith("Failed in nopython mode")]
    return (told or lines or [type(error).__name__])[0]

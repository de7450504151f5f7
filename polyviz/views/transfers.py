"""The log of transfers between host and device, as text, a table and JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from polyviz.views.html import heading, table
from polyviz.views.tables import columns, three_digits

if TYPE_CHECKING:
    from polyviz.model.transfers import TransferCount, TransferLog

HEADER = ("array", "direction", "times", "bytes", "", "why")


def size_text(count: int) -> str:
    """Bytes with a unit.

    >>> size_text(512), size_text(1536), size_text(3 * 2**20)
    ('512 B', '1.50 KiB', '3.00 MiB')
    """
    for unit, size in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if count >= size:
            return f"{three_digits(count / size)} {unit}"
    return f"{count} B"


def sum_text(log: TransferLog) -> str:
    """What moved and what was saved, in a sentence."""
    if not log.rows:
        return "Nothing has moved between host and device."
    return f"{size_text(log.moved_bytes)} moved between host and device, {size_text(log.saved_bytes)} did not have to."


def log_text(log: TransferLog) -> str:
    """The sums, then a line per array, direction and reason."""
    if not log.rows:
        return sum_text(log)
    return f"{sum_text(log)}\n{columns([_cells(row) for row in log.rows], HEADER, right=[2, 3])}"


def log_html(log: TransferLog) -> str:
    """The same as a table."""
    return heading(sum_text(log)) + (
        table([_cells(row) for row in log.rows], HEADER, code=[0]) if log.rows else ""
    )


def log_model(log: TransferLog) -> list[dict[str, Any]]:
    """The rows as JSON."""
    return [
        {
            "array": row.array,
            "direction": row.direction,
            "moved": row.moved,
            "reason": row.reason,
            "times": row.times,
            "bytes": row.bytes,
        }
        for row in log.rows
    ]


def _cells(row: TransferCount) -> list[str]:
    moved = "moved" if row.moved else "saved"
    return [row.array, row.direction, str(row.times), size_text(row.bytes), moved, row.reason]

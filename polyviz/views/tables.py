"""Plain text in columns, and numbers as people read them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def columns(
    rows: Sequence[Sequence[str]], header: Sequence[str] = (), right: Sequence[int] = (), indent: int = 2
) -> str:
    """Rows in aligned columns, two blanks apart; ``right`` lists the right-aligned columns.

    >>> print(columns([["S0", "4"], ["S10", "128"]], ["name", "count"], right=[1]))
      name  count
      S0        4
      S10     128
    """
    lines = [list(header), *map(list, rows)] if header else [list(row) for row in rows]
    if not lines:
        return ""
    widths = [max(len(line[place]) for line in lines) for place in range(len(lines[0]))]
    return "\n".join(
        " " * indent
        + "  ".join(
            cell.rjust(width) if place in right else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def seconds(value: float) -> str:
    """A duration with three digits and a unit.

    >>> seconds(0.01234), seconds(2.5e-7), seconds(75.0)
    ('12.3 ms', '250 ns', '75.0 s')
    """
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= 0.9995 * size:
            return f"{three_digits(value / size)} {unit}"
    return f"{three_digits(value / 1e-9)} ns"


def between(low: float, high: float) -> str:
    """Two durations, with one unit where it is the same.

    >>> between(0.0123, 0.0125), between(0.0009, 0.0011)
    ('12.3–12.5 ms', '900 µs–1.10 ms')
    """
    first, last = seconds(low), seconds(high)
    number, _, unit = first.partition(" ")
    return f"{number if last.endswith(f' {unit}') else first}–{last}"


def three_digits(value: float) -> str:
    """A positive number with three digits, a small one with two, without an exponent.

    Halves are rounded up, as the live views do it.

    >>> three_digits(1.2345), three_digits(12.345), three_digits(1234.5), three_digits(0.00234)
    ('1.23', '12.3', '1235', '0.0023')
    >>> three_digits(6.125), three_digits(0.0)
    ('6.13', '0.00')
    """
    value = math.nextafter(value, math.inf) if value else value
    if 0 < value < 0.1:
        return f"{value:.{1 - math.floor(math.log10(value))}f}"
    if value >= 99.95:
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 9.995 else f"{value:.2f}"

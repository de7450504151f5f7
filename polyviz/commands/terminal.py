"""Text that fits into the terminal it is printed to."""

from __future__ import annotations

import re
import shutil
import sys
import textwrap

READABLE = 110
"""Columns for a list of sentences that is not printed to a terminal, but kept in a file or read by another program."""

_POINT = re.compile(r" *- ")
_DRAWING = re.compile("[└├│]")


def fitted(text: str) -> str:
    """``text`` with lines that are too long cut between words; the rest of a line is set in under its beginning.

    In a terminal that is every line but those of a drawn tree; elsewhere only the points of lists.
    """
    is_terminal = sys.stdout.isatty()
    width = shutil.get_terminal_size().columns if is_terminal else READABLE
    return "\n".join(part for line in text.splitlines() for part in _cut(line, width, points_only=not is_terminal))


def _cut(line: str, width: int, *, points_only: bool) -> list[str]:
    """The parts of one line.

    >>> _cut("  - a point that goes on", 16, points_only=True)
    ['  - a point that', '    goes on']
    >>> _cut("a sentence that goes on", 16, points_only=True)
    ['a sentence that goes on']
    """
    point = _POINT.match(line)
    if len(line) <= width or _DRAWING.search(line) or (points_only and point is None):
        return [line]
    indent = point.end() if point is not None else len(line) - len(line.lstrip()) + 2
    return textwrap.wrap(line, width, subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False)

"""Collecting generated lines together with where they come from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.model.program import SourceLine

if TYPE_CHECKING:
    from polyviz.model.scop import Statement

INDENT = "    "


class TextBuilder:
    """Lines of a program in the making, and the statement behind each line that has one.

    >>> builder = TextBuilder()
    >>> builder.add(1, "x = 1")
    >>> builder.text()
    '    x = 1\\n'
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.origins: dict[int, SourceLine] = {}

    def add(self, indent: int, line: str, statement: Statement | None = None) -> None:
        """Append one line; ``statement`` is what it computes."""
        self.lines.append(f"{INDENT * indent}{line}")
        if statement is not None:
            self.origins[len(self.lines)] = SourceLine(statement.name, statement.span)

    def text(self) -> str:
        """All lines, each ended."""
        return "".join(f"{line}\n" for line in self.lines)

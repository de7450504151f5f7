"""Collecting generated lines together with where they come from."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from polyviz.model.program import SourceLine

if TYPE_CHECKING:
    from polyviz.model.scop import Statement

INDENT = "    "

_GROUPS = ({"math": "import math"}, {"numba": "import numba", "np": "import numpy as np"})
"""What generated Python imports, by the name it uses: the standard library, then packages."""


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


def imports_of(text: str) -> str:
    """The imports of the modules that ``text`` uses, with an empty line after each group.

    >>> imports_of("y = np.empty(math.isqrt(n))")
    'import math\\n\\nimport numpy as np\\n\\n'
    >>> imports_of("x = 1")
    ''
    """
    used = ([line for name, line in group.items() if re.search(rf"\b{name}\.", text)] for group in _GROUPS)
    return "".join("\n".join(group) + "\n\n" for group in used if group)

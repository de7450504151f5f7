"""What happens to the text of a cell before IPython reads it, so that our cell magics can say more than IPython does.

``%%polyopt --help`` and ``%%polycheck NAME`` alone on their line get a body, without which IPython runs no cell magic;
``%%polyopt`` below the first line is explained.
"""

from __future__ import annotations

import ast
from typing import Any

from polyviz.errors import OptionError

MAGIC = "%%polyopt"
_EXERCISE = "%%polycheck"
_ASKS = ("-h", "--help")


def prepared(lines: list[str]) -> list[str]:
    """The lines of a cell as IPython goes on with them; raises OptionError for a magic that is not in the first one.

    >>> prepared(["%%polyopt --help\\n"])
    ['%%polyopt --help\\n', 'pass\\n']
    >>> prepared(["%%polyopt -s isl\\n"])
    ['%%polyopt -s isl\\n']
    >>> prepared(["%%polycheck triangle\\n"])
    ['%%polycheck triangle\\n', '\\n']
    """
    if not any(MAGIC in line or _EXERCISE in line for line in lines):
        return lines
    first, *rest = lines
    magic, *words = first.split() or [""]
    if magic == MAGIC and set(words) & set(_ASKS) and not any(line.strip() for line in rest):
        return [first.rstrip("\n") + "\n", "pass\n"]
    if magic == _EXERCISE and not rest:
        return [first.rstrip("\n") + "\n", "\n"]
    if not first.startswith("%%") and _is_misplaced(lines):
        raise OptionError(f"{MAGIC} has to be the first line of its cell: move what stands above to another cell.")
    return lines


prepared.has_side_effects = True  # type: ignore[attr-defined]  # IPython then leaves it out while a cell is typed


def _is_misplaced(lines: list[str]) -> bool:
    """Whether the magic stands on a line of its own below others, and not inside a string."""
    without = ["\n" if line.startswith(MAGIC) else line for line in lines]
    return without != lines and not _is_python(lines) and _is_python(without)


def _is_python(lines: list[str]) -> bool:
    try:
        ast.parse("".join(lines))
    except (SyntaxError, ValueError):
        return False
    return True


def install(shell: Any) -> None:
    """Let ``shell`` ask us about every cell; doing it twice changes nothing."""
    if prepared not in shell.input_transformers_cleanup:
        shell.input_transformers_cleanup.append(prepared)


def uninstall(shell: Any) -> None:
    """Take that out of ``shell`` again."""
    if prepared in shell.input_transformers_cleanup:
        shell.input_transformers_cleanup.remove(prepared)

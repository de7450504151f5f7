"""Help without a cell: ``%%polyopt --help`` alone on its line gets a body, without which IPython runs no cell magic."""

from __future__ import annotations

from typing import Any

MAGIC = "%%polyopt"
_ASKS = ("-h", "--help")


def with_body(lines: list[str]) -> list[str]:
    """The lines of a cell as IPython goes on with them.

    >>> with_body(["%%polyopt --help\\n"])
    ['%%polyopt --help\\n', 'pass\\n']
    >>> with_body(["%%polyopt -s isl\\n"])
    ['%%polyopt -s isl\\n']
    """
    first, *rest = lines or [""]
    magic, *words = first.split() or [""]
    if magic != MAGIC or not set(words) & set(_ASKS) or any(line.strip() for line in rest):
        return lines
    return [first.rstrip("\n") + "\n", "pass\n"]


def install(shell: Any) -> None:
    """Let ``shell`` ask us about every cell; doing it twice changes nothing."""
    if with_body not in shell.input_transformers_cleanup:
        shell.input_transformers_cleanup.append(with_body)


def uninstall(shell: Any) -> None:
    """Take that out of ``shell`` again."""
    if with_body in shell.input_transformers_cleanup:
        shell.input_transformers_cleanup.remove(with_body)

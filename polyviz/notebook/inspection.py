"""Shift-Tab on the line of ``%%polyopt``, and what stands beside a list of completions: the meaning of a word there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from polyviz.model.program import CONTRACTS
from polyviz.model.techniques import techniques
from polyviz.notebook.completion import MAGIC
from polyviz.notebook.words import OPTIONS, SHORT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_ASKED = "do_inspect"
"""What Jupyter asks a kernel; IPython hands on only the word at the cursor, without the line around it."""


def _schedulers() -> Mapping[str, str]:
    from polyviz.scheduling import schedulers

    return schedulers()


def _targets() -> Mapping[str, str]:
    from polyviz.api import targets

    return {name: found.reason for name, found in targets().items()}


_MEANINGS: Mapping[str, Callable[[], Mapping[str, str]]] = {
    "--schedule": _schedulers,
    "--target": _targets,
    "--without": techniques,
    "--contract": lambda: {str(name): meaning for name, meaning in CONTRACTS.items()},
}


def explain_word(code: str, cursor: int) -> str | None:
    """What the word at the ``cursor`` means, on the first line of a cell with our magic; None for any other word.

    >>> print(explain_word("%%polyopt --tile 32", 12))
    --tile N[,N…]
        tile sizes such as 32,32,32, or off
    >>> print(explain_word("%%polyopt -s isl,pluto", 20))
    pluto: what --schedule takes
        Permutable bands of maximal depth with the shortest reuse distances: outer parallelism and tiling.
    >>> explain_word("x = tile", 6) is None
    True
    """
    line = code.partition("\n")[0]
    if not line.startswith(MAGIC + " ") or not len(MAGIC) < cursor <= len(line):
        return None
    start = line.rfind(" ", 0, cursor) + 1
    word = line[start:].partition(" ")[0]
    option, equals, _ = word.partition("=")
    if option.startswith("-") and (not equals or cursor <= start + len(option)):
        return _explain_option(SHORT.get(option, option))
    if not option.startswith("-"):
        option, equals = line[:start].split(" ")[-2], ""
    begin = max(start, start + len(option) + 1 if equals else start, line.rfind(",", start, cursor) + 1)
    value = line[begin:].partition(" ")[0].partition(",")[0]
    return _explain_value(SHORT.get(option, option), value)


def _explain_option(name: str) -> str | None:
    settings = OPTIONS.get(name)
    if settings is None:
        return None
    shorts = [short for short, full in SHORT.items() if full == name]
    heading = f"{', '.join([*shorts, name])} {settings.get('metavar', '')}".rstrip()
    # The help is written for argparse, which takes two of them for one.
    return f"{heading}\n    {settings['help'].replace('%%', '%')}"


def _explain_value(option: str, value: str) -> str | None:
    meanings = _MEANINGS.get(option)
    meaning = None if meanings is None else meanings().get(value)
    return None if meaning is None else f"{value}: what {option} takes\n    {meaning}"


def install(shell: Any) -> None:
    """Let the kernel of ``shell`` answer for our words too; doing it twice changes nothing, and a terminal has none."""
    kernel = getattr(shell, "kernel", None)
    if kernel is None or _ASKED in vars(kernel):
        return
    usual = kernel.do_inspect

    def do_inspect(code: str, cursor_pos: int, *arguments: Any, **keywords: Any) -> Any:
        text = explain_word(code, cursor_pos)
        if text is None:
            return usual(code, cursor_pos, *arguments, **keywords)
        return {"status": "ok", "found": True, "data": {"text/plain": text}, "metadata": {}}

    kernel.do_inspect = do_inspect


def uninstall(shell: Any) -> None:
    """Let the kernel of ``shell`` answer alone again."""
    kernel = getattr(shell, "kernel", None)
    if kernel is not None:
        vars(kernel).pop(_ASKED, None)

"""Tab on the line of ``%%polyopt``: options, and the values of those that have a fixed set; on that of ``%%polycheck``:
the exercises."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from IPython.core.completer import CompletionContext, SimpleCompletion, SimpleMatcherResult, context_matcher

from polyviz.model.program import CONTRACTS
from polyviz.model.techniques import techniques
from polyviz.notebook.options import SHOWN
from polyviz.notebook.words import OPTIONS, SHORT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

MAGIC = "%%polyopt"
CHECK = "%%polycheck"
HINT = "--hint"

def _schedules() -> Iterable[str]:
    from polyviz.scheduling import schedulers

    return schedulers()


def _targets() -> Iterable[str]:
    from polyviz.api import targets

    return ("auto", *targets())


_VALUES: Mapping[str, Callable[[], Iterable[str]]] = {
    "--schedule": _schedules,
    "--target": _targets,
    "--show": lambda: SHOWN,
    "--without": techniques,
    "--contract": lambda: CONTRACTS,
}
OPTION = "option"
_KINDS = {
    "--schedule": "scheduler",
    "--target": "target",
    "--show": "view",
    "--without": "technique",
    "--contract": "contract",
}
"""What the menu of completions says beside a value of an option."""
_NOTHING: SimpleMatcherResult = {"completions": []}


def _exercises() -> list[str]:
    from polyviz.exercises import names

    return names()


def complete_line(text: str) -> tuple[str, list[str]] | None:
    """The unfinished word at the end of a magic line, and what it can become; None when it is none of our business.

    >>> complete_line("%%polyopt --sh")
    ('--sh', ['--show'])
    >>> complete_line("%%polyopt --show s")
    ('s', ['source', 'schedule'])
    >>> complete_line("x = 1") is None
    True
    """
    if text.startswith(CHECK + " "):
        return _complete_check(text)
    if not text.startswith(MAGIC + " "):
        return None
    word = text.removeprefix(MAGIC).lstrip(" ").split(" ")[-1]
    _, equals, value = word.partition("=")
    value = value if equals else word
    values = _VALUES.get(_option(text))
    if values is None or (value.startswith("-") and not equals):
        return (word, _beginning(word, OPTIONS)) if word.startswith("-") or not word else (word, [])
    chosen, _, last = value.rpartition(",")
    taken = chosen.split(",")
    return last, _beginning(last, [name for name in values() if name not in taken])


def _option(text: str) -> str:
    """The long name of the option whose value is being written at the end of ``text``, if it is one."""
    *before, word = text.removeprefix(MAGIC).lstrip(" ").split(" ")
    option, equals, _ = word.partition("=")
    told = option if equals else next((item for item in reversed(before) if item), "")
    return SHORT.get(told, told)


def _complete_check(text: str) -> tuple[str, list[str]]:
    """The name of an exercise, or behind one the wish for a hint."""
    *before, word = text.removeprefix(CHECK).lstrip(" ").split(" ")
    named = any(item and not item.startswith("-") for item in before)
    offered = [] if named else _exercises()
    return word, _beginning(word, [*offered, *([] if HINT in before else [HINT])])


def _beginning(word: str, names: Iterable[str]) -> list[str]:
    return [name for name in names if name.startswith(word)]


def _match(context: CompletionContext) -> SimpleMatcherResult:
    """IPython's matcher (API version 2); it speaks only on the first line of a cell with one of our magics."""
    if context.cursor_line != 0:
        return _NOTHING
    found = complete_line(context.text_until_cursor)
    if found is None:
        return _NOTHING
    fragment, names = found
    kind = _KINDS.get(_option(context.text_until_cursor), "exercise")
    completions = [SimpleCompletion(text=name, type=OPTION if name.startswith("-") else kind) for name in names]
    return {"completions": completions, "matched_fragment": fragment, "suppress": True, "ordered": True}


polyopt_matcher: Any = context_matcher()(_match)
"""What IPython asks: our matcher, marked as one of version 2 of its interface."""


def install(shell: Any) -> None:
    """Let ``shell`` ask our matcher; doing it twice changes nothing."""
    matchers = shell.Completer.custom_matchers
    if polyopt_matcher not in matchers:
        matchers.append(polyopt_matcher)


def uninstall(shell: Any) -> None:
    """Take our matcher out of ``shell`` again."""
    matchers = shell.Completer.custom_matchers
    if polyopt_matcher in matchers:
        matchers.remove(polyopt_matcher)

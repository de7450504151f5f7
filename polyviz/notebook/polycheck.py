"""What ``%%polycheck`` does with a cell: the answer judged, hints by degrees, never an exception."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from polyviz.errors import OptionError, PolyvizError
from polyviz.exercises import find, names

if TYPE_CHECKING:
    from collections.abc import MutableMapping

    from polyviz.exercises import Attempt

USAGE = "%%polycheck takes the name of an exercise, and --hint to see the next hint."


@dataclass(slots=True)
class Effort:
    """What a student has used so far on one exercise."""

    attempts: int = 0
    hints: int = 0


def check_cell(
    efforts: dict[str, Effort], line: str, body: str, namespace: MutableMapping[str, Any]
) -> Attempt | None:
    """The attempt that the cell makes; a mistake on the line is printed, so that the cells below still run."""
    if line.split() in (["--help"], ["-h"]):
        print(f"{USAGE} The exercises: {', '.join(names())}.")
        return None
    try:
        name, wants_hint = read_line(line)
        exercise = find(name)
    except PolyvizError as error:
        print(error)
        return None
    effort = efforts.setdefault(name, Effort())
    if wants_hint:
        effort.hints = min(effort.hints + 1, len(exercise.hints))
    attempt = exercise.attempt(body, namespace, effort.hints)
    effort.attempts += not attempt.is_blank
    return replace(attempt, number=effort.attempts)


def read_line(line: str) -> tuple[str, bool]:
    """The name of the exercise and whether a hint is asked for; raises OptionError for anything else.

    >>> read_line("triangle --hint")
    ('triangle', True)
    """
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise OptionError(f"{USAGE} The line cannot be read: {str(error).lower()}.") from None
    names = [word for word in words if not word.startswith("-")]
    strange = [word for word in words if word.startswith("-") and word != "--hint"]
    if strange or len(names) != 1:
        given = f" Unknown here is {(strange or names[1:])[0]!r}." if strange or names else ""
        raise OptionError(f"{USAGE}{given}")
    return names[0], "--hint" in words

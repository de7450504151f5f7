"""A goal: a sentence that states what is asked for, and the exact judgement of an answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from polyviz.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Callable

    from polyviz.exercises.answer import Answer


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a goal is met, and what was found, in a sentence; ``met`` is None where it could not be looked at."""

    met: bool | None
    found: str = ""


@dataclass(frozen=True, slots=True)
class Goal:
    """A property of the answer: ``text`` states it, ``judge`` decides it.

    A goal holds no answer, so there is none to leak. One of your own takes two lines:

    >>> short = Goal("at most two moves", lambda answer: Verdict(answer.text.count("\\\\n") <= 3))
    >>> print(short)
    at most two moves
    """

    text: str
    judge: Callable[[Answer], Verdict]

    def __str__(self) -> str:
        return self.text


UNSEEN = Verdict(None, "Not looked at: the order is not legal.")


def counted(value: object, question: str, example: str) -> None:
    """Raises OptionError unless ``value`` answers the ``question`` how many: a teacher is to hear it, not the class."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise OptionError(f"{question}, 1 or more, not {value!r}: write {example}, say.")

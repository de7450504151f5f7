"""Where exercises are found by name: those made in this process, and those of the course."""

from __future__ import annotations

import runpy
from importlib import import_module
from typing import TYPE_CHECKING

from polyviz.errors import OptionError
from polyviz.exercises.exercise import KNOWN
from polyviz.model.registry import near

if TYPE_CHECKING:
    from pathlib import Path

    from polyviz.exercises.exercise import Exercise

COURSE = "polyviz.exercises.course"
"""The module that sets the exercises of the notebooks."""


def find(name: str) -> Exercise:
    """The exercise called ``name``; raises OptionError when there is none.

    >>> find("first-interchange").name
    'first-interchange'
    """
    if name not in KNOWN:
        course()
    if name not in KNOWN:
        raise OptionError(
            f"There is no exercise `{name}`{near(name, KNOWN)}: run the cell that sets it first."
            if name
            else "%%polycheck needs the name of an exercise."
        )
    return KNOWN[name]


def course() -> tuple[str, ...]:
    """The names of the exercises of the course; one that the notebook has set under the same name stays."""
    before = dict(KNOWN)
    names = tuple(import_module(COURSE).NAMES)
    KNOWN.update(before)
    return names


def names() -> list[str]:
    """Every exercise that can be answered here, those of the notebook and of the course.

    >>> "first-interchange" in names()
    True
    """
    course()
    return sorted(KNOWN)


def load(path: Path) -> tuple[str, ...]:
    """Run a teacher's Python file, and give the names of the exercises it sets, in their order.

    Raises OptionError where it is no such file, cannot be run, or sets nothing.
    """
    if path.suffix != ".py":
        raise OptionError(
            f"{path} is no Python file.",
            hint="Put the lines that set the exercises into a file of their own that ends in .py.",
        )
    course()
    before = dict(KNOWN)
    try:
        runpy.run_path(str(path))
    except Exception as error:
        raise OptionError(f"{path} stopped with {type(error).__name__}: {error}") from error
    made = tuple(name for name, exercise in KNOWN.items() if before.get(name) is not exercise)
    if not made:
        raise OptionError(f"{path} sets no exercise.", hint='Set one with pv.exercise("name", loops, goals).')
    return made

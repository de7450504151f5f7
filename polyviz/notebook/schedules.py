"""What ``-s`` may name: schedulers, schedules that the notebook holds, and isl maps written on the line."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import islpy as isl

from polyviz.errors import OptionError
from polyviz.model.schedule import Schedule
from polyviz.notebook.words import IN_QUOTES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from polyviz.api.building import ScheduleChoice

_OPENING, _CLOSING = "{[(", "}])"


def read_schedules(text: str, namespace: Mapping[str, Any]) -> dict[str, ScheduleChoice]:
    """The schedules of a comma-separated list under the names that tables show, in the order given.

    Raises OptionError, one line, for what is neither a scheduler, nor isl text, nor a schedule of the notebook.

    >>> read_schedules("isl, { S0[i, j] -> [j, i] }", {})
    {'isl': 'isl', 'user': '{ S0[i, j] -> [j, i] }'}
    """
    from polyviz.scheduling import schedulers

    known = list(schedulers())
    chosen: dict[str, ScheduleChoice] = {}
    for part in split_outside_brackets(text):
        if "{" in part:
            chosen[_fresh("user", chosen)] = _balanced(part)
        else:
            chosen[part] = part if part in known else _of_notebook(part, namespace, known)
    if not chosen:
        raise OptionError(f"--schedule needs a name: one of {', '.join(known)}.")
    return chosen


def split_outside_brackets(text: str) -> list[str]:
    """The parts of a list; commas inside brackets separate nothing.

    >>> split_outside_brackets("isl, { S[i, j] -> [j, i] },")
    ['isl', '{ S[i, j] -> [j, i] }']
    """
    parts, depth = [""], 0
    for character in text:
        depth += (character in _OPENING) - (character in _CLOSING)
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts if part.strip()]


def schedule_of(value: object) -> ScheduleChoice | None:
    """The schedule that an object of the notebook is or holds as ``.schedule``; None when there is none."""
    for candidate in (value, getattr(value, "schedule", None)):
        if isinstance(candidate, Schedule | isl.Schedule | isl.UnionMap):
            return candidate
        if isinstance(candidate, isl.Map):
            return candidate.to_union_map()
    return value if isinstance(value, str) and "{" in value else None


def _of_notebook(name: str, namespace: Mapping[str, Any], known: Iterable[str]) -> ScheduleChoice:
    if name in namespace:
        found = schedule_of(namespace[name])
        if found is not None:
            return found
        kind = type(namespace[name]).__name__
        raise OptionError(
            f"{name!r} in the notebook is no schedule (it is of type {kind}), and no scheduler."
        )
    names = [
        *known,
        *(own for own, value in namespace.items() if _is_shown(own) and schedule_of(value) is not None),
    ]
    near = get_close_matches(name, names, 1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(names)}."
    raise OptionError(f"Unknown schedule {name!r}: {hint}")


def _is_shown(name: str) -> bool:
    """Whether a person gave the name: IPython keeps earlier results under names with underscores."""
    return not name.startswith("_")


def _balanced(text: str) -> str:
    if all(text.count(one) == text.count(other) for one, other in zip(_OPENING, _CLOSING, strict=True)):
        return text
    raise OptionError(f"The brackets of {text!r} do not match; {IN_QUOTES}")


def _fresh(name: str, taken: Mapping[str, object]) -> str:
    number, candidate = 2, name
    while candidate in taken:
        candidate, number = f"{name} {number}", number + 1
    return candidate

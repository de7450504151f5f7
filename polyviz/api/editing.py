"""Schedules edited by hand: where an edit begins, and the scripts that make it again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import islpy as isl

from polyviz.analysis import dependences as find_dependences
from polyviz.api.building import choose_schedule
from polyviz.api.extracting import part_of
from polyviz.editing import Edit, Steps, recover_steps, replay_lines, start_edit
from polyviz.editing.script import START, read_script
from polyviz.errors import OptionError
from polyviz.model.exclusion import exclusive
from polyviz.model.schedule import Schedule
from polyviz.model.superposition import Superposition

if TYPE_CHECKING:
    from collections.abc import Mapping

    from polyviz.api.building import ScheduleChoice
    from polyviz.model.dependences import Dependences
    from polyviz.model.scop import Scop


@exclusive
def edit(
    source: object,
    schedule: ScheduleChoice = "original",
    *,
    namespace: Mapping[str, Any] | None = None,
    **options: Any,
) -> Edit:
    """An edit of a schedule of ``source``: a part, a function, text or a kernel.

    ``schedule`` and ``options`` are those of ``compile``; the edit begins with that order. Raises what ``extract`` and
    ``compile`` raise.

    >>> loops = "def f(A):\\n    for i in range(9):\\n        for j in range(9):\\n            A[i, j] += 1"
    >>> changed = edit(loops).apply("interchange", order=("j", "i")).apply("tile", at="j", sizes=(8, 8))
    >>> print(changed.script(), end="")
    schedule("original")
    interchange(order=("j", "i"))
    tile(at="j", sizes=(8, 8))
    >>> changed.loops
    ('j_tile', 'i_tile', 'j', 'i')
    """
    return _begun(part_of(source, namespace=namespace), None, schedule, options)


def _begun(
    scop: Scop, found: Dependences | None, schedule: ScheduleChoice, options: Mapping[str, Any]
) -> Edit:
    known = found if found is not None else find_dependences(scop)
    start = choose_schedule(scop, known, schedule, options)
    return start_edit(scop, start, {START: _spoken(schedule), **options}, known)


def _spoken(schedule: ScheduleChoice) -> str:
    if isinstance(schedule, Edit):
        schedule = schedule.schedule
    if isinstance(schedule, Schedule | Superposition):
        return str(schedule.tree)
    return str(schedule) if isinstance(schedule, isl.Schedule | isl.UnionMap) else schedule


@exclusive
def replay(source: object, script: str, *, namespace: Mapping[str, Any] | None = None) -> Edit:
    """The edit of ``source`` that ``script``, the result of ``Edit.script``, describes; every move is checked again.

    Raises ``OptionError`` for what is no script, and what a move raises, with the line.
    """
    return replay_on(part_of(source, namespace=namespace), None, script)


def replay_on(scop: Scop, known: Dependences | None, script: str) -> Edit:
    """The same for a part with its dependences, where they are known."""
    calls = list(read_script(script))
    if not calls or calls[0].name != START or len(calls[0].positional) != 1:
        raise OptionError(f'A script begins with the schedule to start from, such as {START}("original").')
    begun = _begun(scop, known, calls[0].positional[0], calls[0].arguments)
    return replay_lines(begun, calls[1:])


@exclusive
def steps(
    source: object,
    schedule: ScheduleChoice = "pluto",
    *,
    namespace: Mapping[str, Any] | None = None,
    **options: Any,
) -> Steps:
    """The order of ``schedule`` as named moves from the original order of ``source``.

    ``schedule`` and ``options`` are those of ``compile``. Raises what ``extract`` and ``compile`` raise.

    >>> loops = "def f(A):\\n    for i in range(9):\\n        for j in range(9):\\n            A[i, j] += 1"
    >>> print(steps(loops, "{ S0[i, j] -> [j, -i] }"))
    From the original order to user: 2 moves
      1. interchange(order=("j", "i"))
      2. reversal(at="i")
    """
    scop = part_of(source, namespace=namespace)
    known = find_dependences(scop)
    return recover_steps(scop, known, choose_schedule(scop, known, schedule, options))

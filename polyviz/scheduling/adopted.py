"""Schedules that the user wrote: an isl tree, map or text, checked and described like any other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import islpy as isl

from polyviz.analysis import check
from polyviz.analysis import dependences as find_dependences
from polyviz.analysis.schedule_input import schedule_times
from polyviz.errors import LegalityError
from polyviz.model.schedule import Decision, Schedule
from polyviz.scheduling.described import described
from polyviz.scheduling.problem import SchedulingProblem

if TYPE_CHECKING:
    from polyviz.model.dependences import Dependences
    from polyviz.model.scop import Scop

NAME = "user"


def adopt(
    scop: Scop, choice: isl.Schedule | isl.UnionMap | str, *, dependences: Dependences | None = None
) -> Schedule:
    """``choice`` as a schedule named ``user``.

    A map becomes one band whose members are the dimensions of its time space. Raises ``LegalityError``, with a pair
    of instances, when the order would change the result, or when ``choice`` is no schedule of the part.
    """
    problem = SchedulingProblem(scop, dependences if dependences is not None else find_dependences(scop))
    legality = check(scop, choice, known=problem.dependences)
    if not legality:
        raise LegalityError(
            "This schedule would change the result.", reason=legality.violations[0].explanation
        )
    tree = choice if isinstance(choice, isl.Schedule) else _tree(scop, choice)
    statements = tuple(statement.name for statement in scop.statements)
    decision = Decision("user", "The order was given by the user and found legal.", statements)
    return described(problem, NAME, tree, (decision,))


def _tree(scop: Scop, choice: isl.UnionMap | str) -> isl.Schedule:
    if isinstance(choice, str) and "domain" in choice.split("{", 1)[1][:12]:
        return isl.Schedule(choice)
    times = isl.UnionMap.empty(scop.context.get_space())
    for time in schedule_times(scop, choice).values():
        times = times.union(isl.UnionMap.from_map(time))
    rows = isl.MultiUnionPwAff.from_union_map(times)
    return isl.Schedule.from_domain(scop.domain).insert_partial_schedule(rows)

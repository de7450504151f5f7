"""Schedules that the user wrote: an isl tree, map or text, checked and described like any other."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from polyviz.analysis import check, check_superposition
from polyviz.analysis import dependences as find_dependences
from polyviz.errors import LegalityError
from polyviz.model.plan import PARALLEL, TARGET_MARKS, UNROLL, VECTOR
from polyviz.model.schedule import Decision, Schedule
from polyviz.model.superposition import Superposition
from polyviz.scheduling.described import described
from polyviz.scheduling.problem import SchedulingProblem
from polyviz.scheduling.written import written_tree
from polyviz.transform.proof import promises
from polyviz.transform.tree import kind_of, walk

if TYPE_CHECKING:
    import islpy as isl

    from polyviz.model.dependences import Dependences
    from polyviz.model.scop import Scop

NAME = "user"


def adopt(
    scop: Scop,
    choice: Schedule | Superposition | isl.Schedule | isl.UnionMap | str,
    *,
    dependences: Dependences | None = None,
) -> Schedule:
    """``choice`` as a schedule of ``scop``, which it was perhaps not made for; one without a name is called ``user``.

    The times of a map become loops, and sequences where they are mere numbers. Raises ``LegalityError``, with a pair
    of instances, when the order would change the result, or when ``choice`` is no schedule of the part.
    """
    problem = SchedulingProblem(scop, dependences if dependences is not None else find_dependences(scop))
    if isinstance(choice, Superposition):
        return _superposed(problem, choice)
    legality = check(scop, choice, known=problem.dependences)
    if not legality:
        raise LegalityError(
            "This schedule would change the result.", reason=legality.violations[0].explanation
        )
    if isinstance(choice, Schedule) and _covers(choice.tree, scop):
        _insist_on_promises(problem, choice.tree)
        return choice
    name = choice.scheduler if isinstance(choice, Schedule) else NAME
    tree = choice.tree if isinstance(choice, Schedule) else written_tree(scop, choice)
    tree = _without_orders(tree).intersect_domain(scop.domain)
    _insist_on_promises(problem, tree)
    statements = tuple(statement.name for statement in scop.statements)
    decision = Decision("user", "The order was given by the user and found legal.", statements)
    adopted = described(problem, name, tree, (decision,))
    by_hand = isinstance(choice, Schedule) and choice.by_hand
    return replace(adopted, by_hand=by_hand or any(map(_is_wish, walk(tree))))


def _superposed(problem: SchedulingProblem, choice: Superposition) -> Schedule:
    legality = check_superposition(problem.scop, choice, known=problem.dependences)
    failed = next((condition for condition in legality.conditions if condition.witness is not None), None)
    if failed is not None and failed.witness is not None:
        raise LegalityError(
            f"This superposition is not legal: it is asked that {failed.asks}.",
            reason=failed.witness.explanation,
            hint="Its order alone, without blocks and threads, is `.tree`.",
        )
    decision = Decision(
        "user", "Blocks and threads were given by the user and found legal.", tuple(choice.outer)
    )
    return replace(described(problem, NAME, choice.tree, (decision,)), superposition=choice)


def _insist_on_promises(problem: SchedulingProblem, tree: isl.Schedule) -> None:
    """What is marked parallel or vector must be so: nobody's word is taken for it."""
    for promise in promises(problem.scop, problem.dependences, tree):
        if not promise.is_kept:
            raise LegalityError(
                f"The schedule marks a loop `{promise.mark}` that must not run so.",
                reason=promise.reason,
                hint="Leave the mark out, or mark another loop.",
            )


def _covers(tree: isl.Schedule, scop: Scop) -> bool:
    """Whether ``tree`` orders exactly the instances of ``scop``."""
    instances = scop.domain.intersect_params(scop.context)
    return bool(tree.get_domain().intersect_params(scop.context).is_equal(instances))


def _without_orders(tree: isl.Schedule) -> isl.Schedule:
    """``tree`` without the marks that only a target sets; those that a person may write stay, to be proven.

    Raises ``LegalityError`` for nodes that add instances or leave some out, which no check of the order would notice.
    """
    for node in walk(tree):
        if kind_of(node) not in _ORDERING_NODES:
            raise LegalityError(
                f"A schedule tree may hold no {kind_of(node)} node.",
                reason="It changes which instances run, not only their order.",
            )
    while True:
        marked = next((node for node in walk(tree) if kind_of(node) == "mark" and _is_order(node)), None)
        if marked is None:
            return tree
        tree = marked.delete().get_schedule()


_ORDERING_NODES = ("domain", "band", "sequence", "set", "filter", "mark", "leaf")


def _is_order(mark: isl.ScheduleNode) -> bool:
    name = mark.mark_get_id().get_name()
    return name.partition(":")[0] in TARGET_MARKS and not _is_wish(mark)


def _is_wish(node: isl.ScheduleNode) -> bool:
    """A mark by which a person says how a loop is to run."""
    if kind_of(node) != "mark":
        return False
    name, _, ending = node.mark_get_id().get_name().partition(":")
    return (name in (PARALLEL, VECTOR) and not ending) or (
        name == UNROLL and ending.isdecimal() and int(ending) > 1
    )

"""The goals that a teacher puts together: legal, parallel, tiled, vector, an iteration domain, distances."""

from __future__ import annotations

from typing import TYPE_CHECKING

import islpy as isl

from polyviz.analysis import parallelism
from polyviz.analysis.witness import parameters_text, smallest_instance
from polyviz.editing import start_edit
from polyviz.editing.script import START
from polyviz.errors import OptionError
from polyviz.exercises.goal import UNSEEN, Goal, Verdict
from polyviz.exercises.running import agreement
from polyviz.model.plan import VECTOR
from polyviz.model.registry import near
from polyviz.transform.proof import promises
from polyviz.views.instances import integer_points

if TYPE_CHECKING:
    from polyviz.exercises.answer import Answer
    from polyviz.model.dependences import LoopParallelism

_SET = isl.dim_type.set
_PARAMETER = isl.dim_type.param


def legal() -> Goal:
    """Every dependence is respected.

    An order is proven for all sizes; loops written anew are run beside the given ones, on random data of a small size.
    """
    return Goal("legal", _legal)


def _legal(answer: Answer) -> Verdict:
    if answer.kind == "loops" and answer.given is not None:
        return agreement(answer)
    if not answer.legality:
        return Verdict(False, answer.legality.violations[0].explanation)
    return Verdict(True, "Every dependence is respected, for all sizes.")


def parallel(loop: str = "outermost") -> Goal:
    """The loop at the address ``loop`` may run its iterations in any order.

    ``outermost``, the default, means every loop without a loop around it, ``innermost`` without one inside.
    """
    named = f"every {loop} loop" if loop in ("outermost", "innermost") else f"the loop `{loop}`"
    return Goal(f"{named} is parallel", lambda answer: _parallel(answer, loop))


def _parallel(answer: Answer, address: str) -> Verdict:
    if answer.schedule is None:
        return UNSEEN
    loops = _loops(answer)
    if address == "outermost":
        asked = [loop for loop in loops.values() if loop.depth == 0]
    elif address == "innermost":
        asked = _innermost(list(loops.values()))
    elif address in loops:
        asked = [loops[address]]
    else:
        return Verdict(
            False, f"There is no loop `{address}`{near(address, loops)}; there are {', '.join(loops)}."
        )
    wrong = [loop for loop in asked if not loop.parallel]
    return Verdict(not wrong, wrong[0].explanation if wrong else _praise(asked))


def _innermost(loops: list[LoopParallelism]) -> list[LoopParallelism]:
    """The loops after which, outermost first, none follows that is deeper."""
    following = [*(loop.depth for loop in loops[1:]), 0]
    return [loop for loop, depth in zip(loops, following, strict=True) if depth <= loop.depth]


def _praise(loops: list[LoopParallelism]) -> str:
    return loops[0].explanation if loops else "There is no loop at all."


def _loops(answer: Answer) -> dict[str, LoopParallelism]:
    """What is known of every loop of the answer, by its address."""
    assert answer.schedule is not None
    edit = start_edit(answer.scop, answer.schedule, {START: "original"}, answer.dependences)
    found = parallelism(answer.scop, answer.dependences, answer.schedule.tree)
    return dict(zip(edit.loops, found, strict=True))


def tiled(loops: int = 2) -> Goal:
    """At least so many ``loops`` of one nest are tiled."""
    return Goal(f"at least {loops} loops of a nest are tiled", lambda answer: _tiled(answer, loops))


def _tiled(answer: Answer, loops: int) -> Verdict:
    if answer.schedule is None:
        return UNSEEN
    if answer.kind == "loops":
        return Verdict(False, "Tiles are asked of an order: answer with moves or with isl.")
    most = max(
        (sum(member.role == "tile" for member in band.members) for band in answer.schedule.bands), default=0
    )
    return Verdict(most >= loops, f"The deepest nest of tile loops has {most}.")


def vector() -> Goal:
    """A loop is marked for vector lanes; the move `vector` makes the mark, and proves that it may."""
    return Goal("a loop runs in vector lanes", _vector)


def _vector(answer: Answer) -> Verdict:
    if answer.schedule is None:
        return UNSEEN
    found = promises(answer.scop, answer.dependences, answer.schedule.tree)
    kept = any(one.is_kept and one.mark.partition(":")[0] == VECTOR for one in found)
    return Verdict(kept, "A loop is marked `vector`." if kept else "No loop is marked `vector`.")


def domain(points: str) -> Goal:
    """The loops run exactly once for every one of these ``points``, an isl set such as ``[n] -> { [i] : 0 <= i < n }``.

    Raises OptionError where ``points`` is no set. All statements together are looked at.
    """
    wanted = _set(points)
    return Goal(f"the iteration domain is {points}", lambda answer: _domain(answer, wanted))


def _set(points: str) -> isl.Set:
    try:
        return isl.Set(points)
    except isl.Error as error:
        raise OptionError(f"The points of the goal are no isl set: {points!r}.") from error


def _domain(answer: Answer, wanted: isl.Set) -> Verdict:
    if len(answer.scop.statements) != 1:
        return Verdict(False, "The loops hold several statements, and one is asked for.")
    [statement] = answer.scop.statements
    found = statement.domain.intersect_params(answer.scop.context).reset_tuple_id()
    if found.dim(_SET) != wanted.dim(_SET):
        return Verdict(
            False, f"The loops are {found.dim(_SET)} deep, the points have {wanted.dim(_SET)} coordinates."
        )
    for missing, sentence in (
        (wanted.subtract(found), "{} should run and does not{}."),
        (found.subtract(wanted), "{} runs and should not{}."),
    ):
        if not missing.is_empty():
            return Verdict(False, _example(missing, sentence))
    return Verdict(True, "Exactly these points, for all sizes.")


def _example(points: isl.Set, sentence: str) -> str:
    parameters, instance = smallest_instance(points)
    return sentence.format(f"({', '.join(map(str, instance))})", parameters_text(parameters))


def distances(*vectors: tuple[int, ...]) -> Goal:
    """The values flow over exactly these distance ``vectors``, from the iteration that writes to the one that reads."""
    stated = ", ".join(map(str, vectors))
    return Goal(
        f"values flow over exactly the distances {stated}", lambda answer: _distances(answer, set(vectors))
    )


def _distances(answer: Answer, wanted: set[tuple[int, ...]]) -> Verdict:
    found: set[tuple[int, ...]] = set()
    for dependence in answer.dependences.relations:
        if dependence.kind == "flow" and dependence.source == dependence.sink:
            vectors = _vectors(dependence.relation.deltas())
            if vectors is None:
                return Verdict(False, "The distance between writing and reading is not always the same.")
            found |= vectors
    spoken = ", ".join(map(str, sorted(found))) or "none"
    return Verdict(found == wanted, f"The distances are {spoken}.")


def _vectors(deltas: isl.Set) -> set[tuple[int, ...]] | None:
    """The vectors of ``deltas`` whatever the parameters are; None when their number has no bound."""
    plain = deltas.project_out(_PARAMETER, 0, deltas.dim(_PARAMETER)).coalesce()
    return set(integer_points(plain)[0]) if plain.is_bounded() else None

"""The goals that a teacher puts together: legal, parallel, tiled, vector, an iteration domain, distances."""

from __future__ import annotations

from typing import TYPE_CHECKING

import islpy as isl

from polyviz.analysis import parallelism
from polyviz.analysis.witness import parameters_text, smallest_instance
from polyviz.editing import start_edit
from polyviz.editing.script import START
from polyviz.errors import OptionError
from polyviz.exercises.goal import UNSEEN, Goal, Verdict, counted
from polyviz.exercises.nests import repeats, tiled_together
from polyviz.exercises.running import agreement
from polyviz.model.expression import Assign
from polyviz.model.plan import VECTOR
from polyviz.model.registry import near
from polyviz.model.words import plural
from polyviz.transform.proof import promises
from polyviz.views.instances import integer_points

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from polyviz.exercises.answer import Answer
    from polyviz.model.dependences import LoopParallelism
    from polyviz.model.schedule import Schedule
    from polyviz.model.scop import Scop, Statement

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

    ``outermost``, the default, means every loop without a loop around it, ``innermost`` without one inside. A loop that
    never has more than one iteration is none: everything could be made parallel by wrapping it into such a loop.
    Raises OptionError for what is no text.
    """
    if not isinstance(loop, str):
        raise OptionError(f"A loop is named by text, not {loop!r}: write parallel('outermost') or parallel('i'), say.")
    named = f"every {loop} loop" if loop in _ENDS else f"the loop `{loop}`"
    return Goal(f"{named} is parallel", lambda answer: _parallel(answer, loop))


def _parallel(answer: Answer, address: str) -> Verdict:
    if answer.schedule is None:
        return UNSEEN
    loops, real = _loops(answer, answer.schedule), repeats(answer, answer.schedule)
    asked = _asked(loops, real, address)
    if not asked:
        lone = f"The loop `{address}` never has more than one iteration."
        absent = f"There is no loop `{address}`{near(address, loops)}; there are {', '.join(loops)}."
        general = "There is no loop with more than one iteration."
        return Verdict(False, general if address in _ENDS else lone if address in loops else absent)
    wrong = [loop for loop in asked if not loop.parallel]
    found = f"{(wrong or asked)[0].explanation}."
    lone = "" if all(real) or not wrong else " A loop that never has more than one iteration does not count."
    return Verdict(not wrong, found + lone)


_ENDS = ("outermost", "innermost")


def _asked(loops: dict[str, LoopParallelism], real: list[bool], address: str) -> list[LoopParallelism]:
    """The loops that ``address`` speaks of, among those that are ``real``: run more than once."""
    every = list(loops.values())
    inside = [set(_inside(every, place)) for place in range(len(every))]
    numbers = {place for place, counts in enumerate(real) if counts}
    if address == "outermost":
        found = numbers.difference(*(inside[place] for place in numbers))
    elif address == "innermost":
        found = {place for place in numbers if not inside[place] & numbers}
    else:
        found = {place for place in numbers if list(loops)[place] == address}
    return [every[place] for place in sorted(found)]


def _inside(loops: list[LoopParallelism], place: int) -> Iterator[int]:
    """The numbers of the loops inside the one at ``place``, of ``loops`` in depth-first order."""
    for number in range(place + 1, len(loops)):
        if loops[number].depth <= loops[place].depth:
            return
        yield number


def _loops(answer: Answer, schedule: Schedule) -> dict[str, LoopParallelism]:
    """What is known of every loop of the answer, by its address."""
    edit = start_edit(answer.scop, schedule, {START: "original"}, answer.dependences)
    found = parallelism(answer.scop, answer.dependences, schedule.tree)
    return dict(zip(edit.loops, found, strict=True))


def tiled(loops: int = 2) -> Goal:
    """At least so many ``loops`` of one nest are tiled together, in tiles of more than one iteration.

    Moves, a map and loops written anew are judged alike. How large the tiles are is not asked: ``at_most`` does that.
    Raises OptionError for what is no number of loops.
    """
    counted(loops, "tiled asks how many loops are tiled together", "tiled(2)")
    return Goal(f"at least {plural(loops, 'loop')} of one nest tiled", lambda answer: _tiled(answer, loops))


def _tiled(answer: Answer, loops: int) -> Verdict:
    if answer.schedule is None:
        return UNSEEN
    most = tiled_together(answer, answer.schedule)
    return Verdict(most >= loops, f"Tiled together: {plural(most, 'loop')}.")


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

    Raises OptionError where ``points`` is no set. The loops hold one statement. Its coordinates are the loops of the
    same names, in whatever order they stand; where the names are others, the loops from the outermost to the innermost.
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
    problem = _unclear(answer.scop, statement, wanted)
    if problem:
        return Verdict(False, problem)
    wanted = _by_name(wanted, statement.iterators)
    found = statement.domain.intersect_params(answer.scop.context).reset_tuple_id()
    for missing, sentence in (
        (wanted.subtract(found), "{} should run and does not{}."),
        (found.subtract(wanted), "{} runs and should not{}."),
    ):
        if not missing.is_empty():
            return Verdict(False, _example(missing, statement.iterators, sentence))
    return Verdict(True, "Exactly these points, for all sizes.")


def _by_name(wanted: isl.Set, iterators: tuple[str, ...]) -> isl.Set:
    """``wanted`` with its coordinates in the order of the loops that bear their names, or as it is."""
    names = [wanted.get_dim_name(_SET, place) or "" for place in range(wanted.dim(_SET))]
    if sorted(names) != sorted(iterators):
        return wanted
    turned = isl.Map.universe(wanted.get_space().map_from_set())
    for place, name in enumerate(names):
        turned = turned.equate(isl.dim_type.in_, place, isl.dim_type.out, iterators.index(name))
    return wanted.apply(turned)


def _unclear(scop: Scop, statement: Statement, wanted: isl.Set) -> str:
    """Why the points of the loops cannot be compared with those that are ``wanted``; empty where they can."""
    depth, coordinates = statement.domain.dim(_SET), wanted.dim(_SET)
    if depth != coordinates:
        return f"The loops are {depth} deep, the points have {coordinates} coordinates."
    if any(not isinstance(step, Assign) for step in statement.body):
        return "Whether the statement runs depends on data, so nobody knows at which points it does."
    theirs, ours = (_sizes_in(points) for points in (statement.domain, wanted))
    strange = [parameter for parameter in scop.parameters if parameter.name in theirs - ours]
    if strange:
        source = strange[0].source
        name = f"{source.name}.shape[{source.axis}]" if source.kind == "shape" else strange[0].name
        called = f"those here on {', '.join(sorted(ours))} only" if ours else "those here on no size"
        return f"The loops depend on `{name}`, {called}."
    return ""


def _sizes_in(points: isl.Set) -> set[str]:
    """The parameters that the constraints of ``points`` speak of."""
    return {
        str(points.get_dim_name(_PARAMETER, axis))
        for axis in range(points.dim(_PARAMETER))
        if points.involves_dims(_PARAMETER, axis, 1)
    }


def _example(points: isl.Set, iterators: tuple[str, ...], sentence: str) -> str:
    parameters, instance = smallest_instance(points)
    values = ", ".join(f"{name} = {value}" for name, value in zip(iterators, instance, strict=True))
    return sentence.format(f"({values})", parameters_text(parameters))


def distances(*vectors: tuple[int, ...]) -> Goal:
    """The values flow over exactly these distance ``vectors``, from the iteration that writes to the one that reads.

    They flow within one statement: between two there is no distance. Raises OptionError for what is no vector.
    """
    if not vectors or not all(isinstance(vector, tuple) for vector in vectors):
        raise OptionError("Each distance is a tuple of its own: write distances((1, 0), (0, 1)), say.")
    noun = "distance" if len(vectors) == 1 else "distances"
    stated = ", ".join(map(_vector_text, vectors))
    return Goal(f"values flow over exactly the {noun} {stated}", lambda answer: _distances(answer, set(vectors)))


def _vector_text(vector: Sequence[int]) -> str:
    return f"({', '.join(map(str, vector))})"


def _distances(answer: Answer, wanted: set[tuple[int, ...]]) -> Verdict:
    found: set[tuple[int, ...]] = set()
    for dependence in answer.dependences.relations:
        if dependence.kind not in ("flow", "reduction"):
            continue
        if dependence.source != dependence.sink:
            return Verdict(False, f"Values also flow through `{dependence.array}` from one statement to another.")
        vectors = _vectors(dependence.relation.deltas())
        if vectors is None:
            return Verdict(False, "The distance between writing and reading is not always the same.")
        found |= vectors
    spoken = ", ".join(map(_vector_text, sorted(found)))
    if len(found) > 1:
        return Verdict(found == wanted, f"The distances are {spoken}.")
    sentence = f"The distance is {spoken}." if found else "No value flows from one iteration to another."
    return Verdict(found == wanted, sentence)


def _vectors(deltas: isl.Set) -> set[tuple[int, ...]] | None:
    """The vectors of ``deltas`` whatever the parameters are; None when their number has no bound."""
    plain = deltas.project_out(_PARAMETER, 0, deltas.dim(_PARAMETER)).coalesce()
    return set(integer_points(plain)[0]) if plain.is_bounded() else None

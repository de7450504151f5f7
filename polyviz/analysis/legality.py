"""Is a schedule legal? Exactly, and with the smallest counterexample where it is not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import islpy as isl

from polyviz.analysis.dependences import dependences
from polyviz.analysis.loop_names import row_text
from polyviz.analysis.possible_sizes import possible_sizes
from polyviz.analysis.reductions import find_reductions, reduction_part
from polyviz.analysis.schedule_input import schedule_times
from polyviz.analysis.witness import (
    Instance,
    Pair,
    conflict_words,
    image,
    instance_text,
    parameters_text,
    smallest_pair,
    violation_of,
)
from polyviz.model.dependences import Dependence, Dependences, Legality, Violation
from polyviz.model.exclusion import exclusive
from polyviz.model.isl_limits import solved
from polyviz.model.scop import insist_on_part

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from polyviz.analysis.schedule_input import Order
    from polyviz.model.scop import Scop


_TIME = isl.dim_type.out
_Question = tuple[int, int, int]
_judged: WeakKeyDictionary[Scop, dict[_Question, _Judged]] = WeakKeyDictionary()
_KEPT = 20_000
"""Verdicts kept for a part."""


@exclusive
def check(scop: Scop, schedule: Order, *, known: Dependences | None = None) -> Legality:
    """Whether ``schedule`` executes every source of a dependence strictly before its sink.

    ``schedule`` is a :class:`Schedule` or what has one (an edit, a kernel), an ``isl.Schedule``, an ``isl.UnionMap``
    from instances to time tuples (compared lexicographically, shorter tuples padded with zeros), or the isl text of one
    of the latter two;
    ``known`` spares the dependence analysis when its result is at hand. There is at most one violation per kind,
    array and statement pair: the smallest. Raises ``LegalityError`` when the text does not parse or the schedule is
    no order of this part: an instance without a time, an instance with two times, a statement that does not exist.
    """
    insist_on_part(scop, "check")
    found = known if known is not None else dependences(scop)
    rows, judged = _rows_of(scop, schedule), _judged_before(scop)
    violations = (_violation(scop, dependence, rows, judged) for dependence in found.validity_relations)
    return Legality(tuple(violation for violation in violations if violation is not None), scop)


@exclusive
def is_legal(scop: Scop, schedule: Order, *, known: Dependences) -> bool:
    """Whether :func:`check` finds no violation; nobody looks for a counterexample, which takes longer than the answer.

    >>> import polyviz as pv
    >>> part = pv.extract("for i in range(1, n): A[i] = A[i - 1]")
    >>> [is_legal(part, f"{{ S0[i] -> [{time}] }}", known=dependences(part)) for time in ("i", "-i")]
    [True, False]
    """
    return not _breaks_some(scop, schedule, known.validity_relations)


@exclusive
def surely_keeps_order(scop: Scop, schedule: Order, needed: Iterable[Dependence]) -> bool:
    """Whether ``schedule`` runs the ends of all dependences that are ``needed`` in their order; False, too, where isl
    would take long to tell. There is no look for the counterexample."""
    return solved(lambda: _breaks_some(scop, schedule, needed)) is False


def _breaks_some(scop: Scop, schedule: Order, needed: Iterable[Dependence]) -> bool:
    rows, judged = _rows_of(scop, schedule), _judged_before(scop)
    return any(_is_broken(one, rows[one.source], rows[one.sink], judged) for one in needed)


def _rows_of(scop: Scop, schedule: Order) -> dict[str, _Rows]:
    return {name: _Rows(relation) for name, relation in schedule_times(scop, schedule).items()}


def _judged_before(scop: Scop) -> dict[_Question, _Judged]:
    judged = _judged.setdefault(scop, {})
    if len(judged) > _KEPT:
        judged.clear()
    return judged


def _violation(
    scop: Scop, dependence: Dependence, rows: Mapping[str, _Rows], judged: dict[_Question, _Judged]
) -> Violation | None:
    if not _is_broken(dependence, rows[dependence.source], rows[dependence.sink], judged):
        return None
    source, sink = rows[dependence.source].times, rows[dependence.sink].times
    reversed_pairs = dependence.relation.intersect(source.lex_ge_map(sink))
    pair = smallest_pair(reversed_pairs, possible_sizes(scop))
    source_time = image(source, pair.source, pair.parameters)
    sink_time = image(sink, pair.sink, pair.parameters)
    names = _names(rows[dependence.source], rows[dependence.sink])
    return violation_of(dependence, pair, _explanation(scop, dependence, pair, _when(source_time, sink_time, names)))


@dataclass(frozen=True, slots=True)
class _Judged:
    """Whether a dependence is broken by the times of its ends, as they were then."""

    dependence: Dependence
    source: isl.Map
    sink: isl.Map
    broken: bool

    def is_about(self, dependence: Dependence, source: isl.Map, sink: isl.Map) -> bool:
        """Whether nothing has changed since."""
        same = self.dependence is dependence and self.source.plain_is_equal(source)
        return bool(same and self.sink.plain_is_equal(sink))


def _is_broken(
    dependence: Dependence, source: _Rows, sink: _Rows, judged: dict[_Question, _Judged]
) -> bool:
    """Whether some pair runs in the wrong order; a move leaves most statements where they are, and their verdicts."""
    question = (id(dependence), source.hash, sink.hash)
    known = judged.get(question)
    if known is None or not known.is_about(dependence, source.times, sink.times):
        broken = _runs_backwards(dependence.relation, source, sink)
        known = judged[question] = _Judged(dependence, source.times, sink.times, broken)
    return known.broken


class _Rows:
    """The components of the times of a statement, each of them worked out when it is asked for."""

    def __init__(self, times: isl.Map) -> None:
        self.times = times
        self.hash = hash(times)
        self.count = times.dim(_TIME)
        self._alone: dict[int, isl.Map] = {}

    def constant(self, component: int) -> int | None:
        """The value that all instances have there, as in a sequence; None where they differ or nobody can tell."""
        value = self.times.plain_get_val_if_fixed(_TIME, component)
        return int(value.to_python()) if value.is_int() else None

    def alone(self, component: int) -> isl.Map:
        """One component of the time, as a map to one number."""
        if component not in self._alone:
            below = self.times.project_out(_TIME, component + 1, self.count - component - 1)
            self._alone[component] = below.project_out(_TIME, 0, component)
        return self._alone[component]


def _runs_backwards(pairs: isl.Map, source: _Rows, sink: _Rows) -> bool:
    """Whether some of ``pairs`` run in the wrong order, or at the same time.

    Component by component: the first one settles most pairs, where one question about all of them would have as many
    pieces as there are components.
    """
    for component in range(source.count):
        here, there = source.constant(component), sink.constant(component)
        if here is not None and there is not None:
            if here != there:
                return here > there and _some_are_timed(pairs, source, sink)
            continue
        first, then = source.alone(component), sink.alone(component)
        if not pairs.intersect(first.lex_gt_map(then)).is_empty():
            return True
        pairs = pairs.intersect(first.apply_range(then.reverse()))
        if pairs.is_empty():
            return False
    return _some_are_timed(pairs, source, sink)


def _some_are_timed(pairs: isl.Map, source: _Rows, sink: _Rows) -> bool:
    """Whether there are pairs of which both ends have times."""
    timed = pairs.intersect_domain(source.times.domain()).intersect_range(sink.times.domain())
    return not timed.is_empty()


def _explanation(scop: Scop, dependence: Dependence, pair: Pair, when: str) -> str:
    does, cell, then = conflict_words(scop, dependence, pair)
    source = instance_text(dependence.source, pair.source)
    sink = instance_text(dependence.sink, pair.sink)
    sizes = parameters_text(pair.parameters)
    return (
        f"{source} {does} {cell}, which {sink} {then}: it must run first, but the schedule runs {when}{sizes}"
        f"{_about_sums(scop, dependence)}"
    )


def _about_sums(scop: Scop, dependence: Dependence) -> str:
    """That a reduction's steps keep their order, where the dependence holds nothing but these; empty elsewhere."""
    for reduction in find_reductions(scop):
        steps = reduction_part(reduction, dependence)
        if steps is not None and dependence.relation.is_subset(steps):
            return f"; both only accumulate into {dependence.array}, and a schedule keeps the order of such steps"
    return ""


def _names(source: _Rows, sink: _Rows) -> list[str]:
    """What the numbers of a time mean where that is the same for both ends of a dependence; else nothing."""
    found = [[row_text(one.alone(component)) for component in range(one.count)] for one in (source, sink)]
    names = [name for name in found[0] if name is not None]
    return names if found[0] == found[1] == names else []


def _when(source_time: Instance, sink_time: Instance, names: Sequence[str]) -> str:
    meaning = f"{_tuple_text(names)} = " if names else "time "
    if source_time == sink_time:
        return f"both at the same time, {meaning.removeprefix('time ')}{_tuple_text(source_time)}"
    return f"it at {meaning}{_tuple_text(source_time)}, after {_tuple_text(sink_time)}"


def _tuple_text(time: Sequence[object]) -> str:
    return f"({', '.join(map(str, time))})"

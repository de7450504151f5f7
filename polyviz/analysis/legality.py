"""Is a schedule legal? Exactly, and with the smallest counterexample where it is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import islpy as isl

from polyviz.analysis.dependences import dependences
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

if TYPE_CHECKING:
    from collections.abc import Mapping

    from polyviz.analysis.schedule_input import Order
    from polyviz.model.scop import Scop


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
    times = schedule_times(scop, schedule)
    found = known if known is not None else dependences(scop)
    violations = (_violation(scop, dependence, times) for dependence in found.validity_relations)
    return Legality(tuple(violation for violation in violations if violation is not None), scop)


def _violation(scop: Scop, dependence: Dependence, times: Mapping[str, isl.Map]) -> Violation | None:
    source, sink = times[dependence.source], times[dependence.sink]
    if not _runs_backwards(dependence.relation, source, sink):
        return None
    reversed_pairs = dependence.relation.intersect(source.lex_ge_map(sink))
    pair = smallest_pair(reversed_pairs)
    source_time = image(source, pair.source, pair.parameters)
    sink_time = image(sink, pair.sink, pair.parameters)
    return violation_of(dependence, pair, _explanation(scop, dependence, pair, source_time, sink_time))


def _runs_backwards(pairs: isl.Map, source: isl.Map, sink: isl.Map) -> bool:
    """Whether some of ``pairs`` run in the wrong order, or at the same time.

    Component by component: the first one settles most pairs, where one question about all of them would have as many
    pieces as there are components.
    """
    for component in range(source.dim(isl.dim_type.out)):
        first, then = _component(source, component), _component(sink, component)
        if not pairs.intersect(first.lex_gt_map(then)).is_empty():
            return True
        pairs = pairs.intersect(first.apply_range(then.reverse()))
        if pairs.is_empty():
            return False
    return True


def _component(times: isl.Map, component: int) -> isl.Map:
    """One component of the time, as a map to one number."""
    count = times.dim(isl.dim_type.out)
    alone = times.project_out(isl.dim_type.out, component + 1, count - component - 1)
    return alone.project_out(isl.dim_type.out, 0, component)


def _explanation(
    scop: Scop, dependence: Dependence, pair: Pair, source_time: Instance, sink_time: Instance
) -> str:
    does, cell, then = conflict_words(scop, dependence, pair)
    source = instance_text(dependence.source, pair.source)
    sink = instance_text(dependence.sink, pair.sink)
    when = _when(source_time, sink_time)
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


def _when(source_time: Instance, sink_time: Instance) -> str:
    if source_time == sink_time:
        return f"both at the same time {_tuple_text(source_time)}"
    return f"it at {_tuple_text(source_time)}, after {_tuple_text(sink_time)}"


def _tuple_text(time: Instance) -> str:
    return f"({', '.join(map(str, time))})"

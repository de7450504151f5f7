"""The pair of instances that forbids an order, drawn among the points of its statements."""

from __future__ import annotations

from typing import TYPE_CHECKING

import islpy as isl

from polyviz.model.dependences import Dependence
from polyviz.views import domain
from polyviz.views import timeline as timeline_view
from polyviz.views.html import image, paragraph
from polyviz.views.instances import Arrow, Instance, Pane, integer_points
from polyviz.views.nodes import loop_paths, read_tree
from polyviz.views.sizes import binding

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from polyviz.model.dependences import Violation
    from polyviz.model.scop import Scop, Statement

_MOST = 400
_MARGIN = 2
_DRAWN_LOOPS = range(1, 4)


def picture_html(scop: Scop, violations: Iterable[Violation]) -> str:
    """The first of ``violations`` that can be drawn, with a sentence; empty where there is none."""
    for violation in violations:
        drawn = pictures(scop, violation)
        if drawn:
            where = (
                ""
                if len(drawn) == 1
                else " It lies in two loop nests; the ring is the instance in each of them."
            )
            sentence = paragraph(
                f"The pair that forbids this order; its arrow must point forward in time.{where}"
            )
            words = f"{violation.source}: {violation.explanation}"
            return sentence + "".join(image(svg, words) for svg in drawn)
    return ""


def pictures(scop: Scop, violation: Violation) -> list[str]:
    """One picture with the pair as an arrow; two, each with a ring, where no loop is around both statements."""
    names = dict.fromkeys((violation.source, violation.sink))
    statements = [scop.statement(name) for name in names]
    # A little larger than the smallest sizes that show it, so that there is something around the pair.
    for more in (_MARGIN, 0):
        values = {name: value + more for name, value in violation.parameters.items()}
        if all(_is_small(statement, values) for statement in statements) and _meets(scop, violation, values):
            return _pictures(scop, violation, statements, values)
    return []


def _is_small(statement: Statement, values: Mapping[str, int]) -> bool:
    inside = statement.domain.intersect_params(binding(values, statement.domain.get_ctx()))
    return not inside.is_empty() and bool(inside.count_val().to_python() <= _MOST)


def _meets(scop: Scop, violation: Violation, values: Mapping[str, int]) -> bool:
    """Whether the two instances still touch one cell for these sizes, on which subscripts may depend."""
    first = _cells(scop.statement(violation.source), violation.array, violation.source_instance, values)
    second = _cells(scop.statement(violation.sink), violation.array, violation.sink_instance, values)
    return any(not one.intersect(other).is_empty() for one in first for other in second)


def _cells(statement: Statement, array: str, instance: Instance, values: Mapping[str, int]) -> list[isl.Set]:
    """What each access of the instance to the array touches."""
    only = _only(statement.domain, instance).intersect_params(binding(values, statement.domain.get_ctx()))
    return [
        access.relation.intersect_domain(only).range()
        for access in statement.accesses
        if access.array == array
    ]


def _pictures(
    scop: Scop, violation: Violation, statements: list[Statement], values: Mapping[str, int]
) -> list[str]:
    if len(statements) == 1:
        return [domain.draw(one) for one in _panes(violation, statements, values, (_arrow(violation),))]
    paths = loop_paths(read_tree(scop.schedule))
    outermost = {paths.get(statement.name, ())[:1] for statement in statements}
    if len(outermost) > 1 or () in outermost:
        return [domain.draw(one) for one in _panes(violation, statements, values)]
    bound = binding(values, scop.context.get_ctx())
    found = timeline_view.timeline(statements, [_relation(scop, violation)], values, bound)
    return [] if found is None else [timeline_view.draw(found)]


def _arrow(violation: Violation) -> Arrow:
    return Arrow(
        violation.kind,
        violation.array,
        violation.source,
        violation.source_instance,
        violation.sink,
        violation.sink_instance,
    )


def _panes(
    violation: Violation,
    statements: list[Statement],
    values: Mapping[str, int],
    arrows: tuple[Arrow, ...] = (),
) -> list[Pane]:
    """A pane for each statement, with its instance of the pair; none where one has more loops than can be drawn."""
    if any(len(statement.iterators) not in _DRAWN_LOOPS for statement in statements):
        return []
    instances = {violation.source: violation.source_instance, violation.sink: violation.sink_instance}
    return [
        Pane(
            statement.name,
            statement.source,
            statement.span.line,
            values,
            statement.iterators,
            _points(statement, values),
            arrows,
            complete=True,
            analysed=bool(arrows),
            ringed=None if arrows else instances[statement.name],
        )
        for statement in statements
    ]


def _points(statement: Statement, values: Mapping[str, int]) -> tuple[Instance, ...]:
    inside = statement.domain.intersect_params(binding(values, statement.domain.get_ctx()))
    return tuple(integer_points(inside)[0])


def _relation(scop: Scop, violation: Violation) -> Dependence:
    """A dependence that holds the pair alone."""
    first = _only(scop.statement(violation.source).domain, violation.source_instance)
    second = _only(scop.statement(violation.sink).domain, violation.sink_instance)
    pair = isl.Map.from_domain_and_range(first, second)
    return Dependence(violation.kind, violation.array, violation.source, violation.sink, pair)


def _only(instances: isl.Set, instance: Instance) -> isl.Set:
    for axis, value in enumerate(instance):
        instances = instances.fix_val(isl.dim_type.set, axis, isl.Val(value, instances.get_ctx()))
    return instances

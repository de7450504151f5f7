"""The pair of instances that forbids an order, drawn among the points of its statement."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.views import domain
from polyviz.views.html import image, paragraph
from polyviz.views.instances import Arrow, Pane, integer_points
from polyviz.views.sizes import binding

if TYPE_CHECKING:
    from collections.abc import Iterable

    from polyviz.model.dependences import Violation
    from polyviz.model.scop import Scop

_MOST = 400
_MARGIN = 2


def picture_html(scop: Scop, violations: Iterable[Violation]) -> str:
    """The first of ``violations`` that can be drawn, with a sentence; empty where there is none."""
    drawn = ((violation, pane_of(scop, violation)) for violation in violations)
    for violation, pane in drawn:
        if pane is not None:
            sentence = paragraph("The pair that forbids this order; its arrow must point forward in time.")
            return sentence + image(domain.draw(pane), f"{violation.source}: {violation.explanation}")
    return ""


def pane_of(scop: Scop, violation: Violation) -> Pane | None:
    """One arrow among the points of its statement; None between two statements, which have no common picture."""
    statement = scop.statement(violation.source)
    if violation.source != violation.sink or not 1 <= len(statement.iterators) <= 3:
        return None
    arrow = Arrow(
        violation.kind,
        violation.array,
        violation.source,
        violation.source_instance,
        violation.sink,
        violation.sink_instance,
    )
    # A little larger than the smallest sizes that show it, so that there is something around the pair.
    for more in (_MARGIN, 0):
        values = {name: value + more for name, value in violation.parameters.items()}
        inside = statement.domain.intersect_params(binding(values, statement.domain.get_ctx()))
        if not inside.is_empty() and inside.count_val().to_python() <= _MOST:
            points = tuple(integer_points(inside)[0])
            line = statement.span.line
            return Pane(
                statement.name, statement.source, line, values, statement.iterators, points, (arrow,), complete=True
            )
    return None

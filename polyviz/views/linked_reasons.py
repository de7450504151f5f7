"""Why loops and statements are what they are, for the linked views."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from polyviz.views.html import items, paragraph, table
from polyviz.views.models import violation_model

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyviz.model.details import LoopDetails
    from polyviz.model.reason import Reason
    from polyviz.model.schedule import Decision, Schedule
    from polyviz.views.linked_schema import ReasonModel, ScheduledLoopModel, VariantModel


def loop_reasons(schedule: Schedule) -> list[ScheduledLoopModel]:
    """What the analysis found of every loop of ``schedule``, in depth-first order.

    >>> import polyviz as pv
    >>> part = pv.extract("def f(A):\\n    for i in range(4):\\n        A[i] = 0")
    >>> loop_reasons(pv.schedule(part, "original"))
    [{'text': 'Loop i is parallel: no dependence ties its iterations.', 'parallel': True, 'violation': None}]
    """
    return [_loop_reason(one) for one in schedule.decisions if one.step == "loop"]


def _loop_reason(decision: Decision) -> ScheduledLoopModel:
    found = cast("LoopDetails", decision.details)
    pair = found["pair"]
    if pair is None:
        return {"text": decision.text, "parallel": found["parallel"], "violation": None}
    return {
        "text": decision.text,
        "parallel": found["parallel"],
        "violation": {
            **pair,
            "source_instance": list(pair["source_instance"]),
            "sink_instance": list(pair["sink_instance"]),
            "parameters": dict(pair["parameters"]),
            "explanation": decision.text,
        },
    }


LEFT_OUT = (
    "Why loops are tiled, fused and vectorised, or not, was left out: that takes longer than a view may wait. "
    "The part Why? of the live view asks for it."
)


def reason_forms(variant: VariantModel) -> tuple[str, str]:
    """The reasons of a schedule as HTML and as text, loops first; those that were not found out are told to be missing.

    >>> loop = {"text": "Loop i is parallel.", "parallel": True, "violation": None}
    >>> reason_forms({"loops": [loop], "reasons": []})[1]
    'Loop i is parallel.'
    """
    told = [one["text"] for one in variant["loops"]]
    found = variant["reasons"]
    places: dict[tuple[str, str], list[str]] = {}
    for one in found or ():
        places.setdefault((one["topic"], one["text"]), []).append(one["address"] or ", ".join(one["statements"]))
    rows = [[topic, ", ".join(dict.fromkeys(where)), text] for (topic, text), where in places.items()]
    lines = [*told, *(f"{topic}, {where}: {text}" for topic, where, text in rows)]
    more = [LEFT_OUT] if found is None else []
    shown = table(rows, ["about", "of", "why"], code=[1]) if rows else ""
    return items(told) + shown + "".join(map(paragraph, more)), "\n".join([*lines, *more])


def reason_models(reasons: Sequence[Reason]) -> list[ReasonModel]:
    """The reasons as JSON."""
    return [
        {
            "topic": one.topic,
            "address": one.loop,
            "statements": list(one.statements),
            "text": one.text,
            "violation": None if one.pair is None else violation_model(one.pair),
        }
        for one in reasons
    ]

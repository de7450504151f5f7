"""Why loops and statements are what they are, for the linked views."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from polyviz.views.models import violation_model

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyviz.model.details import LoopDetails
    from polyviz.model.reason import Reason
    from polyviz.model.schedule import Decision, Schedule
    from polyviz.views.linked_schema import LoopReasonModel, ReasonModel


def loop_reasons(schedule: Schedule) -> list[LoopReasonModel]:
    """What the analysis found of every loop of ``schedule``, in depth-first order.

    >>> import polyviz as pv
    >>> part = pv.extract("def f(A):\\n    for i in range(4):\\n        A[i] = 0")
    >>> loop_reasons(pv.schedule(part, "original"))
    [{'text': 'Loop i is parallel: no dependence ties its iterations.', 'violation': None}]
    """
    return [_loop_reason(one) for one in schedule.decisions if one.step == "loop"]


def _loop_reason(decision: Decision) -> LoopReasonModel:
    pair = cast("LoopDetails", decision.details)["pair"]
    if pair is None:
        return {"text": decision.text, "violation": None}
    return {
        "text": decision.text,
        "violation": {
            **pair,
            "source_instance": list(pair["source_instance"]),
            "sink_instance": list(pair["sink_instance"]),
            "parameters": dict(pair["parameters"]),
            "explanation": decision.text,
        },
    }


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

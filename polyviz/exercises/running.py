"""Goals that run the answer: the same result as the given loops, and faster than they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from polyviz.analysis import dependences, instance_counts
from polyviz.analysis.witness import fixed
from polyviz.api.building import build_kernel
from polyviz.api.comparing import compare
from polyviz.codegen.calling import handed_back, written_arrays
from polyviz.errors import OptionError
from polyviz.exercises.goal import UNSEEN, Goal, Verdict
from polyviz.runtime.agreement import compare_values
from polyviz.runtime.evaluate import evaluate_integer
from polyviz.views.drawing import values_text
from polyviz.views.linked_memory import array_model

if TYPE_CHECKING:
    from collections.abc import Mapping

    from polyviz.api.building import ScheduleChoice
    from polyviz.exercises.answer import Answer
    from polyviz.model.scop import Parameter, Scop

_SMALL = 7
"""The size at which results are compared where the exercise names none: no power of two, so that edges show."""


MOST_RUNS = 1_000_000
"""The most iterations that are run, in plain Python, to compare results."""


def same_result() -> Goal:
    """The answer computes what the given loops compute, on random data of the exercise's sizes."""
    return Goal("the same result as the loops given", agreement)


def faster(by: float = 1.5, target: str = "auto", repeats: int = 5) -> Goal:
    """At least ``by`` times as fast as the given order on the same target, measured, and verified before."""
    return Goal(
        f"at least {by:g} times as fast as the order given",
        lambda answer: _faster(answer, by, target, repeats),
    )


def agreement(answer: Answer) -> Verdict:
    """Whether the answer's program leaves what the given loops leave.

    Loops written anew are run for two sizes: a size written into them as a number would pass with one.
    """
    if answer.given is None:
        return Verdict(True, "There is nothing to compare with.")
    if answer.schedule is None:
        return UNSEEN
    values = sizes_of(answer.given, answer.sizes)
    if answer.kind != "loops":
        difference = _difference(answer, answer.given, values)
        return Verdict(
            not difference,
            difference or f"The same values on random data{_for(values)}; the order is proven.",
        )
    larger = sizes_of(answer.given, {name: value + 1 for name, value in values.items()})
    for chosen in (values, larger):
        difference = _difference(answer, answer.given, chosen)
        if difference:
            return Verdict(False, difference)
    return Verdict(True, f"The same values on random data{_for(values)} and one larger: a test, no proof.")


def _for(values: Mapping[str, int]) -> str:
    return f" for {values_text(values)}" if values else ""


def _difference(answer: Answer, given: Scop, values: Mapping[str, int]) -> str:
    """A sentence about the first difference for ``values``; empty where there is none."""
    endless = next((one for one in answer.scop.statements if one.is_uneven), None)
    if endless is not None:
        return (
            f"Not run: the loop at line {endless.span.line} ends when its data say so (`while`, `break`), which may be "
            "never, and an exercise runs what it can count."
        )
    runs = sum(instance_counts(answer.scop, sizes_of(answer.scop, values, given)).values())
    if runs > MOST_RUNS:
        return f"Not run: the loops have {runs:,} iterations{_for(values)}."
    data = example_data(given, values)
    expected, found = _left(given, "original", data), _left(answer.scop, answer.schedule, data)
    missing = sorted(expected.keys() - found.keys())
    if missing:
        return f"The answer does not compute `{missing[0]}`."
    # What the given loops leave alone has to be there afterwards too.
    expected |= {name: data[name] for name in found.keys() & data.keys() if name not in expected}
    verdict = compare_values(expected, found)
    return "" if verdict.agrees else f"On random data{_for(values)}, {verdict.sentence}."


def sizes_of(scop: Scop, sizes: Mapping[str, int], given: Scop | None = None) -> dict[str, int]:
    """A value for every parameter of ``scop``; raises OptionError where the loops do not allow them.

    Loops written anew may take their sizes from the arrays (``C[j, :]``, ``len(A)``): those are the arrays of the
    ``given`` loops, so that nobody makes them smaller.
    """
    values: dict[str, int] = {}
    for parameter in scop.parameters:
        values[parameter.name] = _size_of(parameter, {**values, **sizes}, sizes, given)
    if fixed(scop.context, values).is_empty():
        raise OptionError(f"The loops do not allow {values_text(values)}: give the exercise other sizes.")
    return values


def _size_of(
    parameter: Parameter, known: Mapping[str, int], sizes: Mapping[str, int], given: Scop | None
) -> int:
    source = parameter.source
    if parameter.name in known:
        return known[parameter.name]
    if source.expression is not None:
        return evaluate_integer(source.expression, known)
    if given is None or source.kind != "shape":
        return _SMALL
    of_given = sizes_of(given, sizes)
    extents = array_model(given.array(source.name), given, of_given)["extents"]
    return of_given.get(parameter.name, _SMALL if extents is None else extents[source.axis])


def example_data(scop: Scop, values: Mapping[str, int]) -> dict[str, Any]:
    """Random data for the arguments of ``scop``, by name."""
    random = np.random.default_rng(0)
    data: dict[str, Any] = {name: value for name, value in values.items()}
    for array in scop.arrays:
        extents = array_model(array, scop, values)["extents"] if array.rank else []
        data[array.name] = random.random(extents or ()) if array.rank else float(random.random())
    return data


def _left(scop: Scop, schedule: Any, data: Mapping[str, Any]) -> dict[str, Any]:
    """What a run of ``scop`` leaves: written arrays and results, by name."""
    kernel = build_kernel(scop, dependences(scop), scop, schedule=schedule, target="python", tile=False)
    given = {
        one.name: np.copy(data[one.name]) if np.ndim(data[one.name]) else data[one.name]
        for one in scop.arguments
    }
    results = kernel(*given.values())
    if not isinstance(results, tuple):
        results = () if results is None else (results,)
    named = dict(zip(handed_back(scop), results, strict=False))
    return {**{name: given[name] for name in written_arrays(scop) if name in given}, **named}


def _faster(answer: Answer, by: float, target: str, repeats: int) -> Verdict:
    if answer.schedule is None or answer.given is None:
        return UNSEEN
    if answer.kind == "loops":
        return Verdict(False, "Speed is asked of an order: answer with moves or with isl.")
    data = example_data(answer.given, sizes_of(answer.given, answer.sizes))
    arguments = [data[one.name] for one in answer.given.arguments]
    schedules: dict[str, ScheduleChoice] = {"given": "original", "answer": answer.schedule}
    found = compare(
        answer.given, *arguments, schedules=schedules, targets=(target,), repeats=repeats, tile=False
    )
    given, own = (next(row for row in found.rows if row.schedule == name) for name in schedules)
    if not (own.verified and own.median and given.median):
        return Verdict(False, own.note or "The answer could not be timed.")
    ratio = given.median / own.median
    return Verdict(ratio >= by, f"Measured here: {ratio:.2f} times as fast.")

"""What each technique gives: everything on, each one switched off, all of them off, in one race."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from polyviz.api.comparing import Comparison, Contender, RaceOptions, resolved_targets, run_race
from polyviz.api.options import read_options
from polyviz.mapping import DEVICE_TARGETS
from polyviz.model.techniques import switched_off, techniques_for

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from polyviz.api.building import ScheduleChoice
    from polyviz.runtime.race import Progress
    from polyviz.runtime.worker import Worker

EVERYTHING, NOTHING = "everything on", "everything off"
MEMORY = "tuned"
SAME_PROGRAM = "the same program: nothing to do for it here"
"""The note of a row whose technique changes nothing."""


def ablation(
    source: object,
    *arguments: Any,
    schedule: ScheduleChoice = "pluto",
    target: str = "auto",
    without: Sequence[str] | str | None = None,
    baselines: Sequence[str] = ("numba",),
    repeats: int = 7,
    sizes: Mapping[str, int] | None = None,
    namespace: Mapping[str, Any] | None = None,
    time_limit: float = 60.0,
    progress: Progress | None = None,
    worker: Worker | None = None,
    **options: Any,
) -> Comparison:
    """A comparison of the loops with every technique, without each one, and without all, on copies of ``arguments``.

    ``without`` names what to look at, one technique or several (default: those of :func:`polyviz.techniques` that
    concern the target, and what tuning remembered is left out); ``options`` are those of ``compile`` for every row.
    Every row is verified before it is timed; under the target ``emulated`` its note counts instead. A row whose program
    is the one with everything on says so and has no time of its own: that technique finds nothing to do in these loops.

    Raises OptionError, and what ``compare`` raises.

    >>> import numpy as np
    >>> text = "def double(A):\\n    for i in range(len(A)):\\n        A[i] = 2 * A[i]"
    >>> found = ablation(text, np.ones(9), target="python", without=["tile"], baselines=(), repeats=1)
    >>> [row.schedule for row in found.rows]
    ['everything on', 'without tile', 'everything off']
    """
    read_options(options)
    (resolved, missing) = next(iter(resolved_targets((target,)).items()))
    if missing is not None:
        raise missing
    concerned = (name for name in techniques_for(device=resolved in DEVICE_TARGETS) if name != MEMORY)
    wanted = [without] if isinstance(without, str) else without
    off = switched_off(concerned if wanted is None else wanted)
    everything = {MEMORY: False, **options}
    choices = {
        EVERYTHING: everything,
        **{f"without {keyword}": {**everything, keyword: value} for keyword, value in off.items()},
        NOTHING: {**everything, **off},
    }
    contenders = [Contender(name, schedule, resolved, chosen) for name, chosen in choices.items()]
    how = RaceOptions(
        baselines, repeats, sizes, True, namespace, time_limit, progress, worker, distinct=True, called="pv.ablation"
    )
    return _with_equals(run_race(source, arguments, contenders, how))


def _with_equals(comparison: Comparison) -> Comparison:
    """``comparison`` with a note, and no text once more, in every row whose program is that of everything on."""
    data = comparison.data
    whole = next(row for row in data.rows if row.schedule == EVERYTHING)
    compiled = _compiled(comparison, whole.label)
    rows = [
        replace(row, note="; ".join(filter(None, (row.note, SAME_PROGRAM))), source="")
        if row.source
        and row.source == whole.source
        and row is not whole
        and _compiled(comparison, row.label) == compiled
        else row
        for row in data.rows
    ]
    return Comparison(replace(data, rows=tuple(rows)), comparison.kernels)


def _compiled(comparison: Comparison, label: str) -> tuple[int | None, bool] | None:
    """What tells two runs of one text apart: the number of threads, and whether the compiler makes vectors of it."""
    kernel = comparison.kernels.get(label)
    return None if kernel is None else (kernel.plan.threads, kernel.plan.scalar)

"""Lines that a first-level cache holds: swept whole by one thread, however well longer ones are shared.

The steps over time of a stencil along a line are tiled for the threads. A line that fits into the first-level cache
gains nothing from tiles, and threads wait for each other longer than a sweep over it lasts. In stretches side by side
(``polyviz.mapping.lifting``) one thread is done with it sooner. How long the line is, only a call tells: the plan has
both, and the program chooses.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from polyviz.model.schedule import Decision

if TYPE_CHECKING:
    from collections.abc import Callable

    from polyviz.model.plan import Plan
    from polyviz.model.scop import Scop


def with_short_lines_whole(scop: Scop, plan: Plan, alike: Callable[..., Plan]) -> Plan:
    """``plan`` with one made ``alike``, but without tiles, for lines that the first-level cache holds: where steps over
    time are all that the one has, and sweeps over lifted rows all that the other has."""
    everything = {statement.name for statement in scop.statements}
    if plan.vectors is None or not any(set(steps.statements) == everything for steps in plan.time_steps):
        return plan
    whole = alike(tile=False)
    if not any(set(lifting.statements) == everything for lifting in whole.liftings):
        return plan
    if any((found.locals, found.expansions, found.final_values) != ((), (), ()) for found in (plan, whole)):
        return plan
    arrays = whole.liftings[0].arrays
    size = plan.vectors.l1_data // 1024
    text = (
        f"where {' and '.join(arrays)} fit into the first-level cache of {size} KiB, one thread sweeps over them "
        "without tiles, in stretches side by side: threads would wait for each other longer than a sweep lasts"
    )
    said = Decision("lift", text, whole.liftings[0].statements, {"arrays": arrays})
    return replace(plan, in_cache=whole, decisions=(*plan.decisions, said))

"""Statements that stay whole, with loops that add along memory in several lanes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.analysis.inner_sums import inner_sums
from polyviz.mapping.accumulate import LANES, has_lanes
from polyviz.model.expression import Loop, walk
from polyviz.model.schedule import Decision

if TYPE_CHECKING:
    from polyviz.model.processor import Processor
    from polyviz.model.scop import Scop

LEAST = 2 * LANES
"""Iterations from which on lanes are worth joining."""


def find_body_sums(scop: Scop, processor: Processor | None) -> tuple[tuple[str, ...], tuple[Decision, ...]]:
    """The names of such statements, where ``processor`` has vectors for the lanes, and what is said of them."""
    if not has_lanes(processor):
        return (), ()
    names = tuple(
        statement.name
        for statement in scop.statements
        if any(isinstance(node, Loop) and inner_sums(node, LEAST) for line in statement.body for node in walk(line))
    )
    return names, tuple(Decision("accumulate", _said(), (name,), {"lanes": LANES}) for name in names)


def _said() -> str:
    return f"loops inside the statement add in {LANES} lanes, since sums may be reordered"

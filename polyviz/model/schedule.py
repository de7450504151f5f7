"""A schedule: the order of all instances, and the decisions that led to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from polyviz.model.display import Displayable

if TYPE_CHECKING:
    from collections.abc import Mapping

    import islpy as isl

    from polyviz.model.superposition import Superposition


@dataclass(frozen=True, slots=True)
class Decision:
    """One thing a scheduler or a move decided: what, about which statements, and why.

    ``step`` is a short word (``components``, ``fusion``, ``row``, ``band``, ``loop``, ``limit``, ``fallback``,
    ``tile``, ``wavefront``, ``reorder`` …); ``text`` a sentence a student can read; ``details`` numbers and rows for
    the views, with the keys that :mod:`polyviz.model.details` gives for the step.
    """

    step: str
    text: str
    statements: tuple[str, ...] = ()
    details: Mapping[str, object] | None = None


@dataclass(frozen=True, slots=True)
class BandMember:
    """One row of a band: the affine function per statement as text, and what is known of the loop it makes.

    ``coincident``: no dependence is carried, the loop is parallel. ``reduction_parallel``: only reduction dependences
    are carried. ``role`` tells a tile loop from the point loop inside it and from an untiled loop.
    """

    rows: Mapping[str, str]
    coincident: bool
    reduction_parallel: bool
    role: Literal["loop", "tile", "point"] = "loop"


@dataclass(frozen=True, slots=True)
class Band:
    """Consecutive rows of the schedule over the same statements; when ``permutable`` they may be tiled."""

    members: tuple[BandMember, ...]
    permutable: bool
    statements: tuple[str, ...]
    depth: int


@dataclass(frozen=True, slots=True, repr=False)
class Schedule(Displayable):
    """A legal order of execution.

    ``tree`` is the isl schedule tree, ``map`` the same order as one map from instances into a common time space,
    ``bands`` the tree's bands in depth-first order with what is known of each member, ``decisions`` the log.
    ``superposition`` is set when blocks and threads have orders of their own, of which ``tree`` is the superposed one.
    ``by_hand`` tells an order that is kept to the letter: marks in the tree say which loops are parallel, vector or
    unrolled, and a target adds nothing of its own.
    """

    scheduler: str
    tree: isl.Schedule
    map: isl.UnionMap
    bands: tuple[Band, ...]
    decisions: tuple[Decision, ...] = ()
    superposition: Superposition | None = None
    by_hand: bool = False

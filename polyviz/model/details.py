"""What the entries of a schedule's log carry for the views: one typed mapping per kind of decision.

Everything is numbers, text and tuples of them; nothing is recomputed from them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypedDict

if TYPE_CHECKING:
    from collections.abc import Mapping


class ComponentsDetails(TypedDict):
    """Step ``components``: the strongly connected components in the order in which they run."""

    components: tuple[tuple[str, ...], ...]


class RowDetails(TypedDict):
    """One row of a band: its function per statement, the minimised objectives by name in lexicographic order.

    ``method`` is ``close`` or ``carrying``; ``coincident`` tells that no coincidence relation is carried; ``note`` says
    what was relaxed and why, or is empty.
    """

    text: str
    functions: Mapping[str, str]
    objectives: Mapping[str, int]
    method: str
    coincident: bool
    note: str


class BandDetails(TypedDict):
    """Step ``band``: the rows that were chosen, outermost first."""

    rows: tuple[RowDetails, ...]


class FusionDetails(TypedDict, total=False):
    """Step ``fusion``: the clusters that were tried together and what came of it.

    ``rows`` holds what would remain and what there was; ``lost`` the parallel rows that would go; ``distances`` the
    largest distance of the closest uses per row, None where it grows with the sizes; ``depths`` the loops of
    each of ``clusters``.
    """

    clusters: tuple[tuple[str, ...], ...]
    merged: bool
    because: Literal["reuse", "products", "rows", "depth", "legality", "length", "parallelism", "distance", "limit"]
    rows: tuple[int, int]
    lost: tuple[str, ...]
    distances: tuple[int | None, ...]
    depths: tuple[int, ...]


class WeightsDetails(TypedDict):
    """Step ``weights``: one number per iterator of each statement; heavy loops come first among equals."""

    weighting: str
    weights: Mapping[str, tuple[int, ...]]


class ConcurrentStartDetails(TypedDict):
    """Step ``concurrent start``: whether tiles of the first two rows of a band start at the same time.

    These rows add up to ``factor`` times ``time``, a function per statement; ``reason`` says why there is none.
    """

    found: bool
    time: Mapping[str, str]
    factor: int
    reason: str


class FallbackDetails(TypedDict):
    """Step ``fallback``: what could not be used, and what was used in its place."""

    failed: str
    instead: str
    reason: str


class CarriedDetails(TypedDict):
    """One dependence that a loop carries."""

    kind: str
    array: str
    source: str
    sink: str


class InstancePair(TypedDict):
    """Two instances that keep a loop from being parallel, for the values ``parameters``."""

    kind: str
    array: str
    source: str
    source_instance: tuple[int, ...]
    sink: str
    sink_instance: tuple[int, ...]
    parameters: Mapping[str, int]


class LoopDetails(TypedDict):
    """Step ``loop``: a member of a band, what it carries, and the pair of instances that makes it serial.

    ``band`` counts the bands of the tree in depth-first order, ``member`` the loops of the band, ``depth`` the loops
    around it. ``pair`` is None for a parallel loop.
    """

    band: int
    member: int
    depth: int
    loop: str
    parallel: bool
    reduction_parallel: bool
    carries: tuple[CarriedDetails, ...]
    pair: InstancePair | None


class ReuseDetails(TypedDict):
    """Step ``reuse``: the references of one pattern, and between which statements they use a cell or a line again."""

    group: str
    references: int
    temporal: tuple[str, ...]
    spatial: tuple[str, ...]


class GroupDetails(TypedDict):
    """A group of references when a row was looked for: ``rank`` subscripts are open, ``references`` belong to it."""

    group: str
    rank: int
    references: int


class ReuseRowDetails(TypedDict):
    """Step ``row``: how the reuse of cells and lines led to a row, counted from 1 outside.

    ``aim`` is ``few`` or ``many`` groups carried, or empty for a row found by other means; ``order`` holds the groups,
    the most precious first; ``lines`` those whose lines the row runs along; ``lost`` the reuse that no row inside can
    serve; ``relaxed`` and ``fallback`` say what was given up and why, or are empty.
    """

    row: int
    functions: Mapping[str, str]
    aim: str
    order: tuple[GroupDetails, ...]
    objectives: Mapping[str, int]
    lines: tuple[str, ...]
    lost: tuple[str, ...]
    coincident: bool
    spatial: bool
    relaxed: str
    fallback: str

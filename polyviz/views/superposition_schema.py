"""The parts of the JSON view model of a superposed schedule."""

from __future__ import annotations

from typing import TypedDict


class DimensionModel(TypedDict):
    """One dimension of a scattering function; ``axis`` and ``tile`` where it has them."""

    text: str
    kind: str
    role: str
    axis: str | None
    tile: int | None
    reduction: bool


class ScatteringModel(TypedDict):
    """The two functions of a statement, and the superposed one as text."""

    statement: str
    outer: list[DimensionModel]
    regular: list[DimensionModel]
    text: str


class SpaceLoopModel(TypedDict):
    """A loop of blocks or threads with its row per statement."""

    axis: str
    kind: str
    rows: dict[str, str]


class SpaceGroupModel(TypedDict):
    """Statements with common space loops; ``under`` are the sequential loops around them."""

    statements: list[str]
    loops: list[SpaceLoopModel]
    under: list[dict[str, str]]
    text: str


class BarrierModel(TypedDict):
    """A place for a barrier between two phases; ``protects`` is empty where none is needed."""

    before: int
    after: int
    wraps: bool
    depth: int
    protects: str


class SuperposedKernelModel(TypedDict):
    """A kernel with its phases; sizes per axis."""

    number: int
    blocks: SpaceGroupModel
    phases: list[SpaceGroupModel]
    barriers: list[BarrierModel]
    tiles: dict[str, int]
    threads: dict[str, int]


class LineCostModel(TypedDict):
    """The distinct lines of a statement; derivatives per iterator."""

    statement: str
    tile: int
    lines: float
    memory_cost: float
    derivatives: dict[str, float]
    coalescing: str | None


class DistanceModel(TypedDict):
    """The distances of one dependence along a row, as text."""

    array: str
    kind: str
    source: str
    sink: str
    text: str


class LoopVerdictModel(TypedDict):
    """What kind of loop a row makes; ``witness`` is empty where no pair is needed."""

    level: str
    rows: dict[str, str]
    under: list[dict[str, str]]
    kind: str
    distances: list[DistanceModel]
    witness: str


class ConditionModel(TypedDict):
    """One condition of legality; ``witness`` is empty where it holds."""

    name: str
    asks: str
    holds: bool
    witness: str

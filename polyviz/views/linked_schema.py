"""The shape of the model behind the linked views: everything about one loop nest that a person can point at.

Instances are numbered: ``points`` of a statement, ``times`` of a variant and ``pairs`` of a relation all count in the
order of ``points``, so that one selection can light in all of them.
"""

from __future__ import annotations

from typing import Any, TypedDict

# ``get_type_hints`` looks these up when a schema is derived.
from polyviz.views.device_schema import DeviceRunModel, KernelCardModel  # noqa: TC001
from polyviz.views.schema import (
    ComparisonModel,
    DecisionModel,
    LoopModel,
    MemberModel,
    Model,
    ParameterModel,
    SuperpositionModel,
    ViolationModel,
)


class BoundParameterModel(ParameterModel):
    """A symbolic size with the value that is drawn, and the values that a slider offers."""

    value: int
    low: int
    high: int
    given: int | None


class LinkedAccessModel(TypedDict):
    """A reference to an array, in the order in which an instance makes them.

    ``subscripts`` has one row per dimension of the array: the coefficient of every iterator, then the constant, for
    the drawn values; null where the cells are no such function or not exactly known. ``conditional``: the cells are
    known, but only data decide whether the access happens.
    """

    array: str
    kind: str
    text: str
    subscripts: list[list[int]] | None
    conditional: bool


class LinkedArrayModel(TypedDict):
    """An array in memory, rows one after the other; ``extents`` are null where they have no bound for these values."""

    name: str
    extents: list[int] | None
    element_bytes: int


class LinkedStatementModel(TypedDict):
    """A statement with its instances; ``loop_lines`` are the source lines of its loops, outermost first.

    ``total`` instances exist for the drawn values; ``notes`` say why fewer are among the ``points``.
    """

    name: str
    iterators: list[str]
    domain: str
    source: str
    line: int
    end_line: int
    loop_lines: list[int]
    accesses: list[LinkedAccessModel]
    points: list[list[int]]
    total: int | None
    notes: list[str]


class LinkedRelationModel(TypedDict):
    """A dependence; ``pairs`` hold the number of the source instance and that of the sink instance."""

    kind: str
    array: str
    source: str
    sink: str
    distances: list[str]
    relation: str
    count: int | None
    pairs: list[list[int]]


class LinkedMemberModel(MemberModel):
    """A loop of a tree; ``time`` is its dimension in the times of the variant, ``address`` its name for moves."""

    time: int
    address: str


class LinkedNodeModel(TypedDict):
    """A node of a schedule tree; ``time`` is the dimension that a sequence counts in, -1 for other nodes."""

    kind: str
    label: str
    statements: list[str]
    members: list[LinkedMemberModel]
    permutable: bool
    time: int
    children: list[LinkedNodeModel]


class LinkedProgramModel(TypedDict):
    """Generated text; ``lines`` maps its lines (1-based, as text) to statements."""

    target: str
    text: str
    lines: dict[str, str]
    notes: list[str]


class MappingModel(TypedDict):
    """What was decided for the program for ``target`` beyond the schedule, and its text where there is room for it."""

    target: str
    decisions: list[DecisionModel]
    text: str


class LinkedPictureModel(TypedDict):
    """Who runs which iteration of one statement, in ``runs`` of neighbouring iterations of one block.

    A run holds the values of ``iterators``, the block's x, y, z, the thread's x, y, z, the step from thread to thread,
    and how many iterations there are.
    """

    title: str
    kernel: int
    statement: str
    iterators: list[str]
    block: list[int]
    rules: list[str]
    runs: list[list[int]]
    note: str


class LinkedPlacesModel(TypedDict):
    """When the drawn instances run on a device, and who runs them: the threads of a warp take each step together.

    A step holds the kernel, the block's x, y, z and the warp's number in the block. ``at`` has for every instance of a
    statement its step and the lane of its thread in the warp.
    """

    steps: list[list[int]]
    at: dict[str, list[list[int]]]


class LinkedBlocksModel(TypedDict):
    """Who runs the drawn instances, in blocks that fit into the picture: ``notes`` tell those of each kernel.

    A block holds the kernel and its x, y, z, a thread its x, y, z. ``at`` has for every instance of a statement the
    numbers of its block and its thread.
    """

    blocks: list[list[int]]
    threads: list[list[int]]
    at: dict[str, list[list[int]]]
    notes: list[str]


class LinkedDeviceModel(TypedDict):
    """The kernels that a device would run; ``shared`` tells the loops of both levels and their tiles, ``run`` what
    an emulated run counted; it is null until somebody asked for one. ``places`` and ``blocks`` are null where they
    are not known for all drawn instances."""

    target: str
    run: DeviceRunModel | None
    places: LinkedPlacesModel | None
    blocks: LinkedBlocksModel | None
    kernels: list[KernelCardModel]
    shared: list[str]
    pictures: list[LinkedPictureModel]


class OrderingModel(TypedDict):
    """A tree with the time of every drawn instance."""

    tree: LinkedNodeModel
    times: dict[str, list[list[int]]]


class LoopReasonModel(TypedDict):
    """Why one loop is parallel or not, in one sentence, with the pair of iterations that forbids it."""

    text: str
    violation: ViolationModel | None


class ScheduledLoopModel(LoopReasonModel):
    """The same for a loop of a schedule; ``parallel`` tells whether it could be, whatever the schedule does with it."""

    parallel: bool


class ReasonModel(LoopReasonModel):
    """Why a loop (``address``), or statements where that is empty, are what they are with respect to ``topic``."""

    topic: str
    address: str
    statements: list[str]


class VariantModel(OrderingModel):
    """One schedule; for each relation the dimensions of time that carry it.

    ``loops`` has one entry per loop, in depth-first order; ``reasons`` and ``mapping`` are null until somebody asked
    for more. ``program`` has the order of the schedule to the letter.
    ``superposition`` holds the order of blocks and that of threads where they are two; ``device`` is null until
    somebody asked for the kernels.
    """

    name: str
    decisions: list[DecisionModel]
    loops: list[ScheduledLoopModel]
    reasons: list[ReasonModel] | None
    carried: list[list[int]]
    program: LinkedProgramModel | None
    mapping: MappingModel | None
    superposition: SuperpositionModel | None
    device: LinkedDeviceModel | None
    notes: list[str]


class RefusalModel(TypedDict):
    """A schedule that was asked for and could not be made."""

    name: str
    reason: str


class StepModel(TypedDict):
    """One move of an edit: its line in the script and what it decided."""

    text: str
    decision: str


class EditModel(TypedDict):
    """The edit behind the variant of that name: its steps, how many can be made again, the scripts that replay it."""

    variant: str
    start: str
    steps: list[StepModel]
    undone: int
    script: str
    python: str


class LostModel(TypedDict):
    """Moves of an earlier kernel that could not be made again: their script, and why."""

    script: str
    problem: str


class ChoiceModel(TypedDict):
    """A move at one place: what it would change, or with ``reason`` and ``violation`` why it cannot be made.

    ``place`` counts the moves of a menu: a later model of the same place stands for the earlier one. ``effect`` is null
    until it is known. ``at`` is null for a move that its arguments place; ``after`` is the order that a legal move
    leads to.
    """

    place: int
    move: str
    label: str
    at: str | None
    arguments: dict[str, Any]
    legal: bool
    effect: str | None
    reason: str
    violation: ViolationModel | None
    after: OrderingModel | None


class InspectorModel(Model):
    """``kind`` is ``inspector``: the model of the linked views. ``edit`` is null where nothing can be edited.

    ``warnings`` say what would go wrong if the loops ran on the arguments.
    """

    name: str
    text: str
    context: str
    parameters: list[BoundParameterModel]
    arrays: list[LinkedArrayModel]
    statements: list[LinkedStatementModel]
    relations: list[LinkedRelationModel]
    variants: list[VariantModel]
    refusals: list[RefusalModel]
    loops: list[LoopModel]
    comparison: ComparisonModel | None
    edit: EditModel | None
    lost: LostModel | None
    warnings: list[str]
    notes: list[str]

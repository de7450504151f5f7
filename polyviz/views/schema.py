"""The shape of the JSON view models, written once as types, and as JSON Schema derived from them.

Version 1. Every model has ``v`` (the version), ``kind`` and ``shortened``; consumers must ignore keys they do not know.
Coordinates are integers; ``pairs`` of arrows hold the source's coordinates followed by the sink's.
"""

from __future__ import annotations

from typing import Any, TypedDict, get_args, get_origin, get_type_hints, is_typeddict

# ``get_type_hints`` looks these up when a schema is derived.
from polyviz.views.device_schema import (  # noqa: TC001
    DeviceRunModel,
    KernelCardModel,
    ResourceModel,
    SharedLoopModel,
    ThreadPictureModel,
)
from polyviz.views.superposition_schema import (  # noqa: TC001
    ConditionModel,
    LineCostModel,
    LoopVerdictModel,
    ScatteringModel,
    SpaceGroupModel,
    SuperposedKernelModel,
)
from polyviz.views.timing_schema import RooflineModel, RowModel, TrialModel  # noqa: TC001

VERSION = 1
MIME = "application/vnd.polyviz.v1+json"


class Shortening(TypedDict):
    """A list or text that was cut to keep the model small: where it stands, its full length, what is left."""

    path: str
    total: int
    kept: int


class Model(TypedDict):
    """What all models have in common."""

    v: int
    kind: str
    shortened: list[Shortening]


class ParameterModel(TypedDict):
    """A symbolic size and where its value comes from."""

    name: str
    source: str


class ArrayModel(TypedDict):
    """An array with extents as text (``?`` when unknown)."""

    name: str
    extents: list[str]
    type: str | None
    live_in: bool
    live_out: bool


class AccessModel(TypedDict):
    """A reference to an array; ``reason`` says why an access is inexact."""

    kind: str
    array: str
    text: str
    relation: str
    exact: bool
    reason: str


class StatementModel(TypedDict):
    """A statement with its domain as text and its place in the source (1-based line and columns)."""

    name: str
    iterators: list[str]
    domain: str
    source: str
    line: int
    column: int
    end_line: int
    end_column: int
    accesses: list[AccessModel]


class ArrowsModel(TypedDict):
    """Arrows of one kind through one array; each pair is the source's coordinates followed by the sink's."""

    kind: str
    array: str
    source: str
    sink: str
    pairs: list[list[int]]


class PaneModel(TypedDict):
    """The picture of one statement for concrete parameter values; ``iterators`` name the coordinates."""

    statement: str
    iterators: list[str]
    values: dict[str, int]
    points: list[list[int]]
    arrows: list[ArrowsModel]
    complete: bool
    notes: list[str]


class TimelineModel(TypedDict):
    """Several statements over a common loop; points are (value of ``loop``, value of ``row`` if it has a name)."""

    statements: list[str]
    loop: str
    row: str
    values: dict[str, int]
    points: list[list[list[int]]]
    arrows: list[ArrowsModel]
    notes: list[str]


class ScopModel(Model):
    """``kind`` is ``scop``."""

    name: str
    text: str
    context: str
    parameters: list[ParameterModel]
    arrays: list[ArrayModel]
    statements: list[StatementModel]
    panes: list[PaneModel]
    timelines: list[TimelineModel]
    left_out: list[str]
    notes: list[str]


class DependenceModel(TypedDict):
    """A relation with its distance vectors as text; ``count`` pairs for the values of the pictures."""

    kind: str
    array: str
    source: str
    sink: str
    distances: list[str]
    relation: str
    count: int | None


class DependencesModel(Model):
    """``kind`` is ``dependences``; ``based`` is ``value`` or ``memory``."""

    based: str
    values: dict[str, int]
    relations: list[DependenceModel]
    panes: list[PaneModel]
    left_out: list[str]


class MemberModel(TypedDict):
    """A loop of a band: the affine function per statement as text, and what is known of it."""

    rows: dict[str, str]
    coincident: bool
    reduction_parallel: bool
    role: str


class NodeModel(TypedDict):
    """A node of a schedule tree; ``label`` is the line a reader sees."""

    kind: str
    label: str
    statements: list[str]
    members: list[MemberModel]
    permutable: bool
    children: list[NodeModel]


class DecisionModel(TypedDict):
    """One entry of the scheduler's log."""

    step: str
    text: str
    statements: list[str]


class ScheduleModel(Model):
    """``kind`` is ``schedule``."""

    scheduler: str
    tree: NodeModel
    decisions: list[DecisionModel]


class ViolationModel(TypedDict):
    """Two instances in the wrong order, for concrete parameter values."""

    kind: str
    array: str
    source: str
    source_instance: list[int]
    sink: str
    sink_instance: list[int]
    parameters: dict[str, int]
    explanation: str


class LegalityModel(Model):
    """``kind`` is ``legality``."""

    legal: bool
    violations: list[ViolationModel]


class LoopModel(TypedDict):
    """One loop and whether its iterations may run at the same time."""

    loop: str
    depth: int
    statements: list[str]
    parallel: bool
    reduction_parallel: bool
    explanation: str
    witness: ViolationModel | None


class ParallelismModel(Model):
    """``kind`` is ``parallelism``."""

    loops: list[LoopModel]


class ComparisonModel(Model):
    """``kind`` is ``comparison``; ``best`` is null when nobody is clearly fastest, ``verdict`` says so."""

    name: str
    rows: list[RowModel]
    baseline: str | None
    best: str | None
    verdict: str
    machine: str
    sizes: dict[str, int]
    notes: list[str]
    roofline: RooflineModel | None


class TuningModel(Model):
    """``kind`` is ``tuning``: a search for better options, its trials in order."""

    name: str
    title: str
    outcome: str
    trials: list[TrialModel]
    notes: list[str]


class ProgramModel(Model):
    """``kind`` is ``program``; ``lines`` maps lines of ``text`` (1-based, as text) to ``statement`` and source line."""

    target: str
    name: str
    text: str
    lines: dict[str, list[str | int]]
    notes: list[str]


class SectionModel(TypedDict):
    """A part of a combined view: its model, or null when the part has only text and HTML."""

    heading: str
    open: bool
    model: dict[str, Any] | None


class CombinedModel(Model):
    """``kind`` is ``combined``."""

    title: str
    sections: list[SectionModel]


class SuperpositionModel(Model):
    """``kind`` is ``superposition``: the functions per statement, the kernels, and what led to them."""

    functions: list[ScatteringModel]
    thread_groups: list[SpaceGroupModel]
    kernels: list[SuperposedKernelModel]
    costs: list[LineCostModel]
    verdicts: list[LoopVerdictModel]
    conditions: list[ConditionModel]


class LevelTreesModel(TypedDict):
    """The order of the blocks and the order inside a block; ``same``: there is only one."""

    blocks: NodeModel
    threads: NodeModel
    shared: list[SharedLoopModel]
    same: bool


class DeviceModel(Model):
    """``kind`` is ``device``: the kernels of a part on blocks and threads, and who runs what.

    ``compiler`` tells what ``resources`` come from, or why there are none; it is empty where nobody asked for them.
    ``run`` is what an emulated run counted.
    """

    name: str
    scheduler: str
    target: str
    kernels: list[KernelCardModel]
    pictures: list[ThreadPictureModel]
    trees: LevelTreesModel
    resources: list[ResourceModel]
    compiler: str
    run: DeviceRunModel | None


class OmittedModel(Model):
    """``kind`` is ``omitted``: the model of kind ``of`` could not be made small enough."""

    of: str


MODELS: dict[str, type] = {
    "scop": ScopModel,
    "dependences": DependencesModel,
    "schedule": ScheduleModel,
    "legality": LegalityModel,
    "parallelism": ParallelismModel,
    "comparison": ComparisonModel,
    "tuning": TuningModel,
    "program": ProgramModel,
    "superposition": SuperpositionModel,
    "device": DeviceModel,
    "combined": CombinedModel,
    "omitted": OmittedModel,
}
_SCALARS: dict[Any, str] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    type(None): "null",
}


def json_schema(kind: str) -> dict[str, Any]:
    """JSON Schema (2020-12) of the models of ``kind``; raises ``KeyError`` for a kind that does not exist.

    >>> json_schema("legality")["$ref"]
    '#/$defs/LegalityModel'
    """
    definitions: dict[str, Any] = {}
    reference = _schema_of(MODELS[kind], definitions)
    top = definitions[MODELS[kind].__name__]["properties"]
    top["v"], top["kind"] = {"const": VERSION}, {"const": kind}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **reference, "$defs": definitions}


def _schema_of(annotation: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    if annotation is Any:
        return {}
    if annotation in _SCALARS:
        return {"type": _SCALARS[annotation]}
    if is_typeddict(annotation):
        return _definition(annotation, definitions)
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is list:
        return {"type": "array", "items": _schema_of(arguments[0], definitions)}
    if origin is dict:
        return {"type": "object", "additionalProperties": _schema_of(arguments[1], definitions)}
    return {"anyOf": [_schema_of(argument, definitions) for argument in arguments]}


def _definition(kind: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    name = kind.__name__
    if name not in definitions:
        # Set before its fields are read: a node of a tree contains nodes.
        definitions[name] = {}
        hints = get_type_hints(kind)
        definitions[name] = {
            "type": "object",
            "description": kind.__doc__,
            "properties": {field: _schema_of(hint, definitions) for field, hint in hints.items()},
            "required": sorted(hints),
        }
    return {"$ref": f"#/$defs/{name}"}

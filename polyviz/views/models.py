"""JSON view models of the values: what an interactive view or another tool needs, always below 200 kB.

The shapes are in :mod:`polyviz.views.schema`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from polyviz.views.device import card_model, picture_model, resource_models, run_model, shared_models
from polyviz.views.fit import fit
from polyviz.views.nodes import read_tree
from polyviz.views.notation import affine, assumptions, condition_of, relation
from polyviz.views.schema import (
    VERSION,
    ArrayModel,
    ArrowsModel,
    CombinedModel,
    DecisionModel,
    DependenceModel,
    DependencesModel,
    DeviceModel,
    LegalityModel,
    LoopModel,
    MemberModel,
    Model,
    NodeModel,
    PaneModel,
    ParallelismModel,
    ProgramModel,
    ScheduleModel,
    ScopModel,
    SectionModel,
    StatementModel,
    TimelineModel,
    ViolationModel,
)
from polyviz.views.text import left_out, parameter_source
from polyviz.views.tree import label, root_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from polyviz.model.dependences import Dependences, Legality, LoopParallelism, Violation
    from polyviz.model.device_view import DeviceView
    from polyviz.model.program import Program
    from polyviz.model.schedule import Decision, Schedule
    from polyviz.model.scop import Array, Scop, Statement
    from polyviz.views.instances import Arrow, Pane
    from polyviz.views.nodes import Member, Node
    from polyviz.views.pictures import DependenceRow, Pictures
    from polyviz.views.timeline import Timeline

Json = dict[str, Any]


def _small(model: Model) -> Json:
    return fit(cast("Json", model))


def scop_model(scop: Scop, found: Pictures) -> Json:
    """The part with its pictures."""
    model: ScopModel = {
        "v": VERSION,
        "kind": "scop",
        "shortened": [],
        "name": scop.name,
        "text": scop.text,
        "context": assumptions(scop),
        "parameters": [{"name": one.name, "source": parameter_source(one)} for one in scop.parameters],
        "arrays": [_array(array) for array in scop.arrays],
        "statements": [_statement(statement, scop) for statement in scop.statements],
        "panes": [_pane(pane) for pane in found.panes],
        "timelines": [_timeline(picture) for picture in found.timelines],
        "left_out": list(found.left_out),
        "notes": list(scop.notes),
    }
    return _small(model)


def _array(array: Array) -> ArrayModel:
    return {
        "name": array.name,
        "extents": ["?" if extent is None else affine(extent) for extent in array.extents],
        "type": array.dtype,
        "live_in": array.live_in,
        "live_out": array.live_out,
    }


def _statement(statement: Statement, scop: Scop) -> StatementModel:
    span = statement.span
    return {
        "name": statement.name,
        "iterators": list(statement.iterators),
        "domain": condition_of(statement, scop),
        "source": statement.source,
        "line": span.line,
        "column": span.column,
        "end_line": span.end_line,
        "end_column": span.end_column,
        "accesses": [
            {
                "kind": access.kind,
                "array": access.array,
                "text": access.text,
                "relation": relation(access.relation.gist_domain(statement.domain)),
                "exact": access.exact,
                "reason": access.reason,
            }
            for access in statement.accesses
        ],
    }


def _pane(pane: Pane) -> PaneModel:
    return {
        "statement": pane.statement,
        "iterators": list(pane.iterators),
        "values": dict(pane.values),
        "points": [list(point) for point in pane.points],
        "arrows": _arrows(pane.arrows),
        "complete": pane.complete,
        "notes": list(pane.notes),
    }


def _timeline(picture: Timeline) -> TimelineModel:
    return {
        "statements": list(picture.statements),
        "loop": picture.loop,
        "row": picture.row_name,
        "values": dict(picture.values),
        "points": [[list(point) for point in points] for points in picture.points],
        "arrows": _arrows(picture.arrows),
        "notes": list(picture.notes),
    }


def _arrows(arrows: Iterable[Arrow]) -> list[ArrowsModel]:
    grouped: dict[tuple[str, str, str, str], list[list[int]]] = {}
    for arrow in arrows:
        key = (arrow.kind, arrow.array, arrow.source_name, arrow.sink_name)
        grouped.setdefault(key, []).append([*arrow.source, *arrow.sink])
    return [
        {"kind": kind, "array": array, "source": source, "sink": sink, "pairs": pairs}
        for (kind, array, source, sink), pairs in grouped.items()
    ]


def dependences_model(
    dependences: Dependences,
    rows: Sequence[DependenceRow],
    values: Mapping[str, int],
    panes: Sequence[Pane] = (),
) -> Json:
    """The relations as rows, with pictures where the part's own model does not carry them."""
    model: DependencesModel = {
        "v": VERSION,
        "kind": "dependences",
        "shortened": [],
        "based": dependences.kind,
        "values": dict(values),
        "relations": [_dependence(row) for row in rows],
        "panes": [_pane(pane) for pane in panes],
        "left_out": [*left_out(dependences), *dependences.notes],
    }
    return _small(model)


def _dependence(row: DependenceRow) -> DependenceModel:
    return {
        "kind": row.kind,
        "array": row.array,
        "source": row.source,
        "sink": row.sink,
        "distances": list(row.distances),
        "relation": row.relation,
        "count": row.count,
    }


def schedule_model(schedule: Schedule) -> Json:
    """The tree with its loops, and the log of decisions."""
    model: ScheduleModel = {
        "v": VERSION,
        "kind": "schedule",
        "shortened": [],
        "scheduler": schedule.scheduler,
        "tree": _node(root_of(schedule)),
        "decisions": decision_models(schedule.decisions),
    }
    return _small(model)


def decision_models(decisions: Iterable[Decision]) -> list[DecisionModel]:
    """The log of a schedule, or of a plan."""
    return [{"step": one.step, "text": one.text, "statements": list(one.statements)} for one in decisions]


def member_model(member: Member) -> MemberModel:
    """One loop of a band."""
    return {
        "rows": dict(member.rows),
        "coincident": member.coincident,
        "reduction_parallel": member.reduction_parallel,
        "role": member.role,
    }


def _node(node: Node) -> NodeModel:
    return {
        "kind": node.kind,
        "label": label(node),
        "statements": list(node.statements),
        "members": [member_model(member) for member in node.members],
        "permutable": node.permutable,
        "children": [_node(child) for child in node.children],
    }


def device_model(view: DeviceView) -> Json:
    """A part on blocks and threads."""
    trees = view.trees
    model: DeviceModel = {
        "v": VERSION,
        "kind": "device",
        "shortened": [],
        "name": view.name,
        "scheduler": view.scheduler,
        "target": view.target,
        "kernels": [card_model(card) for card in view.cards],
        "pictures": [picture_model(picture) for picture in view.pictures],
        "trees": {
            "blocks": _node(read_tree(trees.blocks)),
            "threads": _node(read_tree(trees.threads)),
            "shared": shared_models(trees),
            "same": trees.same,
        },
        "resources": resource_models(view),
        "compiler": view.compiler,
        "run": run_model(view),
    }
    return _small(model)


def legality_model(legality: Legality) -> Json:
    """The verdict with its counterexamples."""
    model: LegalityModel = {
        "v": VERSION,
        "kind": "legality",
        "shortened": [],
        "legal": bool(legality),
        "violations": [violation_model(found) for found in legality.violations],
    }
    return _small(model)


def violation_model(found: Violation) -> ViolationModel:
    """Two instances in the wrong order."""
    return {
        "kind": found.kind,
        "array": found.array,
        "source": found.source,
        "source_instance": list(found.source_instance),
        "sink": found.sink,
        "sink_instance": list(found.sink_instance),
        "parameters": dict(found.parameters),
        "explanation": found.explanation,
    }


def parallelism_model(loops: Sequence[LoopParallelism]) -> Json:
    """The verdict on each loop with its witness."""
    model: ParallelismModel = {
        "v": VERSION,
        "kind": "parallelism",
        "shortened": [],
        "loops": [loop_model(loop) for loop in loops],
    }
    return _small(model)


def loop_model(loop: LoopParallelism) -> LoopModel:
    """The verdict on one loop."""
    return {
        "loop": loop.loop,
        "depth": loop.depth,
        "statements": list(loop.statements),
        "parallel": loop.parallel,
        "reduction_parallel": loop.reduction_parallel,
        "explanation": loop.explanation,
        "witness": None if loop.witness is None else violation_model(loop.witness),
    }


def program_model(program: Program) -> Json:
    """The generated text with the way back to statements and source lines."""
    model: ProgramModel = {
        "v": VERSION,
        "kind": "program",
        "shortened": [],
        "target": program.target,
        "name": program.name,
        "text": program.text,
        "lines": {str(line): [origin.statement, origin.span.line] for line, origin in program.lines.items()},
        "notes": list(program.notes),
    }
    return _small(model)


def combined_model(title: str, sections: Sequence[tuple[str, bool, Json | None]]) -> Json:
    """Several models as the sections of one view; the limit holds for all of them together."""
    parts: list[SectionModel] = [
        {"heading": name, "open": opened, "model": model} for name, opened, model in sections
    ]
    model: CombinedModel = {
        "v": VERSION,
        "kind": "combined",
        "shortened": [],
        "title": title,
        "sections": parts,
    }
    return _small(model)

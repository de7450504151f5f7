"""The model of the linked views: one loop nest, its instances, its dependences and its schedules side by side."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, cast

from polyviz.views.fit import fit, size
from polyviz.views.linked_device import linked_device_model
from polyviz.views.linked_memory import accesses_model, array_model
from polyviz.views.linked_points import (
    between,
    carrying_dimensions,
    instances_of,
    maps_by_statement,
    times_of,
)
from polyviz.views.linked_reasons import loop_reasons, reason_models
from polyviz.views.linked_schema import InspectorModel
from polyviz.views.linked_sketch import Sketch
from polyviz.views.models import Json, decision_models, loop_model, member_model
from polyviz.views.notation import assumptions, condition_of
from polyviz.views.pictures import dependence_rows, shown_values
from polyviz.views.schema import MODELS, VERSION, ComparisonModel, SuperpositionModel
from polyviz.views.sizes import binding
from polyviz.views.superposition import superposition_model
from polyviz.views.text import left_out, parameter_source
from polyviz.views.timing_models import comparison_model
from polyviz.views.tree import label, root_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import islpy as isl

    from polyviz.model.dependences import Dependence, Dependences, LoopParallelism
    from polyviz.model.device_view import DeviceView
    from polyviz.model.measurement import ComparisonData
    from polyviz.model.plan import Plan
    from polyviz.model.program import Program
    from polyviz.model.reason import Reason
    from polyviz.model.schedule import Schedule
    from polyviz.model.scop import Scop, Statement
    from polyviz.views.linked_points import Between, Instances
    from polyviz.views.linked_schema import (
        BoundParameterModel,
        EditModel,
        LinkedNodeModel,
        LinkedProgramModel,
        LinkedRelationModel,
        LinkedStatementModel,
        LostModel,
        MappingModel,
        OrderingModel,
        VariantModel,
    )
    from polyviz.views.nodes import Node
    from polyviz.views.pictures import DependenceRow

MODELS["inspector"] = InspectorModel
HIGHEST = 24
"""The largest value that a slider offers: pictures of more are clipped anyway."""
_TARGET = 160_000
_WITH_TEXTS = 165_000
# Instances in all and pairs per relation, from a rich picture to hardly any; the first that fits is taken.
_BUDGETS = ((4000, 1500), (2000, 600), (1000, 250), (400, 100), (150, 40), (0, 0))
_LEAST_PAIR = len("[0, 0], ")


@dataclass(frozen=True, slots=True)
class Variant:
    """A schedule to show, its program, and the address of each of its loops in depth-first order.

    ``device`` are its kernels and ``reasons`` what was found out about its loops and statements, where somebody asked;
    ``plan`` is then that of the program that is compiled, and ``compiled`` this program.
    """

    name: str
    schedule: Schedule
    program: Program | None = None
    addresses: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    device: DeviceView | None = None
    reasons: tuple[Reason, ...] | None = None
    plan: Plan | None = None
    compiled: Program | None = None


@dataclass(frozen=True, slots=True)
class Subject:
    """Everything known of one loop nest that the linked views show.

    ``element_bytes`` are those of the arrays whose elements are known; others count as eight bytes.
    """

    scop: Scop
    dependences: Dependences
    loops: Sequence[LoopParallelism]
    variants: Sequence[Variant]
    refusals: Mapping[str, str] = field(default_factory=dict)
    sizes: Mapping[str, int] = field(default_factory=dict)
    comparison: ComparisonData | None = None
    edit: EditModel | None = None
    lost: LostModel | None = None
    warnings: tuple[str, ...] = ()
    element_bytes: Mapping[str, int] = field(default_factory=dict)


def inspector_model(
    subject: Subject, values: Mapping[str, int] | None = None, sketch: Sketch | None = None
) -> Json:
    """The JSON of the linked views, below the limit of all models.

    ``values`` are parameter values to draw for; without them small ones are chosen that show the shape.
    """
    chosen = dict(values) if values is not None else shown_values(subject.scop, subject.sizes or None)
    sketch = sketch or Sketch()
    sketch.begin(chosen)
    sketch.rows = sketch.rows or _rows(subject, chosen)
    model: Json = {}
    for place, (points, pairs) in enumerate(_BUDGETS[sketch.budget :], sketch.budget):
        drawing = _Drawing(subject, chosen, points, pairs, sketch)
        # What had to be cut once stays so: a picture does not change because a schedule comes or goes.
        sketch.budget = place
        model = drawing.without_pairs()
        left = _TARGET - size(model)
        if not pairs or (left >= 0 and drawing.least_of_pairs() <= left):
            model = {**model, "relations": drawing.relations()}
            if size(model) <= _TARGET:
                return _with_compiled(model, subject.variants)
    return fit(model)


def ordering_model(schedule: Schedule, sketch: Sketch) -> OrderingModel:
    """When the instances of the last drawing would run under another schedule.

    >>> import polyviz as pv
    >>> part = pv.extract("def f(A):\\n    for i in range(4):\\n        A[i] = 0")
    >>> sketch = Sketch()
    >>> _ = inspector_model(Subject(part, pv.dependences(part), (), ()), sketch=sketch)
    >>> ordering_model(pv.schedule(part, "original"), sketch)["times"]
    {'S0': [[0], [1], [2], [3]]}
    """
    bound = binding(sketch.values or {}, schedule.map.get_ctx())
    return {"tree": _tree(schedule, ()), "times": times_of(schedule.map, bound, sketch.shown)}


def _tree(schedule: Schedule, addresses: Sequence[str]) -> LinkedNodeModel:
    return _node(root_of(schedule), 0, iter(addresses))


def _rows(subject: Subject, values: Mapping[str, int]) -> list[tuple[Dependence, DependenceRow]]:
    """Every dependence beside its row of the table; the input ones, which constrain no order, come last."""
    found = subject.dependences
    relations = sorted(found.relations, key=lambda one: one.kind == "input")
    ordered = replace(found, relations=tuple(relations))
    return list(zip(relations, dependence_rows(ordered, subject.scop, values, inputs=True), strict=True))


@dataclass(frozen=True, slots=True)
class _Drawing:
    """One attempt to fit the subject into the limit."""

    subject: Subject
    values: Mapping[str, int]
    most_points: int
    most_pairs: int
    sketch: Sketch

    @property
    def bound(self) -> isl.Set:
        """The parameters with the values drawn."""
        context = self.subject.scop.context
        return self.sketch.once("bound", context, lambda: binding(self.values, context.get_ctx()))

    def without_pairs(self) -> Json:
        """The model as if no dependence had any pairs: everything that is quick."""
        subject = self.subject
        drawn = self._instances()
        self.sketch.shown = drawn
        model: InspectorModel = {
            "v": VERSION,
            "kind": "inspector",
            "shortened": [],
            "name": subject.scop.name,
            "text": subject.scop.text,
            "context": assumptions(subject.scop),
            "parameters": self._parameters(),
            "arrays": [
                array_model(one, subject.scop, self.values, subject.element_bytes.get(one.name))
                for one in subject.scop.arrays
                if one.rank > 0
            ],
            "statements": self.sketch.once("statements", drawn, lambda: self._statements(drawn)),
            "relations": self._without_pairs(),
            "variants": [self._variant(one, drawn) for one in subject.variants],
            "refusals": [{"name": name, "reason": why} for name, why in subject.refusals.items()],
            "loops": [loop_model(loop) for loop in subject.loops],
            "comparison": _comparison(subject.comparison),
            "edit": subject.edit,
            "lost": subject.lost,
            "warnings": list(subject.warnings),
            "notes": [*subject.scop.notes, *left_out(subject.dependences), *subject.dependences.notes],
        }
        return cast("Json", model)

    def _instances(self) -> dict[str, Instances]:
        """The instances of each statement, as many as its share of the budget allows."""
        statements, drawn = self.subject.scop.statements, self.sketch.drawn
        share = self.most_points // max(1, len(statements))
        if share not in drawn:
            richest = drawn[max(drawn)] if drawn else {}
            some = statements if share else ()
            drawn[share] = {one.name: self._share(one, share, richest.get(one.name)) for one in some}
        return drawn[share]

    def _share(self, statement: Statement, share: int, richer: Instances | None) -> Instances:
        if richer is not None and len(richer.points) <= share:
            return richer
        return instances_of(statement, self.bound, share)

    def relations(self) -> list[LinkedRelationModel]:
        """The dependences with their pairs."""
        if self.most_pairs not in self.sketch.relations:
            drawn, most = self.sketch.shown, self.most_pairs
            pairs = [
                [] if one is None else one.pairs(drawn[row.source], drawn[row.sink], most)
                for one, (_, row) in zip(self._between(), self.sketch.rows, strict=True)
            ]
            bare = zip(self._without_pairs(), pairs, strict=True)
            self.sketch.relations[most] = [{**model, "pairs": found} for model, found in bare]
        return self.sketch.relations[self.most_pairs]

    def least_of_pairs(self) -> int:
        """Bytes that the pairs of the dependences take at the least, with numbers of one digit."""
        return sum(_LEAST_PAIR * one.drawn(self.most_pairs) for one in self._between() if one is not None)

    def _between(self) -> list[Between | None]:
        """The pairs of every dependence, not enumerated yet; None where an end is not drawn."""
        return [self._counted(found, number) for number, (found, _) in enumerate(self.sketch.rows)]

    def _counted(self, found: Dependence, number: int) -> Between | None:
        once, drawn = self.sketch.once, self.sketch.shown
        if found.source not in drawn or found.sink not in drawn:
            return None
        source, sink = drawn[found.source], drawn[found.sink]
        relation = once(("bound", number), found, lambda: found.relation.intersect_params(self.bound))
        whole = once(("between", number, id(source)), sink, lambda: between(relation, source, sink))
        few = whole.count <= 2 * self.most_pairs
        return whole if few else once(("nearest", number), whole, whole.nearest)

    def _parameters(self) -> list[BoundParameterModel]:
        return [
            {
                "name": one.name,
                "source": parameter_source(one),
                "value": self.values[one.name],
                "low": min(1, self.values[one.name]),
                "high": max(HIGHEST, self.values[one.name]),
                "given": self.subject.sizes.get(one.name),
            }
            for one in self.subject.scop.parameters
            if one.name in self.values
        ]

    def _without_pairs(self) -> list[LinkedRelationModel]:
        return [
            {
                "kind": row.kind,
                "array": row.array,
                "source": row.source,
                "sink": row.sink,
                "distances": list(row.distances),
                "relation": row.relation,
                "count": row.count,
                "pairs": [],
            }
            for _, row in self.sketch.rows
        ]

    def _variant(self, variant: Variant, drawn: Mapping[str, Instances]) -> VariantModel:
        schedule, device, name = variant.schedule, variant.device, variant.name
        once = self.sketch.once
        return {
            "tree": once((name, "tree"), schedule, lambda: _tree(schedule, variant.addresses)),
            "times": times_of(schedule.map, self.bound, drawn, once((name, "times"), schedule, dict)),
            "name": name,
            "decisions": decision_models(schedule.decisions),
            "loops": loop_reasons(schedule),
            "reasons": None if variant.reasons is None else reason_models(variant.reasons),
            "carried": once((name, "carried"), schedule, lambda: self._carried(schedule)),
            "program": _program(variant.program),
            "mapping": _mapping(variant.plan),
            "superposition": _superposition(schedule),
            "device": None
            if device is None
            else once((name, "device", id(drawn)), device, lambda: linked_device_model(device, self.bound, drawn)),
            "notes": list(variant.notes),
        }

    def _carried(self, schedule: Schedule) -> list[list[int]]:
        """For every row of the table of dependences the dimensions of time that carry it."""
        order = maps_by_statement(schedule.map)
        relations = [found for found, _ in self.sketch.rows]
        return [carrying_dimensions(one.relation, order, one.source, one.sink) for one in relations]

    def _statements(self, drawn: Mapping[str, Instances]) -> list[LinkedStatementModel]:
        return [self._statement(one, drawn.get(one.name)) for one in self.subject.scop.statements]

    def _statement(self, statement: Statement, drawn: Instances | None) -> LinkedStatementModel:
        none = "no instances are drawn: there are too many statements for one picture"
        return {
            "name": statement.name,
            "iterators": list(statement.iterators),
            "domain": condition_of(statement, self.subject.scop),
            "source": statement.source,
            "line": statement.span.line,
            "end_line": statement.span.end_line,
            "loop_lines": [span.line for span in statement.loop_spans],
            "accesses": accesses_model(statement, self.values),
            "points": [] if drawn is None else [list(point) for point in drawn.points],
            "total": None if drawn is None else drawn.total,
            "notes": [none] if drawn is None else list(drawn.notes),
        }


def _node(node: Node, time: int, addresses: Iterator[str]) -> LinkedNodeModel:
    """``node`` with the dimensions of time that it counts in; ``time`` is the first that is free."""
    counts = node.kind in ("sequence", "set")
    below = time + len(node.members) + counts
    return {
        "kind": node.kind,
        "label": label(node),
        "statements": list(node.statements),
        "members": [
            {**member_model(member), "time": time + place, "address": next(addresses, "")}
            for place, member in enumerate(node.members)
        ],
        "permutable": node.permutable,
        "time": time if counts else -1,
        "children": [_node(child, below, addresses) for child in node.children],
    }


def _program(program: Program | None) -> LinkedProgramModel | None:
    if program is None:
        return None
    return {
        "target": program.target,
        "text": program.text,
        "lines": {str(line): origin.statement for line, origin in program.lines.items()},
        "notes": list(program.notes),
    }


def _mapping(plan: Plan | None) -> MappingModel | None:
    if plan is None:
        return None
    return {"target": plan.target, "decisions": decision_models(plan.decisions), "text": ""}


def _with_compiled(model: Json, variants: Sequence[Variant]) -> Json:
    """``model`` with the texts of compiled programs, as long as there is room: a picture does not change for them."""
    left = _WITH_TEXTS - size(model)
    for shown, variant in zip(model["variants"], variants, strict=True):
        text = "" if variant.compiled is None else variant.compiled.text
        if shown["mapping"] is not None and size(text) <= left:
            shown["mapping"]["text"] = text
            left -= size(text)
    return model


def _superposition(schedule: Schedule) -> SuperpositionModel | None:
    found = schedule.superposition
    return None if found is None else cast("SuperpositionModel", superposition_model(found))


def _comparison(data: ComparisonData | None) -> ComparisonModel | None:
    return None if data is None else cast("ComparisonModel", comparison_model(data))

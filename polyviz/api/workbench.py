"""The state behind the linked views: the schedules of one loop nest, the sizes drawn, and an edit with its history."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polyviz.api.building import build_kernel, choose_schedule
from polyviz.api.editing import replay_on
from polyviz.api.emulating import EMULATED, emulated_view
from polyviz.api.inspecting import LostMoves
from polyviz.api.menu import menu
from polyviz.api.reasons import reasons_of
from polyviz.api.rooflines import roofline_of
from polyviz.editing import recover_steps, start_edit
from polyviz.editing.places import TOP
from polyviz.editing.script import START
from polyviz.editing.steps import rows_of
from polyviz.errors import OptionError, PolyvizError
from polyviz.model.exclusion import exclusive
from polyviz.runtime.binding import Binder
from polyviz.scheduling import scheduler_names
from polyviz.views.linked import Subject, Variant, inspector_model
from polyviz.views.linked_sketch import Sketch

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from polyviz.api.inspecting import Inspector
    from polyviz.editing import Edit
    from polyviz.editing.edit import Step
    from polyviz.editing.steps import Steps
    from polyviz.model.measurement import ComparisonData
    from polyviz.model.program import ArrayType, Program
    from polyviz.model.schedule import Schedule
    from polyviz.runtime.worker import Worker
    from polyviz.views.linked_schema import ChoiceModel, EditModel
    from polyviz.views.models import Json

_ORIGINAL = "original"
EDITED = "by hand"
"""The name of the schedule that moves were made on."""


@dataclass(slots=True)
class Workbench:
    """What a person has asked for so far about the loops of ``inspector``; ``model`` is what the views draw.

    Moves are kept in the inspector, where they are found from Python and whenever it is shown again. ``values`` are
    the sizes to draw for, None for a choice of our own.
    """

    inspector: Inspector
    values: Mapping[str, int] | None = None
    comparison: ComparisonData | None = None
    schedules: dict[str, Schedule] = field(default_factory=dict)
    _variants: dict[str, Variant] = field(default_factory=dict)
    _edited: tuple[Edit, Schedule] | None = None
    _sketch: Sketch = field(default_factory=Sketch)
    _menus: dict[tuple[str, str], tuple[object, object, list[ChoiceModel]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.schedules = {**self.inspector.schedules, **self.schedules}

    @property
    def edit(self) -> Edit | None:
        """The moves made so far; None while there are none."""
        return self.inspector.handiwork.edit

    @edit.setter
    def edit(self, edit: Edit) -> None:
        self.inspector.handiwork.edit = edit

    @exclusive
    def model(self) -> Json:
        """The JSON of everything as it is now."""
        found = self.inspector
        lost = found.handiwork.lost
        variants = [self._variant(name, schedule) for name, schedule in self.shown().items()]
        subject = Subject(
            scop=found.scop,
            dependences=found.dependences,
            loops=found.loops,
            variants=variants,
            refusals=found.refusals,
            sizes=found.sizes,
            comparison=self.comparison,
            edit=self._edit_model(),
            lost=None if lost is None else {"script": lost.script, "problem": lost.problem},
            element_bytes=found.element_bytes,
            warnings=found.warnings,
        )
        return inspector_model(subject, self.values, self._sketch)

    def save(self, path: str | Path) -> None:
        """Write the views to a file; one that ends in ``.polyviz.json`` opens in JupyterLab without a kernel."""
        Path(path).write_text(json.dumps(self.model(), ensure_ascii=False), encoding="utf-8")

    def add(self, name: str) -> None:
        """Another schedule by the scheduler ``name``; raises what the scheduler raises."""
        found = self.inspector
        self.schedules[name] = choose_schedule(found.scop, found.dependences, name, {})

    def add_missing(self, names: Iterable[str]) -> list[str]:
        """Add the schedules of an earlier kernel that are not here, as far as a scheduler makes them, and say which."""
        added = []
        for name in dict.fromkeys(names):
            with suppress(PolyvizError):
                if name not in self.shown():
                    self.add(name)
                    added.append(name)
        return added

    def choices(self, variant: str, address: str) -> Iterator[ChoiceModel]:
        """The moves at ``address`` of a variant, as they are found; legal ones again once their effect is known.

        Raises ``OptionError`` when there is no such variant or place.
        """
        if self._sketch.values is None:
            self.model()
        order = self.edit if variant == EDITED else self.schedules.get(variant)
        known = self._menus.get((variant, address))
        if known is not None and known[0] is order and known[1] is self._sketch.shown:
            return iter(known[2])
        return self._looked_for(menu(self._editing(variant), address, self._sketch), order, (variant, address))

    def _looked_for(
        self, found: Iterator[ChoiceModel], order: object, key: tuple[str, str]
    ) -> Iterator[ChoiceModel]:
        """``found``, which is kept for those who ask again for the moves there."""
        choices: dict[int, ChoiceModel] = {}
        for choice in found:
            choices[choice["place"]] = choice
            yield choice
        self._menus[key] = (order, self._sketch.shown, list(choices.values()))

    def apply(self, variant: str, move: str, at: str | None, arguments: Mapping[str, Any]) -> None:
        """Make a move on a variant; one on another variant than before begins a new history."""
        self.edit = self._editing(variant).apply(move, at, **arguments)

    def as_moves(self, variant: str) -> None:
        """Make the order of a variant by named moves from the original order, which becomes the history.

        Where they would pass through an illegal order, one move at the end makes all that is left at once.
        """
        found, target = self.inspector, self.schedule(variant)
        steps = recover_steps(found.scop, found.dependences, target)
        start = choose_schedule(found.scop, found.dependences, _ORIGINAL, {})
        edit = start_edit(found.scop, start, {START: _ORIGINAL}, found.dependences)
        for step in steps.legal_steps:
            edit = edit.apply(step.name, step.at, **step.arguments)
        if not steps.is_legal:
            edit = _at_once(edit.apply("rows", TOP, rows=rows_of(target), whole=True), steps)
        self.edit = edit

    def go_to(self, position: int) -> None:
        """Undo or redo until ``position`` moves are made; raises ``OptionError`` when there are not so many."""
        if self.edit is None:
            raise OptionError("There is nothing to undo: no move was made yet.")
        done = len(self.edit.done)
        self.edit = self.edit.undo(done - position) if position < done else self.edit.redo(position - done)

    def replay(self, script: str, undone: int) -> None:
        """Make the moves of ``script``, an edit of an earlier kernel, again, and undo the last ``undone`` of them.

        Raises what the first move raises that cannot be made here; no move is made then, and the script is kept.
        """
        found = self.inspector
        try:
            self.edit = replay_on(found.scop, found.dependences, script).undo(undone)
        except PolyvizError as error:
            found.handiwork.lost = LostMoves(script, f"{error.message} {error.reason}".strip())
            raise
        found.handiwork.lost = None

    def draw_for(self, values: Mapping[str, int]) -> None:
        """Draw for other sizes; raises ``OptionError`` for a size that does not exist or cannot be."""
        names = {parameter.name for parameter in self.inspector.scop.parameters}
        unknown = sorted(set(values) - names)
        if unknown:
            raise OptionError(f"There is no size `{unknown[0]}`; the sizes are {', '.join(sorted(names))}.")
        self.values = dict(values)

    def add_roofline(self) -> None:
        """Put what was timed under the roof of this machine, once that is known."""
        if self.comparison is not None:
            bound = Binder(self.inspector.scop, None).bind(self.inspector.arguments, {})
            self.comparison = replace(self.comparison, roofline=roofline_of(self.inspector.scop, bound))

    def map_to_device(self, name: str) -> None:
        """Find out which kernels a device would run for the schedule ``name``; raises where it cannot have any."""
        found, schedule = self.inspector, self.schedule(name)
        kernel = build_kernel(found.scop, found.dependences, found.scop, schedule=schedule, target=EMULATED)
        view = kernel.view_of(kernel.specialise(self._types()), None)
        self._variants[name] = replace(self._variant(name, schedule), device=view)

    def emulate(self, name: str, worker: Worker) -> None:
        """Run the kernels of the schedule ``name`` in the emulator, in ``worker``; their cards have the counts then.

        Raises what ``emulated_view`` raises.
        """
        schedule = self.schedule(name)
        view = emulated_view(self.inspector, schedule, worker)
        self.inspector.handiwork.emulated[name] = (schedule, view)

    def explain(self, name: str) -> None:
        """Find out why the loops and statements of the schedule ``name``, and of its program, are what they are."""
        found, schedule = self.inspector, self.schedule(name)
        plan = compiled = None
        with suppress(PolyvizError):
            kernel = build_kernel(found.scop, found.dependences, found.scop, schedule=schedule, target="auto")
            plan = kernel.plan
            compiled = kernel.specialise(self._types())
            plan = kernel.plan_of(compiled)
        edit = start_edit(found.scop, schedule, {START: name}, found.dependences)
        reasons = reasons_of(edit, plan)
        self._variants[name] = replace(self._variant(name, schedule), reasons=reasons, plan=plan, compiled=compiled)

    def explain_rest(self, seconds: float) -> None:
        """Find out the same for the schedules of which nobody asked, beginning no other after ``seconds``."""
        for _ in self.explaining(seconds):
            pass

    def explaining(self, seconds: float) -> Iterator[str]:
        """The same, with a pause after each schedule, in which something else may be done; gives their names."""
        left = seconds
        for name, schedule in self.shown().items():
            if self._variant(name, schedule).reasons is None and left > 0:
                begun = time.monotonic()
                with suppress(PolyvizError):  # Whoever unfolds the part is told.
                    self.explain(name)
                left -= time.monotonic() - begun
                yield name

    def schedule(self, name: str) -> Schedule:
        """The schedule shown under ``name``; raises ``OptionError`` when there is none."""
        shown = self.shown()
        if name not in shown:
            raise OptionError(f"No schedule is shown as `{name}`; shown are {', '.join(shown)}.")
        return shown[name]

    def shown(self) -> dict[str, Schedule]:
        """The schedules by the names under which they are shown."""
        if self.edit is None:
            return self.schedules
        if self._edited is None or self._edited[0] is not self.edit:
            self._edited = (self.edit, self.edit.schedule)
        return {**self.schedules, EDITED: self._edited[1]}

    def _editing(self, variant: str) -> Edit:
        if variant == EDITED and self.edit is not None:
            return self.edit
        found, schedule = self.inspector, self.schedule(variant)
        # A script begins with a scheduler's name where it can, else with the tree itself.
        start = variant if variant in scheduler_names() else str(schedule.tree)
        return start_edit(found.scop, schedule, {START: start}, found.dependences)

    def _variant(self, name: str, schedule: Schedule) -> Variant:
        known = self._variants.get(name)
        if known is None or known.schedule is not schedule:
            known = Variant(name, schedule, self._program(schedule), self._addresses(name, schedule))
            self._variants[name] = known
        counted = self.inspector.handiwork.emulated.get(name)
        # An edit goes on under the name that it has; the counts are those of the order that was run.
        return known if counted is None or counted[0] is not schedule else replace(known, device=counted[1])

    def _program(self, schedule: Schedule) -> Program | None:
        found = self.inspector
        try:
            kernel = build_kernel(
                found.scop, found.dependences, found.scop, schedule=schedule, target="python", tile=False
            )
            return kernel.specialise(self._types())
        except PolyvizError:
            return None

    def _types(self) -> Mapping[str, ArrayType]:
        """The types of the arguments, where they are known and fit."""
        with suppress(PolyvizError):
            return Binder(self.inspector.scop, None).bind(self.inspector.arguments, {}, overlapping=True).types
        return {}

    def _addresses(self, name: str, schedule: Schedule) -> tuple[str, ...]:
        found = self.inspector
        return start_edit(found.scop, schedule, {START: name}, found.dependences).loops

    def _told(self, step: Step) -> str:
        """What a move decided, with the lines of the loops that its addresses name in the source."""
        addresses = [step.at] if step.at else step.arguments.get("order", ())
        lines = {line for address in addresses for line in self._lines_of(str(address))}
        where = (
            f" ({'line' if len(lines) == 1 else 'lines'} {', '.join(map(str, sorted(lines)))})"
            if lines
            else ""
        )
        return step.decision.text.removesuffix(".") + where + "."

    def _lines_of(self, address: str) -> Iterator[int]:
        """The lines of the loops of the source that ``address`` names."""
        statement, _, loop = address.rpartition(".")
        for one in self.inspector.scop.statements:
            for iterator, span in zip(one.iterators, one.loop_spans, strict=False):
                if iterator == loop and statement in ("", one.name):
                    yield span.line

    def _edit_model(self) -> EditModel | None:
        edit = self.edit
        if edit is None:
            return None
        steps = (*edit.done, *edit.undone)
        return {
            "variant": EDITED,
            "start": str(edit.origin[START]),
            "steps": [{"text": str(step), "decision": self._told(step)} for step in steps],
            "undone": len(edit.undone),
            "script": edit.script(),
            "python": edit.python(),
        }


def _at_once(edit: Edit, steps: Steps) -> Edit:
    """``edit`` with the reason why its last move makes several others at once."""
    made = len(steps.legal_steps)
    left, first = len(steps.steps) - made, steps.steps[made]
    text = (
        f"What is left is made at once. By named moves there are {left} more, but the first of them, {first}, leads "
        f"through an illegal order: {first.legality.violations[0].explanation}."
    )
    last = edit.done[-1]
    told = replace(last, decision=replace(last.decision, text=text))
    return replace(edit, done=(*edit.done[:-1], told))

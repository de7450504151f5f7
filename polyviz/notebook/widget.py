"""The linked views as a live widget: what a person asks for in the picture is computed here and drawn again."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

import anywidget
import traitlets

from polyviz.api.shown import inspector_bundle
from polyviz.api.workbench import EDITED, Workbench
from polyviz.errors import OptionError, PolyvizError
from polyviz.model.exclusion import exclusive
from polyviz.model.words import listed, plural
from polyviz.notebook.idle import IDLENESS
from polyviz.notebook.timing import Timing
from polyviz.scheduling import scheduler_names
from polyviz.views.front_end import ADVICE, widget_script

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from polyviz.api import Comparison, Inspector
    from polyviz.views.linked_schema import ChoiceModel

PAGE_AFTER = 4.0
"""Seconds without a question or a cell after which the static forms are made anew: that takes a moment."""
PAUSE = 0.005
"""Seconds between two steps of what nobody waits for, in which questions come in."""
REASON_SECONDS = 1.0
"""How long reasons are looked for then: somebody may come back and ask for something else."""
_CHANGES = frozenset({"schedule", "values", "apply", "moves", "replay", "history", "device", "why"})


class InspectorWidget(anywidget.AnyWidget):
    """The views of one loop nest; ``workbench`` holds the schedules and the edit that were made in it.

    ``shown`` names the schedule for which the model was made anew: the front end draws that at once, and nothing twice.
    The schedules can be timed when ``inspector`` knows arguments to run them on, which stay as they are.
    """

    model = traitlets.Dict().tag(sync=True)
    schedulers: traitlets.List[str] = traitlets.List().tag(sync=True)
    can_run = traitlets.Bool(False).tag(sync=True)
    shown = traitlets.Unicode("").tag(sync=True)

    def __init__(self, inspector: Inspector) -> None:
        script = widget_script()
        if script is None:
            raise OptionError(f"The live view is not built here: {ADVICE}.")
        self.workbench = _workbench_of(inspector)
        self._timing = Timing(inspector, self._report, self._timed)
        self._page_due: asyncio.Task[None] | None = None
        self._effects: asyncio.Task[None] | None = None
        super().__init__(
            _esm=script.read_text(encoding="utf-8"),
            model=self.workbench.model(),
            schedulers=scheduler_names(),
            can_run=bool(inspector.arguments),
        )
        _WIDGETS.add(self)
        self.on_msg(self._asked)
        IDLENESS.listen()
        IDLENESS.asked()
        self._keep_page()

    def save(self, path: str) -> None:
        """Write the views to a file; one that ends in ``.polyviz.json`` opens in JupyterLab without a kernel."""
        self.workbench.explain_rest(REASON_SECONDS)
        self.workbench.save(path)

    def _asked(self, _: object, question: Any, buffers: object) -> None:
        """Answer a question of the front end; every error becomes the sentence that it shows."""
        kind = question.get("ask") if isinstance(question, dict) else None
        answer = _ANSWERS.get(str(kind))
        if answer is None:
            return
        IDLENESS.asked()
        self._put_off(str(kind))
        try:
            reply = answer(self, question)
        except PolyvizError as error:
            reply = {"problem": f"{error.message} {error.reason}".strip()}
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            reply = {"problem": f"The view asked for something that does not exist: {error}."}
        IDLENESS.asked()
        if reply is not None:
            self.send({"answer": kind, "problem": "", **reply})
            if kind in _CHANGES and not reply.get("problem"):
                for one in self._same():
                    one._keep_page()

    def _schedule(self, question: Mapping[str, Any]) -> dict[str, Any]:
        name = str(question["name"])
        self.workbench.add(name)
        return self._redrawn(name)

    def _values(self, question: Mapping[str, Any]) -> dict[str, Any]:
        self.workbench.draw_for({str(name): int(value) for name, value in question["values"].items()})
        return self._redrawn()

    def _choices(self, question: Mapping[str, Any]) -> dict[str, Any] | None:
        number = int(question["number"])
        found = self.workbench.choices(str(question["variant"]), str(question["address"]))
        loop = _running_loop()
        for choice in found:
            self.send({"answer": "choice", "number": number, "choice": choice})
            if loop is not None and choice["legal"] and choice["effect"] is not None:
                self._effects = loop.create_task(self._go_on(found, number))
                return None
        return {"number": number}

    async def _go_on(self, found: Iterator[ChoiceModel], number: int) -> None:
        """Send the effects of moves one by one: whoever picks one meanwhile, or closes the menu, does not wait."""
        await asyncio.sleep(PAUSE)
        for choice in found:
            self.send({"answer": "choice", "number": number, "choice": choice})
            await asyncio.sleep(PAUSE)
        self.send({"answer": "choices", "problem": "", "number": number})

    def _put_off(self, kind: str) -> None:
        """Somebody asks: what nobody waits for stands back, and what the answer makes pointless ends."""
        if self._effects is not None and (kind == "choices" or kind in _CHANGES):
            self._effects.cancel()
        if self._page_due is not None and not self._page_due.done():
            self._keep_page()

    def _apply(self, question: Mapping[str, Any]) -> dict[str, Any]:
        arguments = {str(name): value for name, value in question["arguments"].items()}
        self.workbench.apply(str(question["variant"]), str(question["move"]), question["at"], arguments)
        return self._redrawn(EDITED)

    def _moves(self, question: Mapping[str, Any]) -> dict[str, Any]:
        self.workbench.as_moves(str(question["variant"]))
        return self._redrawn(EDITED)

    def _replay(self, question: Mapping[str, Any]) -> dict[str, Any]:
        """What was done in a kernel that is gone: schedules added, moves made; where these cannot be made here their
        script is shown instead.
        """
        added = self.workbench.add_missing([str(name) for name in question["schedules"]])
        script = str(question["script"])
        if not script:
            return {**self._redrawn(), "said": _again(added)} if added else {}
        try:
            self.workbench.replay(script, int(question["undone"]))
        except PolyvizError as error:
            self._redrawn()
            return {"problem": f"The moves made by hand before are not here: {error.message} {error.reason}".strip()}
        edit = self.workbench.edit
        undone = 0 if edit is None else len(edit.undone)
        made = 0 if edit is None else len(edit.done)
        more = f" ({undone} undone)" if undone else ""
        return {**self._redrawn(EDITED), "said": _again([*added, f"{plural(made + undone, 'move')} by hand{more}"])}

    def _history(self, question: Mapping[str, Any]) -> dict[str, Any]:
        self.workbench.go_to(int(question["position"]))
        return self._redrawn(EDITED)

    def _run(self, _: Mapping[str, Any]) -> None:
        self._timing.start(self.workbench.shown())

    def _device(self, question: Mapping[str, Any]) -> dict[str, Any]:
        self.workbench.map_to_device(str(question["variant"]))
        return self._redrawn()

    def _emulate(self, question: Mapping[str, Any]) -> dict[str, Any] | None:
        name = str(question["variant"])
        self.workbench.schedule(name)
        begun = self._timing.beside(
            f"running {name} in the emulator",
            lambda worker: self.workbench.emulate(name, worker),
            self._emulated,
        )
        return (
            {"problem": "Something else is running here: wait for it, or cancel it."}
            if begun is None
            else None
        )

    def _emulated(self, problem: str) -> None:
        if not problem:
            self._redrawn()
            self.send({"answer": "page", **self._page()})
        self.send({"answer": "emulate", "problem": problem, "show": ""})

    def _keep_page(self) -> None:
        """Have the static forms of the saved notebook follow, once nobody has asked for anything for a while."""
        if self._page_due is not None:
            self._page_due.cancel()
        loop = _running_loop()
        if loop is not None:  # Else no notebook waits for it.
            self._page_due = loop.create_task(self._send_page())

    async def _send_page(self) -> None:
        """Make the page, with reasons that nobody unfolded here, step by step: somebody may ask in between.

        That may be another view, or a new cell: then the rest waits until they have got what they asked for.
        """
        await IDLENESS.lasts(PAGE_AFTER)
        for _ in self.workbench.explaining(REASON_SECONDS):
            await asyncio.sleep(PAUSE)
            await IDLENESS.lasts(PAGE_AFTER)
        self.send({"answer": "page", **self._page(0.0)})

    @exclusive
    def _page(self, seconds: float = REASON_SECONDS) -> dict[str, Any]:
        """The static forms as they are now, for the saved notebook, with reasons that nobody unfolded here."""
        self.workbench.explain_rest(seconds)
        model = self.workbench.model()
        forms = inspector_bundle(self.workbench.inspector, model)
        page = {"html": str(forms["text/html"]), "text": str(forms["text/plain"])}
        return page if model == self.model else {**page, "model": model}

    def _why(self, question: Mapping[str, Any]) -> dict[str, Any]:
        self.workbench.explain(str(question["variant"]))
        return self._redrawn()

    def _measure(self, _: Mapping[str, Any]) -> None:
        self._timing.measure(self._measured)

    def _measured(self, problem: str) -> None:
        self.workbench.add_roofline()
        self._redrawn()
        self.send({"answer": "measure", "problem": problem, "show": ""})

    def _cancel(self, _: Mapping[str, Any]) -> None:
        self._timing.cancel()

    def _report(self, doing: str) -> None:
        self.send({"answer": "progress", "doing": doing})

    def _timed(self, comparison: Comparison | None, problem: str) -> None:
        if comparison is not None:
            self.workbench.comparison = comparison.data
            self._redrawn()
        self.send({"answer": "run", "problem": problem, "show": ""})

    def _redrawn(self, show: str = "") -> dict[str, Any]:
        """Draw what is known now here and in the other views of the same inspector, which stay with their schedules."""
        model = self.workbench.model()
        for one in self._same():
            with one.hold_sync():
                one.shown, one.model = show if one is self else "", model
        return {"show": show}

    def _same(self) -> list[InspectorWidget]:
        """This view, and then the others of the same inspector."""
        others = [one for one in list(_WIDGETS) if one.workbench is self.workbench and one is not self]
        return [self, *others]


def _again(what: Sequence[str]) -> str:
    return f"Made again in this kernel: {listed(what)}."


_WIDGETS: WeakSet[InspectorWidget] = WeakSet()


def _workbench_of(inspector: Inspector) -> Workbench:
    """That of all views of ``inspector``."""
    handiwork = inspector.handiwork
    if handiwork.workbench is None:
        handiwork.workbench = Workbench(inspector)
    return handiwork.workbench


def _running_loop() -> asyncio.AbstractEventLoop | None:
    """The loop of the kernel; None outside of one."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


_ANSWERS: Mapping[str, Callable[[InspectorWidget, Mapping[str, Any]], dict[str, Any] | None]] = {
    "schedule": InspectorWidget._schedule,
    "values": InspectorWidget._values,
    "choices": InspectorWidget._choices,
    "apply": InspectorWidget._apply,
    "moves": InspectorWidget._moves,
    "replay": InspectorWidget._replay,
    "history": InspectorWidget._history,
    "device": InspectorWidget._device,
    "emulate": InspectorWidget._emulate,
    "why": InspectorWidget._why,
    "measure": InspectorWidget._measure,
    "run": InspectorWidget._run,
    "cancel": InspectorWidget._cancel,
}

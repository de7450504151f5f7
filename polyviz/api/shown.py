"""How kernels, comparisons and inspectors show themselves: bundles composed from those of their parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.api.comparing import Comparison
from polyviz.api.inspecting import Inspector
from polyviz.api.workbench import Workbench
from polyviz.editing import Difference, Edit, Steps
from polyviz.model.display import register_renderer
from polyviz.model.words import plural
from polyviz.runtime.kernel import Kernel
from polyviz.views.bundles import (
    Section,
    combine,
    comparison_bundle,
    dependences_bundle,
    device_bundle,
    listing_bundle,
    note_bundle,
    order_bundle,
    parallelism_bundle,
    program_bundle,
    schedule_bundle,
    scop_bundle,
    space_bundles,
    why_bundles,
)
from polyviz.views.drawing import values_text
from polyviz.views.schema import MIME

if TYPE_CHECKING:
    from polyviz.model.display import Bundle
    from polyviz.views.models import Json


REASON_SECONDS = 3.0
"""How long reasons are looked for at most before a static view is shown."""


def kernel_bundle(kernel: Kernel) -> Bundle:
    """A kernel: what it runs, in which order, and the program; a terminal gets its report."""
    sections = [
        Section(f"Schedule by {kernel.schedule.scheduler}", schedule_bundle(kernel.schedule), open=True),
        Section(f"Program for {kernel.target}", program_bundle(kernel.program)),
        Section("Source and domains", scop_bundle(kernel.scop, kernel.dependences)),
    ]
    view = kernel.device_view()
    if view is not None:
        sections.insert(1, Section("Blocks and threads", device_bundle(view), open=True))
    title = f"{kernel.scop.name}: schedule {kernel.schedule.scheduler}, target {kernel.target}"
    return {**combine(title, sections), "text/plain": kernel.report()}


def inspector_bundle(inspector: Inspector, model: Json | None = None) -> Bundle:
    """Everything that was found about a loop nest, and every schedule, or the reason why there is none.

    ``model`` is the JSON of the linked views where it is already known.
    """
    scop, found = inspector.scop, inspector.dependences
    sizes = inspector.sizes or None
    sections = [
        Section("Source and domains", scop_bundle(scop, found, sizes), open=True),
        Section("Loops as written", parallelism_bundle(inspector.loops), open=True),
        Section("Dependences", dependences_bundle(found, scop, sizes, drawn=False)),
    ]
    if inspector.counts:
        sections.insert(0, Section("Sizes", note_bundle(_runs(inspector)), open=True))
    if inspector.warnings:
        sections.insert(0, Section("Warnings", note_bundle(" ".join(inspector.warnings)), open=True))
    for name, schedule in inspector.schedules.items():
        sections.append(Section(f"Schedule by {name}", schedule_bundle(schedule)))
    for name, reason in inspector.refusals.items():
        sections.append(Section(f"No schedule by {name}", note_bundle(reason), open=True))
    for name, (_, view) in inspector.handiwork.emulated.items():
        sections.append(Section(f"Blocks and threads of {name}", device_bundle(view), open=True))
    if inspector.edit is not None:
        sections.append(Section("Schedule by hand", edit_bundle(inspector.edit), open=True))
    linked = model or _whole_model(inspector)
    more = {**why_bundles(linked), **space_bundles(linked)}
    sections += [Section(title, found) for title, found in more.items()]
    sections.append(Section("Order and cache", order_bundle(linked)))
    return {**combine(scop.name, sections), MIME: linked}


def _whole_model(inspector: Inspector) -> Json:
    """The JSON of the linked views with what somebody could ask for in live ones, as far as that is quick."""
    bench = Workbench(inspector)
    bench.explain_rest(REASON_SECONDS)
    return bench.model()


def _runs(inspector: Inspector) -> str:
    """How often each statement runs for the sizes of the arguments."""
    counts = ", ".join(f"{name} {_times(count)}" for name, count in inspector.counts.items())
    sizes = values_text(inspector.sizes)
    return f"For {sizes}: {counts}." if sizes else f"{counts}."


def _times(count: int) -> str:
    return f"runs {count:,} times" if count != 1 else "runs once"


def edit_bundle(edit: Edit) -> Bundle:
    """An edit: the order as it is now, and the moves that led there."""
    sections = [
        Section("Schedule", schedule_bundle(edit.schedule), open=True),
        Section("Moves", listing_bundle(edit.script()), open=True),
    ]
    return combine(f"{edit.scop.name}: {plural(len(edit.history), 'move')} by hand", sections)


def register() -> None:
    """Make the values of this room known to :func:`polyviz.model.display.mime_bundle`."""
    register_renderer(Kernel, kernel_bundle)
    register_renderer(Inspector, inspector_bundle)
    register_renderer(Edit, edit_bundle)
    register_renderer(Steps, lambda found: listing_bundle(str(found)))
    register_renderer(Difference, lambda found: listing_bundle(str(found)))
    register_renderer(Comparison, lambda comparison: comparison_bundle(comparison.data))

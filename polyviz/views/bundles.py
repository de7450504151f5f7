"""MIME bundles: one value in all the forms a notebook, an exported page or a terminal may ask for.

Importing this module registers the bundles of the values that show themselves; rooms above compose larger ones with
:func:`combine`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from polyviz.model.dependences import Dependences, Legality, LoopParallelism
from polyviz.model.device_view import DeviceView
from polyviz.model.display import Bundle, register_renderer
from polyviz.model.measurement import ComparisonData
from polyviz.model.program import Program
from polyviz.model.schedule import Schedule
from polyviz.model.scop import Scop
from polyviz.model.superposition import Superposition
from polyviz.model.transfers import TransferLog
from polyviz.model.tuning import Tuning
from polyviz.model.words import plural
from polyviz.views import charts, models, roofline_chart, superposition, text, timing_models, tuning_chart
from polyviz.views.cache_picture import order_forms
from polyviz.views.comparison_text import comparison_text
from polyviz.views.device import device_html, device_text
from polyviz.views.drawing import values_text
from polyviz.views.html import details, heading, image, items, paragraph, preformatted, table
from polyviz.views.linked_reasons import reason_forms
from polyviz.views.notation import assumptions, runs_downwards
from polyviz.views.pictures import (
    DependenceRow,
    Pictures,
    dependence_rows,
    drawings,
    pictures,
    pictures_of_dependences,
    shown_values,
)
from polyviz.views.schema import MIME
from polyviz.views.space_pictures import block_forms, tile_forms
from polyviz.views.transfers import log_html, log_text
from polyviz.views.tree import root_of, tree_html
from polyviz.views.tuning import tuning_html, tuning_text
from polyviz.views.verdict import HEADINGS, cells, verdict
from polyviz.views.violation import picture_html

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from polyviz.views.linked_schema import InspectorModel

_UNBROKEN = "\N{NO-BREAK SPACE}"
"""A vector stays on one line."""


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a combined view: its heading, its bundle, and whether it is unfolded at first."""

    heading: str
    bundle: Bundle
    open: bool = False


def bundle(model: models.Json | None, html: str, plain: str) -> Bundle:
    """The three forms under their MIME types; a part without a model leaves it out."""
    forms: Bundle = {} if model is None else {MIME: model}
    return {**forms, "text/html": html, "text/plain": plain}


def combine(title: str, sections: Sequence[Section]) -> Bundle:
    """One bundle from several, each under its own heading; the JSON of all of them stays below the limit of one.

    >>> shown = combine("f", [Section("Note", note_bundle("all is well"))])
    >>> print(shown["text/plain"])
    f
    <BLANKLINE>
    == Note ==
    all is well
    """
    parts = [(section.heading, section.open, section.bundle.get(MIME)) for section in sections]
    folded = "".join(
        details(section.heading, _below(section, heading(section.heading), "text/html"), opened=section.open)
        for section in sections
    )
    plain = [title]
    for section in sections:
        plain.append(f"\n== {section.heading} ==\n{_below(section, section.heading + chr(10), 'text/plain')}")
    return bundle(models.combined_model(title, parts), heading(title) + folded, "\n".join(plain))


def _below(section: Section, title: str, form: str) -> str:
    """One form of a section; a title that the heading above it says already is left out."""
    return str(section.bundle[form]).removeprefix(title)


def note_bundle(note: str) -> Bundle:
    """A sentence without a model."""
    return bundle(None, paragraph(note), note)


def listing_bundle(lines: str) -> Bundle:
    """Text whose lines and indentation matter: a script, a tree with signs in front."""
    return bundle(None, preformatted(lines), lines)


def scop_bundle(
    scop: Scop, dependences: Dependences | None = None, sizes: Mapping[str, int] | None = None
) -> Bundle:
    """The part with a picture per statement; with ``dependences`` the pictures carry arrows.

    ``sizes`` are the real parameter values; they are drawn where they are small enough, else small ones are chosen.
    """
    found = pictures(scop, dependences, sizes)
    plain = text.scop_text(scop)
    html = _images(found) + _statements_html(scop) + _facts_html(scop)
    return bundle(models.scop_model(scop, found), html, plain)


def _images(found: Pictures) -> str:
    shown = "".join(image(svg, alternative) for svg, alternative in drawings(found))
    return f"<div>{shown}</div>" + "".join(paragraph(sentence) for sentence in found.left_out if sentence)


def _statements_html(scop: Scop) -> str:
    rows = [
        [statement.name, statement.source, text.statement_row(statement, scop)[1], statement.span.line]
        for statement in scop.statements
    ]
    return details(
        "Statements", table(rows, ["statement", "source", "domain", "line"], code=[1, 2]), opened=True
    )


def _facts_html(scop: Scop) -> str:
    parameters = [[one.name, text.parameter_source(one)] for one in scop.parameters]
    arrays = [[text.array_shape(array), *text.array_facts(array)] for array in scop.arrays]
    content = table(arrays, ["array", "type", "values"], code=[0]) if arrays else ""
    content += table(parameters, ["parameter", "comes from"], code=[0, 1]) if parameters else ""
    assumed = assumptions(scop)
    content += paragraph(f"Assumed: {assumed}") if assumed else ""
    notes = details("Notes", items(scop.notes), opened=True) if scop.notes else ""
    return details("Arrays and parameters", content) + notes


def dependences_bundle(
    dependences: Dependences,
    scop: Scop | None = None,
    sizes: Mapping[str, int] | None = None,
    *,
    drawn: bool = True,
) -> Bundle:
    """The relations with distances and counts.

    With ``scop``, distances reach over the loops that two statements share. ``drawn=False`` leaves the pictures out,
    for a view that shows them beside.
    """
    found = _dependence_pictures(dependences, scop, sizes, drawn)
    rows = dependence_rows(dependences, scop, found.values)
    model = models.dependences_model(dependences, rows, found.values, found.panes)
    html = (_images(found) if found.panes else "") + _dependences_html(dependences, rows, found.values)
    return bundle(model, html, text.dependences_text(dependences, rows, found.values))


def _dependence_pictures(
    dependences: Dependences, scop: Scop | None, sizes: Mapping[str, int] | None, drawn: bool
) -> Pictures:
    if scop is None:
        return pictures_of_dependences(dependences)
    return pictures(scop, dependences, sizes) if drawn else Pictures(shown_values(scop, sizes), ())


def _dependences_html(
    dependences: Dependences, rows: Sequence[DependenceRow], values: Mapping[str, int]
) -> str:
    kind = "value-based" if dependences.kind == "value" else "memory-based"
    pairs = f"pairs for {values_text(values)}" if values else "pairs"
    body = [
        [
            row.kind,
            row.array,
            f"{row.source} → {row.sink}",
            ", ".join(one.replace(" ", _UNBROKEN) for one in row.distances),
            row.relation,
            text.pairs_text(row) if values else "",
        ]
        for row in rows
    ]
    header = ["kind", "array", "source → sink", "distance", "relation", pairs]
    summary = f"{plural(len(rows), 'dependence relation')}, {kind}"
    content = table(body, header, code=[3, 4]) if rows else paragraph("No dependence: any order is legal.")
    downwards = [text.DOWNWARDS] if any(runs_downwards(one) for row in rows for one in row.distances) else []
    return details(summary, content, opened=len(rows) <= 12) + items(
        [*downwards, *text.left_out(dependences), *dependences.notes]
    )


def schedule_bundle(schedule: Schedule) -> Bundle:
    """The schedule tree and the decisions that led to it."""
    html = heading(f"Schedule by {schedule.scheduler}") + f"<div>{tree_html(root_of(schedule))}</div>"
    decisions, loops = text.log_texts(schedule)
    if decisions:
        html += details(plural(len(decisions), "decision"), items(decisions))
    if loops:
        html += details(plural(len(loops), "loop"), items(loops))
    return bundle(models.schedule_model(schedule), html, text.schedule_text(schedule))


def legality_bundle(legality: Legality) -> Bundle:
    """The verdict with its counterexamples, one of them drawn."""
    plain = text.legality_text(legality)
    rows = [
        [
            found.kind,
            found.array,
            text.instance_text(found.source, found.source_instance),
            text.instance_text(found.sink, found.sink_instance),
            values_text(found.parameters),
            found.explanation,
        ]
        for found in legality.violations
    ]
    header = ["kind", "array", "must come first", "must come later", "for", "explanation"]
    drawn = "" if legality.scop is None else picture_html(legality.scop, legality.violations)
    html = paragraph(plain.splitlines()[0]) + (table(rows, header, code=[2, 3]) if rows else "") + drawn
    return bundle(models.legality_model(legality), html, plain)


def parallelism_bundle(loops: Sequence[LoopParallelism]) -> Bundle:
    """For each loop whether it is parallel, and why not."""
    rows = [
        [
            "\u00a0\u00a0\u00a0" * loop.depth + loop.loop,
            text.loop_verdict(loop),
            ", ".join(loop.statements),
            text.loop_sentence(loop),
        ]
        for loop in loops
    ]
    html = table(rows, ["loop", "verdict", "statements", "why"])
    return bundle(models.parallelism_model(loops), html, text.parallelism_text(loops))


def comparison_bundle(data: ComparisonData) -> Bundle:
    """The chart, the table, the verdict, and the generated text of each variant."""
    chart = image(charts.draw(data), charts.describe(data))
    rows = table([cells(row, data) for row in data.rows], HEADINGS)
    sources = "".join(
        details(f"Source of {row.label}", preformatted(row.source)) for row in data.rows if row.source
    )
    machine = paragraph(f"Machine: {data.machine}") if data.machine else ""
    html = (
        f"<div>{chart}</div>{paragraph(f'Verdict: {verdict(data)}.')}{rows}{_roofline_html(data)}{machine}"
        f"{items(roofline_chart.comparison_notes(data))}{sources}"
    )
    return bundle(timing_models.comparison_model(data), html, comparison_text(data))


def _roofline_html(data: ComparisonData) -> str:
    """What the machine allows, and what each variant achieves of it."""
    if data.roofline is None:
        is_timed = any(row.median is not None for row in data.rows)
        return paragraph(roofline_chart.UNKNOWN) if is_timed else ""
    chart = image(roofline_chart.draw(data, data.roofline), roofline_chart.describe(data, data.roofline))
    rows = table(roofline_chart.rows(data, data.roofline), roofline_chart.HEADINGS)
    return details("Roofline: what this machine allows", f"<div>{chart}</div>{rows}", opened=True)


def program_bundle(program: Program, *, opened: bool = False) -> Bundle:
    """The generated text, folded unless ``opened``, with what the code generator could not do."""
    lines = plural(len(program.text.splitlines()), "line")
    title = f"{program.name} for {program.target}, {lines}"
    html = details(title, preformatted(program.text), opened=opened) + items(program.notes)
    plain = "\n".join([program.text.rstrip("\n"), *(f"- {note}" for note in program.notes)])
    return bundle(models.program_model(program), html, plain)


def superposition_bundle(value: Superposition) -> Bundle:
    """The two scattering functions per statement with the kernels they make."""
    return bundle(
        superposition.superposition_model(value),
        superposition.superposition_html(value),
        superposition.superposition_text(value),
    )


def tuning_bundle(tuning: Tuning) -> Bundle:
    """The history of a search as a picture and a table, and what it found."""
    chart = f"<div>{image(tuning_chart.draw(tuning), tuning_chart.describe(tuning))}</div>" if tuning.best else ""
    return bundle(timing_models.tuning_model(tuning), chart + tuning_html(tuning), tuning_text(tuning))


def device_bundle(view: DeviceView) -> Bundle:
    """Cards of the kernels, who runs which iteration, and the orders of the two levels."""
    return bundle(models.device_model(view), device_html(view), device_text(view))


def order_bundle(linked: models.Json) -> Bundle:
    """The order of the accesses in the JSON of the linked views, and what a small cache makes of it."""
    return bundle(None, *order_forms(cast("InspectorModel", linked)))


def space_bundles(linked: models.Json) -> dict[str, Bundle]:
    """By heading: the domain in the tiles and in the blocks of each schedule in the JSON of the linked views."""
    model = cast("InspectorModel", linked)
    found: dict[str, Bundle] = {}
    for variant in model.get("variants", ()):
        kinds = (("Tiles", tile_forms), ("Blocks and threads in the domain", block_forms))
        for heading_text, forms in kinds:
            made = forms(model, variant)
            if made is not None:
                found[f"{heading_text}: {variant['name']}"] = bundle(None, *made)
    return found


def why_bundles(linked: models.Json) -> dict[str, Bundle]:
    """By heading: why the loops and statements of each schedule in the JSON of the linked views are what they are."""
    model = cast("InspectorModel", linked)
    return {f"Why? {one['name']}": bundle(None, *reason_forms(one)) for one in model.get("variants", ())}


def transfers_bundle(log: TransferLog) -> Bundle:
    """What moved between host and device and what did not have to."""
    return bundle(None, log_html(log), log_text(log))


register_renderer(Scop, scop_bundle)
register_renderer(Dependences, dependences_bundle)
register_renderer(Legality, legality_bundle)
register_renderer(Schedule, schedule_bundle)
register_renderer(ComparisonData, comparison_bundle)
register_renderer(Program, program_bundle)
register_renderer(Superposition, superposition_bundle)
register_renderer(DeviceView, device_bundle)
register_renderer(TransferLog, transfers_bundle)
register_renderer(Tuning, tuning_bundle)

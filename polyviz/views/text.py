"""``text/plain`` of every value: complete, true and readable in a terminal or by a screen reader."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.model.words import plural, told_apart
from polyviz.views.drawing import clip_text, values_text
from polyviz.views.notation import affine, assumptions, condition_of, runs_downwards
from polyviz.views.tables import columns
from polyviz.views.tree import root_of, tree_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from polyviz.model.dependences import Dependences, Legality, LoopParallelism
    from polyviz.model.schedule import Decision, Schedule
    from polyviz.model.scop import Array, Parameter, Scop, Statement
    from polyviz.views.pictures import DependenceRow

_SOURCE_WIDTH = 60
_SUMMARY_WIDTH = 72
DOWNWARDS = "Where the first entry of a distance that is not 0 is negative, that loop runs downwards: its values fall."


def scop_text(scop: Scop) -> str:
    """Parameters, arrays, statements with their domains, and everything that was over-approximated or assumed."""
    facts = [plural(len(scop.statements), "statement"), plural(len(scop.arrays), "array")]
    facts.append(plural(len(scop.parameters), "parameter"))
    parts = [f"{'Cell' if scop.is_cell else 'Function'} {scop.name}: {', '.join(facts)}"]
    if scop.parameters:
        parts.append("Parameters\n" + columns([[one.name, parameter_source(one)] for one in scop.parameters]))
    assumed = assumptions(scop)
    if assumed:
        parts.append(f"Assumed: {assumed}")
    if scop.arrays:
        parts.append(
            "Arrays\n" + columns([[array_shape(array), *array_facts(array)] for array in scop.arrays])
        )
    rows = columns([statement_row(statement, scop) for statement in scop.statements])
    parts.append(f"Statements\n{rows}" if rows else "Statements: none that ever runs")
    return "\n".join([*parts, *_listed("Notes", scop.notes)])


def parameter_source(parameter: Parameter) -> str:
    """Where a parameter's value comes from, as Python.

    >>> from polyviz.model.scop import Parameter, ParameterSource
    >>> parameter_source(Parameter("n", ParameterSource("shape", "A", 1)))
    'A.shape[1]'
    """
    source = parameter.source
    return f"{source.name}.shape[{source.axis}]" if source.kind == "shape" else f"argument {source.name}"


def array_shape(array: Array) -> str:
    """``C[ni, nj]``; an extent that the source does not tell is a question mark."""
    extents = ", ".join("?" if extent is None else affine(extent) for extent in array.extents)
    return f"{array.name}[{extents}]" if array.rank else array.name


def array_facts(array: Array) -> list[str]:
    """Element type where the source fixes it, and whether values come in, go out or stay inside."""
    flow = {(True, True): "in and out", (True, False): "in", (False, True): "out", (False, False): "local"}
    return [array.dtype or "any type", flow[array.live_in, array.live_out]]


def statement_row(statement: Statement, scop: Scop) -> list[str]:
    """Name, domain, source text and line."""
    domain = condition_of(statement, scop) or ("always" if statement.iterators else "once")
    return [
        f"{statement.name}:",
        domain,
        clip_text(statement.source, _SOURCE_WIDTH),
        f"(line {statement.span.line})",
    ]


def dependences_text(
    dependences: Dependences, rows: Sequence[DependenceRow], values: Mapping[str, int] | None = None
) -> str:
    """One row per kind, array and pair of statements, with distances and counts; what is private; what was left out."""
    kind = "value-based" if dependences.kind == "value" else "memory-based"
    lines = [f"Dependences, {kind}: {plural(len(rows), 'relation')}"]
    if rows:
        pairs = "pairs" if not values else f"pairs for {values_text(values)}"
        header = ["kind", "array", "source → sink", "distance or relation", pairs]
        lines.append(columns([_dependence_cells(row, counted=bool(values)) for row in rows], header, right=[4]))
    if any(" | " in row.summary for row in rows):
        lines.append("  After a bar stand loops of the same name that the two statements do not share.")
    if any(runs_downwards(one) for row in rows for one in row.distances):
        lines.append(f"  {DOWNWARDS}")
    if any(row.kind == "reduction" for row in rows):
        lines.append("  Reduction steps may be reordered; they also appear under their other kinds.")
    lines += _listed("Not constraining", left_out(dependences))
    return "\n".join([*lines, *_listed("Notes", dependences.notes)])


def _dependence_cells(row: DependenceRow, *, counted: bool) -> list[str]:
    count = pairs_text(row) if counted else ""
    return [row.kind, row.array, f"{row.source} → {row.sink}", clip_text(row.summary, _SUMMARY_WIDTH), count]


def pairs_text(row: DependenceRow) -> str:
    """How many pairs the relation has for the shown values; more than are gone through are not counted."""
    return "not counted" if row.count is None else str(row.count)


def _outermost(depth: int) -> str:
    return "outermost loop" if depth == 1 else f"{depth} outermost loops"


def left_out(dependences: Dependences) -> list[str]:
    """What exists between the statements but constrains no schedule, with the reason."""
    sentences = [
        f"{one.array} is private to each iteration of the {_outermost(one.depth)}: {one.reason}"
        for one in dependences.privatizations
    ]
    reads = sum(one.kind == "input" for one in dependences.relations)
    if reads:
        sentences.append(f"{plural(reads, 'input relation')}: two reads of one cell may come in any order")
    return sentences


def legality_text(legality: Legality) -> str:
    """The verdict, and for each violation the two instances, the parameter values and the sentence."""
    if legality:
        return "Legal: every dependence is respected."
    lines = [f"Illegal: {plural(len(legality.violations), 'dependence')} reversed."]
    for found in legality.violations:
        source = instance_text(found.source, found.source_instance)
        sink = instance_text(found.sink, found.sink_instance)
        where = f" for {values_text(found.parameters)}" if found.parameters else ""
        lines.append(f"  {found.kind} through {found.array}: {source} must come before {sink}{where}")
        lines.append(f"    {found.explanation}")
    return "\n".join(lines)


def instance_text(statement: str, instance: Sequence[int]) -> str:
    """An instance as it is written: ``S0[1, 2]``."""
    return f"{statement}[{', '.join(map(str, instance))}]"


def parallelism_text(loops: Sequence[LoopParallelism]) -> str:
    """One sentence per loop, indented by depth."""
    reductions = sum(loop.reduction_parallel and not loop.parallel for loop in loops)
    more = f", {reductions} more as reductions" if reductions else ""
    lines = [f"Loops: {sum(loop.parallel for loop in loops)} of {len(loops)} parallel{more}"]
    sentences = told_apart([(loop_sentence(loop), loop.statements) for loop in loops])
    lines += [f"  {'  ' * loop.depth}{sentence}" for loop, sentence in zip(loops, sentences, strict=True)]
    return "\n".join(lines)


def loop_sentence(loop: LoopParallelism) -> str:
    """The sentence that the analysis gives for a loop, or its verdict where it gives none."""
    sentence = loop.explanation or f"loop {loop.loop} is {loop_verdict(loop)}"
    return sentence[:1].upper() + sentence[1:].rstrip(".") + "."


def loop_verdict(loop: LoopParallelism) -> str:
    """``parallel``, ``parallel as a reduction`` or ``not parallel``."""
    if loop.parallel:
        return "parallel"
    return "parallel as a reduction" if loop.reduction_parallel else "not parallel"


def schedule_text(schedule: Schedule) -> str:
    """The tree with the marks of each loop, the decisions that led to it, and what is known of each loop."""
    tree = tree_text(root_of(schedule))
    decisions, loops = log_texts(schedule)
    return "\n".join(
        [f"Schedule by {schedule.scheduler}", tree, *_listed("Decisions", decisions), *_listed("Loops", loops)]
    )


def log_texts(schedule: Schedule) -> tuple[list[str], list[str]]:
    """The decisions that led to a schedule, and what its log says of each loop, as lines."""
    decisions = [decision_text(one) for one in schedule.decisions if one.step != "loop"]
    loops = [
        f"{', '.join(one.statements)}: {one.text[:1].lower()}{one.text[1:]}"
        for one in schedule.decisions
        if one.step == "loop"
    ]
    return decisions, loops


def decision_text(decision: Decision) -> str:
    """One decision as a line."""
    about = f" [{', '.join(decision.statements)}]" if decision.statements else ""
    return f"{decision.step}{about}: {decision.text}"


def _listed(title: str, sentences: Sequence[str]) -> list[str]:
    return [title, *(f"  - {sentence}" for sentence in sentences)] if sentences else []

"""A superposed schedule as text, as static HTML and as a JSON model."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from polyviz.model.words import plural
from polyviz.views.fit import fit
from polyviz.views.html import details, heading, items, preformatted, table
from polyviz.views.schema import VERSION, SuperpositionModel
from polyviz.views.tables import columns

if TYPE_CHECKING:
    from polyviz.model.dependences import Violation
    from polyviz.model.superposition import (
        Barrier,
        Dimension,
        LineCost,
        LoopVerdict,
        SpaceGroup,
        SuperposedKernel,
        Superposition,
    )
    from polyviz.views.models import Json
    from polyviz.views.superposition_schema import (
        BarrierModel,
        DimensionModel,
        LineCostModel,
        LoopVerdictModel,
        SpaceGroupModel,
        SuperposedKernelModel,
    )

_VERDICT_HEADER = ("level", "row", "inside", "kind", "distances", "pair of instances")
_COST_HEADER = ("statement", "lines", "per iteration", "derivatives, best first", "coalesces along")


def superposition_text(value: Superposition) -> str:
    """The scattering functions, the kernels with phases and barriers, and the check, as lines."""
    statements = plural(len(value.outer), "statement")
    title = f"Superposition of {statements}"
    lines = [f"{title}, {plural(len(value.kernels), 'kernel')}" if value.kernels else title]
    lines += [f"  {line}" for line in value.notation().splitlines()]
    for kernel in value.kernels:
        lines += [f"  {line}" for line in kernel_lines(kernel)]
    lines.append("Legal" if value.legality else "Illegal")
    lines.append(columns([[one.name, one.asks, _holds(one.witness)] for one in value.legality.conditions]))
    return "\n".join(lines)


def kernel_lines(kernel: SuperposedKernel) -> list[str]:
    """A kernel with its grid, its phases and the barriers between these."""
    grid = ", ".join(f"{loop} in tiles of {kernel.tiles[loop.axis]}" for loop in kernel.blocks.loops)
    threads = " x ".join(map(str, kernel.threads.values())) or "1"
    host = ", ".join(" | ".join(dict.fromkeys(rows.values())) for rows in kernel.blocks.under)
    lines = [
        f"Kernel {kernel.number}: {f'blocks {grid}' if grid else 'one block'}; {threads} threads"
        + (f"; launched in the host loop {host}" if host else "")
    ]
    lines += [f"  phase {number}, {phase}" for number, phase in enumerate(kernel.phases)]
    lines += [f"  {_barrier_line(barrier)}" for barrier in kernel.needed_barriers]
    return lines


def _barrier_line(barrier: Barrier) -> str:
    place = "when the loop goes on from" if barrier.wraps else "between"
    why = barrier.protects.explanation if barrier.protects else ""
    return f"barrier {place} phase {barrier.before} {'to' if barrier.wraps else 'and'} phase {barrier.after}: {why}"


def _holds(witness: Violation | None) -> str:
    return "holds" if witness is None else f"fails: {witness.explanation}"


def superposition_html(value: Superposition) -> str:
    """The same with the verdict on every row that was tested and the cost of every statement."""
    kernels = [line.strip() for kernel in value.kernels for line in kernel_lines(kernel)]
    checks = [[one.name, one.asks, _holds(one.witness)] for one in value.legality.conditions]
    html = heading("Superposition") + preformatted(value.notation()) + items(kernels)
    html += details(
        "Legal" if value.legality else "Illegal", table(checks, ("condition", "asks", "verdict")), opened=True
    )
    if value.verdicts:
        rows = [_verdict_cells(verdict) for verdict in value.verdicts]
        html += details(plural(len(rows), "tested row"), table(rows, _VERDICT_HEADER, code=[1, 2]))
    if value.costs:
        html += details("Distinct lines", table([_cost_cells(cost) for cost in value.costs], _COST_HEADER))
    return html


def _verdict_cells(verdict: LoopVerdict) -> list[str]:
    return [
        verdict.level,
        ", ".join(f"{name}: {row}" for name, row in verdict.rows.items()),
        ", ".join(" | ".join(dict.fromkeys(rows.values())) for rows in verdict.under),
        verdict.kind,
        ", ".join(dict.fromkeys(distance.text for distance in verdict.distances)),
        verdict.witness.explanation if verdict.witness else "",
    ]


def _cost_cells(cost: LineCost) -> list[str]:
    ranked = sorted(cost.derivatives.items(), key=lambda item: item[1])
    savings = ", ".join(f"{name} {float(saved):.3e}" for name, saved in ranked)
    lines, per_iteration = f"{float(cost.lines):.6g}", f"{float(cost.memory_cost):.3e}"
    return [cost.statement, lines, per_iteration, savings, cost.coalescing or ""]


def superposition_model(value: Superposition) -> Json:
    """Everything above as JSON."""
    model: SuperpositionModel = {
        "v": VERSION,
        "kind": "superposition",
        "shortened": [],
        "functions": [
            {
                "statement": name,
                "outer": [_dimension(one) for one in value.outer[name]],
                "regular": [_dimension(one) for one in value.regular[name]],
                "text": value.notation_of(name),
            }
            for name in value.outer
        ],
        "thread_groups": [_group(group) for group in value.thread_groups],
        "kernels": [_kernel(kernel) for kernel in value.kernels],
        "costs": [_cost(cost) for cost in value.costs],
        "verdicts": [_verdict(verdict) for verdict in value.verdicts],
        "conditions": [
            {"name": one.name, "asks": one.asks, "holds": bool(one), "witness": _sentence(one.witness)}
            for one in value.legality.conditions
        ],
    }
    return fit(cast("Json", model))


def _dimension(one: Dimension) -> DimensionModel:
    return {
        "text": one.text,
        "kind": one.kind,
        "role": one.role,
        "axis": one.axis,
        "tile": one.tile,
        "reduction": one.reduction,
    }


def _group(group: SpaceGroup) -> SpaceGroupModel:
    return {
        "statements": list(group.statements),
        "loops": [{"axis": loop.axis, "kind": loop.kind, "rows": dict(loop.rows)} for loop in group.loops],
        "under": [dict(rows) for rows in group.under],
        "text": str(group),
    }


def _kernel(kernel: SuperposedKernel) -> SuperposedKernelModel:
    return {
        "number": kernel.number,
        "blocks": _group(kernel.blocks),
        "phases": [_group(phase) for phase in kernel.phases],
        "barriers": [_barrier(barrier) for barrier in kernel.barriers],
        "tiles": {str(axis): size for axis, size in kernel.tiles.items()},
        "threads": {str(axis): count for axis, count in kernel.threads.items()},
    }


def _barrier(barrier: Barrier) -> BarrierModel:
    return {
        "before": barrier.before,
        "after": barrier.after,
        "wraps": barrier.wraps,
        "depth": barrier.depth,
        "protects": _sentence(barrier.protects),
    }


def _cost(cost: LineCost) -> LineCostModel:
    return {
        "statement": cost.statement,
        "tile": cost.tile,
        "lines": float(cost.lines),
        "memory_cost": float(cost.memory_cost),
        "derivatives": {name: float(value) for name, value in cost.derivatives.items()},
        "coalescing": cost.coalescing,
    }


def _verdict(verdict: LoopVerdict) -> LoopVerdictModel:
    return {
        "level": verdict.level,
        "rows": dict(verdict.rows),
        "under": [dict(rows) for rows in verdict.under],
        "kind": verdict.kind,
        "distances": [
            {"array": one.array, "kind": one.kind, "source": one.source, "sink": one.sink, "text": one.text}
            for one in verdict.distances
        ],
        "witness": _sentence(verdict.witness),
    }


def _sentence(witness: Violation | None) -> str:
    return witness.explanation if witness else ""

"""What only the target c does with rows and sums, and what is said where another compiled target leaves it out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.analysis.recurrences import waits_of
from polyviz.mapping.accumulate import find_accumulations
from polyviz.mapping.interleave import has_chains
from polyviz.mapping.jam import jam_rows
from polyviz.mapping.lifting import find_liftings
from polyviz.mapping.outer_vectors import lanes_decisions
from polyviz.mapping.panels import make_panels
from polyviz.mapping.periodic import find_periodic, periodic_decision
from polyviz.mapping.rows_ahead import find_rows_ahead
from polyviz.model.expression import Assign
from polyviz.model.late_terms import latest_last
from polyviz.model.plan import INTERLEAVE, JAM, PARALLEL, UNROLL_JAM, VECTOR, LateTerms
from polyviz.model.reciprocals import multiplied
from polyviz.model.schedule import Decision
from polyviz.model.select import selection
from polyviz.model.terms import factored, operations
from polyviz.transform.tree import bands, is_under_mark, marks_above, node_at, statements_under

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from polyviz.mapping.marked import Mapped
    from polyviz.model.dependences import Dependences
    from polyviz.model.expression import Instruction
    from polyviz.model.plan import Plan
    from polyviz.model.processor import Processor
    from polyviz.model.scop import Scop
    from polyviz.transform.tree import Path


CHOOSES = (
    "the vector loop chooses between the new value and the one that is there, and stores it in any case: lanes do not "
    "branch"
)


FACTORED = (
    "where all its cells are float64, the factor that terms of the sum have in common is taken out, and like terms are "
    "one: {} operations, not {} (a multiply-add is one)"
)


MULTIPLIED = (
    "instead of dividing by a number, the program multiplies by its reciprocal, which takes a third of the time, and "
    "powers with a half (1.5) are roots and products; the last bit may differ"
)


_IN_VECTORS = frozenset({VECTOR, JAM, UNROLL_JAM})
"""Marks of loops that are printed as vectors, whose lanes wait for nothing."""


LATE = (
    "what an iteration before computed is added last: the sum of the other terms is there by then, and the loop waits "
    "for one addition only"
)


AHEAD = (
    "a strip of columns walks down rows in other pages of memory, where hardware does not look ahead: where an array "
    "is larger than the cache of a core, the program asks for its rows some steps before it comes to them"
)


@dataclass(frozen=True, slots=True)
class LoopForms:
    """The forms of loops that are wanted beside threads and tiles: see the techniques called alike."""

    interleave: bool
    pipeline: bool
    collapse: bool
    outer_vectors: bool
    align: bool

    def for_target(self, target: str) -> LoopForms:
        """The same forms where ``target`` has them."""
        if target == "c":
            return self
        return replace(self, interleave=False, pipeline=False, collapse=False, align=False)


def rows_side_by_side(
    scop: Scop,
    dependences: Dependences,
    mapped: Mapped,
    processor: Processor | None,
    *,
    panels: bool,
    jam: bool,
) -> Mapped:
    """``mapped`` with rows of recurrences and of matrices together, as far as that is wanted."""
    if panels:
        mapped = make_panels(scop, dependences, mapped)
    return jam_rows(scop, dependences, mapped, processor) if jam else mapped


def with_vector_loops(
    scop: Scop, plan: Plan, *, periodic: bool, select: bool, rows_ahead: bool, in_order: bool
) -> Plan:
    """``plan`` that says which of its vector loops go around others, which innermost ones (serial ones, too, but
    ``in_order``) are simpler but at their ends, which vector loops choose between values, and which walk down rows."""
    decisions = lanes_decisions(scop, plan.tree, plan.target)
    found = find_periodic(scop, plan, serial=not in_order) if periodic else ()
    if found:
        decisions = (*decisions, periodic_decision(scop, found))
    chosen = _choosing(scop, plan.tree) if select else None
    if chosen and plan.target == "c":
        decisions = (*decisions, Decision("select", CHOOSES, chosen))
    known = None if in_order or not rows_ahead else plan.vectors
    ahead = () if known is None else find_rows_ahead(scop, plan.tree, known.l2)
    if ahead:
        names = tuple(dict.fromkeys(found.statement for found in ahead))
        decisions = (*decisions, Decision("rows_ahead", AHEAD, names))
    decisions = (*plan.decisions, *decisions)
    return replace(plan, periodic=found, selects=chosen, rows_ahead=ahead, decisions=decisions)


def with_shorter_sums(
    scop: Scop, dependences: Dependences, plan: Plan, *, factor: bool, reciprocal: bool, late: bool
) -> Plan:
    """``plan`` that says which statements have sums from which a factor can be taken out, quotients by a number, or
    terms that wait for an iteration before."""
    sums, quotients = [], []
    for statement in scop.statements:
        written = _operations(statement.body)
        short = _operations(map(factored, statement.body))
        if factor and short < written:
            sums.append(Decision("factor", FACTORED.format(short, written), (statement.name,)))
        if reciprocal and any(multiplied(one) != one for one in statement.body):
            quotients.append(statement.name)
    said = [Decision("reciprocal", MULTIPLIED, tuple(quotients))] if quotients else []
    waiting = _late(scop, dependences, plan.tree) if late else ()
    if waiting:
        said.append(Decision("late", LATE, tuple(found.statement for found in waiting)))
    return replace(
        plan,
        factored=tuple(name for decision in sums for name in decision.statements),
        multiplied=tuple(quotients),
        late=waiting,
        decisions=(*plan.decisions, *sums, *said),
    )


def _late(scop: Scop, dependences: Dependences, tree: isl.Schedule) -> tuple[LateTerms, ...]:
    """The statements whose sums are over sooner in another order, in plain loops or vectors of chains; along diagonals
    there are enough chains that nothing waits."""
    shaped = [marks_above(band) for _, band in bands(tree)]
    kinds = [{name.partition(":")[0] for name in names} for names in shaped]
    others = {
        name
        for (_, band), above in zip(bands(tree), kinds, strict=True)
        if bool(above & _IN_VECTORS) != (INTERLEAVE in above)
        for name in statements_under(band)
    }
    found = []
    for statement in scop.statements:
        adds = any(operations(one.value) > 1 for one in statement.body if isinstance(one, Assign))
        if not adds or statement.name in others:
            continue
        counts = waits_of(scop, dependences, statement)
        waits = {access.span: count for access, count in counts if access.span is not None}
        if any(latest_last(one, waits) != one for one in statement.body):
            found.append(LateTerms(statement.name, tuple(waits.items())))
    return tuple(found)


def _operations(body: Iterable[Instruction]) -> int:
    return sum(operations(one.value) for one in body if isinstance(one, Assign))


def _choosing(scop: Scop, tree: isl.Schedule) -> tuple[str, ...]:
    """The statements in vector loops, and in single ones that threads share, that replace a cell where a condition on
    it holds, or one of several."""
    every = list(bands(tree))
    around = [statements_under(band) for path, band in every if _is_for_lanes(path, band, [one for one, _ in every])]
    names = dict.fromkeys(name for found in around for name in found)
    bodies = {name: scop.statement(name).body for name in names}
    return tuple(name for name, body in bodies.items() if len(body) == 1 and selection(body[0]) is not None)


def _is_for_lanes(path: Path, band: isl.ScheduleNode, paths: Sequence[Path]) -> bool:
    """Whether the iterations of the one loop of ``band`` may be lanes."""
    if is_under_mark(band, VECTOR):
        return True
    shared = any(name.partition(":")[0] == PARALLEL for name in marks_above(band)[:1])
    inner = any(other != path and other[: len(path)] == path for other in paths)
    return shared and not inner and band.band_get_partial_schedule().dim(isl.dim_type.out) == 1


def left_to_the_compiler(
    scop: Scop,
    dependences: Dependences,
    mapped: Mapped,
    target: str,
    *,
    accumulate: bool,
    interleave: bool,
    lift: bool,
) -> Mapped:
    """``mapped`` that says what would be done for its innermost loops in c, of the techniques that are wanted."""
    tree = mapped.tree
    decisions = list(mapped.decisions)
    sums = find_accumulations(scop, tree, None)[0] if accumulate else ()
    if sums:
        text = f"the cell that an innermost loop updates is left to the compiler of {target}: c keeps it in a register"
        decisions.append(Decision("accumulate", text, tuple(found.statement for found in sums)))
    for names in _chains(scop, dependences, tree) if interleave else ():
        text = (
            f"the innermost loop waits for its own values, and {target} leaves it at that: c may run several of its "
            "kind side by side"
        )
        decisions.append(Decision("interleave", text, names))
    for found in find_liftings(scop, tree)[0] if lift else ():
        text = (
            f"{' and '.join(found.arrays)} are swept where they are: only c keeps rows in stretches side by side, and "
            f"{target} does not"
        )
        decisions.append(Decision("lift", text, found.statements))
    return replace(mapped, decisions=tuple(decisions))


def _chains(scop: Scop, dependences: Dependences, tree: isl.Schedule) -> list[tuple[str, ...]]:
    """The statements of each innermost loop that waits for its own values."""
    paths = [path for path, _ in bands(tree)]
    innermost = [path for path in paths if not any(other != path and other[: len(path)] == path for other in paths)]
    return [
        statements_under(node_at(tree, path))
        for path in innermost
        if not is_under_mark(node_at(tree, path), VECTOR) and has_chains(scop, dependences, tree, (path,))
    ]

"""Why a statement runs in vectors, why its cells stay in registers, and what the freedom of its sum brings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from polyviz.analysis import find_reductions, parallelism
from polyviz.analysis.strides import motions, statement_rows
from polyviz.model.plan import PARALLEL, VECTOR
from polyviz.model.reason import Reason
from polyviz.model.words import listed
from polyviz.scheduling.explanation import LOOP
from polyviz.transform.tree import bands, marks_above, statements_under

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import islpy as isl

    from polyviz.analysis import Reduction
    from polyviz.analysis.strides import AccessMotion
    from polyviz.model.dependences import Dependences, LoopParallelism
    from polyviz.model.details import CarriedDetails, LoopDetails
    from polyviz.model.plan import Plan
    from polyviz.model.schedule import Schedule
    from polyviz.model.scop import Scop, Statement

SIDE_BY_SIDE = ("row-blocks", "interleave", "lift")
"""Steps of a plan's log that use vector registers in ways of their own."""
KEPT = ("accumulate", "storage", "array-sum", "thread-copy", "row-blocks", "register-tile")
"""Steps that keep a cell, or a copy of it, near to who uses it; without numbers a step tells why it was not taken."""


@dataclass(frozen=True, slots=True)
class StatementReasons:
    """The reasons about the statements of ``scop`` in the program of ``plan``."""

    scop: Scop
    dependences: Dependences
    schedule: Schedule
    plan: Plan
    _judged: list[LoopParallelism] = field(default_factory=list)

    def all(self) -> list[Reason]:
        """All of them, statement by statement."""
        sums = {found.statement: found for found in find_reductions(self.scop)}
        return [
            reason
            for one in self.scop.statements
            for reason in self._of(one, sums.get(one.name))
            if reason.text
        ]

    def _of(self, statement: Statement, reduction: Reduction | None) -> Iterator[Reason]:
        innermost = self._innermost(statement.name)
        if innermost is not None:
            yield self._vectors(statement, innermost)
        yield Reason("promotion", "", (statement.name,), self._promotion(statement, innermost))
        if reduction is not None:
            yield Reason("reduction", "", (statement.name,), self._reduction(reduction))

    def _innermost(self, name: str) -> isl.ScheduleNode | None:
        """The innermost band around a statement in the tree of the plan."""
        around = [band for _, band in bands(self.plan.tree) if name in statements_under(band)]
        return around[-1] if around else None

    def _loops(self) -> list[LoopParallelism]:
        if not self._judged:
            self._judged.extend(parallelism(self.scop, self.dependences, self.plan.tree))
        return self._judged

    def _vectors(self, statement: Statement, innermost: isl.ScheduleNode) -> Reason:
        name = statement.name
        loop = [one for one in self._loops() if name in one.statements][-1]
        text = self._vectors_text(name, innermost, loop)
        forbidden = loop.witness if loop.explanation in text else None
        return Reason("vectors", "", (name,), f"In the program for {self.plan.target}, {text}.", forbidden)

    def _vectors_text(self, name: str, innermost: isl.ScheduleNode, loop: LoopParallelism) -> str:
        marks = marks_above(innermost)
        if any(name == tile.statement for tile in self.plan.register_tiles):
            return f"{name} runs in register tiles, whose rows are vectors"
        if any(found.statement == name for found in self.plan.accumulations):
            return self._sums_text(name, loop.loop)
        if VECTOR in marks:
            around = f"the innermost loop around {name}, {loop.loop}, {self._alone(name, loop)}"
            return f"{around}runs in vector instructions: {_because(loop)}"
        if said := self._said(name, SIDE_BY_SIDE):
            return said
        uneven = sorted(one for one in statements_under(innermost) if self.scop.statement(one).is_uneven)
        if uneven and loop.parallel:
            return (
                f"the innermost loop around {name}, {loop.loop}, is not cut into vectors: the loop inside {uneven[0]} "
                "ends when its data say so, in each iteration at another time"
            )
        if not loop.parallel:
            return f"{name} runs in no vectors: its innermost {loop.explanation}"
        why = "the order is kept to the letter" if self._is_kept() else "nothing was marked"
        if any(mark.startswith(PARALLEL) for mark in marks):
            why = "its iterations are shared between threads instead"
        return f"the innermost loop around {name}, {loop.loop}, is not cut into vectors, though {_because(loop)}: {why}"

    def _alone(self, name: str, loop: LoopParallelism) -> str:
        """That the program parts statements which share a loop in the schedule: their verdicts may differ."""
        around = [band for _, band in bands(self.schedule.tree) if name in statements_under(band)]
        shared = set(statements_under(around[-1])) if around else set()
        return f"which has only {listed(sorted(loop.statements))} there, " if shared - set(loop.statements) else ""

    def _sums_text(self, name: str, loop: str) -> str:
        found = next(one for one in self.plan.accumulations if one.statement == name)
        if found.lanes and found.operator == "*":
            return (
                f"{name} only multiplies in its innermost loop, {loop}: {found.lanes} partial products run side by "
                "side, in vectors, as long as products may be reordered"
            )
        if found.lanes and found.operator != "+":
            return (
                f"{name} only looks for the {found.operator} in its innermost loop, {loop}: {found.lanes} partial "
                "results are kept side by side, in vectors, as long as sums may be reordered"
            )
        if found.lanes:
            return (
                f"{name} only adds up in its innermost loop, {loop}: {found.lanes} partial sums run side by side, in "
                "vectors, as long as sums may be reordered"
            )
        why = {
            "unit": f"no lanes are made for `{found.operator}` here",
            "strided": "its operands jump through memory in this loop",
            "scattered": "where its operands lie depends on data",
        }
        return f"{name} accumulates in its innermost loop, {loop}, one value after the other: {why[found.stride]}"

    def _is_kept(self) -> bool:
        return self.schedule.by_hand or self.schedule.scheduler == "original"

    def _said(self, name: str, steps: tuple[str, ...]) -> str:
        """What the log of the plan tells of a statement."""
        found = (
            one.text.removesuffix(".")
            for one in self.plan.decisions
            if one.step in steps and name in one.statements
        )
        return "; ".join(found)

    def _promotion(self, statement: Statement, innermost: isl.ScheduleNode | None) -> str:
        said = self._said(statement.name, KEPT)
        if said:
            return f"In the program for {self.plan.target}: {said}."
        moving = None if innermost is None else _motions_of(statement, innermost)
        if not moving:
            return ""
        still = list(dict.fromkeys(one.access.text for one in moving if one.locality == "temporal"))
        if still:
            verb, what = ("stays", "it") if len(still) == 1 else ("stay", "them")
            where = "while the innermost loop runs: a compiler may keep"
            return f"{listed(still)} {verb} the same {where} {what} in a register."
        return (
            "Each of its references moves on to another element in every iteration of the innermost loop: none of them "
            "is kept in a register."
        )

    def _reduction(self, reduction: Reduction) -> str:
        """Which loops become parallel when the sum may be added up in any order, and which do not."""
        name, array = reduction.statement, reduction.array
        freed: list[str] = []
        tied: list[tuple[str, list[CarriedDetails]]] = []
        for details in (
            cast("LoopDetails", one.details) for one in self.schedule.decisions if one.step == LOOP
        ):
            ends = (array, name, name)
            steps = [one for one in details["carries"] if (one["array"], one["source"], one["sink"]) == ends]
            if steps and details["reduction_parallel"]:
                freed.append(details["loop"])
            elif steps:
                others = [one for one in details["carries"] if one not in steps]
                tied.append((details["loop"], others))
        if not freed and not tied:
            return ""
        loops = f"loop{'s' if len(freed) > 1 else ''} {listed(freed)}" if freed else "no loop of this schedule"
        freedom = "Adding up in any order, which the contract strict forbids"
        text = f"{name} accumulates into {array}. {freedom}, makes {loops} parallel."
        return text + "".join(_still_tied(loop, others) for loop, others in tied)


def _still_tied(loop: str, others: Sequence[CarriedDetails]) -> str:
    if not others:
        return f" Loop {loop} stays in order: other references need the values in between."
    one = min(others, key=lambda found: found["source"] == found["sink"])
    more = f" and {len(others) - 1} more" if len(others) > 1 else ""
    return (
        f" Loop {loop} stays in order all the same: it carries {one['kind']} of {one['array']} ({one['source']} → "
        f"{one['sink']}){more}."
    )


def _because(loop: LoopParallelism) -> str:
    return loop.explanation.partition(": ")[2] or loop.explanation


def _motions_of(statement: Statement, band: isl.ScheduleNode) -> list[AccessMotion] | None:
    prefix = band.get_prefix_schedule_multi_union_pw_aff()
    rows = statement_rows(prefix.flat_range_product(band.band_get_partial_schedule()), statement)
    return motions(statement, rows, len(rows) - 1)

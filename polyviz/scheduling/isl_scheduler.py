"""The scheduler that comes with isl, its options exposed and its running time bounded."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, ClassVar, Literal

import islpy as isl

from polyviz.analysis import check
from polyviz.analysis.times import maps_of, union_of
from polyviz.errors import OptionError
from polyviz.model.isl_limits import solved
from polyviz.model.schedule import Decision
from polyviz.scheduling.explanation import fallback_decision
from polyviz.scheduling.isl_process import apply_options, schedule_within
from polyviz.scheduling.pieces import simple_pieces
from polyviz.scheduling.problem import Proposal, SchedulingProblem

if TYPE_CHECKING:
    from polyviz.model.dependences import Dependences

# Most loop nests need fewer basic operations than this; more are left to a process that can be stopped.
QUICK_OPERATIONS = 300_000
# A relation of more constraints, or of more pieces, makes isl's operations so long that their number bounds nothing.
QUICK_CONSTRAINTS = 12
QUICK_PIECES = 64
# So do larger distances.
QUICK_DISTANCE = 16


@dataclass(frozen=True, slots=True)
class IslScheduler:
    """The built-in scheduler of isl: bands of close and parallel rows.

    ``proximity`` and ``coincidence`` say whether these relations take part; ``outer_coincidence`` insists on a parallel
    outermost row, ``serialize`` fuses nothing, ``maximize_band_depth`` refuses a fusion that shortens a band.
    ``target`` is what the schedule is for: on a ``gpu`` a parallel outermost row is always asked for, since it becomes
    the grid (without one the host launches a kernel for every wavefront); PPCG asks isl for the same.
    ``reorder_live_ranges`` lets anti and output dependences constrain only where the values they protect are passed on
    between iterations (isl's conditional validity); what comes of it is used when the exact dependences allow it, and
    computed again without the option when not. The search stops after ``time_limit`` seconds (some programs would take
    many minutes) and the order of the source is kept.
    """

    name: ClassVar[str] = "isl"
    keeps_groups: ClassVar[bool] = True
    target: Literal["cpu", "gpu"] = "cpu"
    proximity: bool = True
    coincidence: bool = True
    outer_coincidence: bool = False
    serialize: bool = False
    maximize_band_depth: bool = False
    reorder_live_ranges: bool = False
    time_limit: float = 10.0

    def __post_init__(self) -> None:
        if not 0 < self.time_limit < math.inf:
            raise OptionError(
                f"Option `time_limit` of scheduler `isl` is {self.time_limit!r}; "
                "it must be a positive number of seconds."
            )

    def run(self, problem: SchedulingProblem) -> Proposal:
        """Let isl compute the schedule; falls back to the original order at the time limit."""
        constraints = self._constraints(problem)
        tree = self._quickly(constraints)
        if tree is None:
            tree = schedule_within(constraints, self._options(), self.time_limit)
        if tree is not None and self.reorder_live_ranges:
            legality = check(problem.scop, tree, known=problem.dependences)
            if not legality:
                return self._without_reordering(problem, legality.violations[0].explanation)
        if tree is None:
            reason = f"isl found no schedule within {self.time_limit:g} s"
            decision = fallback_decision(self.name, "the order of the source", reason, _statements(problem))
            return Proposal(problem.scop.schedule, (decision,))
        return Proposal(tree, (Decision("isl", self._sentence(), _statements(problem)),))

    def _without_reordering(self, problem: SchedulingProblem, reason: str) -> Proposal:
        """What isl finds when every dependence constrains, and why that was needed."""
        plain = replace(self, reorder_live_ranges=False).run(problem)
        decision = fallback_decision(
            "an order with other live ranges",
            "one in which every dependence constrains",
            f"memory that is used again could not be proved private ({reason})",
            _statements(problem),
        )
        return Proposal(plain.tree, (decision, *plain.decisions))

    def _quickly(self, constraints: isl.ScheduleConstraints) -> isl.Schedule | None:
        """The schedule, when few operations are enough for it."""
        relations = (constraints.get_validity(), constraints.get_proximity(), constraints.get_coincidence())
        if not all(map(_is_quick, relations)):
            return None
        # The options of the isl scheduler belong to the whole context: they are put back afterwards.
        before = apply_options(isl.DEFAULT_CONTEXT, self._options())
        try:
            return solved(constraints.compute_schedule, QUICK_OPERATIONS)
        finally:
            apply_options(isl.DEFAULT_CONTEXT, before)

    @property
    def _outer(self) -> bool:
        return self.outer_coincidence or self.target == "gpu"

    def _options(self) -> dict[str, int]:
        return {
            "schedule_outer_coincidence": int(self._outer),
            "schedule_serialize_sccs": int(self.serialize),
            "schedule_maximize_band_depth": int(self.maximize_band_depth),
        }

    def _constraints(self, problem: SchedulingProblem) -> isl.ScheduleConstraints:
        dependences = problem.dependences
        constraints = isl.ScheduleConstraints.on_domain(problem.domain).set_context(problem.scop.context)
        if self.reorder_live_ranges:
            values, memory = _values_and_memory(dependences)
            constraints = constraints.set_validity(values)
            constraints = constraints.set_conditional_validity(values, memory)
        else:
            constraints = constraints.set_validity(_in_pieces(dependences.validity))
        if self.proximity:
            constraints = constraints.set_proximity(_in_pieces(dependences.proximity))
        if self.coincidence:
            constraints = constraints.set_coincidence(_in_pieces(dependences.coincidence))
        return constraints

    def _sentence(self) -> str:
        wishes = [
            wish
            for wish, wanted in (
                ("dependent instances close together", self.proximity),
                ("parallel rows", self.coincidence),
                ("a parallel outermost row", self._outer),
                ("no fusion", self.serialize),
                ("deep bands", self.maximize_band_depth),
                ("live ranges in any order", self.reorder_live_ranges),
            )
            if wanted
        ]
        return f"isl computed the order, asked for {', '.join(wishes) or 'nothing but legality'}."


def _statements(problem: SchedulingProblem) -> tuple[str, ...]:
    return tuple(statement.name for statement in problem.scop.statements)


def _values_and_memory(dependences: Dependences) -> tuple[isl.UnionMap, isl.UnionMap]:
    """The dependences that pass a value on, and those that only protect memory which is used again."""
    parameters = dependences.validity.get_space().params()
    flow = [part.relation for part in dependences.validity_relations if part.kind == "flow"]
    memory = [part.relation for part in dependences.validity_relations if part.kind != "flow"]
    return union_of(flow, parameters), union_of(memory, parameters)


def _in_pieces(relation: isl.UnionMap) -> isl.UnionMap:
    """The same pairs, the ones of complicated pieces distance by distance: isl needs far less time for these."""
    pieces = [
        isl.UnionMap.from_map(isl.Map.from_basic_map(simple))
        for piece in _pieces(relation)
        for simple in simple_pieces(piece)
    ]
    return reduce(isl.UnionMap.union, pieces, isl.UnionMap.empty(relation.get_space()))


def _pieces(relation: isl.UnionMap) -> list[isl.BasicMap]:
    return [
        part.get_basic_map_list().get_at(position)
        for part in maps_of(relation)
        for position in range(part.n_basic_map())
    ]


def _is_quick(relation: isl.UnionMap) -> bool:
    pieces = _pieces(relation)
    short = len(pieces) <= QUICK_PIECES and all(piece.n_constraint() <= QUICK_CONSTRAINTS for piece in pieces)
    return short and not any(_reaches_far(piece) for piece in pieces)


def _reaches_far(piece: isl.BasicMap) -> bool:
    """Whether a distance is large, as the 100 of `j' = j - 100`: isl may search without end in one operation."""
    return any(
        one.is_equality() and abs(one.get_constant_val().to_python()) > QUICK_DISTANCE
        for one in piece.get_constraints()
    )

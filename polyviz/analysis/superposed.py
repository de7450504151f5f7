"""Is a superposed schedule legal? Exactly, condition by condition, with a pair of instances for each that fails.

Lemma 1 of Shirako, Hayashi, Sarkar (CC 2017), section 3.2, gives two sufficient conditions for the sequential order. A
parallel machine needs three more: kernels come in the order of the dependences, blocks of one kernel do not depend on
each other, and threads do only across barriers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from polyviz.analysis.carried import Constraint, constraints_of
from polyviz.analysis.dependences import dependences
from polyviz.analysis.loop_kinds import pair_violation
from polyviz.analysis.superposed_rows import SuperposedRows
from polyviz.errors import OptionError
from polyviz.model.dependences import Dependence, Dependences, Violation
from polyviz.model.exclusion import exclusive
from polyviz.model.superposition import Condition, Superposition, SuperpositionLegality

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import islpy as isl

    from polyviz.model.scop import Scop
    from polyviz.model.superposition import Scattering


@exclusive
def check_superposition(
    scop: Scop, superposition: Superposition, *, known: Dependences | None = None
) -> SuperpositionLegality:
    """Whether ``superposition`` is legal on a machine with blocks and threads, as an order and as parallel code.

    ``known`` spares the dependence analysis when its result is at hand.
    Raises ``OptionError`` for what is no superposition.
    """
    if not isinstance(superposition, Superposition):
        raise OptionError(
            "A superposition is what `superpose` makes or `.superposition` of a schedule holds, "
            f"not a value of type {type(superposition).__name__}."
        )
    return check_scatterings(scop, superposition.outer, superposition.regular, known=known)


@exclusive
def check_scatterings(
    scop: Scop,
    outer: Mapping[str, Scattering],
    regular: Mapping[str, Scattering],
    *,
    known: Dependences | None = None,
) -> SuperpositionLegality:
    """The same for two scattering functions per statement.

    The steps of a reduction along an axis marked as such may run in any order; nothing else may touch the accumulating
    cell in the same phase.
    """
    found = known if known is not None else dependences(scop)
    constraints = tuple(one for one in constraints_of(scop, found) if not one.pairs.is_empty())
    checks = _Checks(scop, SuperposedRows(scop, outer, regular), constraints)
    return SuperpositionLegality(
        (
            Condition("outer", "no dependence runs backwards along an outer loop", checks.outer()),
            Condition("regular", "every dependence runs forwards in the regular order", checks.regular()),
            Condition("kernels", "no kernel needs a result of a later one", checks.kernels()),
            Condition("blocks", "blocks of one kernel do not depend on each other", checks.blocks()),
            Condition("threads", "threads depend on each other only across barriers", checks.threads()),
            Condition(
                "superposed", "every dependence runs forwards in the superposed order", checks.superposed()
            ),
        )
    )


@dataclass(frozen=True, slots=True)
class _Checks:
    scop: Scop
    rows: SuperposedRows
    constraints: Sequence[Constraint]

    def outer(self) -> Violation | None:
        """The first pair that runs backwards along one outer loop within a launch."""
        for found in self._ordering():
            pairs = self._in_one_launch(found)
            for number, (source, sink) in enumerate(self.rows.outer_rows(found)):
                backwards = pairs.intersect(source.lex_gt_map(sink))
                if not backwards.is_empty():
                    return pair_violation(
                        self.scop, found, backwards, f": backwards along outer loop {number}"
                    )
        return None

    def regular(self) -> Violation | None:
        """The first pair that the regular order turns around."""
        return self._turned(self.rows.regular_times, "the regular order")

    def superposed(self) -> Violation | None:
        """The first pair that the superposed order turns around."""
        return self._turned(self.rows.superposed_times, "the superposed order")

    def kernels(self) -> Violation | None:
        """The first pair whose sink is launched before its source."""
        for found in self._ordering():
            source, sink = self.rows.launch(found.source), self.rows.launch(found.sink)
            pairs = found.pairs.intersect(source.lex_gt_map(sink))
            if not pairs.is_empty():
                return pair_violation(self.scop, found, pairs, ": the kernel of the second is launched first")
        return None

    def blocks(self) -> Violation | None:
        """The first pair in different blocks of one launch."""
        for found in self._ordering():
            source, sink = self.rows.block(found.source), self.rows.block(found.sink)
            pairs = _apart(self._in_one_launch(found), source, sink)
            if not pairs.is_empty():
                return pair_violation(self.scop, found, pairs, ": in different blocks of one kernel")
        return None

    def threads(self) -> Violation | None:
        """The first pair in different threads without a barrier between, or a use of a half-finished reduction."""
        for found in self.constraints:
            pairs = self._in_one_phase(found)
            if self._meets_accumulation(found):
                if not pairs.is_empty():
                    ends = ": in the phase that still accumulates"
                    return pair_violation(self.scop, _with_dependence(self.scop, found), pairs, ends)
                continue
            if found.dependence is None or self.rows.is_shared_reduction(found):
                continue
            racing = _apart(pairs, self.rows.thread(found.source), self.rows.thread(found.sink))
            if not racing.is_empty():
                return pair_violation(
                    self.scop, found, racing, ": in different threads without a barrier between"
                )
        return None

    def _meets_accumulation(self, found: Constraint) -> bool:
        """Whether another statement touches the cell of a shared accumulation, or depends on one of its steps."""
        if found.dependence is None:
            return self.rows.has_reduction_axis(found.source)
        shared = map(self.rows.has_reduction_axis, (found.source, found.sink))
        return found.source != found.sink and any(shared)

    def _turned(self, times: Mapping[str, isl.Map], order: str) -> Violation | None:
        for found in self._ordering():
            if self.rows.is_shared_reduction(found):
                continue
            pairs = found.pairs.intersect(times[found.source].lex_ge_map(times[found.sink]))
            if not pairs.is_empty():
                return pair_violation(
                    self.scop, found, pairs, f": {order} does not run the first before the second"
                )
        return None

    def _ordering(self) -> Iterator[Constraint]:
        return (found for found in self.constraints if found.dependence is not None)

    def _in_one_launch(self, found: Constraint) -> isl.Map:
        return found.pairs.intersect(_equal(self.rows.launch(found.source), self.rows.launch(found.sink)))

    def _in_one_phase(self, found: Constraint) -> isl.Map:
        same = _equal(self.rows.phase(found.source), self.rows.phase(found.sink))
        return self._in_one_launch(found).intersect(same)


def _equal(source: isl.Map, sink: isl.Map) -> isl.Map:
    return source.apply_range(sink.reverse())


def _apart(pairs: isl.Map, source: isl.Map, sink: isl.Map) -> isl.Map:
    return pairs.intersect(source.lex_lt_map(sink).union(source.lex_gt_map(sink)))


def _with_dependence(scop: Scop, found: Constraint) -> Constraint:
    """A foreign access to an accumulating cell as a dependence, so that it can be explained like one."""
    if found.dependence is not None:
        return found
    assert found.reduction is not None
    array = found.reduction.array
    reads = any(
        access.array == array and access.kind == "read" for access in scop.statement(found.sink).accesses
    )
    kind = Dependence("flow" if reads else "output", array, found.source, found.sink, found.pairs)
    return Constraint(found.source, found.sink, found.pairs, kind, found.reduction)

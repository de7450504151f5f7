"""What a processor's mapping does for loops whose time goes into reading memory; each part can be switched off."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from polyviz.mapping.accumulate import find_accumulations
from polyviz.mapping.array_sums import find_array_sums
from polyviz.mapping.body_sums import find_body_sums
from polyviz.mapping.lifting import find_liftings
from polyviz.mapping.mirrors import find_mirrors
from polyviz.mapping.passes import fuse_passes
from polyviz.mapping.slabs import gather_slabs, with_best_innermost
from polyviz.mapping.splits import split_at_equal_iterators
from polyviz.mapping.strips import make_strips, share_strips
from polyviz.mapping.temporaries import gather_temporaries
from polyviz.mapping.thread_copies import find_thread_copies
from polyviz.transform.interchange import permute_members

if TYPE_CHECKING:
    import islpy as isl

    from polyviz.mapping.band_plan import BandPlan
    from polyviz.model.dependences import Dependences
    from polyviz.model.plan import ArraySum, Plan
    from polyviz.model.processor import Processor
    from polyviz.model.program import FloatingPoint
    from polyviz.model.schedule import Decision
    from polyviz.model.scop import Scop
    from polyviz.transform.tree import Path


@dataclass(frozen=True, slots=True)
class MemoryRules:
    """``fuse_passes``: nests over one matrix share a loop over its rows, and nests with a temporary in common their
    outer loop; a loop that updates a row through a copy of it goes with that which copies. ``strips``: parallel loops
    along memory go innermost, a strip at a time, where the loops inside jump. ``array_sums``: threads add into copies
    of small arrays, which only ``floating_point`` ``reassociate`` allows, and of single numbers with ``single_sums``;
    ``copies``: they have copies of arrays that are filled anew. ``accumulate``: cells stay in registers. ``lift``: rows
    that are swept again and again are kept in stretches side by side."""

    fuse_passes: bool = True
    strips: bool = True
    array_sums: bool = True
    accumulate: bool = True
    lift: bool = True
    floating_point: FloatingPoint = "reassociate"
    single_sums: bool = False
    copies: bool = False

    def for_target(self, target: str) -> MemoryRules:
        """The same rules where ``target`` has what they need: plain Python is for reading."""
        sums = self.array_sums and self.floating_point == "reassociate" and target in ("c", "numba")
        return replace(
            self,
            fuse_passes=self.fuse_passes and target in ("c", "numba"),
            strips=self.strips and target in ("c", "numba"),
            array_sums=sums,
            accumulate=self.accumulate and target == "c",
            lift=self.lift and target == "c",
            single_sums=sums and target == "c",
            copies=target == "c",
        )

    def arranged(
        self, scop: Scop, dependences: Dependences, tree: isl.Schedule
    ) -> tuple[isl.Schedule, tuple[Decision, ...]]:
        """``tree`` with nests over one matrix in one loop, and strips innermost where that runs along memory."""
        decisions: tuple[Decision, ...] = ()
        if self.fuse_passes:
            tree, gathered = _gathered(scop, dependences, tree)
            tree, fused = fuse_passes(scop, dependences, tree, sums=self.array_sums)
            decisions = (*gathered, *fused)
        if not self.strips:
            return tree, decisions
        tree, splits = split_at_equal_iterators(scop, dependences, tree)
        tree, strips = make_strips(scop, dependences, tree)
        tree, shares = share_strips(scop, dependences, tree, sums=self.array_sums)
        return tree, (*decisions, *splits, *strips, *shares)

    def in_given_order(self) -> MemoryRules:
        """What is left of the rules where the loops are to stay as they are."""
        return replace(self, fuse_passes=False, strips=False)

    def shared(
        self, scop: Scop, dependences: Dependences, tree: isl.Schedule, plan: BandPlan, number: int
    ) -> BandPlan:
        """``plan``, the ``number``-th of the tree, with threads on its first loop where these can work on copies of all
        that its iterations have in common."""
        ordered, _ = permute_members(tree, plan.path, plan.order)
        if sums := self.sums(scop, dependences, ordered, plan.path, number):
            return replace(plan, parallel=0, serial_members=0, sums=sums)
        copies = find_thread_copies(scop, dependences, ordered, plan.path) if self.copies else ()
        return replace(plan, parallel=0, serial_members=0, copies=copies) if copies else plan

    def sums(
        self, scop: Scop, dependences: Dependences, tree: isl.Schedule, path: Path, number: int
    ) -> tuple[ArraySum, ...]:
        """What threads that share the first loop of the band at ``path`` have to copy."""
        ranks = (0, 1) if self.single_sums else (1,)
        return find_array_sums(scop, dependences, tree, path, number, ranks=ranks) if self.array_sums else ()

    def placed(self, scop: Scop, dependences: Dependences, plan: Plan, processor: Processor | None) -> Plan:
        """``plan`` with the cells that stay in registers, the rows that are kept in stretches side by side, and those
        that are updated from both ends."""
        if self.accumulate:
            found, said = find_accumulations(scop, plan.tree, processor)
            plan = replace(plan, accumulations=found, decisions=(*plan.decisions, *said))
        if self.accumulate and self.floating_point == "reassociate":
            sums, added = find_body_sums(scop, processor)
            plan = replace(plan, body_sums=sums, decisions=(*plan.decisions, *added))
        if self.lift:
            liftings, lifted = find_liftings(scop, plan.tree)
            plan = replace(plan, liftings=liftings, decisions=(*plan.decisions, *lifted))
        if self.fuse_passes and plan.target == "c" and not plan.schedule.by_hand:
            mirrors, mirrored = find_mirrors(scop, dependences, plan.tree)
            plan = replace(plan, mirrors=mirrors, decisions=(*plan.decisions, *mirrored))
        return plan


def _gathered(
    scop: Scop, dependences: Dependences, tree: isl.Schedule
) -> tuple[isl.Schedule, tuple[Decision, ...]]:
    """``tree`` with nests in one loop that share temporaries or slabs of an array; as it is where there are none."""
    ordered = with_best_innermost(scop, dependences, tree)
    changed, temporaries = gather_temporaries(scop, dependences, ordered)
    changed, slabs = gather_slabs(scop, dependences, changed)
    found = (*temporaries, *slabs)
    return (changed if found else tree), found

"""Marks: which loop runs in parallel, which one in vector lanes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Literal

from polyviz.analysis.parallelism import loop_parallelism
from polyviz.model.dependences import Dependences, Legality
from polyviz.model.schedule import Decision
from polyviz.transform.move import Move
from polyviz.transform.rows import checked_member, loop_text
from polyviz.transform.tree import (
    Path,
    band_at,
    bands,
    coincident_members,
    insert_mark,
    isolate_member,
    members,
    statements_under,
)

if TYPE_CHECKING:
    import islpy as isl

    from polyviz.model.scop import Scop

MarkName = Literal["parallel", "vector"]


@dataclass(frozen=True, slots=True)
class Parallel(Move):
    """Let the iterations of a loop run in parallel threads; legal when the loop carries no dependence.

    It is the loop ``member`` of the band at ``path``. ``mark`` is ``parallel`` for threads and ``vector`` for
    lanes; it becomes a mark node directly above the loop, which becomes a band of its own. Legal when the loop
    carries no dependence; ``reductions`` lets those of reductions pass, for a target that combines partial results.
    """

    name: ClassVar[str] = "parallel"
    member: int = 0
    mark: MarkName = "parallel"
    reductions: bool = False

    @classmethod
    def available(cls, tree: isl.Schedule) -> tuple[Path, ...]:
        """Every band with a parallel member."""
        return tuple(path for path, band in bands(tree) if any(coincident_members(band)))

    def apply(self, tree: isl.Schedule) -> tuple[isl.Schedule, Decision]:
        """The tree with the loop isolated and marked."""
        band = band_at(tree, self.path)
        statements = statements_under(band)
        isolated, path = isolate_member(tree, self.path, self.member)
        text = f"Loop {loop_text(members(band)[self.member])} runs in {_PLACES[self.mark]}."
        details = {"path": self.path, "member": self.member, "mark": self.mark}
        return insert_mark(isolated, path, self.mark), Decision(self.mark, text, statements, details)

    def check(self, scop: Scop, dependences: Dependences, tree: isl.Schedule) -> Legality:
        """Whether the loop, where it stands, carries a dependence; the order of the tree itself is not looked at."""
        first = 0
        for path, band in bands(tree):
            if path == self.path:
                break
            first += band.band_n_member()
        loop = loop_parallelism(
            scop, dependences, tree, first + checked_member(tree, self.path, self.member)
        )
        allowed = loop.parallel or (self.reductions and loop.reduction_parallel)
        if allowed or loop.witness is None:
            return Legality(())
        if not loop.reduction_parallel:
            return Legality((loop.witness,))
        why = f"{loop.witness.explanation}: it only adds up, but a loop marked by hand gets no partial results to join"
        return Legality((replace(loop.witness, explanation=why),))


_PLACES = {"parallel": "parallel threads", "vector": "vector lanes"}


def mark_parallel(tree: isl.Schedule, path: Path, member: int = 0) -> tuple[isl.Schedule, Decision]:
    """``Parallel(path, member)`` applied to ``tree``."""
    return Parallel(path, member).apply(tree)


def mark_vector(tree: isl.Schedule, path: Path, member: int = 0) -> tuple[isl.Schedule, Decision]:
    """``Parallel(path, member, "vector")`` applied to ``tree``.

    >>> import islpy as isl
    >>> tree = isl.Schedule('{ domain: "{ S[i] }", child: { schedule: "[{ S[i] -> [i] }]" } }')
    >>> print(mark_vector(tree, (0,))[1].text)
    Loop i runs in vector lanes.
    """
    return Parallel(path, member, "vector").apply(tree)

"""The thread level: parallel loops that let neighbouring threads share lines of memory, with few barriers.

Algorithm 2 of Shirako, Hayashi, Sarkar (CC 2017), section 4.3. Where the article leaves a choice: a component without
any loop that coalesces keeps its outermost parallel loops, since a sequential loop around them would only add barriers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from polyviz.scheduling.superposed.fusion import fused
from polyviz.scheduling.superposed.parts import Group, ParallelLoop, Part, Scene, Serial, groups_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyviz.scheduling.superposed.levels import Kept, Workbench

MOST_AXES = 3


@dataclass(slots=True)
class ThreadSearch:
    """Finds the thread loops and the phases of all statements."""

    bench: Workbench

    def parts(self, scene: Scene) -> tuple[Part, ...]:
        """The phases of ``scene`` in their order."""
        parts = [self._component(component) for component in scene.components()]
        return fused(parts, scene, self.bench)

    def _component(self, scene: Scene) -> Part:
        kept = self.bench.find_loops(scene)
        loops = (*scene.enclosing, *kept.parallel)
        if self._coalesces(scene.names, loops):
            return self._accepted(scene, loops, "one of its parallel loops coalesces memory accesses")
        kept = kept.serialized()
        if kept.serial is None:
            return self._accepted(scene, loops, "no sequential loop is left to look inside")
        inner = self._inside(scene, kept)
        if not self._gains(inner, loops):
            return self._accepted(
                scene, loops, "nothing inside its sequential loop coalesces memory accesses"
            )
        return Serial(scene.names, kept.serial, inner)

    def _inside(self, scene: Scene, kept: Kept) -> tuple[Part, ...]:
        assert kept.serial is not None
        row = self.bench.rows_text(kept.serial)
        pushed = ", ".join(self.bench.rows_text(loop.terms) for loop in (*scene.enclosing, *kept.parallel))
        down = f"; {pushed} is pushed down" if pushed else ""
        names = ", ".join(scene.names)
        text = f"no parallel loop of {{{names}}} coalesces: look inside the sequential loop {row}{down}."
        self.bench.log("recursion", text, scene.names)
        return self.parts(scene.within(self.bench.scop, kept.serial, kept.parallel))

    def _gains(self, inner: Sequence[Part], loops: Sequence[ParallelLoop]) -> bool:
        """Whether the parts inside a sequential loop are worth its barriers."""
        groups = [group for group, _ in groups_of(inner)]
        if not loops:
            return any(group.loops for group in groups)
        return any(self._coalesces(group.names, group.loops) for group in groups)

    def _coalesces(self, names: Sequence[str], loops: Sequence[ParallelLoop]) -> bool:
        """Whether one of the loops is, for every statement, the contiguous one that saves most."""
        best = {name: self.bench.costs[name].coalescing for name in names}
        if not any(best.values()):
            return bool(loops)
        return any(all(best[name] in (None, self._iterator(name, loop)) for name in names) for loop in loops)

    def _iterator(self, name: str, loop: ParallelLoop) -> str:
        return self.bench.scop.statement(name).iterators[loop.terms[name].iterator]

    def _accepted(self, scene: Scene, loops: Sequence[ParallelLoop], reason: str) -> Group:
        chosen = chosen_for_threads(loops)
        group = Group(scene.names, chosen)
        shown = ", ".join(
            f"{axis}: {self.bench.rows_text(loop.terms)}" for axis, loop in zip("xyz", chosen, strict=False)
        )
        what = f"threads {shown}" if shown else "one thread, in the order of the source"
        left = [self.bench.rows_text(loop.terms) for loop in loops if loop not in chosen]
        unused = f"; left to each thread: {', '.join(left)}" if left else ""
        self.bench.log("axes", f"{{{', '.join(scene.names)}}} gets {what}, as {reason}{unused}.", scene.names)
        return group


def chosen_for_threads(loops: Sequence[ParallelLoop]) -> tuple[ParallelLoop, ...]:
    """The loops that become axes, x first: three foralls at most; a reduction only beside fewer than two foralls."""
    ranked = sorted(loops, key=lambda loop: (loop.weight, -loop.depth))
    foralls = [loop for loop in ranked if loop.kind == "forall"]
    reductions = [loop for loop in ranked if loop.kind == "reduction"]
    if len(foralls) >= 2:
        return tuple(foralls[:MOST_AXES])
    few = [*foralls, *reductions[:1]]
    return tuple(loop for loop in ranked if loop in few)

"""The block level: the outermost loops without any dependence, since blocks cannot wait for each other.

Algorithm 3 of Shirako, Hayashi, Sarkar (CC 2017), section 4.4. A component whose forall loops are all inside a
sequential loop gets that loop on the host, around the launches of its kernels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from polyviz.scheduling.superposed.fusion import fused
from polyviz.scheduling.superposed.parts import Group, ParallelLoop, Part, Scene, Serial, groups_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyviz.scheduling.superposed.levels import Workbench

MOST_AXES = 2


@dataclass(slots=True)
class BlockSearch:
    """Finds the kernels, their block loops, and the loops of the host around them."""

    bench: Workbench

    def parts(self, scene: Scene) -> tuple[Part, ...]:
        """The kernels of ``scene`` in their order."""
        parts = [self._component(component) for component in scene.components()]
        return fused(parts, scene, self.bench)

    def _component(self, scene: Scene) -> Part:
        if not any(scene.free.values()):
            return self._single(scene, "no loop is left to make blocks of")
        kept = self.bench.find_loops(scene)
        if kept.foralls:
            return self._accepted(scene, kept.foralls)
        kept = kept.serialized()
        if kept.serial is None:
            return self._single(
                scene, "none of its loops is forall, and no sequential loop is left to look inside"
            )
        row = self.bench.rows_text(kept.serial)
        text = f"no loop of {{{', '.join(scene.names)}}} is forall: look inside the sequential loop {row}."
        self.bench.log("recursion", text, scene.names)
        inner = self.parts(scene.within(self.bench.scop, kept.serial, ()))
        if not any(group.loops for group, _ in groups_of(inner)):
            reason = "none of its loops is forall, not even inside its sequential loops (skewed rows are not tried)"
            return self._single(scene, reason)
        self.bench.log("host", f"the host runs the sequential loop {row} around the launches.", scene.names)
        return Serial(scene.names, kept.serial, inner)

    def _accepted(self, scene: Scene, foralls: Sequence[ParallelLoop]) -> Group:
        chosen = chosen_for_blocks(foralls)
        shown = ", ".join(
            f"{axis}: {self.bench.rows_text(loop.terms)}" for axis, loop in zip("xy", chosen, strict=False)
        )
        self.bench.log("axes", f"{{{', '.join(scene.names)}}} gets blocks {shown}.", scene.names)
        return Group(scene.names, chosen)

    def _single(self, scene: Scene, reason: str) -> Group:
        self.bench.withdraw("fallback", scene.names)
        text = f"{{{', '.join(scene.names)}}} runs in a single block, as {reason}."
        has_loops = bool(scene.under) or any(scene.free.values())
        self.bench.log("fallback" if has_loops else "axes", text, scene.names)
        return Group(scene.names)


def chosen_for_blocks(foralls: Sequence[ParallelLoop]) -> tuple[ParallelLoop, ...]:
    """The loops that become axes, x first: two at most, those whose neighbours share the fewest lines.

    Of two the one with the larger derivative is y; of equals the outer one.
    """
    ranked = sorted(foralls, key=lambda loop: (-loop.weight, loop.depth))
    return tuple(reversed(ranked[:MOST_AXES]))

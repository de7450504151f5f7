"""Marks that promise something: parallel threads and vector lanes, proven again for the tree they stand in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from polyviz.analysis.parallelism import parallelism_of
from polyviz.model.plan import PARALLEL, VECTOR
from polyviz.transform.tree import Path, bands, is_band, kind_of, path_of, walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    import islpy as isl

    from polyviz.model.dependences import Dependences, LoopParallelism
    from polyviz.model.scop import Scop


@dataclass(frozen=True, slots=True)
class Promise:
    """A mark that promises independent iterations: its path, its name, and what is known of the loop under it.

    ``loop`` is None when no loop stands under the mark.
    """

    path: Path
    mark: str
    loop: LoopParallelism | None

    @property
    def is_kept(self) -> bool:
        """Whether the iterations are independent."""
        return self.loop is not None and self.loop.parallel

    @property
    def reason(self) -> str:
        """Why the promise is not kept, with the pair of iterations."""
        return f"no loop stands under the mark `{self.mark}`" if self.loop is None else self.loop.explanation


def promises(scop: Scop, dependences: Dependences, tree: isl.Schedule) -> tuple[Promise, ...]:
    """Every mark ``parallel`` or ``vector`` of ``tree``, from the exact analysis of the loop it stands above."""
    marked = list(_marked(tree))
    if not marked:
        return ()
    first, number = {}, 0
    for path, band in bands(tree):
        first[path] = number
        number += band.band_n_member()
    loops = parallelism_of(scop, dependences, tree, {first[loop] for _, _, loop in marked if loop is not None})
    return tuple(
        Promise(path, mark, None if loop is None else loops[first[loop]]) for path, mark, loop in marked
    )


def _marked(tree: isl.Schedule) -> Iterator[tuple[Path, str, Path | None]]:
    """Each mark with the path of the band directly below it and below further marks."""
    for node in walk(tree):
        if kind_of(node) != "mark":
            continue
        name = node.mark_get_id().get_name()
        if name.partition(":")[0] not in (PARALLEL, VECTOR):
            continue
        below = node.child(0)
        while kind_of(below) == "mark":
            below = below.child(0)
        yield path_of(node), name, path_of(below) if is_band(below) else None

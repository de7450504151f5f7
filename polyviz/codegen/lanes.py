"""The lanes of a warp in the text of a kernel: what each of them adds to a coordinate, a loop, a subscript."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING

from polyviz.codegen.index_width import narrowed
from polyviz.model.device import coordinate
from polyviz.model.expression import Element, Loop, Name, walk
from polyviz.model.linear import linear_terms
from polyviz.model.warp_access import WARP

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from polyviz.model.device import DeviceKernel
    from polyviz.model.expression import Expression, Instruction
    from polyviz.model.warp_access import Lanes


@dataclass(frozen=True, slots=True)
class Warp:
    """The first warp of a block: what each lane adds to a variable, None where that is no fixed number.

    ``row`` lanes in a row are neighbours along x. What is not in ``added`` is the same for all lanes. ``is_any_warp``:
    the other warps of a block differ in nothing that counts.
    """

    added: Mapping[str, Lanes | None]
    row: int
    count: int
    is_any_warp: bool = True

    @classmethod
    def of(cls, kernel: DeviceKernel) -> Warp:
        """The lanes as the coordinates of ``kernel`` tell them apart."""
        sizes = {axis.axis: axis.size for axis in kernel.threads}
        count = min(WARP, prod(sizes.values()))
        found: dict[str, Lanes | None] = {}
        inner = 1
        for axis in "xyz":
            if axis in sizes:
                found[coordinate("thread", axis)] = tuple(lane // inner % sizes[axis] for lane in range(count))
                inner *= sizes[axis]
        for point in kernel.points:
            found[point.parameter] = found.get(coordinate("thread", point.thread))
        along = sizes.get("x", 1)
        return cls(found, min(WARP, along), count, is_any_warp=along % WARP == 0 or WARP % along == 0)

    def lanes(self, node: Expression) -> Lanes | None:
        """What each lane adds to ``node``; None where that is no fixed number."""
        node = narrowed(node)
        named = {part.name for part in walk(node) if isinstance(part, Name)} & self.added.keys()
        if not named:
            return (0,) * self.count
        terms = linear_terms(node)
        if terms is None or any(self.added[name] is None for name in named):
            return None
        return tuple(
            sum(terms.get(name, 0) * (self.added[name] or ())[lane] for name in named) for lane in range(self.count)
        )

    def inside(self, iterator: str, start: Expression) -> Warp:
        """Inside a loop that begins at ``start``: lanes whose bounds cut them off differently begin no other way.

        Nobody knows where it begins for a lane that asks its data.
        """
        start = narrowed(start)
        named = {part.name for part in walk(start) if isinstance(part, Name)} & self.added.keys()
        added = self.lanes(start)
        if added is None and len(named) == 1 and not any(isinstance(part, Element) for part in walk(start)):
            added = self.added[named.pop()]
        return replace(self, added={**self.added, iterator: added}) if added is None or any(added) else self

    def inside_statement(self, body: Sequence[Instruction]) -> Warp:
        """Inside the loops that ``body`` has of its own, whose ranges depend on data."""
        warp = self
        for loop in (part for instruction in body for part in walk(instruction) if isinstance(part, Loop)):
            warp = warp.inside(loop.iterator, loop.start)
            moved = warp.lanes(loop.step)
            if moved is None or any(moved):
                warp = replace(warp, added={**warp.added, loop.iterator: None})
        return warp

    def taking(self, cells: str, together: int, extents: Sequence[int], names: Sequence[str]) -> Warp:
        """The lanes that take the cells of a box in turns, ``together`` at once: a cell's number, and its places."""
        numbers = tuple(together * lane for lane in range(self.count))
        inner = [prod(extents[axis + 1 :]) for axis in range(len(extents))]
        places = {
            name: tuple(number // size % extent for number in numbers)
            for name, size, extent in zip(names, inner, extents, strict=True)
        }
        row, span = extents[-1], together * self.count
        return Warp({cells: numbers, **places}, self.count, self.count, row % span == 0 or span % row == 0)

    def knowing(self, name: str, added: Lanes) -> Warp:
        """With one more variable; only differences count, so that the first lane adds nothing."""
        return replace(self, added={**self.added, name: tuple(one - added[0] for one in added)})

"""Whether a band runs by register tiles: as a whole, in the tiles that hold updates only, or not at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from polyviz.mapping.block_tiles import find_updates
from polyviz.mapping.register_tile import LOOPS, RefusedError, find_register_tile
from polyviz.model.schedule import Decision

if TYPE_CHECKING:
    from collections.abc import Sequence

    import islpy as isl

    from polyviz.analysis import BandProperties
    from polyviz.mapping.block_tiles import Update
    from polyviz.mapping.register_tile import BlockedBand
    from polyviz.model.dependences import Dependences
    from polyviz.model.processor import Processor
    from polyviz.model.scop import Scop
    from polyviz.transform.tree import Path


@dataclass(frozen=True, slots=True)
class Registers:
    """What register tiles may use: the processor, and whether operands may be copied."""

    processor: Processor
    pack: bool = True


@dataclass(frozen=True, slots=True)
class Choice:
    """``whole`` for a band of one statement, ``updates`` for one that several share; neither: ``decision`` says why."""

    whole: BlockedBand | None = None
    updates: tuple[Update, ...] = ()
    decision: Decision | None = None


def choose_register_tiles(
    scop: Scop,
    dependences: Dependences,
    tree: isl.Schedule,
    path: Path,
    found: BandProperties,
    registers: Registers,
    number: int,
    *,
    may_be_parallel: bool,
    sizes: Sequence[int] | None,
) -> Choice:
    """What becomes of the band at ``path``, the ``number``-th of the tree; ``sizes`` are the user's tiles."""
    if len(found.members) < LOOPS:
        return Choice()
    try:
        if len(found.statements) > 1:
            return Choice(updates=find_updates(scop, dependences, tree, path, found, pack=registers.pack))
        whole = find_register_tile(
            scop,
            dependences,
            tree,
            path,
            found,
            registers.processor,
            number,
            may_be_parallel=may_be_parallel,
            pack=registers.pack,
            sizes=sizes,
        )
    except RefusedError as reason:
        return Choice(decision=refused(reason, found.statements))
    return Choice(whole, decision=whole.decision)


def refused(reason: RefusedError, statements: tuple[str, ...]) -> Decision:
    """What is said where there are no register tiles."""
    return Decision("register-tile", f"no tiles in registers: {reason}", statements)

"""Small trees for the tests of moves, with what is known of their loops already set."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.analysis import dependences
from polyviz.scheduling import schedule

if TYPE_CHECKING:
    import islpy as isl

    from polyviz.model.dependences import Dependences
    from polyviz.model.scop import Scop


def scheduled(part: Scop, scheduler: str = "pluto") -> tuple[Dependences, isl.Schedule]:
    known = dependences(part)
    return known, schedule(part, scheduler, dependences=known).tree

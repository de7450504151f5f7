"""What many tests ask of the kernels of the gallery, each made once in a process; they are frozen."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import polyviz as pv
from polyviz import gallery

if TYPE_CHECKING:
    from polyviz.model.program import FloatingPoint, Program
    from polyviz.model.schedule import Schedule


@cache
def part_of(name: str) -> pv.Scop:
    return pv.extract(gallery.kernel(name).function)


@cache
def dependences_of(name: str) -> pv.Dependences:
    return pv.dependences(part_of(name))


@cache
def schedule_of(name: str, scheduler: str) -> Schedule:
    """The order that the scheduler finds without options."""
    return pv.schedule(part_of(name), scheduler, dependences=dependences_of(name))


def emulated(name: str, schedule: str, contract: FloatingPoint = "reassociate") -> pv.Kernel:
    return _emulated(name, schedule, contract)


# Behind a function of its own: to `cache`, a default that is left out and the same value given are two calls.
@cache
def _emulated(name: str, schedule: str, contract: FloatingPoint) -> pv.Kernel:
    return pv.compile(part_of(name), schedule=schedule, target="emulated", contract=contract)


@cache
def emulated_program(name: str, schedule: str) -> Program:
    """The program for arrays of float64, whatever the kernel has been called with."""
    return emulated(name, schedule).specialise({})

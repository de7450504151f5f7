"""The variants of polyviz itself: one generated program per schedule and target."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from polyviz import gallery
from polyviz.analysis import dependences
from polyviz.api.building import build_kernel
from polyviz.api.extracting import extract
from polyviz.api.targets import resolve_target
from polyviz.benchmark.obstacles import obstacles
from polyviz.runtime.execute import make_runner

if TYPE_CHECKING:
    from collections.abc import Mapping

    from polyviz.benchmark.session import Call
    from polyviz.benchmark.subject import Data
    from polyviz.model.dependences import Dependences
    from polyviz.model.program import FloatingPoint, Program
    from polyviz.model.scop import Scop


@dataclass(frozen=True, slots=True)
class GeneratedProgram:
    """A program of polyviz, compiled the way ``pv.compile`` does it."""

    program: Program

    def prepare(self, example: Mapping[str, Any], parameters: Mapping[str, int]) -> Call:
        """Run it once on the example, since numba compiles at the first call."""
        runner = make_runner(self.program)
        runner(example, parameters)
        return runner


@dataclass(frozen=True, slots=True)
class Generation:
    """A generated program, the seconds from analysed loops to its text, what was decided, and what is in its way."""

    program: Program
    seconds: float
    decisions: tuple[str, ...]
    obstacles: tuple[str, ...] = ()


def generate(data: Data, schedule: str, target: str, contract: FloatingPoint = "reassociate") -> Generation:
    """The program of one schedule on one target; a job. Raises PolyvizError where ``pv.compile`` does.

    What tuning remembered on this machine is left out, so that another one gets the same program.

    >>> from polyviz.benchmark.subject import Data
    >>> generate(Data("mvt", "mini", "float64"), "original", "python").program.target
    'python'
    """
    scop, found = analysed(data.kernel)
    bound_data = data.example().arguments()
    started = time.perf_counter()
    kernel = build_kernel(
        scop,
        found,
        data.entry.function,
        schedule=schedule,
        target=resolve_target(target),
        contract=contract,
        tuned=False,
    )
    # Other data will be run: what this one's sizes or values prove of subscripts need not hold there.
    program = kernel.specialise(kernel.bind(bound_data, {}).types)
    elapsed = time.perf_counter() - started
    decisions = tuple(decision.text for decision in kernel.plan.decisions)
    return Generation(program, elapsed, decisions, obstacles(kernel))


@lru_cache(maxsize=1)
def analysed(kernel: str) -> tuple[Scop, Dependences]:
    """A kernel of the gallery with its dependences."""
    scop = extract(gallery.kernel(kernel).function)
    return scop, dependences(scop)

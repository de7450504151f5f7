"""Pluto: permutable bands of maximal depth whose rows keep dependent instances close."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from polyviz.scheduling.closeness import CloseRows
from polyviz.scheduling.engine import Engine, run_engine
from polyviz.scheduling.fusion import FusionRule
from polyviz.scheduling.products import products

if TYPE_CHECKING:
    from polyviz.scheduling.problem import Proposal, SchedulingProblem


@dataclass(frozen=True, slots=True)
class Pluto:
    """Permutable bands of maximal depth with the shortest reuse distances: outer parallelism and tiling.

    Source: Bondhugula, Hartono, Ramanujam, Sadayappan, *A practical automatic polyhedral parallelizer and locality
    optimizer* (2008), with negative coefficients as in Pluto+ (2016). ``fusion`` decides which loop nests share a
    band; ``parallel_first`` prefers a row without carried dependences to a closer one. ``concurrent_start`` gives
    stencils rows whose tiles, diamonds, can all start at once instead of along a wavefront. It is off: it pays for
    some stencils (heat-3d) and not for others (fdtd-2d), whose loops over diamonds are more complicated.
    """

    name: ClassVar[str] = "pluto"
    keeps_groups: ClassVar[bool] = True
    fusion: Literal["none", "smart", "max"] = "smart"
    parallel_first: bool = True
    concurrent_start: bool = False

    def run(self, problem: SchedulingProblem) -> Proposal:
        """Schedule ``problem``; keeps the order of the source, and says so, when no affine schedule is found."""
        rule = CloseRows(self.parallel_first)
        fusion = FusionRule(self.fusion, rule, products=products(problem.scop))
        engine = Engine(rule, fusion, concurrent_start=self.concurrent_start)
        return run_engine(engine, problem)

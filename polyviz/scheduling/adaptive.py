"""Adaptive: Pluto's rows, with ties decided by how much reuse each loop has at the sizes that are known."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Literal

import islpy as isl

from polyviz.errors import OptionError
from polyviz.model.details import WeightsDetails
from polyviz.model.schedule import Decision
from polyviz.scheduling.closeness import CloseRows
from polyviz.scheduling.engine import Engine, run_engine
from polyviz.scheduling.explanation import fallback_decision
from polyviz.scheduling.fusion import FusionRule
from polyviz.scheduling.reuse_volume import Weights, reuse_weights

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from polyviz.model.scop import Scop
    from polyviz.scheduling.problem import Proposal, SchedulingProblem


@dataclass(frozen=True, slots=True)
class Adaptive:
    """Pluto for known sizes: among equally close rows the loop with the most reuse comes first.

    Close is what passes a value on; reads of one cell count in the weights instead, where distances cannot hide them.
    Every parameter needs a value: from ``pv.extract(..., sizes=...)``, from ``pv.schedule(..., sizes=...)``, or from
    the arguments of the run where there is one. ``weights`` says how reuse is counted: ``extent`` by the values of a
    loop that take part in it, ``retained`` by the reuse that stays within one iteration of the loop. ``fusion`` is
    Pluto's. Source: Reddy, *Polyhedral Compilation for Domain Specific Languages* (2019), section 6.3, with the sum of
    coefficients before the weights: the other way round the program has no minimum.
    """

    name: ClassVar[str] = "adaptive"
    keeps_groups: ClassVar[bool] = True
    weights: Literal["extent", "retained"] = "extent"
    fusion: Literal["none", "smart", "max"] = "smart"

    def run(self, problem: SchedulingProblem) -> Proposal:
        """Schedule ``problem``; raises ``OptionError`` for sizes of what is no parameter, or that contradict others."""
        sizes = known_sizes(problem.scop, problem.sizes)
        missing = [one.name for one in problem.scop.parameters if not _is_fixed(sizes, one.name)]
        fusion = FusionRule(self.fusion, CloseRows())
        if missing:
            engine = Engine(CloseRows(), fusion, decisions=[_missing_decision(missing)])
            return run_engine(engine, problem)
        found = reuse_weights(problem, sizes, self.weights)
        decision = _weights_decision(problem.scop, found, self.weights)
        engine = Engine(CloseRows(weights=found), fusion, decisions=[decision])
        return run_engine(engine, _bounded_by_flow(problem))


def _bounded_by_flow(problem: SchedulingProblem) -> SchedulingProblem:
    """``problem`` with bounds on the distances of flow only."""
    flow = problem.dependences.flow.intersect(problem.dependences.proximity)
    return replace(problem, dependences=replace(problem.dependences, proximity=flow))


def known_sizes(scop: Scop, given: Mapping[str, int]) -> isl.Set:
    """What the context of ``scop`` and the sizes ``given`` say of the parameters.

    Raises ``OptionError`` when they contradict each other.
    """
    sizes = scop.context
    for name, value in given.items():
        sizes = sizes.fix_val(isl.dim_type.param, sizes.find_dim_by_name(isl.dim_type.param, name), value)
    if sizes.is_empty():
        raise OptionError("The sizes contradict what is known of the parameters.", reason=str(scop.context))
    return sizes


def _is_fixed(sizes: isl.Set, name: str) -> bool:
    position = sizes.find_dim_by_name(isl.dim_type.param, name)
    return position >= 0 and bool(sizes.plain_get_val_if_fixed(isl.dim_type.param, position).is_int())


def _missing_decision(missing: Sequence[str]) -> Decision:
    example = ", ".join(f'"{name}": 1000' for name in missing)
    reason = f"not every size is known, give them as sizes={{{example}}}"
    return fallback_decision("the reuse of each loop", "the order of Pluto", reason)


def _weights_decision(scop: Scop, weights: Weights, weighting: str) -> Decision:
    parts = []
    for statement in (one for one in scop.statements if one.iterators):
        pairs = zip(statement.iterators, weights[statement.name], strict=True)
        parts.append(f"{statement.name}: {', '.join(f'{name} {weight}' for name, weight in pairs)}")
    rule = (
        "the values of a loop that take part in reuse"
        if weighting == "extent"
        else "the reuse that stays within one iteration of a loop"
    )
    text = f"Weights of the loops, {rule}: {'; '.join(parts)}."
    return Decision("weights", text, tuple(weights), WeightsDetails(weighting=weighting, weights=weights))

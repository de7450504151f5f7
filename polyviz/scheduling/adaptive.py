"""Adaptive: Pluto's rows, with ties decided by how much reuse each loop has at the sizes that are known."""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - the registry reads the types of options
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Literal

import islpy as isl

from polyviz.errors import OptionError
from polyviz.model.details import WeightsDetails
from polyviz.model.schedule import Decision
from polyviz.scheduling.closeness import CloseRows
from polyviz.scheduling.engine import Engine, run_engine
from polyviz.scheduling.fusion import FusionRule
from polyviz.scheduling.reuse_volume import Weights, reuse_weights

if TYPE_CHECKING:
    from polyviz.model.scop import Scop
    from polyviz.scheduling.problem import Proposal, SchedulingProblem


@dataclass(frozen=True, slots=True)
class Adaptive:
    """Pluto for known sizes: among equally close rows the loop with the most reuse comes first.

    Close is what passes a value on; reads of one cell count in the weights instead, where distances cannot hide them.
    Every parameter needs a value: from ``pv.extract(..., sizes=...)`` or from the option ``sizes``, a mapping of names
    to whole numbers. ``weights`` says how reuse is counted: ``extent`` by the values of a loop that take part in it,
    ``retained`` by the reuse that stays within one iteration of the loop. ``fusion`` is Pluto's. Source: Reddy,
    *Polyhedral Compilation for Domain Specific Languages* (2019), section 6.3, with the sum of coefficients before the
    weights: the other way round the program has no minimum.
    """

    name: ClassVar[str] = "adaptive"
    weights: Literal["extent", "retained"] = "extent"
    fusion: Literal["none", "smart", "max"] = "smart"
    sizes: Mapping[str, int] | None = None

    def run(self, problem: SchedulingProblem) -> Proposal:
        """Schedule ``problem``; raises ``OptionError`` when a size is not known, or given for no parameter."""
        found = reuse_weights(problem, known_sizes(problem.scop, self.sizes or {}), self.weights)
        engine = Engine(CloseRows(weights=found), FusionRule(self.fusion, CloseRows()))
        engine.decisions.append(_weights_decision(problem.scop, found, self.weights))
        return run_engine(engine, _bounded_by_flow(problem))


def _bounded_by_flow(problem: SchedulingProblem) -> SchedulingProblem:
    """``problem`` with bounds on the distances of flow only."""
    flow = problem.dependences.flow.intersect(problem.dependences.proximity)
    return replace(problem, dependences=replace(problem.dependences, proximity=flow))


def known_sizes(scop: Scop, given: Mapping[str, int]) -> isl.Set:
    """The one point of parameters that the context of ``scop`` and the sizes ``given`` leave.

    Raises ``OptionError`` when a parameter has no value or a size makes no sense.
    """
    names = [parameter.name for parameter in scop.parameters]
    unknown = [name for name in given if name not in names]
    if unknown:
        listing = ", ".join(names) or "none"
        raise OptionError(
            f"`{unknown[0]}` in sizes is no parameter of the program; its parameters are: {listing}."
        )
    sizes = scop.context
    for name, value in given.items():
        if isinstance(value, bool) or not isinstance(value, int):
            raise OptionError(f"The size `{name}` is {value!r}; it must be a whole number.")
        sizes = sizes.fix_val(isl.dim_type.param, sizes.find_dim_by_name(isl.dim_type.param, name), value)
    if sizes.is_empty():
        raise OptionError("The sizes contradict what is known of the parameters.", reason=str(scop.context))
    missing = [name for name in names if not _is_fixed(sizes, name)]
    if missing:
        example = ", ".join(f'"{name}": 1000' for name in missing)
        raise OptionError(
            f"The scheduler `adaptive` decides by the sizes, and those of {', '.join(missing)} are not known.",
            hint=f"Give them with the option sizes={{{example}}}, or to pv.extract.",
        )
    return sizes


def _is_fixed(sizes: isl.Set, name: str) -> bool:
    position = sizes.find_dim_by_name(isl.dim_type.param, name)
    return position >= 0 and bool(sizes.plain_get_val_if_fixed(isl.dim_type.param, position).is_int())


def _weights_decision(scop: Scop, weights: Weights, weighting: str) -> Decision:
    parts = []
    for statement in scop.statements:
        pairs = zip(statement.iterators, weights[statement.name], strict=True)
        parts.append(f"{statement.name}: {', '.join(f'{name} {weight}' for name, weight in pairs)}")
    rule = (
        "the values of a loop that take part in reuse"
        if weighting == "extent"
        else "the reuse that stays within one iteration of a loop"
    )
    text = f"Weights of the loops, {rule}: {'; '.join(parts)}."
    return Decision("weights", text, tuple(weights), WeightsDetails(weighting=weighting, weights=weights))

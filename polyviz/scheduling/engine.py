"""From dependences to a whole schedule: components, bands, fusion, and again inside each band.

The engine knows how a tree is built; which rows are good and which clusters belong together is the scheduler's choice,
made by a row rule and a fusion rule.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from polyviz.errors import SchedulingError
from polyviz.model.schedule import Decision
from polyviz.scheduling.band_search import BandState, RowRule, Workbench, find_band, missing_rows
from polyviz.scheduling.carrying import CarryingRows
from polyviz.scheduling.clusters import Cluster
from polyviz.scheduling.components import components, reachability, topological
from polyviz.scheduling.explanation import band_decision, components_decision
from polyviz.scheduling.graph import DependenceGraph
from polyviz.scheduling.plan import BandPlan, Leaf, Plan, SequencePlan, tree_of
from polyviz.scheduling.problem import Proposal, SchedulingProblem

if TYPE_CHECKING:
    from polyviz.scheduling.fusion import FusionRule


@dataclass(slots=True)
class Engine:
    """Builds a schedule with ``row_rule`` for the rows of a band and ``fusion`` for what shares one."""

    row_rule: RowRule
    fusion: FusionRule
    workbench: Workbench = field(default_factory=Workbench)
    decisions: list[Decision] = field(default_factory=list)

    def run(self, problem: SchedulingProblem) -> Proposal:
        """A schedule of ``problem``; raises ``SchedulingError`` when no affine one is found."""
        plan = self._plan(DependenceGraph.of(problem))
        return Proposal(tree_of(plan, problem.domain), tuple(self.decisions))

    def _plan(self, graph: DependenceGraph) -> Plan:
        groups = components(graph)
        if len(graph.nodes) > 1:
            self.decisions.append(components_decision(groups))
        clusters = [self._cluster(graph.only(group)) for group in groups]
        clusters, reasons = self.fusion.fuse(clusters, graph, self.workbench)
        self.decisions += reasons
        parts = [self._part(cluster, graph.only(cluster.names)) for cluster in _ordered(clusters, graph)]
        return parts[0] if len(parts) == 1 else SequencePlan(tuple(parts))

    def _part(self, cluster: Cluster, graph: DependenceGraph) -> Plan:
        if not cluster.band:
            return Leaf(cluster.names)
        cluster = cluster.from_zero()
        self.decisions.append(band_decision(cluster, graph))
        rows = {name: cluster.rows(name) for name in cluster.names}
        return BandPlan(cluster, self._plan(graph.after(rows)))

    def _cluster(self, graph: DependenceGraph) -> Cluster:
        """A band of its own for one component."""
        if missing_rows(graph) == 0 and len(graph.nodes) == 1:
            return Cluster(graph.names, ())
        state = find_band(graph, self.row_rule, self.workbench)
        if state.found:
            return Cluster(graph.names, state.found)
        return self._carried(graph)

    def _carried(self, graph: DependenceGraph) -> Cluster:
        names = ", ".join(graph.names)
        text = f"No row over {names} respects all dependences well: the next one carries as many as possible."
        self.decisions.append(Decision("fallback", text, graph.names))
        row = CarryingRows().next_row(BandState(graph), self.workbench)
        if row is None:
            raise SchedulingError(
                f"No affine row was found for {names}.", reason="every row tried reverses a dependence."
            )
        return Cluster(graph.names, (row,))


def run_engine(engine: Engine, problem: SchedulingProblem) -> Proposal:
    """What ``engine`` finds for ``problem``, or the order of the source, with the reason, when it finds nothing."""
    try:
        return engine.run(problem)
    except SchedulingError as error:
        text = f"{error.message} The loops keep the order of the source."
        return Proposal(problem.scop.schedule, (*engine.decisions, Decision("fallback", text)))


def _ordered(clusters: list[Cluster], graph: DependenceGraph) -> list[Cluster]:
    names = graph.names
    place = {name: position for position, name in enumerate(names)}
    by_places = {tuple(sorted(place[name] for name in cluster.names)): cluster for cluster in clusters}
    order = topological(by_places, reachability(names, graph.validity))
    return [by_places[group] for group in order]

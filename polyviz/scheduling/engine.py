"""From dependences to a whole schedule: components, bands, fusion, and again inside each band.

The engine knows how a tree is built; which rows are good and which clusters belong together is the scheduler's choice,
made by a row rule and a fusion rule.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from polyviz.errors import SchedulingError
from polyviz.model.plan import CONCURRENT
from polyviz.scheduling.band_search import BandState, RowRule, Workbench, find_band, missing_rows
from polyviz.scheduling.carrying import CarryingRows
from polyviz.scheduling.clusters import Cluster
from polyviz.scheduling.components import components, reachability, topological
from polyviz.scheduling.concurrent_start import with_concurrent_start
from polyviz.scheduling.explanation import (
    band_decision,
    components_decision,
    fallback_decision,
    limit_decision,
)
from polyviz.scheduling.graph import DependenceGraph
from polyviz.scheduling.isl_scheduler import IslScheduler
from polyviz.scheduling.plan import BandPlan, Leaf, Plan, SequencePlan, tree_of
from polyviz.scheduling.problem import Proposal, SchedulingProblem
from polyviz.scheduling.reuse_explanation import group_decision, row_decision, sparse_decision

if TYPE_CHECKING:
    from polyviz.model.schedule import Decision
    from polyviz.scheduling.fusion import FusionRule
    from polyviz.scheduling.reuse import ReuseGroup

# What the search was too difficult for is rarely easy for isl: its attempt in place of it is a short one.
FALLBACK_SECONDS = 3.0


@dataclass(slots=True)
class Engine:
    """Builds a schedule with ``row_rule`` for the rows of a band and ``fusion`` for what shares one.

    ``reuse`` holds the groups of references for rules that look at them. ``concurrent_start`` changes bands so that
    their tiles start at the same time, where that can be had.
    """

    row_rule: RowRule
    fusion: FusionRule
    reuse: tuple[ReuseGroup, ...] = ()
    concurrent_start: bool = False
    workbench: Workbench = field(default_factory=Workbench)
    decisions: list[Decision] = field(default_factory=list)

    def run(self, problem: SchedulingProblem) -> Proposal:
        """A schedule of ``problem``; raises ``SchedulingError`` when no affine one is found."""
        self.decisions += [group_decision(group) for group in self.reuse if group.is_used_again]
        plan = self._plan(DependenceGraph.of(problem, self.reuse))
        return Proposal(tree_of(plan, problem.domain), self.log())

    def log(self) -> tuple[Decision, ...]:
        """The decisions so far, and what had to be simplified for them."""
        inexact = self.workbench.cones.inexact
        return (*self.decisions, *([limit_decision(inexact)] if inexact else []))

    def _plan(self, graph: DependenceGraph) -> Plan:
        groups = components(graph)
        if len(graph.nodes) > 1:
            self.decisions.append(components_decision(groups))
        clusters = [self._cluster(graph.only(group)) for group in groups]
        with self.workbench.half() as workbench:
            clusters, reasons = self.fusion.fuse(clusters, graph, workbench)
        self.decisions += reasons
        parts = [self._part(cluster, graph.only(cluster.names)) for cluster in _ordered(clusters, graph)]
        return parts[0] if len(parts) == 1 else SequencePlan(tuple(parts))

    def _part(self, cluster: Cluster, graph: DependenceGraph) -> Plan:
        if not cluster.band:
            return Leaf(cluster.names)
        start = None
        if self.concurrent_start and len(cluster.band) > 1:
            start = with_concurrent_start(cluster, graph, self.workbench)
            cluster = start.cluster
        cluster = cluster.from_zero()
        self._explain(cluster, graph)
        if start is not None:
            self.decisions.append(start.decision)
        mark = CONCURRENT if start is not None and start.found else ""
        return BandPlan(cluster, self._plan(graph.after(cluster.band)), mark)

    def _explain(self, cluster: Cluster, graph: DependenceGraph) -> None:
        for number, row in enumerate(cluster.band, len(graph.around) + 1):
            if row.fallback:
                instead = "one that carries as many dependences as possible"
                self.decisions.append(
                    fallback_decision("a row with reuse", instead, row.fallback, cluster.names)
                )
            self.decisions.append(row_decision(row, number, graph))
        self.decisions.append(band_decision(cluster, graph))

    def _cluster(self, graph: DependenceGraph) -> Cluster:
        """A band of its own for one component."""
        if missing_rows(graph) == 0 and len(graph.nodes) == 1:
            return Cluster(graph.names, ())
        state = find_band(graph, self.row_rule, self.workbench)
        if state.sparse is not None:
            self.decisions.append(sparse_decision(state.sparse, graph))
        if state.found:
            return Cluster(graph.names, state.found)
        return self._carried(graph)

    def _carried(self, graph: DependenceGraph) -> Cluster:
        limited = self.workbench.budget.is_spent
        reason = (
            "the search reached its limit"
            if limited
            else "no row respects all dependences and is independent"
        )
        instead = "one row that carries as many dependences as possible"
        self.decisions.append(fallback_decision("a permutable band", instead, reason, graph.names))
        row = CarryingRows().next_row(BandState(graph), self.workbench)
        if row is None:
            why = "the search reached its limit" if limited else "every row tried reverses one"
            names = ", ".join(graph.names)
            raise SchedulingError(f"no row that respects all dependences of {names} was found ({why})")
        return Cluster(graph.names, (row,))


def run_engine(engine: Engine, problem: SchedulingProblem) -> Proposal:
    """What ``engine`` finds for ``problem``; when it finds nothing, what isl finds, or else the order of the source."""
    try:
        return engine.run(problem)
    except SchedulingError as error:
        instead = IslScheduler(time_limit=FALLBACK_SECONDS).run(problem)
        fallback = fallback_decision("this search", "the scheduler of isl", error.message)
        return Proposal(instead.tree, (*engine.log(), fallback, *instead.decisions))


def _ordered(clusters: list[Cluster], graph: DependenceGraph) -> list[Cluster]:
    names = graph.names
    place = {name: position for position, name in enumerate(names)}
    by_places = {tuple(sorted(place[name] for name in cluster.names)): cluster for cluster in clusters}
    order = topological(by_places, reachability(names, graph.validity))
    return [by_places[group] for group in order]

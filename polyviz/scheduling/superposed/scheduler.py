"""The scheduler ``superposition``: two searches, one for blocks and one for threads, put together and checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from polyviz.analysis.carried import Constraint, constraints_of
from polyviz.analysis.distinct_lines import line_cost
from polyviz.analysis.superposed import check_scatterings
from polyviz.analysis.superposed_rows import SuperposedRows
from polyviz.errors import OptionError
from polyviz.model.superposition import Superposition
from polyviz.scheduling.problem import Proposal, SchedulingProblem
from polyviz.scheduling.superposed.blocks import BlockSearch
from polyviz.scheduling.superposed.explanation import (
    cost_decisions,
    kernel_decisions,
    privatization_decisions,
)
from polyviz.scheduling.superposed.kernels import KernelPlan, Sizes, kernel_plans, space_group, with_barriers
from polyviz.scheduling.superposed.levels import Workbench
from polyviz.scheduling.superposed.parts import Part, Scene, groups_of
from polyviz.scheduling.superposed.scatterings import outer_scatterings, regular_scatterings
from polyviz.scheduling.superposed.threads import ThreadSearch
from polyviz.scheduling.superposed.trees import tree_of
from polyviz.transform.tile import is_tile_size

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from polyviz.model.schedule import Decision
    from polyviz.model.scop import Scop
    from polyviz.model.superposition import Axis, Level


_LEVELS: tuple[Level, ...] = ("thread", "block")


@dataclass(frozen=True, slots=True)
class SuperpositionScheduler:
    """One order for blocks and one for threads: parallel tiles without dependences around coalesced inner loops.

    ``tile_sizes`` are the tiles of the block loops and ``threads`` the threads of a block, along x, y (and z); the last
    axes may be left out. By default a loop at both levels has tiles as long as there are threads.
    """

    name: ClassVar[str] = "superposition"
    tile_sizes: tuple[int, ...] = ()
    threads: tuple[int, ...] = ()

    def run(self, problem: SchedulingProblem) -> Proposal:
        """The superposed order of ``problem``; the value behind it is ``Proposal.superposition``."""
        sizes = Sizes(_sizes("tile_sizes", self.tile_sizes, 2), _sizes("threads", self.threads, 3))
        search = _Search.of(problem, sizes)
        superposition = search.superposition()
        return Proposal(superposition.tree, tuple(search.decisions), superposition)


@dataclass(slots=True)
class _Search:
    problem: SchedulingProblem
    sizes: Sizes
    constraints: tuple[Constraint, ...]
    benches: Mapping[Level, Workbench]
    decisions: list[Decision]

    @classmethod
    def of(cls, problem: SchedulingProblem, sizes: Sizes) -> _Search:
        """A search that has not begun; its log says what is known before."""
        found = constraints_of(problem.scop, problem.dependences)
        costs = {statement.name: line_cost(statement) for statement in problem.scop.statements}
        return cls(
            problem,
            sizes,
            constraints=tuple(one for one in found if not one.pairs.is_empty()),
            benches={level: Workbench(problem.scop, level, costs) for level in _LEVELS},
            decisions=[*privatization_decisions(problem.dependences), *cost_decisions(costs.values())],
        )

    def superposition(self) -> Superposition:
        """Both searches and what follows from them."""
        scene = _everything(self.problem.scop, self.constraints)
        threads = ThreadSearch(self.benches["thread"]).parts(scene)
        self.benches["block"].known = self.benches["thread"].sentences()
        blocks = BlockSearch(self.benches["block"]).parts(scene)
        self.decisions += [decision for bench in self.benches.values() for decision in bench.decisions]
        return self._assembled(blocks, threads)

    def _assembled(self, blocks: Sequence[Part], threads: Sequence[Part]) -> Superposition:
        scop, domain = self.problem.scop, self.problem.domain
        plans = kernel_plans(blocks, threads, self.sizes)
        outer = outer_scatterings(scop, blocks, _tiles(plans))
        regular = regular_scatterings(scop, threads)
        rows = SuperposedRows(scop, outer, regular)
        kernels = tuple(with_barriers(plan, scop, self.constraints, rows) for plan in plans)
        legality = check_scatterings(scop, outer, regular, known=self.problem.dependences)
        superposition = Superposition(
            outer=outer,
            regular=regular,
            outer_tree=tree_of(domain, outer),
            regular_tree=tree_of(domain, regular),
            tree=tree_of(domain, {name: (*outer[name], *regular[name]) for name in outer}),
            thread_groups=tuple(space_group(scop, group, under) for group, under in groups_of(threads)),
            kernels=kernels,
            costs=tuple(self.benches["block"].costs.values()),
            verdicts=tuple(verdict for bench in self.benches.values() for verdict in bench.verdicts),
            legality=legality,
        )
        self.decisions += kernel_decisions(superposition)
        return superposition


def _everything(scop: Scop, constraints: tuple[Constraint, ...]) -> Scene:
    names = tuple(statement.name for statement in scop.statements)
    free = {statement.name: tuple(range(len(statement.iterators))) for statement in scop.statements}
    return Scene(names, constraints, free)


def _tiles(plans: Sequence[KernelPlan]) -> Mapping[str, Mapping[Axis, int]]:
    return {name: plan.tiles for plan in plans for name in plan.group.names}


def _sizes(option: str, values: object, most: int) -> tuple[int, ...]:
    found = tuple(values) if isinstance(values, tuple | list) else (values,)
    if len(found) > most or not all(is_tile_size(value) for value in found):
        raise OptionError(
            f"Option `{option}` of scheduler `superposition` is {values!r}; it takes at most {most} positive integers."
        )
    return found

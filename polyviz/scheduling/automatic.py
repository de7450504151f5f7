"""From a part to a checked schedule, by the scheduler of the user's choice."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from polyviz.analysis import check
from polyviz.analysis import dependences as find_dependences
from polyviz.errors import LegalityError, OptionError, PolyvizError, SchedulingError
from polyviz.frontend.context import check_sizes, given_sizes
from polyviz.model.exclusion import exclusive
from polyviz.model.schedule import Decision, Schedule
from polyviz.model.scop import insist_on_part
from polyviz.scheduling.described import described
from polyviz.scheduling.groups import contracted
from polyviz.scheduling.guard import TimeIsUpError, limited
from polyviz.scheduling.original import Original
from polyviz.scheduling.problem import Proposal, Scheduler, SchedulingProblem
from polyviz.scheduling.registry import make_scheduler, time_limit_of
from polyviz.transform.innermost import best_innermost, unit_stride_innermost
from polyviz.transform.tile import tile_band
from polyviz.transform.tree import Path, band_at, bands

if TYPE_CHECKING:
    from collections.abc import Mapping

    import islpy as isl

    from polyviz.model.dependences import Dependences
    from polyviz.model.scop import Scop


@exclusive
def schedule(
    scop: Scop,
    scheduler: str = "pluto",
    *,
    dependences: Dependences | None = None,
    tile: Sequence[int] | int | None = None,
    sizes: Mapping[str, int] | None = None,
    group: bool = True,
    **options: Any,
) -> Schedule:
    """A legal schedule of ``scop``, found by the scheduler called ``scheduler`` with its ``options``.

    ``dependences`` spares the dependence analysis when its result is at hand. ``tile`` tiles every permutable band of
    two and more loops: one size per loop, outermost first, the last one repeated for deeper bands. ``sizes`` tells
    the values of parameters in the run at hand to schedulers that choose by them; the order is right for all others
    too. Statements between which a temporary lives are scheduled as one unless ``group`` is False. The order is
    checked exactly before it is handed out. Raises ``OptionError`` for unknown names and values, ``SchedulingError``
    when the scheduler fails, ``LegalityError`` when what it proposes would change the result.
    """
    insist_on_part(scop, "schedule")
    chosen = make_scheduler(scheduler, options)
    told = given_sizes(sizes)
    check_sizes(scop.parameters, told)
    found = dependences if dependences is not None else find_dependences(scop)
    problem = SchedulingProblem(scop, found, told)
    together = contracted(problem) if group and getattr(chosen, "keeps_groups", False) else None
    if together is None:
        proposal = _proposal(scheduler, chosen, problem)
    else:
        proposal = together.expanded(_proposal(scheduler, chosen, together.problem))
    _insist_on_legality(scheduler, problem, proposal.tree)
    result = described(problem, scheduler, proposal.tree, proposal.decisions)
    result = replace(result, superposition=proposal.superposition)
    return result if tile is None else tiled(problem, result, tile)


def tiled(problem: SchedulingProblem, result: Schedule, sizes: Sequence[int] | int) -> Schedule:
    """``result`` with every permutable band of two and more loops tiled; the last size serves all deeper loops.

    Inside a tile the loop with the best strides runs innermost, unless the order is that of the source.
    Raises ``OptionError`` for sizes that are no positive integers.
    """
    wanted = tuple(sizes) if isinstance(sizes, Sequence) and not isinstance(sizes, str) else (sizes,)
    if not wanted:
        raise OptionError("Tiling needs at least one tile size.")
    tree, decisions = result.tree, list(result.decisions)
    places = [path for path, band in bands(tree) if band.band_get_permutable() and band.band_n_member() > 1]
    # From the innermost outwards and from the right, so that the paths that are left stay true.
    for path in sorted(places, reverse=True):
        count = band_at(tree, path).band_n_member()
        padded = [*wanted, *[wanted[-1]] * count][:count]
        tree, decision = tile_band(tree, path, padded)
        decisions.append(decision)
        if result.scheduler != Original.name:
            tree, reordered = _unit_stride_points(problem, tree, (*path, 0, 0, 0))
            decisions += reordered
    if not places:
        decisions.append(Decision("tile", "No band of two and more loops is permutable: nothing is tiled."))
    if result.superposition is not None:
        text = (
            "With these tiles the loops are no longer those of blocks and threads: only their order is kept."
        )
        decisions.append(Decision("superposition", text))
    _insist_on_legality(result.scheduler, problem, tree)
    return described(problem, result.scheduler, tree, decisions)


def _unit_stride_points(
    problem: SchedulingProblem, tree: isl.Schedule, path: Path
) -> tuple[isl.Schedule, list[Decision]]:
    """The tree with the best loop of the point band at ``path`` innermost: its tile loops keep their order."""
    points = band_at(tree, path)
    inside = [other for other, _ in bands(tree) if other[: len(path)] == path and other != path]
    if inside or best_innermost(problem.scop, tree, path) == points.band_n_member() - 1:
        return tree, []
    tree, decision = unit_stride_innermost(problem.scop, tree, path)
    return tree, [decision]


def _proposal(name: str, scheduler: Scheduler, problem: SchedulingProblem) -> Proposal:
    if problem.domain.is_empty():
        nothing = Decision("empty", "No statement ever runs: there is nothing to reorder.")
        return Proposal(problem.scop.schedule, (nothing,))
    seconds = time_limit_of(name)
    try:
        with nullcontext() if seconds is None else limited(seconds):
            proposal = scheduler.run(problem)
    except PolyvizError:
        raise
    except TimeIsUpError:
        raise SchedulingError(
            f"The scheduler `{name}` was stopped after {seconds:g} s.",
            hint=f'Bound its search, or give it more time: @register_scheduler("{name}", time_limit=…).',
        ) from None
    except (Exception, SystemExit) as error:
        raise SchedulingError(
            f"The scheduler `{name}` failed: {': '.join(filter(None, (type(error).__name__, str(error))))}.",
            hint="Choose another scheduler; the original order is always available as `original`.",
        ) from error
    if not isinstance(proposal, Proposal):
        raise SchedulingError(
            f"The scheduler `{name}` returned a {type(proposal).__name__}.",
            hint="It has to return a Proposal.",
        )
    return proposal


def _insist_on_legality(name: str, problem: SchedulingProblem, tree: isl.Schedule) -> None:
    legality = check(problem.scop, tree, known=problem.dependences)
    if not legality:
        raise LegalityError(
            f"The scheduler `{name}` proposed an order that would change the result.",
            reason=legality.violations[0].explanation,
            hint="Choose another scheduler, or correct this one: its proposal was not used.",
        )

"""A tree as a ``Schedule``: flags set from the exact analysis, rows as text, one common time space."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from polyviz.analysis.parallelism import BandProperties, band_properties, keep_properties, parallelism
from polyviz.analysis.times import times_by_statement, union_of
from polyviz.model.schedule import Band, BandMember, Decision, Schedule
from polyviz.scheduling.explanation import LOOP, loop_decisions
from polyviz.transform.tree import bands, marks_above, members, node_at, row_texts

if TYPE_CHECKING:
    from collections.abc import Sequence

    import islpy as isl

    from polyviz.scheduling.problem import SchedulingProblem

Role = Literal["loop", "tile", "point"]


def described(
    problem: SchedulingProblem, scheduler: str, tree: isl.Schedule, decisions: Sequence[Decision]
) -> Schedule:
    """``tree``, which must be legal, with everything that is known of its loops.

    The log gets one entry per loop; entries of that kind in ``decisions`` are of an earlier tree and left out.
    """
    properties = band_properties(problem.scop, problem.dependences, tree)
    found = _outline(scheduler, tree, properties)
    loops = parallelism(problem.scop, problem.dependences, found.tree)
    log = (*(one for one in decisions if one.step != LOOP), *loop_decisions(properties, loops))
    return replace(found, decisions=log)


def outlined(problem: SchedulingProblem, scheduler: str, tree: isl.Schedule) -> Schedule:
    """``tree`` like :func:`described`, without a log: the reasons of its loops take longer than all the rest."""
    return _outline(scheduler, tree, band_properties(problem.scop, problem.dependences, tree))


def _outline(scheduler: str, tree: isl.Schedule, properties: Sequence[BandProperties]) -> Schedule:
    known_tree = _flagged(tree, properties)
    described_bands = tuple(
        _band(node, known) for (_, node), known in zip(bands(known_tree), properties, strict=True)
    )
    return Schedule(scheduler, known_tree, common_times(known_tree), described_bands)


def flagged(problem: SchedulingProblem, tree: isl.Schedule) -> isl.Schedule:
    """``tree`` with the flags that isl keeps on its bands set from the exact analysis."""
    properties = band_properties(problem.scop, problem.dependences, tree)
    made = _flagged(tree, properties)
    # Whoever describes it next need not find out again what its flags say.
    keep_properties(problem.scop, problem.dependences, made, properties)
    return made


def common_times(tree: isl.Schedule) -> isl.UnionMap:
    """The order of ``tree`` as one map into one time space: sequences are constants, short tuples end in zeros.

    >>> import islpy as isl
    >>> tree = isl.Schedule.from_domain(isl.UnionSet("{ S[i] : 0 <= i < 4 }"))
    >>> rows = isl.MultiUnionPwAff("[{ S[i] -> [(-i)] }]")
    >>> print(common_times(tree.insert_partial_schedule(rows)))
    { S[i] -> [-i] : 0 <= i <= 3 }
    """
    domain = tree.get_domain()
    return union_of(times_by_statement(tree.get_map()).values(), domain.get_space()).intersect_domain(domain)


def _flagged(tree: isl.Schedule, properties: Sequence[BandProperties]) -> isl.Schedule:
    """``tree`` with the flags that isl keeps on its bands set to what is known of them."""
    paths = [path for path, _ in bands(tree)]
    for path, known in zip(paths, properties, strict=True):
        node = node_at(tree, path).band_set_permutable(int(known.permutable))
        for position, member in enumerate(known.members):
            node = node.band_member_set_coincident(position, int(member.coincident))
        tree = node.get_schedule()
    return tree


def _band(node: isl.ScheduleNode, known: BandProperties) -> Band:
    role = _role(node)
    return Band(
        tuple(
            BandMember(row_texts(row), member.coincident, member.reduction_parallel, role)
            for row, member in zip(members(node), known.members, strict=True)
        ),
        known.permutable,
        known.statements,
        known.depth,
    )


def _role(node: isl.ScheduleNode) -> Role:
    nearest = next((name for name in marks_above(node) if name in ("tile", "point")), "loop")
    return "tile" if nearest == "tile" else "point" if nearest == "point" else "loop"

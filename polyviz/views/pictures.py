"""All domain pictures of a part for one choice of parameter values, and the rows of its dependence table."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.errors import Span
from polyviz.model.recent import Recent
from polyviz.model.scop import Scop, Statement
from polyviz.views import domain as domain_view
from polyviz.views import timeline as timeline_view
from polyviz.views.drawing import values_text
from polyviz.views.instances import Pane, pane
from polyviz.views.nodes import common_depth, loop_paths, read_tree
from polyviz.views.notation import distances, relation
from polyviz.views.sizes import PARAMETER, SET, binding, choose, extents
from polyviz.views.timeline import Timeline, groups, timeline

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from polyviz.model.dependences import Dependence, Dependences

# Counting pairs is quick up to here; a larger number says little in a picture of a few points.
_COUNTED = 5e6
MOST_PANES = 24
_SINGLE = "outside all loops, one instance each"


@dataclass(frozen=True, slots=True)
class Pictures:
    """Panes in the order of the statements, combined pictures, and the parameter values they are drawn for.

    ``left_out`` are sentences about statements without a picture.
    """

    values: Mapping[str, int]
    panes: tuple[Pane, ...]
    timelines: tuple[Timeline, ...] = ()
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Nesting:
    """The loops around each statement, as numbers that tell loops apart and as names."""

    paths: Mapping[str, tuple[int, ...]]
    iterators: Mapping[str, tuple[str, ...]]

    def comparable(self, first: str, second: str) -> tuple[int, int]:
        """The number of common loops, and of these plus the loops of the same name right below them."""
        common = common_depth(self.paths, first, second)
        if common == 0:
            return 0, 0
        names = list(zip(self.iterators[first], self.iterators[second], strict=False))
        depth = common
        while depth < len(names) and names[depth][0] == names[depth][1]:
            depth += 1
        return common, depth


def iterators_of(scop: Scop) -> dict[str, tuple[str, ...]]:
    """The iterators of each statement by its name."""
    return {statement.name: statement.iterators for statement in scop.statements}


@dataclass(frozen=True, slots=True)
class DependenceRow:
    """A dependence as a reader meets it: ``distances`` over the common loops, ``count`` pairs for the shown values."""

    kind: str
    array: str
    source: str
    sink: str
    distances: tuple[str, ...]
    relation: str
    count: int | None

    @property
    def summary(self) -> str:
        """The distances, or the relation where the statements share no loop."""
        return ", ".join(self.distances) or self.relation


def pictures(
    scop: Scop, dependences: Dependences | None = None, sizes: Mapping[str, int] | None = None
) -> Pictures:
    """The pictures of ``scop``; ``sizes`` are real parameter values, shown where they are small enough."""
    relations = None if dependences is None else dependences.relations
    values = shown_values(scop, sizes)
    bound = binding(values, scop.context.get_ctx())
    drawn, left_out = _worth_drawing(scop.statements)
    if sizes is not None and any(sizes.get(name) != value for name, value in values.items()):
        left_out = (
            *left_out,
            f"Drawn for small values ({values_text(values)}), not for the sizes of the run.",
        )
    panes = tuple(pane(statement, relations, values, bound) for statement in drawn)
    combined = (timeline(group, relations, values, bound) for group in groups(scop)) if relations else ()
    return Pictures(values, panes, tuple(picture for picture in combined if picture is not None), left_out)


def _worth_drawing(statements: Sequence[Statement]) -> tuple[Sequence[Statement], tuple[str, ...]]:
    """Statements outside all loops are single dots: they are drawn only where there is nothing else."""
    looped = [statement for statement in statements if statement.iterators]
    if not looped:
        return statements[:1], tuple(filter(None, [_not_drawn(statements[1:], _SINGLE)]))
    single = [statement for statement in statements if not statement.iterators]
    sentences = (
        _not_drawn(single, _SINGLE),
        _not_drawn(looped[MOST_PANES:], f"only the first {MOST_PANES} statements have a picture"),
    )
    return looped[:MOST_PANES], tuple(sentence for sentence in sentences if sentence)


def _not_drawn(statements: Sequence[Statement], reason: str) -> str:
    names = ", ".join(statement.name for statement in statements)
    return f"Not drawn: {names} ({reason})." if names else ""


def shown_values(scop: Scop, sizes: Mapping[str, int] | None = None) -> dict[str, int]:
    """The parameter values that pictures of ``scop`` are drawn for."""
    key = None if sizes is None else tuple(sizes.items())
    domains = [statement.domain for statement in scop.statements]
    return dict(_VALUES.of(scop, key, lambda: choose(domains, scop.context, sizes)))


# Several views of one part are made one after the other.
_VALUES: Recent[dict[str, int]] = Recent(8)
_ROWS: Recent[dict[int, tuple[Dependence, DependenceRow]]] = Recent(4)


def pictures_of_dependences(dependences: Dependences) -> Pictures:
    """Pictures of dependences alone: of each statement the instances that take part in one on itself."""
    statements = _statements(dependences.relations)
    values = choose([statement.domain for statement in statements], _universe(statements))
    bound = binding(values)
    note = "the instances that take part in a dependence"
    panes = (
        pane(statement, dependences.relations, values, bound, note) for statement in statements[:MOST_PANES]
    )
    return Pictures(values, tuple(panes))


def _universe(statements: Sequence[Statement]) -> isl.Set:
    space = (
        statements[0].domain.get_space().params()
        if statements
        else isl.Space.params_alloc(isl.DEFAULT_CONTEXT, 0)
    )
    return isl.Set.universe(space)


def _statements(relations: Iterable[Dependence]) -> list[Statement]:
    domains: dict[str, isl.Set] = {}
    for found in relations:
        if found.source == found.sink and found.kind != "input":
            ends = found.relation.domain().union(found.relation.range())
            known = domains.get(found.source, ends)
            domains[found.source] = known.union(ends).coalesce()
    return [
        Statement(name, _iterators(domain), domain, (), (), Span(0, 0, 0, 0), "")
        for name, domain in sorted(domains.items())
    ]


def _iterators(domain: isl.Set) -> tuple[str, ...]:
    return tuple(
        str(domain.get_dim_name(SET, axis)) if domain.has_dim_name(SET, axis) else f"i{axis}"
        for axis in range(domain.dim(SET))
    )


def drawings(found: Pictures) -> list[tuple[str, str]]:
    """Every picture as (SVG text, sentence that stands in for it), combined ones last."""
    drawn = [(domain_view.draw(one), domain_view.describe(one)) for one in found.panes]
    return drawn + [(timeline_view.draw(one), timeline_view.describe(one)) for one in found.timelines]


def dependence_rows(
    dependences: Dependences,
    scop: Scop | None = None,
    values: Mapping[str, int] | None = None,
    *,
    inputs: bool = False,
) -> list[DependenceRow]:
    """One row per relation, with ``inputs`` those between reads too; counted for ``values`` where they are given.

    Without the part only dependences of a statement on itself have distances: the common loops are not known.
    """
    nesting = None if scop is None else Nesting(loop_paths(read_tree(scop.schedule)), iterators_of(scop))
    context = None if scop is None else scop.context
    bound = None if values is None else binding(values, dependences.validity.get_ctx())
    told = [found for found in dependences.relations if inputs or found.kind != "input"]
    key = None if values is None else tuple(values.items())
    known = {} if scop is None else _ROWS.of(scop, key, dict)
    for found in told:
        if id(found) not in known or known[id(found)][0] is not found:
            known[id(found)] = (found, _row(found, nesting, context, bound))
    return [known[id(found)][1] for found in told]


def _row(
    found: Dependence, nesting: Nesting | None, context: isl.Set | None, bound: isl.Set | None
) -> DependenceRow:
    common, depth = _depths(found, nesting)
    return DependenceRow(
        kind=found.kind,
        array=found.array,
        source=found.source,
        sink=found.sink,
        distances=distances(found.relation, depth, common),
        relation=relation(found.relation, context),
        count=None if bound is None else _count(found.relation.intersect_params(bound)),
    )


def _depths(found: Dependence, nesting: Nesting | None) -> tuple[int, int]:
    """How many outermost loops source and sink share, and over how many a distance makes sense."""
    if found.source == found.sink:
        depth = found.relation.dim(isl.dim_type.in_)
        return depth, depth
    return (0, 0) if nesting is None else nesting.comparable(found.source, found.sink)


def _count(pairs: isl.Map) -> int | None:
    """How many ``pairs`` there are; None where that would be too many to go through, or not fixed."""
    domain = pairs.wrap()
    if domain.dim(PARAMETER) and not domain.params().is_singleton():
        return None
    domain = domain.project_out_all_params()
    if sum(_at_most(piece.to_set()) for piece in domain.get_basic_sets()) > _COUNTED:
        return None
    return int(domain.count_val().to_python())


def _at_most(piece: isl.Set) -> float:
    """A bound on the points of ``piece``: those of its box, in which each equality settles one coordinate."""
    settled = sum(
        constraint.is_equality() and not constraint.involves_dims(isl.dim_type.div, 0, constraint.dim(isl.dim_type.div))
        for constraint in piece.affine_hull().get_constraints()
    )
    free = sorted(extents(piece))[settled:]
    return math.prod(free)

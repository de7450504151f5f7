"""Rows updated from both of their ends: a cell and its mirror image take their new values together.

    for i in range(k):
        z[i] = y[i] + a * y[k - 1 - i]
    for i in range(k):
        y[i] = z[i]

The first loop reads each cell where it is and where the row is turned around, so that no cell may change before its
mirror image is through: hence the copy. A cell and its image together need nobody else. With both new values in
registers before one of them is stored, one loop over half of the row does all of it, the copy is never made, and each
cell is loaded and stored once, not twice. Its iterations are independent, which the exact dependences tell.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.mapping.lifting import vector_loop
from polyviz.model.expression import Assign, Binary, Constant, Element, Name, Unary, walk
from polyviz.model.isl_limits import solved
from polyviz.model.plan import Mirror
from polyviz.model.schedule import Decision
from polyviz.transform.tree import kind_of, statements_under
from polyviz.transform.tree import walk as nodes_of

if TYPE_CHECKING:
    from polyviz.model.dependences import Dependences
    from polyviz.model.scop import Scop, Statement

TEXT = (
    "{array} is updated from both ends in one loop: a cell and its mirror image are computed together and stored at "
    "once, so that the copy {temporary} is not made"
)


def find_mirrors(
    scop: Scop, dependences: Dependences, tree: isl.Schedule
) -> tuple[tuple[Mirror, ...], tuple[Decision, ...]]:
    """The vector loops of ``tree`` that compute new values of a row into a copy, each with the one behind it that
    stores them, and what is said of them."""
    found, said = [], []
    for node in nodes_of(tree):
        if kind_of(node) != "sequence":
            continue
        loops = [vector_loop(node.child(place).child(0)) for place in range(node.n_children())]
        for first, second in pairwise(loops):
            mirror = None if first is None or second is None else _mirror(scop, dependences, first, second)
            if mirror is not None:
                found.append(mirror)
                (stored,) = scop.statement(mirror.second).body
                assert isinstance(stored, Assign)
                text = TEXT.format(array=stored.target.array, temporary=mirror.temporary)
                said.append(Decision("mirror", text, (mirror.first, mirror.second)))
    return tuple(found), tuple(said)


def _mirror(
    scop: Scop, dependences: Dependences, first: isl.ScheduleNode, second: isl.ScheduleNode
) -> Mirror | None:
    computes, stores = (scop.statement(statements_under(band)[0]) for band in (first, second))
    temporary = _copied(computes, stores)
    if temporary is None or scop.array(temporary).live_out or scop.array(temporary).origin != "local":
        return None
    domains = [statement.domain.intersect_params(scop.context) for statement in (computes, stores)]
    everywhere = isl.UnionSet.from_set(domains[0]).union(isl.UnionSet.from_set(domains[1]))
    if not everywhere.is_subset(first.get_domain().union(second.get_domain())):
        return None  # some of it runs elsewhere
    times = {computes.name: _times(first, computes), stores.name: _times(second, stores)}
    row, other = (found.range() for found in times.values())
    if not row.is_equal(other):
        return None
    images = _images(row)
    mirror = Mirror(computes.name, stores.name, temporary)
    if images is None or not _only_copied(dependences, times, mirror, domains[1]):
        return None
    return mirror if _pairs_are_apart(dependences, times, row.identity(), images) else None


def _copied(computes: Statement, stores: Statement) -> str | None:
    """The array that ``computes`` sets and ``stores`` copies, where that is all; values are plain arithmetic."""
    bodies = (computes.body, stores.body)
    if any(len(body) != 1 or not isinstance(body[0], Assign) or body[0].operator for body in bodies):
        return None
    if not (computes.exact and stores.exact):
        return None
    made, copy = (body[0] for body in bodies)
    assert isinstance(made, Assign)
    assert isinstance(copy, Assign)
    plain = all(isinstance(part, Element | Name | Constant | Binary | Unary) for part in walk(made.value))
    is_copy = isinstance(copy.value, Element) and copy.value.array == made.target.array
    return made.target.array if plain and is_copy and made.target.subscripts else None


def _times(band: isl.ScheduleNode, statement: Statement) -> isl.Map:
    """When each instance of ``statement`` runs, in the loops around ``band`` and in its own."""
    rows = band.get_prefix_schedule_multi_union_pw_aff().flat_range_product(band.band_get_partial_schedule())
    instances = isl.UnionSet.from_set(statement.domain)
    return isl.Map.from_union_map(isl.UnionMap.from_multi_union_pw_aff(rows).intersect_domain(instances))


def _images(row: isl.Set) -> isl.Map | None:
    """From each place of ``row``, the last dimension of the set, to that at the same distance from its other end; None
    where that is not in the row, or hard to find."""
    around = row.dim(isl.dim_type.set) - 1
    cells = isl.Map.from_range(row).move_dims(isl.dim_type.in_, 0, isl.dim_type.out, 0, around)
    first, last = solved(cells.lexmin_pw_multi_aff), solved(cells.lexmax_pw_multi_aff)
    if first is None or last is None:
        return None
    ends = isl.Map.from_pw_aff(first.get_pw_aff(0).add(last.get_pw_aff(0)))
    sums = ends.move_dims(isl.dim_type.out, 0, isl.dim_type.in_, 0, around).range()
    names = "".join(f"p{number}, " for number in range(around))
    apart = isl.Map(f"{{ [{names}both] -> [[{names}i] -> [{names}j]] : both = i + j }}")
    images = sums.apply(apart).unwrap().intersect_domain(row)
    return images if images.range().is_subset(row) else None


def _only_copied(dependences: Dependences, times: dict[str, isl.Map], mirror: Mirror, stored: isl.Set) -> bool:
    """Whether all of the instances ``stored`` find what they copy in the same iteration, and nobody else reads it."""
    flows = [one for one in dependences.relations if one.kind == "flow" and one.array == mirror.temporary]
    through = [one for one in flows if mirror.first == one.source or mirror.second == one.sink]
    if any((one.source, one.sink) != (mirror.first, mirror.second) for one in through):
        return False
    reached = isl.Set.empty(stored.get_space())
    for one in through:
        moved = one.relation.apply_domain(times[one.source]).apply_range(times[one.sink])
        if not moved.is_subset(times[one.source].range().identity()):
            return False
        reached = reached.union(one.relation.range())
    return bool(stored.is_subset(reached))


def _pairs_are_apart(
    dependences: Dependences, times: dict[str, isl.Map], same: isl.Map, images: isl.Map
) -> bool:
    """Whether in one run of the two loops only a cell and its image depend on each other, and some do on the image."""
    inside = isl.Map.from_domain_and_range(same.domain(), same.domain())
    row = same.domain().dim(isl.dim_type.set) - 1
    for place in range(row):
        inside = inside.equate(isl.dim_type.in_, place, isl.dim_type.out, place)
    turned = False
    for one in dependences.validity_relations:
        if one.source not in times or one.sink not in times:
            continue
        pairs = one.relation.apply_domain(times[one.source]).apply_range(times[one.sink]).intersect(inside)
        in_order = (one.source, one.sink) == tuple(times)
        if not pairs.is_subset(same.union(images) if in_order else isl.Map.empty(same.get_space())):
            return False
        turned = turned or not pairs.is_subset(same)
    return turned

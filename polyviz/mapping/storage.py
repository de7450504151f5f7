"""Where private temporaries live once the order is known.

A privatized scalar has one copy per iteration of its common loops (``Privatization.depth``). The schedule decides how
much of that is needed: where one iteration of the scheduled loops deals with one copy only, a variable declared inside
these loops serves; otherwise the scalar becomes an array with one cell per copy. Outer loops that run one after the
other, and never bring two of their copies together, share the cells: the array does not grow with them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.model.plan import END, LOCAL, POINTS, Expansion, FinalValue
from polyviz.model.schedule import Decision
from polyviz.transform.tree import Path, insert_mark, is_band, kind_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from polyviz.model.dependences import Dependences, Privatization
    from polyviz.model.scop import Scop, Statement


@dataclass(frozen=True, slots=True)
class Storage:
    """The outcome: the tree with ``local`` marks, and where each private scalar went."""

    tree: isl.Schedule
    locals: tuple[str, ...]
    expansions: tuple[Expansion, ...]
    final_values: tuple[FinalValue, ...]
    decisions: tuple[Decision, ...]


WIDEST_WINDOW = 64
"""Copies of one temporary in an array on the stack of a thread; more of them are in memory of the whole call."""


_SPARSE = 4
"""An array is sparse where it has more than so many times the cells that are used."""


def place_temporaries(
    scop: Scop,
    dependences: Dependences,
    tree: isl.Schedule,
    *,
    windows: bool = False,
    spaced: Collection[str] = (),
) -> Storage:
    """Decide the storage of every privatized scalar under the order of ``tree``.

    A temporary is declared at the deepest node of the tree where every scheduled iteration touches a single copy, and
    every copy is touched in a single iteration, or at one such node in each part of a sequence that has copies of its
    own; it is expanded to an array when there is no such node, along as few of the loops around it as the order
    allows. With ``windows`` a small array is declared where an iteration touches a few neighbouring copies, unless the
    copies have to be equally ``spaced``: in such an array the last cell is followed by the first.
    """
    locals_: list[str] = []
    expansions: list[Expansion] = []
    decisions: list[Decision] = []
    for privatization in dependences.privatizations:
        copies = copies_of_scalar(scop, privatization)
        homes = _homes(tree, copies)
        if homes is not None:
            for path in homes:
                tree = _insert_local(tree, path, privatization.array)
            locals_.append(privatization.array)
            decisions.append(_local_decision(privatization, copies))
            continue
        small = windows and privatization.array not in spaced
        found = _window_home(tree, copies, privatization.depth) if small else None
        if found is not None:
            path, position, window = found
            tree = _insert_local(tree, path, privatization.array)
            outer = replace(privatization, depth=position + 1)
            expansions.append(_expansion(scop, outer, copies_of_scalar(scop, outer), position, window))
            decisions.append(_window_decision(privatization, copies, window))
        else:
            shared = _shared_loops(tree, copies, privatization.depth)
            expansions.append(_expansion(scop, privatization, copies, shared))
            decisions.append(_expansion_decision(privatization, copies, shared))
    finals = tuple(
        final for privatization in dependences.privatizations for final in _final_values(scop, privatization)
    )
    return Storage(tree, tuple(locals_), tuple(expansions), finals, tuple(decisions))


def is_local(scop: Scop, privatization: Privatization, tree: isl.Schedule) -> bool:
    """Whether a variable declared inside the loops of ``tree`` can hold the temporary."""
    return _homes(tree, copies_of_scalar(scop, privatization)) is not None


def grows(scop: Scop, dependences: Dependences, tree: isl.Schedule, changed: isl.Schedule) -> bool:
    """Whether a variable of the iterations of ``tree`` would be an array for all of a call in ``changed``."""
    for found in dependences.privatizations:
        copies = copies_of_scalar(scop, found)
        if _homes(tree, copies) is None or _homes(changed, copies) is not None:
            continue
        if _window_home(changed, copies, found.depth) is None:
            return True
    return False


def scatters(scop: Scop, dependences: Dependences, tree: isl.Schedule, changed: isl.Schedule) -> bool:
    """Whether a variable of the iterations of ``tree`` would need a cell for each of several loops in ``changed``."""
    several = (found for found in dependences.privatizations if found.depth > 1)
    return any(is_local(scop, found, tree) and not is_local(scop, found, changed) for found in several)


def expand_temporaries(scop: Scop, dependences: Dependences) -> Storage:
    """Every privatized scalar as an array: kernels share nothing but memory, and any thread may need any copy."""
    copies = {found.array: copies_of_scalar(scop, found) for found in dependences.privatizations}
    return Storage(
        scop.schedule,
        (),
        tuple(_expansion(scop, found, copies[found.array]) for found in dependences.privatizations),
        tuple(final for found in dependences.privatizations for final in _final_values(scop, found)),
        tuple(_expansion_decision(found, copies[found.array]) for found in dependences.privatizations),
    )


def _accessing(scop: Scop, array: str) -> list[Statement]:
    return [
        statement
        for statement in scop.statements
        if any(access.array == array for access in statement.accesses)
    ]


def copies_of_scalar(scop: Scop, privatization: Privatization) -> isl.UnionMap:
    """The instances that touch the scalar, each mapped to the copy it uses: its outermost ``depth`` iterators."""
    result = isl.UnionMap.empty(scop.context.get_space())
    for statement in _accessing(scop, privatization.array):
        result = result.union(isl.UnionMap.from_map(_copy_of(statement, privatization.depth)))
    return result


def _copy_of(statement: Statement, depth: int) -> isl.Map:
    domain = statement.domain
    identity = isl.Map.identity(domain.get_space().map_from_set()).intersect_domain(domain)
    rank = domain.dim(isl.dim_type.set)
    kept = identity.reset_tuple_id(isl.dim_type.out)
    return kept.project_out(isl.dim_type.out, depth, rank - depth).set_tuple_name(isl.dim_type.out, "copy")


def _home(tree: isl.Schedule, copies: isl.UnionMap) -> Path | None:
    """The path of the deepest node that holds all accesses and separates the copies; None when there is none."""
    homes = (path for path, node in _from_below(tree, copies) if _separates(node, copies))
    return next(homes, None)


def _homes(tree: isl.Schedule, copies: isl.UnionMap) -> tuple[Path, ...] | None:
    """The home of all accesses, or those in the parts of a sequence that share no copy; None where one has none."""
    home = _home(tree, copies)
    if home is not None:
        return (home,)
    found: list[Path] = []
    for part in _parts(tree, copies):
        homes = _homes(tree, part)
        if homes is None:
            return None
        found += homes
    return tuple(found) or None


def _parts(tree: isl.Schedule, copies: isl.UnionMap) -> list[isl.UnionMap]:
    """``copies`` by the parts of the deepest sequence that holds all accesses; none where two parts share one."""
    node = tree.get_root()
    touched = copies.domain().intersect(tree.get_domain())
    while (child := _only_child_with(node, touched)) is not None:
        node = node.child(child)
    if kind_of(node) != "sequence":
        return []
    inside = (node.child(position).child(0).get_domain() for position in range(node.n_children()))
    parts = [part for part in map(copies.intersect_domain, inside) if not part.is_empty()]
    taken = isl.UnionSet.empty(copies.get_space())
    for part in parts:
        if not taken.intersect(part.range()).is_empty():
            return []
        taken = taken.union(part.range())
    return parts


def _window_home(tree: isl.Schedule, copies: isl.UnionMap, depth: int) -> tuple[Path, int, int] | None:
    """The path of the deepest node that holds all accesses and leaves a few neighbouring copies together, the loop of
    which they are neighbours, and how many cells these need; None when there is none."""
    for path, node in _from_below(tree, copies):
        if _is_told(node):
            continue
        window = _window(node.get_prefix_schedule_union_map(), copies, depth)
        if window is not None:
            return path, *window
    return None


def _is_told(node: isl.ScheduleNode) -> bool:
    """Whether a mark right above ``node`` says how its loop runs: nothing may come between the two."""
    above = node.parent()
    return kind_of(above) == "mark" and above.mark_get_id().get_name().partition(":")[0] not in (END, LOCAL, POINTS)


def _window(times: isl.UnionMap, copies: isl.UnionMap, depth: int) -> tuple[int, int] | None:
    """The cells for the copies that one point in time deals with, where all that a copy is used for is there; before
    them the loop whose iterations they belong to."""
    time_to_copy = times.intersect_domain(copies.domain()).reverse().apply_range(copies)
    if not time_to_copy.is_injective():
        return None
    together = time_to_copy.reverse().apply_range(time_to_copy).deltas()
    if together.is_empty():
        return None
    apart = isl.Set.from_union_set(together)
    most = [apart.dim_max_val(position) for position in range(depth)]
    moving = [position for position, value in enumerate(most) if not value.is_zero()] or [depth - 1]
    farthest = most[moving[0]]
    if len(moving) > 1 or farthest.is_infty() or farthest.is_nan():
        return None
    window = 1 << int(farthest.to_python()).bit_length()
    return (moving[0], window) if window <= WIDEST_WINDOW else None


def _from_below(tree: isl.Schedule, copies: isl.UnionMap) -> list[tuple[Path, isl.ScheduleNode]]:
    """The nodes that hold all accesses and that a mark may stand above, the deepest first: the times of a deep node are
    costly for isl, and the deepest one mostly is the one."""
    node = tree.get_root()
    path: Path = ()
    touched = copies.domain().intersect(tree.get_domain())
    found: list[tuple[Path, isl.ScheduleNode]] = []
    child: int | None = 0
    while child is not None:
        found.append((path, node))
        child = _only_child_with(node, touched)
        if child is not None:
            node, path = node.child(child), (*path, child)
    return [(path, node) for path, node in reversed(found) if kind_of(node) not in _TRANSPARENT]


_TRANSPARENT = ("domain", "set", "filter")
"""Kinds of nodes that no mark can stand above."""


def _only_child_with(node: isl.ScheduleNode, touched: isl.UnionSet) -> int | None:
    for position in range(node.n_children()):
        child = node.child(position)
        # What reaches a filter is all of the sequence; what it lets through is below it.
        inside = child.child(0).get_domain() if kind_of(child) == "filter" else child.get_domain()
        if touched.is_subset(inside):
            return position
        if not touched.intersect(inside).is_empty():
            return None
    return None


def _separates(node: isl.ScheduleNode, copies: isl.UnionMap) -> bool:
    return _is_paired(node.get_prefix_schedule_union_map(), copies)


def _is_paired(times: isl.UnionMap, copies: isl.UnionMap) -> bool:
    """Whether each point in time deals with one copy only, and each copy with one point in time."""
    time_to_copy = times.intersect_domain(copies.domain()).reverse().apply_range(copies)
    return bool(time_to_copy.is_single_valued()) and bool(time_to_copy.is_injective())


def _shared_loops(tree: isl.Schedule, copies: isl.UnionMap, depth: int) -> int:
    """How many of the ``depth`` loops need no copies of their own: all accesses in one of their iterations come
    before those in the next."""
    times = list(_serial_times(tree, copies.domain().intersect(tree.get_domain())))
    for shared in range(depth - 1, 0, -1):
        outer = copies.apply_range(isl.UnionMap.from_map(_outermost(copies, depth, shared)))
        if any(_is_paired(time, outer) for time in times):
            return shared
    return 0


def _outermost(copies: isl.UnionMap, depth: int, kept: int) -> isl.Map:
    space = isl.Space.set_alloc(isl.DEFAULT_CONTEXT, 0, depth).set_tuple_name(isl.dim_type.set, "copy")
    identity = isl.Map.identity(space.align_params(copies.get_space()).map_from_set())
    return identity.project_out(isl.dim_type.out, kept, depth - kept).set_tuple_name(isl.dim_type.out, "copy")


def _serial_times(tree: isl.Schedule, touched: isl.UnionSet) -> Iterator[isl.UnionMap]:
    """When ``touched`` runs, by ever more of the loops around all of it, down to a mark: it may mean threads."""
    node = tree.get_root()
    while kind_of(node) != "mark":
        if is_band(node):
            rows, before = node.band_get_partial_schedule(), node.get_prefix_schedule_multi_union_pw_aff()
            for count in range(1, node.band_n_member() + 1):
                inside = rows.drop_dims(isl.dim_type.set, count, node.band_n_member() - count)
                yield isl.UnionMap.from_multi_union_pw_aff(before.flat_range_product(inside))
        child = _only_child_with(node, touched)
        if child is None:
            return
        node = node.child(child)


def _insert_local(tree: isl.Schedule, path: Path, array: str) -> isl.Schedule:
    return insert_mark(tree, path, f"{LOCAL}:{array}")


def _expansion(
    scop: Scop, privatization: Privatization, copies: isl.UnionMap, shared: int = 0, window: int = 0
) -> Expansion:
    space = isl.Space.set_alloc(isl.DEFAULT_CONTEXT, 0, privatization.depth).set_tuple_name(
        isl.dim_type.set, "copy"
    )
    cells = copies.range().extract_set(space.align_params(scop.context.get_space()))
    cells = cells.coalesce()
    loops = range(shared, privatization.depth)
    lower = tuple(cells.dim_min(position).coalesce() for position in loops)
    upper = tuple(cells.dim_max(position).coalesce() for position in loops)
    extents = tuple((last - first + 1).coalesce() for first, last in zip(lower, upper, strict=True))
    is_sparse = not window and _is_sparse(cells, shared, extents)
    return Expansion(privatization.array, privatization.depth, lower, extents, shared, window, is_sparse)


def _is_sparse(cells: isl.Set, shared: int, extents: Sequence[isl.PwAff]) -> bool:
    """Whether, for some sizes, one iteration of the loops around uses few of the ``extents`` of ``cells``."""
    depth = cells.dim(isl.dim_type.set)
    kept = cells.project_out(isl.dim_type.set, 0, shared)
    for outer in range(1, depth - shared):
        rows = kept.project_out(isl.dim_type.set, outer + 1, depth - shared - outer - 1)
        row = isl.Map.from_range(rows).move_dims(isl.dim_type.in_, 0, isl.dim_type.out, 0, outer)
        together = row.reverse().apply_range(row).deltas()
        if not together.is_empty():
            width = (together.dim_max(0) + 1).scale_val(isl.Val(_SPARSE))
            if not extents[outer].gt_set(width).is_empty():
                return True
    return False


def _final_values(scop: Scop, privatization: Privatization) -> list[FinalValue]:
    if privatization.last is None:
        return []
    finals = []
    for statement in _accessing(scop, privatization.array):
        instances = privatization.last.extract_set(statement.domain.get_space())
        if not instances.is_empty():
            finals.append(FinalValue(privatization.array, statement.name, instances))
    return finals


def _local_decision(privatization: Privatization, copies: isl.UnionMap) -> Decision:
    text = f"{privatization.array} is a variable of its own in each iteration ({privatization.reason})"
    return Decision("storage", text, _names(copies))


def _window_decision(privatization: Privatization, copies: isl.UnionMap, window: int) -> Decision:
    text = (
        f"{privatization.array} becomes an array of {window} cells where it is used: in this order the values of so "
        "many iterations are alive at the same time"
    )
    return Decision("storage", text, _names(copies))


def _expansion_decision(privatization: Privatization, copies: isl.UnionMap, shared: int = 0) -> Decision:
    needed = privatization.depth - shared
    count = f"{needed} " if privatization.depth > 1 else ""
    loops = f"{count}{'inner' if shared else 'outer'} loop{'s' if needed > 1 else ''}"
    reused = f" (steps of the {shared} outermost use the same cells again)" if shared else ""
    text = (
        f"{privatization.array} becomes an array with one cell per iteration of its {loops}{reused}: in this order "
        "several of its values are alive at the same time"
    )
    return Decision("storage", text, _names(copies))


def _names(copies: isl.UnionMap) -> tuple[str, ...]:
    maps = copies.get_map_list()
    names = {maps.get_at(position).get_tuple_name(isl.dim_type.in_) for position in range(maps.n_map())}
    return tuple(sorted(names))

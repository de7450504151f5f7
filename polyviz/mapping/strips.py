"""Parallel loops along contiguous memory whose inner loops jump: strips of them become the innermost loop.

A recurrence down the columns of a matrix, or sums over its columns, run well one column after the other only in the
text: each step touches another line of memory and uses one number of it. With a strip of neighbouring columns innermost
every line is used up at once, in vector lanes, and threads share the strips; a strip of all rows often fits the
second-level cache, so that a second sweep over it does not go to memory.

So do sums over a window of the same matrix: nothing jumps in them, but a window is short, its sum a chain, and a vector
along it has to be added up in the end, where a strip of cells needs none of that.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.analysis import band_properties
from polyviz.analysis.legality import is_legal
from polyviz.analysis.strides import motions, statement_rows
from polyviz.mapping.array_sums import find_array_sums
from polyviz.mapping.innermost import is_concurrent
from polyviz.mapping.locality import band_locality
from polyviz.mapping.marked import marks_of
from polyviz.mapping.short_loops import are_written_out
from polyviz.mapping.storage import scatters
from polyviz.model.plan import PARALLEL
from polyviz.model.recent import Recent
from polyviz.model.schedule import Decision
from polyviz.transform.interchange import permute_members
from polyviz.transform.shape import (
    Branches,
    Loops,
    Part,
    loops_at,
    restricted,
    sequence_of,
    shape_of,
    tree_of,
    with_part,
)
from polyviz.transform.tile import split_into_tiles
from polyviz.transform.tree import (
    band_at,
    bands,
    isolate_member,
    kind_of,
    node_at,
    split_band,
    statements_under,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from polyviz.analysis import BandProperties
    from polyviz.analysis.strides import AccessMotion, Row
    from polyviz.model.dependences import Dependences
    from polyviz.model.scop import Scop, Statement
    from polyviz.transform.tree import Path

SHARE = 256
"""Iterations in a strip that is only there for threads: long enough to read memory in one go. C takes more of them
where there are (``polyviz.codegen.even_strips_c``)."""
_DETAILS_OF_SHARES = {"strip": SHARE}
STRIP = 64
"""Iterations in a strip: eight lines of doubles, which leaves room in the second-level cache for two thousand rows."""


@dataclass(frozen=True, slots=True)
class _Moving:
    """A statement with the rows of all loops around it, and how its accesses move in the innermost of them."""

    statement: Statement
    rows: list[Row]
    inside: list[AccessMotion] | None


_known: Recent[list[_Moving]] = Recent(64)


@dataclass(frozen=True, slots=True)
class _Gain:
    """References that run along memory in the outer loop and jump in the inner one, and those of the opposite kind;
    ``frees``: none jumps in the outer loop, in which the cells written are neighbours, and the inner loops are serial.
    """

    better: int
    worse: int
    frees: bool = False

    @property
    def pays(self) -> bool:
        return self.worse == 0 and (self.better > 0 or self.frees)


def make_strips(
    scop: Scop, dependences: Dependences, tree: isl.Schedule
) -> tuple[isl.Schedule, tuple[Decision, ...]]:
    """``tree`` with strips innermost wherever that makes all references run along memory, and what was decided."""
    decisions: list[Decision] = []
    done: set[tuple[str, ...]] = set()
    while True:
        path = next((path for path in _candidates(scop, dependences, tree) if _names(tree, path) not in done), None)
        if path is None:
            return tree, tuple(decisions)
        done.add(_names(tree, path))
        changed = _stripped(scop, dependences, tree, path) or _parted(scop, dependences, tree, path)
        if changed is not None and not scatters(scop, dependences, tree, changed[0]):
            tree, names = changed
            done.add(names)
            decisions.append(_said(names))


def share_strips(
    scop: Scop, dependences: Dependences, tree: isl.Schedule, *, sums: bool = False
) -> tuple[isl.Schedule, tuple[Decision, ...]]:
    """``tree`` with wide strips for threads where the only parallel loop of a nest is the one that runs along memory.

    The loop itself stays innermost; a loop over strips of it goes outside, so that threads start once. Where threads
    may add up ``sums`` in copies of their own they share the other loop: whole rows come from memory faster.
    """
    decisions: list[Decision] = []
    for path in reversed([path for path, _ in bands(tree)]):
        if not _wants_shares(scop, dependences, tree, path):
            continue
        best = band_locality(scop, dependences, tree, path).best_innermost
        if sums and len(path) == 1 and _adds_in_rows(scop, dependences, tree, path, best):
            continue
        changed, _ = permute_members(tree, path, (best, 1 - best))
        changed, alone = isolate_member(changed, path, 0)
        changed = split_into_tiles(changed, alone, (SHARE,), scaled=True)
        changed = _sunk(changed, (*alone, 0))
        if is_legal(scop, changed, known=dependences) and not scatters(scop, dependences, tree, changed):
            tree = changed
            decisions.append(_said_of_shares(_names(tree, path)))
    return tree, tuple(decisions)


def marks_of_shares(tree: isl.Schedule, decisions: Iterable[Decision]) -> tuple[str, ...]:
    """The marks in ``tree`` of parallel loops over strips of which ``decisions`` say that they are there for threads.

    Their loop is coincident: no dependence leads from one of its iterations to another, whatever strip they are in.
    """
    shared = {said.statements for said in decisions if said.step == "strip" and said.details == _DETAILS_OF_SHARES}
    marks = [(name, node_at(tree, path)) for path, name in marks_of(tree) if name.partition(":")[0] == PARALLEL]
    return tuple(name for name, node in marks if statements_under(node) in shared)


def _adds_in_rows(scop: Scop, dependences: Dependences, tree: isl.Schedule, path: Path, best: int) -> bool:
    """Whether threads can share the loop around ``best``, each with a copy of what it adds to."""
    rows, _ = permute_members(tree, path, (1 - best, best))
    return bool(find_array_sums(scop, dependences, rows, path, 0))


def _wants_shares(scop: Scop, dependences: Dependences, tree: isl.Schedule, path: Path) -> bool:
    """Whether the band at ``path`` is a nest of two loops of which only the best innermost one is parallel."""
    walk = [other for other, _ in bands(tree)]
    band = band_at(tree, path)
    if _below(walk, path) or band.band_n_member() != 2 or is_concurrent(band):
        return False
    found = band_properties(scop, dependences, tree)[walk.index(path)]
    coincident = [member for member in (0, 1) if found.members[member].coincident]
    if len(coincident) != 1:  # then the other member alone carries, forwards: the two may change places
        return False
    locality = band_locality(scop, dependences, tree, path)
    return coincident[0] == locality.best_innermost and not locality.tiling_helps


def _names(tree: isl.Schedule, path: Path) -> tuple[str, ...]:
    return statements_under(node_at(tree, path))


def _candidates(scop: Scop, dependences: Dependences, tree: isl.Schedule) -> Iterator[Path]:
    """Bands around further bands, for some statements of which a strip would pay."""
    paths = [path for path, _ in bands(tree)]
    for path in paths:
        inner = _below(paths, path)
        if is_concurrent(band_at(tree, path)) or are_written_out(scop, tree, path):
            continue
        members = range(band_at(tree, path).band_n_member())
        serial = _are_serial(scop, dependences, tree, inner)
        if any(
            _gain(scop, tree, path, [one], member, serial=serial).pays for one in inner for member in members
        ):
            yield path


def _below(paths: Sequence[Path], path: Path) -> list[Path]:
    return [other for other in paths if other != path and other[: len(path)] == path]


def _stripped(
    scop: Scop, dependences: Dependences, tree: isl.Schedule, path: Path
) -> tuple[isl.Schedule, tuple[str, ...]] | None:
    """Strips of a parallel loop of the band at ``path`` innermost; None where there is none or that does not pay.

    In a permutable band the loop over strips comes first of all, so that threads share it; where another loop is
    parallel, threads share that one, since there may be a strip or two only.
    """
    walk = [other for other, _ in bands(tree)]
    inner = _below(walk, path)
    found = band_properties(scop, dependences, tree)[walk.index(path)]
    count = len(found.members)
    names = _names(tree, path)
    serial = _are_serial(scop, dependences, tree, inner)
    for member in _movable(found) if inner else ():
        if not _gain(scop, tree, path, inner, member, serial=serial).pays:
            continue
        order = [other for other in range(count) if other != member]
        first = 0 if found.permutable else member
        shared = [other for other in order if found.permutable and found.members[other].coincident]
        if shared:
            order = [shared[0], *(other for other in order if other != shared[0])]
            first = 1
        changed, _ = permute_members(tree, path, (*order[:first], member, *order[first:]))
        changed, alone = isolate_member(changed, path, first)
        changed = split_into_tiles(changed, alone, (STRIP,), scaled=True)
        changed = _sunk(changed, (*alone, 0))
        if is_legal(scop, changed, known=dependences):
            return changed, names
    return None


def _movable(found: BandProperties) -> list[int]:
    """The members that may move inside everything below, as far as their band tells."""
    if found.permutable:
        return [position for position, member in enumerate(found.members) if member.coincident]
    return [len(found.members) - 1] if found.members[-1].parallel else []


def _sunk(tree: isl.Schedule, points: Path) -> isl.Schedule:
    """The loop at ``points`` inside all loops below it."""
    return band_at(tree, points).band_sink().get_schedule()


def _parted(
    scop: Scop, dependences: Dependences, tree: isl.Schedule, path: Path
) -> tuple[isl.Schedule, tuple[str, ...]] | None:
    """The last loop of the band at ``path`` in two, one of which runs in strips: what the other does first ties
    the iterations of the whole loop together."""
    count = band_at(tree, path).band_n_member()
    if kind_of(band_at(tree, path).child(0)) != "sequence":
        return None
    alone = path
    if count > 1:
        tree, alone = split_band(tree, path, count - 1), (*path, 0)
    shape = shape_of(tree)
    loops = loops_at(shape, alone)
    assert isinstance(loops.child, Branches)
    for cut in range(1, len(loops.child.parts)):
        parted = with_part(shape, alone, sequence_of(_halves(loops, loops.child, cut)))
        candidate = tree_of(tree.get_domain(), parted)
        if not is_legal(scop, candidate, known=dependences):
            continue
        for half in (1, 0):
            changed = _stripped(scop, dependences, candidate, (*alone, half, 0))
            if changed is not None:
                return changed
    return None


def _halves(loops: Loops, branches: Branches, cut: int) -> list[Part]:
    halves = []
    for parts in (branches.parts[:cut], branches.parts[cut:]):
        instances = parts[0].instances
        for part in parts[1:]:
            instances = instances.union(part.instances)
        halves.append(Part(Loops(sequence_of(parts), (restricted(loops.rows[0], instances),)), instances))
    return halves


def _are_serial(scop: Scop, dependences: Dependences, tree: isl.Schedule, inner: Sequence[Path]) -> bool:
    """Whether no innermost loop of the bands at ``inner`` is parallel: vectors of one would be sums, at best."""
    walk = [path for path, _ in bands(tree)]
    found = dict(zip(walk, band_properties(scop, dependences, tree), strict=True))
    return not any(found[path].members[-1].parallel for path in inner if not _below(inner, path))


def _moving(scop: Scop, tree: isl.Schedule, path: Path) -> list[_Moving]:
    """The statements in the innermost band at ``path``."""
    band = band_at(tree, path)
    prefix = band.get_prefix_schedule_multi_union_pw_aff()
    rows = prefix.flat_range_product(band.band_get_partial_schedule())
    found = []
    for statement in map(scop.statement, statements_under(band)):
        own = statement_rows(rows, statement)
        found.append(_Moving(statement, own, motions(statement, own, len(own) - 1, parts=True)))
    return found


def _gain(
    scop: Scop, tree: isl.Schedule, path: Path, inner: Sequence[Path], member: int, *, serial: bool
) -> _Gain:
    """What changes when one loop of the band at ``path`` takes the place of the innermost loops of ``inner``."""
    around = band_at(tree, path)
    position = around.get_prefix_schedule_multi_union_pw_aff().dim(isl.dim_type.out) + member
    better = worse = 0
    frees = serial
    innermost = [one for one in inner if not _below(inner, one)]
    for one in innermost:
        for moving in _known.of(tree, (scop, one), partial(_moving, scop, tree, one)):
            outside, inside = motions(moving.statement, moving.rows, position, parts=True), moving.inside
            for out, into in zip(outside or (), inside or (), strict=False):
                better += out.locality == "unit" and into.locality == "strided"
                worse += out.locality == "strided" and into.locality != "strided"
                wanted = ("unit",) if out.access.kind == "write" else ("unit", "temporal")
                frees = frees and out.locality in wanted
            frees = frees and bool(outside)
    return _Gain(better, worse, frees)


def _said(names: tuple[str, ...]) -> Decision:
    text = (
        f"strips of {STRIP} iterations of the parallel loop run innermost, along memory, where the loops inside it "
        "jump from line to line or only add up"
    )
    return Decision("strip", text, names, {"strip": STRIP})


def _said_of_shares(names: tuple[str, ...]) -> Decision:
    text = (
        f"threads share strips of the innermost loop, the only parallel one: {SHARE} iterations each, or, in c, an "
        "equal share for each thread where they have the same to do"
    )
    return Decision("strip", text, names, _DETAILS_OF_SHARES)

"""Rows together: several rows of a matrix in one pass over its columns, so that what they share is loaded once.

Row by row, ``x[i] += A[i, j] * y[j]`` loads all of ``y`` for each row, and ``s[j] += r[i] * A[i, j]`` loads and stores
all of ``s``: as much traffic as the matrix makes itself. Four rows in one loop over the columns do that once. The loop
over rows is unrolled and jammed into the one over columns (Callahan, Carr, Kennedy, "Improving Register Allocation for
Subscripted Variables", 1990), which is legal where the two may be exchanged, and isl decides. Sums of rows side by side
are printed as panels (``polyviz.codegen.panels_c``), all else by ``polyviz.codegen.jam_c``. A temporary of each row
(``t = 0.0`` before its columns, ``x[i] = t`` after them) then has a cell per row: several of them are alive together.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.analysis.order_below import keeps_order_below
from polyviz.analysis.strides import motions, statement_row
from polyviz.analysis.trip_counts import SHORT, longest
from polyviz.mapping.accumulate import find_accumulations
from polyviz.mapping.full_tiles import MAXIMUM_PIECES
from polyviz.model.plan import END, JAM, PARALLEL, POINTS, REDUCED, UNROLL_JAM, VECTOR, FullTiles
from polyviz.model.schedule import Decision
from polyviz.transform.shape import (
    LEAF,
    Branches,
    Loops,
    Marked,
    Part,
    Shape,
    part_at,
    restricted,
    sequence_of,
    shape_of,
    statements_in,
    tree_of,
    with_part,
)
from polyviz.transform.tree import kind_of, node_at, path_of, walk

if TYPE_CHECKING:
    from polyviz.mapping.marked import Mapped
    from polyviz.model.dependences import Dependences
    from polyviz.model.processor import Processor
    from polyviz.model.scop import Scop
    from polyviz.transform.tree import Path

ROWS = 4
"""Rows in one pass: each one more saves less, and is one more stream that the processor has to fetch ahead."""
LONGEST = 64
"""Bytes of the longest vectors."""
STREAMS = 4
"""Rows of matrices at once, where vectors have 64 bytes or nobody knows: more ran at 0.83 times the speed of one after
the other. A vector of each then asks for 256 bytes, and shorter vectors ask for as many of more rows."""
MOST_STREAMS = 8
"""No more than that were measured: with vectors of 32 bytes, at 1.25 times the speed of one after the other."""


@dataclass(frozen=True, slots=True)
class _Nest:
    """What one part of a row does: ``inside`` is its loop over columns ``column`` with marks, ``body`` what it does,
    or ``inside`` is all, without a loop. ``mark`` is the kind of mark for rows that run together, empty where they
    share nothing, and ``shared`` are the arrays that they share."""

    part: Part
    inside: Shape
    column: isl.UnionPwAff | None = None
    body: Shape = LEAF
    mark: str = ""
    shared: tuple[str, ...] = ()


def jam_rows(scop: Scop, dependences: Dependences, mapped: Mapped, processor: Processor | None) -> Mapped:
    """``mapped`` with rows together in each loop that threads share and whose iterations are passes over columns."""
    streams = _streams(processor)
    private = {found.array for found in dependences.privatizations if found.depth > 1}
    found, _ = find_accumulations(scop, mapped.tree, None)
    sums = frozenset(one.statement for one in found if one.lanes and one.operator == "+")
    for path in _shared_loops(mapped.tree):
        nests = _nests(scop, mapped.tree, path, sums, private, streams)
        if not any(nest.mark for nest in nests):
            continue
        if keeps_order_below(scop, dependences, _with_rows(mapped.tree, path, nests, exchanged=True), path):
            mapped = _jammed(mapped, path, nests)
    return mapped


def _streams(processor: Processor | None) -> int:
    """How many rows of matrices ``processor`` reads at once."""
    vector_bytes = LONGEST if processor is None else processor.vector_bytes
    return min(STREAMS * LONGEST // vector_bytes, MOST_STREAMS)


def _jammed(mapped: Mapped, path: Path, nests: tuple[_Nest, ...]) -> Mapped:
    loop = part_at(shape_of(mapped.tree), path).children[0]
    assert isinstance(loop, Loops)
    full = _full_blocks(mapped.tree.get_domain(), loop.rows[0], nests)
    mark = "" if full is None else f"{POINTS}:rows{len(mapped.full_tiles)}"
    tiles = () if full is None else (FullTiles(mark, full),)
    return replace(
        mapped,
        tree=_with_rows(mapped.tree, path, nests, mark=mark),
        full_tiles=(*mapped.full_tiles, *tiles),
        decisions=(*mapped.decisions, _said(nests)),
    )


def _shared_loops(tree: isl.Schedule) -> list[Path]:
    """The marks above outermost loops that threads share."""
    marks = [node for node in walk(tree) if kind_of(node) == "mark" and node.get_schedule_depth() == 0]
    return [path_of(node) for node in marks if _kind(node.mark_get_id().get_name()) in (PARALLEL, REDUCED)]


def _kind(name: str) -> str:
    return name.partition(":")[0]


def _nests(
    scop: Scop, tree: isl.Schedule, path: Path, sums: frozenset[str], private: set[str], streams: int
) -> tuple[_Nest, ...]:
    """The passes over columns inside the loop under the mark at ``path``; none where there is anything else in it."""
    match part_at(shape_of(tree), path):
        case Marked(child=Loops(rows=(row,), child=Marked(name=name, child=body))) if name == END:
            pass
        case _:
            return ()
    parts = body.parts if isinstance(body, Branches) else (Part(body, node_at(tree, path).get_domain()),)
    found = [_nest(scop, row, part, sums, private, streams) for part in parts]
    nests = tuple(nest for nest in found if nest is not None)
    return nests if len(nests) == len(found) else ()


def _nest(
    scop: Scop, row: isl.UnionPwAff, part: Part, sums: frozenset[str], private: set[str], streams: int
) -> _Nest | None:
    names = statements_in(part.instances)
    used = {access.array for name in names for access in scop.statement(name).accesses}
    if used & private:
        return None
    match part.child:
        case Marked(name=name, child=Loops(rows=(column,), child=Marked(child=end))) if name == VECTOR:
            mark = UNROLL_JAM
        case Loops(rows=(column,), child=end):
            mark = JAM
        case straight if _is_straight(straight):
            return _Nest(part, straight)
        case _:
            return None
    if not _is_straight(end):
        return None
    wanted = _is_rectangle(scop, names, row, column) and (mark == UNROLL_JAM or sums.issuperset(names))
    shared = _shared(scop, names, row, column, streams) if wanted else ()
    return _Nest(part, part.child, column, end, mark if shared else "", shared)


def _is_straight(shape: Shape) -> bool:
    """Whether there is nothing but statements in ``shape``, one after the other."""
    return shape is LEAF or (isinstance(shape, Branches) and all(part.child is LEAF for part in shape.parts))


def _is_rectangle(scop: Scop, names: tuple[str, ...], row: isl.UnionPwAff, column: isl.UnionPwAff) -> bool:
    """Whether all rows have the same columns, and enough rows to share."""
    for name in names:
        domain = isl.UnionSet.from_set(scop.statement(name).domain)
        places = isl.UnionMap.from_union_pw_aff(row).flat_range_product(isl.UnionMap.from_union_pw_aff(column))
        plane = isl.Set.from_union_set(domain.apply(places))
        rows, columns = (plane.project_out(isl.dim_type.set, other, 1) for other in (1, 0))
        if not plane.is_equal(rows.flat_product(columns)) or longest(rows, 0) < SHORT:
            return False
    return True


def _shared(
    scop: Scop, names: tuple[str, ...], row: isl.UnionPwAff, column: isl.UnionPwAff, streams: int
) -> tuple[str, ...]:
    """The arrays of which all rows use the same elements, each column others; none where all rows together read more
    than ``streams`` rows of matrices."""
    shared: dict[str, None] = {}
    own: set[str] = set()
    for name in names:
        statement = scop.statement(name)
        rows = [statement_row(one, statement) for one in (row, column)]
        down, along = motions(statement, rows, 0), motions(statement, rows, 1)
        if down is None or along is None:
            return ()  # some access moves in no simple way
        for one, other in zip(down, along, strict=True):
            if one.locality != "temporal" and other.locality != "temporal":
                own.add(one.access.array)
            elif other.locality == "unit":
                shared[one.access.array] = None
    return tuple(shared) if len(own) * ROWS <= streams else ()


def _with_rows(
    tree: isl.Schedule, path: Path, nests: tuple[_Nest, ...], *, mark: str = "", exchanged: bool = False
) -> isl.Schedule:
    """``tree`` with the loop under the mark at ``path`` in blocks of rows, and in each block one nest after the other.

    ``mark`` is for the inside of a block, empty for none. ``exchanged``: rows that run together run inside the columns,
    which shows whether they may.
    """
    shape = shape_of(tree)
    marked = part_at(shape, path)
    assert isinstance(marked, Marked)
    assert isinstance(marked.child, Loops)
    (row,) = marked.child.rows
    body = sequence_of(Part(_rows(row, nest, exchanged=exchanged), nest.part.instances) for nest in nests)
    inside = Marked(body, mark) if mark else body
    blocks = replace(marked.child, rows=(_blocks_of(row),), child=Marked(inside, END))
    return tree_of(tree.get_domain(), with_part(shape, path, replace(marked, child=blocks)))


def _rows(row: isl.UnionPwAff, nest: _Nest, *, exchanged: bool) -> Shape:
    own = restricted(row, nest.part.instances)
    if not nest.mark:
        return Loops(nest.inside, (own,))
    if exchanged and nest.column is not None:
        return Loops(nest.body, (restricted(nest.column, nest.part.instances), own))
    return Marked(Loops(Marked(nest.inside, END), (own,)), f"{nest.mark}:{ROWS}")


def _full_blocks(domain: isl.UnionSet, row: isl.UnionPwAff, nests: tuple[_Nest, ...]) -> isl.Set | None:
    """The first rows of the blocks in which every part has all its rows, where something is done before or after the
    columns: in loops of a constant length the compiler keeps what belongs to a row in registers.

    None where there is nothing of the kind, or where the question has a long answer.
    """
    if all(nest.column is not None for nest in nests):
        return None
    in_block = isl.Map(f"{{ [first] -> [row] : first mod {ROWS} = 0 and first <= row < first + {ROWS} }}")
    full, blocks = in_block.domain(), isl.Set("{ [first] : false }")
    for nest in nests:
        rows = isl.Set.from_union_set(domain.intersect(nest.part.instances).apply(isl.UnionMap.from_union_pw_aff(row)))
        full = full.subtract(in_block.subtract_range(rows).domain())
        blocks = blocks.union(in_block.intersect_range(rows).domain())
    full = full.coalesce()
    return full.gist(blocks.coalesce()) if 0 < full.n_basic_set() <= MAXIMUM_PIECES else None


def _blocks_of(row: isl.UnionPwAff) -> isl.UnionPwAff:
    """The first row of the block of each row."""
    size = isl.Val(ROWS)
    return row.scale_down_val(size).floor().scale_val(size)


def _said(nests: tuple[_Nest, ...]) -> Decision:
    arrays = tuple(dict.fromkeys(array for nest in nests for array in nest.shared))
    names = tuple(name for nest in nests if nest.mark for name in statements_in(nest.part.instances))
    text = f"{ROWS} rows run together, and what they use of {' and '.join(arrays)} is loaded once for all of them"
    return Decision("jam", text, names, {"rows": ROWS, "shared": arrays})

"""Held tiles: cells of sums over several loops that stay in vector registers, with operands read where they are.

A convolution adds products of an image and of weights over two loops or more, and the subscripts of the image are sums
of loops: no three of its loops multiply two matrices, and what a tile of cells reads is no box that would be packed.
But a vector of the image serves several cells that lie side by side in another loop (the output channels), and a weight
serves all cells along memory. So a tile of some rows and some vectors of cells stays in registers through all loops of
the sum, each cell with its terms in their order. Which loops are rows and columns follows from how each access moves.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.analysis import band_properties
from polyviz.analysis.order_below import keeps_order_below
from polyviz.analysis.privatization import copies_of
from polyviz.analysis.strides import access_rows, rank
from polyviz.analysis.trip_counts import longest
from polyviz.mapping.register_tile import require_simple
from polyviz.mapping.roles import RefusedError
from polyviz.mapping.storage import scatters
from polyviz.mapping.work import region_extents
from polyviz.model.expression import Assign, Binary, Constant, Element, Unary
from polyviz.model.plan import (
    COLLAPSED,
    END,
    HELD_COLUMNS,
    HELD_ROWS,
    INTERLEAVE,
    JAM,
    LONGEST_WINDOW,
    PARALLEL,
    POINTS,
    UNROLL,
    UNROLL_JAM,
    VECTOR,
    ParallelWork,
)
from polyviz.model.schedule import Decision
from polyviz.transform.shape import (
    LEAF,
    Branches,
    Loops,
    Marked,
    loops_around,
    part_at,
    shape_of,
    tree_of,
    with_part,
)
from polyviz.transform.tree import bands, kind_of, path_of, walk

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from polyviz.analysis.strides import Row
    from polyviz.mapping.marked import Mapped
    from polyviz.model.dependences import Dependences
    from polyviz.model.expression import Expression
    from polyviz.model.processor import Processor
    from polyviz.model.scop import Access, Scop, Statement
    from polyviz.transform.shape import Shape
    from polyviz.transform.tree import Path

_DOUBLE = 8
_ARITHMETIC = ("+", "-", "*", "/")
SHARE = 512
"""Columns of a strip that threads share where there are no other loops for them: a multiple of all tiles."""
ROWS = 16
"""Rows of a strip that threads share where tiles take several of a window's rows: a multiple of these."""
_REPLACED = ("strip", "tile", "reorder", "parallel", "interleave", "no-register-tile")
"""Steps of decisions that do not hold for a nest whose loops have another order now."""
_PLAIN_MARKS = (PARALLEL, COLLAPSED, VECTOR, END, JAM, UNROLL_JAM, POINTS, INTERLEAVE, UNROLL)
"""Marks of nests that nothing better than vector loops and threads was found for."""


@dataclass(frozen=True, slots=True)
class HeldLoops:
    """What each iterator of a statement is for: those of ``outer`` go around the tiles, ``row`` (None for none) and
    ``column`` move the cells of a tile, the sum runs over ``depth``. ``shared`` are the arrays whose vectors serve
    several rows of a tile; ``window``: in different steps of the sum."""

    outer: tuple[int, ...]
    row: int | None
    column: int
    depth: tuple[int, ...]
    shared: tuple[str, ...]
    window: bool = False

    @property
    def in_strips(self) -> bool:
        """Whether threads share strips of columns, too: a single loop around tiles may be short, that over a batch."""
        return not self.window and (not self.outer or (self.row is not None and len(self.outer) == 1))


def hold_tiles(scop: Scop, dependences: Dependences, mapped: Mapped, processor: Processor) -> Mapped:
    """``mapped`` with the cells of sums in registers of ``processor`` in each outermost nest where that pays."""
    for path, statement in _nests(scop, mapped.tree):
        try:
            found = held_loops(scop, dependences, statement, processor.lanes(_DOUBLE))
        except RefusedError:
            continue
        changed = _held(scop, dependences, mapped, path, statement, found)
        mapped = changed if changed is not None else mapped
    return mapped


def _nests(scop: Scop, tree: isl.Schedule) -> Iterator[tuple[Path, Statement]]:
    """The outermost nests that hold all instances of one statement and nothing else, by plain loops."""
    shape = shape_of(tree)
    for node in walk(tree):
        if node.get_schedule_depth() or kind_of(node) not in ("band", "mark") or kind_of(node.parent()) == "mark":
            continue
        names = _plain_statement(part_at(shape, path_of(node)))
        instances = node.get_domain()
        if not names or instances.n_set() != 1:
            continue
        statement = scop.statement(isl.Set.from_union_set(instances).get_tuple_name())
        if isl.UnionSet.from_set(statement.domain).is_equal(instances):
            yield path_of(node), statement


def _plain_statement(shape: Shape) -> bool:
    """Whether there is nothing but loops in ``shape``, and marks that say no more than which of them are shared."""
    while isinstance(shape, Loops | Marked):
        if isinstance(shape, Marked) and shape.name.partition(":")[0] not in _PLAIN_MARKS:
            return False
        shape = shape.child
    return not isinstance(shape, Branches) and not shape.children


def held_loops(scop: Scop, dependences: Dependences, statement: Statement, lanes: int) -> HeldLoops:
    """What each loop of ``statement`` is for, where vectors have so many ``lanes``.

    Raises RefusedError where the accesses do not move as held tiles need it, or give nothing to use again.
    """
    require_simple(scop, dependences, statement)
    _require_sum(statement)
    count = len(statement.iterators)
    [write] = [access for access in statement.accesses if access.kind == "write"]
    cells = _cells(write, count, copies_of(dependences).get(write.array, 0))
    moves = [tuple(row[iterator] for row in cells) for iterator in range(count)]
    depth = tuple(iterator for iterator, change in enumerate(moves) if not any(change))
    unit = [iterator for iterator, change in enumerate(moves) if change and change[-1] == 1 and not any(change[:-1])]
    others = tuple(iterator for iterator, change in enumerate(moves) if any(change[:-1]))
    if not depth or len(unit) != 1 or len(depth) + 1 + len(others) != count or rank(cells) != 1 + len(others):
        raise RefusedError(f"{write.array} is not updated along loops of a sum, and contiguous along another one")
    column = unit[0]
    if longest(statement.domain, column) < lanes:
        raise RefusedError("its rows are shorter than a vector")
    if any(one.array == write.array and not one.relation.is_equal(write.relation) for one in statement.accesses):
        raise RefusedError(f"the sums read other cells of {write.array}")
    reads = [(access, _cells(access, count, 0)) for access in statement.accesses if access.array != write.array]
    if any(rows and not _lies_along(rows, column) for _, rows in reads):
        raise RefusedError("an operand jumps along the cells")
    along = [(access.array, rows) for access, rows in reads if rows and rows[-1][column]]
    if not along or any(rank(rows) == count for _, rows in along):
        raise RefusedError("no operand is used again")
    row = next((one for one in reversed(others) if not any(line[one] for _, rows in along for line in rows)), None)
    window = None if row is not None else _window_row(statement, others, depth, [rows for _, rows in along])
    row = row if window is None else window
    if not _is_rectangle(statement, depth, (column,) if row is None else (row, column)):
        raise RefusedError("its sums have different steps")
    outer = tuple(one for one in others if one != row)
    shared = tuple(dict.fromkeys(array for array, _ in along)) if row is not None else ()
    return HeldLoops(outer, row, column, depth, shared, window is not None)


def _window_row(
    statement: Statement, rows: Sequence[int], depth: Sequence[int], along: Sequence[Sequence[Row]]
) -> int | None:
    """The last of ``rows`` that moves all that lies ``along`` memory just as some short loop of the sum does."""
    for row in reversed(rows):
        for step in depth:
            alike = all(line[row] == line[step] for lines in along for line in lines)
            if alike and longest(statement.domain, step) <= LONGEST_WINDOW:
                return row
    return None


def _require_sum(statement: Statement) -> None:
    """Refuse what does not build on the cell that it updates, and what vectors do not compute as single numbers."""
    assign = statement.body[0]
    if len(statement.body) != 1 or not isinstance(assign, Assign):
        raise RefusedError("the statement is more than one assignment")
    parts = list(_parts(assign.value))
    if assign.operator is None and assign.target not in parts:
        raise RefusedError("the new value does not build on the old one")
    if assign.operator not in (None, *_ARITHMETIC) or not all(map(_is_arithmetic, parts)):
        raise RefusedError("it is no sum of products")


def _parts(value: Expression) -> Iterator[Expression]:
    """``value`` and its parts, without what is in subscripts."""
    yield value
    if isinstance(value, Unary):
        yield from _parts(value.operand)
    elif isinstance(value, Binary):
        yield from _parts(value.left)
        yield from _parts(value.right)


def _is_arithmetic(part: Expression) -> bool:
    match part:
        case Element() | Constant() | Unary("-"):
            return True
        case Binary(operator):
            return operator in _ARITHMETIC
    return False


def _cells(access: Access, count: int, copies: int) -> list[Row]:
    """How the subscripts of ``access`` move; a temporary has one copy for each of so many outer iterations."""
    if copies:
        return [tuple(Fraction(place == level) for place in range(count)) for level in range(copies)]
    return access_rows(access, count) or []


def _lies_along(rows: Sequence[Row], column: int) -> bool:
    """Whether the next column of an access is the same element, the next one in memory, or the one after that."""
    return rows[-1][column] in (0, 1, 2) and not any(row[column] for row in rows[:-1])


def _is_rectangle(statement: Statement, depth: Sequence[int], tile: Sequence[int]) -> bool:
    """Whether all cells of a tile have the same steps, and all rows of it the same columns."""
    constraints = [one for part in statement.domain.get_basic_sets() for one in part.get_constraints()]
    inner = (*tile, *depth)
    for one in constraints:
        involved = [place for place in inner if one.involves_dims(isl.dim_type.set, place, 1)]
        if len(involved) > 1 and any(place in tile for place in involved):
            return False
    return True


def _held(
    scop: Scop, dependences: Dependences, mapped: Mapped, path: Path, statement: Statement, found: HeldLoops
) -> Mapped | None:
    """``mapped`` with the nest at ``path`` around held tiles; None where that order is not legal."""
    outer = [_row(statement, iterator) for iterator in found.outer]
    if found.in_strips:
        outer.append(_strips(_row(statement, found.column), SHARE))
    if found.window and found.row is not None:
        outer.append(_strips(_row(statement, found.row), ROWS))
    row = () if found.row is None else (_row(statement, found.row),)
    tile, depth = (*row, _row(statement, found.column)), [_row(statement, one) for one in found.depth]
    shape = shape_of(mapped.tree)
    plain = with_part(shape, path, Loops(loops_around(depth, LEAF), (*outer, *tile)))
    tree = tree_of(mapped.tree.get_domain(), plain)
    if not _is_legal(scop, dependences, tree, path) or scatters(scop, dependences, mapped.tree, tree):
        return None
    mark = f"{PARALLEL}:{statement.name}"
    nest = _marked(outer, tile, depth, mark)
    names = (statement.name,)
    kept = (one for one in mapped.decisions if one.statements != names or one.step not in _REPLACED)
    return replace(
        mapped,
        tree=tree_of(mapped.tree.get_domain(), with_part(shape, path, nest)),
        work=(*mapped.work, ParallelWork(mark, region_extents(scop, names, ()))),
        decisions=(*kept, *_said(statement, found)),
    )


def _row(statement: Statement, iterator: int) -> isl.UnionPwAff:
    """The row of a schedule that runs along one iterator of ``statement``."""
    local = isl.LocalSpace.from_space(statement.domain.get_space())
    value = isl.PwAff.from_aff(isl.Aff.var_on_domain(local, isl.dim_type.set, iterator))
    return isl.UnionPwAff.from_pw_aff(value.intersect_domain(statement.domain))


def _strips(row: isl.UnionPwAff, count: int) -> isl.UnionPwAff:
    """The first of so many columns, or rows, that a thread takes at once."""
    size = isl.Val(count)
    return row.scale_down_val(size).floor().scale_val(size)


def _is_legal(scop: Scop, dependences: Dependences, tree: isl.Schedule, path: Path) -> bool:
    """Whether what depends on something runs after it in each iteration of the band at ``path``, and in no other one:
    its loops may then run on threads, and in tiles around or inside the loops below."""
    if not keeps_order_below(scop, dependences, tree, path):
        return False
    walk = zip(bands(tree), band_properties(scop, dependences, tree), strict=True)
    found = next(properties for (place, _), properties in walk if place == path)
    return all(member.coincident for member in found.members)


def _marked(
    outer: Sequence[isl.UnionPwAff], tile: Sequence[isl.UnionPwAff], depth: Sequence[isl.UnionPwAff], mark: str
) -> Shape:
    """The nest with its marks: threads share the first two of the ``outer`` loops."""
    nest: Shape = loops_around(depth, LEAF)
    for row, name in zip(reversed(tile), (HELD_COLUMNS, HELD_ROWS), strict=False):
        nest = Marked(Loops(Marked(nest, END), (row,)), name)
    nest = loops_around(outer[2:], nest)
    for row, name in reversed(tuple(zip(outer, (mark, COLLAPSED), strict=False))):
        nest = Marked(Loops(Marked(nest, END), (row,)), name)
    return nest


def _said(statement: Statement, found: HeldLoops) -> tuple[Decision, Decision]:
    names = statement.iterators
    cells, again = f"vectors of cells along {names[found.column]}", ""
    if found.row is not None:
        cells = f"tiles of cells along {names[found.row]} and {names[found.column]}"
        which = "several" if found.window else "all"
        again = f", and what is loaded of {' and '.join(found.shared)} serves {which} rows of a tile"
    sums = " and ".join(names[one] for one in found.depth)
    text = f"{cells} stay in registers while the sum over {sums} runs; operands are read where they are{again}"
    loops = [f"the loop over {names[one]}" for one in found.outer]
    loops += [f"strips of {SHARE} iterations of {names[found.column]}"] if found.in_strips else []
    loops += [f"strips of {ROWS} iterations of {names[found.row]}"] if found.window and found.row is not None else []
    threads = f"threads share {' and '.join(loops[:2])}"
    return (
        Decision("held-tile", text, (statement.name,)),
        Decision("parallel", threads, (statement.name,)),
    )

"""Row blocks: several rows of a stencil run together, so that what neighbours share is loaded once.

A stencil reads each element of a row for itself and for its neighbours on all sides. Loaded anew every time, from
addresses that lie across cache lines, these elements keep the load units busy several times longer than the arithmetic
lasts. With a few rows in one vector loop a row that was loaded serves the rows above and below it from registers, and
what is to its left and right comes from shifted registers (``polyviz.codegen.row_blocks_c``). For that the statements
of the band take turns: a few rows of the first, then as many of the second.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.analysis import band_properties
from polyviz.analysis.order_below import keeps_order_below
from polyviz.analysis.strides import motions, statement_rows
from polyviz.mapping.innermost import mark_last, mark_loop
from polyviz.mapping.storage import scatters
from polyviz.model.plan import JAM, VECTOR
from polyviz.model.schedule import Decision
from polyviz.transform.interchange import permute_members
from polyviz.transform.tree import band_at, bands, members, replace_rows, split_band, statements_under

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyviz.model.dependences import Dependences
    from polyviz.model.processor import Processor
    from polyviz.model.scop import Scop, Statement
    from polyviz.transform.tree import Path

MANY_REGISTERS = 32
"""Vector registers from which on four rows fit, each with its neighbours; two do in half as many."""


def rows_together(
    scop: Scop,
    dependences: Dependences,
    tree: isl.Schedule,
    path: Path,
    order: Sequence[int],
    processor: Processor,
) -> int | str:
    """How many rows of the permutable band at ``path``, its members in ``order``, run together; else, why none do.

    That takes rows and columns which are parallel once each statement has loops of its own, in an order that isl finds
    legal, and a statement that reads neighbouring elements.
    """
    if len(order) < 3:
        return "it takes loops over rows and columns inside the one over time"
    tree, _ = permute_members(tree, path, order)
    if not any(_has_neighbours(scop, tree, path, name) for name in statements_under(band_at(tree, path))):
        return "no statement reads neighbours in a row of memory"
    count = 4 if processor.vector_registers >= MANY_REGISTERS else 2
    blocks = _taking_turns(tree, path, count)
    if not keeps_order_below(scop, dependences, blocks, path):
        return "statements that take turns would compute something before what it needs"
    if scatters(scop, dependences, tree, blocks):
        return "a temporary of one iteration would need an array"
    inner = _inner(blocks, path)
    walk = zip(bands(blocks), band_properties(scop, dependences, blocks), strict=True)
    found = [properties for (place, _), properties in walk if place in inner]
    if not all(member.coincident for band in found for member in band.members):
        return "rows or columns wait for each other"
    return count


def block_rows(tree: isl.Schedule, points: Path, count: int) -> isl.Schedule:
    """The band at ``points``, its rows next to last and its columns last, with ``count`` rows at a time."""
    tree = _taking_turns(tree, points, count)
    for place in reversed(_inner(tree, points)):
        tree = mark_last(tree, place, VECTOR)
        tree = mark_loop(tree, place, 0, f"{JAM}:{count}")
    return tree


def row_block_decision(statements: tuple[str, ...], count: int) -> Decision:
    """What is said of a band whose rows run together."""
    text = (
        f"the statements take turns, {count} rows each, in one vector loop: neighbouring rows are loaded once, and "
        "neighbours in a row come from shifted vector registers"
    )
    return Decision("row-blocks", text, statements)


def no_row_block_decision(statements: tuple[str, ...], reason: str) -> Decision:
    """What is said of a stencil whose rows run one by one."""
    return Decision("row-blocks", f"rows run one at a time, not several in one vector loop: {reason}", statements)


def _taking_turns(tree: isl.Schedule, path: Path, count: int) -> isl.Schedule:
    """Groups of ``count`` rows outside, then the other loops, then rows and columns of one statement after the other.

    All steps of the time go over a group before the next one: its rows are in the first-level cache by then.
    """
    rows = members(band_at(tree, path))
    groups = rows[-2].scale_down_val(isl.Val(count)).floor()
    tree = replace_rows(tree, path, [groups, *rows], coincident=(False,) * (len(rows) + 1))
    tree = split_band(tree, path, len(rows) - 1)
    return band_at(tree, (*path, 0)).band_sink().get_schedule()


def _inner(tree: isl.Schedule, path: Path) -> list[Path]:
    """The bands below the one at ``path``."""
    return [place for place, _ in bands(tree) if place[: len(path)] == path and place != path]


def _has_neighbours(scop: Scop, tree: isl.Schedule, path: Path, name: str) -> bool:
    """Whether the statement reads several elements of one array, and runs along memory in the last loop."""
    statement = scop.statement(name)
    reads = Counter(access.array for access in statement.accesses if access.kind == "read")
    return max(reads.values(), default=0) > 1 and _runs_along_memory(tree, path, statement)


def _runs_along_memory(tree: isl.Schedule, path: Path, statement: Statement) -> bool:
    band = band_at(tree, path)
    around = band.get_prefix_schedule_multi_union_pw_aff()
    rows = statement_rows(around.flat_range_product(band.band_get_partial_schedule()), statement)
    last = motions(statement, rows, len(rows) - 1)
    before = motions(statement, rows, len(rows) - 2)
    if not last or not before:
        return False
    return all(found.locality != "strided" for found in last) and any(
        found.locality == "strided" for found in before
    )

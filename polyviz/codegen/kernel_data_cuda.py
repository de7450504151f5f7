"""A printed kernel as data: arguments, grid, accesses, and what was decided about the memory of its arrays."""

from __future__ import annotations

import re
from math import prod
from typing import TYPE_CHECKING, Literal

from polyviz.analysis.footprints import operations_of
from polyviz.codegen.bodies import bound_expression, grid_ends
from polyviz.codegen.loops import plus_one
from polyviz.model.device import coordinate
from polyviz.model.device_program import AccessSite, KernelText, Promotion
from polyviz.model.expression import Binary, Constant, Expression
from polyviz.model.words import plural

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from polyviz.codegen.kernel_cuda import KernelBody
    from polyviz.codegen.staged_tiles import StagedTile
    from polyviz.codegen.trees_cuda import TreeText
    from polyviz.model.device import GridEnds
    from polyviz.model.staging import StagedRun


def described(body: KernelBody, first: int) -> KernelText:
    """The kernel as data."""
    kernel = body.kernel
    by_axis = {axis.axis: axis.size for axis in kernel.threads}
    grid = {axis.axis: _count(ends) for axis, ends in zip(kernel.blocks, kernel.grid, strict=True)}
    one: Expression = Constant(1)
    return KernelText(
        name=body.name,
        statements=kernel.statements,
        arguments=body.arguments(),
        host=tuple(coordinate("host", str(place)) for place in range(len(kernel.host_names))),
        block=(by_axis.get("x", 1), by_axis.get("y", 1), by_axis.get("z", 1)),
        grid=(grid.get("x", one), grid.get("y", one), grid.get("z", one)),
        axes=tuple(f"{axis.axis}: {statement_rows(axis.texts)}" for axis in reversed(kernel.threads)),
        barriers=(
            *(barrier.protects for barrier in kernel.barriers),
            *(f"the tiles of {', '.join(b.array for b in run.boxes)} are copied" for run in kernel.runs),
            *(_tree_barrier(tree) for tree in body.trees),
        ),
        phases=kernel.phases,
        sites=tuple(_sites(body, first)),
        promotions=tuple(_promotions(body)),
        index=body.width.bound,
    )


def _promotions(body: KernelBody) -> Iterator[Promotion]:
    arrays = body.owner.arrays
    for run in body.kernel.runs:
        names = body.owner.runs[run.name]
        for tile in names.tiles:
            size = prod(tile.extents) * arrays.itemsize(tile.box.array) * names.buffers
            together = 1 if tile.dealt is None else tile.dealt.vector
            reason = "; ".join((tile.box.reason, *_more_cells(tile, names.buffers)))
            yield Promotion(tile.box.array, "shared", tile.extents, size, reason, together)
        for statement, register in names.registers.items():
            cells = tuple(size for _, size in run.elements)
            array = next(a.array for a in body.owner.scop.statement(statement).accesses if a.kind == "write")
            size = prod(cells) * arrays.itemsize(register)
            reason = f"one cell stays the same in the whole loop; {_estimate(body, run)}"
            yield Promotion(array, "register", cells, size, reason)
    for left in body.kernel.unstaged:
        yield Promotion(left.array, "global", (), 0, f"{', '.join(left.statements)}: {left.reason}")


def _more_cells(tile: StagedTile, buffers: int) -> Iterator[str]:
    """Why a tile takes more memory than its cells."""
    if tile.padding:
        yield f"every row ends with {plural(tile.padding, 'cell')} more, against bank conflicts"
    if buffers > 1:
        yield f"there are {buffers} of these tiles: one is copied while another is used"


def _estimate(body: KernelBody, run: StagedRun) -> str:
    """How much one thread computes in a step for what it reads from shared memory, by counting."""
    scop, arrays = body.owner.scop, body.owner.arrays
    cells = prod(size for _, size in run.elements)
    whole = sum(operations_of(scop.statement(name)).total() for name in run.statements)
    operations = cells * (whole - sum(body.hoisted.get(name, 0) for name in run.statements))
    tiles = body.owner.runs[run.name].tiles
    read = sum(tile.cells_per_step * arrays.itemsize(tile.box.array) for tile in tiles)
    return f"a step of a thread is {plural(operations, 'operation')} on {read} bytes of shared memory"


def _tree_barrier(tree: TreeText) -> str:
    rounds = tree.size.bit_length() - 1
    return f"the parts of {tree.tree.array} are joined by a tree: one before it, one after each of {rounds} rounds"


def _sites(body: KernelBody, first: int) -> list[AccessSite]:
    """The accesses from number ``first`` on."""
    return [
        _site(
            body,
            number,
            statement,
            _mode(body.text.lines[line - 1].lstrip()) if written is not None and number == begin + written else "read",
        )
        for begin, end, statement, line, written in body.sites
        for number in range(max(begin, first), end)
    ]


def _site(
    body: KernelBody, number: int, statement: str, mode: Literal["read", "write", "update"]
) -> AccessSite:
    reference = body.owner.arrays.references[number]
    return AccessSite(
        number=number,
        kernel=body.kernel.number,
        statement=statement,
        line=body.owner.scop.statement(statement).span.line,
        array=reference.array,
        text=reference.text,
        mode=mode,
        memory=reference.memory,
        access=reference.access,
        extents=body.owner.arrays.shared.get(reference.array, ()),
        itemsize=body.owner.arrays.itemsize(reference.array),
    )


def _count(ends: GridEnds) -> Expression:
    """How many blocks there are; functions of several pieces are subtracted as text, since isl would cut them up."""
    (low, *lower), (high, *upper) = ends.first, ends.last
    if not lower and not upper and low.n_piece() == high.n_piece() == 1:
        return bound_expression((high - low + 1).coalesce())
    first, last = grid_ends(ends)
    return plus_one(last) if first == Constant(0) else Binary("-", plus_one(last), first)


def statement_rows(texts: Mapping[str, str]) -> str:
    """The rows of statements along one axis, in the words of the source."""
    return " | ".join(dict.fromkeys(texts.values())) or "none"


def block_rows(texts: Mapping[str, str], size: int) -> str:
    """The rows along one axis of blocks, each of which holds ``size`` of their values.

    >>> block_rows({"S0": "i", "S1": "t + j"}, 16)
    'i / 16 | (t + j) / 16'
    """
    rows = (f"{row if row.isidentifier() else f'({row})'} / {size}" for row in dict.fromkeys(texts.values()))
    return " | ".join(rows) or "none"


def _mode(line: str) -> Literal["read", "write", "update"]:
    if line.startswith("copy_later"):
        return "write"
    found = re.match(r"[\w.<>]+(?:\[.*?\]|\(.*?\)) (.?)= ", line)
    if found is None:
        return "read"
    return "update" if found[1] else "write"

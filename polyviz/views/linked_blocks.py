"""Blocks and threads in the picture of the domain: who runs each drawn instance, with blocks of which several fit.

A block of a kernel often holds more iterations than a picture can show. The picture then has smaller blocks along the
same rows, and says of which they take the place.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from polyviz.views.linked_points import values_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import islpy as isl

    from polyviz.model.device_view import PlaceRule
    from polyviz.views.linked_points import Instances
    from polyviz.views.linked_schema import LinkedBlocksModel

_AXES = ("x", "y", "z")
_MOST_CELLS = 2
"""Cells of a thread along an axis of a smaller block, where it has several."""


@dataclass(frozen=True, slots=True)
class _Row:
    """A coordinate of blocks or of threads: ``size`` of its values make a block, or are shared by as many threads."""

    axis: str
    size: int
    values: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Rows:
    """The coordinates of all drawn instances of a statement, in their order."""

    kernel: int
    blocks: tuple[_Row, ...]
    threads: tuple[_Row, ...]
    count: int


@dataclass(frozen=True, slots=True)
class _Shape:
    """Iterations of a block, or threads, along each axis: those of the kernel and those that are drawn."""

    real: Mapping[str, int]
    drawn: Mapping[str, int]

    def words(self, sizes: Mapping[str, int]) -> str:
        return " × ".join(str(sizes[axis]) for axis in _AXES if axis in sizes) or "1"


def blocks_model(
    rules: Sequence[PlaceRule], bound: isl.Set, drawn: Mapping[str, Instances]
) -> LinkedBlocksModel | None:
    """The block and the thread of every drawn instance; None where ``rules`` do not cover them all."""
    by_statement = {rule.statement: rule for rule in rules}
    if not drawn.keys() <= by_statement.keys():
        return None
    rows = {name: _rows(by_statement[name], bound, shown) for name, shown in drawn.items()}
    kernels = sorted({one.kernel for one in rows.values()})
    shapes = {number: _shapes([one for one in rows.values() if one.kernel == number]) for number in kernels}
    placed = {name: _placed(one, *shapes[one.kernel]) for name, one in rows.items()}
    blocks = sorted({block for own in placed.values() for block, _ in own})
    threads = sorted({thread for own in placed.values() for _, thread in own}, key=lambda one: one[::-1])
    of_block = {block: number for number, block in enumerate(blocks)}
    of_thread = {thread: number for number, thread in enumerate(threads)}
    return {
        "blocks": [list(block) for block in blocks],
        "threads": [list(thread) for thread in threads],
        "at": {name: [[of_block[one], of_thread[two]] for one, two in own] for name, own in placed.items()},
        "notes": [_note(number, *shapes[number]) for number in kernels],
    }


def _rows(rule: PlaceRule, bound: isl.Set, drawn: Instances) -> _Rows:
    def read(axes: Sequence[tuple[str, int, isl.Map]]) -> tuple[_Row, ...]:
        return tuple(_Row(axis, size, _values(row.intersect_params(bound), drawn)) for axis, size, row in axes)

    return _Rows(rule.kernel, read(rule.blocks), read(rule.threads), len(drawn.points))


def _values(row: isl.Map, drawn: Instances) -> tuple[int, ...]:
    return tuple(value for (value,) in values_of(row, drawn))


def _shapes(rows: Sequence[_Rows]) -> tuple[_Shape, _Shape]:
    """The blocks and the threads of a kernel that are drawn: its own, or smaller ones of which several are seen."""
    blocks = {one.axis: one.size for own in rows for one in own.blocks}
    threads = {one.axis: one.size for own in rows for one in own.threads}
    drawn = {axis: _smaller(size, _extent(axis, (own.blocks for own in rows))) for axis, size in blocks.items()}
    shares = {}
    for axis, size in threads.items():
        if axis in blocks:
            cells = min(_MOST_CELLS, max(1, blocks[axis] // size))
            shares[axis] = size if drawn[axis] == blocks[axis] else max(1, min(size, drawn[axis] // cells))
        else:
            shares[axis] = _smaller(size, _extent(axis, (own.threads for own in rows)))
    return _Shape(blocks, drawn), _Shape(threads, shares)


def _extent(axis: str, rows: Iterable[Iterable[_Row]]) -> int:
    """How many values the drawn instances have along ``axis``, from the smallest to the largest."""
    values = [value for own in rows for one in own if one.axis == axis for value in one.values]
    return max(values) - min(values) + 1 if values else 0


def _smaller(size: int, extent: int) -> int:
    """``size`` where two of it fit into the picture at least in part, else the largest power of two that does.

    >>> _smaller(16, 40), _smaller(64, 5), _smaller(16, 7), _smaller(16, 1)
    (16, 4, 4, 16)
    """
    if size < extent or extent < 2:
        return size
    return 1 << ((extent - 1).bit_length() - 1)


def _placed(rows: _Rows, blocks: _Shape, threads: _Shape) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """The block, kernel first, and the thread of every instance."""
    found = []
    for number in range(rows.count):
        block = {one.axis: one.values[number] // blocks.drawn[one.axis] for one in rows.blocks}
        thread = {one.axis: one.values[number] % threads.drawn[one.axis] for one in rows.threads}
        found.append(
            (
                (rows.kernel, *(block.get(axis, 0) for axis in _AXES)),
                tuple(thread.get(axis, 0) for axis in _AXES),
            )
        )
    return found


def _note(kernel: int, blocks: _Shape, threads: _Shape) -> str:
    """What a block of a kernel holds, and which one is drawn in its place."""

    def told(*, real: bool) -> tuple[str, str]:
        span, workers = (one.words(one.real if real else one.drawn) for one in (blocks, threads))
        return span, workers

    axes = " × ".join(axis for axis in _AXES if axis in blocks.real) or "x"
    (span, workers), (small, few) = told(real=True), told(real=False)
    whole = f"Kernel {kernel}: a block spans {span} ({axes}) and has {workers} threads"
    if (span, workers) == (small, few):
        return f"{whole}."
    return f"{whole}; drawn are blocks of {small} with {few} threads, so that several fit into the picture."

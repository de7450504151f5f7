"""Rows on cache lines in C: copies of arrays for a loop over time, where its steps are many.

    const int64_t A_pitch = copies ? whole_lines(A_extent1, 8) : A_extent1;
    double *const A_place = copies ? first_line(copies) + 7 : (double *)A;
    …
    {
        double (*restrict A)[A_pitch] = (void *)A_place;

Inside, the loops are those of every other program: ``A`` is the array of the user or its copy, which differ in the
distance from row to row. Where there is no memory for copies, or too little to do, that is the one of the user.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from polyviz.codegen.bodies import work_of
from polyviz.codegen.dtypes import C_TYPE_NAMES
from polyviz.codegen.loops import For, descendants
from polyviz.model.expression import Binary, Constant
from polyviz.model.program import ProgramArgument
from polyviz.model.terms import operations

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from polyviz.codegen.row_blocks import RowBlock
    from polyviz.codegen.row_blocks_c import RowBlockPrinter
    from polyviz.model.expression import Instruction
    from polyviz.model.plan import AlignedRows, Plan

LINE = {"float64": 8, "float32": 16}
"""Elements in a cache line."""

FEWEST_STEPS = 64
"""Instances for each element that is copied, from which on rows on cache lines save more than their copies take."""

MOST_OPERATIONS = 3
"""Vector operations for each vector that is loaded or stored, up to which a second cache line is noticed."""


@dataclass(frozen=True, slots=True)
class _Copy:
    """One array and its copy: names of the array, of its extents, and of what the copy adds; ``declared`` is the array
    with another distance from row to row. ``written``: it has to be copied back."""

    array: str
    extents: tuple[str, ...]
    rows: str
    pitch: str
    place: str
    declared: str
    written: bool

    @property
    def length(self) -> str:
        return self.extents[-1]

    def lines(self, line: int) -> str:
        """Elements from row to row of the copy."""
        return f"whole_lines({self.length}, {line})"


class AlignedRowPrinter:
    """Prints loops on copies with aligned rows; ``notes`` tells of arrays that stay where they are."""

    def __init__(self, plan: Plan, rows: RowBlockPrinter) -> None:
        self.plan = plan
        self.rows = rows
        self.arrays = rows.arrays
        self.notes: list[str] = []
        self.planned = {work.mark: work.aligned for work in plan.work if work.aligned is not None}
        self._memory = self.arrays.added("copies") if self.planned else ""
        for aligned in self.planned.values():
            for array in aligned.arrays:
                self._names(array)

    def write(
        self,
        loop: For,
        bodies: Mapping[str, Sequence[Instruction]],
        indent: int,
        print_loop: Callable[[int], None],
    ) -> None:
        """``loop`` over rows of tiles, which ``print_loop`` writes at an indentation."""
        aligned, work = self.planned.get(loop.pipeline), work_of(self.plan, loop.pipeline)
        dtype = None if aligned is None or work is None else self._dtype(loop, aligned, bodies)
        if aligned is None or work is None or dtype is None:
            print_loop(indent)
            return
        copies = [self._copy(name, dtype) for name in aligned.arrays]
        tiles = loop.stop if loop.start == Constant(0) else Binary("-", loop.stop, loop.start)
        steps = self.rows.printer.expression(Binary("*", work, tiles))
        self._line(indent, "{")
        self._begin(copies, dtype, aligned.column, steps, indent + 1)
        self._line(indent + 1, "{")
        for copy in copies:
            self._line(indent + 2, f"{copy.declared} = (void *){copy.place};")
        print_loop(indent + 2)
        self._line(indent + 1, "}")
        self._line(indent + 1, f"if ({self._memory}) {{")
        for copy in copies:
            if copy.written:
                self._copy_rows(copy, (copy.array, copy.length), (copy.place, copy.pitch), dtype, indent + 2)
        self._line(indent + 2, f"free({self._memory});")
        self._line(indent + 1, "}")
        self._line(indent, "}")

    def _dtype(self, loop: For, aligned: AlignedRows, bodies: Mapping[str, Sequence[Instruction]]) -> str | None:
        """The type of all cells, if the vectors in ``loop`` begin where memory asks for it."""
        known = self.rows.types
        shared = [known.arrays[name] for name in aligned.arrays if name not in known.private]
        kinds = {(kind.dtype, kind.layout) for kind in shared}
        inside = [node for node in descendants(loop) if isinstance(node, For) and node.jam > 1]
        found = [self.rows.block(node, bodies) for node in inside]
        blocks = [block for block in found if block is not None and block.repeatable]
        dtype = next(iter(kinds))[0] if kinds else ""
        in_vectors = len(blocks) == len(found) > 0 and len(shared) == len(aligned.arrays)
        if not in_vectors or kinds != {(dtype, "C")} or dtype not in LINE:
            self._leave(aligned, "their vectors would not begin on cache lines")
            return None
        if not _waits_for_memory(blocks):
            self._leave(aligned, "arithmetic takes longer than vectors across cache lines")
            return None
        return dtype

    def _leave(self, aligned: AlignedRows, reason: str) -> None:
        note = f"{' and '.join(aligned.arrays)} stay where they are: {reason}"
        if note not in self.notes:
            self.notes.append(note)

    def _begin(self, copies: Sequence[_Copy], dtype: str, column: int, steps: str, indent: int) -> None:
        """The copies, where they pay, and the places and distances of all rows."""
        line, kind, memory = LINE[dtype], C_TYPE_NAMES[dtype], self._memory
        self.rows.printer.helpers.update(("memory_for", "whole_lines", "first_line", "copy_rows", "max_i64"))
        cells = " + ".join(f"{copy.rows} * {copy.length}" for copy in copies)
        size = " + ".join(f"{copy.rows} * {copy.lines(line)}" for copy in copies)
        for copy in copies:
            self._line(indent, f"const int64_t {copy.rows} = {' * '.join(copy.extents[:-1])};")
        why = f"column {column} of each row begins a cache line, and so do vectors"
        self._line(indent, f"/* Copies where the steps are many: {why}. */")
        self._line(indent, f"void *const {memory} = {steps} > {FEWEST_STEPS} * ({cells})")
        self._line(indent + 1, f"? memory_for(({size} + {2 * line}) * sizeof({kind})) : NULL;")
        place = f"({kind} *)first_line({memory}) + {-column % line}"
        for copy in copies:
            self._line(indent, f"const int64_t {copy.pitch} = {memory} ? {copy.lines(line)} : {copy.length};")
            self._line(indent, f"{kind} *const {copy.place} = {memory} ? {place} : ({kind} *){copy.array};")
            place = f"{copy.place} + {copy.rows} * {copy.pitch}"
        self._line(indent, f"if ({memory}) {{")
        for copy in copies:
            self._copy_rows(copy, (copy.place, copy.pitch), (copy.array, copy.length), dtype, indent + 1)
        self._line(indent, "}")

    def _copy_rows(
        self, copy: _Copy, into: tuple[str, str], source: tuple[str, str], dtype: str, indent: int
    ) -> None:
        size = f"sizeof({C_TYPE_NAMES[dtype]})"
        ends = ", ".join(f"{place}, {pitch} * {size}" for place, pitch in (into, source))
        self._line(indent, f"copy_rows({ends}, {copy.rows}, {copy.length} * {size});")

    def _copy(self, name: str, dtype: str) -> _Copy:
        array = self.rows.scop.array(name)
        extents = tuple(self.arrays.tested_extent(name, axis) for axis in range(array.rank))
        rows, pitch, place = self._names(name)
        declared = self.arrays.declaration(ProgramArgument("array", name, dtype))
        start = declared.removesuffix("".join(f"[{extent}]" for extent in extents[1:]))
        # C has no arrays without elements.
        inner = "".join(f"[max_i64({extent}, 1)]" for extent in (*extents[1:-1], pitch))
        written = not declared.startswith("const ")
        return _Copy(self.arrays.identifier(name), extents, rows, pitch, place, f"{start}{inner}", written)

    def _names(self, array: str) -> tuple[str, str, str]:
        """What the number of rows, the distance between them and the first one of ``array`` are called."""
        rows, pitch, place = (self.arrays.added(f"{array}_{what}") for what in ("rows", "pitch", "place"))
        return rows, pitch, place

    def _line(self, indent: int, line: str) -> None:
        self.rows.text.add(indent, line)


def _waits_for_memory(blocks: Sequence[RowBlock]) -> bool:
    """Whether ``blocks`` compute little for each vector that they load or store; neighbours are shifted into place."""
    accesses = sum(len(block.streams) + len(block.updates) for block in blocks)
    shifts = sum(len(stream.offsets) - 1 for block in blocks for stream in block.streams)
    arithmetic = sum(operations(update.value) for block in blocks for update in block.updates)
    return arithmetic + shifts <= MOST_OPERATIONS * accesses

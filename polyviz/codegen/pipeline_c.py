"""Rows of tiles in a pipeline: threads take them in turn, each tile waits until the row before has passed its place.

For the tiles of a permutable band that is enough: all that a tile needs lies in no later row and at no later place.
Along fronts every thread waits for the slowest one, once per front.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.codegen.aligned_rows_c import AlignedRowPrinter
from polyviz.codegen.loops import For, Instance, LoopNode, children_of
from polyviz.model.plan import PIPELINE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from polyviz.codegen.arrays_c import ArrayPrinter
    from polyviz.codegen.blocks_c import BlockPrinter
    from polyviz.codegen.expressions_c import CExpressionPrinter
    from polyviz.codegen.row_blocks_c import RowBlockPrinter
    from polyviz.codegen.text import TextBuilder
    from polyviz.model.expression import Instruction
    from polyviz.model.plan import Plan

WHOLE_ROW = "INT64_MAX"
"""The place that is passed only at the end of a row."""


class PipelinePrinter:
    """Prints the pipelines of one function; ``used`` tells that there is one, ``notes`` which of them are none.

    ``node`` prints what is inside, ``blocks`` the buffers that each thread needs for it, ``rows`` the rows of
    stencils in it.
    """

    def __init__(
        self,
        plan: Plan,
        arrays: ArrayPrinter,
        printer: CExpressionPrinter,
        text: TextBuilder,
        blocks: BlockPrinter,
        rows: RowBlockPrinter,
        node: Callable[[LoopNode, int], None],
    ) -> None:
        self.printer = printer
        self.text = text
        self.blocks = blocks
        self.node = node
        self.used = False
        self.aligned = AlignedRowPrinter(plan, rows)
        self.notes = self.aligned.notes
        self._row = ""
        planned = any(work.mark.partition(":")[0] == PIPELINE for work in plan.work)
        added = arrays.added if planned else str
        self._first, self._thread, self._threads = (added(name) for name in ("first_row", "thread", "threads"))
        self._progress, self._own, self._before = (added(name) for name in ("progress", "own", "before"))

    def is_row_loop(self, loop: For) -> bool:
        """Whether the iterations of ``loop`` are rows of tiles that threads can take in turn."""
        if not loop.pipeline:
            return False
        if loop.step == 1 and _all_wait(loop.body):
            return True
        note = f"rows of tiles of {loop.iterator} run on one thread: some have a single tile, without a loop around it"
        if note not in self.notes:
            self.notes.append(note)
        return False

    def is_tile_loop(self, loop: For) -> bool:
        """Whether the iterations of ``loop`` are tiles of a row that is being printed."""
        return loop.waits and bool(self._row)

    def write_rows(
        self,
        loop: For,
        bodies: Mapping[str, Sequence[Instruction]],
        marks: Sequence[str],
        indent: int,
        condition: str,
    ) -> None:
        """The team that runs ``loop`` where ``condition``, a clause, holds; ``marks`` are the blocks in it."""
        self.used = True
        self.aligned.write(loop, bodies, indent, lambda inside: self._team(loop, marks, inside, condition))

    def _team(self, loop: For, marks: Sequence[str], indent: int, condition: str) -> None:
        self._line(indent, "/* Threads take rows of tiles in turn; a tile waits until the row before is past it. */")
        self._line(indent, "{")
        self._line(indent + 1, f"struct progress {self._progress}[omp_get_max_threads()];")
        self._line(indent + 1, f"#pragma omp parallel{condition}")
        self._line(indent + 1, "{")
        self._begin(loop, indent + 2)
        self.blocks.allocate(marks, indent + 2)
        self._line(indent + 2, "#pragma omp barrier")
        self._rows(loop, indent + 2)
        self.blocks.release(marks, indent + 2)
        self._line(indent + 1, "}")
        self._line(indent, "}")

    def write_tiles(self, loop: For, indent: int) -> None:
        """The tiles of one row."""
        place = loop.iterator
        start, stop = self.printer.expression(loop.start), self.printer.bound(loop.stop)
        self._line(indent, f"for (int64_t {place} = {start}; {place} < {stop}; {place} += {loop.step}) {{")
        self._line(indent + 1, f"wait_for_row_before({self._before}, {self._row}, {place});")
        self.node(loop.body, indent + 1)
        self._line(indent + 1, f"pass_place({self._own}, {place});")
        self._line(indent, "}")

    def _begin(self, loop: For, indent: int) -> None:
        """Who comes before whom; at first every thread is past the row that it would have had before its first."""
        self._line(indent, f"const int64_t {self._first} = {self.printer.expression(loop.start)};")
        self._line(indent, f"const int64_t {self._threads} = omp_get_num_threads();")
        self._line(indent, f"const int64_t {self._thread} = omp_get_thread_num();")
        self._line(indent, f"struct progress *{self._own} = &{self._progress}[{self._thread}];")
        before = f"({self._thread} + {self._threads} - 1) % {self._threads}"
        self._line(indent, f"const struct progress *{self._before} = &{self._progress}[{before}];")
        earlier = f"{self._first} + {self._thread} - {self._threads}"
        self._line(indent, f"*{self._own} = (struct progress){{{earlier}, {WHOLE_ROW}}};")

    def _rows(self, loop: For, indent: int) -> None:
        row, outer = loop.iterator, self._row
        start, stop = f"{self._first} + {self._thread}", self.printer.bound(loop.stop)
        self._line(indent, f"for (int64_t {row} = {start}; {row} < {stop}; {row} += {self._threads}) {{")
        self._line(indent + 1, f"begin_row({self._own}, {row});")
        self._row = row
        self.node(loop.body, indent + 1)
        self._row = outer
        self._line(indent + 1, f"wait_for_row_before({self._before}, {row}, {WHOLE_ROW});")
        self._line(indent, "}")
        self._line(indent, f"begin_row({self._own}, {WHOLE_ROW});")

    def _line(self, indent: int, line: str) -> None:
        self.text.add(indent, line)


def _all_wait(node: LoopNode) -> bool:
    """Whether everything in ``node`` runs in tiles that wait."""
    match node:
        case Instance():
            return False
        case For(waits=True):
            return True
    return all(_all_wait(child) for child in children_of(node))

"""Copies of a staged run: the threads of a block bring a box of cells to shared memory together."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from polyviz.codegen.index import simplified
from polyviz.codegen.preamble_cuda import as_index
from polyviz.codegen.values_c import AND, PRODUCT
from polyviz.model.device import coordinate
from polyviz.model.expression import Assign, Binary, Constant, Element, Expression, Name
from polyviz.model.linear import linear_terms

if TYPE_CHECKING:
    from collections.abc import Sequence

    import islpy as isl

    from polyviz.codegen.lanes import Warp
    from polyviz.codegen.run_cuda import RunText
    from polyviz.codegen.staged_tiles import StagedTile
    from polyviz.codegen.text import TextBuilder


@dataclass(frozen=True, slots=True)
class CopyText:
    """Writes the copies of one box into ``buffer``, at the tile where ``run`` is."""

    run: RunText
    tile: StagedTile
    buffer: Expression

    def write(self, indent: int, out: TextBuilder) -> None:
        """The threads of a block take the cells of a box in turns, the last subscript fastest."""
        wide = self.tile.vector > 1
        if wide:
            out.add(indent, f"if ({self._alignment()}) {{")
            self._loop(indent + 1, out, self.tile.vector)
            out.add(indent, "} else {")
        self._loop(indent + wide, out, 1)
        if wide:
            out.add(indent, "}")

    def _alignment(self) -> str:
        """That all pieces of a copy start at addresses that 16 divides, for the whole block."""
        arrays, printer = self.run.body.owner.arrays, self.run.body.owner.printer
        tile, box = self.tile, self.tile.box
        rank = len(box.extents)
        last = Binary("+", self.run.bound(box.last[-1]), Constant(1))
        values = [self.run.bound(box.lower[-1]), self.run.bound(box.first[-1]), simplified(last)]
        texts = [
            as_index(printer.value(one).within(PRODUCT))
            for one in values
            if not _is_multiple(one, tile.vector)
        ]
        texts += [arrays.extent_name(box.array, rank - 1)] if rank > 1 else []
        tests = [f"{text} % {tile.vector} == 0" for text in dict.fromkeys(texts)]
        return " && ".join([f"is_aligned({arrays.identifier(box.array)})", *tests])

    def _loop(self, indent: int, out: TextBuilder, vector: int) -> None:
        box, run = self.tile.box, self.run
        cell, worker = run.variable("cell"), run.variable("worker")
        total, threads = prod(box.extents), run.kernel.threads_per_block
        start = worker if vector == 1 else f"{vector} * {worker}"
        # Addresses of copies side by side would take registers that several cells of a thread need.
        wide = any(size > 1 for size in run.elements.values())
        out.add(indent, "#pragma unroll 1" if wide else "#pragma unroll")
        out.add(indent, f"for (int {cell} = {start}; {cell} < {total}; {cell} += {vector * threads}) {{")
        number = Name(coordinate("thread", run.kernel.threads[0].axis))
        with run.body.turns.inside(cell, number, start):
            self._turn(indent + 1, out, vector)
        out.add(indent, "}")

    def _turn(self, indent: int, out: TextBuilder, vector: int) -> None:
        """What a thread copies in one turn: the cell that the loop has, or as many from there on as ``vector`` says."""
        box, run = self.tile.box, self.run
        places = self._places(indent, out, box.extents)
        names = [place.name for place in places if isinstance(place, Name)]
        warp = run.body.warp.taking(run.variable("cell"), vector, box.extents, names)
        for place in places:
            assert isinstance(place, Name)
            run.body.width.name(place.name, Constant(prod(box.extents)))
        slots, warp = self._slots(indent, out, places, warp)
        subscripts = [
            simplified(Binary("+", run.bound(low), place))
            for low, place in zip(box.lower, places, strict=True)
        ]
        tests = self._inside(subscripts)
        inner = indent
        if tests:
            out.add(indent, f"if ({' && '.join(tests)}) {{")
            inner += 1
        self._line(inner, out, warp, (self.buffer, *slots), tuple(subscripts), vector)
        if tests and self.tile.dealt is not None:
            # Threads take such cells to registers in pieces, in tiles at the border too.
            out.add(indent, "} else {")
            self._cleared(inner, out, warp, (self.buffer, *slots))
        if tests:
            out.add(indent, "}")

    def _cleared(self, indent: int, out: TextBuilder, warp: Warp, places: tuple[Expression, ...]) -> None:
        """A cell that nobody may read becomes 0."""
        body, run = self.run.body, self.run
        statement = body.owner.scop.statement(run.run.statements[0])
        step = Assign(self._cell(places), Constant(0))
        body.recorded(
            statement,
            lambda: body.owner.printer.instructions([step], 0),
            indent,
            warp,
            out,
            "beyond the border",
            written=0,
        )

    def _cell(self, places: tuple[Expression, ...]) -> Element:
        """The cell of the tile at ``places``, the buffer first."""
        return Element(self.tile.name, places if self.run.names.buffers == 2 else places[1:])

    def _places(self, indent: int, out: TextBuilder, extents: Sequence[int]) -> list[Expression]:
        """The subscripts within a box of the cell whose number the loop has."""
        cell = self.run.variable("cell")
        if len(extents) == 1:
            return [Name(cell)]
        places: list[Expression] = []
        for axis in range(len(extents)):
            inner = prod(extents[axis + 1 :])
            text = cell if inner == 1 else f"{cell} / {inner}"
            if axis > 0:
                text = f"{text} % {extents[axis]}"
            name = self.run.variable(f"place{axis}" if axis < len(extents) - 1 else "column")
            out.add(indent, f"const int {name} = {text};")
            places.append(Name(name))
        return places

    def _slots(
        self, indent: int, out: TextBuilder, places: Sequence[Expression], warp: Warp
    ) -> tuple[tuple[Expression, ...], Warp]:
        """The subscripts in shared memory of the cell at ``places`` of the box, and ``warp`` with what they name."""
        dealt = self.tile.dealt
        if dealt is None:
            return tuple(places), warp
        cell = self.run.body.owner.printer.value(places[dealt.subscript]).within(PRODUCT)
        inside = f"{cell} % {dealt.threads} * {dealt.vector}"
        if dealt.cells == dealt.vector:
            text = f"{inside} + {cell} / {dealt.threads}"
        else:
            piece = dealt.threads * dealt.vector
            text = f"{cell} / {piece} * {piece} + {inside} + {cell} / {dealt.threads} % {dealt.vector}"
        name = self.run.variable("spot")
        out.add(indent, f"const int {name} = {text};")
        kept: list[Expression] = list(places)
        kept[dealt.subscript] = Name(name)
        own = warp.lanes(places[dealt.subscript])
        return self.tile.in_order(kept), warp if own is None else warp.knowing(name, tuple(map(dealt.place, own)))

    def _inside(self, subscripts: Sequence[Expression]) -> list[str]:
        """The tests that a cell is one that the launch may read, without those that always hold."""
        tile = self.tile
        wanted = self.run.condition(tile.box.wanted, AND)
        tests = [] if wanted is None else [wanted]
        for axis, subscript in enumerate(subscripts):
            text = self.run.body.index(subscript)
            if axis in tile.tested_first:
                tests.append(f"{text} >= {self._end(tile.box.first[axis])}")
            if axis in tile.tested_last:
                tests.append(f"{text} <= {self._end(tile.box.last[axis])}")
        return tests

    def _end(self, bound: isl.PwAff) -> str:
        value = self.run.bound(bound)
        self.run.body.width.note(value)
        return as_index(self.run.body.owner.printer.value(value).within(10))

    def _line(
        self,
        indent: int,
        out: TextBuilder,
        warp: Warp,
        places: tuple[Expression, ...],
        subscripts: tuple[Expression, ...],
        vector: int,
    ) -> None:
        run, tile, body = self.run, self.tile, self.run.body
        statement = body.owner.scop.statement(run.run.statements[0])
        into = self._cell(places)
        source = Element(tile.box.array, subscripts)
        width = f"<{vector}>" if vector > 1 else ""

        def lines() -> list[str]:
            printer = body.owner.printer
            return [f"copy_later{width}(&{printer.expression(into)}, &{printer.expression(source)});"]

        comment = f"the tile of {tile.box.array}"
        body.recorded(statement, lines, indent, warp, out, comment, written=0, together=vector)


def _is_multiple(value: Expression, size: int) -> bool:
    terms = linear_terms(value)
    return terms is not None and all(factor % size == 0 for factor in terms.values())

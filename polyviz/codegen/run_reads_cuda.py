"""What a staged run reads: cells of tiles in shared memory, in registers where a thread takes several at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from polyviz.codegen.arrays_c import counts_from_end
from polyviz.codegen.index import common_factor, simplified
from polyviz.codegen.typing import C_TYPE_NAMES
from polyviz.model.device import coordinate
from polyviz.model.expression import (
    Assign,
    Binary,
    Constant,
    Element,
    Expression,
    Instruction,
    Name,
    Node,
    rebuild,
    walk,
)

if TYPE_CHECKING:
    from polyviz.codegen.run_cuda import RunText
    from polyviz.codegen.staged_tiles import StagedTile
    from polyviz.codegen.text import TextBuilder
    from polyviz.model.staging import StagedMember


@dataclass(frozen=True, slots=True)
class RunReads:
    """The operands of one run."""

    run: RunText

    def take(self, indent: int, out: TextBuilder, buffer: Expression) -> None:
        """What a thread reads of dealt tiles in one step, in pieces, to registers."""
        for tile in self.run.names.tiles:
            dealt = tile.dealt
            if dealt is None:
                continue
            near = self.run.names.near[tile.name]
            kind = C_TYPE_NAMES[self.run.body.owner.arrays.dtypes[near]]
            out.add(indent, f"__align__(16) {kind} {near}[{dealt.cells}];")
            name, element = self._reader(tile)
            for number in range(0, dealt.cells, dealt.vector):
                first = dealt.place(number * dealt.threads)
                thread = Binary("*", Constant(dealt.vector), Name(coordinate("thread", dealt.axis)))
                place = thread if first == 0 else Binary("+", Constant(first), thread)
                source = self._dealt_cell(tile, element, buffer, place)
                self._piece(indent, out, name, f"{near}[{number}]", source, dealt.vector)

    def _piece(
        self, indent: int, out: TextBuilder, name: str, near: str, source: Element, vector: int
    ) -> None:
        owner = self.run.body.owner

        def lines() -> list[str]:
            return [f"take<{vector}>(&{near}, &{owner.printer.expression(source)});"]

        statement = owner.scop.statement(name)
        self.run.body.recorded(
            statement, lines, indent, self.run.body.warp, out, "", written=None, together=vector
        )

    def _reader(self, tile: StagedTile) -> tuple[str, Element]:
        """The statement that reads ``tile``, and how."""
        for member in self.run.run.members:
            for instruction in self.run.placed(member):
                for node in walk(instruction):
                    if isinstance(node, Element) and self._tile_of(node) is tile:
                        return member.statement, node
        raise AssertionError(tile.name)

    def factor(self, member: StagedMember, instruction: Assign) -> Expression | None:
        """What all terms of a sum are multiplied by, where sums may be reordered; None without such a factor."""
        if not self.run.body.owner.reorder or instruction.operator not in ("+", "-"):
            return None
        kept, rest = common_factor(instruction.value, self._is_fixed)
        dtypes = self.run.body.owner.arrays.dtypes
        kind = dtypes[instruction.target.array]
        # In whole numbers, or in shorter ones than the factor makes of them, the sum would be another one.
        same = all(dtypes[part.array] == kind for part in walk(rest) if isinstance(part, Element))
        return kept if same and kind.startswith(("float", "complex")) else None

    def _is_fixed(self, node: Expression) -> bool:
        """Whether ``node`` is the same in the whole run: a number, or a scalar that the part does not assign."""
        written = self.run.body.owner.arrays.cells
        names = (Constant, Name)
        if isinstance(node, Element):
            return not node.subscripts and node.array not in written
        return isinstance(node, names) and not any(
            isinstance(part, Name) and part in self.run.values.values() for part in walk(node)
        )

    def staged(self, instruction: Instruction, member: StagedMember, buffer: Expression) -> Instruction:
        """``instruction`` with tiles and registers in the place of arrays."""
        target = instruction.target if isinstance(instruction, Assign) and member.register else None
        if isinstance(instruction, Assign) and member.register:
            kept, rest = common_factor(instruction.value, self._is_fixed)
            if self.factor(member, instruction) is not None and kept is not None:
                # The sum itself grows, whatever its sign in the end.
                instruction = Assign(instruction.target, rest, "+")

        def place(node: Node) -> Node:
            if target is not None and node == target:
                return self.run.own(member)
            tile = self._tile_of(node) if isinstance(node, Element) else None
            if isinstance(node, Element) and tile is not None:
                return self._cell(tile, node, buffer)
            return rebuild(node, place)

        placed = place(instruction)
        assert isinstance(placed, Instruction)
        return placed

    def _tile_of(self, node: Element) -> StagedTile | None:
        return next(
            (
                one
                for one in self.run.names.tiles
                if one.box.array == node.array and node.span in one.box.spans
            ),
            None,
        )

    def _cell(self, tile: StagedTile, node: Element, buffer: Expression) -> Element:
        if tile.dealt is not None:
            return Element(self.run.names.near[tile.name], (Name(self.run.element(tile.dealt.axis)),))
        places = self._places(tile, node)
        return Element(tile.name, (buffer, *places) if self.run.names.buffers == 2 else tuple(places))

    def _places(self, tile: StagedTile, node: Element) -> list[Expression]:
        return [
            simplified(Binary("-", self._from_start(node, axis), self.run.bound(low)))
            for axis, low in enumerate(tile.box.lower)
        ]

    def _from_start(self, node: Element, axis: int) -> Expression:
        """A subscript of ``node``, counted from the start of the array as tiles are."""
        subscript = node.subscripts[axis]
        if not counts_from_end(subscript):
            return subscript
        accesses = (
            access
            for name in self.run.run.statements
            for access in self.run.body.owner.scop.statement(name).accesses
        )
        access = next(one for one in accesses if one.span == node.span and one.array == node.array)
        return self.run.bound(access.relation.range().dim_min(axis))

    def _dealt_cell(self, tile: StagedTile, node: Element, buffer: Expression, place: Expression) -> Element:
        """The cell of a dealt tile that stands at ``place`` of its row."""
        places = self._places(tile, node)
        assert tile.dealt is not None
        places[tile.dealt.subscript] = place
        ordered = tile.in_order(places)
        return Element(tile.name, (buffer, *ordered) if self.run.names.buffers == 2 else ordered)

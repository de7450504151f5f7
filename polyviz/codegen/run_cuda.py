"""Staged runs as CUDA: accumulators in registers, copies to shared memory a tile ahead, and what reads them.

Every step stands at the same place for all threads of a block, so that barriers are never under a condition on one:
conditions on threads are inside the copies and inside the cells of a tile.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.analysis.footprints import operations_in
from polyviz.codegen.bodies import bound_expression, placed_body
from polyviz.codegen.index import simplified
from polyviz.codegen.run_copies_cuda import CopyText
from polyviz.codegen.run_reads_cuda import RunReads
from polyviz.codegen.scan import expression, in_order_of
from polyviz.codegen.typing import C_TYPE_NAMES
from polyviz.mapping.gpu_runs import STEP, TILE, row_coordinate, tile_of
from polyviz.model.device import coordinate
from polyviz.model.expression import (
    Assign,
    Binary,
    Compare,
    Constant,
    Element,
    Expression,
    Instruction,
    Logical,
    Loop,
    Name,
    While,
    substitute,
    walk,
)
from polyviz.model.words import plural, sized

if TYPE_CHECKING:
    from polyviz.codegen.kernel_cuda import KernelBody
    from polyviz.codegen.staged_tiles import StagedTile
    from polyviz.codegen.text import TextBuilder
    from polyviz.model.staging import StagedMember, StagedRun

Inner = Callable[[int], None]
_READ = "__syncthreads();  // the tiles have been read"
"""Stands before the next copy to the same tiles."""


@dataclass(frozen=True, slots=True)
class RunNames:
    """The identifiers of a run: tiles by number of their box, registers by statement, and its variables.

    ``near`` are the registers for what a thread reads of a tile in one step, by the name of the tile.
    """

    tiles: tuple[StagedTile, ...]
    registers: Mapping[str, str]
    near: Mapping[str, str]
    variables: Mapping[str, str]
    buffers: int


class RunText:
    """Writes one run into a kernel, at times whose values are ``arguments``."""

    def __init__(
        self, body: KernelBody, run: StagedRun, names: RunNames, arguments: Sequence[Expression]
    ) -> None:
        self.body = body
        self.kernel = body.kernel
        self.run = run
        self.names = names
        self.elements: dict[str, int] = dict(run.elements)
        times = {coordinate("time", str(place)): arguments[place] for place in range(run.prefix)}
        self.values: dict[str, Expression] = {**times, **self._rows(times)}
        self.values[TILE] = Name(names.variables["tile"])
        self.values[STEP] = Name(names.variables["step"])
        self._watch()
        self.reads = RunReads(self)

    def _watch(self) -> None:
        """How large the variables of the run can be."""
        width, depth = self.body.width, self.run.depth
        for axis in self.elements:
            width.name(self.element(axis), Constant(self.elements[axis]))
        if self.run.first is not None and self.run.last is not None:
            ends = self.bound(self.run.first), self.bound(self.run.last)
            width.name(self.variable("tile"), *ends, beyond=2 * depth)
            width.name(self.variable("step"), *ends, beyond=2 * depth)

    def _rows(self, times: Mapping[str, Expression]) -> dict[str, Expression]:
        """The rows of a thread by its tile, a block or a strip, by element and thread."""
        rows: dict[str, Expression] = {}
        for thread in self.kernel.threads:
            tile, size = tile_of(self.kernel, self.run.statements, thread)
            row: Expression = Binary("*", Constant(size), times.get(tile, Name(tile)))
            if self.elements[thread.axis] > 1:
                step = Binary("*", Constant(thread.size), Name(self.element(thread.axis)))
                row = Binary("+", row, step)
            rows[row_coordinate(thread.axis)] = Binary("+", row, Name(coordinate("thread", thread.axis)))
        return rows

    def element(self, axis: str) -> str:
        """The variable for the cell of a thread along ``axis``."""
        return self.names.variables[f"element_{axis}"]

    @cached_property
    def wide(self) -> list[str]:
        """The axes along which a thread has several cells."""
        return [thread.axis for thread in self.kernel.threads if self.elements[thread.axis] > 1]

    def write(self, indent: int, out: TextBuilder) -> None:
        """The whole run."""
        names = ", ".join(self.run.statements)
        out.add(indent, f"{{  // {names}: {self._manner()}")
        self._registers(indent + 1, out)
        threads: dict[str, int] = {axis.axis: axis.size for axis in self.kernel.threads}
        if any(box.fresh for box in self.run.boxes):
            out.add(indent + 1, "__syncthreads();  // what the block wrote is there to be copied")
        out.add(indent + 1, f"const int {self.variable('worker')} = {_linear(threads)};")
        if self.run.first is None:
            self._single_tile(indent + 1, out)
        elif self.names.buffers == 2:
            self._ahead(indent + 1, out)
        else:
            self._one_by_one(indent + 1, out)
        self._results(indent + 1, out)
        out.add(indent, "}")

    def _manner(self) -> str:
        cells = sized((self.elements[thread.axis] for thread in self.kernel.threads), "cell")
        ahead = ", copied one tile ahead" if self.names.buffers == 2 else ""
        return f"{cells} per thread, {plural(self.run.depth, 'step')} per tile{ahead}"

    def variable(self, name: str) -> str:
        """How a variable of the run is called."""
        return self.names.variables[name]

    # Registers.

    def _registers(self, indent: int, out: TextBuilder) -> None:
        for member in self.run.members:
            if not member.register:
                continue
            register = self.names.registers[member.statement]
            kind = C_TYPE_NAMES[self.body.owner.arrays.dtypes[register]]
            extents = "".join(f"[{self.elements[axis]}]" for axis in self.wide)
            out.add(indent, f"{kind} {register}{extents};")
            self._cells(indent, out, lambda inner, one=member: self._load(inner, out, one))  # type: ignore[misc]

    def _results(self, indent: int, out: TextBuilder) -> None:
        for member in self.run.members:
            if member.register:
                self._cells(indent, out, lambda inner, one=member: self._store(inner, out, one))  # type: ignore[misc]

    def _cells(self, indent: int, out: TextBuilder, inner: Inner) -> None:
        """``inner`` for every cell of a thread; the loops are unrolled, so that cells have registers."""
        with ExitStack() as loops:
            for depth, axis in enumerate(self.wide):
                name = self.element(axis)
                out.add(indent + depth, "#pragma unroll")
                out.add(indent + depth, f"for (int {name} = 0; {name} < {self.elements[axis]}; {name}++) {{")
                loops.enter_context(self.body.turns.inside(name))
            inner(indent + len(self.wide))
        for depth in reversed(range(len(self.wide))):
            out.add(indent + depth, "}")

    def _load(self, indent: int, out: TextBuilder, member: StagedMember) -> None:
        """One cell from memory to its register, or nothing yet where a sum is multiplied when it is complete."""
        own, (instruction,) = self.own(member), self.placed(member)
        assert isinstance(instruction, Assign)
        if self.reads.factor(member, instruction) is not None:
            out.add(indent, f"{self.body.owner.printer.expression(own)} = 0;")
            return
        inner = self._guarded(indent, out, member.alive)
        statement = self.body.owner.scop.statement(member.statement)
        self.body.lines(statement, [Assign(own, instruction.target)], inner, self.body.warp, out, "")
        self._close(indent, inner, out)

    def _store(self, indent: int, out: TextBuilder, member: StagedMember) -> None:
        """One cell from its register to memory, where the statement has an instance at all."""
        statement = self.body.owner.scop.statement(member.statement)
        own, (instruction,) = self.own(member), self.placed(member)
        assert isinstance(instruction, Assign)
        factor = self.reads.factor(member, instruction)
        step = Assign(instruction.target, own)
        if factor is not None:
            step = Assign(instruction.target, Binary("*", factor, own), instruction.operator)
            self.body.hoisted[member.statement] = 1 + operations_in(factor)
        inner = self._guarded(indent, out, member.alive)
        comment = f"line {statement.span.line}: the result"
        self.body.lines(statement, [step], inner, self.body.warp, out, comment)
        self._close(indent, inner, out)

    def _guarded(self, indent: int, out: TextBuilder, guard: isl.Set) -> int:
        """Open a condition where there is one; the indentation inside."""
        text = self.condition(guard)
        if text is None:
            return indent
        out.add(indent, f"if ({text}) {{")
        return indent + 1

    def _close(self, indent: int, inner: int, out: TextBuilder) -> None:
        if inner != indent:
            out.add(indent, "}")

    def condition(self, wanted: isl.Set, outside: int = 0) -> str | None:
        """``wanted`` as text, inside an operator that binds as ``outside``; None where it always holds."""
        if wanted.is_equal(isl.Set.universe(wanted.get_space())):
            return None
        known = in_order_of(wanted, self.kernel.context)
        condition = isl.AstBuild.from_context(known).expr_from_set(wanted)
        return self.body.index(self._at(expression(condition)), outside)

    def _at(self, node: Expression) -> Expression:
        placed = substitute(node, self.values)
        assert isinstance(placed, Expression)
        return _without_truths(simplified(placed))

    def bound(self, value: isl.PwAff) -> Expression:
        """``value`` at the coordinates of the run."""
        return self._at(bound_expression(value))

    def own(self, member: StagedMember) -> Element:
        """The register for the cell of ``member``."""
        cells = tuple(Name(self.element(axis)) for axis in self.wide)
        return Element(self.names.registers[member.statement], cells)

    def placed(self, member: StagedMember) -> list[Instruction]:
        """The body of a statement at the coordinates of the run."""
        statement = self.body.owner.scop.statement(member.statement)
        iterators = [self.bound(value) for value in member.iterators]
        return placed_body(statement, self.body.owner.bodies[member.statement], iterators)

    # Tiles.

    def _single_tile(self, indent: int, out: TextBuilder) -> None:
        self._copies(indent, out, Constant(0))
        self._arrived(indent, out)
        self._compute(indent, out, Constant(0))
        if self.body.turns.texts or self.body.often[self.run.name] > 1:
            out.add(indent, _READ)
        else:
            self.body.after_block = _READ

    def _ahead(self, indent: int, out: TextBuilder) -> None:
        """The next tile is on its way while this one is used, so that threads meet once per tile."""
        tile, buffer, first, last = (self.variable(name) for name in ("tile", "buffer", "first", "last"))
        depth = self.run.depth
        out.add(
            indent,
            f"const Index {first} = {self.text(self.run.first)}, {last} = {self.text(self.run.last)};",
        )
        out.add(indent, f"int {buffer} = 1;")
        header = f"Index {tile} = {first} - {depth}; {tile} <= {last}; {tile} += {depth}"
        out.add(indent, f"for ({header}) {{")
        out.add(indent + 1, f"if ({tile} + {depth} <= {last}) {{")
        self.values[TILE] = Binary("+", Name(tile), Constant(depth))
        self._copies(indent + 2, out, Binary("-", Constant(1), Name(buffer)))
        self.values[TILE] = Name(tile)
        out.add(indent + 1, "}")
        out.add(indent + 1, f"if ({tile} >= {first}) {{")
        self._compute(indent + 2, out, Name(buffer))
        out.add(indent + 1, "}")
        out.add(indent + 1, "wait_for_copies();")
        out.add(indent + 1, "__syncthreads();  // the next tiles are in shared memory, these have been read")
        out.add(indent + 1, f"{buffer} = 1 - {buffer};")
        out.add(indent, "}")

    def _one_by_one(self, indent: int, out: TextBuilder) -> None:
        tile, last = self.variable("tile"), self.variable("last")
        out.add(indent, f"const Index {last} = {self.text(self.run.last)};")
        header = f"Index {tile} = {self.text(self.run.first)}; {tile} <= {last}; {tile} += {self.run.depth}"
        out.add(indent, f"for ({header}) {{")
        self._copies(indent + 1, out, Constant(0))
        self._arrived(indent + 1, out)
        self._compute(indent + 1, out, Constant(0))
        out.add(indent + 1, _READ)
        out.add(indent, "}")

    def text(self, value: isl.PwAff | None) -> str:
        """``value`` at the coordinates of the run, as text."""
        assert value is not None
        return self.body.index(self.bound(value))

    def _arrived(self, indent: int, out: TextBuilder) -> None:
        out.add(indent, "wait_for_copies();")
        out.add(indent, "__syncthreads();  // the tiles are in shared memory")

    def _copies(self, indent: int, out: TextBuilder, buffer: Expression) -> None:
        for tile in self.names.tiles:
            CopyText(self, tile, buffer).write(indent, out)

    # The loop over the steps of a tile.

    def _compute(self, indent: int, out: TextBuilder, buffer: Expression) -> None:
        full = None if self.run.full.is_empty() else self.condition(self.run.full)
        if self.run.full.is_empty():
            self._steps(indent, out, buffer, whole=False)
        elif full is None:
            self._steps(indent, out, buffer, whole=True)
        else:
            out.add(indent, f"if ({full}) {{")
            self._steps(indent + 1, out, buffer, whole=True)
            out.add(indent, "} else {")
            self._steps(indent + 1, out, buffer, whole=False)
            out.add(indent, "}")

    def _steps(self, indent: int, out: TextBuilder, buffer: Expression, *, whole: bool) -> None:
        """All steps of a tile; a tile that is not ``whole`` asks for each instance."""
        if self.run.first is None:
            self._cells(indent, out, lambda inner: self._members(inner, out, buffer, whole=whole))
            return
        step, tile = self.variable("step"), self.variable("tile")
        out.add(indent, "#pragma unroll" if whole and not self._loops_inside() else "#pragma unroll 1")
        out.add(indent, f"for (Index {step} = {tile}; {step} < {tile} + {self.run.depth}; {step}++) {{")
        with self.body.turns.inside(step):
            self.reads.take(indent + 1, out, buffer)
            self._cells(indent + 1, out, lambda inner: self._members(inner, out, buffer, whole=whole))
        out.add(indent, "}")

    def _loops_inside(self) -> bool:
        """Whether a statement has loops of its own, whose copies would cost the compiler more than they give."""
        bodies = (self.body.owner.bodies[name] for name in self.run.statements)
        return any(isinstance(part, Loop | While) for body in bodies for one in body for part in walk(one))

    def _members(self, indent: int, out: TextBuilder, buffer: Expression, *, whole: bool) -> None:
        scop = self.body.owner.scop
        for member in self.run.members:
            statement = scop.statement(member.statement)
            body = [self.reads.staged(one, member, buffer) for one in self.placed(member)]
            inner = indent if whole else self._guarded(indent, out, member.guard)
            comment = f"line {statement.span.line}: {statement.headline}"
            instance = [self.bound(value) for value in member.iterators]
            self.body.lines(statement, body, inner, self.body.warp, out, comment, instance)
            self._close(indent, inner, out)


def _without_truths(condition: Expression) -> Expression:
    """``condition`` without comparisons of equal numbers."""
    match condition:
        case Logical("and", operands):
            kept = tuple(one for one in operands if not _is_truth(one))
            return Logical("and", kept) if len(kept) > 1 else next(iter(kept), operands[0])
    return condition


def _is_truth(condition: Expression) -> bool:
    match condition:
        case Compare(("==",), (Constant(left), Constant(right))):
            return left == right
    return False


def _linear(threads: Mapping[str, int]) -> str:
    """The number of a thread in its block."""
    text, before = "threadIdx.x", threads.get("x", 1)
    for axis in "yz":
        if axis in threads:
            text += f" + {before} * threadIdx.{axis}"
            before *= threads[axis]
    return text

"""One kernel as CUDA text: its coordinates, its loops, its barriers, and a record of every access."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from polyviz.codegen.bodies import grid_ends, placed_body
from polyviz.codegen.device_loops import BEGIN, FINISH, JOIN, thread_values
from polyviz.codegen.index_width import SIZE, WIDE, IndexWidth, Magnitude, widened
from polyviz.codegen.kernel_data_cuda import block_rows, statement_rows
from polyviz.codegen.lanes import Warp
from polyviz.codegen.loops import Block, For, If, Instance, LoopNode, instances
from polyviz.codegen.preamble_cuda import as_index
from polyviz.codegen.run_cuda import RunText
from polyviz.codegen.text import TextBuilder
from polyviz.codegen.turns import Turns
from polyviz.codegen.typing import C_TYPE_NAMES
from polyviz.codegen.values_c import SUM
from polyviz.mapping.gpu_elements import BLOCKS_PER_MULTIPROCESSOR, MOST_REGISTERS
from polyviz.model.device import coordinate
from polyviz.model.expression import (
    Assign,
    Binary,
    Compare,
    Constant,
    Element,
    Expression,
    Instruction,
    Name,
    walk,
)
from polyviz.model.program import ProgramArgument

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from polyviz.codegen.arrays_cuda import DeviceArrays
    from polyviz.codegen.expressions_c import CExpressionPrinter
    from polyviz.codegen.run_cuda import RunNames
    from polyviz.codegen.trees_cuda import TreeText
    from polyviz.model.device import DeviceKernel
    from polyviz.model.device_program import KernelText
    from polyviz.model.scop import Scop, Statement


LARGEST_Y = 65536
"""More than the blocks along y of any grid."""


@dataclass(frozen=True, slots=True)
class Writing:
    """What all kernels of a program share while they are printed.

    ``names`` holds the text of coordinates, which each kernel fills in; ``trees`` the shared accumulations by
    statement, ``width`` the variable of their rounds; ``reorder`` allows another order of sums; ``runs`` holds the
    names in staged runs; ``like`` kernels printed before whose arguments are taken over.
    """

    scop: Scop
    arrays: DeviceArrays
    names: dict[str, str]
    printer: CExpressionPrinter
    bodies: Mapping[str, tuple[Instruction, ...]]
    trees: Mapping[str, TreeText]
    width: str
    reorder: bool
    runs: Mapping[str, RunNames]
    like: tuple[KernelText, ...]


@dataclass
class KernelBody:
    """One kernel in the making."""

    owner: Writing
    kernel: DeviceKernel
    coordinates: Mapping[str, str]
    text: TextBuilder = field(default_factory=TextBuilder)
    sites: list[tuple[int, int, str, int, int | None]] = field(default_factory=list)
    after_block: str = ""
    """The barrier before a block goes on to a part of the grid that no block is left for; none where it is empty."""

    def __post_init__(self) -> None:
        self.owner.names.update(self.coordinates)
        self.protects = {barrier.name: barrier.protects for barrier in self.kernel.barriers}
        self.warp = Warp.of(self.kernel)
        self.turns = Turns(self.kernel)
        self.often: Mapping[str, int] = {}
        self.told: set[str] = set()  # what the emulator's text names to tell instances
        self.hoisted: dict[str, int] = {}  # operations on a sum that wait until it is complete, by statement
        self.width = IndexWidth(self._magnitudes())

    def _magnitudes(self) -> Mapping[str, Magnitude]:
        """How large sizes and coordinates can be, by name."""
        found = {parameter.name: SIZE for parameter in self.owner.scop.parameters}
        found |= {coordinate("host", str(place)): SIZE for place in range(len(self.kernel.host_names))}
        known = IndexWidth(found)
        for axis, ends in zip(self.kernel.blocks, self.kernel.grid, strict=True):
            # Along y a block goes on by the whole grid, once beyond the last one.
            beyond = 0 if axis.axis == "x" else LARGEST_Y
            name = coordinate("block", axis.axis)
            known.name(name, *grid_ends(ends), beyond=beyond)
        for axis in self.kernel.threads:
            known.name(coordinate("thread", axis.axis), Constant(axis.size))
        for point in self.kernel.points:
            block = Binary("*", Constant(point.size), Name(coordinate("block", point.block)))
            known.name(point.parameter, block, beyond=point.size)
        return known.known

    def index(self, node: Expression, outside: int = 0) -> str:
        """``node``, a bound of a loop or a condition on coordinates, as text; ``outside``: how its operator binds."""
        self.width.note(node)
        return as_index(self.owner.printer.value(node).within(outside))

    def print(self, node: LoopNode) -> None:
        """The body: coordinates first, then the loops of a thread."""
        self.often = Counter(instance.statement for instance in instances(node))
        loops = TextBuilder()
        wrapped = [axis for axis in self.kernel.blocks if axis.axis != "x"]
        self._node(node, 1 + len(wrapped), self.warp, loops)
        used = _words(loops.text())
        indent = 1
        for axis, ends in zip(self.kernel.blocks, self.kernel.grid, strict=True):
            indent = self._block(axis.axis, *grid_ends(ends), indent)
        for line in (*self._thread_lines(used), *self._part_lines()):
            self.text.add(indent, line)
        shift = len(self.text.lines)
        self.text.lines += loops.lines
        self.text.origins.update({line + shift: origin for line, origin in loops.origins.items()})
        self.sites = [
            (begin, end, name, line + shift, written) for begin, end, name, line, written in self.sites
        ]
        for level in range(len(wrapped), 0, -1):
            self.text.add(
                level + 1, "if (INDEX_BITS == 32) break;  // the grid is not larger than a device's"
            )
            if self.after_block and level == len(wrapped):
                self.text.add(level + 1, self.after_block)
            self.text.add(level, "}")

    def _block(self, axis: str, first: Expression, last: Expression, indent: int) -> int:
        """The block's coordinate; along y it goes on past the largest grid."""
        name = self.coordinates[coordinate("block", axis)]
        start = "" if first == Constant(0) else f" + {self._value(first)}"
        if axis == "x":
            self.text.add(indent, f"const Index {name} = (Index)blockIdx.{axis}{start};")
            return indent
        stop = self._value(last)
        header = f"Index {name} = (Index)blockIdx.{axis}{start}; {name} <= {stop}; {name} += gridDim.{axis}"
        self.text.add(indent, f"for ({header}) {{")
        return indent + 1

    def _thread_lines(self, used: set[str]) -> list[str]:
        values = thread_values(self.kernel, self.coordinates, used)
        return [f"const Index {name} = {value};" for name, value in values]

    @property
    def trees(self) -> list[TreeText]:
        """The accumulations that the threads of this kernel share."""
        return [tree for tree in self.owner.trees.values() if tree.statement.name in self.kernel.statements]

    def _part_lines(self) -> list[str]:
        arrays = self.owner.arrays
        shared = [
            *(tile.name for run in self.kernel.runs for tile in self.owner.runs[run.name].tiles),
            *(tree.shared for tree in self.trees),
        ]
        lines = [arrays.shared_declaration(name) for name in shared]
        lines += self._failure_lines()
        return [*lines, *(f"{C_TYPE_NAMES[arrays.dtypes[tree.part]]} {tree.part};" for tree in self.trees)]

    def _failure_lines(self) -> list[str]:
        """Where a bad subscript is told; the emulator does not watch it, since any thread may be the one that tells."""
        arrays = self.owner.arrays
        if not arrays.failure_cell:
            return []
        cell = f"*{arrays.failure_cell}.raw()" if arrays.instrumented else f"*{arrays.failure_cell}"
        return [f"int64_t &failure = {cell};"]

    def head(self) -> str:
        """Everything up to the opening brace."""
        kernel = self.kernel
        arrays = self.owner.arrays
        blocks = (
            ", ".join(f"{a.axis}: {block_rows(a.texts, a.size)}" for a in reversed(kernel.blocks))
            or "one"
        )
        threads = ", ".join(f"{a.axis}: {statement_rows(a.texts)}" for a in reversed(kernel.threads)) or "one"
        comment = f"// Kernel {kernel.number}: blocks {blocks}; threads {threads}.\n"
        declared = [arrays.declaration(argument) for argument in self.arguments()]
        signature = ",\n    ".join(declared)
        bounds = f"__launch_bounds__({', '.join(map(str, self._bounds()))}) "
        return f'{comment}extern "C" __global__ void {bounds}{self.name}(\n    {signature})\n{{\n'

    def _bounds(self) -> tuple[int, ...]:
        """Threads of a block; and where registers are planned, how many blocks share a multiprocessor."""
        runs = self.kernel.runs
        wide = any(size > 1 for run in runs for _, size in run.elements)
        if wide and all(run.registers <= MOST_REGISTERS for run in runs):
            return self.kernel.threads_per_block, BLOCKS_PER_MULTIPROCESSOR
        return (self.kernel.threads_per_block,)

    @property
    def name(self) -> str:
        """The exported name."""
        return f"kernel_{self.owner.scop.name}_{self.kernel.number}"

    def arguments(self) -> tuple[ProgramArgument, ...]:
        """The arguments that the plain text names, or that of the emulator; the values of host loops come last."""
        if self.owner.like:
            return self.owner.like[self.kernel.number].arguments
        used = {*_words(self.text.text()), *self.told}
        arrays = self.owner.arrays
        found = [one for one in arrays.arguments() if arrays.argument_name(one) in used]
        host = [
            ProgramArgument("host", self.coordinates[coordinate("host", str(place))], axis=place)
            for place in range(len(self.kernel.host_names))
        ]
        return (*found, *host)

    def _value(self, node: Expression) -> str:
        self.width.note(node)
        return as_index(self.owner.printer.value(node).within(13))

    def _node(self, node: LoopNode, indent: int, warp: Warp | None, out: TextBuilder) -> None:
        match node:
            case Block(children):
                for child in children:
                    self._node(child, indent, warp, out)
            case If(condition, then, otherwise):
                out.add(indent, f"if ({self.index(condition)}) {{")
                alone = None if _is_one_lane(condition) else warp
                self._node(then, indent + 1, alone, out)
                if otherwise is not None:
                    out.add(indent, "} else {")
                    self._node(otherwise, indent + 1, warp, out)
                out.add(indent, "}")
            case For():
                self._loop(node, indent, warp, out)
            case Instance(statement) if statement in self.protects:
                out.add(indent, f"__syncthreads();  // {self.protects[statement]}")
            case Instance(name, arguments) if name in self.owner.runs:
                run = next(one for one in self.kernel.runs if one.name == name)
                RunText(self, run, self.owner.runs[name], arguments).write(indent, out)
            case Instance(name) if name.startswith((BEGIN, JOIN, FINISH)):
                self._shared_step(node, indent, warp, out)
            case Instance():
                self._instance(node, indent, warp, out)

    def _loop(self, node: For, indent: int, warp: Warp | None, out: TextBuilder) -> None:
        name = node.iterator
        advance = f"{name}++" if node.step == 1 else f"{name} += {node.step}"
        start, stop = self.index(node.start), self.index(node.stop, SUM)
        self.width.name(name, node.start, node.stop, beyond=node.step)
        header = f"Index {name} = {start}; {name} < {stop}; {advance}"
        out.add(indent, f"for ({header}) {{")
        with self.turns.inside(name, node.start, start):
            self._node(node.body, indent + 1, None if warp is None else warp.inside(name, node.start), out)
        out.add(indent, "}")

    def _instance(self, node: Instance, indent: int, warp: Warp | None, out: TextBuilder) -> None:
        owner = self.owner
        statement = owner.scop.statement(node.statement)
        body = placed_body(statement, owner.bodies[node.statement], node.arguments)
        names = (part.name for one in node.arguments for part in walk(one) if isinstance(part, Name))
        self.told |= {owner.names.get(name, name) for name in names}
        if statement.name in owner.trees:
            body = owner.trees[statement.name].accumulate(body)
        comment = f"line {statement.span.line}: {_one_line(statement)}"
        self.lines(statement, body, indent, warp, out, comment, instance=node.arguments)

    def lines(
        self,
        statement: Statement,
        body: Sequence[Instruction],
        indent: int,
        warp: Warp | None,
        out: TextBuilder,
        comment: str,
        instance: Sequence[Expression] = (),
    ) -> None:
        """``body`` as lines, whose accesses belong to ``statement``, at ``instance``, and are those of ``warp``."""
        for instruction in body:
            self.width.note_subscripts(instruction)
        wide = [self._wide(instruction) for instruction in body]

        def printed() -> list[str]:
            return self.owner.printer.instructions(wide, 0)

        # Only the emulator is told, and only the plain text says how large the numbers of a kernel become.
        if self.owner.arrays.instrumented:
            self.owner.arrays.instance = tuple(map(self.owner.printer.expression, instance))
        inner = None if warp is None else warp.inside_statement(body)
        self.recorded(statement, printed, indent, inner, out, comment, written=self._written(body[0]))
        self.owner.arrays.instance = ()

    def _written(self, instruction: Instruction) -> int | None:
        """The place among all accesses of ``instruction`` of that to its target: those in its subscripts come first."""
        arrays = self.owner.arrays
        if not isinstance(instruction, Assign) or not arrays.is_watched(instruction.target.array):
            return None
        parts = (part for index in instruction.target.subscripts for part in walk(index))
        return sum(isinstance(part, Element) and arrays.is_watched(part.array) for part in parts)

    def _wide(self, instruction: Instruction) -> Instruction:
        """``instruction`` with 64 bits for the iterators that its arithmetic uses."""
        names = self.owner.names

        def spelled(name: str) -> None:
            names[f"{WIDE}{name}"] = f"(int64_t){names.get(name, name)}"

        found = widened(instruction, spelled)
        assert isinstance(found, Instruction)
        return found

    def recorded(
        self,
        statement: Statement,
        printed: Callable[[], Sequence[str]],
        indent: int,
        warp: Warp | None,
        out: TextBuilder,
        comment: str,
        *,
        written: int | None,
        together: int = 1,
    ) -> None:
        """The lines that ``printed`` makes, with a record of their accesses; ``written`` is the place of the one
        written among them.

        A lane of ``warp`` takes ``together`` cells at once.
        """
        arrays = self.owner.arrays
        arrays.enter(statement)
        arrays.warp, arrays.together = warp, together
        arrays.turns = self.turns.texts
        begin, first_line = len(arrays.references), len(out.lines) + 1
        for number, line in enumerate(printed()):
            out.add(indent, line + (f"  // {comment}" if number == 0 and comment else ""), statement)
        self.sites.append((begin, len(arrays.references), statement.name, first_line, written))

    def _shared_step(
        self, node: Instance, indent: int, warp: Warp | None, out: TextBuilder
    ) -> None:
        kind, _, name = node.statement.partition(" ")
        tree = self.owner.trees[name]
        if kind == BEGIN.strip():
            self.lines(tree.statement, [tree.begin()], indent, warp, out, "")
        elif kind == JOIN.strip():
            self._join(tree, indent, warp, out)
        else:
            body = placed_body(tree.statement, self.owner.bodies[name], node.arguments)
            comment = f"line {tree.statement.span.line}, all parts"
            self.lines(tree.statement, tree.finish(body), indent, warp, out, comment)

    def _join(self, tree: TreeText, indent: int, warp: Warp | None, out: TextBuilder) -> None:
        """The tree: in each round half of the threads take the part of one of the other half."""
        width = self.owner.width
        self.lines(tree.statement, [tree.store()], indent, warp, out, "")
        out.add(indent, "__syncthreads();  // every part is in shared memory")
        out.add(indent, f"for (int {width} = {tree.size // 2}; {width} > 0; {width} /= 2) {{")
        out.add(indent + 1, f"if ({self.coordinates[tree.coordinate]} < {width}) {{")
        self.lines(tree.statement, [tree.step(width)], indent + 2, warp, out, "")
        out.add(indent + 1, "}")
        out.add(indent + 1, "__syncthreads();  // parts are joined pair by pair")
        out.add(indent, "}")


def _one_line(statement: Statement) -> str:
    return statement.headline


def _words(text: str) -> set[str]:
    """The identifiers in ``text``; comments and coordinates of CUDA's own are left out."""
    return set(re.findall(r"\w+", re.sub(r"//.*|\b(?:threadIdx|blockIdx|gridDim)\.\w", "", text)))


def _is_one_lane(condition: Expression) -> bool:
    """Whether ``condition`` asks for the first thread along x."""
    first = Compare(("==",), (Name(coordinate("thread", "x")), Constant(0)))
    return any(part == first for part in walk(condition))

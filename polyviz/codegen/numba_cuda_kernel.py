"""One kernel of a device as a Python function for ``numba.cuda``: the loops of a thread, written for a reader."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from polyviz.codegen.bodies import grid_ends, placed_body
from polyviz.codegen.device_loops import BEGIN, FINISH, JOIN, thread_values
from polyviz.codegen.dtypes import numpy_name
from polyviz.codegen.expressions_python import PythonExpressionPrinter
from polyviz.codegen.index import simplified
from polyviz.codegen.loops import Block, For, If, Instance, LoopNode, plus_one
from polyviz.codegen.loops_python import range_text, words
from polyviz.codegen.text import TextBuilder
from polyviz.errors import CodegenError
from polyviz.model.device import coordinate
from polyviz.model.expression import Assign, Binary, Call, Constant, Element, Name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from polyviz.codegen.cuda import CudaText
    from polyviz.codegen.trees_cuda import TreeText
    from polyviz.model.device import DeviceKernel
    from polyviz.model.expression import Expression, Instruction
    from polyviz.model.scop import Statement

COMMENT = "  # "
_INDEX = "@blockIdx_"
"""What the number of a block within the grid is called in expressions; its axis follows."""


@dataclass
class NumbaCudaKernel:
    """The text of one kernel in the making; ``device`` knows its arrays and shared accumulations.

    ``coordinates`` say how the coordinates of blocks and threads are spelled.
    """

    device: CudaText
    kernel: DeviceKernel
    coordinates: Mapping[str, str]
    text: TextBuilder = field(default_factory=TextBuilder)

    def __post_init__(self) -> None:
        indices = {f"{_INDEX}{axis}": f"cuda.blockIdx.{axis}" for axis in "xyz"}
        names = {**self.device.arrays.variable_names, **self.coordinates, **indices}
        self.printer = PythonExpressionPrinter(names, self._element)
        self.protects = {barrier.name: barrier.protects for barrier in self.kernel.barriers}

    @property
    def name(self) -> str:
        """The name of the function."""
        return f"kernel_{self.device.scop.name}_{self.kernel.number}"

    def print(self, node: LoopNode) -> None:
        """The body: coordinates first, then the loops of a thread."""
        wrapped = sum(axis.axis != "x" for axis in self.kernel.blocks)
        loops = TextBuilder()
        self._node(node, 1 + wrapped, loops)
        used = words(loops.text())
        indent = 1
        for axis, ends in zip(self.kernel.blocks, self.kernel.grid, strict=True):
            indent = self._block(axis.axis, *grid_ends(ends), indent)
        for line in (*self._thread_lines(used), *self._shared_lines()):
            self.text.add(indent, line)
        shift = len(self.text.lines)
        self.text.lines += loops.lines
        self.text.origins.update({line + shift: origin for line, origin in loops.origins.items()})

    def _block(self, axis: str, first: Expression, last: Expression, indent: int) -> int:
        """The block's coordinate; along y and z it goes on past the largest grid."""
        name = self.coordinates[coordinate("block", axis)]
        index: Expression = Name(f"{_INDEX}{axis}")
        start = self.printer.expression(
            index if first == Constant(0) else Binary("+", index, simplified(first))
        )
        if axis == "x":
            self.text.add(indent, f"{name} = {start}")
            return indent
        stop = self.printer.expression(simplified(plus_one(last)))
        self.text.add(indent, f"for {name} in range({start}, {stop}, cuda.gridDim.{axis}):")
        return indent + 1

    def _thread_lines(self, used: set[str]) -> list[str]:
        values = thread_values(self.kernel, self.coordinates, used, "cuda.")
        return [f"{name} = {value}" for name, value in values]

    def _shared_lines(self) -> list[str]:
        arrays = self.device.arrays
        names = [tree.shared for tree in self._trees()]
        return [
            f"{name} = cuda.shared.array({arrays.shared[name]}, np.{numpy_name(arrays.dtypes[name])})"
            for name in names
        ]

    def _trees(self) -> list[TreeText]:
        return [tree for tree in self.device.trees.values() if tree.statement.name in self.kernel.statements]

    def _node(self, node: LoopNode, indent: int, out: TextBuilder) -> None:
        match node:
            case Block(children):
                for child in children:
                    self._node(child, indent, out)
            case If(condition, then, otherwise):
                out.add(indent, f"if {self.printer.expression(condition)}:")
                self._node(then, indent + 1, out)
                if otherwise is not None:
                    out.add(indent, "else:")
                    self._node(otherwise, indent + 1, out)
            case For():
                header = range_text(self.printer, node.start, node.stop, node.step)
                out.add(indent, f"for {node.iterator} in {header}:")
                self._node(node.body, indent + 1, out)
            case Instance():
                self._instance(node, indent, out)

    def _instance(self, node: Instance, indent: int, out: TextBuilder) -> None:
        kind, _, name = node.statement.partition(" ")
        if node.statement in self.protects:
            out.add(indent, f"cuda.syncthreads(){COMMENT}{self.protects[node.statement]}")
        elif f"{kind} " in (BEGIN, JOIN, FINISH):
            self._shared_step(node, self.device.trees[name], indent, out)
        elif node.statement in self.device.bodies:
            self._statement(node, indent, out)
        else:
            raise CodegenError(f"The teaching text has no words for the step {node.statement!r}.")

    def _statement(self, node: Instance, indent: int, out: TextBuilder) -> None:
        statement = self.device.scop.statement(node.statement)
        body = placed_body(statement, self.device.bodies[node.statement], node.arguments)
        if statement.name in self.device.trees:
            body = self.device.trees[statement.name].accumulate(body)
        self._lines(body, indent, out, f"line {statement.span.line}", statement)

    def _shared_step(self, node: Instance, tree: TreeText, indent: int, out: TextBuilder) -> None:
        if node.statement.startswith(BEGIN):
            self._lines([self._begin(tree)], indent, out, "")
        elif node.statement.startswith(JOIN):
            self._join(tree, indent, out)
        else:
            body = placed_body(tree.statement, self.device.bodies[tree.statement.name], node.arguments)
            comment = f"line {tree.statement.span.line}, all parts"
            self._lines(tree.finish(body), indent, out, comment, tree.statement)

    def _begin(self, tree: TreeText) -> Instruction:
        """The part before anything was added, in the type of the cell: a variable of Python has none of its own."""
        begin = tree.begin()
        assert isinstance(begin, Assign)
        dtype = numpy_name(self.device.arrays.dtypes[tree.part])
        return Assign(begin.target, Call(f"numpy.{dtype}", (begin.value,)))

    def _join(self, tree: TreeText, indent: int, out: TextBuilder) -> None:
        """The tree: in each round half of the threads take the part of one of the other half."""
        width, thread = self.device.width, self.coordinates[tree.coordinate]
        self._lines([tree.store()], indent, out, "")
        out.add(indent, f"cuda.syncthreads(){COMMENT}every part is in shared memory")
        out.add(indent, f"{width} = {tree.size // 2}")
        out.add(indent, f"while {width} > 0:")
        out.add(indent + 1, f"if {thread} < {width}:")
        self._lines([tree.step(width)], indent + 2, out, "")
        out.add(indent + 1, f"cuda.syncthreads(){COMMENT}parts are joined pair by pair")
        out.add(indent + 1, f"{width} //= 2")

    def _lines(
        self,
        body: Sequence[Instruction],
        indent: int,
        out: TextBuilder,
        comment: str,
        statement: Statement | None = None,
    ) -> None:
        for number, line in enumerate(self.printer.instructions(body, 0)):
            out.add(indent, line + (COMMENT + comment if number == 0 and comment else ""), statement)

    def _element(self, element: Element, printer: PythonExpressionPrinter) -> str:
        arrays = self.device.arrays
        name = arrays.identifier(element.array)
        if element.subscripts:
            return f"{name}[{', '.join(map(printer.expression, element.subscripts))}]"
        return f"{name}[0]" if element.array in arrays.cells else name

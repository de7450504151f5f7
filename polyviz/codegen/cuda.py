"""The CUDA printer: one ``__global__`` function per kernel, and what the host does, as plain data."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from polyviz.codegen.arrays_cuda import DeviceArrays
from polyviz.codegen.bodies import bound_expression, placed_body, planned_body, private_name
from polyviz.codegen.calling import local_arrays, result_names, written_arrays
from polyviz.codegen.device_loops import BEGIN, FINISH, JOIN, host_steps, kernel_loops
from polyviz.codegen.emulated import entry_point
from polyviz.codegen.expressions_c import CExpressionPrinter
from polyviz.codegen.loops import Block, For, If, Instance, LoopNode
from polyviz.codegen.reserved_c import C_RESERVED
from polyviz.codegen.runtime_c import helper_source
from polyviz.codegen.text import TextBuilder
from polyviz.codegen.trees_cuda import TreeText, can_be_joined
from polyviz.codegen.typing import C_TYPE_NAMES
from polyviz.errors import CodegenError
from polyviz.model.device import coordinate
from polyviz.model.device_program import AccessSite, DeviceProgram, KernelText
from polyviz.model.expression import Compare, Constant, Expression, Name, walk
from polyviz.model.program import ArrayType, FloatingPoint, LocalArray, Program, ProgramArgument, SourceLine

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from polyviz.model.device import DeviceKernel
    from polyviz.model.expression import Instruction
    from polyviz.model.plan import Plan
    from polyviz.model.scop import Scop, Statement

CUDA_RESERVED = C_RESERVED | {
    *("blockIdx", "blockDim", "gridDim", "threadIdx", "warpSize", "dim3", "class", "template", "typename", "this"),
    *("new", "delete", "operator", "namespace", "using", "private", "public", "protected", "friend", "virtual"),
    *("try", "catch", "throw", "and", "or", "not", "xor", "bitand", "bitor", "compl", "export", "mutable", "explicit"),
    *("Global", "Shared", "launch", "slot", "emulate"),
}
PREAMBLE = """\
#ifdef __CUDACC_RTC__
typedef signed char int8_t; typedef short int16_t; typedef int int32_t; typedef long long int64_t;
typedef unsigned char uint8_t; typedef unsigned short uint16_t; typedef unsigned uint32_t;
typedef unsigned long long uint64_t;
#define INT8_MIN (-128)
#define INT16_MIN (-32768)
#define INT32_MIN (-2147483647 - 1)
#define INT64_MIN (-9223372036854775807LL - 1)
#define INFINITY __int_as_float(0x7f800000)
#define NAN __int_as_float(0x7fffffff)
#else
#include <math.h>
#include <stdint.h>
#endif"""


def print_cuda(
    scop: Scop, plan: Plan, types: Mapping[str, ArrayType], floating_point: FloatingPoint = "reassociate"
) -> Program:
    """``plan`` as CUDA C++ text with its host's program in ``Program.device``.

    Raises ``CodegenError`` for what kernels cannot express: complex numbers, subscripts known only at run time.
    """
    for array in scop.arrays:
        if types[array.name].dtype.startswith("complex"):
            raise CodegenError(f"{array.name} holds complex numbers, and kernels have none.", hint="Use the target 'c'.")
    reorder = floating_point == "reassociate"
    plain = _CudaText(scop, plan, types, reorder).printed()
    instrumented = _CudaText(scop, plan, types, reorder, like=plain.kernels).printed()
    assert plan.device is not None
    copies = tuple(
        LocalArray(
            private_name(scop, one.array), types[one.array].dtype, "empty", tuple(map(bound_expression, one.extents))
        )
        for one in plan.expansions
    )
    return Program(
        target=plan.target,
        name=f"kernel_{scop.name}",
        text=plain.text,
        arguments=plain.arrays.arguments(),
        types=dict(types),
        lines=plain.lines,
        floating_point=floating_point,
        locals=(*local_arrays(scop, types), *copies),
        written=written_arrays(scop),
        results=result_names(scop),
        result_is_tuple=scop.is_cell or scop.result.is_tuple,
        device=DeviceProgram(
            plain.kernels,
            host_steps(scop, plan.device),
            instrumented.text + entry_point(instrumented.kernels, instrumented.arrays.stored),
            plain.arrays.stored,
            plain.arrays.cells,
        ),
    )


@dataclass(frozen=True, slots=True)
class _Printed:
    text: str
    lines: Mapping[int, SourceLine]
    kernels: tuple[KernelText, ...]
    arrays: DeviceArrays


@dataclass
class _CudaText:
    """The state of printing all kernels once: plain, or instrumented with the arguments of the kernels ``like``."""

    scop: Scop
    plan: Plan
    types: Mapping[str, ArrayType]
    reorder: bool
    like: tuple[KernelText, ...] = ()
    lines: dict[int, SourceLine] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.arrays = DeviceArrays(self.scop, self.plan, self.types, CUDA_RESERVED, instrumented=bool(self.like))
        self.trees = self._tree_texts()
        self.names = dict(self.arrays.variable_names)
        self.printer = CExpressionPrinter(self.arrays.dtypes, self.names, self.arrays.element)
        self.bodies = {
            statement.name: planned_body(self.scop, self.plan, statement) for statement in self.scop.statements
        }

    def _tree_texts(self) -> dict[str, TreeText]:
        """The accumulations that threads share, by statement, with variables and arrays for their parts."""
        device = self.plan.device
        assert device is not None
        dtypes = self.arrays.dtypes
        pairs = [(kernel, tree) for kernel in device.kernels for tree in kernel.trees]
        self.shares = self.reorder and all(can_be_joined(tree, dtypes[tree.array]) for _, tree in pairs)
        found: dict[str, TreeText] = {}
        for kernel, tree in pairs if self.shares else ():
            ending = "" if all(one.tree.array != tree.array for one in found.values()) else f"_{tree.statement}"
            part, shared = (self.arrays.added(f"{tree.array}_{kind}{ending}") for kind in ("part", "parts"))
            dtypes[part] = dtypes[shared] = dtypes[tree.array]
            statement = self.scop.statement(tree.statement)
            found[tree.statement] = TreeText(tree, statement, part, shared, kernel.threads)
            self.arrays.shared[shared] = found[tree.statement].extents
        self.width = self.arrays.added("width") if found else ""
        return found

    def printed(self) -> _Printed:
        """The whole text."""
        device = self.plan.device
        assert device is not None
        coordinates = self._coordinates()
        taken = [self.arrays.taken | set(names.values()) for names in coordinates]
        loops = kernel_loops(self.scop, self.plan, taken, trees=self.shares)
        bodies, kernels = [], []
        for kernel, node in zip(device.kernels, loops, strict=True):
            builder = _KernelBody(self, kernel, coordinates[kernel.number])
            first = len(self.arrays.references)
            builder.print(node)
            bodies.append(builder)
            kernels.append(builder.described(first))
        text = self._head()
        for builder in bodies:
            text += "\n" + builder.head()
            shift = text.count("\n")
            self.lines.update({line + shift: origin for line, origin in builder.text.origins.items()})
            text += builder.text.text() + "}\n"
        return _Printed(text, self.lines, tuple(kernels), self.arrays)

    def _coordinates(self) -> list[dict[str, str]]:
        """Per kernel how its coordinates are spelled."""
        device = self.plan.device
        assert device is not None
        found = []
        for kernel in device.kernels:
            wanted = {coordinate("block", axis.axis): f"block_{axis.axis}" for axis in kernel.blocks}
            wanted |= {coordinate("thread", axis.axis): f"thread_{axis.axis}" for axis in kernel.threads}
            wanted |= {point.parameter: point.name for point in kernel.points}
            wanted |= {coordinate("host", str(place)): name for place, name in enumerate(kernel.host_names)}
            found.append(_distinct(wanted, self.arrays.taken))
        return found

    def _head(self) -> str:
        helpers = helper_source(self.printer.helpers | self.arrays.helpers)
        device_helpers = helpers.replace("static inline", "static __device__ inline")
        title = f"/* {self.scop.name}: schedule {self.plan.schedule.scheduler}, generated by polyviz. */\n"
        return "\n\n".join(part for part in (title + PREAMBLE, device_helpers.rstrip("\n")) if part) + "\n"


@dataclass
class _KernelBody:
    """One kernel in the making."""

    owner: _CudaText
    kernel: DeviceKernel
    coordinates: Mapping[str, str]
    text: TextBuilder = field(default_factory=TextBuilder)
    sites: list[tuple[int, int, str, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.owner.names.update(self.coordinates)
        self.protects = {barrier.name: barrier.protects for barrier in self.kernel.barriers}
        lane = {coordinate("thread", "x")} | {p.parameter for p in self.kernel.points if p.thread == "x"}
        self.lane = frozenset(lane)

    def print(self, node: LoopNode) -> None:
        """The body: coordinates first, then the loops of a thread."""
        loops = TextBuilder()
        wrapped = [axis for axis in self.kernel.blocks if axis.axis != "x"]
        self._node(node, 1 + len(wrapped), self.lane, loops)
        used = _words(loops.text())
        indent = 1
        for axis, (first, last) in zip(self.kernel.blocks, self.kernel.grid, strict=True):
            indent = self._block(axis.axis, bound_expression(first), bound_expression(last), indent)
        for line in (*self._thread_lines(used), *self._part_lines()):
            self.text.add(indent, line)
        shift = len(self.text.lines)
        self.text.lines += loops.lines
        self.text.origins.update({line + shift: origin for line, origin in loops.origins.items()})
        self.sites = [(begin, end, name, line + shift) for begin, end, name, line in self.sites]
        for level in range(len(wrapped), 0, -1):
            self.text.add(level, "}")

    def _block(self, axis: str, first: Expression, last: Expression, indent: int) -> int:
        """The block's coordinate; along y it goes on past the largest grid."""
        name = self.coordinates[coordinate("block", axis)]
        start = "" if first == Constant(0) else f" + {self._value(first)}"
        if axis == "x":
            self.text.add(indent, f"const int64_t {name} = (int64_t)blockIdx.{axis}{start};")
            return indent
        stop = self._value(last)
        header = f"int64_t {name} = (int64_t)blockIdx.{axis}{start}; {name} <= {stop}; {name} += gridDim.{axis}"
        self.text.add(indent, f"for ({header}) {{")
        return indent + 1

    def _thread_lines(self, used: set[str]) -> list[str]:
        lines = []
        for axis in reversed(self.kernel.threads):
            name = self.coordinates[coordinate("thread", axis.axis)]
            if name in used:
                lines.append(f"const int64_t {name} = threadIdx.{axis.axis};")
        for point in self.kernel.points:
            name = self.coordinates[point.parameter]
            if name in used:
                block = self.coordinates[coordinate("block", point.block)]
                lines.append(f"const int64_t {name} = {point.size} * {block} + threadIdx.{point.thread};")
        return lines

    @property
    def trees(self) -> list[TreeText]:
        """The accumulations that the threads of this kernel share."""
        return [tree for tree in self.owner.trees.values() if tree.statement.name in self.kernel.statements]

    def _part_lines(self) -> list[str]:
        arrays = self.owner.arrays
        lines = [arrays.shared_declaration(tree.shared) for tree in self.trees]
        return [*lines, *(f"{C_TYPE_NAMES[arrays.dtypes[tree.part]]} {tree.part};" for tree in self.trees)]

    def head(self) -> str:
        """Everything up to the opening brace."""
        kernel = self.kernel
        arrays = self.owner.arrays
        blocks = ", ".join(f"{a.axis}: {_texts(a.texts)} / {a.size}" for a in reversed(kernel.blocks)) or "one"
        threads = ", ".join(f"{a.axis}: {_texts(a.texts)}" for a in reversed(kernel.threads)) or "one"
        comment = f"// Kernel {kernel.number}: blocks {blocks}; threads {threads}.\n"
        declared = [arrays.declaration(argument) for argument in self.arguments()]
        signature = ",\n    ".join(declared)
        bounds = f"__launch_bounds__({kernel.threads_per_block}) "
        return f'{comment}extern "C" __global__ void {bounds}{self.name}(\n    {signature})\n{{\n'

    @property
    def name(self) -> str:
        """The exported name."""
        return f"kernel_{self.owner.scop.name}_{self.kernel.number}"

    def arguments(self) -> tuple[ProgramArgument, ...]:
        """The arguments that the plain text names; the values of host loops come last."""
        if self.owner.like:
            return self.owner.like[self.kernel.number].arguments
        used = _words(self.text.text())
        arrays = self.owner.arrays
        found = [one for one in arrays.arguments() if arrays.argument_name(one) in used]
        host = [
            ProgramArgument("host", self.coordinates[coordinate("host", str(place))], axis=place)
            for place in range(len(self.kernel.host_names))
        ]
        return (*found, *host)

    def described(self, first: int) -> KernelText:
        """The kernel as data."""
        kernel = self.kernel
        by_axis = {axis.axis: axis.size for axis in kernel.threads}
        grid = {
            axis.axis: bound_expression((high - low + 1).coalesce())
            for axis, (low, high) in zip(kernel.blocks, kernel.grid, strict=True)
        }
        one: Expression = Constant(1)
        return KernelText(
            name=self.name,
            statements=kernel.statements,
            arguments=self.arguments(),
            host=tuple(coordinate("host", str(place)) for place in range(len(kernel.host_names))),
            block=(by_axis.get("x", 1), by_axis.get("y", 1), by_axis.get("z", 1)),
            grid=(grid.get("x", one), grid.get("y", one), grid.get("z", one)),
            axes=tuple(f"{axis.axis}: {_texts(axis.texts)}" for axis in reversed(kernel.threads)),
            barriers=(
                *(barrier.protects for barrier in kernel.barriers),
                *(f"the parts of {tree.tree.array} are joined by a tree" for tree in self.trees),
            ),
            phases=kernel.phases,
            sites=tuple(self._sites(first)),
        )

    def _sites(self, first: int) -> list[AccessSite]:
        lines = self.text.lines
        sites = []
        for begin, end, statement, line in self.sites:
            target = lines[line - 1].lstrip()
            for reference in self.owner.arrays.references[max(begin, first) : end]:
                place = self.owner.arrays.references[begin]
                is_target = reference is place
                mode = _mode(target) if is_target else "read"
                sites.append(
                    AccessSite(
                        reference.number, self.kernel.number, statement,
                        self.owner.scop.statement(statement).span.line,
                        reference.array, reference.text, mode, reference.memory, reference.strides, reference.kind,
                        self.owner.arrays.itemsize(reference.array),
                    )
                )  # fmt: skip
        return sites

    def _value(self, node: Expression) -> str:
        return self.owner.printer.value(node).within(13)

    def _node(self, node: LoopNode, indent: int, lane: frozenset[str] | None, out: TextBuilder) -> None:
        match node:
            case Block(children):
                for child in children:
                    self._node(child, indent, lane, out)
            case If(condition, then, otherwise):
                out.add(indent, f"if ({self.owner.printer.expression(condition)}) {{")
                alone = None if _is_one_lane(condition) else lane
                self._node(then, indent + 1, alone, out)
                if otherwise is not None:
                    out.add(indent, "} else {")
                    self._node(otherwise, indent + 1, lane, out)
                out.add(indent, "}")
            case For():
                self._loop(node, indent, lane, out)
            case Instance(statement) if statement in self.protects:
                out.add(indent, f"__syncthreads();  // {self.protects[statement]}")
            case Instance(name) if name.startswith((BEGIN, JOIN, FINISH)):
                self._shared_step(node, indent, lane, out)
            case Instance():
                self._instance(node, indent, lane, out)

    def _loop(self, node: For, indent: int, lane: frozenset[str] | None, out: TextBuilder) -> None:
        name = node.iterator
        advance = f"{name}++" if node.step == 1 else f"{name} += {node.step}"
        printer = self.owner.printer
        header = f"int64_t {name} = {printer.expression(node.start)}; {name} < {printer.expression(node.stop)}; {advance}"
        out.add(indent, f"for ({header}) {{")
        moves = any(isinstance(part, Name) and part.name in self.lane for part in walk(node.start))
        self._node(node.body, indent + 1, lane | {name} if moves and lane is not None else lane, out)
        out.add(indent, "}")

    def _instance(self, node: Instance, indent: int, lane: frozenset[str] | None, out: TextBuilder) -> None:
        owner = self.owner
        statement = owner.scop.statement(node.statement)
        body = placed_body(statement, owner.bodies[node.statement], node.arguments)
        if statement.name in owner.trees:
            body = owner.trees[statement.name].accumulate(body)
        self._lines(statement, body, indent, lane, out, f"line {statement.span.line}: {_one_line(statement)}")

    def _lines(
        self,
        statement: Statement,
        body: Sequence[Instruction],
        indent: int,
        lane: frozenset[str] | None,
        out: TextBuilder,
        comment: str,
    ) -> None:
        arrays = self.owner.arrays
        arrays.enter(statement)
        arrays.moving = lane
        begin, first_line = len(arrays.references), len(out.lines) + 1
        for number, line in enumerate(self.owner.printer.instructions(body, 0)):
            out.add(indent, line + (f"  // {comment}" if number == 0 and comment else ""), statement)
        self.sites.append((begin, len(arrays.references), statement.name, first_line))

    def _shared_step(self, node: Instance, indent: int, lane: frozenset[str] | None, out: TextBuilder) -> None:
        kind, _, name = node.statement.partition(" ")
        tree = self.owner.trees[name]
        if kind == BEGIN.strip():
            self._lines(tree.statement, [tree.begin()], indent, lane, out, "")
        elif kind == JOIN.strip():
            self._join(tree, indent, lane, out)
        else:
            body = placed_body(tree.statement, self.owner.bodies[name], node.arguments)
            comment = f"line {tree.statement.span.line}, all parts"
            self._lines(tree.statement, [tree.finish(body)], indent, lane, out, comment)

    def _join(self, tree: TreeText, indent: int, lane: frozenset[str] | None, out: TextBuilder) -> None:
        """The tree: in each round half of the threads take the part of one of the other half."""
        width = self.owner.width
        self._lines(tree.statement, [tree.store()], indent, lane, out, "")
        out.add(indent, "__syncthreads();  // every part is in shared memory")
        out.add(indent, f"for (int64_t {width} = {tree.size // 2}; {width} > 0; {width} /= 2) {{")
        out.add(indent + 1, f"if ({self.coordinates[tree.coordinate]} < {width}) {{")
        self._lines(tree.statement, [tree.step(width)], indent + 2, lane, out, "")
        out.add(indent + 1, "}")
        out.add(indent + 1, "__syncthreads();  // parts are joined pair by pair")
        out.add(indent, "}")


def _distinct(wanted: Mapping[str, str], taken: frozenset[str]) -> dict[str, str]:
    """The wanted names, changed where they are ``taken`` or wanted twice."""
    found: dict[str, str] = {}
    for key, name in wanted.items():
        free = name
        while free in taken or free in found.values():
            free += "_"
        found[key] = free
    return found


def _one_line(statement: Statement) -> str:
    return " ".join(statement.source.split())


def _words(text: str) -> set[str]:
    """The identifiers in ``text``; comments and coordinates of CUDA's own are left out."""
    return set(re.findall(r"\w+", re.sub(r"//.*|\b(?:threadIdx|blockIdx|gridDim)\.\w", "", text)))


def _texts(texts: Mapping[str, str]) -> str:
    return " | ".join(dict.fromkeys(texts.values())) or "none"


def _is_one_lane(condition: Expression) -> bool:
    """Whether ``condition`` asks for the first thread along x."""
    first = Compare(("==",), (Name(coordinate("thread", "x")), Constant(0)))
    return any(part == first for part in walk(condition))


def _mode(line: str) -> str:
    found = re.match(r"[\w.<>]+(?:\[.*?\]|\(.*?\)) (.?)= ", line)
    if found is None:
        return "read"
    return "update" if found[1] else "write"

"""The CUDA printer: one ``__global__`` function per kernel, and what the host does, as plain data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from polyviz.codegen.arrays_cuda import DeviceArrays
from polyviz.codegen.bodies import bound_expression, planned_body, private_name
from polyviz.codegen.calling import local_arrays, result_names, written_arrays
from polyviz.codegen.device_loops import host_steps, kernel_loops
from polyviz.codegen.emulated import entry_point
from polyviz.codegen.expressions_c import CExpressionPrinter
from polyviz.codegen.kernel_cuda import KernelBody, Writing
from polyviz.codegen.reserved_c import C_RESERVED
from polyviz.codegen.runtime_c import helper_source
from polyviz.codegen.tiles_cuda import TileText
from polyviz.codegen.trees_cuda import TreeText, can_be_joined
from polyviz.errors import CodegenError
from polyviz.model.device import coordinate
from polyviz.model.device_program import DeviceProgram, KernelText
from polyviz.model.program import ArrayType, FloatingPoint, LocalArray, Program, SourceLine

if TYPE_CHECKING:
    from collections.abc import Mapping

    from polyviz.model.plan import Plan
    from polyviz.model.scop import Scop

CUDA_RESERVED = C_RESERVED | {
    *(
        "blockIdx",
        "blockDim",
        "gridDim",
        "threadIdx",
        "warpSize",
        "dim3",
        "class",
        "template",
        "typename",
        "this",
    ),
    *(
        "new",
        "delete",
        "operator",
        "namespace",
        "using",
        "private",
        "public",
        "protected",
        "friend",
        "virtual",
    ),
    *(
        "try",
        "catch",
        "throw",
        "and",
        "or",
        "not",
        "xor",
        "bitand",
        "bitor",
        "compl",
        "export",
        "mutable",
        "explicit",
    ),
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
            raise CodegenError(
                f"{array.name} holds complex numbers, and kernels have none.", hint="Use the target 'c'."
            )
    reorder = floating_point == "reassociate"
    plain = CudaText(scop, plan, types, reorder).printed()
    instrumented = CudaText(scop, plan, types, reorder, like=plain.kernels).printed()
    assert plan.device is not None
    return Program(
        target=plan.target,
        name=f"kernel_{scop.name}",
        text=plain.text,
        arguments=plain.arrays.arguments(),
        types=dict(types),
        lines=plain.lines,
        floating_point=floating_point,
        locals=(*local_arrays(scop, types), *private_copies(scop, plan, types)),
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


def private_copies(scop: Scop, plan: Plan, types: Mapping[str, ArrayType]) -> tuple[LocalArray, ...]:
    """The arrays that hold the private copies of temporaries."""
    return tuple(
        LocalArray(
            private_name(scop, one.array),
            types[one.array].dtype,
            "empty",
            tuple(map(bound_expression, one.extents)),
        )
        for one in plan.expansions
    )


@dataclass(frozen=True, slots=True)
class _Printed:
    text: str
    lines: Mapping[int, SourceLine]
    kernels: tuple[KernelText, ...]
    arrays: DeviceArrays


@dataclass
class CudaText:
    """The state of printing all kernels once: plain, or instrumented with the arguments of the kernels ``like``.

    No variable is called one of the ``reserved`` words.
    """

    scop: Scop
    plan: Plan
    types: Mapping[str, ArrayType]
    reorder: bool
    like: tuple[KernelText, ...] = ()
    reserved: frozenset[str] = CUDA_RESERVED
    lines: dict[int, SourceLine] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.arrays = DeviceArrays(
            self.scop, self.plan, self.types, self.reserved, instrumented=bool(self.like)
        )
        self.trees = self._tree_texts()
        self.tiles = self._tile_texts()
        self.names = dict(self.arrays.variable_names)
        self.printer = CExpressionPrinter(
            self.arrays.dtypes, self.names, self.arrays.element, self.arrays.step
        )
        self.bodies = {
            statement.name: planned_body(self.scop, self.plan, statement)
            for statement in self.scop.statements
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
            ending = (
                "" if all(one.tree.array != tree.array for one in found.values()) else f"_{tree.statement}"
            )
            part, shared = (self.arrays.added(f"{tree.array}_{kind}{ending}") for kind in ("part", "parts"))
            dtypes[part] = dtypes[shared] = dtypes[tree.array]
            statement = self.scop.statement(tree.statement)
            found[tree.statement] = TreeText(tree, statement, part, shared, kernel.threads)
            self.arrays.shared[shared] = found[tree.statement].extents
        self.width = self.arrays.added("width") if found else ""
        return found

    def _tile_texts(self) -> dict[int, TileText]:
        """The tiles in shared memory, by kernel, with a name for each."""
        device = self.plan.device
        assert device is not None
        found: dict[int, TileText] = {}
        for kernel in device.kernels:
            if kernel.tiles is None:
                continue
            arrays = {one.array: one for one in kernel.tiles.arrays}
            names = {name: self.arrays.added(f"{name}_tile{kernel.number or ''}") for name in arrays}
            for name, shared in names.items():
                self.arrays.shared[shared] = arrays[name].extents
                self.arrays.dtypes[shared] = self.arrays.dtypes[name]
            found[kernel.number] = TileText(kernel, arrays, names)
        return found

    def printed(self) -> _Printed:
        """The whole text."""
        device = self.plan.device
        assert device is not None
        coordinates = self.coordinates()
        taken = [self.arrays.taken | set(names.values()) for names in coordinates]
        loops = kernel_loops(self.scop, self.plan, taken, trees=self.shares)
        writing = self._writing()
        bodies, kernels = [], []
        for kernel, node in zip(device.kernels, loops, strict=True):
            builder = KernelBody(writing, kernel, coordinates[kernel.number])
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

    def _writing(self) -> Writing:
        return Writing(
            self.scop,
            self.arrays,
            self.names,
            self.printer,
            self.bodies,
            self.trees,
            self.width,
            self.tiles,
            self.like,
        )

    def coordinates(self) -> list[dict[str, str]]:
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


def _distinct(wanted: Mapping[str, str], taken: frozenset[str]) -> dict[str, str]:
    """The wanted names, changed where they are ``taken`` or wanted twice."""
    found: dict[str, str] = {}
    for key, name in wanted.items():
        free = name
        while free in taken or free in found.values():
            free += "_"
        found[key] = free
    return found

"""The CUDA printer: one ``__global__`` function per kernel, and what the host does, as plain data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from polyviz.codegen.arrays_cuda import DeviceArrays
from polyviz.codegen.bodies import bound_expression, planned_body, private_name
from polyviz.codegen.calling import local_arrays, result_names, written_arrays
from polyviz.codegen.complex_cuda import complex_text, with_complex
from polyviz.codegen.device_loops import host_steps, kernel_loops
from polyviz.codegen.emulated import entry_point
from polyviz.codegen.expressions_c import CExpressionPrinter
from polyviz.codegen.kernel_cuda import KernelBody, Writing
from polyviz.codegen.kernel_data_cuda import described
from polyviz.codegen.preamble_cuda import CUDA_RESERVED, INDEX_WIDTH, NEAR_MEMORY, PREAMBLE, index_helpers
from polyviz.codegen.run_cuda import RunNames
from polyviz.codegen.runtime_c import helper_source
from polyviz.codegen.staged_tiles import make_tile
from polyviz.codegen.trees_cuda import TreeText, can_be_joined
from polyviz.mapping.gpu_runs import STEP
from polyviz.model.device import coordinate
from polyviz.model.device_program import DeviceProgram, KernelText
from polyviz.model.expression import Call, Constant, Name
from polyviz.model.program import ArrayType, FloatingPoint, LocalArray, Program, SourceLine

if TYPE_CHECKING:
    from collections.abc import Mapping

    from polyviz.codegen.staged_tiles import StagedTile
    from polyviz.model.device import DeviceKernel
    from polyviz.model.plan import Plan
    from polyviz.model.scop import Scop
    from polyviz.model.staging import StagedRun


def print_cuda(
    scop: Scop, plan: Plan, types: Mapping[str, ArrayType], floating_point: FloatingPoint = "reassociate"
) -> Program:
    """``plan`` as CUDA C++ text with its host's program in ``Program.device``.

    Raises ``CodegenError`` for what kernels cannot express.
    """
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
        locals=(*local_arrays(scop, types), *private_copies(scop, plan, types), *_failure(plain.arrays)),
        checked=bool(plain.arrays.failure_cell),
        failures=tuple(plain.arrays.failures),
        written=written_arrays(scop),
        results=result_names(scop),
        result_is_tuple=scop.is_cell or scop.result.is_tuple,
        cut=scop.result.cut,
        device=DeviceProgram(
            plain.kernels,
            host_steps(scop, plan.device),
            instrumented.text + with_complex(entry_point(instrumented.kernels, instrumented.arrays.stored)),
            plain.arrays.stored,
            plain.arrays.cells,
            plain.arrays.failure_cell,
        ),
    )


def _failure(arrays: DeviceArrays) -> tuple[LocalArray, ...]:
    """The array for the number of the failure that happened, where there can be one."""
    return (LocalArray(arrays.failure_cell, "int64", "zeros", (Constant(1),)),) if arrays.failure_cell else ()


def private_copies(scop: Scop, plan: Plan, types: Mapping[str, ArrayType]) -> tuple[LocalArray, ...]:
    """The arrays that hold the private copies of temporaries; empty where no loop runs for the sizes given."""
    return tuple(
        LocalArray(
            private_name(scop, one.array),
            types[one.array].dtype,
            "empty",
            tuple(Call("max", (Constant(0), bound_expression(extent))) for extent in one.extents),
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
        self.runs = self._run_names()
        self.names = dict(self.arrays.variable_names)
        self.printer = CExpressionPrinter(
            self.arrays.dtypes, self.names, self.arrays.element, self.arrays.step, self.arrays.going_on
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

    def _run_names(self) -> dict[str, RunNames]:
        """The staged runs, by name, with tiles, registers and variables of their own."""
        device = self.plan.device
        assert device is not None
        runs = [(kernel, run) for kernel in device.kernels for run in kernel.runs]
        return {
            run.name: self._names_of_run(kernel, run, f"_{number}" if number else "")
            for number, (kernel, run) in enumerate(runs)
        }

    def _names_of_run(self, kernel: DeviceKernel, run: StagedRun, ending: str) -> RunNames:
        device = self.plan.device
        assert device is not None
        arrays = self.arrays
        ahead = device.options.prefetch and run.first is not None
        # The budget of the mapping holds two buffers of the cells that it knew of, or one of longer ones.
        buffers = 2 if ahead and all(arrays.itemsize(box.array) <= device.cell for box in run.boxes) else 1
        tiles = []
        for number, box in enumerate(run.boxes):
            same = sum(other.array == box.array for other in run.boxes[:number])
            name = arrays.added(f"{box.array}_tile{same or ''}{ending}")
            arrays.dtypes[name] = arrays.dtypes[box.array]
            size, layout = arrays.itemsize(box.array), self.types[box.array].layout
            tile = make_tile(self.scop, kernel, run, box, name, size, layout, device.options)
            arrays.aligned.add(name)
            arrays.shared[name] = (2, *tile.extents) if buffers == 2 else tile.extents
            tiles.append(tile)
        registers = {
            one.statement: self._register(one.statement, ending) for one in run.members if one.register
        }
        near = {tile.name: self._near(tile) for tile in tiles if tile.dealt is not None}
        names = (
            "tile",
            "first",
            "last",
            "buffer",
            "worker",
            "cell",
            "column",
            "spot",
            *(f"place{axis}" for axis in range(8)),
        )
        variables = {name: arrays.added(name) for name in names}
        variables |= {f"element_{axis}": arrays.added(f"element_{axis}") for axis in "xyz"}
        variables["step"] = arrays.added(step_name(self.scop, run))
        return RunNames(tuple(tiles), registers, near, variables, buffers)

    def _near(self, tile: StagedTile) -> str:
        """The name of the registers for what a thread reads of ``tile`` in one step."""
        array = tile.box.array
        name = self.arrays.added(tile.name.replace(f"{array}_tile", f"{array}_near", 1))
        self.arrays.registers.add(name)
        self.arrays.dtypes[name] = self.arrays.dtypes[tile.name]
        return name

    def _register(self, statement: str, ending: str) -> str:
        """The name of the registers for the cells that ``statement`` assigns."""
        target = next(one.array for one in self.scop.statement(statement).accesses if one.kind == "write")
        known = self.arrays.registers
        wanted = f"{target}_own{ending}"
        name = self.arrays.added(f"{target}_{statement}" if wanted in known else wanted)
        known.add(name)
        self.arrays.dtypes[name] = self.arrays.dtypes[target]
        return name

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
            kernels.append(described(builder, first))
        text = self._head()
        for builder in bodies:
            text += "\n" + builder.head()
            shift = text.count("\n")
            self.lines.update({line + shift: origin for line, origin in builder.text.origins.items()})
            text += builder.text.text() + "}\n"
        return _Printed(with_complex(text), self.lines, tuple(kernels), self.arrays)

    def _uses_complex(self) -> bool:
        stored = any(dtype.startswith("complex") for dtype in self.arrays.dtypes.values())
        return stored or self.printer.uses_complex

    def _writing(self) -> Writing:
        return Writing(
            self.scop,
            self.arrays,
            self.names,
            self.printer,
            self.bodies,
            self.trees,
            self.width,
            self.reorder,
            self.runs,
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
        helpers += index_helpers(self.printer.helpers)
        device_helpers = helpers.replace("static inline", "static __device__ inline")
        title = f"/* {self.scop.name}: schedule {self.plan.schedule.scheduler}, generated by polyviz. */\n"
        copies = NEAR_MEMORY if self.runs and not self.like else ""
        numbers = complex_text() if self._uses_complex() else ""
        parts = (title + PREAMBLE, INDEX_WIDTH, numbers, copies, device_helpers.rstrip("\n"))
        return "\n\n".join(part for part in parts if part) + "\n"


def step_name(scop: Scop, run: StagedRun) -> str:
    """The iterator that moves along the loop of ``run``, where it does not move along anything else."""
    for member in run.members:
        for name, value in zip(scop.statement(member.statement).iterators, member.iterators, strict=True):
            if bound_expression(value) == Name(STEP):
                return name
    return "step"


def _distinct(wanted: Mapping[str, str], taken: frozenset[str]) -> dict[str, str]:
    """The wanted names, changed where they are ``taken`` or wanted twice."""
    found: dict[str, str] = {}
    for key, name in wanted.items():
        free = name
        while free in taken or free in found.values():
            free += "_"
        found[key] = free
    return found

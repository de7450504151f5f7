"""The kernels of a device as Python for ``numba.cuda``, for teaching: the same kernels as the CUDA text, line by line.

The text is whole: the kernels, and a function with the original signature that moves the arrays, launches, and brings
the results back. With ``NUMBA_ENABLE_CUDASIM=1`` in the environment it runs on any machine, one Python thread per
thread of a block.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from polyviz.codegen.calling import local_arrays, result_names, written_arrays
from polyviz.codegen.compensated import compensated_statements
from polyviz.codegen.cuda import CudaText, private_copies
from polyviz.codegen.device_loops import host_steps, kernel_loops
from polyviz.codegen.dtypes import numpy_name
from polyviz.codegen.expressions_python import PythonExpressionPrinter
from polyviz.codegen.helpers_python import PYTHON_HELPERS
from polyviz.codegen.index import simplified
from polyviz.codegen.loops_python import range_text, words
from polyviz.codegen.numba_cuda_kernel import NumbaCudaKernel
from polyviz.codegen.ordered_sums import ordered_statements
from polyviz.codegen.preamble_cuda import CUDA_RESERVED
from polyviz.codegen.reserved_python import PYTHON_RESERVED
from polyviz.codegen.text import TextBuilder
from polyviz.codegen.typing import Environment
from polyviz.errors import CodegenError
from polyviz.model.device_program import HostBranch, HostLoop, HostSequence, HostStep, KernelText, Launch
from polyviz.model.expression import Constant, Element, Expression, substitute
from polyviz.model.program import FloatingPoint, Program
from polyviz.model.words import sized

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from polyviz.model.device import DeviceKernel
    from polyviz.model.plan import Plan
    from polyviz.model.program import ArrayType, LocalArray
    from polyviz.model.scop import Parameter, Scop

TARGET = "numba-cuda"
LARGEST = 65535
"""Blocks along y and z that every device takes."""
RESERVED = CUDA_RESERVED | PYTHON_RESERVED | {"cuda", "grid"}


def print_numba_cuda(
    scop: Scop, plan: Plan, types: Mapping[str, ArrayType], floating_point: FloatingPoint = "reassociate"
) -> Program:
    """``plan``, one for a device, as Python for ``numba.cuda``, with every access where the loops have it.

    Tiles in shared memory are left out, which the head of the text says. Raises ``CodegenError`` for a plan of a
    processor, and for what kernels cannot express.
    """
    if plan.device is None:
        raise CodegenError(
            f"The target {plan.target!r} has no kernels, so there is no text of them to read.",
            hint="Compile for the target 'emulated'.",
        )
    left_out = tuple(_left_out(kernel) for kernel in plan.device.kernels if kernel.runs)
    plan = replace(plan, device=replace(plan.device, kernels=plan.device.plain))
    environment = Environment({name: kind.dtype for name, kind in types.items()})
    in_order = ordered_statements(scop, environment) or compensated_statements(scop, environment)
    reorder = floating_point == "reassociate" and not in_order
    device = CudaText(scop, plan, types, reorder, reserved=RESERVED)
    return _NumbaCudaText(scop, plan, types, device, left_out).program(floating_point)


def _left_out(kernel: DeviceKernel) -> str:
    """What the kernel that runs has beyond this text."""
    parts = []
    for run in kernel.runs:
        tiles = ", ".join(dict.fromkeys(box.array for box in run.boxes))
        cells = sized((size for _, size in run.elements), "cell")
        names = ", ".join(run.statements)
        parts.append(f"tiles of {tiles} in shared memory for {names}, {cells} per thread")
    return f"kernel {kernel.number}: {'; '.join(parts)}"


@dataclass
class _NumbaCudaText:
    """The state of printing one program."""

    scop: Scop
    plan: Plan
    types: Mapping[str, ArrayType]
    device: CudaText
    left_out: tuple[str, ...] = ()
    text: TextBuilder = field(default_factory=TextBuilder)

    def __post_init__(self) -> None:
        self.arrays = self.device.arrays
        self.printer = PythonExpressionPrinter(self.arrays.variable_names, self._scalar)
        self.given = frozenset(argument.name for argument in self.scop.arguments)
        stored = [name for name in self.arrays.stored if name != self.arrays.failure_cell]
        self.moved = {name: self.arrays.added(f"device_{name}") for name in stored}
        self.locals = (
            *local_arrays(self.scop, self.types),
            *private_copies(self.scop, self.plan, self.types),
        )

    def program(self, floating_point: FloatingPoint) -> Program:
        """The whole text with its host."""
        described = self.device.printed().kernels
        kernels = self._kernels()
        passed = {
            kernel.kernel.number: self._passed(kernel, text)
            for kernel, text in zip(kernels, described, strict=True)
        }
        self._head(kernels)
        for kernel in kernels:
            self._kernel(kernel, passed[kernel.kernel.number])
        self._host(described, passed)
        return Program(
            target=TARGET,
            name=self.symbol,
            text=self.text.text(),
            arguments=(),
            types=dict(self.types),
            lines=self.text.origins,
            floating_point=floating_point,
            written=written_arrays(self.scop),
            results=result_names(self.scop),
            result_is_tuple=self.scop.is_cell or self.scop.result.is_tuple,
            cut=self.scop.result.cut,
        )

    @property
    def symbol(self) -> str:
        """The name of the function on the host."""
        return f"{self.scop.name}_" if self.scop.name in RESERVED else self.scop.name

    def _kernels(self) -> list[NumbaCudaKernel]:
        device = self.plan.device
        assert device is not None
        coordinates = self.device.coordinates()
        taken = [self.arrays.taken | set(names.values()) for names in coordinates]
        loops = kernel_loops(self.scop, self.plan, taken, trees=self.device.shares)
        kernels = []
        for kernel, node in zip(device.kernels, loops, strict=True):
            printed = NumbaCudaKernel(self.device, kernel, coordinates[kernel.number])
            printed.print(node)
            kernels.append(printed)
        return kernels

    def _passed(self, kernel: NumbaCudaKernel, described: KernelText) -> tuple[str, ...]:
        """What the kernel needs: sizes, arrays, scalars, and the variables of host loops by their coordinates."""
        used = words(kernel.text.text())
        names = [*(one.name for one in self.scop.parameters), *self.arrays.stored, *self.arrays.names]
        found = [name for name in dict.fromkeys(names) if self.arrays.identifier(name) in used]
        return (*found, *described.host)

    def _head(self, kernels: Sequence[NumbaCudaKernel]) -> None:
        schedule = self.plan.schedule.scheduler
        title = f'"""{self.scop.name}: schedule {schedule}, generated by polyviz.'
        told = []
        if self.left_out:
            told += ["The kernels before memory is staged, with blocks as large as they were then."]
            told += ["The CUDA text, which is what runs, goes on from here:", *self.left_out]
        if self.arrays.failure_cell:
            told += ["The CUDA text tests what only the data tell, subscripts and steps; this one does not."]
        lines = [title, "", *told, '"""'] if told else [f'{title}"""']
        lines += ["", "import math", ""]
        lines += ["import numpy as np", "from numba import cuda", "", ""]
        for helper in sorted(set().union(*(kernel.printer.helpers for kernel in kernels))):
            lines += ["@cuda.jit(device=True)", *PYTHON_HELPERS[helper].splitlines(), "", ""]
        for line in lines:
            self.text.add(0, line)

    def _kernel(self, kernel: NumbaCudaKernel, passed: Sequence[str]) -> None:
        spelled = [kernel.coordinates.get(name) or self.arrays.identifier(name) for name in passed]
        self.text.add(0, "@cuda.jit")
        self.text.add(0, f"def {kernel.name}({', '.join(spelled)}):")
        shift = len(self.text.lines)
        self.text.lines += [*kernel.text.lines, "", ""]
        self.text.origins.update({line + shift: origin for line, origin in kernel.text.origins.items()})

    def _host(self, described: Sequence[KernelText], passed: Mapping[int, Sequence[str]]) -> None:
        add = self.text.add
        arguments = ", ".join(self.arrays.identifier(argument.name) for argument in self.scop.arguments)
        add(0, f"def {self.symbol}({arguments}):")
        for parameter in self.scop.parameters:
            if parameter.name not in self.given:
                add(1, f"{self.arrays.identifier(parameter.name)} = {self._parameter(parameter)}")
        for local in self.locals:
            add(1, f"{self.arrays.identifier(local.name)} = {self._local(local)}")
        for name, moved in self.moved.items():
            add(1, f"{moved} = cuda.to_device({self._on_host(name)})")
        assert self.plan.device is not None
        self._step(host_steps(self.scop, self.plan.device), described, passed, 1)
        self._results()

    def _step(
        self, step: HostStep, kernels: Sequence[KernelText], passed: Mapping[int, Sequence[str]], indent: int
    ) -> None:
        match step:
            case HostSequence(steps):
                for one in steps:
                    self._step(one, kernels, passed, indent)
            case HostBranch(condition, then, otherwise):
                self.text.add(indent, f"if {self.printer.expression(condition)}:")
                self._step(then, kernels, passed, indent + 1)
                if otherwise is not None:
                    self.text.add(indent, "else:")
                    self._step(otherwise, kernels, passed, indent + 1)
            case HostLoop(iterator, start, stop, stride, body):
                header = range_text(self.printer, start, stop, stride)
                self.text.add(indent, f"for {iterator} in {header}:")
                self._step(body, kernels, passed, indent + 1)
            case Launch():
                self._launch(step, kernels[step.kernel], passed[step.kernel], indent)

    def _launch(self, launch: Launch, kernel: KernelText, passed: Sequence[str], indent: int) -> None:
        values = dict(zip(kernel.host, launch.values, strict=True))
        arguments = ", ".join(self._argument(name, values) for name in passed)
        counts = [self._count(count, values, axis) for axis, count in enumerate(kernel.grid)]
        grid, block = _tuple(counts), _tuple([*map(str, kernel.block)])
        self.text.add(indent, f"grid = {grid}")
        self.text.add(indent, "if min(grid) > 0:")
        self.text.add(indent + 1, f"{kernel.name}[grid, {block}]({arguments})")

    def _count(self, count: Expression, values: Mapping[str, Expression], axis: int) -> str:
        known = substitute(count, dict(values))
        assert isinstance(known, Expression)
        text = self.printer.expression(simplified(known))
        return text if axis == 0 or isinstance(known, Constant) else f"min({text}, {LARGEST})"

    def _argument(self, name: str, values: Mapping[str, Expression]) -> str:
        if name in values:
            return self.printer.expression(values[name])
        return self.moved.get(name) or self.arrays.identifier(name)

    def _scalar(self, element: Element, _: PythonExpressionPrinter) -> str:
        return self.arrays.identifier(element.array)

    def _parameter(self, parameter: Parameter) -> str:
        source = parameter.source
        if source.kind == "shape":
            return f"{self.arrays.identifier(source.name)}.shape[{source.axis}]"
        if source.expression is not None:
            return self.printer.expression(source.expression)
        return self.arrays.identifier(source.name)

    def _local(self, local: LocalArray) -> str:
        extents = "".join(f"{self.printer.expression(extent)}, " for extent in local.extents)
        fill = f", {self.printer.expression(local.fill)}" if local.fill is not None else ""
        return f"np.{local.function}(({extents}){fill}, np.{numpy_name(local.dtype)})"

    def _on_host(self, name: str) -> str:
        """What moves to the device: an array without gaps, or one cell for a scalar that kernels write."""
        spelled = self.arrays.identifier(name)
        if name in self.arrays.cells:
            value = spelled if name in self.given else "0"
            return f"np.full(1, {value}, np.{numpy_name(self.types[name].dtype)})"
        plain = name not in self.types or self.types[name].layout == "C"
        return spelled if plain else f"np.ascontiguousarray({spelled})"

    def _results(self) -> None:
        results = result_names(self.scop)
        made = [local.name for local in self.locals if local.name in results]
        for name in dict.fromkeys((*written_arrays(self.scop), *made)):
            self.text.add(1, f"{self.arrays.identifier(name)}[...] = {self.moved[name]}.copy_to_host()")
        for name in self.arrays.cells:
            if name in results:
                self.text.add(1, f"{self.arrays.identifier(name)} = {self.moved[name]}.copy_to_host()[0]")
        if results:
            comma = "," if (self.scop.result.is_tuple or self.scop.is_cell) and len(results) == 1 else ""
            self.text.add(1, f"return {', '.join(map(self.arrays.identifier, results))}{comma}")


def _tuple(counts: Sequence[str]) -> str:
    """``counts`` as a tuple without the ones at its end; the first count stays."""
    kept = list(counts)
    while len(kept) > 1 and kept[-1] == "1":
        kept.pop()
    return f"({kept[0]},)" if len(kept) == 1 else f"({', '.join(kept)})"

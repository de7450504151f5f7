"""A compiled loop nest: called like the original, specialised on argument types like a numba function."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from functools import cached_property
from types import MethodType
from typing import TYPE_CHECKING, Any

from polyviz.analysis.bounds import check_bounds
from polyviz.codegen.calling import written_arrays
from polyviz.codegen.cards import kernel_cards
from polyviz.codegen.generate import with_types
from polyviz.codegen.numba_cuda import print_numba_cuda
from polyviz.errors import OutOfBoundsError, OverlapError, ToolchainError
from polyviz.mapping import with_smaller_tiles
from polyviz.model.display import Displayable
from polyviz.model.exclusion import exclusive
from polyviz.runtime.as_written import PROCESSORS, AsWritten
from polyviz.runtime.binding import Binder
from polyviz.runtime.bound_to_process import BoundToProcess
from polyviz.runtime.data_bounds import DataBounds
from polyviz.runtime.device_notes import times_of
from polyviz.runtime.device_views import device_view
from polyviz.runtime.execute import Runner, make_runner
from polyviz.runtime.failures import instead_of
from polyviz.runtime.layouts import layout_notes
from polyviz.runtime.nvrtc import KernelResources, compile_text, resource_report
from polyviz.runtime.outside import located
from polyviz.runtime.reports import report_of
from polyviz.runtime.simulator import simulate
from polyviz.runtime.sized_kernels import SizedKernels
from polyviz.runtime.specialising import OtherPlans, Specialiser

if TYPE_CHECKING:
    import inspect
    from collections.abc import Callable, Mapping

    from polyviz.model.dependences import Dependences
    from polyviz.model.device_view import DeviceView
    from polyviz.model.kernel_card import KernelCard
    from polyviz.model.plan import Plan
    from polyviz.model.program import ArrayType, FloatingPoint, Overlap, Program
    from polyviz.model.schedule import Schedule
    from polyviz.model.scop import Scop
    from polyviz.model.transfers import DeviceTimes
    from polyviz.runtime.bound import Bound
    from polyviz.runtime.emulator import EmulationReport
    from polyviz.runtime.original import Original

BOUNDS_REMEMBERED = 64
"""How many combinations of sizes a kernel remembers as checked."""


@dataclass(frozen=True, slots=True)
class Compiled:
    """One specialisation: the program for these argument types and what runs it."""

    program: Program
    runner: Runner


class Kernel(BoundToProcess, Displayable):
    """A loop nest under a chosen schedule on a chosen target.

    Calling it does what the original function does: same arguments, same changes in place, same result. Where arguments
    overlap in memory it raises, or with ``overlap="as-written"`` (not on a device) the loop runs as written, and a
    warning says so; subscripts out of range raise before anything is changed. ``others`` makes the plans to go on with
    where ``plan`` does not suit what a call brings.
    """

    def __init__(
        self,
        scop: Scop,
        dependences: Dependences,
        plan: Plan,
        original: Original,
        *,
        floating_point: FloatingPoint = "reassociate",
        overlap: Overlap = "refuse",
        signature: inspect.Signature | None = None,
        others: OtherPlans | None = None,
    ) -> None:
        self.scop = scop
        self.dependences = dependences
        self._programs = Specialiser(scop, dependences, plan, floating_point, others)
        self.original = original
        self.floating_point = floating_point
        self.overlap = overlap
        self.__name__ = scop.name
        self.__doc__ = scop.docstring or None
        self._substitute = None if others is None else others.substitute
        self._remarks: tuple[str, ...] = ()
        self._binder = Binder(scop, signature, on_device=plan.target == "cuda", knows_rows=plan.target == "c")
        self._compiling = threading.Lock()
        self._compiled: dict[object, Compiled] = {}
        self._latest: Program | None = None
        self.layouts: tuple[str, ...] = ()
        """Which arrays made the latest call slower, a sentence each."""
        self._bounds_checked: set[object] = set()
        self._data_bounds = DataBounds(scop, BOUNDS_REMEMBERED)
        self._as_written = AsWritten(original, plan.target)
        self._quick = self._binder.quick_calls()
        self._sized = SizedKernels(scop, others, floating_point)

    @property
    def plan(self) -> Plan:
        """How the schedule is mapped to the target, in the latest program."""
        return self.plan_of(self._latest)

    def plan_of(self, program: Program | None) -> Plan:
        """How the schedule is mapped to the target in ``program``, one of this kernel's own."""
        sized = self._sized.of(program)
        return self._programs.plan_of(program) if sized is None else sized.plan_of(program)

    def has(self, program: Program) -> bool:
        """Whether a call of this kernel ran ``program``."""
        return any(found.program is program for found in self._compiled.values())

    @cached_property
    def py_func(self) -> Callable[..., Any]:
        """The loops as they were written, as a plain function, which numba calls so, too: other loops may call it."""
        return self.original.python()

    @property
    def schedule(self) -> Schedule:
        """The schedule, with the decisions that led to it."""
        return self.plan.schedule

    @property
    def target(self) -> str:
        """Where the code runs: ``c``, ``numba``, ``python``, ``cuda`` or ``emulated``."""
        return self.plan.target

    @property
    def __signature__(self) -> inspect.Signature:
        return self._binder.signature

    @property
    def source(self) -> str:
        """The generated text: of the latest call's types, or for float64 arrays before the first call."""
        return self.program.text

    @property
    def program(self) -> Program:
        """The generated program of the latest call, or for float64 C-contiguous arrays before the first one."""
        if self._latest is None:
            self._latest = self.specialise({})
        return self._latest

    @property
    def cards(self) -> tuple[KernelCard, ...]:
        """One card per kernel of a device, with the counts of the latest emulated call; empty on a processor."""
        device = self.program.device
        if device is None:
            return ()
        return self._cards_of(self.program, self.emulation)

    @exclusive
    def device_view(self, *, resources: bool = False) -> DeviceView | None:
        """Cards, who runs which iteration, and the orders of blocks and threads; None on a processor.

        With ``resources`` the text is compiled, which needs no device, for registers, spills and occupancy.
        """
        if self.plan.device is None:
            return None
        view = self.view_of(self.program, self.emulation)
        if resources:
            rows, compiler = resource_report(self.program)
            view = replace(view, resources=rows, compiler=compiler)
        return view

    @exclusive
    def view_of(
        self, program: Program, report: EmulationReport | None, *, verified: bool | None = None
    ) -> DeviceView:
        """What there is to see of ``program``, which is this kernel for a device, and of a run of it in the emulator.

        ``verified`` tells whether its results were those of the loops as written; None where nothing was compared.
        """
        return device_view(self.scop, self.plan, program, self._cards_of(program, report), report, verified=verified)

    def _cards_of(self, program: Program, report: EmulationReport | None) -> tuple[KernelCard, ...]:
        if report is None:
            return kernel_cards(program, (), getattr(self._latest_runner(), "steps", None))
        return kernel_cards(program, report.counts, report.steps)

    @property
    def emulation(self) -> EmulationReport | None:
        """What the emulator counted in the latest call; None before it and on other targets."""
        return getattr(self._latest_runner(), "report", None)

    @property
    def device_times(self) -> DeviceTimes | None:
        """The times of the latest call by the device's own clock; None before it and on a processor."""
        return None if (runner := self._latest_runner()) is None else times_of(runner)

    @property
    def teaching_source(self) -> str:
        """The kernels of a device as Python for ``numba.cuda``, before memory is staged.

        Its head says what the CUDA text has beyond that. It is a whole program, with transfers and launches;
        ``simulate`` runs it without a device. Raises CodegenError on a processor.
        """
        return self._teaching(self.program.types).text

    def simulate(self, *arguments: Any, **keywords: Any) -> Any:
        """Run the teaching text on ``arguments`` in numba's simulator of CUDA; the result of the original function.

        Slow: every thread of a block is one of Python. Raises CodegenError on a processor.
        """
        bound = self.bind(arguments, keywords)
        self.program_for(bound)  # a plan whose loops isl cannot write gives way to another one there
        outcome = simulate(self._teaching(bound.types), bound.given)
        for name, values in outcome.arrays.items():
            bound.given[name][...] = values
        return outcome.result

    @exclusive
    def _teaching(self, types: Mapping[str, ArrayType]) -> Program:
        scop, kinds = with_types(self.scop, types)
        return print_numba_cuda(scop, self.plan, kinds, self.floating_point)

    def _latest_runner(self) -> Runner | None:
        compiled = (self._sized.of(self._latest) or self)._compiled.values()
        return next((found.runner for found in compiled if found.program is self._latest), None)

    def resources(self, architecture: str = "sm_90") -> tuple[KernelResources, ...]:
        """Registers, shared memory and spills of each kernel of a device, from NVRTC, which needs no device.

        Raises ToolchainError where NVRTC is missing or refuses the text; empty on a processor.
        """
        if self.program.device is None:
            return ()
        return compile_text(self.program.text, architecture, self.program.compiled_as).kernels

    def __get__(self, instance: object, owner: type | None = None) -> Kernel | MethodType:
        """As an attribute of a class it is a method, as a function is."""
        return self if instance is None else MethodType(self, instance)

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        """Run on ``arguments``; the result of the original function."""
        try:
            ran = None if keywords else self._quick.run(arguments)
            if ran is None:
                return self._run(arguments, keywords)
        except OutOfBoundsError as error:
            raise self._located(error, arguments, keywords) from None
        self._latest, self.layouts, result = ran
        return result

    def _run(self, arguments: tuple[Any, ...], keywords: Mapping[str, Any]) -> Any:
        """A call that is not like one before."""
        try:
            bound = self.bind(arguments, keywords)
        except OverlapError as error:
            if self.target not in PROCESSORS:
                if self.overlap == "as-written":
                    error.hint += f' overlap="as-written" is for processors, and {self.target!r} is a device.'
                raise
            if self.overlap == "refuse":
                error.hint += (
                    ' Or compile with overlap="as-written": then the loop runs in its own order, and slower.'
                )
                raise
            return self._as_written(
                self.bind(arguments, keywords, overlapping=True).given, written_arrays(self.scop), error
            )
        kernel, bound = self._for_sizes_of(bound)
        compiled = kernel._compile(bound)
        self._latest, self.layouts = compiled.program, layout_notes(bound.given, compiled.program.transposed)
        result = compiled.runner(bound.given, bound.parameters)
        if not keywords:
            self._quick.remember(arguments, bound, compiled.runner)
        return result

    def _located(
        self, error: OutOfBoundsError, arguments: tuple[Any, ...], keywords: Mapping[str, Any]
    ) -> OutOfBoundsError:
        """``error`` with the iteration and the value; what stays on a device is not run again here."""
        if error.text or self.target == "cuda":
            return error
        return located(error, self.scop, self.original, self.bind(arguments, keywords, overlapping=True).given)

    def bind(self, arguments: tuple[Any, ...], keywords: Mapping[str, Any], *, overlapping: bool = False) -> Bound:
        """The values of a call, checked: types, overlap unless it is allowed, and every affine subscript."""
        bound = self._binder.bind(arguments, keywords, overlapping=overlapping)
        key = (tuple(bound.parameters.items()), tuple(bound.shapes.items()))
        if key not in self._bounds_checked:
            self._check_bounds(bound, key)
        return replace(bound, standing=self._data_bounds.standing(bound)) if self.target in PROCESSORS else bound

    @exclusive
    def _check_bounds(self, bound: Bound, key: object) -> None:
        check_bounds(self.scop, dict(bound.parameters), bound.shapes)
        if len(self._bounds_checked) >= BOUNDS_REMEMBERED:
            self._bounds_checked.clear()
        self._bounds_checked.add(key)

    @exclusive
    def specialise(self, types: Mapping[str, ArrayType], *, untested: bool = False) -> Program:
        """The program for argument ``types``; arguments that are not named are float64 and C-contiguous.

        ``untested``: for calls of which is known that no subscript is negative or out of range.
        Where their loops would take isl too long, the kernel's plan goes on without tiles, then in the source's order.
        """
        program = self._programs.program(types, untested=untested)
        return replace(program, notes=(*program.notes, *self._remarks)) if self._remarks else program

    def with_floating_point(self, choice: FloatingPoint) -> Kernel:
        """The same plan under another floating-point contract; this kernel where it is the same."""
        if choice == self.floating_point:
            return self
        other = Kernel(
            self.scop,
            self.dependences,
            self._programs.plan,
            self.original,
            floating_point=choice,
            overlap=self.overlap,
            signature=self._binder.signature,
            others=self._programs.others,
        )
        other._substitute, other._remarks = self._substitute, self._remarks
        return other

    def program_for(self, bound: Bound) -> Program:
        """The program for one call's types."""
        kernel, bound = self._for_sizes_of(self._binder.retyped(bound))
        found = kernel._compiled.get(bound.kind)
        if found is not None:
            return found.program
        return bound.run_by(kernel.specialise(bound.types, untested=bound.untested))

    @property
    def has_substitute(self) -> bool:
        """Whether another target takes over where the program does not compile."""
        return self._substitute is not None

    def prepare(self, bound: Bound) -> None:
        """Do what can be done before a call: generate its program, and compile it where that does not need the call.

        Afterwards ``target`` is the one that the call runs on. Raises ToolchainError, CodegenError.
        """
        kernel, bound = self._for_sizes_of(self._binder.retyped(bound))
        self._latest = kernel._compile(bound).program

    def _for_sizes_of(self, bound: Bound) -> tuple[Kernel, Bound]:
        """The kernel for the short sizes of a call, or this one, with what it makes of the values of the call."""
        sized = self._sized.for_call(bound)
        if sized is None:
            return self, bound
        bound = sized._binder.retyped(bound)
        return sized, replace(bound, standing=sized._data_bounds.standing(bound))

    def _compile(self, bound: Bound) -> Compiled:
        key = bound.kind
        compiled = self._compiled.get(key)
        if compiled is None:
            with self._compiling:
                compiled = self._compiled.get(key)
                if compiled is None:
                    compiled = self._compiled[key] = self._made(bound)
        return compiled

    def _made(self, bound: Bound) -> Compiled:
        """The program for calls like ``bound`` and what runs it; the substitute's where the first does not compile."""
        program = bound.run_by(self._fitting(bound))
        try:
            return Compiled(program, make_runner(program))
        except ToolchainError as error:
            if self._substitute is None:
                raise
            before, self._programs.plan, self._substitute = self.target, self._substitute(), None
            self._remarks = (instead_of(before, self.target, error),)
        program = bound.run_by(self.specialise(bound.types, untested=bound.untested))
        return Compiled(program, make_runner(program))

    def _fitting(self, bound: Bound) -> Program:
        """The program for calls like ``bound``; for a device, with register tiles that the one at hand holds."""
        program = self.specialise(bound.types, untested=bound.untested)
        if self.target != "cuda":
            return program
        from polyviz.runtime.register_fit import spilled_tiles

        while too_large := spilled_tiles(self._programs.plan, program):
            self._programs.plan = with_smaller_tiles(self.scop, self._programs.plan, too_large)
            program = self.specialise(bound.types)
        return program

    def report(self) -> str:
        """What was decided and why, what could not be done, what was assumed, and what made the latest call slower."""
        notes = (*self.scop.notes, *self.program.notes, *self.layouts, *getattr(self._latest_runner(), "notes", ()))
        return report_of(self.scop.name, self.plan, self.floating_point, notes)

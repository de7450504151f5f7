"""The target ``emulated``: CUDA text compiled as C++, threads as fibers in a shuffled order, every access watched."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from polyviz.codegen.preamble_cuda import with_wide_indices
from polyviz.errors import EmulationError, ToolchainError
from polyviz.model.device_program import AccessCount
from polyviz.model.words import plural
from polyviz.runtime.cache import BuildCache
from polyviz.runtime.device_host import (
    host_value,
    is_narrow,
    largest_size,
    launch_calls,
    raise_failure,
    scalar_of,
    steps_of,
)
from polyviz.runtime.execute import make_locals, plain_arrays, result_of, write_back
from polyviz.runtime.native import NativeFunction, integer, pointer
from polyviz.runtime.toolchain import find_cxx_toolchain

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from polyviz.model.device_program import AccessSite, DeviceProgram, KernelText
    from polyviz.model.program import Program, ProgramArgument
    from polyviz.runtime.device_host import LaunchCall

_COUNTERS = 5
_KEPT = 8
"""Iterators and subscripts that a finding tells."""
_FINDING_FIELDS = 20 + 3 * _KEPT
_FINDINGS_KEPT = 32
_RACE, _OUT_OF_BOUNDS, _UNINITIALISED, _DIVERGENT = 1, 2, 3, 4
NOTE = (
    "emulated on the processor, every access watched; not timed, since that would say nothing about a device"
)


@dataclass(frozen=True, slots=True)
class EmulationReport:
    """What one emulated run counted: per access of the text, the barriers that blocks passed, for these ``sizes``.

    ``steps`` are the cells from one value of each subscript to the next, by array, as the arguments had them;
    ``uncounted`` the accesses of threads beyond the executions that count (see :class:`AccessCount`).
    """

    counts: tuple[AccessCount, ...]
    barriers: int
    launches: int
    sizes: Mapping[str, int] = field(default_factory=dict)
    steps: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    uncounted: int = 0

    def __str__(self) -> str:
        transactions = sum(count.transactions for count in self.counts)
        requests = sum(count.requests for count in self.counts if count.transactions)
        conflicts = sum(count.conflicts for count in self.counts)
        sizes = ", ".join(f"{name} = {value}" for name, value in self.sizes.items())
        launches = plural(self.launches, "launch", "launches")
        return (
            f"{sizes or 'one run'}: {launches}, {plural(transactions, 'transaction')} for "
            f"{plural(requests, 'request')} of global memory, {plural(self.barriers, 'barrier')} passed by all blocks "
            f"together, {plural(conflicts, 'round')} lost to bank conflicts"
        )


class EmulatedRunner:
    """Runs a device program on the processor; ``seed`` decides the order of threads, warps and blocks.

    ``report`` holds the counts of the latest run.
    """

    def __init__(self, program: Program, *, seed: int = 1) -> None:
        toolchain = find_cxx_toolchain()
        if toolchain is None:
            raise ToolchainError(
                "No C++ compiler was found, which the target 'emulated' needs.",
                hint="Install g++ (on Debian: apt-get install g++).",
            )
        assert program.device is not None
        built = BuildCache().library(header() + program.device.instrumented, toolchain, "strict")
        self._toolchain = toolchain
        self.program = program
        self.device: DeviceProgram = program.device
        self.seed = seed
        self.compile_seconds = built.compile_seconds
        self.notes: tuple[str, ...] = (NOTE, *((built.note,) if built.note else ()))
        self.report: EmulationReport | None = None
        self._library = self._narrow = str(built.path)

    def __call__(self, given: Mapping[str, Any], parameters: Mapping[str, int]) -> Any:
        """Run in place. Raises EmulationError, with all arrays as they were, for what would go wrong on a device."""
        arrays, copied = plain_arrays(given)
        values: dict[str, Any] = {
            **given,
            **arrays,
            **make_locals(self.program.locals, {**given, **parameters}),
        }
        backups = {name: values[name].copy() for name in self.program.written}
        cells = {name: self._cell(name, values) for name in self.device.cells}
        try:
            self._run({**values, **cells}, parameters)
            raise_failure(self.program, values)
        except BaseException:
            for name, backup in backups.items():
                values[name][...] = backup
            raise
        write_back(self.program, values, copied)
        return result_of(self.program, {**values, **{name: cell[()].item() for name, cell in cells.items()}})

    def _cell(self, name: str, values: Mapping[str, Any]) -> NDArray[Any]:
        return np.array(values.get(name, 0)).astype(self.program.types[name].dtype)

    def _run(self, values: Mapping[str, Any], parameters: Mapping[str, int]) -> None:
        sites = [site for kernel in self.device.kernels for site in kernel.sites]
        self._library = self._library_for(values, parameters)
        launches = 0
        try:
            self._started(sites)
            for number, name in enumerate(self.device.arrays):
                self._define(number, name, values[name])
            for call in launch_calls(self.device, parameters):
                self._launch(call, values, parameters, launches)
                launches += 1
            self._check(sites)
            steps = {name: steps_of(values[name]) for name in self.device.arrays}
            self.report = replace(self._counted(sites, launches), sizes=dict(parameters), steps=steps)
        finally:
            self._function("emulator_finish")(integer(len(self.device.arrays)))

    def _library_for(self, values: Mapping[str, Any], parameters: Mapping[str, int]) -> str:
        """The kernels with subscripts of 32 bits where these are enough, with 64 otherwise."""
        largest = largest_size(self.device, values, parameters)
        calls = launch_calls(self.device, parameters)
        if all(is_narrow(self.device.kernels[call.kernel], call, largest) for call in calls):
            return self._narrow
        text = header() + with_wide_indices(self.device.instrumented)
        return str(BuildCache().library(text, self._toolchain, "strict").path)

    def _started(self, sites: list[AccessSite]) -> None:
        if self._function("emulator_start")(integer(1 + max((site.number for site in sites), default=-1))):
            raise EmulationError("There is no memory for the counts of the emulator.", hint="No array was changed.")

    def _define(self, number: int, name: str, array: NDArray[Any]) -> None:
        extents = np.array(array.shape, dtype=np.int64)
        steps = np.array(steps_of(array), dtype=np.int64)
        failed = self._function("emulator_array")(
            integer(number),
            pointer(array),
            integer(array.itemsize),
            integer(array.ndim),
            pointer(extents),
            pointer(steps),
        )
        if failed:
            raise EmulationError(
                f"There is no memory to watch the {array.size:,} cells of array {name}.",
                reason="The emulator notes for every cell who read and who wrote it last.",
                hint="Emulate with smaller arrays: races and transactions show there as well. No array was changed.",
            )

    def _launch(
        self, call: LaunchCall, values: Mapping[str, Any], parameters: Mapping[str, int], number: int
    ) -> None:
        kernel = self.device.kernels[call.kernel]
        slots = np.zeros(max(1, len(kernel.arguments)), dtype=np.int64)
        for place, argument in enumerate(kernel.arguments):
            if argument.kind not in ("array", "cell"):
                value = (
                    host_value(argument, call)
                    if argument.kind == "host"
                    else scalar_of(argument, values, parameters)
                )
                _fill(slots, place, argument, value)
        grid, block = (np.array(sizes, dtype=np.int64) for sizes in (call.grid, kernel.block))
        self._function("emulate")(
            integer(call.kernel), pointer(grid), pointer(block), pointer(slots), integer(self.seed + number)
        )

    def _check(self, sites: list[AccessSite]) -> None:
        found = np.zeros((_FINDINGS_KEPT, _FINDING_FIELDS), dtype=np.int64)
        count = self._function("emulator_findings")(pointer(found))
        if count:
            by_number = {site.number: site for site in sites}
            raise EmulationError(
                _finding_text([int(value) for value in found[0]], by_number, self.device.kernels),
                reason=f"{count} such findings in all." if 1 < count < _FINDINGS_KEPT else "",
                hint="No array was changed.",
            )

    def _counted(self, sites: list[AccessSite], launches: int) -> EmulationReport:
        size = 1 + max((site.number for site in sites), default=-1)
        flat = np.zeros(2 * size * _COUNTERS + 2, dtype=np.int64)
        self._function("emulator_counts")(pointer(flat))
        table = flat[:-2].reshape(size, 2, _COUNTERS)
        counts = []
        for site in sites:
            for write, numbers in enumerate(table[site.number]):
                requests, transactions, lanes, moved, conflicts = (int(value) for value in numbers)
                if requests:
                    counts.append(
                        AccessCount(site.number, bool(write), requests, transactions, lanes, moved, conflicts)
                    )
        return EmulationReport(tuple(counts), int(flat[-2]), launches, uncounted=int(flat[-1]))

    def _function(self, name: str) -> NativeFunction:
        return NativeFunction(self._library, name)


@cache
def header() -> str:
    """The C++ text that stands before the kernels."""
    return files("polyviz.runtime").joinpath("emulator.hpp").read_text(encoding="utf-8")


def _fill(slots: NDArray[np.int64], place: int, argument: ProgramArgument, value: Any) -> None:
    raw = np.dtype(argument.dtype if argument.kind == "scalar" else "int64").type(value).tobytes()
    ctypes.memmove(slots.ctypes.data + 8 * place, raw, len(raw))


def _finding_text(
    finding: list[int], sites: Mapping[int, AccessSite], kernels: tuple[KernelText, ...]
) -> str:
    kind, number, other, _block, _thread, _index = finding[:6]
    told = _Told.of(finding)
    if kind == _DIVERGENT:
        kernel, threads = kernels[number].name, prod(kernels[number].block)
        if other < threads:
            what = f"A barrier of {kernel} is reached by {other} of the {threads} threads of block ({told.block}) only"
        else:
            what = f"The threads of block ({told.block}) of {kernel} wait at different barriers"
        return f"{what}: all threads of a block must reach the same one."
    site = sites[number]
    kernel = kernels[site.kernel].name
    instance = f", in {site.statement}[{told.instance}]" if told.instance else ""
    where = (
        f"{site.text} in {site.statement} (line {site.line}){told.range}{instance}, "
        f"thread ({told.thread}) of block ({told.block}) of {kernel}"
    )
    if kind == _RACE:
        return (
            f"A race: {where}, and {told.other} without a barrier between use the same cell, and one of them writes it."
        )
    if kind == _OUT_OF_BOUNDS:
        return f"A subscript is out of range: {where}."
    return f"Shared memory is read before it is written: {where}."


@dataclass(frozen=True, slots=True)
class _Told:
    """What a finding tells beside its kind, as text: coordinates, the instance, what is out of range, who else."""

    block: str
    thread: str
    instance: str
    range: str
    other: str

    @classmethod
    def of(cls, finding: list[int]) -> _Told:
        """The parts of ``finding`` in the order of the emulator's struct."""
        depth, rank = finding[12], finding[13 + _KEPT]
        instance = finding[13 : 13 + depth]
        first = 14 + _KEPT
        subscripts, extents = finding[first : first + rank], finding[first + _KEPT : first + _KEPT + rank]
        beyond = (
            f", which is [{_listed(subscripts)}] in an array of {' x '.join(map(str, extents))} cells" if rank else ""
        )
        other = _thread_text(finding[-6:-3], finding[-3:], finding[6:9])
        return cls(_listed(finding[6:9]), _listed(finding[9:12]), _listed(instance), beyond, other)


def _thread_text(block: list[int], thread: list[int], own: list[int]) -> str:
    """Another thread of a race, and its block where that is not the ``own`` one; -1 stands for several."""
    if block[0] < 0:
        return "threads of other blocks"
    whose = "the same block" if block == own else f"block ({_listed(block)})"
    return f"{'other threads' if thread[0] < 0 else f'thread ({_listed(thread)})'} of {whose}"


def _listed(values: list[int]) -> str:
    return ", ".join(map(str, values))

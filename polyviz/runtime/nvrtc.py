"""NVIDIA's run-time compiler without a device: does the text compile, and what does each kernel need?

CuPy's own compile functions ask the driver first; the raw binding of the library does not, so that text is checked and
registers are counted on any machine that has the ``nvidia-cuda-nvrtc`` wheel. Where it is missing ``nvcc`` will do.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from polyviz.errors import ToolchainError
from polyviz.model.device_view import ResourceRow
from polyviz.model.occupancy import occupancy
from polyviz.runtime.nvcc import compile_with_nvcc, find_nvcc

if TYPE_CHECKING:
    from polyviz.model.program import FloatingPoint, Program

INSTALL_HINT = "Run: pip install nvidia-cuda-nvrtc"
ARCHITECTURES = ("sm_80", "sm_90")
"""What the static report is made for when there is no device: A100 and H100."""


@dataclass(frozen=True, slots=True)
class KernelResources:
    """What ptxas says of one kernel: registers per thread, bytes of shared memory per block, bytes spilled."""

    name: str
    registers: int
    shared: int
    spill_stores: int
    spill_loads: int
    barriers: int

    def occupancy(self, architecture: str, threads: int) -> float:
        """Threads that a multiprocessor can hold at once, as a part of its most; blocks of ``threads`` threads.

        >>> KernelResources("k", 32, 0, 0, 0, 1).occupancy("sm_90", 256)
        1.0
        >>> KernelResources("k", 128, 0, 0, 0, 1).occupancy("sm_90", 256)
        0.25
        """
        return occupancy(architecture, threads, self.shared, self.registers)


@dataclass(frozen=True, slots=True)
class CompiledText:
    """Machine code for one architecture, and what its kernels need."""

    architecture: str
    binary: bytes
    kernels: tuple[KernelResources, ...]


def nvrtc_availability() -> tuple[bool, str]:
    """Whether CUDA text can be compiled here, and with what, or what to install."""
    library, reason = _library()
    if library is None:
        command = find_nvcc()
        return (False, reason) if command is None else (True, f"nvcc ({command})")
    major, minor = library.getVersion()
    return True, f"NVRTC {major}.{minor}"


def architecture_of(capability: str) -> str:
    """What to compile for on a device of this compute capability, such as ``"90"``: its own architecture.

    A device that is newer than the compiler gets the newest portable code, which its driver finishes.
    """
    library, _ = _library()
    known: tuple[int, ...] = getattr(library, "getSupportedArchs", tuple)()
    older = [number for number in known if number < int(capability)]
    return f"compute_{max(older)}" if older and int(capability) not in known else f"sm_{capability}"


def compile_text(
    text: str, architecture: str = "sm_90", floating_point: FloatingPoint = "reassociate"
) -> CompiledText:
    """Compile CUDA ``text``; raises ToolchainError with the compiler's first errors, or where NVRTC is missing."""
    library, reason = _library()
    contract = floating_point == "reassociate"
    if library is not None:
        binary, log = _compile_with_nvrtc(library, text, architecture, contract=contract)
    elif command := find_nvcc():
        binary, log = compile_with_nvcc(command, text, architecture, contract=contract)
    else:
        raise ToolchainError("CUDA text cannot be compiled here.", reason=reason, hint=INSTALL_HINT)
    return CompiledText(architecture, binary, resources_in(log))


def _compile_with_nvrtc(library: Any, text: str, architecture: str, *, contract: bool) -> tuple[bytes, str]:
    """Machine code and the messages of ptxas; raises ToolchainError."""
    options = (
        f"--gpu-architecture={architecture}",
        "--std=c++17",
        "--ptxas-options=-v",
        f"--fmad={'true' if contract else 'false'}",
    )
    program = library.createProgram(text, "kernels.cu", (), ())
    try:
        try:
            library.compileProgram(program, options)
        except library.NVRTCError as error:
            log = library.getProgramLog(program)
            raise ToolchainError(
                "NVRTC could not compile the generated text.", reason=_first_errors(log)
            ) from error
        result = library.getPTX if architecture.startswith("compute_") else library.getCUBIN
        return result(program), library.getProgramLog(program)
    finally:
        library.destroyProgram(program)


def resources_in(log: str) -> tuple[KernelResources, ...]:
    """What the messages of ptxas say of each kernel, in the order of their names.

    >>> log = "Compiling entry function 'k' for 'sm_90'\\n0 bytes spill stores, 8 bytes spill loads\\nUsed 32 registers"
    >>> resources_in(log)
    (KernelResources(name='k', registers=32, shared=0, spill_stores=0, spill_loads=8, barriers=0),)
    """
    found = []
    for part in log.split("Compiling entry function '")[1:]:
        found.append(
            KernelResources(
                part.partition("'")[0],
                registers=_number(r"Used (\d+) registers", part),
                shared=_number(r"(\d+) bytes smem", part),
                spill_stores=_number(r"(\d+) bytes spill stores", part),
                spill_loads=_number(r"(\d+) bytes spill loads", part),
                barriers=_number(r"used (\d+) barriers", part),
            )
        )
    return tuple(sorted(found, key=lambda kernel: kernel.name))


def resource_report(program: Program) -> tuple[tuple[ResourceRow, ...], str]:
    """What each kernel of ``program`` needs per architecture, and with what that was found out, or why it was not."""
    assert program.device is not None
    available, compiler = nvrtc_availability()
    if not available:
        return (), f"{compiler}; {INSTALL_HINT[0].lower()}{INSTALL_HINT[1:]}"
    threads = {one.name: one.block[0] * one.block[1] * one.block[2] for one in program.device.kernels}
    rows = []
    for architecture in ARCHITECTURES:
        try:
            found = compile_text(program.text, architecture, program.compiled_as).kernels
        except ToolchainError as error:
            return (), f"{error.message} {error.reason}"
        rows += [
            ResourceRow(
                one.name,
                architecture,
                one.registers,
                one.shared,
                one.spill_stores + one.spill_loads,
                one.occupancy(architecture, threads[one.name]),
            )
            for one in found
        ]
    return tuple(rows), compiler


def _number(pattern: str, text: str) -> int:
    found = re.search(pattern, text)
    return int(found[1]) if found else 0


def _first_errors(log: str) -> str:
    lines = [line.strip() for line in log.splitlines() if "error" in line]
    return "\n".join(lines[:5]) or log.strip()[:500]


def _library() -> tuple[Any, str]:
    """The raw binding, or None and why there is none."""
    if find_spec("cupy_backends") is None:
        return None, "CuPy is not installed, through which polyviz calls NVRTC"
    from cupy_backends.cuda.libs import nvrtc

    try:
        nvrtc.getVersion()
    except Exception as error:  # the binding's own errors, when the library is not there
        return None, f"the library of NVRTC was not found ({str(error).partition(':')[0]})"
    return nvrtc, ""

"""Machine code for the device that is here: made by NVRTC for its architecture, remembered on disk, loaded by CuPy.

CuPy compiles text too, but with an option of its own (``-ftz=true``) under which float32 numbers below 1e-38 become 0;
loops as written keep them. So the text goes the way that is checked on every machine, with a device and without.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from polyviz.errors import DeviceError, ToolchainError
from polyviz.runtime.cache import BuildCache
from polyviz.runtime.nvrtc import (
    CompiledText,
    KernelResources,
    architecture_of,
    compile_text,
    nvrtc_availability,
)
from polyviz.runtime.storage import process_directory, write_atomically

if TYPE_CHECKING:
    from polyviz.model.device_program import KernelText
    from polyviz.model.program import Program


def load_kernels(program: Program) -> list[Any]:
    """The kernels of ``program`` on the current device, in their order.

    Raises ToolchainError when the text does not compile or the device does not take it, and DeviceError for a block
    that is too large for it.
    """
    import cupy

    assert program.device is not None
    architecture = architecture_here()
    code = compiled(program, architecture).binary
    try:
        # The file has to stay: CuPy may read it again.
        path = process_directory() / f"{hashlib.sha256(code).hexdigest()}.cubin"
        write_atomically(path, code)
    except OSError as error:
        raise ToolchainError(
            "The compiled kernels cannot be stored.",
            reason=str(error),
            hint="Free some disk space, or set TMPDIR to a directory that can be written.",
        ) from error
    try:
        module = cupy.RawModule(path=str(path))
        kernels = [module.get_function(kernel.name) for kernel in program.device.kernels]
    except Exception as error:
        raise ToolchainError(
            f"The device does not take the kernels, which were compiled for {architecture}.", reason=str(error)
        ) from error
    for kernel, loaded in zip(program.device.kernels, kernels, strict=True):
        _check_block(kernel, loaded)
    return kernels


def architecture_here() -> str:
    """What to compile for on the current device."""
    import cupy

    return architecture_of(cupy.cuda.Device().compute_capability)


def compiled(program: Program, architecture: str) -> CompiledText:
    """The machine code of ``program`` and what its kernels need, from the disk where it was compiled before.

    Raises ToolchainError as ``compile_text``.
    """
    parts = ("code and needs", program.text, architecture, program.compiled_as, nvrtc_availability()[1])

    def packed() -> bytes:
        made = compile_text(program.text, architecture, program.compiled_as)
        return json.dumps([asdict(one) for one in made.kernels]).encode() + b"\n" + made.binary

    needs, _, binary = BuildCache().binary(parts, packed).partition(b"\n")
    kernels = tuple(KernelResources(**one) for one in json.loads(needs))
    return CompiledText(architecture, binary, kernels)


def _check_block(kernel: KernelText, loaded: Any) -> None:
    """Registers and shared memory may leave room for fewer threads than a block can hold in general."""
    threads = kernel.block[0] * kernel.block[1] * kernel.block[2]
    most = int(loaded.max_threads_per_block)
    if threads > most:
        raise DeviceError(
            f"A block of {kernel.name} is too large: {threads} threads, and this device takes {most} of them.",
            hint="Give fewer `threads` or smaller tiles.",
        )

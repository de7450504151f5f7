"""NVIDIA's compiler on the command line, where its library is missing: the same check and the same report."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

from polyviz.errors import ToolchainError
from polyviz.runtime.compiler import first_errors, run_compiler

REFUSED = "nvcc could not compile the generated text."


def find_nvcc() -> str | None:
    """The compiler on the PATH, None where there is none."""
    return shutil.which("nvcc")


def compile_with_nvcc(command: str, text: str, architecture: str, *, contract: bool) -> tuple[bytes, str]:
    """Machine code for ``architecture`` and the messages of ptxas; ``contract`` lets it make multiply-adds.

    Raises ToolchainError with the compiler's first errors.
    """
    with tempfile.TemporaryDirectory(prefix="polyviz-") as directory:
        source, output = Path(directory, "kernels.cu"), Path(directory, "kernels.cubin")
        source.write_text(text, encoding="utf-8")
        flags = [
            "-cubin",
            f"-arch={architecture}",
            "-std=c++17",
            "-Xptxas=-v",
            f"-fmad={str(contract).lower()}",
        ]
        try:
            outcome = run_compiler("nvcc", [command, *flags, str(source), "-o", str(output)])
        except (OSError, subprocess.TimeoutExpired) as error:
            raise ToolchainError(REFUSED, reason=str(error)) from error
        if outcome.returncode or not output.is_file():
            raise ToolchainError(REFUSED, reason=first_errors(outcome))
        return output.read_bytes(), outcome.stderr

"""What the C compilers among the peers share: the original order in C, with the sizes known, under given flags."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from polyviz.api.targets import Availability
from polyviz.benchmark.peers.protocol import Candidate
from polyviz.runtime.compiler import run_compiler
from polyviz.runtime.execute import NativeRunner
from polyviz.runtime.toolchain import Toolchain

if TYPE_CHECKING:
    from collections.abc import Mapping

    from polyviz.benchmark.session import Call
    from polyviz.benchmark.subject import Subject
    from polyviz.model.program import Program, ProgramArgument

OPTIMISED = ("-O3", "-march=native", "-ffast-math")
# Without start files: that of -ffast-math would flush denormal numbers to zero in everything the process computes.
_LIBRARY = ("-fPIC", "-shared", "-nostartfiles", "-std=gnu11")


@dataclass(frozen=True, slots=True)
class CompiledC:
    """A C program under a compiler of one's choice."""

    program: Program
    toolchain: Toolchain

    def prepare(self, _example: Mapping[str, Any], _parameters: Mapping[str, int]) -> Call:
        """Compile; the program is made for its sizes, so the example does not run."""
        return NativeRunner(self.program, self.toolchain)


@dataclass(frozen=True, slots=True)
class Compiler:
    """A compiler looked for under several commands."""

    name: str
    commands: tuple[str, ...]

    def command(self) -> str | None:
        """The first of the commands that is on the PATH."""
        return next((path for name in self.commands if (path := shutil.which(name))), None)

    def version(self) -> str:
        """The first line of what ``--version`` prints; empty when the compiler does not answer."""
        command = self.command()
        if command is None:
            return ""
        answer = run_compiler(self.name, [command, "--version"])
        return (answer.stdout.splitlines() or [""])[0].strip()

    def available(self) -> Availability:
        """Whether it is there, and its version."""
        found = self.version()
        if found:
            return Availability(True, found)
        return Availability(False, f"there is no {' or '.join(self.commands)} on the PATH")

    def candidate(self, label: str, subject: Subject, flags: tuple[str, ...]) -> Candidate:
        """The original order under ``flags``."""
        shown = " ".join(flags)
        command = self.command()
        if subject.program is None or command is None:
            return Candidate(label, shown, None, subject.program_reason)
        toolchain = Toolchain(self.name, (command,), self.version(), True, (*_LIBRARY, *flags, "-lm"))
        return Candidate(label, shown, CompiledC(with_known_sizes(subject.program, subject), toolchain))


def with_known_sizes(program: Program, subject: Subject) -> Program:
    """``program`` with the sizes of ``subject`` told to the compiler, as PolyBench's own build does it.

    The promise stands in the text as a branch that cannot be reached: gcc and clang propagate the values from it.
    """
    # Helper functions may stand before the kernel, which is the last function of the text.
    head, brace, body = program.text.rpartition(")\n{\n")
    declarations = head.rpartition("(\n")[2].split(",\n")
    known = [
        f"{declaration.split()[-1]} != {size}"
        for declaration, argument in zip(declarations, program.arguments, strict=True)
        if (size := _size(argument, subject)) is not None
    ]
    if not known:
        return program
    promise = f"    if ({' || '.join(known)}) __builtin_unreachable();\n"
    return replace(program, text=f"{head}{brace}{promise}{body}")


def _size(argument: ProgramArgument, subject: Subject) -> int | None:
    if argument.kind == "parameter":
        return subject.parameters[argument.name]
    if argument.kind == "extent":
        return subject.shapes[argument.name][argument.axis]
    return None

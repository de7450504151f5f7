"""Finding a C compiler, finding out whether it can do OpenMP, and making shared libraries with it.

Searched in this order: the command in ``POLYVIZ_CC``, then gcc, clang and cc on the PATH, then ``zig cc`` from the
``ziglang`` wheel. What a compiler can do is found out by compiling and running a tiny program, not by its version.
"""

from __future__ import annotations

import hashlib
import importlib.util
import itertools
import json
import os
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from polyviz.errors import ToolchainError
from polyviz.runtime.compiler import compile_file, run_compiler
from polyviz.runtime.machine import this_machine
from polyviz.runtime.storage import cache_directory, process_directory, write_atomically

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyviz.model.program import FloatingPoint

COMPILER_VARIABLE = "POLYVIZ_CC"

INSTALL_HINT = (
    "Install gcc (on Debian: apt-get install gcc libc6-dev), or run: pip install ziglang intel-openmp; "
    "or name a compiler in POLYVIZ_CC."
)

_OTHERWISE = "Correct it, or unset it: then gcc, clang, cc and the ziglang package are tried."
"""What to do about a compiler of the user's own choice."""

FLOATING_POINT_FLAGS: dict[FloatingPoint, tuple[str, ...]] = {
    # Neither errno nor trap flags are visible from Python; giving them up changes no value and permits vector code.
    "strict": ("-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math"),
    "reassociate": (
        "-ffp-contract=fast",
        "-fno-math-errno",
        "-fno-trapping-math",
        "-fno-signed-zeros",
        "-fassociative-math",
    ),
}
"""How far the compiler may change floating-point results.

``strict``: not at all; no operation is contracted or reordered, so results stay bitwise those of the written order.
``reassociate``: sums may be reordered, multiply-adds contracted, the sign of zero ignored and the last bits of library
functions left to their vector variants; NaN and infinity keep their meaning (``-ffinite-math-only`` is never used), so
``min``, ``max`` and comparisons stay right.
"""

_BASE_FLAGS = ("-O3", "-march=native", "-fPIC", "-shared", "-std=gnu11")

WHOLE_VECTORS = (("-mprefer-vector-width=512", "-mstore-max=512"), ("-mprefer-vector-width=512",))
"""Left alone, gcc and clang write loops for half of a vector of 64 bytes, from the days when whole ones slowed down a
processor's clock. What is cleared before such a loop must be stored as wide as it is loaded, or the load waits for the
stores; gcc knows how from its version 12 on. The first of these that a compiler takes is used."""

_ELF, _ELF_OF_64_BITS, _ELF_HEADER = b"\x7fELF", b"\x02", 64
"""How a library begins, and the size of what says where its last part, the table of sections, lies."""

_PROBE = """
#include <math.h>
#include <stdint.h>
int main(int argc, char **argv)
{
    int64_t threads = 0;
#ifdef NEEDS_OPENMP
#ifndef _OPENMP
#error "OpenMP is not switched on"
#endif
#pragma omp parallel reduction(+ : threads)
#endif
    threads += 1;
    return threads < 1 || sqrt((double)argc) < 0.0;
}
"""


@dataclass(frozen=True, slots=True)
class Toolchain:
    """A C compiler that was seen to work.

    ``command`` starts it, ``version`` is the first line of its ``--version``, ``flags`` are the ones every shared
    library gets (after the source file, since they name libraries too).
    """

    name: str
    command: tuple[str, ...]
    version: str
    openmp: bool
    flags: tuple[str, ...]

    @property
    def is_clang(self) -> bool:
        """Whether it is LLVM's compiler, under whatever name: it refuses some of GCC's options."""
        return self.name == "zig" or "clang" in self.version.lower()

    @property
    def identity(self) -> str:
        """Text that changes when the compiler does: command, version, and the time its file was last changed."""
        return _identity(self.command, self.version)


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A compiler that may or may not be there and work."""

    name: str
    command: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Search:
    """The outcome of one search: a toolchain, or the reason why there is none."""

    toolchain: Toolchain | None
    reason: str


_searches: dict[tuple[str, ...], _Search] = {}


def find_toolchain() -> Toolchain | None:
    """The first C compiler that works, or None; :func:`toolchain_availability` tells why none does."""
    return _search().toolchain


def toolchain_availability() -> tuple[bool, str]:
    """Whether C can be compiled here, and a sentence: with what, or what to install."""
    search = _search()
    return search.toolchain is not None, search.reason


_CXX_NAMES = {"gcc": "g++", "clang": "clang++", "cc": "c++", "zig": "c++"}
_CXX_FLAGS = ("-O1", "-g0", "-fPIC", "-shared", "-std=gnu++17", "-nostdinc++", "-w", "-lm")
"""The texts need the headers of C alone; what C++ makes of ``math.h`` takes as long to read as the rest to compile."""
_CXX_PROBE = """
#include <ucontext.h>
template <class... Parts> int count(Parts...) { return sizeof...(Parts); }
int main() { ucontext_t context; return getcontext(&context) + count(); }
"""


def find_cxx_toolchain() -> Toolchain | None:
    """A C++ compiler that knows fibers (``ucontext.h``), beside the C compiler that was found; None without one."""
    found = find_toolchain()
    if found is None:
        return None
    if found.command[0] not in _cxx_known:
        _cxx_known[found.command[0]] = _cxx_beside(found)
    return _cxx_known[found.command[0]]


_cxx_known: dict[str, Toolchain | None] = {}


def _cxx_beside(found: Toolchain) -> Toolchain | None:
    own = found.name == "zig"
    path = found.command[0] if own else shutil.which(_CXX_NAMES.get(found.name, "c++")) or shutil.which("c++")
    if path is None:
        return None
    command = (path, "c++", "-x", "c++") if own else (path, "-x", "c++")
    candidate = _Candidate("zig" if own else "c++", command)
    if _probe(candidate, _CXX_FLAGS, _CXX_PROBE) is not None:
        return None
    return Toolchain(candidate.name, command, found.version, False, _CXX_FLAGS)


def compile_shared(
    toolchain: Toolchain,
    source_text: str,
    output_path: Path,
    *,
    flags: Sequence[str] = (),
    source_path: Path | None = None,
) -> None:
    """Compile C text into a shared library at ``output_path``; ``flags`` come on top of the toolchain's own.

    The text is kept beside the output, with suffix ``.c``; ``source_path`` names a file that holds it already.
    Raises ToolchainError with the compiler's first errors, OSError when the text cannot be written.
    """
    source = source_path or output_path.with_suffix(".c")
    if source_path is None:
        write_atomically(source, source_text.encode())
    failure = compile_file(toolchain.name, toolchain.command, source, output_path, (*toolchain.flags, *flags))
    if failure is None and is_whole_library(output_path):
        return
    failure = failure or "it reported no error, but wrote no whole library"
    output_path.unlink(missing_ok=True)
    raise ToolchainError(
        f"The C compiler ({toolchain.name}) could not compile the generated code.",
        reason=failure,
        hint=f"The source is kept in {source}.",
    )


def is_whole_library(path: Path) -> bool:
    """Whether ``path`` holds all of an ELF image (elsewhere than on Linux: anything); to load a part of one would end
    the process."""
    try:
        with path.open("rb") as file:
            head, size = file.read(_ELF_HEADER), os.fstat(file.fileno()).st_size
    except OSError:
        return False
    if sys.platform != "linux" or (head.startswith(_ELF) and head[4:5] != _ELF_OF_64_BITS):
        return size > 0
    if len(head) < _ELF_HEADER or not head.startswith(_ELF):
        return False
    order = "<" if head[5] == 1 else ">"
    table, width, count = struct.unpack(f"{order}40xQ10xHH2x", head)
    return bool(table + width * count <= size)


def _search() -> _Search:
    key = (os.environ.get(COMPILER_VARIABLE, ""), os.environ.get("PATH", ""), str(cache_directory()))
    if key in _searches:
        return _searches[key]
    search = _search_anew(os.environ.get(COMPILER_VARIABLE, ""))
    # Without a compiler, look again next time: the user may have installed one meanwhile.
    if search.toolchain is not None:
        _searches[key] = search
    return search


def _search_anew(chosen: str) -> _Search:
    candidates = _chosen_candidate(chosen) if chosen else _installed_candidates()
    refusals: list[str] = []
    for candidate in candidates:
        outcome = _examine(candidate)
        if isinstance(outcome, Toolchain):
            passed_over = f" Passed over: {'; '.join(refusals)}." if refusals else ""
            return _Search(outcome, _describe(outcome) + passed_over)
        refusals.append(f"{candidate.name}: {outcome}")
    return _Search(None, _explain_absence(chosen, refusals))


def _describe(toolchain: Toolchain) -> str:
    compiler = f"{toolchain.name} ({toolchain.version})"
    if toolchain.openmp:
        return f"{compiler} with OpenMP."
    wheel = toolchain.name in {"zig", "clang"}
    advice = "run pip install intel-openmp" if wheel else "install its OpenMP library"
    return f"{compiler} without OpenMP, so loops run on one core; {advice} to change that."


def _explain_absence(chosen: str, refusals: list[str]) -> str:
    if chosen and not refusals:
        return f"POLYVIZ_CC names {chosen!r}, and there is no such command. {_OTHERWISE}"
    if chosen:
        return f"POLYVIZ_CC names {chosen!r}, which does not work ({refusals[0]}). {_OTHERWISE}"
    if refusals:
        return f"No C compiler works ({'; '.join(refusals)}). {INSTALL_HINT}"
    return f"No C compiler was found (looked for gcc, clang, cc and the ziglang package). {INSTALL_HINT}"


def _chosen_candidate(chosen: str) -> list[_Candidate]:
    try:
        words = shlex.split(chosen)
    except ValueError:  # an unfinished quotation is no command either
        words = []
    path = shutil.which(words[0]) if words else None
    return [_Candidate(Path(path).name, (path, *words[1:]))] if path else []


def _installed_candidates() -> list[_Candidate]:
    found = [(name, shutil.which(name)) for name in ("gcc", "clang", "cc")]
    candidates = [_Candidate(name, (path,)) for name, path in found if path]
    zig = _zig_executable()
    if zig is not None:
        candidates.append(_Candidate("zig", (str(zig), "cc")))
    return candidates


def _zig_executable() -> Path | None:
    """The compiler inside the ``ziglang`` wheel; asked for without importing it."""
    specification = importlib.util.find_spec("ziglang")
    for location in (specification.submodule_search_locations or ()) if specification else ():
        executable = Path(location) / ("zig.exe" if os.name == "nt" else "zig")
        if executable.is_file():
            return executable
    return None


def _intel_openmp() -> Path | None:
    """The OpenMP run time of the ``intel-openmp`` wheel, which lies in the library folder of the environment."""
    library = Path(sys.prefix) / "lib" / "libiomp5.so"
    return library if library.is_file() else None


def _openmp_flags() -> list[tuple[str, ...]]:
    """Ways to switch OpenMP on, best first: the compiler's own run time, then the wheel's."""
    ways: list[tuple[str, ...]] = [("-fopenmp",)]
    library = _intel_openmp()
    if library is not None:
        # zig and a clang without libomp accept -fopenmp and then link nothing for it.
        ways.append(("-fopenmp", str(library), f"-Wl,-rpath,{library.parent}"))
    return ways


def _examine(candidate: _Candidate) -> Toolchain | str:
    """The toolchain behind ``candidate``, or why it does not work."""
    try:
        answer = run_compiler(candidate.name, [*candidate.command, "--version"])
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"it does not start ({error})"
    if answer.returncode != 0:
        return "it does not answer --version"
    version = (answer.stdout.splitlines() or ["unknown version"])[0].strip()
    remembered = _recall(candidate, version)
    if remembered is not None:
        return Toolchain(candidate.name, candidate.command, version, True, remembered)
    # zig checks for undefined behaviour in C unless told otherwise, which aborts the process.
    base = (*_BASE_FLAGS, "-fno-sanitize=undefined") if candidate.name == "zig" else _BASE_FLAGS
    for whole, way in itertools.product((*_whole_vector_flags(), ()), _openmp_flags()):
        flags = (*base, *whole, *way, "-lm")
        if _probe(candidate, (*flags, "-DNEEDS_OPENMP")) is None:
            _remember(candidate, version, flags)
            return Toolchain(candidate.name, candidate.command, version, True, flags)
    failure = _probe(candidate, (*base, "-lm"))
    if failure is not None:
        return f"it cannot build a small program: {failure.splitlines()[0]}"
    return Toolchain(candidate.name, candidate.command, version, False, (*base, "-lm"))


def _whole_vector_flags() -> tuple[tuple[str, ...], ...]:
    """What may make a compiler use vectors of 64 bytes where the processor has them, best first."""
    return WHOLE_VECTORS if this_machine().processor.vector_bytes == 64 else ()


def _probe(candidate: _Candidate, flags: tuple[str, ...], text: str = _PROBE) -> str | None:
    """Compile and run a tiny program with ``flags``; None when it worked, else what went wrong."""
    with tempfile.TemporaryDirectory(prefix="probe-", dir=process_directory()) as directory:
        source = Path(directory) / "probe.c"
        program = Path(directory) / "probe"
        source.write_text(text, encoding="utf-8")
        executable_flags = tuple(flag for flag in flags if flag != "-shared")
        failure = compile_file(candidate.name, candidate.command, source, program, executable_flags)
        if failure is not None:
            return failure
        # The program is run in a process of its own: a second OpenMP run time must not enter this one.
        try:
            outcome = run_compiler(candidate.name, [str(program)])
        except OSError:  # a command that ends well need not be a compiler
            return "it wrote no program that can be run"
        except subprocess.TimeoutExpired:
            return "the program it built does not end"
        return (
            None
            if outcome.returncode == 0
            else f"the program it built ended with status {outcome.returncode}"
        )


def _identity(command: tuple[str, ...], version: str) -> str:
    try:
        changed = Path(command[0]).stat().st_mtime_ns
    except OSError:
        changed = 0
    return "\n".join([*command, version, str(changed)])


def _record(candidate: _Candidate, version: str) -> Path:
    wanted = (*_BASE_FLAGS, *itertools.chain.from_iterable(_whole_vector_flags()))
    parts = [_identity(candidate.command, version), str(_intel_openmp()), *wanted, _PROBE]
    digest = hashlib.sha256("\n".join(parts).encode()).hexdigest()
    return cache_directory() / "toolchains" / f"{digest[:32]}.json"


def _recall(candidate: _Candidate, version: str) -> tuple[str, ...] | None:
    """The flags an earlier process saw working; None when there is no readable record."""
    try:
        flags = json.loads(_record(candidate, version).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    if not isinstance(flags, list) or not all(isinstance(flag, str) for flag in flags):
        return None
    return tuple(flags)


def _remember(candidate: _Candidate, version: str, flags: tuple[str, ...]) -> None:
    # Only success is kept: what is missing today may be installed tomorrow without the compiler changing.
    try:
        write_atomically(_record(candidate, version), json.dumps(flags).encode())
    except OSError:
        return  # The next process probes again; nothing but a moment is lost.

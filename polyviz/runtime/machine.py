"""What this machine is: processor, cores, caches, vector extensions, memory, and how many threads a kernel gets."""

from __future__ import annotations

import hashlib
import math
import os
import platform
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from polyviz.model.processor import Processor

if TYPE_CHECKING:
    from collections.abc import Mapping

_DEFAULT_SIZES = {"L1d": 32 * 1024, "L2": 256 * 1024, "L3": 8 * 1024 * 1024}
_DEFAULT_LINE = 64
_UNITS = {"": 1, "K": 1024, "M": 1024**2, "G": 1024**3}
_VECTOR_EXTENSIONS = (
    "sse4_2",
    "avx",
    "avx2",
    "fma",
    "avx512f",
    "avx512dq",
    "avx512bw",
    "avx512vl",
    "neon",
    "asimd",
    "sve",
    "sve2",
)


@dataclass(frozen=True, slots=True)
class Machine:
    """A description of the processor and memory; sizes in bytes.

    ``memory`` is 0 when unknown. ``identity`` differs between processors that differ in their instructions (a virtual
    machine may call several of them by one name). ``notes`` name every figure that could not be read and was replaced
    by a default.
    """

    name: str
    architecture: str
    cores: int
    l1_data: int
    l2: int
    l3: int
    line: int
    vector_extensions: tuple[str, ...]
    memory: int
    identity: str = ""
    notes: tuple[str, ...] = ()

    @property
    def _registers(self) -> str:
        found = self.processor
        if not found.vector_registers:
            return "none, since they need AVX2 with FMA, AVX-512 or NEON"
        return f"{found.vector_registers} vector registers of {found.vector_bytes} bytes"

    @property
    def processor(self) -> Processor:
        """What the mapping builds on: vector registers, caches, cores."""
        size, count = _vector_registers(set(self.vector_extensions))
        return Processor(size, count, self.l1_data, self.l2, self.cores, self.l3)

    def describe(self) -> str:
        """A short text for a report.

        >>> print(Machine("A CPU", "x86_64", 4, 32768, 1048576, 8388608, 64, ("avx2", "fma"), 8 * 1024**3).describe())
        A CPU (x86_64), 4 usable cores, 8.0 GiB memory
        caches: L1d 32 KiB, L2 1 MiB, L3 8 MiB, lines of 64 bytes
        vector extensions: avx2 fma
        register tiles: 16 vector registers of 32 bytes
        """
        cores = "1 usable core" if self.cores == 1 else f"{self.cores} usable cores"
        memory = f"{self.memory / 1024**3:.1f} GiB memory" if self.memory else "memory unknown"
        lines = [
            f"{self.name} ({self.architecture}), {cores}, {memory}",
            f"caches: L1d {_size(self.l1_data)}, L2 {_size(self.l2)}, L3 {_size(self.l3)}, "
            f"lines of {self.line} bytes",
            f"vector extensions: {' '.join(self.vector_extensions) or 'none known'}",
            f"register tiles: {self._registers}",
            *(f"note: {note}" for note in self.notes),
        ]
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class ThreadCount:
    """How many threads a parallel loop gets, and which rule says so."""

    count: int
    reason: str


@lru_cache(maxsize=1)
def this_machine() -> Machine:
    """The machine this process runs on, read once."""
    return read_machine()


def read_machine(root: Path = Path("/")) -> Machine:
    """Read the description from the ``proc`` and ``sys`` trees below ``root``."""
    processor = _read(root / "proc/cpuinfo")
    notes: list[str] = []
    caches = _read_caches(root / "sys/devices/system/cpu/cpu0/cache")
    sizes = {name: _size_or_default(name, caches, notes) for name in _DEFAULT_SIZES}
    line = caches.get("line", 0)
    if not line:
        notes.append(f"the cache line size could not be read; {_DEFAULT_LINE} bytes are assumed")
    memory = _field(_read(root / "proc/meminfo"), "MemTotal").removesuffix("kB").strip()
    flags = set((_field(processor, "flags") or _field(processor, "Features")).split())
    return Machine(
        name=_field(processor, "model name") or platform.processor() or "unknown processor",
        architecture=platform.machine(),
        cores=usable_cores(),
        l1_data=sizes["L1d"],
        l2=sizes["L2"],
        l3=sizes["L3"],
        line=line or _DEFAULT_LINE,
        vector_extensions=tuple(name for name in _VECTOR_EXTENSIONS if name in flags),
        memory=int(memory) * 1024 if memory.isdecimal() else 0,
        identity=_processor_identity(processor),
        notes=tuple(notes),
    )


def usable_cores() -> int:
    """The cores that this process gets, which can be fewer than the machine has: those it may run on, and no more of
    them than its container pays for."""
    return int(min(_cores_in_sight(), time_of_cores()))


def _cores_in_sight() -> int:
    """The cores this process may run on; in a container often all of them, though it gets the time of a few."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@lru_cache(maxsize=8)
def time_of_cores(root: Path = Path("/")) -> float:
    """How many cores' time the control group of this process may use, rounded up; infinite where nothing bounds it.

    Containers are bounded so (``docker run --cpus=2``, limits of Kubernetes): with a thread for every core in sight,
    all of them would stand still for most of every tenth of a second.
    """
    groups = root / "sys/fs/cgroup"
    bound = _read(groups / "cpu.max").split() or [
        _read(groups / "cpu" / name).strip() for name in ("cpu.cfs_quota_us", "cpu.cfs_period_us")
    ]
    if len(bound) != 2 or not all(one.isdecimal() and int(one) for one in bound):
        return math.inf
    time, period = map(int, bound)
    return math.ceil(time / period)


def thread_count(environment: Mapping[str, str] = os.environ) -> ThreadCount:
    """``OMP_NUM_THREADS`` when it holds a positive number (of a list, the first), else the usable cores.

    >>> thread_count({"OMP_NUM_THREADS": "4,2"})
    ThreadCount(count=4, reason='OMP_NUM_THREADS is 4,2')
    """
    wanted = environment.get("OMP_NUM_THREADS", "")
    if first := _asked_for(environment):
        return ThreadCount(first, f"OMP_NUM_THREADS is {wanted}")
    reason = "one per usable core"
    if usable_cores() < _cores_in_sight():
        reason = f"the time that this container gets, of {_cores_in_sight()} cores"
    ignored = f"; OMP_NUM_THREADS is ignored, since {wanted!r} is not a positive number" if wanted else ""
    return ThreadCount(usable_cores(), f"{reason}{ignored}")


def thread_limit(asked: int | None, environment: Mapping[str, str] = os.environ) -> int | None:
    """How many threads parallel loops get at most: as many as ``asked``, or what a container pays for; None where the
    libraries' own choice holds, which is that of the user or one per core."""
    if asked is not None or _asked_for(environment):
        return asked
    cores = usable_cores()
    return cores if cores < _cores_in_sight() else None


def _asked_for(environment: Mapping[str, str]) -> int:
    """The number in ``OMP_NUM_THREADS``; 0 where it is none."""
    first = environment.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    return int(first) if first.isdecimal() else 0


def _vector_registers(extensions: set[str]) -> tuple[int, int]:
    """Their size in bytes and their number; zeros where vectors are too short or too few to hold a tile."""
    if "avx512f" in extensions:
        return 64, 32
    if {"avx2", "fma"} <= extensions:
        return 32, 16
    if extensions & {"neon", "asimd"}:
        return 16, 32
    return 0, 0


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _field(text: str, name: str) -> str:
    """The value of the first ``name : value`` line; empty when there is none."""
    match = re.search(rf"^{re.escape(name)}\s*:\s*(.*)$", text, re.MULTILINE)
    return match.group(1).strip() if match else ""


def _processor_identity(processor: str) -> str:
    names = ("vendor_id", "cpu family", "model", "model name", "stepping", "flags", "CPU part", "Features")
    text = "\n".join([platform.machine(), *(_field(processor, name) for name in names)])
    return hashlib.sha256(text.encode()).hexdigest()


def _read_caches(directory: Path) -> dict[str, int]:
    """Sizes by level ("L1d", "L2", "L3") and the line size ("line"), as far as they can be read."""
    found: dict[str, int] = {}
    for index in sorted(directory.glob("index*")):
        level, kind = _read(index / "level").strip(), _read(index / "type").strip()
        size = _parse_size(_read(index / "size").strip())
        if not size or kind == "Instruction":
            continue
        found["L1d" if level == "1" else f"L{level}"] = size
        line = _read(index / "coherency_line_size").strip()
        if line.isdecimal():
            found.setdefault("line", int(line))
    return found


def _parse_size(text: str) -> int:
    match = re.fullmatch(r"(\d+)([KMG]?)", text)
    return int(match.group(1)) * _UNITS[match.group(2)] if match else 0


def _size_or_default(name: str, caches: Mapping[str, int], notes: list[str]) -> int:
    if name not in caches:
        notes.append(f"the {name} cache could not be read; {_size(_DEFAULT_SIZES[name])} are assumed")
    return caches.get(name, _DEFAULT_SIZES[name])


def _size(size: int) -> str:
    if size >= 1024**2 and size % 1024**2 == 0:
        return f"{size // 1024**2} MiB"
    return f"{size // 1024} KiB"

"""What tuning found, kept on disk for later compilations of the same loops on the same machine.

One file per key in ``<cache>/tuning``, named by the SHA-256 of the key: the machine (processor, cores, C compiler), the
loops (every statement with its domain, its order and its subscripts; the name of the function does not count), the
scheduler, the target and the floating-point contract. A file is JSON: the key in words, and one entry per *size class*.
Two runs are of one class when their arrays hold the same floating-point type and each of their sizes lies between the
same powers of two. Writers take turns by a lock beside the file; readers find a whole file or none.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import math
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from polyviz.runtime.machine import this_machine
from polyviz.runtime.storage import cache_directory, write_atomically
from polyviz.runtime.toolchain import find_toolchain

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from polyviz.model.program import ArrayType
    from polyviz.model.scop import Scop

FORMAT = 1
_DAMAGES = (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError)
"""What comes of a file whose bytes are no text, whose text is no JSON, or that holds something else than entries."""


@dataclass(frozen=True, slots=True)
class Key:
    """What an entry is good for: ``kernel`` is :func:`fingerprint`, ``machine`` :func:`machine_identity`."""

    machine: str
    kernel: str
    schedule: str
    target: str
    contract: str

    @property
    def digest(self) -> str:
        """The name of the file."""
        return hashlib.sha256("\0".join(asdict(self).values()).encode()).hexdigest()[:40]


@dataclass(frozen=True, slots=True)
class Entry:
    """What was found for one size class.

    ``options`` are keywords of ``pv.compile`` (none: the defaults were best); ``sizes`` and ``element`` are those it
    was found for; ``speedup`` is against the defaults; ``tried`` candidates were run; ``day`` is an ISO date.
    ``others`` are the keywords of candidates that were no better, in this search and those before: the next one goes
    on behind them.
    """

    options: Mapping[str, Any]
    sizes: Mapping[str, int]
    element: str
    speedup: float
    tried: int
    day: str
    others: tuple[Mapping[str, Any], ...] = ()

    @property
    def size_class(self) -> str:
        """The runs that this entry is for."""
        return size_class(self.sizes, self.element)


def size_class(sizes: Mapping[str, int], element: str) -> str:
    """The class of a run: its element type, and every size rounded down to a power of two.

    >>> size_class({"n": 1000, "m": 1}, "float64")
    'float64 m=1 n=512'
    """
    rounded = (f"{name}={_power_below(value)}" for name, value in sorted(sizes.items()))
    return " ".join([element, *rounded])


def _power_below(value: int) -> int:
    return 2 ** (value.bit_length() - 1) if value > 0 else value


def element_type(types: Mapping[str, ArrayType]) -> str:
    """The widest floating-point type among arrays; where there is none, the type of the first one.

    >>> from polyviz.model.program import ArrayType
    >>> element_type({"n": ArrayType("int64", 0), "A": ArrayType("float32", 2)})
    'float32'
    """
    found = [kind.dtype for kind in types.values() if kind.rank]
    floating = [dtype for dtype in found if dtype.startswith(("float", "complex"))]
    return max(floating, default=found[0] if found else "")


def fingerprint(scop: Scop) -> str:
    """A digest of the loops: equal for two functions that differ in their name, comments and types only."""
    parts = [str(scop.context)]
    for statement in scop.statements:
        parts += [statement.name, statement.source, str(statement.domain)]
        parts += [f"{access.kind} {access.relation}" for access in statement.accesses]
    parts.append(str(scop.schedule))
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def machine_identity() -> str:
    """What the speed of code depends on here: processor, usable cores, compiler."""
    machine, toolchain = this_machine(), find_toolchain()
    compiler = toolchain.version if toolchain is not None else "no compiler"
    return f"{machine.identity}, {machine.cores} cores, {compiler}"


@dataclass(frozen=True, slots=True)
class Recollection:
    """The entry for a run, None where there is none; ``note`` says what is wrong with the file, if anything."""

    entry: Entry | None = None
    note: str = ""


class Memory:
    """The files below ``directory`` (default: ``tuning`` in the cache directory)."""

    def __init__(self, directory: Path | None = None) -> None:
        self.directory = directory or cache_directory() / "tuning"

    @property
    def is_empty(self) -> bool:
        """Whether nothing can have been remembered yet."""
        try:
            return not self.directory.is_dir()
        except OSError:  # `recall` says that it cannot be read
            return False

    def path(self, key: Key) -> Path:
        """The file of ``key``, which need not exist."""
        return self.directory / f"{key.digest}.json"

    def recall(self, key: Key, sizes: Mapping[str, int] | None, element: str) -> Recollection:
        """The entry for a run of these ``sizes``; without sizes, the one that was found for the largest.

        ``element`` may be empty, for any type. A file that cannot be read counts as none, and the note says so.
        """
        path = self.path(key)
        try:
            entries = _entries(json.loads(path.read_bytes()))
        except FileNotFoundError:
            return Recollection()
        except OSError as error:
            why = error.strerror or error
            return Recollection(note=f"what tuning remembered cannot be read and is ignored ({why}): {path}")
        except _DAMAGES as error:
            return Recollection(note=f"what tuning remembered is damaged and ignored ({error}): {path}")
        return Recollection(_best(entries, sizes, element))

    def keep(self, key: Key, entry: Entry) -> None:
        """Remember ``entry``, instead of an older one of its class. Raises OSError when nothing can be written."""
        path = self.path(key)
        with _locked(path.with_suffix(".lock")):
            entries = {one.size_class: one for one in self._present(path)}
            entries[entry.size_class] = entry
            document = {
                "format": FORMAT,
                **asdict(key),
                "entries": [asdict(one) for one in entries.values()],
            }
            write_atomically(path, (json.dumps(document, indent=1) + "\n").encode())

    def _present(self, path: Path) -> list[Entry]:
        try:
            return _entries(json.loads(path.read_bytes()))
        except (OSError, *_DAMAGES):
            return []


def _entries(document: Any) -> list[Entry]:
    if document["format"] != FORMAT:
        raise ValueError(f"format {document['format']!r}, not {FORMAT}")
    return [_entry(item) for item in document["entries"]]


def _entry(item: Mapping[str, Any]) -> Entry:
    found = Entry(**item)
    if not (math.isfinite(found.speedup) and isinstance(found.element, str) and isinstance(found.day, str)):
        raise ValueError("an entry without its figures")
    sizes = {str(name): int(value) for name, value in found.sizes.items()}
    others = tuple(_options(other) for other in found.others)
    return replace(found, options=_options(found.options), sizes=sizes, others=others)


def _options(given: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _value(value) for name, value in given.items()}


def _value(value: Any) -> Any:
    """JSON has no tuples. Raises ValueError for what no option can be."""
    parts = value if isinstance(value, list) else [value]
    if not all(part is None or isinstance(part, bool | int | float | str) for part in parts):
        raise ValueError(f"{value!r} is no value of an option")
    return tuple(value) if isinstance(value, list) else value


def _best(entries: list[Entry], sizes: Mapping[str, int] | None, element: str) -> Entry | None:
    fitting = [entry for entry in entries if not element or entry.element == element]
    if sizes is not None:
        fitting = [entry for entry in fitting if entry.size_class == size_class(sizes, entry.element)]
    return max(fitting, key=lambda entry: math.prod(entry.sizes.values()), default=None)


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Alone among all processes that write beside ``path``; the system frees the lock of one that dies."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield

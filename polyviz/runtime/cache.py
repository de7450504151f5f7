"""Shared libraries, and machine code of other kinds, kept on disk, so that a kernel is compiled once.

An entry is one file: the library followed by its own SHA-256 (a loader ignores what follows an ELF image). It is
written beside its final name and moved there in one step, so two processes can build the same entry at once and a
reader finds a whole library or none; a damaged entry no longer matches its digest and is built again.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING

from polyviz.errors import ToolchainError
from polyviz.runtime.machine import this_machine
from polyviz.runtime.storage import cache_directory, process_directory, write_atomically
from polyviz.runtime.toolchain import FLOATING_POINT_FLAGS, Toolchain, compile_shared
from polyviz.runtime.unfused import NOTE, WITHOUT_VECTORS, fuses_in_turn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from polyviz.model.program import FloatingPoint

MAXIMUM_ENTRIES = 500
_DIGEST_SIZE = hashlib.sha256().digest_size
_ABANDONED = 3600.0
"""Seconds after which a half-written file must belong to a process that died."""


@dataclass(frozen=True, slots=True)
class BuiltLibrary:
    """A shared library on disk.

    ``hit``: it was there already; ``compile_seconds`` is 0.0 then. ``note`` says what did not go by plan
    (cache not writable, entry damaged); it is empty when all went well.
    """

    path: Path
    hit: bool
    compile_seconds: float
    note: str = ""


class BuildCache:
    """Builds shared libraries from C text, and remembers them on disk.

    ``directory`` defaults to ``POLYVIZ_CACHE_DIR`` or the user's cache directory; at most ``maximum_entries``
    libraries stay in it, the longest unused go first.
    """

    def __init__(self, directory: Path | None = None, *, maximum_entries: int = MAXIMUM_ENTRIES) -> None:
        self.directory = directory or cache_directory() / "libraries"
        self.maximum_entries = maximum_entries

    def library(
        self,
        source: str,
        toolchain: Toolchain,
        floating_point: FloatingPoint = "strict",
        *,
        extra_flags: tuple[str, ...] = (),
    ) -> BuiltLibrary:
        """The shared library of ``source``: from the cache, or compiled now.

        ``extra_flags`` come last on the compiler's command line. Raises ToolchainError when the compiler refuses
        the text, or when neither the cache nor a temporary directory can be written.
        """
        flags = (*FLOATING_POINT_FLAGS[floating_point], *extra_flags)
        key = _key(source, toolchain, flags)
        try:
            present = self._present(key)
            whole = next((path for path in present if _is_whole(path)), None)
            if whole is not None:
                return self._reuse(whole)
            damaged = (
                f"The cached library {present[0]} was damaged and has been built again." if present else ""
            )
            return self._build(key, source, toolchain, flags, damaged)
        except OSError as error:
            raise ToolchainError(
                "The generated code could not be compiled, because no directory for it can be written.",
                reason=str(error),
                hint="Free some disk space, or set POLYVIZ_CACHE_DIR and TMPDIR to directories that can be written.",
            ) from error

    def binary(self, parts: Sequence[str], make: Callable[[], bytes]) -> bytes:
        """What ``make`` gives, which depends on ``parts`` alone: from the cache, or made now."""
        key = _digest(parts)
        with contextlib.suppress(OSError):
            for path in filter(_is_whole, self._present(key)):
                self._reuse(path)
                return path.read_bytes()[:-_DIGEST_SIZE]
        content = make()
        # Where nothing can be written, it is made again next time.
        with contextlib.suppress(OSError):
            self._publish(f"{key}.so", content + hashlib.sha256(content).digest())
            self._prune(keep=key)
        return content

    def _present(self, key: str) -> list[Path]:
        """The files of ``key``: in the cache, and among what this process had to keep for itself."""
        places = (self.directory / f"{key}.so", self._own_directory() / f"{key}.so")
        return [path for path in places if _exists(path)]

    def _reuse(self, path: Path) -> BuiltLibrary:
        with contextlib.suppress(OSError):  # a read-only cache is still a cache
            os.utime(path)
        elsewhere = path.parent != self.directory
        return BuiltLibrary(path, True, 0.0, _not_kept(self.directory, path.parent) if elsewhere else "")

    def _build(
        self, key: str, source: str, toolchain: Toolchain, flags: tuple[str, ...], damaged: str
    ) -> BuiltLibrary:
        # Compiled outside the cache: the compiler may write its output in pieces.
        draft = process_directory() / f"{key}.{uuid.uuid4().hex}.so"
        started = time.perf_counter()
        try:
            text = self._keep_source(key, source)
            compile_shared(toolchain, source, draft, flags=flags, source_path=text)
            fused = "-ffp-contract=off" in flags and fuses_in_turn(draft, toolchain)
            if fused:
                compile_shared(toolchain, source, draft, flags=(*flags, *WITHOUT_VECTORS), source_path=text)
            content = draft.read_bytes()
        finally:
            draft.unlink(missing_ok=True)
        seconds = time.perf_counter() - started
        path, note = self._publish(f"{key}.so", content + hashlib.sha256(content).digest())
        self._prune(keep=key)
        return BuiltLibrary(path, False, seconds, " ".join(filter(None, [damaged, note, NOTE if fused else ""])))

    def _keep_source(self, key: str, source: str) -> Path:
        return self._publish(f"{key}.c", source.encode())[0]

    def _publish(self, name: str, content: bytes) -> tuple[Path, str]:
        """Write a file into the cache, or, when that fails, into this process's own directory with a note."""
        path = self.directory / name
        try:
            write_atomically(path, content)
        except OSError as error:
            own = self._own_directory() / name
            write_atomically(own, content)
            return own, _not_kept(self.directory, own.parent, error.strerror or str(error))
        return path, ""

    def _own_directory(self) -> Path:
        """Where this process keeps what it cannot write into the cache; another cache directory has another place."""
        return process_directory() / hashlib.sha256(os.fsencode(self.directory)).hexdigest()[:16]

    def _prune(self, keep: str) -> None:
        """Remove what was not used for longest; another process may be doing the same, so nothing is relied on."""
        with contextlib.suppress(OSError):
            names = os.listdir(self.directory)
            ages = _ages(self.directory, names) if len(_keys(names)) > self.maximum_entries else {}
            surplus = sorted(ages, key=ages.__getitem__)[: max(0, len(ages) - self.maximum_entries)]
            for key in surplus:
                if key != keep:
                    _remove(self.directory / f"{key}.so")
                    _remove(self.directory / f"{key}.c")
            for part in (self.directory / name for name in names if name.startswith(".") and name.endswith(".part")):
                if time.time() - part.stat().st_mtime > _ABANDONED:
                    _remove(part)


def _key(source: str, toolchain: Toolchain, flags: tuple[str, ...]) -> str:
    """SHA-256 over everything the library depends on; code for ``-march=native`` depends on the processor."""
    return _digest((source, "\0".join((*toolchain.flags, *flags)), toolchain.identity, this_machine().identity))


def _digest(parts: Sequence[str]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        encoded = part.encode()
        digest.update(len(encoded).to_bytes(8, "little") + encoded)
    return digest.hexdigest()


def _exists(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        return False


def _is_whole(path: Path) -> bool:
    try:
        content = path.read_bytes()
    except OSError:
        return False
    return hashlib.sha256(content[:-_DIGEST_SIZE]).digest() == content[-_DIGEST_SIZE:]


def _keys(names: Iterable[str]) -> set[str]:
    return {os.path.splitext(name)[0] for name in names if not name.startswith(".")}


def _ages(directory: Path, names: Iterable[str]) -> dict[str, float]:
    """The time each entry was last used, by key; a source without a library is an entry too."""
    ages: dict[str, float] = {}
    for name in names:
        key = os.path.splitext(name)[0]
        if not name.startswith("."):
            with contextlib.suppress(OSError):
                ages[key] = max(ages.get(key, 0.0), os.stat(directory / name).st_mtime)
    return ages


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink()


def _not_kept(directory: Path, instead: Path, why: str = "it could not be written") -> str:
    return (
        f"The library lies in {instead} until this process ends, not in the build cache {directory} ({why})."
    )

"""Where polyviz keeps files on disk, and how it writes them so that two processes never see half a file."""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import os
import shutil
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path

CACHE_VARIABLE = "POLYVIZ_CACHE_DIR"

_PREFIX = "polyviz-process-"
_temporary_lock = threading.Lock()
_temporary_directories: dict[int, _OwnDirectory] = {}


@dataclass(frozen=True, slots=True)
class _OwnDirectory:
    """A directory of one process; the system gives up the lock of ``descriptor`` when that ends, however it ends."""

    path: Path
    descriptor: int


def cache_directory() -> Path:
    """The directory for files that outlive the process; it need not exist yet.

    ``POLYVIZ_CACHE_DIR`` if set, else the user's cache directory of the platform.
    """
    chosen = os.environ.get(CACHE_VARIABLE)
    if chosen:
        return Path(chosen).expanduser().absolute()
    import platformdirs

    return platformdirs.user_cache_path("polyviz", appauthor=False)


def process_directory() -> Path:
    """A directory of this process alone, made on first use and removed when the process ends.

    A process that is killed cannot remove its own: the next one that makes a directory does, for the same user.
    Raises OSError when the system has no writable temporary directory.
    """
    with _temporary_lock:
        process = os.getpid()
        own = _temporary_directories.get(process)
        if own is None or not own.path.is_dir():
            if own is not None:
                os.close(own.descriptor)
            _remove_abandoned()
            own = _make_own()
            _temporary_directories[process] = own
            # A forked child inherits this registration; it must leave its parent's files alone.
            atexit.register(_remove_own, own, process)
        return own.path


def _make_own() -> _OwnDirectory:
    while True:
        path = Path(tempfile.mkdtemp(prefix=_PREFIX))
        with contextlib.suppress(FileNotFoundError):
            descriptor = os.open(path, os.O_RDONLY)
            if _lock(descriptor) is not False and path.is_dir():
                return _OwnDirectory(path, descriptor)
            os.close(descriptor)
        # Another process took the newborn directory for an abandoned one before it was locked: once more.


def _lock(descriptor: int) -> bool | None:
    """Whether nobody else holds the lock, which is ours then; None where the file system has no locks."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def _remove_abandoned() -> None:
    """Remove this user's directories whose processes are gone: nobody holds their locks any more."""
    with contextlib.suppress(OSError), os.scandir(tempfile.gettempdir()) as entries:
        for entry in entries:
            # Not a link, which somebody else may have put there.
            if entry.name.startswith(_PREFIX) and entry.is_dir(follow_symlinks=False):
                _remove_if_abandoned(Path(entry.path))


def _remove_if_abandoned(directory: Path) -> None:
    try:
        descriptor = os.open(directory, os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:
        return
    try:
        if os.fstat(descriptor).st_uid == os.getuid() and _lock(descriptor):
            shutil.rmtree(directory, ignore_errors=True)
    finally:
        os.close(descriptor)


def _remove_own(own: _OwnDirectory, owner: int) -> None:
    if os.getpid() == owner:
        shutil.rmtree(own.path, ignore_errors=True)


def write_atomically(path: Path, content: bytes) -> None:
    """Write ``content`` to ``path`` in one step: a reader finds the old file or the new one, whole.

    The directory of ``path`` is created. Raises OSError (read-only, full disk); nothing is left behind then.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise

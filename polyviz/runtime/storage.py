"""Where polyviz keeps files on disk, and how it writes them so that two processes never see half a file."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
import threading
from pathlib import Path

CACHE_VARIABLE = "POLYVIZ_CACHE_DIR"

_temporary_lock = threading.Lock()
_temporary_directories: dict[int, Path] = {}


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

    Raises OSError when the system has no writable temporary directory.
    """
    with _temporary_lock:
        process = os.getpid()
        directory = _temporary_directories.get(process)
        if directory is None or not directory.is_dir():
            directory = Path(tempfile.mkdtemp(prefix="polyviz-"))
            _temporary_directories[process] = directory
            # A forked child inherits this registration; it must leave its parent's files alone.
            atexit.register(_remove_own, directory, process)
        return directory


def _remove_own(directory: Path, owner: int) -> None:
    if os.getpid() == owner:
        shutil.rmtree(directory, ignore_errors=True)


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

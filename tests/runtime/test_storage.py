from __future__ import annotations

import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from polyviz.runtime.storage import cache_directory as directory_in_use
from polyviz.runtime.storage import process_directory, write_atomically

if TYPE_CHECKING:
    from collections.abc import Iterator

OWNER = "from polyviz.runtime.storage import process_directory; print(process_directory(), flush=True); "


def test_the_variable_chooses_the_cache_directory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("POLYVIZ_CACHE_DIR", str(tmp_path / "here"))
    assert directory_in_use() == tmp_path / "here"
    monkeypatch.setenv("POLYVIZ_CACHE_DIR", "~/there")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert directory_in_use() == tmp_path / "there"
    monkeypatch.delenv("POLYVIZ_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert directory_in_use().name == "polyviz"


def test_a_failed_write_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "new" / "file"
    write_atomically(path, b"old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="No space left on device"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert os.listdir(path.parent) == ["file"]


def test_the_process_directory_goes_with_its_process_and_not_with_a_fork() -> None:
    program = """
import os, sys
from polyviz.runtime.storage import process_directory
own = process_directory()
child = os.fork()
if child == 0:
    sys.exit(0)  # runs the exit handlers the child inherited
os.waitpid(child, 0)
print(own, own.is_dir())
"""
    outcome = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    directory, alive = outcome.stdout.split()
    assert alive == "True"
    assert not Path(directory).exists()


def test_the_process_directory_is_made_again_when_it_was_cleaned_away() -> None:
    first = process_directory()
    assert process_directory() == first
    shutil.rmtree(first)
    second = process_directory()
    assert second != first
    assert second.is_dir()


@contextmanager
def owner_of_a_directory(temporary: Path, rest: str) -> Iterator[tuple[Path, subprocess.Popen[str]]]:
    """A process with ``temporary`` for its temporary files: its own directory, made when this begins."""
    command = [sys.executable, "-c", OWNER + rest]
    environment = {**os.environ, "TMPDIR": str(temporary)}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout is not None
        yield Path(process.stdout.readline().strip()), process
        process.kill()


def test_the_directory_of_a_killed_process_goes_with_the_next_one(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / "polyviz-process-link").symlink_to(elsewhere)
    with owner_of_a_directory(tmp_path, "input()") as (killed, process):
        process.kill()
        process.wait()
        (killed / "file").touch()
        with owner_of_a_directory(tmp_path, "input()") as (living, _):
            assert not killed.exists()
            with owner_of_a_directory(tmp_path, "") as (ended, last):
                last.wait()
            assert living.is_dir()
            assert not ended.exists()
    assert elsewhere.is_dir()


def test_a_directory_taken_before_it_was_locked_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []

    def swept(**options: str) -> str:
        made.append(tmp_path / f"{options['prefix']}{len(made)}")
        if len(made) > 1:
            made[-1].mkdir()
        return str(made[-1])

    monkeypatch.setattr("tempfile.mkdtemp", swept)
    monkeypatch.setattr("polyviz.runtime.storage._temporary_directories", {})
    assert process_directory() == made[1]

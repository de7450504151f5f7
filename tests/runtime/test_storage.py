from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from polyviz.runtime.storage import cache_directory as directory_in_use
from polyviz.runtime.storage import process_directory, write_atomically


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

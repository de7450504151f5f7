from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from polyviz.errors import ToolchainError
from polyviz.runtime import cache
from polyviz.runtime import toolchain as toolchains
from polyviz.runtime.cache import BuildCache, BuiltLibrary
from polyviz.runtime.native import NativeFunction
from polyviz.runtime.storage import write_atomically

if TYPE_CHECKING:
    from pathlib import Path

    from polyviz.runtime.toolchain import Toolchain

SEVEN = "int seven(void) { return 7; }"


def answer(library: BuiltLibrary) -> int:
    return NativeFunction(library.path, "seven")()


def test_the_second_request_is_served_from_disk(toolchain: Toolchain, cache_directory: Path) -> None:
    first = BuildCache().library(SEVEN, toolchain)
    second = BuildCache().library(SEVEN, toolchain)
    assert (first.hit, second.hit) == (False, True)
    assert first.compile_seconds > 0.0
    assert second.compile_seconds == 0.0
    assert first.path == second.path
    assert first.path.parent == cache_directory / "libraries"
    assert (first.note, second.note) == ("", "")
    assert answer(second) == 7
    assert first.path.with_suffix(".c").read_text(encoding="utf-8") == SEVEN


def test_everything_the_library_depends_on_is_in_its_key(
    toolchain: Toolchain, cache_directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    builds = BuildCache()
    paths = [
        builds.library(SEVEN, toolchain).path,
        builds.library(SEVEN + "\n", toolchain).path,
        builds.library(SEVEN, toolchain, "reassociate").path,
        builds.library(SEVEN, toolchain, extra_flags=("-fwrapv",)).path,
        builds.library(SEVEN, replace(toolchain, version="another")).path,
        builds.library(SEVEN, replace(toolchain, flags=("-O1", *toolchain.flags))).path,
    ]
    machine = replace(cache.this_machine(), identity="another processor")
    monkeypatch.setattr(cache, "this_machine", lambda: machine)
    paths.append(builds.library(SEVEN, toolchain).path)
    assert len(set(paths)) == 7


@pytest.mark.parametrize("damage", [b"", b"short", b"\0" * 20_000])
def test_a_damaged_entry_is_built_again(damage: bytes, toolchain: Toolchain, cache_directory: Path) -> None:
    first = BuildCache().library(SEVEN, toolchain)
    first.path.write_bytes(damage)
    again = BuildCache().library(SEVEN, toolchain)
    assert not again.hit
    assert again.note == f"The cached library {first.path} was damaged and has been built again."
    assert answer(again) == 7
    assert BuildCache().library(SEVEN, toolchain).hit


def test_an_entry_with_one_changed_byte_is_not_loaded(toolchain: Toolchain, cache_directory: Path) -> None:
    first = BuildCache().library(SEVEN, toolchain)
    content = bytearray(first.path.read_bytes())
    content[len(content) // 2] ^= 1
    first.path.write_bytes(content)
    assert not BuildCache().library(SEVEN, toolchain).hit


def below_a_file(tmp_path: Path) -> Path:
    (tmp_path / "file").write_text("", encoding="utf-8")
    return tmp_path / "file" / "cache"


def without_permission(tmp_path: Path) -> Path:
    directory = tmp_path / "locked"
    directory.mkdir(mode=0o500)
    if os.access(directory, os.W_OK):
        pytest.skip("permissions do not stop this user")
    return directory


@pytest.mark.parametrize("make", [below_a_file, without_permission])
def test_a_cache_that_cannot_be_written_is_replaced_and_noted(
    make, toolchain: Toolchain, tmp_path: Path
) -> None:
    directory = make(tmp_path)
    source = f"/* {tmp_path} */ {SEVEN}"
    first = BuildCache(directory).library(source, toolchain)
    assert not first.hit
    expected = (
        rf"The library lies in \S+ until this process ends, not in the build cache {re.escape(str(directory))} "
        r"\((Not a directory|Permission denied)\)\."
    )
    assert re.fullmatch(expected, first.note)
    assert answer(first) == 7
    second = BuildCache(directory).library(source, toolchain)
    assert second.hit
    assert second.path == first.path
    assert second.note.endswith(f"not in the build cache {directory} (it could not be written).")


def test_a_full_disk_is_noted(
    toolchain: Toolchain, cache_directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, content: bytes) -> None:
        if path.is_relative_to(cache_directory):
            raise OSError(28, "No space left on device")
        write_atomically(path, content)

    monkeypatch.setattr(cache, "write_atomically", full)
    library = BuildCache().library(SEVEN, toolchain)
    assert library.note.endswith(
        f"not in the build cache {cache_directory}/libraries (No space left on device)."
    )
    assert answer(library) == 7


def test_a_disk_that_the_source_fills(
    toolchain: Toolchain, cache_directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[Path] = []

    def full(path: Path, content: bytes) -> None:
        if cache_directory in path.parents:
            written.append(path)
            if len(written) > 1:
                raise OSError(28, "No space left on device")
        write_atomically(path, content)

    for module in (cache, toolchains):
        monkeypatch.setattr(module, "write_atomically", full)
    library = BuildCache().library(SEVEN, toolchain)
    assert answer(library) == 7
    assert "No space left on device" in library.note



def test_nowhere_to_write_is_an_error_that_says_so(
    toolchain: Toolchain, cache_directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, content: bytes) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(cache, "write_atomically", full)
    with pytest.raises(ToolchainError, match="because no directory for it can be written") as raised:
        BuildCache().library(SEVEN, toolchain)
    assert "No space left on device" in raised.value.reason


def test_a_read_only_cache_still_serves(
    toolchain: Toolchain, cache_directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    BuildCache().library(SEVEN, toolchain)

    def read_only(*_: object) -> None:
        raise PermissionError(30, "Read-only file system")

    monkeypatch.setattr(os, "utime", read_only)
    monkeypatch.setattr(cache, "write_atomically", read_only)
    assert BuildCache().library(SEVEN, toolchain) == BuiltLibrary(
        next((cache_directory / "libraries").glob("*.so")), True, 0.0, ""
    )


def test_the_source_of_a_failed_build_is_kept(toolchain: Toolchain, cache_directory: Path) -> None:
    with pytest.raises(ToolchainError, match="could not compile the generated code") as raised:
        BuildCache().library("int f(void) { return }", toolchain)
    (kept,) = (cache_directory / "libraries").iterdir()
    assert raised.value.hint == f"The source is kept in {kept}."
    assert kept.read_text(encoding="utf-8") == "int f(void) { return }"


def test_two_processes_build_the_same_entry_at_once(
    toolchain: Toolchain, cache_directory: Path, tmp_path: Path
) -> None:
    # Each compiler waits until the other has started: the builds overlap for certain.
    wrapper = tmp_path / "together"
    wrapper.write_text(
        f"""#!/bin/sh
touch {tmp_path}/started.$$
while [ $(ls {tmp_path}/started.* | wc -l) -lt 2 ]; do sleep 0.02; done
exec {toolchain.command[0]} "$@"
""",
        encoding="utf-8",
    )
    wrapper.chmod(0o755)
    program = f"""
from polyviz.runtime.cache import BuildCache
from polyviz.runtime.native import NativeFunction
from polyviz.runtime.toolchain import Toolchain
toolchain = Toolchain("together", ({str(wrapper)!r},), "1", False, ("-O1", "-fPIC", "-shared"))
library = BuildCache().library({SEVEN!r}, toolchain)
print(library.hit, repr(library.note), NativeFunction(library.path, "seven")())
"""
    command = [sys.executable, "-c", program]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    answers = [process.communicate(timeout=600)[0] for process in running]
    assert answers == ["False '' 7\n", "False '' 7\n"]
    assert sorted(path.suffix for path in (cache_directory / "libraries").iterdir()) == [".c", ".so"]
    third = subprocess.run(command, check=True, capture_output=True, text=True)
    assert third.stdout == "True '' 7\n"


def test_the_longest_unused_entries_go_first(toolchain: Toolchain, cache_directory: Path) -> None:
    builds = BuildCache(maximum_entries=3)
    paths = [builds.library(f"{SEVEN} int f{index};", toolchain).path for index in range(3)]
    long_ago = time.time() - 1000
    for age, path in enumerate(paths):
        for suffix in (".so", ".c"):
            os.utime(path.with_suffix(suffix), (long_ago + age, long_ago + age))
    abandoned, fresh = paths[0].parent / ".x.part", paths[0].parent / ".y.part"
    abandoned.touch()
    os.utime(abandoned, (1, 1))
    fresh.touch()
    assert builds.library(f"{SEVEN} int f0;", toolchain).hit  # used just now
    newest = builds.library(f"{SEVEN} int f3;", toolchain).path
    left = {path.name for path in newest.parent.iterdir()}
    kept = {
        path.with_suffix(suffix).name for path in (paths[0], paths[2], newest) for suffix in (".so", ".c")
    }
    assert left == kept | {".y.part"}

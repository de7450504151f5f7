"""What tuning remembers: by machine, loops and size class; for two processes at once; never a reason to fail."""

from __future__ import annotations

import errno
import json
import math
import multiprocessing
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

import pytest

import polyviz as pv
from polyviz.tuning.memory import Entry, Key, Memory, fingerprint, machine_identity, size_class

if TYPE_CHECKING:
    from pathlib import Path

KEY = Key("a machine", "loops", "pluto", "c", "reassociate")
ENTRY = Entry({"tile": (32, 64), "pack": False}, {"n": 1000}, "float64", 1.5, 12, "2026-01-31")


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return Memory(tmp_path / "tuning")


def test_an_entry_comes_back_for_sizes_of_its_class(memory: Memory) -> None:
    memory.keep(KEY, ENTRY)
    assert memory.recall(KEY, {"n": 1023}, "float64").entry == ENTRY
    assert memory.recall(KEY, {"n": 1024}, "float64").entry is None
    assert memory.recall(KEY, {"n": 1000}, "float32").entry is None
    assert memory.recall(replace(KEY, machine="another"), {"n": 1000}, "float64").entry is None


def test_what_was_no_better_comes_back_with_it(memory: Memory) -> None:
    entry = replace(ENTRY, others=({"tile": (64, 64)}, {"pack": False, "threads": 1}))
    memory.keep(KEY, entry)
    assert memory.recall(KEY, {"n": 1000}, "float64").entry == entry


def test_a_file_of_an_earlier_version_holds_nothing_that_was_no_better(memory: Memory) -> None:
    memory.keep(KEY, ENTRY)
    document = json.loads(memory.path(KEY).read_bytes())
    del document["entries"][0]["others"]
    memory.path(KEY).write_text(json.dumps(document), encoding="utf-8")
    assert memory.recall(KEY, {"n": 1000}, "float64").entry == ENTRY


def test_without_sizes_the_largest_run_counts(memory: Memory) -> None:
    large = replace(ENTRY, sizes={"n": 4000}, options={})
    for entry in (large, ENTRY):
        memory.keep(KEY, entry)
    assert memory.recall(KEY, None, "").entry == large
    assert memory.recall(KEY, None, "float32").entry is None


def test_a_later_entry_replaces_one_of_its_class_only(memory: Memory) -> None:
    other = replace(ENTRY, sizes={"n": 10})
    for entry in (ENTRY, other, replace(ENTRY, speedup=2.0)):
        memory.keep(KEY, entry)
    assert memory.recall(KEY, {"n": 1000}, "float64").entry == replace(ENTRY, speedup=2.0)
    assert memory.recall(KEY, {"n": 10}, "float64").entry == other


def _changed(**fields: object) -> str:
    return json.dumps({"format": 1, "entries": [{**asdict(ENTRY), **fields}]})


DAMAGED = {
    "no JSON": "{",
    "nothing": "",
    "a list": "[]",
    "another format": '{"format": 99, "entries": []}',
    "no entries": '{"format": 1}',
    "strange entry": '{"format": 1, "entries": [{"options": 3}]}',
    "no figures": _changed(element=1),
    "too large a figure": _changed(speedup=10**400),
    "infinite size": _changed(sizes={"n": math.inf}),
    "no value of an option": _changed(options={"tile": [[32]]}),
    "no options among the others": _changed(others=[3]),
    "nested deeply": "[" * 100_000,
    "no text": b"\xff\x00\xfe",
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_file_is_ignored_and_said(memory: Memory, name: str) -> None:
    memory.keep(KEY, ENTRY)
    content = DAMAGED[name]
    memory.path(KEY).write_bytes(content if isinstance(content, bytes) else content.encode())
    found = memory.recall(KEY, {"n": 1000}, "float64")
    assert found.entry is None
    assert found.note.startswith("what tuning remembered is damaged and ignored (")
    memory.keep(KEY, ENTRY)
    assert memory.recall(KEY, {"n": 1000}, "float64").entry == ENTRY


def test_a_file_that_cannot_be_read_is_ignored_and_said(memory: Memory) -> None:
    memory.path(KEY).mkdir(parents=True)
    found = memory.recall(KEY, {"n": 1000}, "float64")
    assert found.entry is None
    assert found.note.startswith("what tuning remembered cannot be read and is ignored (Is a directory): ")


def test_a_directory_that_cannot_be_looked_at_is_said(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(type(memory.directory), "is_dir", refused)
    monkeypatch.setattr(type(memory.directory), "read_bytes", refused)
    assert not memory.is_empty
    assert "cannot be read and is ignored (Permission denied)" in memory.recall(KEY, None, "").note


def test_the_file_says_what_it_is_for(memory: Memory) -> None:
    memory.keep(KEY, ENTRY)
    document = json.loads(memory.path(KEY).read_text(encoding="utf-8"))
    assert (document["machine"], document["schedule"], document["contract"]) == (
        "a machine",
        "pluto",
        "reassociate",
    )


def _keep(directory: Path, number: int) -> None:
    Memory(directory).keep(KEY, replace(ENTRY, sizes={"n": 2**number}))


def test_processes_that_write_at_once_lose_nothing(memory: Memory) -> None:
    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=_keep, args=(memory.directory, number)) for number in range(6)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert all(memory.recall(KEY, {"n": 2**number}, "float64").entry for number in range(6))


LOOPS = "def {name}(A, B):\n    for i in range(len(A)):\n        A[i] = {factor} * B[i]\n"


def test_the_name_of_a_function_does_not_count_but_what_it_computes_does() -> None:
    one, other, different = (
        fingerprint(pv.extract(LOOPS.format(name=name, factor=factor)))
        for name, factor in (("f", 2), ("g", 2), ("f", 3))
    )
    assert one == other != different


def test_sizes_of_zero_and_less_have_classes_too() -> None:
    assert size_class({"n": 0, "m": -3}, "float32") == "float32 m=-3 n=0"


def test_the_machine_is_named() -> None:
    assert "cores" in machine_identity()

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING

import pytest

from polyviz.runtime import machine as machine_module
from polyviz.runtime.machine import (
    Machine,
    ThreadCount,
    read_machine,
    this_machine,
    thread_count,
    thread_limit,
    time_of_cores,
    usable_cores,
)

if TYPE_CHECKING:
    from pathlib import Path

CPUINFO = """processor\t: 0
vendor_id\t: GenuineExample
cpu family\t: 6
model\t\t: 85
model name\t: Example CPU @ 2.00GHz
flags\t\t: fpu sse4_2 avx avx2 fma avx512f

processor\t: 1
model name\t: Another
"""


def write(root: Path, name: str, text: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


@pytest.fixture
def example(tmp_path: Path) -> Path:
    write(tmp_path, "proc/cpuinfo", CPUINFO)
    write(tmp_path, "proc/meminfo", "MemTotal:       16384000 kB\nMemFree: 1 kB\n")
    caches = [
        ("1", "Data", "48K"),
        ("1", "Instruction", "16K"),
        ("2", "Unified", "2M"),
        ("3", "Unified", "32768K"),
    ]
    for index, (level, kind, size) in enumerate(caches):
        folder = f"sys/devices/system/cpu/cpu0/cache/index{index}"
        for name, text in (("level", level), ("type", kind), ("size", size), ("coherency_line_size", "128")):
            write(tmp_path, f"{folder}/{name}", f"{text}\n")
    return tmp_path


def test_the_description_is_read(example: Path) -> None:
    machine = read_machine(example)
    assert machine.name == "Example CPU @ 2.00GHz"
    assert (machine.l1_data, machine.l2, machine.l3, machine.line) == (
        48 * 1024,
        2 * 1024**2,
        32 * 1024**2,
        128,
    )
    assert machine.vector_extensions == ("sse4_2", "avx", "avx2", "fma", "avx512f")
    assert machine.memory == 16384000 * 1024
    assert machine.cores == len(os.sched_getaffinity(0))
    assert machine.notes == ()


def test_processors_of_one_name_and_other_instructions_differ(example: Path) -> None:
    before = read_machine(example)
    write(example, "proc/cpuinfo", CPUINFO.replace(" avx512f", ""))
    after = read_machine(example)
    assert before.name == after.name
    assert before.identity != after.identity
    assert read_machine(example).identity == after.identity


def test_what_cannot_be_read_is_assumed_and_said(tmp_path: Path) -> None:
    machine = read_machine(tmp_path)
    assert machine.describe().splitlines()[1:] == [
        "caches: L1d 32 KiB, L2 256 KiB, L3 8 MiB, lines of 64 bytes",
        "vector extensions: none known",
        "register tiles: none, since they need AVX2 with FMA, AVX-512 or NEON",
        "note: the L1d cache could not be read; 32 KiB are assumed",
        "note: the L2 cache could not be read; 256 KiB are assumed",
        "note: the L3 cache could not be read; 8 MiB are assumed",
        "note: the cache line size could not be read; 64 bytes are assumed",
    ]
    assert "memory unknown" in machine.describe()


def test_a_size_that_makes_no_sense_is_not_believed(example: Path) -> None:
    write(example, "sys/devices/system/cpu/cpu0/cache/index2/size", "large\n")
    machine = read_machine(example)
    assert machine.l2 == 256 * 1024
    assert machine.notes == ("the L2 cache could not be read; 256 KiB are assumed",)


def test_memory_that_makes_no_sense_is_unknown(example: Path) -> None:
    write(example, "proc/meminfo", "MemTotal: much kB\n")
    assert read_machine(example).memory == 0


def test_this_machine_has_cores_and_memory() -> None:
    assert this_machine().cores >= 1
    assert this_machine().memory > 2**28
    assert this_machine() is this_machine()


@pytest.mark.parametrize(("value", "count"), [("3", 3), ("4,2", 4), (" 5 ", 5)])
def test_the_variable_decides_the_number_of_threads(value: str, count: int) -> None:
    assert thread_count({"OMP_NUM_THREADS": value}).count == count


@pytest.mark.parametrize("value", ["many", "0", "-1", "1.5"])
def test_a_useless_variable_is_ignored_and_said(value: str) -> None:
    threads = thread_count({"OMP_NUM_THREADS": value})
    assert threads.count == this_machine().cores
    assert threads.reason == (
        f"one per usable core; OMP_NUM_THREADS is ignored, since {value!r} is not a positive number"
    )
    assert thread_count({}).reason == "one per usable core"


@pytest.mark.parametrize(
    ("extensions", "registers"),
    [
        (("avx", "avx2", "fma", "avx512f"), (64, 32)),
        (("avx", "avx2", "fma"), (32, 16)),
        (("avx", "avx2"), (0, 0)),
        (("asimd",), (16, 32)),
        ((), (0, 0)),
    ],
)
def test_vector_registers(extensions: tuple[str, ...], registers: tuple[int, int]) -> None:
    processor = Machine("A CPU", "x86_64", 4, 32768, 1048576, 8388608, 64, extensions, 0).processor
    assert (processor.vector_bytes, processor.vector_registers) == registers
    assert (processor.l1_data, processor.l2, processor.cores) == (32768, 1048576, 4)


@pytest.mark.parametrize(
    ("files", "cores"),
    [
        ({"cpu.max": "250000 100000\n"}, 3),
        ({"cpu.max": "max 100000\n"}, math.inf),
        ({"cpu/cpu.cfs_quota_us": "200000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 2),
        ({"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, math.inf),
        ({"cpu.max": "100000 0\n"}, math.inf),
        ({}, math.inf),
    ],
)
def test_the_time_that_a_container_gets(tmp_path: Path, files: dict[str, str], cores: float) -> None:
    for name, content in files.items():
        path = tmp_path / "sys/fs/cgroup" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    assert time_of_cores(tmp_path) == cores


def test_a_container_bounds_threads_unless_the_user_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine_module, "_cores_in_sight", lambda: 64)
    assert thread_limit(None, {}) is None
    monkeypatch.setattr(machine_module, "time_of_cores", lambda: 2.0)
    assert usable_cores() == 2
    assert thread_count({}) == ThreadCount(2, "the time that this container gets, of 64 cores")
    assert thread_limit(None, {}) == 2
    assert thread_limit(5, {}) == 5
    assert thread_limit(None, {"OMP_NUM_THREADS": "8"}) is None
    assert thread_count({"OMP_NUM_THREADS": "8"}).count == 8
    assert thread_limit(None, {"OMP_NUM_THREADS": "many"}) == 2

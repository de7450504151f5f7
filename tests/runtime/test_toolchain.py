from __future__ import annotations

import functools
import importlib.util
import operator
import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from polyviz.errors import ToolchainError
from polyviz.runtime.machine import this_machine
from polyviz.runtime.native import NativeFunction, integer, pointer
from polyviz.runtime.toolchain import (
    FLOATING_POINT_FLAGS,
    Toolchain,
    compile_shared,
    find_toolchain,
    toolchain_availability,
)

if TYPE_CHECKING:
    from pathlib import Path

    from polyviz.runtime.worker import Worker

THREADS = """
int omp_get_num_threads(void);
int threads(void)
{
    int seen = 0;
#pragma omp parallel
#pragma omp single
    seen = omp_get_num_threads();
    return seen;
}
"""

SMALLEST = """
#include <stdint.h>
int smallest(double *values, int64_t count, double *result)
{
    double best = values[0];
    for (int64_t i = 1; i < count; i++)
        best = values[i] < best ? values[i] : best;
    *result = best;
    return 0;
}
"""

SUMS = """
#include <stdint.h>
int sums(double *values, int64_t count, double *results)
{
    double product = 0.0, total = 0.0;
    for (int64_t i = 0; i < count; i++) {
        product = product * 0.1 + values[i];
        results[i] = product;
    }
    for (int64_t i = 0; i < count; i++)
        total += values[i];
    results[count] = total;
    return 0;
}
"""


def script(path: Path, text: str) -> Path:
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def real_compiler() -> str:
    path = shutil.which("gcc") or shutil.which("clang") or shutil.which("cc")
    if path is None:
        pytest.skip("no compiler on the PATH to wrap")
    return path


@pytest.fixture
def no_ziglang(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ziglang", None)


def test_the_compiler_found_makes_a_library_that_runs(toolchain: Toolchain, tmp_path: Path) -> None:
    compile_shared(toolchain, "int seven(void) { return 7; }", tmp_path / "seven.so")
    assert NativeFunction(tmp_path / "seven.so", "seven")() == 7
    assert toolchain_availability()[0]
    assert toolchain.version in toolchain_availability()[1]


def test_openmp_really_uses_threads(
    toolchain: Toolchain, tmp_path: Path, worker: Worker, monkeypatch
) -> None:
    assert toolchain.openmp
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    compile_shared(toolchain, THREADS, tmp_path / "threads.so")
    assert worker.run("worker_jobs:call", str(tmp_path / "threads.so"), "threads", time_limit=60) == 2


def test_without_any_compiler_the_reason_says_what_to_install(
    cache_directory: Path, monkeypatch: pytest.MonkeyPatch, no_ziglang: None
) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("POLYVIZ_CC", raising=False)
    assert find_toolchain() is None
    assert toolchain_availability() == (
        False,
        "No C compiler was found (looked for gcc, clang, cc and the ziglang package). "
        "Install gcc (on Debian: apt-get install gcc libc6-dev), or run: pip install ziglang intel-openmp; "
        "or name a compiler in POLYVIZ_CC.",
    )


def test_a_compiler_installed_later_is_found(
    cache_directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_ziglang: None
) -> None:
    compiler = real_compiler()
    monkeypatch.setenv("PATH", f"{tmp_path}")
    assert find_toolchain() is None
    script(tmp_path / "gcc", f'PATH={os.path.dirname(compiler)}:/usr/bin:/bin exec {compiler} "$@"')
    found = find_toolchain()
    assert found is not None
    assert found.command == (str(tmp_path / "gcc"),)


@pytest.mark.parametrize("chosen", ["no-such-compiler", "'unfinished", "  "])
def test_a_chosen_compiler_that_is_missing_is_not_replaced_by_another(
    chosen: str, cache_directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POLYVIZ_CC", chosen)
    available, reason = toolchain_availability()
    assert not available
    assert reason.startswith(f"POLYVIZ_CC names {chosen!r}, and there is no such command. Correct it")


def test_a_chosen_compiler_that_fails_is_reported_with_its_error(
    cache_directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = script(
        tmp_path / "broken",
        '[ "$1" = --version ] && echo "broken 1.0" && exit 0; echo "fatal error: no stdio" >&2; exit 1',
    )
    monkeypatch.setenv("POLYVIZ_CC", str(broken))
    available, reason = toolchain_availability()
    assert not available
    assert f"POLYVIZ_CC names {str(broken)!r}, which does not work " in reason
    assert "(broken: it cannot build a small program: fatal error: no stdio)" in reason


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("exit 0", "it wrote no program that can be run"),
        pytest.param(
            '[ "$1" = --version ] || (echo "#!/bin/sh\nsleep 60" > "$3"; chmod +x "$3")',
            "does not end",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_a_chosen_command_that_is_no_compiler(
    text: str, reason: str, cache_directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("polyviz.runtime.compiler.COMPILE_LIMIT", 0.5)
    monkeypatch.setenv("POLYVIZ_CC", str(script(tmp_path / "quiet", text)))
    available, why = toolchain_availability()
    assert not available
    assert reason in why


def test_a_broken_compiler_is_passed_over_and_named(
    cache_directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiler = real_compiler()
    script(tmp_path / "gcc", "exit 1")
    script(tmp_path / "clang", f'exec {compiler} "$@"')
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    found = find_toolchain()
    assert found is not None
    assert found.name == "clang"
    assert toolchain_availability()[1].endswith("Passed over: gcc: it does not answer --version.")


def test_a_compiler_without_openmp_works_and_says_so(
    cache_directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = script(
        tmp_path / "plain",
        f'case "$*" in *-fopenmp*) echo "error: no -fopenmp" >&2; exit 1;; esac; exec {real_compiler()} "$@"',
    )
    monkeypatch.setenv("POLYVIZ_CC", str(plain))
    found = find_toolchain()
    assert found is not None
    assert not found.openmp
    assert "-fopenmp" not in found.flags
    assert toolchain_availability()[1].endswith(
        "without OpenMP, so loops run on one core; install its OpenMP library to change that."
    )


def test_the_probe_is_run_once_for_all_processes(
    cache_directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "log"
    wrapper = script(tmp_path / "logged", f'echo "$*" >> {log}; exec {real_compiler()} "$@"')
    monkeypatch.setenv("POLYVIZ_CC", str(wrapper))
    program = "from polyviz.runtime.toolchain import find_toolchain; print(find_toolchain().openmp)"
    for _ in range(2):
        subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)
    calls = log.read_text(encoding="utf-8").splitlines()
    assert [call.split()[0] for call in calls].count("--version") == 2
    assert len(calls) == 3
    os.utime(wrapper, (1, 1))  # a compiler that was replaced is probed again
    subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)
    assert len(log.read_text(encoding="utf-8").splitlines()) == 5


@pytest.mark.parametrize(("size", "wanted"), [(64, True), (32, False)])
def test_whole_vectors_where_the_processor_has_long_ones(
    size: int, wanted: bool, cache_directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = replace(this_machine(), vector_extensions=("avx512f",) if size == 64 else ("avx2", "fma"))
    monkeypatch.setattr("polyviz.runtime.toolchain.this_machine", lambda: machine)
    found = find_toolchain()
    assert found is not None
    assert ("-mprefer-vector-width=512" in found.flags) is (wanted and machine.architecture == "x86_64")


def test_a_compiler_that_does_not_know_whole_vectors_does_without(
    cache_directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = replace(this_machine(), vector_extensions=("avx512f",))
    monkeypatch.setattr("polyviz.runtime.toolchain.this_machine", lambda: machine)
    refusing = f'case "$*" in *prefer-vector-width*) exit 1;; esac\nexec {real_compiler()} "$@"'
    monkeypatch.setenv("POLYVIZ_CC", str(script(tmp_path / "old-gcc", refusing)))
    found = find_toolchain()
    assert found is not None
    assert found.openmp
    assert "-mprefer-vector-width=512" not in found.flags


def test_a_damaged_probe_record_is_ignored(cache_directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLYVIZ_CC", real_compiler())
    program = "from polyviz.runtime.toolchain import find_toolchain; print(find_toolchain().openmp)"
    for damage in ("{", '{"a": 1}', "[1]"):
        outcome = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
        assert outcome.stdout == "True\n"
        (record,) = (cache_directory / "toolchains").iterdir()
        record.write_text(damage, encoding="utf-8")


def test_identity_changes_with_the_file_of_the_compiler(tmp_path: Path) -> None:
    program = script(tmp_path / "cc", "exit 0")
    toolchain = Toolchain("cc", (str(program),), "1.0", False, ())
    before = toolchain.identity
    os.utime(program, (1, 1))
    assert toolchain.identity != before


def test_a_text_that_does_not_compile(toolchain: Toolchain, tmp_path: Path) -> None:
    with pytest.raises(
        ToolchainError, match=r"^The C compiler \(\w+\) could not compile the generated code\."
    ) as raised:
        compile_shared(toolchain, "int f(void)\n{\n    return missing;\n}\n", tmp_path / "f.so")
    assert re.search(r"f\.c:3:12: error: .*missing", raised.value.reason)
    assert raised.value.hint == f"The source is kept in {tmp_path / 'f.c'}."
    assert "return missing" in (tmp_path / "f.c").read_text(encoding="utf-8")
    assert not (tmp_path / "f.so").exists()


def test_a_compiler_that_vanished(tmp_path: Path) -> None:
    gone = Toolchain("gone", (str(tmp_path / "gone"),), "1.0", False, ())
    with pytest.raises(ToolchainError, match="the compiler does not start"):
        compile_shared(gone, "", tmp_path / "f.so")


@pytest.mark.parametrize(
    "made",
    [
        "true",
        ': > "$3"',
        'echo garbage > "$3"',
        '"$REAL" "$@"; truncate -s 900 "$3"',
        '"$REAL" "$@"; truncate -s -1 "$3"',
    ],
    ids=["nothing", "empty", "garbage", "beginning", "all but a byte"],
)
def test_a_compiler_that_writes_no_whole_library_without_an_error(
    made: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Part of a library would end the process that loads it, and stay in the cache."""
    monkeypatch.setenv("REAL", real_compiler())
    command = (str(script(tmp_path / "unreliable", made)),)
    unreliable = Toolchain("unreliable", command, "1", False, ("-shared", "-fPIC"))
    with pytest.raises(ToolchainError, match=r"could not compile") as caught:
        compile_shared(unreliable, "int answer(void) { return 42; }", tmp_path / "library.so")
    assert caught.value.reason == "it reported no error, but wrote no whole library"
    assert not (tmp_path / "library.so").exists()


def test_a_compiler_that_hangs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("polyviz.runtime.compiler.COMPILE_LIMIT", 0.2)
    slow = Toolchain("slow", (str(script(tmp_path / "slow", "exec sleep 60")),), "1.0", False, ())
    with pytest.raises(ToolchainError, match="the compiler did not finish within 0 s"):
        compile_shared(slow, "", tmp_path / "f.so")


@pytest.mark.parametrize("floating_point", ["strict", "reassociate"])
def test_not_a_number_keeps_its_meaning(floating_point, toolchain: Toolchain, tmp_path: Path) -> None:
    compile_shared(toolchain, SMALLEST, tmp_path / "m.so", flags=FLOATING_POINT_FLAGS[floating_point])
    smallest = NativeFunction(tmp_path / "m.so", "smallest")
    result = np.zeros(1)
    for position in (0, 1, 500, 999):
        values = np.linspace(2.0, 1.0, 1000)
        values[position] = np.nan
        smallest(pointer(values), integer(1000), pointer(result))
        expected = values[0]
        for value in values[1:]:
            expected = min(value, expected) if value < expected else expected
        np.testing.assert_array_equal(result[0], expected)


def test_strict_sums_are_bitwise_those_of_the_written_order(toolchain: Toolchain, tmp_path: Path) -> None:
    values = np.random.default_rng(1).standard_normal(10_000) * 1e3
    expected, product = [], 0.0
    for value in values.tolist():
        product = product * 0.1 + value
        expected.append(product)
    expected.append(functools.reduce(operator.add, values.tolist()))
    results = {}
    for name, flags in FLOATING_POINT_FLAGS.items():
        results[name] = np.zeros(len(expected))
        compile_shared(toolchain, SUMS, tmp_path / f"{name}.so", flags=flags)
        sums = NativeFunction(tmp_path / f"{name}.so", "sums")
        sums(pointer(values), integer(len(values)), pointer(results[name]))
    np.testing.assert_array_equal(results["strict"], expected)
    np.testing.assert_allclose(results["reassociate"], expected, rtol=1e-9, atol=1e-9)


@pytest.mark.slow
def test_the_ziglang_wheel_is_found_with_an_empty_path(
    cache_directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, worker: Worker
) -> None:
    if importlib.util.find_spec("ziglang") is None:
        pytest.skip("the ziglang wheel is not installed")
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    monkeypatch.delenv("POLYVIZ_CC", raising=False)
    found = find_toolchain()
    assert found is not None
    assert found.name == "zig"
    assert list((cache_directory / "zig").iterdir())
    compile_shared(
        found,
        THREADS if found.openmp else "int threads(void) { return 2; }",
        tmp_path / "threads.so",
        flags=FLOATING_POINT_FLAGS["reassociate"],
    )
    assert worker.run("worker_jobs:call", str(tmp_path / "threads.so"), "threads", time_limit=60) == 2

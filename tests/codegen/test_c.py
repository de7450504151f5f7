"""The C text: readable, mapped to its source, with names and pragmas that mean what they say."""

from __future__ import annotations

import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import polyviz as pv
from polyviz.codegen.identifiers import Identifiers
from polyviz.codegen.reserved_c import C_RESERVED
from polyviz.model.program import ArrayType
from polyviz.runtime.toolchain import find_toolchain
from tests.codegen.programs import SOURCES, program
from tests.running import agree, copies, function_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path


@pytest.mark.parametrize("name", SOURCES)
def test_text(name: str, golden: Callable[..., None]) -> None:
    golden(program(name, "c").source)


@pytest.mark.parametrize("name", ["gemm", "lu"])
def test_text_in_source_order(name: str, golden: Callable[..., None]) -> None:
    golden(program(name, "c", "original").source)


def test_text_for_other_layouts_and_types(golden: Callable[..., None]) -> None:
    types = {"C": ArrayType("complex64", 2, "A"), "A": ArrayType("int32", 2), "alpha": ArrayType("float32", 0)}
    golden(program("gemm", "c", "original").specialise(types).text)


def test_text_with_copies_of_a_temporary(golden: Callable[..., None]) -> None:
    function = function_of(SOURCES["temporary"])
    parameter = pv.extract(function).parameters[0].name
    schedule = f"[{parameter}] -> {{ S0[i] -> [0, i]; S1[i] -> [1, -i] }}"
    golden(pv.compile(function, schedule=schedule, target="c").source)


@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.parametrize("target", ["c", "numba", "python"])
def test_lines_lead_back_to_the_source(name: str, target: str) -> None:
    kernel = program(name, target)
    generated, source = kernel.program.text.splitlines(), kernel.scop.text.splitlines()
    statements = {statement.name: statement for statement in kernel.scop.statements}
    assert {origin.statement for origin in kernel.program.lines.values()} == set(statements)
    for line, origin in kernel.program.lines.items():
        statement = statements[origin.statement]
        assert origin.span == statement.span
        # The text of the statement is where the span says, and the generated line computes something.
        assert statement.source.split()[0] in source[origin.span.line - 1]
        assert generated[line - 1].strip(), line
        if f"line {origin.span.line}" in generated[line - 1]:
            assert "=" in generated[line - 1] or ":" in generated[line - 1]
    commented = [
        number
        for number, text in enumerate(generated, 1)
        if re.search(r"\bline \d", text) and text.startswith("    ")
    ]
    assert set(commented) <= set(kernel.program.lines)


@pytest.mark.thinned(4)
@pytest.mark.parametrize("name", SOURCES)
def test_the_text_compiles_without_a_warning(name: str, tmp_path: Path) -> None:
    toolchain = find_toolchain()
    if toolchain is None:
        pytest.skip("no C compiler")
    path = tmp_path / "program.c"
    path.write_text(program(name, "c").source, encoding="utf-8")
    # As kernels are compiled: functions over vectors warn where the processor is not known to have these registers.
    strict = ["-std=gnu11", "-O1", "-march=native", "-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas"]
    command = [*toolchain.command, *strict, "-fopenmp", "-c", str(path), "-o", str(tmp_path / "program.o")]
    outcome = subprocess.run(command, capture_output=True, text=True, check=False)
    assert outcome.returncode == 0, outcome.stderr


HOSTILE = (
    "I", "double", "complex", "restrict", "c0", "min", "max", "np", "math", "numba", "i_tile", "A_extent0", "failure",
    "len", "int64_t", "malloc", "free", "NAN", "INFINITY", "exp", "expf", "sqrt", "fabs", "checked_index", "min_i64",
    "floor_div_i64", "kernel_f", "f", "abs", "float", "bool", "int", "y0", "NULL", "INT64_MAX", "main", "M_PI",
    "t_private", "i_number", "prange", "errno", "linux", "auto", "long", "round", "pow",
)  # fmt: skip
SIZES = (*(name for name in HOSTILE if name != "f"), "mod", "exists", "floor", "infty", "true", "implies", "S0")


def read_arrays(names: Sequence[str]) -> str:
    """A tiled, parallel program that reads arrays of these names."""
    return f"""
        def f(A, {", ".join(names)}, n):
            for i in range(n):
                for j in range(n):
                    A[i, j] = A[i, j] / 2 + {" + ".join(f"{name}[j, i] * {name}[-1, i]" for name in names)}
    """


def read_sizes(names: Sequence[str]) -> str:
    """A program whose bounds depend on sizes of these names."""
    return f"""
        def f(A, {", ".join(names)}):
            for i in range({" + ".join(names)}):
                for j in range(i // 2, i):
                    A[i, j] = A[j, i] + {" + ".join(names)} + i
    """


def written_array(name: str) -> str:
    return f"""
        def f({name}, n):
            for i in range(n):
                for j in range(n):
                    {name}[i, j] = {name}[i, j] * 2 + i // 2
    """


def agree_with_python(text: str, *arguments: Any, target: str) -> None:
    function = function_of(text)
    expected, actual = copies(arguments), copies(arguments)
    function(*expected)
    pv.compile(function, target=target, tile=(8,))(*actual)
    np.testing.assert_allclose(actual[0], expected[0])


def groups(names: Sequence[str]) -> list[Any]:
    """Targets with some names each; many for numba, which takes seconds for a program of any size."""
    return [
        pytest.param(target, names[start : start + size], id=f"{target}-{start}")
        for target, size in (("c", 8), ("numba", 24), ("python", 8))
        for start in range(0, len(names), size)
    ]


def matrices(names: Sequence[str]) -> list[np.ndarray]:
    return [np.arange(400.0).reshape(20, 20) + position for position, _ in enumerate(names)]


@pytest.mark.thinned(2)
@pytest.mark.parametrize(("target", "names"), groups(tuple(name for name in HOSTILE if name != "f")))
def test_any_name_for_an_array(target: str, names: Sequence[str]) -> None:
    agree_with_python(read_arrays(names), np.ones((20, 20)), *matrices(names), 20, target=target)


@pytest.mark.thinned(2)
@pytest.mark.parametrize(("target", "names"), groups(SIZES))
def test_any_name_for_a_size(target: str, names: Sequence[str]) -> None:
    agree_with_python(read_sizes(names), np.ones((50, 50)), *(len(names) * [2]), target=target)


@pytest.mark.thinned(2)
@pytest.mark.parametrize("name", ["I", "double", "failure", "i_tile", "int64_t", "A_extent0", "np", "min"])
@pytest.mark.parametrize("target", ["c", pytest.param("numba", marks=pytest.mark.slow), "python"])
def test_any_name_for_a_written_array(target: str, name: str) -> None:
    agree_with_python(written_array(name), np.ones((20, 20)), 20, target=target)


@pytest.mark.parametrize("name", ["double", "I", "c0", "exp", "int64_t", "malloc", "_"])
def test_any_name_for_an_iterator(name: str) -> None:
    text = f"""
        def f(A, n):
            for {name} in range(n):
                A[{name}] = {name} + math.exp(1.0)
    """
    agree_with_python(text, np.zeros(5), 5, target="c")


def test_names_that_only_a_generated_name_would_clash_with() -> None:
    text = """
        def f(double, double_, s, s_cell, A_extent1, A, n):
            for i in range(n):
                s += A[i, -1] * double[i] + double_[i]
                s_cell[i] = A_extent1[i]
            return s
    """
    vectors = [np.arange(4.0) + shift for shift in range(4)]
    for target in ("c", "numba", "python"):
        agree(text, vectors[0], vectors[1], 1.0, vectors[2], vectors[3], np.ones((4, 5)), 4, target=target)


def test_reserved_words_are_left_to_c() -> None:
    assert {"double", "I", "expf", "csqrt", "int64_t", "checked_index", "floor_div_i64", "failure"} <= C_RESERVED
    assert not {"A", "alpha", "n", "i", "x"} & C_RESERVED


def test_identifiers_stay_apart() -> None:
    identifiers = Identifiers(["double", "double_", "A"], frozenset({"double"}))
    own = [identifiers.of(name) for name in ("A", "double_", "double", "other")]
    assert own == ["A", "double_", "double__", "other"]
    assert identifiers.derived("A") == "A_"
    assert identifiers.derived("A") == "A_"
    assert {"A", "A_", "double", "double_", "double__"} <= identifiers.taken


def test_a_temporary_of_iterations_taken_out_of_a_loop_is_declared_once_per_scope():
    def rotate(A, x, y):
        for i in range(len(A)):
            x, y = y, x + A[i]
        return x, y

    values = np.arange(7.0)
    for schedule in ("original", "isl", "pluto"):
        assert pv.compile(rotate, schedule=schedule, target="c")(values, 1.0, 2.0) == rotate(values, 1.0, 2.0)


def test_a_temporary_at_the_end_of_each_unrolled_iteration_is_declared_once_per_scope():
    def scaled(A, B):
        for i in range(len(A)):
            B[i] = 2.0 * A[i]
            s = max(A[i], 3.0)
            if A[i] > 0:
                B[i] = s

    part = pv.extract(scaled)
    edit = pv.edit(part, "isl")
    kernel = pv.compile(part, schedule=edit.apply("unroll", edit.loops[-1], factor=4), target="c")
    expected, found = ([np.arange(8.0), np.zeros(8)] for _ in range(2))
    scaled(*expected)
    kernel(*found)
    assert np.array_equal(expected, found)


def test_only_temporaries_that_are_used_are_declared():
    def fibonacci(n):
        a = 0
        b = 1
        for _i in range(n):
            a, b = b, a + b
        return a

    kernel = pv.compile(fibonacci, schedule="isl", target="c")

    assert kernel(50) == 12586269025
    assert kernel.source.count("int64_t saved;") == 1


def test_many_copies_of_a_temporary_are_on_large_pages() -> None:
    text = """
    def nearest(points, centres, label):
        for i in range(points.shape[0]):
            best = 1e300
            for c in range(centres.shape[0]):
                s = 0.0
                for j in range(points.shape[1]):
                    s += (points[i, j] - centres[c, j]) ** 2
                if s < best:
                    best = s
                    label[i] = c
    """
    kernel = pv.compile(function_of(text), target="c", known_sizes=False)
    random = np.random.default_rng(2)
    centres = random.random((128, 3))
    for count in (1000, 33000):  # the second needs more than 32 MiB
        chosen = random.integers(0, 128, count)
        label = np.zeros(count, dtype=np.int64)
        kernel(centres[chosen] + 1e-9, centres, label)
        np.testing.assert_array_equal(label, chosen)
    assert "= kept_memory(&s_kept, sizeof(double[s_extent0][s_extent1]))" in kernel.source


def test_copies_of_temporaries_are_for_one_call_at_a_time() -> None:
    text = """
    def turned(A, B):
        for i in range(A.shape[0]):
            t = A[i] * A[i]
            B[i] = t / (1.0 + t)
    """
    function = function_of(text)
    schedule = "[A_shape_0] -> { S0[i] -> [0, i]; S1[i] -> [1, -i] }"
    kernel = pv.compile(function, schedule=schedule, target="c")
    assert "kept_memory(&t_kept" in kernel.source

    def agrees(count: int) -> bool:
        given, result = np.arange(count) / 7, np.zeros(count)
        kernel(given, result)
        return bool(np.allclose(result, given**2 / (1.0 + given**2)))

    assert all(map(agrees, (10, 3000, 7, 0, 5000, 1)))
    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(agrees, [20000, 100, 30000, 50] * 10))

"""Register tiles in C: the text, and the same values to the last bit as the original order."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numba
import numpy as np
import pytest

import polyviz as pv
from polyviz.model.program import ArrayType
from polyviz.runtime.toolchain import find_toolchain
from tests.blocked import NARROW, SUMS, WIDE, arguments, blocked_kernel
from tests.running import function_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from polyviz.runtime.kernel import Kernel

needs_compiler = pytest.mark.skipif(find_toolchain() is None, reason="no C compiler")
SIZES = [(1, 1, 1), (2, 300, 40), (41, 29, 31), (48, 48, 48), (67, 101, 53)]
"""Too little to pack, a single row, primes, multiples of every tile."""
BLOCKS = {"automatic": None, "small": (16, 40, 24)}


def run(kernel: Kernel, given: list[Any]) -> list[Any]:
    """What is left of copies of ``given``; threads take part however little there is to do."""
    copied = [value.copy(order="K") if isinstance(value, np.ndarray) else value for value in given]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("polyviz.codegen.c.SMALLEST_SHARED_WORK", 1000)
        kernel(*copied)
    return copied


@cache
def reference(name: str) -> Kernel:
    function = function_of(SUMS[name])
    return pv.compile(function, schedule="original", target="c", floating_point="strict", register_tile=False)


@cache
def kernel_in_blocks(name: str, blocks: str) -> Kernel:
    return blocked_kernel(SUMS[name], tile=BLOCKS[blocks])


def assert_equal(name: str, kernel: Kernel, given: list[Any], *, exact: bool = True) -> None:
    for expected, actual in zip(run(reference(name), given), run(kernel, given), strict=True):
        if exact:
            np.testing.assert_array_equal(expected, actual)
        else:
            np.testing.assert_allclose(expected, actual, rtol=1e-9)


@pytest.mark.parametrize("processor", [WIDE, NARROW], ids=["wide", "narrow"])
def test_text(processor: Any, golden: Callable[..., None]) -> None:
    golden(blocked_kernel(SUMS["gemm"], processor).source)


def test_text_of_triangles(golden: Callable[..., None]) -> None:
    golden(blocked_kernel(SUMS["trmm"]).source, "sum")
    golden(blocked_kernel(SUMS["syr2k"]).source, "cells")


def test_text_of_tensors(golden: Callable[..., None]) -> None:
    golden(blocked_kernel(SUMS["tensors"]).source)


def test_text_without_packing(golden: Callable[..., None]) -> None:
    golden(blocked_kernel(SUMS["gemm"], pack=False).source)


def test_text_of_tiles_with_updates_only(golden: Callable[..., None]) -> None:
    golden(blocked_kernel(SUMS["lu"]).source)


@pytest.mark.thinned(25)
@needs_compiler
@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("blocks", BLOCKS)
@pytest.mark.parametrize("name", SUMS)
def test_every_bit_is_the_same(name: str, blocks: str, sizes: tuple[int, int, int]) -> None:
    assert_equal(name, kernel_in_blocks(name, blocks), arguments(name, sizes))


@pytest.mark.thinned(5)
@needs_compiler
@pytest.mark.parametrize("schedule", ["isl", "original"])
@pytest.mark.parametrize("name", SUMS)
def test_under_other_schedules(name: str, schedule: str) -> None:
    assert_equal(name, blocked_kernel(SUMS[name], schedule=schedule), arguments(name, (67, 101, 53)))


@pytest.mark.thinned(5)
@needs_compiler
@pytest.mark.parametrize("pack", [True, False], ids=["packed", "in place"])
@pytest.mark.parametrize("name", SUMS)
def test_short_vectors_and_operands_in_place(name: str, pack: bool) -> None:
    assert_equal(name, blocked_kernel(SUMS[name], NARROW, pack=pack), arguments(name, (67, 101, 53)))


@pytest.mark.thinned(4)
@needs_compiler
@pytest.mark.parametrize("name", SUMS)
def test_single_precision(name: str) -> None:
    assert_equal(name, blocked_kernel(SUMS[name]), arguments(name, (67, 101, 53), "float32"))


@pytest.mark.thinned(4)
@needs_compiler
@pytest.mark.parametrize("name", SUMS)
def test_contracted_products_are_as_good(name: str) -> None:
    kernel = blocked_kernel(SUMS[name], floating_point="reassociate")
    assert_equal(name, kernel, arguments(name, (67, 101, 53)), exact=False)


@pytest.mark.thinned(4)
@needs_compiler
@pytest.mark.parametrize("pack", [True, False], ids=["packed", "in place"])
@pytest.mark.parametrize("layout", ["F", "every other", "reversed"])
def test_arrays_that_are_not_contiguous(layout: str, pack: bool) -> None:
    def relaid(value: Any) -> Any:
        if not isinstance(value, np.ndarray):
            return value
        if layout == "F":
            return np.asfortranarray(value)
        if layout == "reversed":
            return value[::-1, ::-1]
        spread = np.zeros((2 * value.shape[0], 3 * value.shape[1]))
        spread[::2, ::3] = value
        return spread[::2, ::3]

    given = [relaid(value) for value in arguments("gemm", (41, 29, 31))]
    assert_equal("gemm", blocked_kernel(SUMS["gemm"], pack=pack), given)


@needs_compiler
def test_empty_arrays() -> None:
    for sizes in ((0, 5, 5), (5, 0, 5), (5, 5, 0)):
        assert_equal("gemm", blocked_kernel(SUMS["gemm"]), arguments("gemm", sizes))


@needs_compiler
@pytest.mark.parametrize("columns", [7, 8, 9, 16, 17, 32, 40])
def test_last_columns_take_no_more_vectors_than_they_fill(columns: int) -> None:
    kernel = kernel_in_blocks("gemm", "automatic")
    for rows in (16, 19):
        assert_equal("gemm", kernel, arguments("gemm", (rows, columns, 200)))
    lines = [line.strip() for line in kernel.source.splitlines()]
    one, two = (next(i for i, line in enumerate(lines) if line.endswith(f"== {last}) {{")) for last in (7, 15))
    assert "update_S1_8_columns(" in lines[one + 1]
    assert "update_S1_16_columns(" in lines[two + 1]


@needs_compiler
def test_infinities_stay_in_their_cells() -> None:
    given = arguments("trmm", (67, 101, 53))
    given[0][3, 60] = np.inf
    given[1][66, 100] = np.nan
    given[1][0, 0] = -np.inf
    assert_equal("trmm", blocked_kernel(SUMS["trmm"]), given)


@needs_compiler
def test_operands_are_read_only_where_the_source_reads() -> None:
    text = """
        def shifted(C, A, B):
            for i in range(C.shape[0]):
                for j in range(i):
                    for k in range(A.shape[1]):
                        C[i, j] += A[i - 1, k] * B[k, j]
        """
    kernel = blocked_kernel(text, tile=(16, 24, 8))
    reference = pv.compile(function_of(text), schedule="original", target="c", register_tile=False)
    random = np.random.default_rng(3)
    given = [random.standard_normal(shape) for shape in ((50, 50), (49, 30), (30, 49))]
    for expected, actual in zip(run(reference, given), run(kernel, given), strict=True):
        np.testing.assert_allclose(expected, actual)


@pytest.mark.parametrize(
    ("types", "reason"),
    [
        ({"C": "bool", "A": "bool", "B": "bool", "alpha": "bool", "beta": "bool"}, "C holds bool"),
        (
            {"C": "float32", "A": "float32", "B": "float32", "alpha": "float64", "beta": "float64"},
            "float64 and float32",
        ),
    ],
)
def test_types_that_vectors_do_not_have_are_said(types: dict[str, str], reason: str) -> None:
    ranks = {"C": 2, "A": 2, "B": 2, "alpha": 0, "beta": 0}
    given = {name: ArrayType(dtype, ranks[name]) for name, dtype in types.items()}
    program = blocked_kernel(SUMS["gemm"]).specialise(given)
    assert any(reason in note for note in program.notes)
    assert "update_S1" not in program.text


def test_lines_lead_back_to_the_source() -> None:
    program = blocked_kernel(SUMS["gemm"]).program
    lines = program.text.splitlines()
    commented = [number for number, text in enumerate(lines, 1) if "// line" in text]
    assert commented
    assert set(commented) <= set(program.lines)
    called = [number for number, text in enumerate(lines, 1) if text.strip().startswith("update_S1(")]
    assert {program.lines[number].statement for number in called} == {"S1"}


def test_names_of_the_user_do_not_collide() -> None:
    text = """
        def f(update_S0, S0_row0, S0_column0, k_start):
            for i in range(update_S0.shape[0]):
                for j in range(update_S0.shape[1]):
                    for k in range(k_start):
                        update_S0[i, j] += S0_row0[i, k] * S0_column0[k, j]
        """
    kernel = blocked_kernel(text)
    given = [np.ones((30, 40)), np.ones((30, 50)), np.ones((50, 40)), 50]
    assert (run(kernel, given)[0] == 51).all()


@pytest.mark.thinned(4)
@needs_compiler
@pytest.mark.parametrize("name", SUMS)
def test_the_text_compiles_without_a_warning(name: str, tmp_path: Any) -> None:
    import subprocess

    toolchain = find_toolchain()
    assert toolchain is not None
    path = tmp_path / "program.c"
    path.write_text(blocked_kernel(SUMS[name]).source, encoding="utf-8")
    strict = [
        "-std=gnu11",
        "-O1",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-Wno-unknown-pragmas",
        "-Wno-psabi",
        "-fopenmp",
        "-c",
    ]
    command = [*toolchain.command, *strict, str(path), "-o", str(tmp_path / "program.o")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert not done.stderr


@pytest.mark.thinned(4)
@needs_compiler
@pytest.mark.parametrize("shape", [(1, 1), (3, 2), (6, 4), (9, 3), (14, 2)], ids=str)
@pytest.mark.parametrize("name", ["gemm", "syr2k"])
def test_tiles_of_another_shape_give_the_same(name: str, shape: tuple[int, int]) -> None:
    kernel = pv.compile(function_of(SUMS[name]), target="c", register_tile=shape, contract="strict")
    assert_equal(name, kernel, arguments(name, (67, 101, 53)))
    if kernel.plan.register_tiles:
        lanes = kernel.plan.register_tiles[0].processor.lanes(8)
        assert f"A tile of {shape[0]} x {shape[1] * lanes} cells" in kernel.source


def test_columns_that_the_second_cache_holds_are_not_asked_for_ahead() -> None:
    large, small = (blocked_kernel(SUMS["gemm"], tile=tile).source for tile in (None, (64, 96, 128)))
    assert "ahead" in large
    assert "ahead" not in small


def test_tiles_of_a_block_share_what_is_asked_for_of_the_next_panel_without_a_branch() -> None:
    text = blocked_kernel(SUMS["gemm"]).source
    assert "(packed_column0 + 24 * k);\n        __builtin_prefetch(ahead_column0 + 4 * k, 0, 2);" in text
    assert "+ (i_first - i_start) * (k_count / 2);  // in the next panel" in text


@pytest.mark.parametrize("contract", ["strict", "reassociate"])
def test_products_of_one_step_run_one_after_the_other_where_sums_may_be_reordered(contract: str) -> None:
    source = blocked_kernel(SUMS["syr2k"], floating_point=contract).source
    separate = "sum[r][c] += column0[c] * row0;" in source and "sum[r][c] += column1[c] * row1;" in source
    assert separate == (contract == "reassociate")
    assert ("sum[r][c] += column0[c] * row0 + column1[c] * row1;" in source) == (contract == "strict")


def test_a_slower_path_is_said() -> None:
    kernel = blocked_kernel(SUMS["gemm"])
    given = arguments("gemm", (9, 9, 9))
    assert not kernel.program_for(kernel.bind(given, {})).notes
    given[2] = np.asfortranarray(given[2])
    (note,) = kernel.program_for(kernel.bind(given, {})).notes
    assert note == "S1 copies each tile of C, which is slower: its rows are not contiguous."


def mixed_kernel(**options: Any) -> Kernel:
    """A sum in double precision of products of single precision, as `s = 0.0` makes it in numba."""
    text = """
def scores(Q, K, S):
    for i in range(Q.shape[0]):
        for j in range(K.shape[0]):
            s = 0.0
            for d in range(Q.shape[1]):
                s += Q[i, d] * K[j, d]
            S[i, j] = s
"""
    return pv.compile(function_of(text), target="c", **options)


@needs_compiler
def test_products_of_single_precision_add_up_in_double() -> None:
    kernel = mixed_kernel()
    random = np.random.default_rng(5)
    Q, K = (random.random((61, 90)).astype(np.float32) for _ in range(2))
    S = np.zeros((61, 61))
    program = kernel.program_for(kernel.bind([Q, K, S], {}))
    (note,) = program.notes
    assert "update_S1" in program.text
    assert note == (
        "S1 multiplies in double precision, in which s adds up: its products of single precision are not rounded first."
    )
    kernel(Q, K, S)
    assert np.allclose(S, Q.astype(np.float64) @ K.T.astype(np.float64), rtol=1e-14)


def test_products_stay_rounded_where_every_bit_counts() -> None:
    types = {"Q": "float32", "K": "float32", "S": "float64"}
    program = mixed_kernel(contract="strict").specialise({name: ArrayType(dtype, 2) for name, dtype in types.items()})
    assert any("float32 and float64 meet" in note for note in program.notes)
    assert "update_S1" not in program.text


DOUBLE_FACTOR = {
    "gemm": "C[i, j] += alpha * A[i, k] * B[k, j]",
    "syr2k": "C[i, j] += A[j, k] * alpha * B[i, k] + B[j, k] * alpha * A[i, k]",
    "less": "C[i, j] -= A[i, k] * (alpha * B[k, j])",
}


def scaled_kernel(name: str, **options: Any) -> Any:
    """A product of matrices in single precision with a factor that comes as a number of Python, which is a double."""
    text = f"""
def scaled(C, A, B, alpha):
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            for k in range(A.shape[1]):
                {DOUBLE_FACTOR[name]}
"""
    return pv.compile(function_of(text), target="c", **options), function_of(text)


@needs_compiler
@pytest.mark.parametrize("dtype", ["float32", "complex64"])
@pytest.mark.parametrize("name", DOUBLE_FACTOR)
def test_a_factor_in_double_precision_keeps_the_tiles_of_singles(name: str, dtype: str) -> None:
    kernel, plain = scaled_kernel(name)
    random = np.random.default_rng(6)
    C, A, B = (random.random((53, 53)).astype(dtype) * (1 if dtype == "float32" else 1 + 1j) for _ in range(3))
    for order in ("C", "F"):
        given = [np.asarray(value.astype(dtype), order=order) for value in (C, A, B)]
        expected = [value.copy() for value in given]
        kernel(*given, 1.5)
        plain(*expected, 1.5)
        np.testing.assert_allclose(given[0], expected[0], rtol=2e-6)
        program = kernel.program_for(kernel.bind([*given, 1.5], {}))
        assert "update_S0" in program.text
        (note,) = (text for text in program.notes if "lies in Fortran order" not in text)
        assert note == (
            "S0 adds up in double precision, which the values that it multiplies have, and rounds each tile of C to "
            "single precision: arguments in single precision, such as np.float32(1.5), are faster."
        )


def test_a_factor_in_double_precision_rounds_every_step_where_every_bit_counts() -> None:
    kernel, _ = scaled_kernel("gemm", contract="strict")
    types = {name: ArrayType("float32", 2) for name in "CAB"} | {"alpha": ArrayType("float64", 0)}
    program = kernel.specialise(types)
    assert any("float64 and float32 meet" in note for note in program.notes)
    assert "update_S0" not in program.text


MIXED_INTEGERS = {
    "int64": ("int64", "int64"),
    "int32": ("int32", "int32"),
    "int16": ("int64", "int16"),
    "int8": ("int8", "uint8"),
    "uint64": ("uint64", "uint32"),
    "uint8": ("int32", "int64"),
}


@needs_compiler
@pytest.mark.parametrize("contract", ["strict", "reassociate"])
@pytest.mark.parametrize("name", DOUBLE_FACTOR)
@pytest.mark.parametrize("dtype", MIXED_INTEGERS)
def test_integers_are_cut_off_at_the_end_with_the_same_bits(name: str, dtype: str, contract: str) -> None:
    kernel, plain = scaled_kernel(name, contract=contract)
    random = np.random.default_rng(7)
    first, second = MIXED_INTEGERS[dtype]

    def any_bits(kind: str) -> Any:
        return random.integers(np.iinfo(kind).min, np.iinfo(kind).max, (53, 53), kind)

    given = [any_bits(dtype), any_bits(first), any_bits(second), np.dtype(first).type(77)]
    expected = [value.copy() for value in given]
    kernel(*given)
    numba.njit(plain)(*expected)
    np.testing.assert_array_equal(given[0], expected[0])
    program = kernel.program_for(kernel.bind(given, {}))
    assert "update_S0" in program.text
    assert not program.notes


def test_integers_that_meet_a_floating_point_number_have_no_tiles() -> None:
    kernel, _ = scaled_kernel("gemm")
    types = {name: ArrayType("int64", 2) for name in "CAB"} | {"alpha": ArrayType("float64", 0)}
    program = kernel.specialise(types)
    assert any("float64 and int64 meet" in note for note in program.notes)


TO_DOUBLES = {
    "product": "s += A[i, k] * B[j, k]",
    "square": "s += (A[i, k] - B[j, k]) * (A[i, k] - B[j, k])",
    "signed": "s += (A[i, k] - B[j, k]) * A[i, k]",
}
WITH_TILES = {
    "product": {"int8", "uint8", "int16", "uint16", "int32", "float32"},
    "square": {"int8", "uint8", "int16", "uint16", "float32"},
    "signed": {"int8", "int16", "float32"},
}


@needs_compiler
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "float32"])
@pytest.mark.parametrize("name", TO_DOUBLES)
def test_short_numbers_add_up_in_double_precision(name: str, dtype: str) -> None:
    text = f"""
def scores(A, B, S):
    for i in range(A.shape[0]):
        for j in range(B.shape[0]):
            s = 0.0
            for k in range(A.shape[1]):
                {TO_DOUBLES[name]}
            S[i, j] = s
"""
    kernel, random = pv.compile(function_of(text), target="c"), np.random.default_rng(8)

    def any_numbers(rows: int) -> Any:
        if dtype == "float32":
            return random.random((rows, 90), np.float32)
        # Squares of differences stay within 64 bits: numba does not always say the same of those that do not.
        parts = 2 if np.dtype(dtype).itemsize == 4 else 1
        ends = np.iinfo(dtype).min // parts, np.iinfo(dtype).max // parts
        return random.integers(*ends, (rows, 90), dtype, endpoint=True)

    A, B, S, expected = any_numbers(61), any_numbers(50), np.zeros((61, 50)), np.zeros((61, 50))
    kernel(A, B, S)
    numba.njit(function_of(text))(A, B, expected)
    near = 1e-6 if dtype == "float32" else 1e-14
    np.testing.assert_allclose(S, expected, rtol=near, atol=near * np.abs(expected).max())
    program = kernel.program_for(kernel.bind([A, B, S], {}))
    assert ("update_" in program.text) == (dtype in WITH_TILES[name])


@needs_compiler
def test_what_threads_keep_for_products_of_both_precisions_has_two_names() -> None:
    text = """
def both(A, B, C, D, E):
    for i in range(A.shape[0]):
        for j in range(B.shape[1]):
            for k in range(A.shape[1]):
                C[i, j] += A[i, k] * B[k, j]
    for i in range(A.shape[0]):
        for j in range(D.shape[1]):
            for k in range(A.shape[1]):
                E[i, j] += A[i, k] * D[k, j]
"""
    random = np.random.default_rng(5)
    A, B, D = (random.random(shape).astype(np.float32) for shape in ((61, 70), (70, 83), (70, 64)))
    C, E = np.zeros((61, 83)), np.zeros((61, 64), np.float32)
    kernel = pv.compile(function_of(text), target="c")
    program = kernel.program_for(kernel.bind([A, B, C, D, E], {}))
    assert "float A_rows_kept[" in program.text
    assert "double A_rows_kept_S0[" in program.text
    kernel(A, B, C, D, E)
    assert np.allclose(C, A.astype(np.float64) @ B, rtol=1e-12)
    assert np.allclose(E, A @ D, rtol=1e-4)


PRODUCTS = """
    def products(A, B, C):
        for b in range(A.shape[0]):
            for i in range(A.shape[1]):
                for j in range(B.shape[2]):
                    for k in range(A.shape[2]):
                        C[b, i, j] += A[b, i, k] * B[b, k, j]
    """


@needs_compiler
@pytest.mark.parametrize(("count", "size"), [(0, 4), (3, 0), (40_000, 4), (2, 24), (20, 24), (200, 24)])
def test_each_of_many_products_has_to_be_worth_packing(count: int, size: int) -> None:
    kernel = blocked_kernel(PRODUCTS)
    rng = np.random.default_rng(1)
    A, B, C = (rng.random((count, size, size)) for _ in range(3))
    expected = C + A @ B
    kernel(A, B, C)
    np.testing.assert_allclose(C, expected)
    assert "A_shape_1 * B_shape_2 * A_shape_2 > 4000 ? " in kernel.source
    assert "schedule(dynamic, 1 + whole_i64(20000" in kernel.source


@needs_compiler
def test_one_product_is_packed_by_its_work_alone() -> None:
    kernel = kernel_in_blocks("gemm", "automatic")
    run(kernel, arguments("gemm", (3, 4, 5)))
    assert "> 20000 ? " in kernel.source
    assert "> 4000" not in kernel.source


def complex_arguments(name: str, sizes: tuple[int, int, int], dtype: str) -> list[Any]:
    """The same with an imaginary part of its own for each number."""
    scalar = np.dtype(dtype).type
    return [
        (value + 1j * np.flip(value)).astype(dtype) if isinstance(value, np.ndarray) else scalar(value + 0.25j)
        for value in arguments(name, sizes)
    ]


@pytest.mark.thinned(4)
@needs_compiler
@pytest.mark.parametrize("processor", [WIDE, NARROW], ids=["wide", "narrow"])
@pytest.mark.parametrize("dtype", ["complex128", "complex64"])
def test_every_bit_of_complex_numbers_is_the_same(dtype: str, processor: Any) -> None:
    kernel = blocked_kernel(SUMS["gemm"], processor, tile=BLOCKS["small"])
    given = complex_arguments("gemm", (19, 45, 33), dtype)
    expected = [value.copy() if isinstance(value, np.ndarray) else value for value in given]
    function_of(SUMS["gemm"])(*expected)
    np.testing.assert_array_equal(run(kernel, given)[2], expected[2])


@pytest.mark.thinned(13)
@needs_compiler
@pytest.mark.parametrize("processor", [WIDE, NARROW], ids=["wide", "narrow"])
@pytest.mark.parametrize("dtype", ["complex128", "complex64"])
@pytest.mark.parametrize("name", SUMS)
def test_complex_numbers_are_taken_apart(name: str, dtype: str, processor: Any) -> None:
    given = complex_arguments(name, (67, 101, 53), dtype)
    for tile in BLOCKS.values():
        kernel = blocked_kernel(SUMS[name], processor, floating_point="reassociate", tile=tile)
        if any(tile.packed for tile in kernel.plan.register_tiles):
            assert "half of them hold imaginary parts" in kernel.program_for(kernel.bind(given, {})).text
        near = 1e-3 if dtype == "complex64" else 1e-9
        for expected, actual in zip(run(reference(name), given), run(kernel, given), strict=True):
            np.testing.assert_allclose(expected, actual, rtol=near, atol=near)


COMPLEX_TYPES = {
    name: ArrayType("complex128", rank) for name, rank in {"C": 2, "A": 2, "B": 2, "alpha": 0, "beta": 0}.items()
}


def test_text_of_complex_numbers(golden: Callable[..., None]) -> None:
    golden(blocked_kernel(SUMS["gemm"]).specialise(COMPLEX_TYPES).text, "strict")
    golden(blocked_kernel(SUMS["gemm"], floating_point="reassociate").specialise(COMPLEX_TYPES).text, "fused")


def test_complex_quotients_and_operands_in_place_take_no_tiles() -> None:
    divided = SUMS["gemm"].replace("A[i, k] * B[k, j]", "A[i, k] / B[k, j]")
    for kernel in (blocked_kernel(divided), blocked_kernel(SUMS["gemm"], pack=False)):
        program = kernel.specialise(COMPLEX_TYPES)
        assert any("complex128 takes sums of products whose operands are packed" in note for note in program.notes)
        assert "update_S1" not in program.text


TWO_OPERANDS = """
def two(A, B, C, n):
    for i in range(n):
        for j in range(n):
            for k in range(n):
                C[i, j] += {value}
"""


@needs_compiler
@pytest.mark.parametrize("target", ["c", "numba"])
@pytest.mark.parametrize(
    "value",
    ["A[i, k] * B[k, j] + A[i, k + 1] * B[k + 1, j]", "A[i, k] * B[k, j] - A[k, i] * B[j, k]"],
    ids=["beside", "transposed"],
)
def test_two_operands_from_one_array_have_two_buffers(value: str, target: str) -> None:
    text = TWO_OPERANDS.format(value=value)
    kernel, random = pv.compile(function_of(text), target=target), np.random.default_rng(3)
    n = 41
    rows, columns, found, expected = (random.random((n + 1, n + 1)) for _ in range(4))
    expected[...] = found
    kernel(rows, columns, found, n)
    function_of(text)(rows, columns, expected, n)
    np.testing.assert_allclose(found, expected)


ONE_AFTER_THE_OTHER = """
def chained(A, C, T, U):
    for r in range(A.shape[0]):
        for i in range(A.shape[1]):
            for j in range(A.shape[1]):
                T[i, j] = 0.0
                for k in range(A.shape[1]):
                    T[i, j] += A[r, i, k] * C[k, j]
        for i in range(A.shape[1]):
            for j in range(A.shape[1]):
                U[i, j] = 0.0
                for k in range(A.shape[1]):
                    U[i, j] += T[i, k] * C[k, j]
        for i in range(A.shape[1]):
            for j in range(A.shape[1]):
                A[r, i, j] = 0.5 * U[j, i]
"""


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("own", [False, True], ids=["given", "of each thread"])
def test_products_that_share_an_operand_have_buffers_of_their_own(own: bool) -> None:
    text = ONE_AFTER_THE_OTHER
    if own:
        shape = "(A.shape[1], A.shape[1])"
        text = text.replace(", T, U):", f"):\n    T = np.empty({shape})\n    U = np.empty({shape})")
    kernel, random = pv.compile(function_of(text), target="c"), np.random.default_rng(3)
    assert kernel.source.count("int64_t held") == 2
    for size in (1, 5, 40):
        given, factor = random.random((3, size, size)), random.random((size, size))
        others = [] if own else [np.zeros((size, size)) for _ in range(2)]
        expected = given.copy()
        kernel(given, factor, *others)
        function_of(text)(expected, factor, *others)
        np.testing.assert_allclose(given, expected)


@needs_compiler
def test_a_loop_over_products_may_end_before_it_starts() -> None:
    text = """
        def products(A, B, C, n):
            for r in range(n, A.shape[0] - n):
                for i in range(A.shape[1]):
                    for j in range(A.shape[1]):
                        for k in range(A.shape[1]):
                            C[r, i, j] += A[r, i, k] * B[k, j]
    """
    kernel = pv.compile(function_of(text), target="c")
    assert "schedule(dynamic, 1 + " in kernel.source
    for n in (0, 1, 2):  # for 1, one iteration less than none times the work of each, and one, is nothing
        sums = np.zeros((1, 1, 1))
        kernel(np.ones((1, 1, 1)), np.ones((1, 1)), sums, n)
        assert sums.item() == (n == 0)


@needs_compiler
def test_what_blocks_copy_together_does_not_ask_which_block_it_is() -> None:
    # The rows that a column meets begin at `i // 2`: a condition on the loop over blocks of rows, which is inside.
    text = """
        def update(A, B, C, n, m):
            for k in range(n // 2, n):
                for i in range(m // 2, (n + m) // 3):
                    for j in range(i // 2, n):
                        C[i, j] -= A[i, k] * B[j, k]
    """
    kernel, random = pv.compile(function_of(text), target="c", contract="strict", threads=2), np.random.default_rng(4)
    reference = numba.njit(function_of(text))
    for n, m in ((0, 0), (5, 4), (61, 60), (97, 90), (97, 130)):
        given = [random.random((140, 140)) for _ in range(3)]
        expected = [one.copy() for one in given]
        kernel(*given, n, m)
        reference(*expected, n, m)
        np.testing.assert_array_equal(given[2], expected[2])


@needs_compiler
@pytest.mark.parametrize("target", ["c", "numba"])
def test_a_statement_has_nothing_to_do_in_blocks_of_another(target: str) -> None:
    # Under isl's order both products have the loops over blocks together; the last columns are all in one of them.
    text = """
        def products(A, B, C, n):
            for i in range(n):
                for j in range(n // 3 * 3):
                    for k in range(n):
                        C[i, j] += A[i, k] * B[k, j]
            for i in range(n):
                for j in range(n // 3 * 3, n):
                    for k in range(n):
                        C[i, j] += A[i, k] * B[k, j]
    """
    kernel, random = pv.compile(function_of(text), target=target, contract="strict", schedule="isl"), np.random
    reference = numba.njit(function_of(text))
    for n in (1, 49, 97, 98):
        given = random.default_rng(n).random((3, n, n))
        expected = given.copy()
        kernel(*given, n)
        reference(*expected, n)
        np.testing.assert_array_equal(given, expected)

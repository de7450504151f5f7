"""Kernels of blocks and threads on the processor: right results, and everything that would go wrong on a device."""

from __future__ import annotations

import copy
import re
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import polyviz as pv
from polyviz.benchmark.gpu import subjects
from polyviz.errors import EmulationError, OutOfBoundsError
from polyviz.gallery import kernels, polybench
from polyviz.runtime.emulator import EmulatedRunner
from tests.shared import emulated

SMALL = ["jacobi-2d-alt", "doitgen-expanded", "gemm", "gesummv"]
SUITE = subjects.KERNELS
ORDERS = [
    (entry.name, order)
    for place, entry in enumerate(kernels())
    for turn, order in enumerate(("superposition", "isl"))
    # The examples, many of them alike, under one of the two in turn.
    if entry in polybench() or place % 2 == turn
]


def entry_of(name):
    return next(entry for entry in kernels() if entry.name == name)


def verify(name, schedule):
    entry = entry_of(name)
    arguments = entry.arguments("mini")
    expected = copy.deepcopy(arguments)
    # The matrices of gramschmidt have less than full rank: what is left of their columns is rounding.
    contract = "strict" if name == "gramschmidt" else "reassociate"
    kernel = emulated(name, schedule, contract)
    result = kernel(*arguments)
    wanted = entry.function(*expected)
    for got, want in [*zip(arguments, expected, strict=True), (result, wanted)]:
        if want is not None:
            np.testing.assert_allclose(got, want, rtol=1e-7, atol=1e-9)
    return kernel


@pytest.mark.thinned(3)
@pytest.mark.parametrize("name", SMALL)
def test_superposed_kernels_compute_what_the_loops_do(name):
    verify(name, "superposition")


@pytest.mark.slow
@pytest.mark.hardly_optimised
@pytest.mark.parametrize(("name", "order"), ORDERS)
def test_kernels_of_both_mappings_compute_what_the_loops_do(name, order):
    verify(name, order)


@pytest.mark.slow
@pytest.mark.hardly_optimised
@pytest.mark.parametrize("name", ["gemm", "syr2k", "symm", "covariance", "lu", "jacobi-2d", "doitgen"])
def test_kernels_of_plutos_order_compute_what_the_loops_do(name):
    verify(name, "pluto")


@pytest.mark.slow
@pytest.mark.hardly_optimised
@pytest.mark.parametrize("name", SUITE)
def test_kernels_of_the_spatial_order_compute_what_the_loops_do(name):
    verify(name, "spatial")


@pytest.mark.thinned(2)
@pytest.mark.parametrize(("schedule", "tiles"), [("superposition", [0, 4]), ("spatial", [0, 2, 2])])
def test_tiles_of_several_runs_in_several_kernels_have_names_of_their_own(schedule, tiles):
    made = verify("symm", schedule)
    names = [
        re.findall(r"__shared__ Shared<.*> (\w+);", text)
        for text in made.program.device.instrumented.split("// Kernel ")
    ]
    assert [len(one) for one in names] == tiles
    assert len({name for one in names for name in one}) == 4


def jacobi(steps=4, size=40):
    generator = np.random.default_rng(7)
    kernel = emulated("jacobi-2d-alt", "superposition")
    A, B = generator.random((2, size, size))
    return kernel, kernel.bind((), {"tsteps": steps, "A": A, "B": B, "factor": 0.3})


def without_barriers(program):
    """The program with its barriers deleted; the emulator still takes it for a kernel with barriers."""
    text = program.device.instrumented.replace("__syncthreads();", "")
    return replace(program, device=replace(program.device, instrumented=text))


def test_two_barriers_per_step_are_passed_by_every_block():
    kernel, bound = jacobi(steps=4, size=40)
    runner = EmulatedRunner(kernel.program_for(bound))
    runner(bound.given, bound.parameters)
    assert runner.report.barriers == 2 * 4 * 2
    assert runner.report.launches == 1


def test_a_deleted_barrier_is_a_race_and_leaves_the_arrays_alone():
    kernel, bound = jacobi()
    before = bound.given["A"].copy()
    runner = EmulatedRunner(without_barriers(kernel.program_for(bound)))
    told = r"A race: A\[i, j.*, in S.\[\d, \d+, \d+\], thread \(.*, and (thread \(|other threads).* of the same block "
    with pytest.raises(EmulationError, match=told):
        runner(bound.given, bound.parameters)
    np.testing.assert_array_equal(bound.given["A"], before)


@pytest.mark.parametrize("number", [0, 1])
def test_each_of_the_two_barriers_is_needed(number):
    kernel, bound = jacobi()
    program = kernel.program_for(bound)
    parts = program.device.instrumented.split("__syncthreads();")
    parts[number] += parts.pop(number + 1)
    text = "__syncthreads();".join(parts)
    runner = EmulatedRunner(replace(program, device=replace(program.device, instrumented=text)))
    with pytest.raises(EmulationError, match="A race"):
        runner(bound.given, bound.parameters)


def test_a_barrier_under_a_condition_on_a_thread_is_divergent():
    kernel, bound = jacobi()
    program = kernel.program_for(bound)
    text = program.device.instrumented.replace("__syncthreads();", "if (thread_x < 7) __syncthreads();", 1)
    runner = EmulatedRunner(replace(program, device=replace(program.device, instrumented=text)))
    with pytest.raises(EmulationError, match=r"threads of block \(\d, 0, 0\) of kernel_\w+ wait at different"):
        runner(bound.given, bound.parameters)


def test_a_subscript_out_of_range_is_found():
    kernel, bound = jacobi()
    program = kernel.program_for(bound)
    text = program.device.instrumented.replace("(i, j - 1)", "(i, j - 2)")
    runner = EmulatedRunner(replace(program, device=replace(program.device, instrumented=text)))
    with pytest.raises(EmulationError, match=r"out of range: A\[i, j - 1\] in S0 \(line 7\)") as error:
        runner(bound.given, bound.parameters)
    told = re.search(
        r"which is \[(\d+), -1\] in an array of 40 x 40 cells, in S0\[0, (\d+), 1\], "
        r"thread \((\d+), (\d+), 0\) of block \((\d+), (\d+), 0\)",
        str(error.value),
    )
    assert told is not None
    row, i, thread_x, thread_y, block_x, block_y = map(int, told.groups())
    block = kernel.program.device.kernels[0].block
    assert row == i
    # Whose iteration that is, the blocks and threads say as well.
    assert {i % block[1], 1 % block[0]} <= {thread_x, thread_y}
    assert max(block_x, block_y) == i // 32


def test_blocks_that_write_the_same_cell_race():
    def scale(A):
        for i in range(A.shape[0]):
            A[i] = 2.0 * A[i]

    kernel = pv.compile(scale, schedule="isl", target="emulated")
    bound = kernel.bind((np.ones(600),), {})
    program = kernel.program_for(bound)
    text = program.device.instrumented.replace(".at<0>(i)", ".at<0>(0)")
    with pytest.raises(EmulationError, match="A race"):
        EmulatedRunner(replace(program, device=replace(program.device, instrumented=text)))(
            bound.given, bound.parameters
        )


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_threads_changes_nothing(seed):
    kernel, bound = jacobi(steps=2)
    EmulatedRunner(kernel.program_for(bound), seed=seed)(bound.given, bound.parameters)
    reference, expected = jacobi(steps=2)
    EmulatedRunner(reference.program_for(expected), seed=17)(expected.given, expected.parameters)
    np.testing.assert_array_equal(bound.given["A"], expected.given["A"])


@cache
def product_kernel(**device):
    return pv.compile(entry_of("gemm").function, schedule="superposition", target="emulated", device=device)


def product(changed=lambda text: text, dtype="float64", extents=(140, 70, 45), **device):
    """gemm on sizes that no tile divides, with a change in the text of its kernel."""
    kernel = product_kernel(**device)
    generator = np.random.default_rng(3)
    rows, columns, depth = extents
    shapes = ((rows, columns), (rows, depth), (depth, columns))
    C, A, B = (generator.random(shape).astype(dtype) for shape in shapes)
    if np.dtype(dtype).kind == "c":
        A += (1j * A).astype(dtype)
    alpha, beta = (np.dtype(dtype).type(value) for value in (1.5, 0.5))
    expected = alpha * A @ B + beta * C
    bound = kernel.bind((), {"alpha": alpha, "beta": beta, "C": C, "A": A, "B": B})
    program = kernel.program_for(bound)
    device = replace(program.device, instrumented=changed(program.device.instrumented))
    EmulatedRunner(replace(program, device=device))(bound.given, bound.parameters)
    return C, expected


@pytest.mark.slow
@pytest.mark.thinned(3)
@pytest.mark.parametrize("dtype", ["float64", "float32", "complex64", "complex128"])
def test_tiles_in_shared_memory_give_the_same_product(dtype):
    got, expected = product(dtype=dtype)
    np.testing.assert_allclose(got, expected, rtol=1e-5 if dtype in ("float32", "complex64") else 1e-10)


@pytest.mark.parametrize("extents", [(130, 66, 24), (128, 64, 16), (1, 1, 1), (129, 64, 0)])
def test_full_and_partial_tiles_and_copies_of_pieces_agree(extents):
    got, expected = product(extents=extents)
    np.testing.assert_allclose(got, expected)


@pytest.mark.thinned(3)
@pytest.mark.parametrize(
    "device",
    [
        {"stage": False},
        {"elements": (1, 1)},
        {"elements": (3, 2), "depth": 5},
        {"prefetch": False},
        {"vectors": False, "padding": False},
        {"shared_bytes": 8 * 1024},
    ],
)
def test_every_technique_can_be_switched_off(device):
    got, expected = product(extents=(70, 66, 33), **device)
    np.testing.assert_allclose(got, expected)


@pytest.mark.thinned(3)
@pytest.mark.parametrize("device", [{"threads": (32, 4)}, {"threads": (8, 8)}, {"threads": (48,)}])
def test_any_number_of_threads_computes_the_same(device):
    kernel = pv.compile(
        entry_of("gemm").function, schedule="isl", target="emulated", tile=(16, 24), device=device
    )
    generator = np.random.default_rng(3)
    C, A, B = generator.random((37, 50)), generator.random((37, 11)), generator.random((11, 50))
    expected = 1.5 * A @ B + 0.5 * C
    kernel(1.5, 0.5, C, A, B)
    np.testing.assert_allclose(C, expected)


def test_a_copy_that_nobody_waited_for_is_found():
    with pytest.raises(EmulationError, match=r"read before it is written: ._tile"):
        product(lambda text: text.replace("wait_for_copies();", ""))


def test_a_piece_that_goes_beyond_its_row_is_found():
    with pytest.raises(EmulationError, match="out of range"):
        product(lambda text: text.replace("nk % 2 == 0", "true"), extents=(140, 70, 45), elements=(1, 1))


def test_a_tile_that_was_not_copied_is_found():
    with pytest.raises(EmulationError, match=r"read before it is written: B_tile"):
        product(lambda text: "\n".join(line for line in text.splitlines() if "the tile of B" not in line))


@pytest.mark.slow
def test_both_barriers_around_the_tiles_are_needed():
    with pytest.raises(EmulationError, match="_tile"):
        product(
            lambda text: text.replace("__syncthreads();  // the tiles are in shared memory", ""),
            prefetch=False,
        )
    with pytest.raises(EmulationError, match=r"A race: ._tile"):
        product(
            lambda text: text.replace("__syncthreads();  // the tiles have been read", ""), prefetch=False
        )


def test_the_only_barrier_of_tiles_that_are_copied_ahead_is_needed():
    with pytest.raises(EmulationError, match="_tile"):
        product(lambda text: text.replace("__syncthreads();  // the next tiles", "// the next tiles"))


def mvt_card(**device):
    kernel = pv.compile(entry_of("mvt").function, schedule="isl", target="emulated", device=device)
    entry = entry_of("mvt")
    kernel(*entry.arguments({"n": 64}))
    return {row.text: row for card in kernel.cards for row in card.accesses if row.requests}


@pytest.mark.slow
def test_staged_rows_are_read_coalesced_and_without_bank_conflicts():
    plain, staged, dense = mvt_card(stage=False), mvt_card(), mvt_card(padding=False)
    assert plain["A[i, j]"].counted == 32.0
    (copied,) = [row for text, row in staged.items() if text.startswith("A[") and "place0" in text]
    assert copied.counted < 9
    tile = [next(row for text, row in rows.items() if text.startswith("A_tile") and row.mode == "read")
            for rows in (staged, dense)]  # fmt: skip
    assert tile[0].conflicts == 0
    assert tile[1].conflicts > 1


def gather(x, place, y):
    for i in range(y.shape[0]):
        y[i] = x[place[i]]


def test_subscripts_known_only_at_run_time_are_tested():
    kernel = pv.compile(gather, schedule="isl", target="emulated")
    x, y = np.arange(300.0), np.zeros(300)
    kernel(x, np.arange(300)[::-1] - 300, y)
    np.testing.assert_array_equal(y, x[::-1])
    before = y.copy()
    with pytest.raises(OutOfBoundsError, match=r"`x\[.*leaves its array"):
        kernel(x, np.arange(300) + 1, y)
    np.testing.assert_array_equal(y, before)


def test_a_step_of_zero_is_told():
    def strided(A, k):
        for i in range(0, A.shape[0], k[0]):
            A[i] = 0.0

    kernel = pv.compile(strided, schedule="original", target="emulated")
    A = np.ones(9)
    with pytest.raises(pv.PolyvizError, match="step of the loop over i is 0"):
        kernel(A, np.array([0]))
    np.testing.assert_array_equal(A, np.ones(9))
    kernel(A, np.array([4]))
    assert A.sum() == 6


def test_a_choice_between_a_whole_number_and_a_cell_is_real():
    """In C++ `?:` would make what a cell holds an integer, as the other operand is no class."""

    def chosen(A, B, C):
        for i in range(A.shape[0]):
            B[i] = i if A[i] > 4.0 else A[i]
            C[i] = A[i] if i % 2 == 0 else B[i]

    A = np.linspace(0.25, 9.25, 40)
    B, C = np.zeros((2, 40))
    pv.compile(chosen, schedule="isl", target="emulated")(A, B, C)
    np.testing.assert_array_equal(B, np.where(A > 4, np.arange(40), A))
    np.testing.assert_array_equal(C, np.where(np.arange(40) % 2 == 0, A, B))


def test_complex_numbers():
    def mixed(values, weights, result):
        for i in range(values.shape[0]):
            result[i] = values[i] * values[i].conjugate() / (weights[i] + 2.0) - values[i].imag + 1j

    for dtype in ("complex128", "complex64"):
        generator = np.random.default_rng(5)
        values = (generator.random(70) + 1j * generator.random(70)).astype(dtype)
        weights, result = generator.random(70).astype(values.real.dtype), np.zeros(70, dtype)
        pv.compile(mixed, schedule="isl", target="emulated")(values, weights, result)
        wanted = values * values.conjugate() / (weights + 2) - values.imag + 1j
        np.testing.assert_allclose(result, wanted, rtol=1e-5)


@pytest.mark.parametrize("dtype", ["complex128", "complex64"])
def test_powers_of_complex_numbers(dtype):
    def powers(values, exponents, result):
        for i in range(values.shape[0]):
            result[i] = values[i] ** exponents[i] + values[i] ** 3

    generator = np.random.default_rng(5)
    values, exponents = (generator.random((2, 70)) + 1j * generator.random((2, 70))).astype(dtype)
    values[0], exponents[0] = 0, -1
    result = np.zeros(70, dtype)
    pv.compile(powers, schedule="isl", target="emulated")(values, exponents, result)
    assert np.isnan(result[0])
    np.testing.assert_allclose(result[1:], values[1:] ** exponents[1:] + values[1:] ** 3, rtol=1e-5)


@pytest.mark.slow
def test_complex_cells_are_added_and_compared_in_place():
    def program(A, B, C, D):
        for i in range(A.shape[0]):
            C[i] = A[i] + B[i] - (-C[i])
            if A[i] != B[i]:
                D[i] = A[i].real + D[i]
        for i in range(A.shape[0]):
            for k in range(A.shape[0]):
                C[i] += A[k] * B[i]

    for first, second in (("complex64", "complex64"), ("complex64", "complex128"), ("float32", "float32")):
        numbers = np.arange(1, 41)
        A, B = numbers.astype(first), (numbers**2).astype(second)
        arrays = A, B, np.ones(40, "complex128"), np.ones(40, "float32")
        expected = tuple(array.copy() for array in arrays)
        program(*expected)
        pv.compile(program, schedule="superposition", target="emulated")(*arrays)
        for got, want in zip(arrays, expected, strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-5)


def test_bits_that_must_not_change_keep_the_order_of_sums():
    entry = entry_of("gesummv")
    options = {"schedule": "superposition", "target": "emulated", "floating_point": "strict"}
    kernel = pv.compile(entry.function, **options)
    assert "_parts" not in kernel.source
    arguments, expected = entry.arguments("mini"), entry.arguments("mini")
    kernel(*arguments)
    entry.function(*expected)
    for got, want in zip(arguments, expected, strict=True):
        np.testing.assert_array_equal(got, want)


def test_a_sum_that_nobody_shares_keeps_its_order_also_down_the_columns():
    """The loop that threads would share is the outer one of the source, and stays it in the one thread that runs."""

    def total(A, s):
        for i in range(A.shape[1]):
            for j in range(A.shape[0]):
                s[0] += A[j, i]

    A = np.random.default_rng(0).random((300, 70)) ** 9
    found, wanted = np.zeros(1), np.zeros(1)
    kernel = pv.compile(total, schedule="superposition", target="emulated", floating_point="strict")
    kernel(A, found)
    total(A, wanted)
    assert found == wanted


ALTERNATING = """
def alternating(A, C, n, m):
    t = 0.0
    for i in range(0, n, 2):
        for j in range(m):
            t += A[i + 1] * C[j]
            A[i + 1] = 0.5 * (A[i] + A[i + 1])
    return t
"""


def test_what_alternates_with_the_steps_of_a_sum_runs_in_their_thread():
    kernel = pv.compile(ALTERNATING, schedule="superposition", target="emulated")
    original = pv.compile(ALTERNATING, schedule="original", target="python")
    A, C = np.random.default_rng(0).random(62), np.arange(9.0)
    B = A.copy()
    assert kernel(A, C, 60, 9) == pytest.approx(original(B, C, 60, 9))
    np.testing.assert_allclose(A, B)


@pytest.mark.slow
def test_a_shared_sum_whose_first_steps_isl_finds_no_minimum_of():
    """Strides and a disjunction: isl fails at the lexicographic minimum of the instances."""

    def faded(A, n):
        s = 1.0
        for i in range(1, n, 2):
            for j in range(i - 1, i + 2):
                if not (i <= 4 and j + i < n):
                    s *= 0.75
        A[0] = s

    for size in (3, 6, 40):
        found, wanted = np.zeros(1), np.zeros(1)
        pv.compile(faded, schedule="superposition", target="emulated")(found, size)
        faded(wanted, size)
        np.testing.assert_allclose(found, wanted)


def test_rows_counted_from_the_end_are_read_from_tiles():
    def added(A, B):
        for i in range(A.shape[0]):
            for j in range(A.shape[1]):
                A[i, j] += B[-2, 3 * j] * 2.0

    A, B = np.ones((20, 30)), np.random.default_rng(1).random((5, 90))
    expected = A.copy()
    kernel = pv.compile(added, schedule="superposition", target="emulated")
    kernel(A, B)
    added(expected, B)
    np.testing.assert_allclose(A, expected)
    assert "B_tile" in kernel.source


def doitgen_accesses(schedule, **device):
    """What accesses of the device's memory have been counted."""
    kernel = pv.compile(
        entry_of("doitgen-expanded").function, schedule=schedule, target="emulated", device=device
    )
    A, C4, acc = (np.ones(shape, np.float32) for shape in ((16, 16, 32), (32, 32), (16, 16, 32)))
    kernel(A, C4, acc)
    (card,) = kernel.cards
    return [row for row in card.accesses if row.memory == "global" and row.requests]


def transactions(schedule):
    return {(row.statement, row.mode, row.text): row.counted for row in doitgen_accesses(schedule, stage=False)}


def test_doitgen_needs_one_transaction_per_request_where_threads_run_along_rows():
    assert set(transactions("superposition").values()) == {1.0}


@pytest.mark.slow
def test_staged_tiles_of_doitgen_move_full_segments_too():
    """A request of 16 bytes per thread takes four of them."""
    rows = doitgen_accesses("superposition")
    assert {row.counted for row in rows} == {1.0, 4.0}
    assert all(row.counted * row.requests * 128 == row.moved for row in rows)


def test_doitgen_needs_32_transactions_per_request_where_they_do_not():
    counted = transactions("isl")
    assert counted["S2", "write", "A[r, q, p - ns]"] == 32.0
    assert counted["S0", "write", "acc[r, q, p]"] == 32.0


def test_empty_sizes_launch_nothing():
    kernel = pv.compile(entry_of("jacobi-2d-alt").function, schedule="superposition", target="emulated")
    A, B = np.ones((2, 2, 2))
    kernel(tsteps=3, A=A, B=B, factor=0.5)
    np.testing.assert_array_equal(A, np.ones((2, 2)))


@pytest.mark.parametrize("schedule", ["original", "superposition"])
def test_loops_that_never_run_need_no_kernel(schedule):
    text = "def never(A):\n    for i in range(4, 2):\n        A[i] = 1.0"
    kernel = pv.compile(text, schedule=schedule, target="emulated")
    A = np.zeros(5)
    kernel(A)
    assert not A.any()
    assert kernel.cards == ()
    assert "0 launches" in str(kernel.device_view())


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
def test_what_kind_of_number_a_cell_holds(dtype):
    def kinds(A, B):
        for i in range(A.shape[0]):
            B[i] = np.isnan(A[i]) + 2 * np.isinf(A[i]) + 4 * np.isfinite(A[i]) + 8 * np.signbit(A[i])

    A = np.array([1, -2, 0, 3, 4]).astype(dtype)
    if dtype != "int32":
        A[2:] = [np.nan, np.inf, -np.inf]
    B, expected = np.zeros((2, 5), np.int64)
    expected[:] = np.isnan(A) + 2 * np.isinf(A) + 4 * np.isfinite(A) + 8 * np.signbit(A)
    pv.compile(kinds, schedule="isl", target="emulated")(A, B)
    np.testing.assert_array_equal(B, expected)


def test_functions_of_the_library_take_whole_numbers():
    """C++ does not choose between `sqrt(float)` and `sqrt(double)` for an `int`."""
    text = "def root(A, B):\n    for i in range(A.shape[0]):\n        A[i] = np.sqrt(B[i]) + math.hypot(i, B[i])"
    A, B = np.zeros(5), np.arange(5, dtype=np.int32) ** 2
    pv.compile(text, schedule="original", target="emulated")(A, B)
    np.testing.assert_allclose(A, np.sqrt(B) + np.hypot(np.arange(5), B))


@pytest.mark.parametrize("step", [3, 4])
def test_blocks_between_two_steps_of_a_loop_do_nothing(step):
    """The tiles of two iterations that the step leaves out have blocks in the grid all the same."""
    text = f"def stepped(A, n):\n    for i in range(3, n, {step}):\n        A[i] += 1.0"
    A, expected = np.zeros(40), np.zeros(40)
    expected[3::step] = 1.0
    pv.compile(text, schedule="original", target="emulated", tile=2)(A, 40)
    np.testing.assert_array_equal(A, expected)


COPIES_PER_ITERATION = """
def shifted(A, B, n):
    for i in range(3, n):
        A[i] = B[i] = B[i - 1] * 2
"""


@pytest.mark.parametrize("size", [0, 5])
def test_copies_of_a_temporary_where_no_loop_runs(size):
    kernel = pv.compile(COPIES_PER_ITERATION, schedule="original", target="emulated")
    assert [one.array for one in kernel.plan.expansions] == ["saved"]
    A, B = np.zeros(size), np.ones(size)
    kernel(A, B, size)
    assert A.tolist() == [0.0, 0.0, 0.0, 2.0, 4.0][:size]


ALONE_BESIDE_THREADS = """
def alone(A, B, n):
    C = np.empty((n, 2, n), dtype=np.int32)
    t = 0
    for i in range(n):
        for j in range(i):
            t = A[3 * i]
            B[j] -= B[i]
    return t
"""


def test_loops_of_one_thread_end_where_the_phases_of_many_do():
    """One thread sets `t` in two loops of its own, and threads along `i` share the phase that comes next."""
    kernel = pv.compile(ALONE_BESIDE_THREADS, schedule="superposition", target="emulated")
    A, B = np.arange(30), np.arange(10) ** 2
    expected = B.copy()
    for i in range(10):
        for j in range(i):
            expected[j] -= expected[i]
    assert kernel(A, B, 10) == 27
    np.testing.assert_array_equal(B, expected)


def test_arrays_of_any_layout():
    entry = entry_of("gemm")
    kernel = pv.compile(entry.function, schedule="superposition", target="emulated")
    plain, other = entry.arguments("mini"), entry.arguments("mini")
    turned = [np.asfortranarray(value) if isinstance(value, np.ndarray) else value for value in other]
    kernel(*plain)
    kernel(*turned)
    for one, two in zip(plain, turned, strict=True):
        np.testing.assert_allclose(one, two)


def test_a_scalar_that_the_loops_write_comes_back():
    def total(A):
        result = 0.0
        for i in range(A.shape[0]):
            result += A[i]
        return result

    values = np.arange(300.0)
    assert pv.compile(total, schedule="superposition", target="emulated")(values) == values.sum()


@pytest.mark.slow
def test_a_comparison_verifies_emulated_kernels_and_does_not_time_them():
    entry = entry_of("jacobi-2d-alt")
    result = pv.compare(
        entry.function,
        *entry.arguments("mini"),
        schedules=["superposition", "isl"],
        targets=["emulated"],
        repeats=1,
    )
    rows = [row for row in result.rows if row.target == "emulated"]
    assert [row.verified for row in rows] == [True, True]
    assert [row.median for row in rows] == [None, None]
    assert all("not timed" in row.note for row in rows)


@pytest.mark.slow
def test_a_size_that_only_tells_which_instance_runs_is_passed():
    """The plain text of a kernel that sets one number needs no size, but its iterators, which accesses tell, may."""

    def sums(A, B, C):
        for i in range(B.shape[0]):
            for j in range(1, C.shape[0] - 1):
                s = 0.0
                u = 0.0
                for k in range(max(B.shape[0] - 5, 0), B.shape[0]):
                    s += B[i, k] * C[j, k]
                    u -= B[i, k] * C[j, k]
                A[i + 1, j] = 0.25 * s + 0.5 * u
        return s

    first, second = np.zeros((9, 9)), np.zeros((9, 9))
    factors = np.arange(64.0).reshape(8, 8), np.ones((8, 8))
    found = pv.compile(sums, schedule="feautrier", target="emulated")(first, *factors)
    assert found == sums(second, *factors)
    np.testing.assert_array_equal(first, second)

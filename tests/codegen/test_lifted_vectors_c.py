"""Lifted rows in vectors: two sweeps in one pass, lines short and long, and the bits of the loops as written."""

from __future__ import annotations

import numpy as np
import pytest

import polyviz as pv
from tests.running import shared_function, shared_kernel

LINE = """
def line(A, B, steps, n):
    for t in range(steps):
        for i in range(1, n - 1):
            B[i] = 0.25 * (A[i - 1] + A[i] + A[i + 1])
        for i in range(1, n - 1):
            A[i] = 0.5 * (B[i - 1] + B[i + 1])
"""
THREE = """
def three(A, B, C, steps, n):
    for t in range(steps):
        for i in range(2, n - 2):
            B[i] = 0.2 * (A[i - 2] + A[i + 2]) + 0.1 * A[i]
        for i in range(2, n - 2):
            C[i] = 0.5 * (B[i - 1] + B[i + 1]) - 0.1 * C[i]
        for i in range(2, n - 2):
            A[i] = 0.5 * (C[i - 1] + C[i + 1]) + 0.25 * B[i]
"""
BEHIND = """
def behind(A, B, steps, n):
    for t in range(steps):
        for i in range(3, n - 1):
            B[i] = A[i - 3] - 0.5 * A[i + 1]
        for i in range(3, n - 1):
            A[i] = -B[i]
"""
FAR = """
def far(A, B, steps, n):
    for t in range(steps):
        for i in range(3, n - 3):
            B[i] = A[i - 1] - 0.5 * A[i + 1]
        for i in range(3, n - 3):
            A[i] = B[i - 3] - 0.5 * B[i + 3]
"""
CLEARED = """
def cleared(A, B, steps, n):
    for t in range(steps):
        for i in range(1, n - 1):
            B[i] = 0.5 * (A[i - 1] + A[i + 1])
        for i in range(1, n - 1):
            A[i] = 0.25
"""
SHARING = """
def sharing(A, B, w, steps, n):
    for t in range(steps):
        for i in range(2, n - 2):
            B[i] = 0.1 * (A[i - 2] + A[i - 1] + A[i] + A[i + 1] + A[i + 2]) + 0.1 * (w[i - 1] + w[i] + w[i + 1])
        for i in range(2, n - 2):
            A[i] = 0.25 * (B[i + 1] + B[i] + B[i - 1]) - 0.01 * (B[i] + B[i - 2]) + w[0] * A[i]
"""
SIZES = (*range(12), 66, 67, 98, 99, 131, 259, 3070, 3200)
"""Lines of no rows, of some and a rest, and one that is too long for a first-level cache of 48 KiB."""


def data(text: str, n: int, dtype: str = "float64") -> list[np.ndarray]:
    random = np.random.default_rng(n)
    arrays = [random.random(n).astype(dtype) for _ in range(text.partition(")")[0].count(",") - 1)]
    for array in arrays:
        array[::5] = -0.0
    return arrays


@pytest.mark.thinned(2)
@pytest.mark.parametrize("text", [LINE, THREE, BEHIND, FAR, CLEARED])
def test_every_size_gives_the_bits_of_the_loops_as_written(text: str) -> None:
    kernel = shared_kernel(text, "c", contract="strict", tuned=False)
    plain = pv.compile(shared_function(text), schedule="original", target="c", contract="strict", tuned=False)
    for n in SIZES:
        for steps in (0, 1, 15, 16, 19):
            found, expected = data(text, n), data(text, n)
            kernel(*found, steps, n)
            plain(*expected, steps, n)
            for one, other in zip(found, expected, strict=True):
                np.testing.assert_array_equal(one.view("u8"), other.view("u8"), err_msg=f"n {n}, {steps} steps")


@pytest.mark.parametrize(("text", "kept"), [(LINE, 2), (THREE, 2), (BEHIND, 3), (FAR, 0)])
def test_the_second_of_two_sweeps_finds_the_first_in_registers(text: str, kept: int) -> None:
    """As many rows of the step before are kept as it lags behind and reads behind; none if it were more than a step."""
    source = shared_kernel(text, "c", contract="strict", tuned=False).source
    lines = [line.strip() for line in source.splitlines()]
    declared = [line for line in lines if line.startswith("vector_float64 B_kept")]
    assert len(declared) == kept
    later = [line for line in lines if line.startswith(("const vector_float64 A_new0", "const vector_float64 C_new0"))]
    assert any("B_kept" in line for line in later) == bool(kept)


@pytest.mark.parametrize(("text", "computed"), [(LINE, 3), (BEHIND, 3), (THREE, 2)])
def test_what_only_the_next_sweep_reads_is_stored_at_the_ends_and_in_the_last_iteration(
    text: str, computed: int
) -> None:
    """One of three loops computes it and stores nothing; a third sweep of the last text reads it, too."""
    source = shared_kernel(text, "c", contract="strict", tuned=False).source
    lines = [line.strip() for line in source.partition("free(lifted);")[0].splitlines()]
    assert sum(line.startswith("const vector_float64 B_new0 = ") for line in lines) == computed
    assert sum(line.endswith("] = B_new0;") for line in lines) == 2


def test_two_rows_share_what_their_sums_have_in_common_where_these_may_be_reordered() -> None:
    source = shared_kernel(LINE, "c", contract="reassociate", tuned=False).source
    lines = [line.partition("//")[0].strip() for line in source.splitlines()]
    assert "const vector_float64 B_shared2 = A_row2_B + A_row3_B;" in lines
    assert "const vector_float64 B_new2 = 0.25 * (A_row1_B + B_shared2);" in lines
    assert "const vector_float64 B_new3 = 0.25 * (B_shared2 + A_row4_B);" in lines
    assert not any("A_shared" in line for line in lines)
    assert "B_shared" not in shared_kernel(LINE, "c", contract="strict", tuned=False).source


@pytest.mark.parametrize("text", [LINE, THREE, SHARING])
def test_sums_in_another_order_are_the_same_but_for_rounding(text: str) -> None:
    kernel = shared_kernel(text, "c", contract="reassociate", tuned=False)
    for n in SIZES:
        for steps in (0, 1, 17):
            found, expected = data(text, n), data(text, n)
            kernel(*found, steps, n)
            shared_kernel(text, "c", contract="strict", tuned=False)(*expected, steps, n)
            for one, other in zip(found, expected, strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-14, err_msg=f"n {n}, {steps} steps")


def test_longer_lines_and_few_steps_run_in_tiles() -> None:
    """The program has both, and chooses by the sizes of the call: a row takes the lanes of both arrays."""
    source = shared_kernel(LINE, "c", contract="strict", tuned=False).source
    (condition,) = (line.strip() for line in source.splitlines() if line.strip().startswith("if (rows >= "))
    assert condition.startswith("if (rows >= 8 && steps >= 16 && rows <= ")
    lifted, tiled = source.split("free(lifted);")
    assert "_kept" in lifted
    assert "steps run together" in tiled


@pytest.mark.parametrize(("text", "dtype"), [(CLEARED, "float64"), (LINE, "float32"), (LINE, "int64")])
def test_what_vectors_do_not_compute_runs_in_the_lanes_of_a_loop(text: str, dtype: str) -> None:
    kernel = shared_kernel(text, "c", contract="strict", tuned=False)
    bound = kernel.bind((*data(text, 40, dtype), 3, 40), {})
    assert "_new0" not in kernel.program_for(bound).text

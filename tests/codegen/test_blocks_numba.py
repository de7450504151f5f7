"""Register tiles in numba: the text, and the same values to the last bit as the original order.

Most tests run the text as plain Python, where every operation rounds as it does in compiled code without permission to
reassociate; the slow ones compile it.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numba
import numpy as np
import pytest

import polyviz as pv
from polyviz.model.program import ArrayType
from tests.blocked import NARROW, PLAIN, SUMS, WIDE, arguments, blocked_kernel, blocked_plan
from tests.running import agree_at, function_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from polyviz.model.processor import Processor
    from polyviz.runtime.kernel import Kernel

SIZES = [(1, 1, 1), (9, 8, 6), (11, 13, 17)]
"""Fewer rows than a tile has, one more than two tiles, one less than three."""
BLOCKS = {"automatic": None, "small": (8, 10, 7)}


def kernel_for(name: str, processor: Processor = WIDE, **options: Any) -> Kernel:
    return blocked_kernel(SUMS[name], processor, target="numba", **options)


def copied(given: list[Any]) -> list[Any]:
    return [value.copy(order="K") if isinstance(value, np.ndarray) else value for value in given]


def run(kernel: Kernel, given: list[Any], monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What the text of ``kernel`` makes of ``given`` when Python runs it as it stands."""
    monkeypatch.setattr(numba.config, "DISABLE_JIT", True)
    names: dict[str, Any] = {}
    exec(compile(kernel.source, "generated", "exec"), names)
    own = copied(given)
    names[kernel.program.name](*own)
    return own


def original(text: str, given: list[Any]) -> list[Any]:
    own = copied(given)
    function_of(text)(*own)
    return own


def assert_same(text: str, kernel: Kernel, given: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    for expected, actual in zip(original(text, given), run(kernel, given, monkeypatch), strict=True):
        np.testing.assert_array_equal(expected, actual)


@pytest.mark.parametrize("processor", [WIDE, NARROW], ids=["wide", "narrow"])
def test_text(processor: Processor, golden: Callable[..., None]) -> None:
    golden(kernel_for("gemm", processor).source)


@pytest.mark.parametrize("name", ["trmm", "syr2k", "lu"])
def test_text_of_triangles_and_pivots(name: str, golden: Callable[..., None]) -> None:
    golden(kernel_for(name, NARROW).source)


def test_text_without_packing(golden: Callable[..., None]) -> None:
    golden(kernel_for("gemm", NARROW, pack=False, floating_point="reassociate").source)


@pytest.mark.thinned(8)
@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("blocks", BLOCKS)
@pytest.mark.parametrize("name", SUMS)
def test_every_bit_is_the_same(
    name: str, blocks: str, sizes: tuple[int, int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = kernel_for(name, tile=BLOCKS[blocks])
    assert "update_" in kernel.source or blocks == "small"
    assert_same(SUMS[name], kernel, arguments(name, sizes), monkeypatch)


@pytest.mark.thinned(3)
@pytest.mark.parametrize("name", SUMS)
def test_short_vectors_and_operands_in_place(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = kernel_for(name, NARROW, pack=False, tile=(8, 10, 7))
    assert "np.empty((1" not in kernel.source
    assert_same(SUMS[name], kernel, arguments(name, (11, 13, 17)), monkeypatch)


@pytest.mark.parametrize("sizes", [(0, 5, 5), (5, 0, 5), (5, 5, 0)], ids=str)
def test_empty_arrays(sizes: tuple[int, int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    assert_same(SUMS["gemm"], kernel_for("gemm"), arguments("gemm", sizes), monkeypatch)


def test_names_of_the_user_do_not_collide(monkeypatch: pytest.MonkeyPatch) -> None:
    text = """
        def f(update_S0, panel, i_tile, k_start):
            for i in range(update_S0.shape[0]):
                for j in range(update_S0.shape[1]):
                    for k in range(k_start):
                        update_S0[i, j] += panel[i, k] * i_tile[k, j]
        """
    kernel = blocked_kernel(text, target="numba")
    given = [np.ones((9, 10)), np.ones((9, 12)), np.ones((12, 10)), 12]
    assert_same(text, kernel, given, monkeypatch)


@pytest.mark.parametrize(
    ("dtype", "layout", "reason"),
    [("complex128", "C", "C holds complex128"), ("float64", "F", "C is not contiguous along its rows")],
)
def test_what_numba_cannot_do_with_a_block_is_said(dtype: str, layout: Any, reason: str) -> None:
    ranks = {"C": 2, "A": 2, "B": 2, "alpha": 0, "beta": 0}
    given = {name: ArrayType(dtype, rank, layout if rank else "C") for name, rank in ranks.items()}
    program = kernel_for("gemm").specialise(given)
    assert any(reason in note for note in program.notes)
    assert "update_S1" not in program.text


def test_blocks_too_large_to_be_packed_are_said() -> None:
    program = kernel_for("gemm", tile=(100, 10000, 10000)).program
    assert any("too large to be packed" in note for note in program.notes)
    assert "update_S1" not in program.text


def test_nothing_stays_in_registers_where_there_are_none_or_it_is_switched_off() -> None:
    for options in ({"processor": PLAIN}, {"register_tile": False}):
        _, plan = blocked_plan(SUMS["gemm"], target="numba", **options)
        assert not plan.register_tiles


def test_what_is_said() -> None:
    _, plan = blocked_plan(SUMS["gemm"], target="numba")
    said = next(decision.text for decision in plan.decisions if decision.step == "register-tile")
    assert "B packed by columns" in said
    assert "A, alpha read in place" in said


def test_lines_lead_back_to_the_source() -> None:
    program = kernel_for("gemm").program
    lines = program.text.splitlines()
    called = [number for number, text in enumerate(lines, 1) if text.strip().startswith("update_S1(")]
    updates = [number for number, text in enumerate(lines, 1) if " + row0_" in text and " = C[" in text]
    assert called
    assert updates
    assert {program.lines[number].statement for number in (*called, *updates)} == {"S1"}


# numba takes many seconds for each: the types take turns.
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "dtype"), list(zip(SUMS, itertools.cycle(("float64", "float32")), strict=False))
)
def test_compiled_and_in_parallel(name: str, dtype: str) -> None:
    given = arguments(name, (67, 301, 53), dtype)
    reference = pv.compile(
        function_of(SUMS[name]), schedule="original", target="c", floating_point="strict", register_tile=False
    )
    expected, actual = copied(given), copied(given)
    reference(*expected)
    kernel_for(name)(*actual)
    for one, other in zip(expected, actual, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("inner", ["range(i, n)", "range(i + 1)"], ids=["rows below", "rows above"])
@pytest.mark.parametrize("columns", ["range(i + 1)", "range(i, n)", "range(n)"])
def test_columns_of_a_product_in_place_follow_each_other(inner: str, columns: str) -> None:
    # At `k == i` every column reads A[i, i], before the one that changes it.
    text = f"""
        def product(A, n):
            for i in range(n):
                for j in {columns}:
                    for k in {inner}:
                        A[i, j] -= A[i, k] * A[k, j] * 0.01
    """
    given = np.random.default_rng(5).random((61, 61))
    agree_at(text, given, 61, target="numba", contract="strict")

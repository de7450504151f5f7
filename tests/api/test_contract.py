"""The contract of floating point: what strict promises holds bit for bit, and where it cannot, that is said."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import polyviz as pv
from polyviz import gallery
from polyviz.analysis.rounding import rounded_by_libraries
from polyviz.model.program import CONTRACTS
from polyviz.runtime.agreement import bit_difference
from tests.running import compiled_by_numba, copies, function_of, quickly_compiled
from tests.shared import part_of

if TYPE_CHECKING:
    from collections.abc import Callable

QUICK = ("gemm", "jacobi-2d", "correlation", "lu")
SEED = 3
OTHERS = (("original", "float64"), ("isl", "float64"), ("pluto", "float32"))
"""Schedules and types that stand beside Pluto's in double precision."""


@functools.cache
def expected(name: str, dtype: str) -> dict[str, Any]:
    """The outputs of the loop as written, under numba without any freedom."""
    entry = gallery.kernel(name)
    arguments = entry.arguments("mini", dtype, SEED)
    with quickly_compiled():
        result = compiled_by_numba(entry.function, arguments)(*arguments)
    return outputs(arguments, result)


def outputs(arguments: tuple[Any, ...], result: Any) -> dict[str, Any]:
    found = {str(place): value for place, value in enumerate(arguments) if isinstance(value, np.ndarray)}
    return found if result is None else {**found, "result": result}


@functools.cache
def strict_kernel(name: str, target: str, schedule: str) -> pv.Kernel:
    """Scheduled once for all types of element; each has code of its own."""
    return pv.compile(part_of(name), schedule=schedule, target=target, contract="strict", tuned=False)


def check_bits(name: str, target: str, schedule: str, dtype: str) -> None:
    kernel = strict_kernel(name, target, schedule)
    arguments = gallery.kernel(name).arguments("mini", dtype, SEED)
    result = kernel(*arguments)
    difference = bit_difference(expected(name, dtype), outputs(arguments, result))
    assert not difference or rounded_by_libraries(kernel.scop), difference


@pytest.mark.thinned(3)
@pytest.mark.parametrize("target", ["c", "python"])
@pytest.mark.parametrize("name", QUICK)
def test_strict_results_have_the_bits_of_the_original(name: str, target: str) -> None:
    check_bits(name, target, "pluto", "float64")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "schedule", "dtype"),
    [
        (entry.name, schedule, dtype)
        for place, entry in enumerate(gallery.polybench())
        # One of the other three in turn: what they have of their own is the order, or the type.
        for schedule, dtype in [("pluto", "float64"), OTHERS[place % len(OTHERS)]]
    ],
)
def test_strict_results_of_all_kernels(name: str, schedule: str, dtype: str) -> None:
    check_bits(name, "c", schedule, dtype)


SUM = "def total(A):\n    s = 0.0\n    for i in range(len(A)):\n        s += A[i] * A[i]\n    return s\n"
EXPONENTIAL = "def exponential(A):\n    for i in range(len(A)):\n        A[i] = math.exp(A[i])\n"


def compared(text: str, **options: Any) -> pv.Comparison:
    values = np.random.default_rng(1).normal(size=1003)
    return pv.compare(function_of(text), values, schedules=("pluto",), baselines=(), repeats=1, **options)


@pytest.mark.slow
def test_the_contract_is_said_and_the_bits_are_compared() -> None:
    strict = compared(SUM, targets="c", contract="strict")
    (row,) = strict.rows
    assert (row.verified, row.exact, row.floating_point) == (True, True, "strict")
    assert (
        strict.data.notes[-1]
        == "contract strict: the operations of every element run as they are written, bit for bit"
    )
    free = compared(SUM, targets="c")
    assert free.data.notes[-1] == f"contract reassociate: {CONTRACTS['reassociate']}"
    assert free.rows[0].verified


@pytest.mark.slow
def test_what_libraries_round_is_compared_within_rounding_and_that_is_said() -> None:
    (row,) = compared(EXPONENTIAL, targets="c", contract="strict").rows
    assert row.verified
    assert row.exact or row.note == (
        "compared within rounding, not bit for bit: the last bit of math.exp is that of the mathematical library"
    )


def test_the_name_that_the_contract_had_first_still_works() -> None:
    kernel = pv.compile(function_of(SUM), target="python", floating_point="strict")
    assert kernel.floating_point == "strict"
    assert "contract strict: the operations of every element" in kernel.report()


def misaligned(values: np.ndarray) -> np.ndarray:
    memory = np.zeros(values.nbytes + 1, dtype=np.uint8)[1:]
    array = memory.view(values.dtype).reshape(values.shape)
    array[...] = values
    return array


LAYOUTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "C": lambda array: array,
    "Fortran": np.asfortranarray,
    "every other element": lambda array: np.repeat(np.repeat(array, 2, 0), 2, 1)[::2, ::2],
    "reversed": lambda array: np.ascontiguousarray(array[::-1])[::-1],
    "other byte order": lambda array: array.astype(array.dtype.newbyteorder(">")),
    "misaligned": misaligned,
}
PRODUCT = """
def product(C, A, B):
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            for k in range(A.shape[1]):
                C[i, j] += A[i, k] * B[k, j]
"""


@functools.cache
def product_kernel(target: str) -> pv.Kernel:
    return pv.compile(function_of(PRODUCT), target=target, contract="strict", tuned=False)


@pytest.mark.thinned(13)
@pytest.mark.parametrize("target", ["c", "numba", "python"])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("sizes", [(0, 3, 4), (3, 4, 0), (1, 1, 1), (37, 41, 43)], ids=str)
def test_register_tiles_on_arrays_of_every_kind(
    target: str, layout: str, sizes: tuple[int, int, int]
) -> None:
    rows, columns, depth = sizes
    if target == "python" and rows > 30:
        rows, columns, depth = 5, 7, 11
    random = np.random.default_rng(2)
    shapes = ((rows, columns), (rows, depth), (depth, columns))
    plain = tuple(random.normal(size=shape) for shape in shapes)
    arrays = tuple(LAYOUTS[layout](array.copy()) for array in plain)
    result, first, second = copies(plain)
    for k in range(depth):
        result += first[:, k : k + 1] * second[k : k + 1, :]
    product_kernel(target)(*arrays)
    np.testing.assert_array_equal(arrays[0], result)

"""What has to hold on a real CUDA device: ``python -m tests.gpu_checks``.

It needs CuPy, islpy and nothing else beside the checkout, so that any CUDA image with CuPy will do; pytest runs the
same checks where it is installed (``tests/runtime/test_cuda.py``).
"""

from __future__ import annotations

import copy
import os
import sys
import tempfile
import traceback
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

import polyviz as pv
from polyviz.benchmark.gpu import subjects
from polyviz.errors import DeviceError, OutOfBoundsError, PolyvizError
from polyviz.gallery import kernel
from polyviz.runtime.cuda import cuda_availability

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

KERNELS = (*subjects.KERNELS, "adi", "gramschmidt", "lu", "seidel-2d", "trisolv", "durbin")
SCHEDULES = ("superposition", "isl")
ROUNDING = {"gramschmidt"}
"""Its matrices have less than full rank: what is left of some columns is rounding, which another order changes."""


def close(found: Any, wanted: Any) -> None:
    """Equal up to another order of sums."""
    scale = float(np.max(np.abs(wanted), initial=1.0))
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9 * scale)


def computes(name: str, schedule: str, dtype: str = "float64") -> None:
    """The device leaves what the loops leave."""
    entry = kernel(name)
    arguments = entry.arguments("mini", dtype)
    expected = copy.deepcopy(arguments)
    contract = "strict" if name in ROUNDING else "reassociate"
    made = pv.compile(entry.function, schedule=schedule, target="cuda", contract=contract)
    results = (made(*arguments), entry.function(*expected))
    for found, wanted in [*zip(arguments, expected, strict=True), results]:
        if wanted is not None:
            close(found, wanted)
    times = made.device_times
    assert times is not None
    assert times.kernels > 0


def gemm_on(size: int, dtype: str = "float32") -> tuple[Any, list[Any]]:
    """A product with the arguments for it."""
    generator = np.random.default_rng(5)
    made = pv.compile(kernel("gemm").function, schedule="superposition", target="cuda")
    return made, [1.5, 0.5, *(generator.random((size, size)).astype(dtype) for _ in range(3))]


def large_product() -> None:
    """A product whose sizes no tile divides."""
    made, arguments = gemm_on(1001)
    alpha, beta, C, A, B = arguments
    wanted = alpha * A.astype("float64") @ B + beta * C
    made(*arguments)
    np.testing.assert_allclose(C, wanted, rtol=1e-4)


def kept_arrays() -> None:
    """Kept arrays move once, and the values are the same."""
    made, arguments = gemm_on(256)
    expected = copy.deepcopy(arguments)
    for _ in range(3):
        made(*expected)
    pv.device.clear_log()
    with pv.resident(*arguments[2:], host_noread=True):
        for _ in range(3):
            made(*arguments)
    np.testing.assert_array_equal(arguments[2], expected[2])
    moved = [row for row in pv.device.log.rows if row.moved]
    assert sum(row.times for row in moved) == 4, pv.device.log
    pv.device.clear_log()


def arrays_of_cupy() -> None:
    """Arrays of CuPy are used where they are, strides included."""
    import cupy

    made, arguments = gemm_on(96)
    expected = copy.deepcopy(arguments)
    made(*expected)
    there = [cupy.asarray(one) if isinstance(one, np.ndarray) else one for one in arguments]
    there[3] = cupy.asfortranarray(there[3])
    made(*there)
    np.testing.assert_allclose(cupy.asnumpy(there[2]), expected[2], rtol=1e-6)


def no_memory_left() -> None:
    """A device without memory is a sentence, the arrays stay as they were, and the next call works."""
    import cupy

    made, arguments = gemm_on(512)
    before = arguments[2].copy()
    pool = cupy.get_default_memory_pool()
    pool.free_all_blocks()
    pool.set_limit(size=2**20)
    try:
        made(*arguments)
    except DeviceError as error:
        assert "not enough memory" in str(error)
    else:
        raise AssertionError("there was memory enough")
    finally:
        pool.set_limit(size=0)
    np.testing.assert_array_equal(arguments[2], before)
    made(*arguments)
    assert not np.array_equal(arguments[2], before)


def empty_sizes() -> None:
    """Nothing to do is done."""
    made, _ = gemm_on(32)
    made(1.0, 1.0, *(np.zeros((0, 0), np.float32) for _ in range(3)))


def layouts() -> None:
    """Arrays of any layout."""
    made, arguments = gemm_on(65)
    turned = [
        np.asfortranarray(one) if isinstance(one, np.ndarray) else one for one in copy.deepcopy(arguments)
    ]
    wide = np.zeros((130, 130), np.float32)
    turned[2] = wide[::2, ::2]
    turned[2][...] = arguments[2]
    made(*arguments)
    made(*turned)
    np.testing.assert_allclose(turned[2], arguments[2], rtol=1e-6)


def scaled(A: Any, factor: float) -> None:
    """Loops for the checks below."""
    for i in range(A.shape[0]):
        A[i] = factor * A[i]


def gathered(A: Any, B: Any, places: Any) -> None:
    """Subscripts that only the data tell."""
    for i in range(B.shape[0]):
        B[i] = A[places[i]]


def small_numbers() -> None:
    """Numbers below the normal ones are kept."""
    A = np.full(300, 1e-40, np.float32)
    expected = np.float32(3.0) * A
    pv.compile(scaled, schedule="isl", target="cuda", contract="strict")(A, np.float32(3.0))
    np.testing.assert_array_equal(A, expected)
    assert A.any()


def same_bits() -> None:
    """Under the strict contract a product has the bits of the loops as written."""
    entry = kernel("gemm")
    arguments, expected = entry.arguments("mini"), entry.arguments("mini")
    pv.compile(entry.function, schedule="superposition", target="cuda", contract="strict")(*arguments)
    entry.function(*expected)
    np.testing.assert_array_equal(arguments[2], expected[2])


def corner(A: Any, B: Any, m: int) -> None:
    """One cell, whose subscripts are a choice."""
    for i in range(A.shape[0] - 1):
        if i >= m - 2 and 3 * i <= m and i % 3 != 2:
            A[i, i] = 7 * A[i + 1, i] + B[i]


def choices_in_subscripts() -> None:
    """A subscript that is one of two values names one cell."""
    made = pv.compile(corner, schedule="isl", target="cuda")
    for m in range(4):
        A, B = np.arange(20.0).reshape(5, 4), np.arange(5.0)
        expected = A.copy()
        made(A, B, m)
        corner(expected, B, m)
        np.testing.assert_array_equal(A, expected)


def subscripts_out_of_range() -> None:
    """A subscript that the data make wrong is told, and no array of the host has changed."""
    made = pv.compile(gathered, schedule="isl", target="cuda")
    A, B, places = np.arange(64.0), np.zeros(64), np.arange(64)
    made(A, B, places)
    np.testing.assert_array_equal(B, A)
    B[:], places[7] = 5.0, 64
    try:
        made(A, B, places)
    except OutOfBoundsError:
        np.testing.assert_array_equal(B, np.full(64, 5.0))
    else:
        raise AssertionError("nothing was said")


def times_apart() -> None:
    """More data take longer to move, and the kernels have a time of their own."""
    made = pv.compile(scaled, schedule="isl", target="cuda")
    found = []
    for size in (2**10, 2**26):
        for _ in range(2):
            made(np.ones(size), 2.0)
        found.append(made.device_times)
    small, large = found
    assert large.to_device > small.to_device, found
    assert large.kernels > small.kernels > 0, found
    assert large.moved_bytes == 2 * 8 * 2**26, found


def values_that_never_come_back() -> None:
    """With host_noaccess nothing comes back, and the next call finds what the last one left."""
    made, A = pv.compile(scaled, schedule="isl", target="cuda"), np.ones(1000)
    there = pv.compile(gathered, schedule="isl", target="cuda")
    B = np.zeros(1000)
    with pv.resident(A, host_noaccess=True):
        made(A, 2.0)
        made(A, 2.0)
        there(A, B, np.arange(1000))
    np.testing.assert_array_equal(A, np.ones(1000))
    np.testing.assert_array_equal(B, np.full(1000, 4.0))


def compared_in_a_process_of_its_own() -> None:
    """A comparison verifies on the device and tells the time of the kernels."""
    entry = kernel("gemm")
    found = pv.compare(
        entry.function, *entry.arguments("mini"), schedules=["isl"], targets=["cuda"], baselines=(), repeats=2
    )
    (row,) = (row for row in found.rows if not row.is_baseline)
    assert row.verified, row.note
    assert row.measurement is not None
    assert row.measurement.kernels, row


CHECKS = (
    *(
        large_product,
        kept_arrays,
        arrays_of_cupy,
        no_memory_left,
        empty_sizes,
        layouts,
        small_numbers,
        same_bits,
        choices_in_subscripts,
    ),
    *(subscripts_out_of_range, times_apart, values_that_never_come_back, compared_in_a_process_of_its_own),
)


def checks() -> Iterator[tuple[str, Callable[[], None]]]:
    """Every check with its name."""
    for name in KERNELS:
        for schedule in SCHEDULES:
            yield f"{name}, {schedule}", partial(computes, name, schedule)
    for check in CHECKS:
        yield check.__name__.replace("_", " "), check


def main() -> int:
    """Run all checks; 1 when one fails or there is no device."""
    available, reason = cuda_availability()
    if not available:
        print(f"Nothing was tested: {reason}.")
        return 1
    print(f"On {reason}")
    failed = 0
    with tempfile.TemporaryDirectory() as cache:
        os.environ.setdefault("POLYVIZ_CACHE_DIR", cache)
        for name, check in checks():
            try:
                check()
                print(f"ok      {name}", flush=True)
            except (AssertionError, PolyvizError) as error:
                failed += 1
                print(f"FAILED  {name}: {error}", flush=True)
            except Exception:
                failed += 1
                print(f"FAILED  {name}", flush=True)
                traceback.print_exc()
    print(f"{failed} failed" if failed else "all passed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())

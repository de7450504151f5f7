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
from polyviz.errors import DeviceError, PolyvizError
from polyviz.gallery import kernel
from polyviz.runtime.cuda import cuda_availability

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

KERNELS = (*subjects.KERNELS, "adi", "gramschmidt", "lu", "seidel-2d", "trisolv", "durbin")
SCHEDULES = ("superposition", "isl")


def close(found: Any, wanted: Any) -> None:
    """Equal up to another order of sums."""
    scale = float(np.max(np.abs(wanted), initial=1.0))
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9 * scale)


def computes(name: str, schedule: str, dtype: str = "float64") -> None:
    """The device leaves what the loops leave."""
    entry = kernel(name)
    arguments = entry.arguments("mini", dtype)
    expected = copy.deepcopy(arguments)
    made = pv.compile(entry.function, schedule=schedule, target="cuda")
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


def checks() -> Iterator[tuple[str, Callable[[], None]]]:
    """Every check with its name."""
    for name in KERNELS:
        for schedule in SCHEDULES:
            yield f"{name}, {schedule}", partial(computes, name, schedule)
    for check in (large_product, kept_arrays, arrays_of_cupy, no_memory_left, empty_sizes, layouts):
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

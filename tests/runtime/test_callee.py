"""Calls that C makes by itself: only where nothing differs, with as many threads, and with what goes wrong told."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import polyviz as pv
from polyviz.runtime import alike
from polyviz.runtime.alike import NOT_RUN, AlikeArray, AlikeCalls
from polyviz.runtime.callee import Callee, address_of
from polyviz.runtime.native import NativeFunction
from polyviz.runtime.packed import Blocks
from polyviz.runtime.threads import NativeThreads
from polyviz.runtime.toolchain import find_toolchain
from tests.running import function_of

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.skipif(find_toolchain() is None, reason="no C compiler")

LIBRARY = """
#include <stdint.h>
static int threads = 8, seen;
int omp_get_max_threads(void) { return threads; }
void omp_set_num_threads(int count) { threads = count; }
int seen_threads(void) { return seen; }
int64_t kernel(const uint64_t *values)
{
    double *cells = (double *)values[0];
    seen = threads;
    cells[0] += 1;
    return cells[0] > 3 ? 7 : 0;
}
"""


class _Placed:
    is_possible = True


def callee_of(path: str, count: int | None, placement: Any = None) -> Callee:
    function = NativeFunction(path, "kernel", [ctypes.c_void_p])
    return Callee(function, NativeThreads(path, count), placement)  # type: ignore[arg-type]


def call(callee: Callee, array: Any, expected: Any) -> int:
    flags = alike.WRITEABLE
    known = AlikeArray(0, expected.dtype, flags, expected.shape, None, 0, expected.nbytes, (0,))
    block = Blocks([0], [ctypes.c_int64]).taken()
    return AlikeCalls([known], (), (), ()).run((array,), block, callee)


def test_a_call_returns_what_the_function_does(build: Callable[[str], str]) -> None:
    callee, cells = callee_of(build(LIBRARY), None), np.zeros(2)
    assert [call(callee, cells, np.zeros(2)) for _ in range(4)] == [0, 0, 0, 7]
    assert cells[0] == 4


def test_nothing_runs_where_the_arguments_differ(build: Callable[[str], str]) -> None:
    callee = callee_of(build(LIBRARY), None)
    for other in (np.zeros(3), np.zeros(2, np.float32), None):
        assert call(callee, other, np.zeros(2)) == NOT_RUN
    assert call(callee, np.zeros(2), np.zeros(2)) == 0


def test_the_number_of_threads_is_lowered_for_the_call(build: Callable[[str], str]) -> None:
    path = build(LIBRARY)
    library = ctypes.CDLL(path)
    for count, seen in ((3, 3), (8, 8), (20, 8)):
        assert call(callee_of(path, count), np.zeros(2), np.zeros(2)) == 0
        assert (library.seen_threads(), library.omp_get_max_threads()) == (seen, 8)


def test_another_process_goes_the_usual_way(build: Callable[[str], str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("polyviz.runtime.callee.os.getpid", lambda: 1)
    assert call(callee_of(build(LIBRARY), None), np.zeros(2), np.zeros(2)) == NOT_RUN


@pytest.mark.skipif(not hasattr(alike.ctypes.PyDLL(None), "sched_getcpu"), reason="Linux tells the core")
def test_threads_on_another_core_go_the_usual_way(build: Callable[[str], str]) -> None:
    callee = callee_of(build(LIBRARY), 2, _Placed())
    try:
        alike.note_team(-5, 2)
        assert call(callee, np.zeros(2), np.zeros(2)) == NOT_RUN
        for _ in range(100):  # this thread may change its core in between
            alike.note_team(ctypes.CDLL(None).sched_getcpu(), 2)
            if call(callee, np.zeros(2), np.zeros(2)) == 0:
                break
        else:
            pytest.fail("never ran on the core that was noted")
        alike.note_team(ctypes.CDLL(None).sched_getcpu(), 3)
        assert call(callee, np.zeros(2), np.zeros(2)) == NOT_RUN
    finally:
        alike.note_team(-1, None)


def test_no_function_has_no_place() -> None:
    assert address_of(None) == 0


def test_what_goes_wrong_in_a_kernel_is_told() -> None:
    kernel = pv.compile(function_of("def f(A, B):\n    for i in range(len(A)):\n        A[i] = B[i]"), target="c")
    for _ in range(4):
        kernel(np.zeros(5), np.ones(5))
    with pytest.raises(pv.PolyvizError, match="B"):
        kernel(np.zeros(5), np.ones(4))
    cells = np.zeros(5)
    kernel(cells, np.arange(5.0))
    np.testing.assert_array_equal(cells, np.arange(5.0))

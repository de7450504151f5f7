"""The second call of a kind skips what was checked, and nothing that can have changed since."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import polyviz as pv
from polyviz.errors import ArgumentError, OutOfBoundsError, OverlapError, PolyvizError
from polyviz.runtime.arguments import address
from polyviz.runtime.residency import device
from polyviz.runtime.toolchain import find_toolchain
from tests.running import function_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from polyviz.runtime.kernel import Kernel

pytestmark = pytest.mark.skipif(find_toolchain() is None, reason="no C compiler")

SCALE = "def scale(A, B, factor, n):\n    for i in range(n):\n        A[i] = factor * B[i]"
Called = tuple["Kernel", "Callable[[], int]"]


@pytest.fixture
def called(monkeypatch: pytest.MonkeyPatch) -> Called:
    """A kernel that ran once on arrays of 8, and a count of the calls that went the usual way since."""
    kernel = pv.compile(function_of(SCALE), target="c", schedule="original")
    kernel(np.zeros(8), np.ones(8), 2.0, 8)
    usual: list[object] = []
    bind = kernel.bind

    def counted(*arguments: Any, **keywords: Any) -> Any:
        usual.append(arguments)
        return bind(*arguments, **keywords)

    monkeypatch.setattr(kernel, "bind", counted)
    return kernel, lambda: len(usual)


def test_a_call_like_the_last_one_is_quick_and_right(called: Called) -> None:
    kernel, usual = called
    for factor in (3.0, np.float64(4.0), 5.0):
        written, read = np.zeros(8), np.arange(8.0)
        kernel(written, read, factor, 8)
        np.testing.assert_array_equal(written, factor * read)
    assert usual() == 1, "only the first call with another type of number is bound"


def test_every_kind_of_call_is_remembered(called: Called) -> None:
    kernel, usual = called
    for _ in range(3):
        for size in (4, 8):
            written = np.zeros(size)
            kernel(written, np.ones(size), 2.0, size)
            np.testing.assert_array_equal(written, 2.0)
    assert usual() == 1


def test_another_precision_is_remembered_beside_the_first(called: Called) -> None:
    kernel, usual = called
    for dtype in ("float32", "float64", "float32", "float32"):
        written = np.zeros(8, dtype)
        kernel(written, np.ones(8, dtype), 2.0, 8)
        np.testing.assert_array_equal(written, 2.0)
    assert usual() == 1


def test_another_integer_is_another_size(called: Called) -> None:
    kernel, usual = called
    written = np.zeros(8)
    kernel(written, np.ones(8), 2.0, 5)
    np.testing.assert_array_equal(written, [2.0] * 5 + [0.0] * 3)
    assert usual() == 1
    with pytest.raises(PolyvizError, match="leaves its array"):
        kernel(written, np.ones(8), 2.0, 9)


def _read_only() -> Any:
    array = np.zeros(8)
    array.flags.writeable = False
    return array


@pytest.mark.parametrize(
    ("written", "message"),
    [
        (_read_only(), "read-only"),
        (np.zeros(()), "with 1 dimension"),
        (np.zeros(7), "leaves its array"),
        (np.ma.masked_array(np.zeros(8)), "masked array"),
        (np.zeros(8, dtype="O"), "object"),
        ([0.0] * 8, "must be a NumPy array"),
        (None, "must be a NumPy array"),
    ],
)
def test_what_is_refused_at_first_is_refused_later(called: Called, written: Any, message: str) -> None:
    kernel, _ = called
    with pytest.raises(PolyvizError, match=message):
        kernel(written, np.ones(8), 2.0, 8)


@pytest.mark.parametrize("arguments", [(), (np.zeros(8),), (np.zeros(8), np.ones(8), 2.0, 8, 1)])
def test_a_wrong_number_of_arguments(called: Called, arguments: tuple[Any, ...]) -> None:
    kernel, _ = called
    with pytest.raises(ArgumentError):
        kernel(*arguments)


@pytest.mark.parametrize("shift", [0, 1, 7, -3])
def test_memory_that_is_shared_is_found_every_time(called: Called, shift: int) -> None:
    kernel, _ = called
    memory = np.zeros(32)
    with pytest.raises(OverlapError, match="A and B overlap"):
        kernel(memory[8:16], memory[8 + shift : 16 + shift], 2.0, 8)


def test_neighbours_in_memory_do_not_overlap(called: Called) -> None:
    kernel, usual = called
    memory = np.ones(16)
    kernel(memory[:8], memory[8:], 2.0, 8)
    np.testing.assert_array_equal(memory, [2.0] * 8 + [1.0] * 8)
    assert usual() == 0


@pytest.mark.parametrize(
    "read",
    [np.ones(16)[::2], np.ones(8)[::-1], np.ones(8, ">f8"), np.ones(8, np.float32), np.ones(8, np.int64)],
)
def test_other_layouts_and_types_get_a_program_of_their_own(called: Called, read: Any) -> None:
    kernel, usual = called
    written = np.zeros(8)
    kernel(written, read, 2.0, 8)
    np.testing.assert_array_equal(written, 2.0)
    assert usual() == 1


VIEWS = {
    "every second": lambda: np.arange(16.0)[::2],
    "backwards": lambda: np.arange(8.0)[::-1],
    "column": lambda: np.arange(32.0).reshape(8, 4)[:, 1],
    "one for all": lambda: np.broadcast_to(np.float64(3.0), 8),
}


@pytest.mark.parametrize("written", ["every second", "backwards", "column"])
@pytest.mark.parametrize("read", VIEWS)
def test_views_are_quick_and_what_is_said_of_them_stays(called: Called, written: str, read: str) -> None:
    kernel, usual = called
    for _ in range(3):
        found, given = VIEWS[written](), VIEWS[read]()
        kernel(found, given, 2.0, 8)
        np.testing.assert_array_equal(found, 2.0 * given)
        report = kernel.report()
        assert "A is not contiguous and is read through its strides" in report
        assert "B is not contiguous and is read through its strides" in report
    assert usual() == 1
    kernel(np.zeros(8), np.ones(8), 2.0, 8)
    assert "through its strides" not in kernel.report()


BACK, ODD, EVEN = slice(15, None, -2), slice(1, 16, 2), slice(0, 16, 2)


@pytest.mark.parametrize(
    ("first", "second"),
    [(BACK, slice(0, 8)), (slice(0, 8), BACK), (slice(7, None, -1), slice(4, 12)), (EVEN, slice(8, 16)), (BACK, ODD)],
)
def test_views_that_share_memory_are_found_every_time(called: Called, first: slice, second: slice) -> None:
    kernel, usual = called
    for _ in range(2):
        memory, apart = np.zeros(32), np.arange(32.0)
        kernel(memory[first], apart[second], 2.0, 8)
        np.testing.assert_array_equal(memory[first], 2.0 * apart[second])
    assert usual() == 1
    with pytest.raises(OverlapError, match="A and B overlap"):
        kernel(memory[first], memory[second], 2.0, 8)


def test_views_whose_cells_alternate_share_nothing(called: Called) -> None:
    kernel, _ = called
    memory = np.arange(16.0)
    for _ in range(2):
        kernel(memory[ODD], memory[EVEN], 2.0, 8)
        np.testing.assert_array_equal(memory[ODD], 2.0 * memory[EVEN])


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int8, np.int32, np.int64, np.uint16, np.uint64])
def test_numbers_of_numpy_are_quick_and_have_a_program_of_their_own(called: Called, kind: type[Any]) -> None:
    kernel, usual = called
    for factor in (kind(3), kind(5), kind(3), kind(5)):
        written = np.zeros(8)
        kernel(written, np.ones(8), factor, 8)
        np.testing.assert_array_equal(written, float(factor))
        assert kernel.program.types["factor"].dtype == np.dtype(kind).name
    assert usual() <= 2, "every integer is a size, for all that is known, and bound once"
    kernel(np.zeros(8), np.ones(8), 2.0, 8)
    assert kernel.program.types["factor"].dtype == "float64"


def test_sizes_of_numpy_are_sizes(called: Called) -> None:
    kernel, usual = called
    for _ in range(2):
        for size in (np.int64(8), np.int64(4), np.int32(8), 8):
            written = np.zeros(8)
            kernel(written, np.ones(8), 2.0, size)
            assert np.count_nonzero(written) == size
    assert usual() == 3
    with pytest.raises(OutOfBoundsError):
        kernel(np.zeros(8), np.ones(8), 2.0, np.int64(9))


def test_the_program_of_the_kernel_is_that_of_the_latest_call(called: Called) -> None:
    kernel, _ = called
    kernel(np.zeros(8, np.float32), np.ones(8, np.float32), 2.0, 8)
    assert kernel.program.types["A"].dtype == "float32"
    kernel(np.zeros(8), np.ones(8), 2.0, 8)
    assert kernel.program.types["A"].dtype == "float64"


def test_nothing_is_quick_while_arrays_stay_on_a_device(
    called: Called, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel, usual = called
    monkeypatch.setattr(device, "_kept", {0: object()})
    kernel(np.zeros(8), np.ones(8), 2.0, 8)
    assert usual() == 1


RESULTS = {
    "number": ("s = 0.0", "s += A[i]", "s", lambda A: A.sum()),
    "whole": ("s = 0", "s += 2", "s", lambda A: 2 * len(A)),
    "several": ("s, t = 0.0, 1", "s += A[i]", "s, A, t", lambda A: (A.sum(), A, 1)),
    "argument": ("s = 0.0", "A[i] = A[i] + 1.0", "A", lambda A: A),
}


@pytest.mark.parametrize("which", RESULTS)
def test_results_are_handed_back_quickly(which: str) -> None:
    start, step, result, wanted = RESULTS[which]
    text = f"def f(A):\n    {start}\n    for i in range(len(A)):\n        {step}\n    return {result}"
    kernel = pv.compile(function_of(text), target="c")
    kernel(np.ones(8))
    for values in (np.arange(8.0), np.full(8, 3.0)):
        ran = kernel._quick.run((values,))
        assert ran is not None
        found, expected = ran[2], wanted(values)
        pairs = zip(found, expected, strict=True) if isinstance(found, tuple) else [(found, expected)]
        for one, other in pairs:
            assert one is other if isinstance(other, np.ndarray) else one == other
            assert isinstance(one, np.ndarray) or type(one) in (int, float)


MADE = """
def f(A, n, start):
    sums = np.zeros((n, 2))
    weights = np.array([0.5, 2.0])
    last = np.full(n, {fill})
    for i in range(n):
        for j in range(2):
            sums[i, j] += weights[j] * A[i]
        last[i] += start
    return sums, last, A
"""


def test_arrays_that_the_source_creates_are_made_for_every_call() -> None:
    kernel = pv.compile(function_of(MADE.format(fill="2.0 * n")), target="c")
    kernel(np.ones(4), 4, 1.0)
    found = []
    for values, start in ((np.arange(4.0), 1.0), (np.full(4, 3.0), 5.0)):
        ran = kernel._quick.run((values, 4, start))
        assert ran is not None
        sums, last, same = ran[2]
        assert same is values
        np.testing.assert_array_equal(sums, np.outer(values, [0.5, 2.0]))
        np.testing.assert_array_equal(last, 8.0 + start)
        found += [sums, last]
    assert not any(np.shares_memory(one, other) for one, other in itertools.combinations(found, 2))


def test_arrays_of_what_an_argument_holds_go_the_usual_way() -> None:
    kernel = pv.compile(function_of(MADE.format(fill="start")), target="c")
    for start in (1.0, 2.0):
        np.testing.assert_array_equal(kernel(np.ones(4), 4, start)[1], 2 * start)
        assert kernel._quick.run((np.ones(4), 4, start)) is None


def test_results_of_other_kinds_go_the_usual_way() -> None:
    text = "def f(A):\n    s = {}\n    for i in range(len(A)):\n        s = {}\n    return s"
    kernel = pv.compile(function_of(text.format("0j", "s + A[i]")), target="c")
    assert [kernel(np.ones(8)) for _ in range(2)] == [8 + 0j, 8 + 0j]
    assert kernel._quick.run((np.ones(8),)) is None


def test_truth_is_handed_back_quickly() -> None:
    text = "def f(A):\n    s = False\n    for i in range(len(A)):\n        s = s or A[i] > 2\n    return s"
    kernel = pv.compile(function_of(text), target="c")
    assert kernel(np.ones(8)) is False
    for values, wanted in ((np.ones(8), False), (np.arange(8.0), True)):
        ran = kernel._quick.run((values,))
        assert ran is not None
        assert ran[2] is wanted


def test_arguments_that_are_left_out_have_their_defaults() -> None:
    text = "def f(A, B, factor=2.0, first=0):\n    for i in range(first, len(A)):\n        A[i] = factor * B[i]"
    kernel = pv.compile(function_of(text), target="c")
    kernel(np.zeros(8), np.ones(8))
    for more, wanted in (((), [2.0, 2.0]), ((3.0,), [3.0, 3.0]), ((3.0, 0), [3.0, 3.0])):
        written = np.zeros(8)
        assert kernel._quick.run((written, np.ones(8), *more)) is not None
        np.testing.assert_array_equal(written[:2], wanted)
    assert kernel._quick.run((np.zeros(8),)) is None
    written = np.zeros(8)
    kernel(written, np.ones(8), 3.0, 1)
    np.testing.assert_array_equal(written[:2], [0.0, 3.0])


def test_a_number_that_is_an_argument_too_keeps_its_first_value() -> None:
    text = "def f(A, s):\n    for i in range(len(A)):\n        s += A[i]\n    return s"
    kernel = pv.compile(function_of(text), target="c")
    assert [kernel(np.ones(8), start) for start in (1.0, 2.0, 5.0)] == [9.0, 10.0, 13.0]


def test_an_address_is_where_numpy_says() -> None:
    whole = np.zeros((4, 6))
    for array in (whole, whole[1:, 2:], whole.T, whole[::-1]):
        assert address(array) == array.__array_interface__["data"][0]


MASKED = "def masked(A, M, n):\n    for i in range(n):\n        if M[i] > 0:\n            A[i] = A[i] + 1.0"


def test_where_sizes_decide_the_tests_of_a_condition_no_array_is_kept() -> None:
    kernel = pv.compile(function_of(MASKED), target="c")
    array, mask = np.zeros(4), np.array([0, 1, 0, 1])
    kernel(array, mask, 4)
    assert not kernel.program.checked, "every cell that may be touched is there"
    assert kernel._quick.run((array, mask, 4)) == (kernel.program, (), None)
    np.testing.assert_array_equal(array, [0.0, 2.0, 0.0, 2.0])


def test_where_sizes_leave_it_open_the_arrays_are_restored() -> None:
    kernel = pv.compile(function_of(MASKED), target="c")
    kernel(np.zeros(4), np.ones(4), 4)
    short = np.zeros(3)
    kernel(short, np.array([1, 1, 1, 0]), 4)
    assert kernel.program.checked, "whether A[3] is touched depends on the mask"
    assert kernel._quick.run((short.copy(), np.array([1, 1, 1, 0]), 4)) == (kernel.program, (), None)
    with pytest.raises(pv.OutOfBoundsError, match=r"`A\[.*leaves its array"):
        kernel(short, np.ones(4), 4)
    np.testing.assert_array_equal(short, 1.0)


@pytest.mark.parametrize("dtype", [np.int64, np.uint8, np.int8])
def test_a_subscript_that_is_data_is_never_trusted(dtype: type[Any]) -> None:
    text = "def count(H, A):\n    for i in range(len(A)):\n        H[A[i]] += 1"
    kernel = pv.compile(function_of(text), target="c")
    counts = np.zeros(4, dtype=np.int64)
    for _ in range(2):
        kernel(counts, np.array([0, 3, 3, 1], dtype=dtype))
    assert not kernel.program.checked, "the greatest index is inside"
    for wrong in (4, -5):
        if dtype is np.uint8 and wrong < 0:
            continue
        with pytest.raises(pv.OutOfBoundsError):
            kernel(counts, np.array([0, 3, 1, wrong], dtype=dtype))
        np.testing.assert_array_equal(counts, [2, 2, 0, 4])
    if dtype is not np.uint8:
        kernel(counts, np.array([0, -1, -4, 1], dtype=dtype))
        np.testing.assert_array_equal(counts, [4, 3, 0, 5])


def test_tested_subscripts_are_quick_and_a_failed_test_leaves_no_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "def f(A, x):\n    for i in range(len(x)):\n        A[i] = -1.0\n        A[int(x[i] * 4)] += 1.0"
    kernel = pv.compile(function_of(text), target="c")
    kernel(np.zeros(4), np.full(4, 0.5))
    usual: list[object] = []
    bind = kernel.bind
    monkeypatch.setattr(kernel, "bind", lambda *given, **keywords: usual.append(given) or bind(*given, **keywords))
    A = np.zeros(4)
    kernel(A, np.array([0.9, 0.3, 0.0, 0.5]))
    assert A.tolist() == [0.0, 0.0, 0.0, -1.0]
    assert not usual
    with pytest.raises(OutOfBoundsError, match=r"`A\[.*leaves its array"):
        kernel(A, np.array([0.9, 0.3, 1.5, 0.5]))
    assert A.tolist() == [0.0, 0.0, 0.0, -1.0]


COUNTING = """
for i in range(n):
    last = x[i]
    if last > 0.5:
        count += 1
        total = total + last
"""


def test_numbers_that_a_cell_changes_are_handed_in_and_back(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = pv.compile(COUNTING.lstrip(), target="c")
    names = list(kernel.__signature__.parameters)
    usual: list[object] = []
    bind = kernel.bind
    monkeypatch.setattr(kernel, "bind", lambda *given, **more: usual.append(given) or bind(*given, **more))

    def result(**values: Any) -> dict[str, Any]:
        found = kernel(*(values[name] for name in names))
        return dict(zip(kernel.program.results, found, strict=True))

    x = np.array([0.25, 0.75, 1.0, 0.125])
    for turn in range(4):
        found = result(n=4, x=x, last=-1.0, count=turn, total=0.5 * turn)
        assert found == {"last": 0.125, "count": turn + 2, "total": 0.5 * turn + 1.75}
        assert [type(found[name]) for name in ("last", "count", "total")] == [float, int, float]
    assert len(usual) == 1
    found = result(n=0, x=x[:0], last=-1.0, count=7, total=3)
    assert (found["last"], found["count"], found["total"]) == (-1.0, 7, 3)
    assert result(n=4, x=x, last=-1.0, count=2**40, total=np.float64(1.0))["count"] == 2**40 + 2


def test_loops_of_a_cell_that_leave_nothing_behind_are_called_quickly_too() -> None:
    namespace = {"A": np.zeros(4), "B": np.arange(4.0), "n": 4}
    kernel = pv.compile("for i in range(n):\n    A[i] += B[i]\n", target="c", namespace=namespace)
    arguments = tuple(namespace[one.name] for one in kernel.scop.arguments)
    assert kernel(*arguments) == ()
    assert kernel._quick.run(arguments) == (kernel.program, (), ())
    np.testing.assert_array_equal(namespace["A"], 2 * namespace["B"])

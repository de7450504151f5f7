"""What a call may pass, in which layout, and the sentence for everything else; nothing changes before an error."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Any

import numba
import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

import polyviz as pv
from polyviz.runtime.binding import SIZES_REMEMBERED, Binder
from tests.running import TARGETS, agree, function_of

if TYPE_CHECKING:
    from collections.abc import Callable

UPDATE = """
def update(A, B):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            A[i, j] = 2 * A[i, j] + B[i, j]
"""
SCALE = """
def scale(A, factor, n=3):
    for i in range(n):
        A[i] = factor * A[i]
"""
SUM = """
def total(A, s):
    for i in range(len(A)):
        s = s + A[i]
    return s
"""


def table() -> np.ndarray:
    return np.arange(12.0).reshape(3, 4)


def misaligned(values: np.ndarray) -> np.ndarray:
    memory = np.zeros(values.nbytes + 1, dtype=np.uint8)[1:]
    array = memory.view(values.dtype).reshape(values.shape)
    array[...] = values
    return array


def field(values: np.ndarray, *, packed: bool) -> np.ndarray:
    kinds = [("flag", "i1"), ("value", values.dtype), ("other", values.dtype)]
    records = np.zeros(values.shape, dtype=np.dtype(kinds, align=not packed))
    records["value"] = values
    return records["value"]


LAYOUTS: dict[str, Callable[[], np.ndarray]] = {
    "C": table,
    "Fortran": lambda: np.asfortranarray(table()),
    "transposed": lambda: np.ascontiguousarray(table().T).T,
    "reversed": lambda: np.ascontiguousarray(table()[::-1, ::-1])[::-1, ::-1],
    "one axis reversed": lambda: np.ascontiguousarray(table()[:, ::-1])[:, ::-1],
    "every other element": lambda: np.repeat(np.repeat(table(), 2, 0), 2, 1)[::2, ::2],
    "other byte order": lambda: table().astype(">f8"),
    "misaligned": lambda: misaligned(table()),
    "packed record field": lambda: field(table(), packed=True),
    "aligned record field": lambda: field(table(), packed=False),
    "float32 Fortran": lambda: np.asfortranarray(table().astype("f4")),
    "integers of other byte order": lambda: table().astype(">i4"),
    "one row": lambda: table()[1:2],
    "one column": lambda: table()[:, 1:2],
    "one element": lambda: table()[:1, :1],
    "no rows": lambda: np.zeros((0, 4)),
    "no columns": lambda: np.zeros((3, 0)),
}


@pytest.fixture(scope="module", params=TARGETS)
def update(request: pytest.FixtureRequest) -> pv.Kernel:
    return pv.compile(function_of(UPDATE), target=request.param)


@pytest.mark.thinned(6)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts_of_a_written_array(update: pv.Kernel, layout: str) -> None:
    array = LAYOUTS[layout]()
    other = np.full(array.shape, 0.5)
    expected = (2 * array.astype("f8") + other).astype(array.dtype)
    update(array, other)
    np.testing.assert_array_equal(array, expected)


@pytest.mark.thinned(6)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts_of_a_read_array(update: pv.Kernel, layout: str) -> None:
    other = LAYOUTS[layout]()
    other.flags.writeable = False
    before, array = other.copy(), np.ones(other.shape)
    update(array, other)
    np.testing.assert_array_equal(array, 2 + before)
    np.testing.assert_array_equal(other, before)


def test_a_copied_array_leaves_its_neighbours_alone(update: pv.Kernel) -> None:
    records = np.zeros((3, 4), dtype=[("flag", "i1"), ("value", "f8"), ("other", "f8")])
    records["flag"], records["other"] = 7, 5.0
    update(records["value"], np.ones((3, 4)))
    assert (records["flag"] == 7).all()
    assert (records["other"] == 5.0).all()
    assert (records["value"] == 1.0).all()


def test_one_array_may_be_read_under_two_names(update: pv.Kernel) -> None:
    function = function_of("""
        def add(A, B, C):
            for i in range(len(A)):
                C[i] = A[i] + B[i]
    """)
    source, result = np.arange(4.0), np.zeros(4)
    pv.compile(function, target=update.target)(source, source, result)
    np.testing.assert_array_equal(result, 2 * source)


def test_interleaved_views_do_not_overlap(update: pv.Kernel) -> None:
    memory = np.ones((3, 8))
    update(memory[:, ::2], memory[:, 1::2])
    np.testing.assert_array_equal(memory[:, ::2], 3.0)
    np.testing.assert_array_equal(memory[:, 1::2], 1.0)


def test_broadcast_arrays_may_be_read(update: pv.Kernel) -> None:
    array = np.zeros((3, 4))
    update(array, np.broadcast_to(np.arange(4.0), (3, 4)))
    np.testing.assert_array_equal(array, np.arange(4.0) + np.zeros((3, 4)))


def shifted() -> tuple[Any, ...]:
    memory = np.arange(30.0)
    return memory[:12].reshape(3, 4), memory[6:18].reshape(3, 4)


def twice() -> tuple[Any, ...]:
    array = table()
    return array, array


def read_only() -> np.ndarray:
    array = table()
    array.flags.writeable = False
    return array


REFUSED: dict[str, Callable[[], tuple[Any, ...]]] = {
    "read-only": lambda: (read_only(), table()),
    "wrong rank": lambda: (np.ones(3), table()),
    "no dimensions": lambda: (np.float64(1.0), table()),
    "list": lambda: ([[1.0]], table()),
    "None": lambda: (None, table()),
    "int": lambda: (3, table()),
    "objects": lambda: (table().astype(object), table()),
    "half precision": lambda: (table().astype("f2"), table()),
    "text": lambda: (np.full((3, 4), "x"), table()),
    "dates": lambda: (np.zeros((3, 4), dtype="M8[s]"), table()),
    "records": lambda: (np.zeros((3, 4), dtype=[("a", "f8")]), table()),
    "masked": lambda: (np.ma.masked_array(table(), mask=True), table()),
    "too few": lambda: (table(),),
    "too many": lambda: (table(), table(), 1),
    "affine subscript outside": lambda: (table(), np.ones((3, 3))),
}


OVERLAPPING: dict[str, Callable[[], tuple[Any, ...]]] = {
    "partial overlap": shifted,
    "the same array twice": twice,
    "transposed overlap": lambda: (array := np.arange(9.0).reshape(3, 3), array.T),
    "written broadcast": lambda: (as_strided(np.arange(4.0), (3, 4), (0, 8)), table()),
    "written windows": lambda: (as_strided(np.arange(10.0), (3, 4), (8, 8)), table()),
}


@pytest.mark.parametrize("case", OVERLAPPING)
def test_arrays_that_overlap_are_bound_only_where_that_is_allowed(
    case: str, golden: Callable[..., None]
) -> None:
    binder, arguments = Binder(pv.extract(function_of(UPDATE))), OVERLAPPING[case]()
    with pytest.raises(pv.OverlapError) as caught:
        binder.bind(arguments, {})
    golden(f"{type(caught.value).__name__}: {caught.value}")
    assert binder.bind(arguments, {}, overlapping=True).given["A"] is arguments[0]


@pytest.mark.parametrize("case", OVERLAPPING)
def test_arrays_that_overlap_are_refused_before_anything_is_changed(update: pv.Kernel, case: str) -> None:
    arguments = OVERLAPPING[case]()
    before = [argument.copy() for argument in arguments]
    with pytest.raises(pv.OverlapError, match='Or compile with overlap="as-written"'):
        update(*arguments)
    for one, other in zip(arguments, before, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_device_says_that_it_does_not_run_loops_as_written() -> None:
    update = pv.compile(function_of(UPDATE), target="emulated", overlap="as-written")
    with pytest.raises(pv.OverlapError) as error:
        update(*OVERLAPPING["partial overlap"]())
    assert "is for processors, and 'emulated' is a device" in error.value.hint


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("case", OVERLAPPING)
def test_arrays_that_overlap_are_updated_in_the_order_of_the_source(case: str, target: str) -> None:
    update = pv.compile(function_of(UPDATE), target=target, overlap="as-written")
    expected, actual = (OVERLAPPING[case]() for _ in range(2))
    function_of(UPDATE)(*expected)
    with pytest.warns(pv.OverlapWarning, match="The loop ran as written, under [a-zP ]+: right, but slower"):
        update(*actual)
    for one, other in zip(expected, actual, strict=True):
        np.testing.assert_array_equal(one, other)


def test_overlapping_arrays_of_another_byte_order_run_under_plain_python() -> None:
    kernel = pv.compile(function_of(UPDATE), target="numba", overlap="as-written")
    expected, actual = (np.arange(16.0).astype(">f8") for _ in range(2))
    function_of(UPDATE)(expected[:12].reshape(3, 4), expected[4:].reshape(3, 4))
    with pytest.warns(pv.OverlapWarning, match="plain Python"):
        kernel(actual[:12].reshape(3, 4), actual[4:].reshape(3, 4))
    np.testing.assert_array_equal(expected, actual)


@pytest.mark.parametrize("case", REFUSED)
def test_refused_calls(case: str, golden: Callable[..., None]) -> None:
    update, arguments = pv.compile(function_of(UPDATE), target="python"), REFUSED[case]()
    before = [value.copy() for value in arguments if isinstance(value, np.ndarray)]
    with pytest.raises(pv.PolyvizError) as caught:
        update(*arguments)
    golden(f"{type(caught.value).__name__}: {caught.value}")
    for array, copy in zip(
        (value for value in arguments if isinstance(value, np.ndarray)), before, strict=True
    ):
        np.testing.assert_array_equal(array, copy)


def test_views_too_tangled_to_tell_count_as_overlapping(update: pv.Kernel) -> None:
    memory = np.zeros(10**6, dtype=np.float64)
    first = as_strided(memory, (40, 41), (8 * 1231, 8 * 1237))
    second = as_strided(memory[1:], (40, 41), (8 * 1229, 8 * 1223))
    with pytest.raises(pv.OverlapError):
        update(first, second)


@pytest.mark.parametrize(
    "value",
    [
        2,
        -3,
        2.5,
        True,
        2 + 1j,
        np.float32(1.5),
        np.int8(-3),
        np.uint64(2**63 + 5),
        np.complex64(1 + 2j),
        np.bool_(True),
        2**63 + 5,
    ],
    ids=repr,
)
@pytest.mark.parametrize("target", TARGETS)
def test_scalars_have_the_type_they_are_passed_in(target: str, value: Any) -> None:
    array = np.arange(4) + (0j if np.iscomplexobj(value) else 0.0)
    agree(SCALE, array, value, target=target)


@pytest.mark.thinned(6)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "uint64", "bool", "complex64"])
@pytest.mark.parametrize("start", [0, 0.25, np.float32(0.5)], ids=repr)
@pytest.mark.parametrize("target", TARGETS)
def test_a_scalar_argument_that_is_assigned_unifies_with_what_is_assigned(
    target: str, start: Any, dtype: str
) -> None:
    array = (np.arange(5) % 2).astype(dtype)
    if target != "python":
        agree(SUM, array, start, target=target)
        return
    # Plain Python computes in numba's types too, which are wider than those of NumPy's scalars: the values count.
    function = function_of(SUM)
    np.testing.assert_allclose(
        pv.compile(function, target=target)(array, start), numba.njit(function)(array, start)
    )


@pytest.mark.parametrize("target", TARGETS)
def test_arrays_without_dimensions_are_numbers(target: str) -> None:
    kernel = pv.compile(function_of(SCALE), target=target)
    array = np.ones(4)
    kernel(array, np.array(2.5), np.array(2))
    np.testing.assert_array_equal(array, [2.5, 2.5, 1, 1])


@pytest.mark.parametrize("target", TARGETS)
def test_defaults_and_keywords(target: str) -> None:
    agree(SCALE, np.ones(4), 2.0, target=target)
    agree(SCALE, np.ones(4), target=target, keywords={"n": 2, "factor": 3.0})


BAD_SCALARS = {
    "text": (np.ones(4), "x", 2),
    "None": (np.ones(4), None, 2),
    "array": (np.ones(4), np.ones(3), 2),
    "too wide": (np.ones(4), 2**64, 2),
    "half": (np.ones(4), np.float16(1), 2),
    "float size": (np.ones(4), 2.0, 2.0),
    "array size": (np.ones(4), 2.0, np.ones(2)),
    "size too wide": (np.ones(4), 2.0, 2**70),
    "unknown keyword": (np.ones(4), 2.0, 2),
}


@pytest.mark.parametrize("case", BAD_SCALARS)
def test_refused_scalars(case: str, golden: Callable[..., None]) -> None:
    kernel = pv.compile(function_of(SCALE), target="python")
    with pytest.raises(pv.ArgumentError) as caught:
        kernel(*BAD_SCALARS[case], **({"m": 3} if case == "unknown keyword" else {}))
    golden(str(caught.value))


def test_whole_numbers_of_any_kind_are_sizes() -> None:
    class Size(enum.IntEnum):
        SMALL = 2

    for size in (2, np.int8(2), np.uint64(2), np.array(2), Size.SMALL):
        array = np.ones(3)
        pv.compile(function_of(SCALE), target="c")(array, 2.0, size)
        np.testing.assert_array_equal(array, [2, 2, 1])


def test_other_sizes_than_fixed_ones_are_refused(golden: Callable[..., None]) -> None:
    kernel = pv.compile(function_of(SCALE), target="python", sizes={"n": 2})
    array = np.ones(3)
    kernel(array, 2.0, 2)
    for _ in range(2):
        with pytest.raises(pv.ArgumentError) as caught:
            kernel(array, 2.0, 3)
    golden(str(caught.value))
    np.testing.assert_array_equal(array, [2, 2, 1])


def test_remembered_sizes_are_bounded() -> None:
    binder = Binder(pv.extract(function_of(SCALE)))
    for size in range(3 * SIZES_REMEMBERED):
        assert binder.bind((np.ones(4), 1.0, size), {}).parameters == {"n": size}
    assert len(binder._accepted) <= SIZES_REMEMBERED


def test_keyword_only_arguments_stay_so() -> None:
    kernel = pv.compile(
        function_of("""
            def scale(A, *, n=2):
                for i in range(n):
                    A[i] = 3 * A[i]
        """),
        target="python",
    )
    array = np.ones(3)
    kernel(array, n=1)
    np.testing.assert_array_equal(array, [3, 1, 1])
    with pytest.raises(pv.ArgumentError, match="too many positional arguments"):
        kernel(array, 1)


class DeviceArray:
    """What the binder asks of an array that lives on a device."""

    def __init__(self, address, shape, strides):
        self.__cuda_array_interface__ = {"data": (address, False)}
        self.shape, self.strides = shape, strides
        self.ndim, self.itemsize, self.dtype = len(shape), 8, np.dtype("float64")
        self.size = int(np.prod(shape))
        self.flags = type("Flags", (), {"c_contiguous": True})()


def add_rows(A, B):
    for i in range(A.shape[0]):
        A[i] = A[i] + B[i]


def test_arrays_on_a_device_are_for_kernels_on_a_device():
    scop = pv.extract(add_rows)
    A, B = DeviceArray(1000, (4,), (8,)), DeviceArray(1032, (4,), (8,))
    bound = Binder(scop, on_device=True).bind((A, B), {})
    assert bound.given["A"] is A
    assert bound.shapes == {"A": (4,), "B": (4,)}
    with pytest.raises(pv.PolyvizError, match="A lives on a CUDA device"):
        Binder(scop).bind((A, B), {})


def test_arrays_that_overlap_on_a_device_are_refused():
    scop = pv.extract(add_rows)
    A, B = DeviceArray(1000, (4,), (8,)), DeviceArray(1024, (4,), (8,))
    with pytest.raises(pv.PolyvizError, match="A and B overlap in memory"):
        Binder(scop, on_device=True).bind((A, B), {})


def test_messages_about_a_cell_begin_as_sentences() -> None:
    cell = "for i in range(n):\n    A[i] = 1.0"
    binder = Binder(pv.extract(cell, namespace={"A": np.zeros(3), "n": 3}, sizes={"n": 4}))
    with pytest.raises(pv.ArgumentError, match=r"^These sizes are not what the loops assume\."):
        binder.bind(tuple({"A": np.zeros(3), "n": 3}[name] for name in binder.signature.parameters), {})


@pytest.mark.parametrize(
    ("value", "dtype"),
    [(2**63 - 1, "int64"), (2**63, "uint64"), (2**64 - 1, "uint64"), (-(2**63), "int64")],
)
def test_integers_have_the_narrowest_type_of_64_bits_that_holds_them(value: int, dtype: str) -> None:
    kernel = pv.compile("def f(A, s):\n    for i in range(len(A)):\n        A[i] = s\n", target="python")
    assert kernel.bind((np.zeros(2, dtype), value), {}).types["s"].dtype == dtype


@pytest.mark.parametrize("size", [2**63, -(2**63) - 1])
def test_sizes_beyond_64_bits_are_refused(size: int) -> None:
    kernel = pv.compile("def f(A, n):\n    for i in range(n):\n        A[i] = 1.0\n", target="python")
    with pytest.raises(pv.ArgumentError, match="does not fit into 64 bits"):
        kernel.bind((np.zeros(2), size), {})

"""What differs between two calls is seen, and what does not is set."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import polyviz as pv
from polyviz.runtime import alike, quick_calls
from polyviz.runtime.alike import WRITEABLE, AlikeArray, AlikeCalls, AlikeNumber, can_compare
from polyviz.runtime.packed import Blocks
from polyviz.runtime.toolchain import find_toolchain
from tests.running import function_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyviz.runtime.packed import Block

pytestmark = pytest.mark.skipif(find_toolchain() is None, reason="no C compiler")


def array_at(position: int, array: Any, *slots: int, strided: bool = False) -> AlikeArray:
    strides = array.strides if strided else None
    return AlikeArray(position, array.dtype, WRITEABLE, array.shape, strides, 0, array.nbytes, slots)


def blocks(count: int) -> Blocks:
    return Blocks([0] * count, [ctypes.c_int64] * count)


def found(calls: AlikeCalls, arguments: Sequence[Any], count: int = 4) -> Block | None:
    block = blocks(count).taken()
    return block if calls.set_if_alike(tuple(arguments), block) else None


def test_this_interpreter_can_compare() -> None:
    assert can_compare()


def test_addresses_and_numbers_are_set() -> None:
    matrix, single = np.zeros((3, 4)), np.float32(0.5)
    numbers = [AlikeNumber(2, float, slots=(2,)), AlikeNumber(3, np.float32, is_single=True, slots=(3,))]
    calls = AlikeCalls([array_at(0, matrix, 0, 1)], [], [(1, 5)], numbers)
    other = np.ones((3, 4))
    block = found(calls, (other, 5, -2.5, single))
    assert block is not None
    assert list(block.slots)[:2] == [other.ctypes.data] * 2
    assert ctypes.c_double.from_address(block.place + 16).value == -2.5
    assert ctypes.c_float.from_address(block.place + 24).value == 0.5


def _locked() -> Any:
    array = np.zeros((3, 4))
    array.flags.writeable = False
    return array


@pytest.mark.parametrize(
    "other",
    [
        np.zeros((4, 3)),
        np.zeros((3, 4, 1)),
        np.zeros(12),
        np.zeros((3, 4), np.float32),
        np.zeros((3, 4), ">f8"),
        np.ma.masked_array(np.zeros((3, 4))),
        np.zeros((3, 4)).view(type("Own", (np.ndarray,), {})),
        _locked(),
        [[0.0] * 4] * 3,
        None,
        5,
        np.float64(1.0),
    ],
)
def test_another_array_is_not_alike(other: Any) -> None:
    calls = AlikeCalls([array_at(0, np.zeros((3, 4)), 0)], [], [], [])
    assert found(calls, (np.ones((3, 4)),)) is not None
    assert found(calls, (other,)) is None


def test_strides_count_where_they_are_known() -> None:
    view = np.zeros((6, 4))[::2]
    calls = AlikeCalls([array_at(0, view, 0, strided=True)], [], [], [])
    assert found(calls, (np.ones((6, 4))[::2],)) is not None
    for other in (np.ones((3, 4)), np.ones((6, 4))[::-2], np.ones((4, 3)).T):
        assert found(calls, (other,)) is None


@pytest.mark.parametrize("known", [5, -1, 0, 2**63 - 1, -(2**63), np.int32(7), np.uint8(200), np.int64(-9)])
def test_integers_are_of_one_type_and_value(known: Any) -> None:
    calls = AlikeCalls([], [], [(0, known)], [])
    assert found(calls, (type(known)(known),)) is not None
    for other in (int(known) - 1, int(known) + 2**64, float(known), True, np.float32(3), "5", None, [known]):
        assert found(calls, (other,)) is None
    assert (found(calls, (int(known),)) is not None) == (type(known) is int)


def test_integers_that_cannot_be_compared_leave_no_error_behind() -> None:
    calls = AlikeCalls([], [], [(0, 3)], [])
    assert found(calls, (2**70,)) is None
    assert found(calls, (-(2**70),)) is None


@pytest.mark.parametrize(
    ("shift", "apart"), [(8, True), (-8, True), (7, False), (-7, False), (0, False), (20, True)]
)
def test_memory_that_is_shared(shift: int, apart: bool) -> None:
    memory = np.zeros(64)
    calls = AlikeCalls([array_at(0, memory[:8]), array_at(1, memory[:8])], [(0, 1)], [], [])
    arguments = (memory[24:32], memory[24 + shift : 32 + shift])
    assert (found(calls, arguments) is not None) == apart
    unrelated = AlikeCalls([array_at(0, memory[:8]), array_at(1, memory[:8])], [], [], [])
    assert found(unrelated, arguments) is not None


@pytest.mark.parametrize("other", [1, np.float64(2.0), np.float32(2.0), True, None, 2j])
def test_numbers_are_of_one_type(other: Any) -> None:
    calls = AlikeCalls([], [], [], [AlikeNumber(0, float, slots=(0,))])
    assert found(calls, (2.0,)) is not None
    assert found(calls, (other,)) is None


def test_where_objects_are_kept_otherwise_calls_go_the_usual_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alike.sys, "implementation", type("Other", (), {"name": "pypy"}))
    assert not alike._is_as_known()
    monkeypatch.undo()
    monkeypatch.setattr(quick_calls, "can_compare", lambda: False)
    kernel = pv.compile(function_of("def f(A):\n    for i in range(len(A)):\n        A[i] += 1.0"), target="c")
    array = np.zeros(3)
    for _ in range(3):
        kernel(array)
    assert kernel._quick.run((array,)) is None
    np.testing.assert_array_equal(array, 3.0)

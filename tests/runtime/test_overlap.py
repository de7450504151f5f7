"""Which arrays share memory, told from their addresses, strides and extents."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from numpy.exceptions import TooHardError

from polyviz.runtime.overlap import overlaps_itself, share_memory

if TYPE_CHECKING:
    from numpy.typing import NDArray

MEMORY = np.zeros(64)


def on_device(view: NDArray[np.generic]) -> SimpleNamespace:
    """What an array on a device tells of itself, with the places of ``view``."""
    interface = {"data": (view.ctypes.data, False)}
    told = {name: getattr(view, name) for name in ("strides", "shape", "itemsize", "size")}
    return SimpleNamespace(__cuda_array_interface__=interface, **told)


@pytest.mark.parametrize(
    ("one", "other", "shared"),
    [
        (MEMORY[:8], MEMORY[8:16], False),
        (MEMORY[:8], MEMORY[7:16], True),
        (MEMORY[8:0:-1], MEMORY[1:2], True),
        (MEMORY[8:0:-1], MEMORY[:1], False),
        (MEMORY[:8], MEMORY.view("f4")[15:20], True),
        (MEMORY[:8], MEMORY.view("f4")[16:20], False),
        (MEMORY[:8], MEMORY[4:4], False),
        (MEMORY[:32].reshape(4, 8)[:0], MEMORY[:8], False),
    ],
)
def test_reaches_that_meet_share_memory(one: NDArray[np.generic], other: NDArray[np.generic], shared: bool) -> None:
    for first, second in ((one, other), (other, one)):
        assert share_memory(first, second) is shared
        assert share_memory(on_device(first), on_device(second)) is shared
        assert not share_memory(first, on_device(second))


def test_views_that_numpy_cannot_tell_apart_count_as_sharing(monkeypatch: pytest.MonkeyPatch) -> None:
    def give_up(*_: object, **__: object) -> bool:
        raise TooHardError

    even, odd = MEMORY[::2], MEMORY[1::2]
    assert not share_memory(even, odd)
    monkeypatch.setattr(np, "shares_memory", give_up)
    assert share_memory(even, odd)
    assert not share_memory(MEMORY[:8], MEMORY[8:])


@pytest.mark.parametrize(
    ("array", "overlaps"),
    [
        (MEMORY[::3], False),
        (MEMORY[::-1], False),
        (MEMORY.reshape(8, 8).T, False),
        (MEMORY.reshape(8, 8)[:, :1], False),
        (np.broadcast_to(MEMORY[:1], (1, 1)), False),
        (np.broadcast_to(MEMORY[:1], (2,)), True),
        (np.lib.stride_tricks.sliding_window_view(MEMORY, 3), True),
        (np.lib.stride_tricks.sliding_window_view(MEMORY, 3)[::3], False),
        (np.broadcast_to(MEMORY[:1], (3, 0)), False),
    ],
)
def test_an_array_overlaps_itself_where_a_step_is_shorter_than_what_it_steps_over(
    array: NDArray[np.generic], overlaps: bool
) -> None:
    assert overlaps_itself(array) is overlaps

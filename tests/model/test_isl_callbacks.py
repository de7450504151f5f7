"""Interrupts that come while isl calls functions of ours."""

from __future__ import annotations

import signal
import threading

import islpy as isl
import pytest

import polyviz as pv
from polyviz.codegen import loop_times
from polyviz.model.isl_callbacks import interrupts_afterwards, pieces_of

PRODUCT = """
def product(C, A, B):
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            for k in range(A.shape[1]):
                C[i, j] += A[i, k] * B[k, j]
"""


class _Pressed:
    """Somebody presses the keys while this is compared with something."""

    def __eq__(self, other: object) -> bool:
        signal.raise_signal(signal.SIGINT)
        return False

    __hash__ = None  # type: ignore[assignment]


def test_an_interrupt_comes_when_the_block_is_done() -> None:
    before, done = signal.getsignal(signal.SIGINT), []
    with pytest.raises(KeyboardInterrupt), interrupts_afterwards():
        signal.raise_signal(signal.SIGINT)
        done.append("all")
    assert done == ["all"]
    assert signal.getsignal(signal.SIGINT) is before


def test_so_does_an_alarm_where_somebody_waits_for_it() -> None:
    came: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda number, _frame: came.append(number))
    try:
        with interrupts_afterwards():
            signal.raise_signal(signal.SIGALRM)
            assert came == []
        assert came == [signal.SIGALRM]
    finally:
        signal.signal(signal.SIGALRM, before)


def test_other_threads_get_no_interrupts() -> None:
    found: list[object] = []

    def look() -> None:
        found.extend(piece for _, piece in pieces_of(isl.PwAff("{ [i] -> [(i)] : i > 0 }")))

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert len(found) == 1


def test_an_interrupt_while_isl_writes_loops_is_an_interrupt(monkeypatch: pytest.MonkeyPatch) -> None:
    """isl would say that it could not generate loops."""
    kernel = pv.compile(PRODUCT, target="c", tile=(8, 8, 8), register_tile=False)
    monkeypatch.setattr(loop_times, "POINTS", _Pressed())
    with pytest.raises(KeyboardInterrupt):
        kernel.source  # noqa: B018  (made when it is asked for)

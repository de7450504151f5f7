from __future__ import annotations

import socket
import threading
from typing import TYPE_CHECKING

import numpy as np
import pytest

from polyviz.runtime.channel import Channel, ChannelClosedError, pack, unpack

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def ends() -> Iterator[tuple[Channel, Channel]]:
    here, there = (Channel(end) for end in socket.socketpair())
    yield here, there
    here.close()
    there.close()


def test_arrays_travel_whole_and_arrive_writable(ends: tuple[Channel, Channel]) -> None:
    here, there = ends
    arrays = [np.random.default_rng(0).random((500, 400)), np.arange(6).reshape(2, 3).T, np.zeros((0, 4))]
    sender = threading.Thread(target=here.send, args=(("job", 1.5), pack(arrays)))
    sender.start()
    header, body = there.receive()
    sender.join()
    assert header == ("job", 1.5)
    for sent, received in zip(arrays, unpack(body), strict=True):
        np.testing.assert_array_equal(sent, received)
        assert received.flags.writeable
        assert (received.dtype, received.flags.f_contiguous) == (sent.dtype, sent.flags.f_contiguous)


def test_a_large_array_is_not_copied_into_the_pickle() -> None:
    packed = pack(np.zeros(100_000))
    assert len(packed.blocks[0]) < 1000
    assert memoryview(packed.blocks[1]).nbytes == 800_000


def test_messages_of_several_threads_stay_whole(ends: tuple[Channel, Channel]) -> None:
    here, there = ends
    threads = [
        threading.Thread(target=here.send, args=((str(index),), pack(np.full(50_000, index))))
        for index in range(4)
    ]
    for thread in threads:
        thread.start()
    seen = []
    for _ in threads:
        header, body = there.receive()
        assert (unpack(body) == int(header[0])).all()
        seen.append(header[0])
    for thread in threads:
        thread.join()
    assert sorted(seen) == ["0", "1", "2", "3"]


def test_a_closed_end_is_noticed_on_both_sides(ends: tuple[Channel, Channel]) -> None:
    here, there = ends
    there.close()
    with pytest.raises(ChannelClosedError):
        here.receive()
    with pytest.raises(ChannelClosedError):
        here.send((), pack(np.zeros(1_000_000)))


def test_a_message_that_breaks_off_is_noticed() -> None:
    here, there = socket.socketpair()
    here.sendall(b"\x02\x00")
    here.close()
    channel = Channel(there)
    with pytest.raises(ChannelClosedError):
        channel.receive()
    channel.close()

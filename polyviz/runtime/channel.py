"""Messages between this process and its worker: a header, a body, and the arrays of the body without a copy.

Pickle protocol 5 hands out the memory of contiguous arrays (PEP 574); it travels raw after the pickle and lands in
fresh writable memory on the other side.
"""

from __future__ import annotations

import pickle
import struct
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import socket
    from collections.abc import Sequence

Header = tuple[str | float, ...]
Block = bytes | bytearray | memoryview

_COUNT = struct.Struct("<I")
_SIZE = struct.Struct("<Q")


class ChannelClosedError(Exception):
    """The other side is gone."""


@dataclass(frozen=True, slots=True)
class Packed:
    """A value ready to travel: its pickle, then the memory of its arrays."""

    blocks: tuple[Block, ...]


def pack(value: object) -> Packed:
    """Pickle ``value``. Raises whatever its pickling raises.

    >>> unpack(pack({"n": 3}))
    {'n': 3}
    """
    buffers: list[pickle.PickleBuffer] = []
    body = pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
    return Packed((body, *(buffer.raw() for buffer in buffers)))


def unpack(packed: Packed) -> Any:
    """The value again. Raises whatever its unpickling raises."""
    return pickle.loads(packed.blocks[0], buffers=packed.blocks[1:])


class Channel:
    """One end of a connected pair of sockets. Several threads may send; one receives."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._sending = threading.Lock()

    def send(self, header: Header, body: Packed) -> None:
        """Send one message. Raises ChannelClosedError when the other side is gone."""
        blocks: Sequence[Block] = (pickle.dumps(header), *body.blocks)
        sizes = [memoryview(block).nbytes for block in blocks]
        front = _COUNT.pack(len(blocks)) + b"".join(_SIZE.pack(size) for size in sizes)
        try:
            with self._sending:
                self._connection.sendall(front)
                for block in blocks:
                    self._connection.sendall(block)
        except OSError as error:
            raise ChannelClosedError from error

    def receive(self) -> tuple[Header, Packed]:
        """Wait for one message. Raises ChannelClosedError when the other side is gone."""
        (count,) = _COUNT.unpack(self._read(_COUNT.size))
        sizes = [size for (size,) in _SIZE.iter_unpack(self._read(count * _SIZE.size))]
        header, *blocks = [self._read(size) for size in sizes]
        return pickle.loads(header), Packed(tuple(blocks))

    def close(self) -> None:
        """Close this end."""
        self._connection.close()

    def _read(self, size: int) -> bytearray:
        block = bytearray(size)
        view = memoryview(block)
        while view:
            try:
                received = self._connection.recv_into(view)
            except OSError as error:
                raise ChannelClosedError from error
            if received == 0:
                raise ChannelClosedError
            view = view[received:]
        return block

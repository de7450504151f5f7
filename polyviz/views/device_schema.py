"""The parts of the JSON view model of a part on a device."""

from __future__ import annotations

from typing import TypedDict


class PromotionModel(TypedDict):
    """What was decided about one array: where its tile lives (``shared``, ``register``, ``global``) and why.

    A thread takes ``together`` cells of a tile in shared memory at once.
    """

    array: str
    place: str
    extents: list[int]
    bytes: int
    reason: str
    together: int


class DeviceAccessModel(TypedDict):
    """One access: how far the cell moves from a thread to its neighbour along x, per subscript, and in one word.

    The word holds for ``piece`` neighbours in a row, 0 for all.
    ``expected`` and ``counted`` are transactions per request of a warp; ``lanes`` threads took part in each;
    ``conflicts`` are rounds per request that banks of shared memory cost, ``bytes`` what the threads asked for.
    """

    statement: str
    line: int
    text: str
    mode: str
    memory: str
    kind: str
    strides: list[int | None]
    piece: int
    expected: int | None
    counted: float | None
    requests: int
    lanes: float | None
    conflicts: float
    bytes: int


class KernelCardModel(TypedDict):
    """One kernel; ``grid`` over the sizes and ``block`` are x, y, z; ``layouts`` tell of arrays not in C order.

    ``launches`` tells when the host launches it more than once; it is empty where it does not.
    """

    name: str
    statements: list[str]
    grid: list[str]
    block: list[int]
    threads: list[str]
    phases: list[str]
    barriers: list[str]
    promotions: list[PromotionModel]
    accesses: list[DeviceAccessModel]
    layouts: list[str]
    launches: str
    occupancy: str


class DeviceRunModel(TypedDict):
    """What an emulated run counted in all, for ``sizes``; ``asked`` and ``moved`` are bytes of global memory."""

    sizes: dict[str, int]
    launches: int
    barriers: int
    requests: int
    transactions: int
    asked: int
    moved: int
    conflicts: int
    verified: bool | None
    text: str


class ThreadPictureModel(TypedDict):
    """Who runs what of one statement, for ``values``.

    Every entry of ``points`` holds the values of ``iterators``, then the block's x, y, z and the thread's x, y, z.
    """

    kernel: int
    statement: str
    iterators: list[str]
    fixed: dict[str, int]
    values: dict[str, int]
    block: list[int]
    rules: list[str]
    points: list[list[int]]
    note: str


class SharedLoopModel(TypedDict):
    """A loop of the blocks and what becomes of it inside one; ``thread`` is empty where each thread runs along it."""

    kernel: int
    row: str
    statements: list[str]
    block: str
    tile: int
    thread: str


class ResourceModel(TypedDict):
    """What the compiler reports of a kernel: registers per thread, bytes per block, and an estimated occupancy."""

    kernel: str
    architecture: str
    registers: int
    shared: int
    spilled: int
    occupancy: float

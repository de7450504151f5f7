"""What there is to see of a part on a device: cards, who runs which iteration, and the orders of the two levels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from polyviz.model.display import Displayable
from polyviz.model.warp_access import COUNTED, SEGMENT
from polyviz.model.words import plural

if TYPE_CHECKING:
    from collections.abc import Mapping

    import islpy as isl

    from polyviz.model.kernel_card import KernelCard

Triple = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class PlacedIteration:
    """One iteration, in the coordinates that are drawn, with its block and its thread (x, y, z)."""

    iteration: tuple[int, ...]
    block: Triple
    thread: Triple


@dataclass(frozen=True, slots=True)
class ThreadPicture:
    """Which thread of which block runs which iteration of one statement, for concrete sizes.

    ``iterators`` are the one or two that are drawn, ``fixed`` the values of the others, ``values`` the sizes;
    ``block`` is the number of threads along x, y and z. ``rules`` tell the coordinates in words. ``note`` says what is
    left out, or why there is no picture.
    """

    kernel: int
    statement: str
    iterators: tuple[str, ...]
    fixed: Mapping[str, int]
    values: Mapping[str, int]
    block: Triple
    rules: tuple[str, ...]
    points: tuple[PlacedIteration, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class PlaceRule:
    """Where and when the instances of a statement run on a device, as isl maps of the instances.

    ``launch`` orders the launches of all kernels, ``order`` what one thread does. ``blocks`` and ``threads`` hold the
    axis, the values of ``rows`` that a block holds or the threads that share them, and the row, a single value.
    """

    statement: str
    kernel: int
    launch: isl.Map
    order: isl.Map
    blocks: tuple[tuple[str, int, isl.Map], ...]
    threads: tuple[tuple[str, int, isl.Map], ...]
    block: Triple


@dataclass(frozen=True, slots=True)
class SharedLoop:
    """A loop of the blocks, and what becomes of it inside a block.

    ``block`` is its axis of the grid in tiles of ``tile`` iterations; ``thread`` its axis of threads, empty where each
    thread runs along it.
    """

    kernel: int
    row: str
    statements: tuple[str, ...]
    block: str
    tile: int
    thread: str

    @property
    def text(self) -> str:
        """A sentence without an end.

        >>> SharedLoop(0, "i", ("S",), "x", 32, "y").text
        'i: blocks along x in tiles of 32, threads along y inside a tile'
        """
        inside = f"threads along {self.thread}" if self.thread else "every thread runs along it"
        return f"{self.row}: blocks along {self.block} in tiles of {self.tile}, {inside} inside a tile"


@dataclass(frozen=True, slots=True)
class LevelTrees:
    """The order of the blocks and the order inside a block; one and the same tree where there is only one order."""

    blocks: isl.Schedule
    threads: isl.Schedule
    shared: tuple[SharedLoop, ...]
    same: bool


@dataclass(frozen=True, slots=True)
class ResourceRow:
    """What the compiler reports of a kernel on one architecture, without a device.

    Registers are per thread, ``shared`` bytes per block; ``spilled`` bytes did not fit into registers. ``occupancy`` is
    the part of its threads that a multiprocessor can hold at once, an estimate from these numbers.
    """

    kernel: str
    architecture: str
    registers: int
    shared: int
    spilled: int
    occupancy: float

    @property
    def text(self) -> str:
        """A sentence without an end.

        >>> ResourceRow("k", "sm_90", 32, 4096, 0, 1.0).text
        'k on sm_90: 32 registers, 4096 bytes of shared memory, nothing spilled, occupancy 100 %'
        """
        spilled = f"{self.spilled} bytes spilled" if self.spilled else "nothing spilled"
        return (
            f"{self.kernel} on {self.architecture}: {self.registers} registers, {self.shared} bytes of shared memory, "
            f"{spilled}, occupancy {100 * self.occupancy:.0f} %"
        )


@dataclass(frozen=True, slots=True)
class DeviceRun:
    """What an emulated run counted in all kernels together, for these ``sizes``.

    ``requests`` and ``transactions`` are those of global memory, ``asked`` the bytes that threads read and wrote there;
    ``conflicts`` are rounds lost to banks of shared memory. ``verified``: the results are those of the loops as
    written; None where nothing was compared. ``uncounted`` are accesses of threads that are in none of these figures.
    """

    sizes: Mapping[str, int]
    launches: int
    barriers: int
    requests: int
    transactions: int
    asked: int
    conflicts: int
    verified: bool | None = None
    uncounted: int = 0

    @property
    def moved(self) -> int:
        """Bytes of global memory that transactions move: whole segments."""
        return SEGMENT * self.transactions

    @property
    def text(self) -> str:
        """A sentence without an end.

        >>> DeviceRun({"n": 64}, 1, 8, 100, 200, 12800, 0).text.partition(", ")[0]
        'n = 64: 1 launch'
        """
        sizes = ", ".join(f"{name} = {value}" for name, value in self.sizes.items())
        average = f" ({self.transactions / self.requests:.2f} per request)" if self.requests else ""
        conflicts = (
            f"{plural(self.conflicts, 'round')} lost to bank conflicts" if self.conflicts else "no bank conflicts"
        )
        launches = "1 launch" if self.launches == 1 else f"{self.launches} launches"
        verified = "; the result is that of the loops as written" if self.verified else ""
        return (
            f"{sizes or 'one run'}: {launches}, {plural(self.barriers, 'barrier')} passed by all blocks together, "
            f"{plural(self.transactions, 'transaction')} for {plural(self.requests, 'request')} of global memory"
            f"{average}, {self.asked} bytes asked for and {self.moved} moved, "
            f"{conflicts}{self._left_out}{verified}"
        )

    @property
    def _left_out(self) -> str:
        if not self.uncounted:
            return ""
        limit = f"at most {COUNTED} executions of an access by a warp between two barriers are"
        return f"; {plural(self.uncounted, 'access', 'accesses')} of threads are not counted: {limit}"


@dataclass(frozen=True, slots=True, repr=False)
class DeviceView(Displayable):
    """Everything above for one part under one schedule.

    ``compiler`` tells what ``resources`` come from, or why there are none; it is empty where nobody asked for them.
    ``run`` is what an emulated run counted, where there was one; ``places`` tell where and when every instance runs.
    """

    name: str
    scheduler: str
    target: str
    cards: tuple[KernelCard, ...]
    pictures: tuple[ThreadPicture, ...]
    trees: LevelTrees
    resources: tuple[ResourceRow, ...] = ()
    compiler: str = ""
    run: DeviceRun | None = None
    places: tuple[PlaceRule, ...] = ()

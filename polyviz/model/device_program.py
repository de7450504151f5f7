"""The host's side of a program for a device: kernels with their arguments, and when each is launched. Plain data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from polyviz.model.expression import Expression
    from polyviz.model.program import ProgramArgument
    from polyviz.model.warp_access import WarpAccess


@dataclass(frozen=True, slots=True)
class AccessSite:
    """One reference in the text of a kernel; ``access`` is how a warp makes it, ``extents`` those of a shared tile."""

    number: int
    kernel: int
    statement: str
    line: int
    array: str
    text: str
    mode: Literal["read", "write", "update"]
    memory: Literal["global", "shared"]
    access: WarpAccess
    extents: tuple[int, ...]
    itemsize: int


@dataclass(frozen=True, slots=True)
class AccessCount:
    """What the emulator counted for the reads or the writes of one access.

    A request is one execution by the threads of a warp together; a transaction is one segment of 128 bytes of global
    memory that it needs; ``lanes`` are the threads that took part, ``moved`` the bytes they asked for, ``conflicts``
    the rounds lost because words of shared memory lie in the same bank. At most 4096 executions between two barriers
    count.
    """

    site: int
    write: bool
    requests: int
    transactions: int
    lanes: int
    moved: int
    conflicts: int

    @property
    def transactions_per_request(self) -> float:
        """Segments per request: 1 or 2 is coalesced, 32 is the worst."""
        return self.transactions / self.requests


@dataclass(frozen=True, slots=True)
class IndexBound:
    """What a kernel computes of sizes: no number beyond ``scale`` times the largest one plus ``constant``."""

    scale: int
    constant: int

    def fits(self, largest: int) -> bool:
        """Whether 32 bits are enough where no size is above ``largest``.

        >>> IndexBound(2, 100).fits(10**9), IndexBound(2, 100).fits(2**30)
        (True, False)
        """
        return self.scale * largest + self.constant < 2**31


@dataclass(frozen=True, slots=True)
class KernelText:
    """One ``__global__`` function: its name, its arguments in order, threads of a block and blocks of the grid.

    ``block`` is x, y, z; ``grid`` are the numbers of blocks along x, y, z over sizes and ``host`` names.
    ``barriers``: what each barrier protects. ``phases`` and ``promotions`` are sentences for the card. ``index`` bounds
    the numbers in subscripts and bounds of loops, None where that is not known.
    """

    name: str
    statements: tuple[str, ...]
    arguments: tuple[ProgramArgument, ...]
    host: tuple[str, ...]
    block: tuple[int, int, int]
    grid: tuple[Expression, Expression, Expression]
    axes: tuple[str, ...]
    barriers: tuple[str, ...]
    phases: tuple[str, ...]
    sites: tuple[AccessSite, ...]
    promotions: tuple[Promotion, ...] = ()
    index: IndexBound | None = None


@dataclass(frozen=True, slots=True)
class Promotion:
    """What was decided about one array of a kernel: where its tile lives, how large that is, and why.

    ``extents`` include the cells that end rows against bank conflicts. Of a tile in shared memory a thread takes
    ``together`` cells at once, which stand beside each other there and not in the array.
    """

    array: str
    place: Literal["shared", "register", "global"]
    extents: tuple[int, ...]
    bytes: int
    reason: str
    together: int = 1


@dataclass(frozen=True, slots=True)
class HostLoop:
    """``for iterator in range(start, stop, step)`` on the host."""

    iterator: str
    start: Expression
    stop: Expression
    step: int
    body: HostStep


@dataclass(frozen=True, slots=True)
class HostBranch:
    """Launches under a condition on sizes and host loops."""

    condition: Expression
    then: HostStep
    otherwise: HostStep | None = None


@dataclass(frozen=True, slots=True)
class HostSequence:
    """Steps one after the other."""

    steps: tuple[HostStep, ...]


@dataclass(frozen=True, slots=True)
class Launch:
    """One launch of kernel number ``kernel`` with these values of its host loops."""

    kernel: int
    values: tuple[Expression, ...]


HostStep = HostLoop | HostBranch | HostSequence | Launch


@dataclass(frozen=True, slots=True)
class DeviceProgram:
    """Kernels, the host's program, and the same text with every access through an accessor, for the emulator.

    ``arrays`` are the arrays the device holds, in the order of the emulator's table; ``cells`` those of them that are
    single scalars. ``failure`` is the array whose only cell tells which of the program's failures happened, 0 for none;
    empty where no subscript is tested while kernels run.
    """

    kernels: tuple[KernelText, ...]
    host: HostStep
    instrumented: str
    arrays: tuple[str, ...]
    cells: tuple[str, ...]
    failure: str = ""

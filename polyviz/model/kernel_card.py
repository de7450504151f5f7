"""One kernel of a device on one card: who does what, where threads wait, and how each access meets memory."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from math import prod
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from polyviz.model.occupancy import LIMITS, occupancy
from polyviz.model.words import plural

if TYPE_CHECKING:
    from polyviz.model.device_program import Promotion
    from polyviz.model.warp_access import StrideKind

_LONGEST_GRID = 90


@dataclass(frozen=True, slots=True)
class AccessRow:
    """One access: how a thread's neighbour along x moves, and transactions per request, expected and counted.

    ``counted`` is None until the kernel has run in the emulator, and for an access to shared memory; there
    ``conflicts`` are the rounds per request that banks cost. ``lanes`` are the threads of a warp that took part in a
    request, ``moved`` the bytes that they asked for in all. ``strides``: how far each subscript moves along x, None
    where that is not a fixed number; ``kind`` holds for ``piece`` neighbours in a row, 0 for all of them.
    """

    statement: str
    line: int
    text: str
    mode: str
    memory: str
    kind: StrideKind
    expected: int | None
    counted: float | None = None
    requests: int = 0
    lanes: float | None = None
    conflicts: float = 0.0
    moved: int = 0
    strides: tuple[int | None, ...] = ()
    piece: int = 0

    @property
    def motion(self) -> str:
        """The kind, and for how many neighbours it holds."""
        return f"{self.kind} in pieces of {self.piece}" if self.piece else self.kind


@dataclass(frozen=True, slots=True, repr=False)
class KernelCard:
    """The card of one kernel; ``grid`` is written over the sizes, x first.

    ``layouts`` are sentences on arrays that do not lie in C order, without an end; ``host`` are the loops of the host
    that launch the kernel, outermost first.
    """

    name: str
    statements: tuple[str, ...]
    grid: tuple[str, str, str]
    block: tuple[int, int, int]
    threads: tuple[str, ...]
    phases: tuple[str, ...]
    barriers: tuple[str, ...]
    promotions: tuple[Promotion, ...]
    accesses: tuple[AccessRow, ...]
    layouts: tuple[str, ...] = ()
    host: tuple[str, ...] = ()

    @property
    def launches(self) -> str:
        """When the host launches the kernel more than once, as a sentence without an end."""
        return f"launched again for every {' and every '.join(self.host)} of the host's loops" if self.host else ""

    @property
    def grid_text(self) -> str:
        """The blocks along x, y and z, or what their numbers depend on where these are too long for a line."""
        if not self.long_grid:
            return " x ".join(self.grid)
        names = dict.fromkeys(name for size in self.grid for name in re.findall(r"[A-Za-z_]\w*(?!\w|\()", size))
        words = ("if", "else", "and", "or", "not")
        return f"by {', '.join(name for name in names if name not in words)}"

    @property
    def long_grid(self) -> tuple[str, ...]:
        """A line per axis of a grid that is too long for one."""
        if len(" x ".join(self.grid)) <= _LONGEST_GRID:
            return ()
        return tuple(f"blocks along {axis}: {size}" for axis, size in zip("xyz", self.grid, strict=True))

    @property
    def occupancy_text(self) -> str:
        """How many threads a multiprocessor can hold at once, as a sentence without an end.

        Registers may lower that: they are known once a compiler has seen the text.
        """
        threads = prod(self.block)
        shared = sum(one.bytes for one in self.promotions if one.place == "shared")
        shares = {name: f"{occupancy(name, threads, shared):.0%}" for name in LIMITS}
        told = ", ".join(f"{share} on {name}" for name, share in shares.items())
        same = next(iter(shares.values())) if len(set(shares.values())) == 1 else told
        memory = f" and {plural(shared, 'byte')} of shared memory" if shared else ""
        return f"occupancy at most {same}, by {plural(threads, 'thread')}{memory} per block; registers may lower it"

    def value(self) -> dict[str, Any]:
        """The card as plain data for JSON."""
        return asdict(self)

    def __repr__(self) -> str:
        return self.text()

    def text(self) -> str:
        """The card as text."""
        block = " x ".join(map(str, self.block))
        lines = [f"{self.name}: {', '.join(self.statements)}", f"  grid {self.grid_text}, block {block} threads"]
        lines += [f"  {line}" for axis in self.long_grid for line in wrap(axis, 100, subsequent_indent="    ")]
        lines += [f"  {self.launches}"] if self.host else []
        lines.append(f"  {self.occupancy_text}")
        lines += [f"  threads {', '.join(self.threads)}"] if self.threads else []
        lines += [f"  phase {number}: {phase}" for number, phase in enumerate(self.phases)]
        lines += [f"  barrier: {barrier}" for barrier in self.barriers] or ["  no barrier"]
        lines += [f"  {one.array}: {one.place}, {one.reason}" for one in self.promotions]
        lines += [f"  {one}" for one in self.layouts]
        lines.append("  access: neighbour along x, transactions per request")
        has_run = any(row.requests for row in self.accesses)
        return "\n".join([*lines, *(f"    {_row_text(row, has_run=has_run)}" for row in self.accesses)])


def _row_text(row: AccessRow, *, has_run: bool) -> str:
    expected = "" if row.expected is None else f", {row.expected} expected"
    counted = "" if row.counted is None else f", {row.counted:.2f} counted in {plural(row.requests, 'request')}"
    if has_run and not row.requests:
        counted = ", did not run"
    conflicts = (
        f", {row.conflicts:.2f} bank conflicts per request" if row.memory == "shared" and row.requests else ""
    )
    return f"{row.statement} {row.mode} {row.text}: {row.motion}{expected}{counted}{conflicts}"

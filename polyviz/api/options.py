"""The options that a kernel is built with, from the keywords of ``compile`` and its sisters."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, get_args

from polyviz.errors import OptionError
from polyviz.model.program import CONTRACTS, FloatingPoint, Overlap
from polyviz.model.staging import DeviceOptions
from polyviz.model.techniques import switched_off, switches, techniques_for
from polyviz.transform.tile import is_tile_size

Tile = Sequence[int] | int | Literal[False] | None
"""Sizes per loop (the last one for deeper loops too), or one for all; False for no tiles; None: the target's choice."""
OWN_NAMES = ("tile", "threads", "contract", "overlap", "tuned")
"""The options that are neither techniques nor the scheduler's."""
_SETTLED = ("contract", "overlap", "tuned", "device")
"""What a kernel means and where it runs: nothing that is remembered changes that."""
MOST_THREADS = 4096
MOST_TILE_ROWS, MOST_TILE_VECTORS = 30, 8
"""A tile of sums that is larger than any register file has room for; one a little too large is legal, and slow."""
_PER_AXIS = ("elements", "threads")
"""Device options with a number along x, y and z."""


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """How a schedule becomes a kernel.

    ``tile`` gives tile sizes; ``switches`` the techniques of the mapping that are given; ``threads`` bounds their
    number (None: all cores); ``contract`` is that of floating point; ``overlap`` says what is done with arguments that
    share memory; ``tuned`` lets remembered sizes be used;
    ``device`` says what kernels of a device may do; ``scheduler`` holds the options of the scheduler.
    """

    tile: Tile = None
    threads: int | None = None
    contract: FloatingPoint = "reassociate"
    overlap: Overlap = "refuse"
    tuned: bool = True
    switches: Mapping[str, bool | tuple[int, int]] = field(default_factory=dict)
    device: DeviceOptions = field(default_factory=DeviceOptions)
    scheduler: Mapping[str, Any] = field(default_factory=dict)

    @property
    def sizes(self) -> Sequence[int] | Literal[False] | None:
        """``tile`` with one size as a sequence of one."""
        if self.tile is None or isinstance(self.tile, Sequence):
            return self.tile
        return (self.tile,) if self.tile else False

    def filled(self, remembered: Mapping[str, Any]) -> BuildOptions:
        """These options, with those of ``remembered`` in the places that are left open. Raises OptionError.

        >>> BuildOptions(tile=32).filled({"tile": (8, 8), "threads": 2}).threads
        2
        """
        settled = [name for name in remembered if name in _SETTLED or name in techniques_for(device=True)]
        if settled:
            raise OptionError(f"{settled[0]} is no option that tuning chooses.")
        found = read_options(remembered)
        return replace(
            self,
            tile=found.tile if self.tile is None else self.tile,
            threads=found.threads if self.threads is None else self.threads,
            switches={**found.switches, **self.switches},
            scheduler={**found.scheduler, **self.scheduler},
        )

    def of_a_block(self, scheduler: Collection[str]) -> BuildOptions:
        """For a device: ``threads`` per axis are the mapping's, unless the options of the ``scheduler`` name them.

        >>> BuildOptions(scheduler={"threads": (32, 8)}).of_a_block(["fusion"]).device.threads
        (32, 8)
        """
        if "threads" not in self.scheduler or "threads" in scheduler:
            return self
        others = {name: value for name, value in self.scheduler.items() if name != "threads"}
        return replace(
            self,
            device=replace(self.device, **_checked({"threads": self.scheduler["threads"]})),
            scheduler=others,
        )


def read_options(given: Mapping[str, Any]) -> BuildOptions:
    """The options behind keywords; what is no option of ours is taken as one of the scheduler. Raises OptionError.

    >>> read_options({"tile": 32, "pack": False, "fusion": "max"}).scheduler
    {'fusion': 'max'}
    >>> read_options({"threads": False}).threads
    1
    >>> read_options({"stage": False, "elements": False}).device.elements
    (1, 1)
    """
    left = dict(given)
    contract, overlap = left.pop("contract", "reassociate"), left.pop("overlap", "refuse")
    tile, threads = left.pop("tile", None), left.pop("threads", None)
    if isinstance(threads, Sequence) and not isinstance(threads, str):
        left["threads"], threads = threads, None  # those of a block, which schedulers for devices choose
    threads = 1 if threads is False else threads  # as every technique is switched off
    tuned = left.pop("tuned", True)
    device = device_options(left.pop("device", None))
    own = {name: left.pop(name) for name in techniques_for(device=True) if name in left}
    if own:
        off = switched_off(name for name, value in own.items() if value is False)
        device = replace(device, **_checked({**own, **off}))
    chosen = {name: left.pop(name) for name in switches() if name in left}
    _check_contract(contract)
    if overlap not in get_args(Overlap):
        raise OptionError(f"overlap is {' or '.join(get_args(Overlap))}, not {overlap!r}.")
    _check_tile(tile)
    _check_threads(threads)
    shape = register_tile_shape(chosen.get("register_tile"))
    chosen |= {} if shape is None else {"register_tile": shape}
    for name, value in {**chosen, "tuned": tuned}.items():
        if not isinstance(value, bool) and value is not shape:
            raise OptionError(f"{name} is True or False, not {value!r}.")
    return BuildOptions(tile, threads, contract, overlap, tuned, chosen, device, left)


def register_tile_shape(value: object) -> tuple[int, int] | None:
    """Rows and vector registers per row, where ``value`` gives them; None for True and False. Raises OptionError.

    >>> register_tile_shape((6, 4)), register_tile_shape(True)
    ((6, 4), None)
    """
    if value is None or isinstance(value, bool):
        return None
    if isinstance(value, list | tuple) and len(value) == 2 and all(type(size) is int for size in value):
        rows, vectors = value
        if 1 <= rows <= MOST_TILE_ROWS and 1 <= vectors <= MOST_TILE_VECTORS:
            return rows, vectors
    raise OptionError(
        "register_tile is True, False, or a tile in rows and vector registers per row such as (8, 3), "
        f"at most ({MOST_TILE_ROWS}, {MOST_TILE_VECTORS}), not {value!r}."
    )


def device_options(choice: DeviceOptions | Mapping[str, Any] | None) -> DeviceOptions:
    """The options meant by ``choice``, the fields of ``DeviceOptions`` by name. Raises OptionError.

    >>> device_options({"elements": (2, 2)}).elements
    (2, 2)
    """
    if isinstance(choice, DeviceOptions):
        return choice
    return DeviceOptions(**_checked(choice or {}))


def _checked(given: Mapping[str, Any]) -> dict[str, Any]:
    """``given`` as fields of ``DeviceOptions``; raises OptionError for others."""
    known = {one.name: one.default for one in fields(DeviceOptions)}
    for name, value in given.items():
        if name not in known:
            raise OptionError(f"Unknown device option {name!r}; known: {', '.join(known)}.")
        if not _fits(name, known[name], value):
            raise OptionError(f"The device option {name} is {_wanted(name, known[name])}, not {value!r}.")
    return {name: _immutable(value) for name, value in given.items()}


def _wanted(name: str, default: object) -> str:
    if isinstance(default, bool):
        return "True or False"
    if name in _PER_AXIS:
        return "one to three positive whole numbers, that for x first, such as (4, 2), or None to leave the choice"
    return "a positive whole number" + (", or None to leave the choice" if default is None else "")


def _fits(name: str, default: object, value: object) -> bool:
    if isinstance(default, bool):
        return isinstance(value, bool)
    if name in _PER_AXIS and isinstance(value, Sequence) and not isinstance(value, str):
        return 0 < len(value) <= 3 and all(type(size) is int and size > 0 for size in value)
    return (value is None and default is None) or (name not in _PER_AXIS and type(value) is int and value > 0)


def _immutable(value: object) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _check_contract(contract: object) -> None:
    if contract not in CONTRACTS:
        raise OptionError(f"Unknown contract {contract!r}; known: {', '.join(CONTRACTS)}.")


def _check_tile(tile: object) -> None:
    """Refuse anything but None, False, a size and a sequence of sizes."""
    if tile is None or tile is False:
        return
    sizes = tuple(tile) if isinstance(tile, Sequence) and not isinstance(tile, str) else (tile,)
    if not sizes or not all(map(is_tile_size, sizes)):
        raise OptionError(
            f"Tile sizes are whole numbers such as 32 or (8, 32), or False for no tiles, not {tile!r}."
        )


def _check_threads(threads: object) -> None:
    if threads is not None and not (type(threads) is int and 1 <= threads <= MOST_THREADS):
        raise OptionError(
            f"threads is a whole number from 1 to {MOST_THREADS}, or None for all cores, not {threads!r}."
        )

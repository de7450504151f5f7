"""What makes a program fast, one entry per technique: its name is the keyword that switches it off everywhere.

``pv.compile``, ``pv.compare``, ``%%polyopt --without``, ``pv.ablation``, ``pv.tune`` and the help texts read this
table. A new technique of the mapping is a keyword of ``polyviz.mapping.cpu.make_plan`` that is True unless told
otherwise, and one entry here; ``substitute``, ``private_arrays`` and ``group`` work before there is an order
(``polyviz.api.compiling``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from polyviz.errors import OptionError
from polyviz.model.registry import near

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


@dataclass(frozen=True, slots=True)
class Technique:
    """One technique: ``keyword`` switches it off when it is given the value ``off``.

    ``is_switch`` tells that the keyword is True or False and goes to ``make_plan`` as it is.
    """

    keyword: str
    meaning: str
    off: bool | int = False
    is_switch: bool = True


TECHNIQUES: tuple[Technique, ...] = (
    Technique(
        "tile", "cut loops into tiles, whose data are used again while they are in cache", is_switch=False
    ),
    Technique("register_tile", "keep a tile of sums in vector registers while they grow (target c)"),
    Technique(
        "pack", "copy the operands of register tiles into buffers, in the order in which they are read"
    ),
    Technique("group", "schedule the statements between which a temporary lives as one"),
    Technique(
        "substitute", "put the value of a temporary in its place, where that leaves one statement of a sum"
    ),
    Technique("private_arrays", "give every iteration its own copy of an array that it fills anew"),
    Technique("fuse_passes", "read a matrix once for all the loops that go through it"),
    Technique("strips", "run a parallel loop innermost, a strip at a time, where the loops inside it jump"),
    Technique("array_sums", "let every thread add into its own copy of a small array"),
    Technique("accumulate", "keep the cell that a loop adds to in a register (target c)"),
    Technique("interleave", "run several chains of dependent iterations side by side (target c)"),
    Technique("threads", "share parallel loops between the cores", off=1, is_switch=False),
    Technique("tuned", "use what pv.tune found out about the same loops on this machine", is_switch=False),
)


def techniques() -> dict[str, str]:
    """Every technique that can be switched off, with what it does in one line.

    >>> techniques()["threads"]
    'share parallel loops between the cores'
    """
    return {technique.keyword: technique.meaning for technique in TECHNIQUES}


def switches() -> dict[str, bool]:
    """The techniques that ``make_plan`` switches by True and False, all of them on."""
    return {technique.keyword: True for technique in TECHNIQUES if technique.is_switch}


def switched_off(names: Iterable[str]) -> dict[str, bool | int]:
    """The keywords that switch ``names`` off; hyphens count as underscores. Raises OptionError, in one line.

    >>> switched_off(["register-tile", "threads"])
    {'register_tile': False, 'threads': 1}
    """
    known: Mapping[str, Technique] = {technique.keyword: technique for technique in TECHNIQUES}
    found = {}
    for given in names:
        keyword = str(given).replace("-", "_")
        if keyword not in known:
            hint = near(keyword, known) or f"; there are {', '.join(known)}"
            raise OptionError(f"Unknown technique {given!r}{hint}.")
        found[keyword] = known[keyword].off
    return found

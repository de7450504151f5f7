"""What makes a program fast, one entry per technique: its name is the keyword that switches it off everywhere.

``pv.compile``, ``pv.compare``, ``%%polyopt --without``, ``pv.ablation``, ``pv.tune`` and the help texts read this
table. A new technique of the mapping is a keyword of ``polyviz.mapping.cpu.make_plan`` that is True unless told
otherwise, and one entry here; ``known_sizes``, ``delinearise``, ``extremes``, ``substitute``, ``reroll``,
``join_strips``, ``quotients``, ``small_arrays``, ``private_arrays`` and ``group`` work before there is an order
(``polyviz.api.building``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from polyviz.errors import OptionError
from polyviz.model.registry import near

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Off = bool | int | tuple[int, ...]
"""The value that switches a technique off."""


@dataclass(frozen=True, slots=True)
class Technique:
    """One technique: ``keyword`` switches it off when it is given the value ``off``.

    ``is_switch`` tells that the keyword is True or False and goes to ``make_plan`` as it is; ``on_device`` that it is
    for kernels of blocks and threads and a field of ``DeviceOptions``, which no other technique concerns.
    """

    keyword: str
    meaning: str
    off: Off = False
    is_switch: bool = True
    on_device: bool = False


def _device(keyword: str, meaning: str, off: Off = False) -> Technique:
    return Technique(keyword, f"{meaning} (device)", off, is_switch=False, on_device=True)


TECHNIQUES: tuple[Technique, ...] = (
    Technique(
        "tile", "cut loops into tiles, whose data are used again while they are in cache", is_switch=False
    ),
    Technique("register_tile", "keep a tile of sums in vector registers while they grow (targets c and numba)"),
    Technique(
        "pack", "copy the operands of register tiles into buffers, in the order in which they are read"
    ),
    Technique(
        "even_blocks", "divide the rows and the steps of packed products into blocks of about equal size (target c)"
    ),
    Technique(
        "known_sizes", "compile for the short sizes of a call, whose loops are written out, with numbers in their place"
    ),
    Technique("delinearise", "take an array in one dimension that holds rows, `A[i * m + j]`, as a matrix"),
    Technique("group", "schedule the statements between which a temporary lives as one"),
    Technique("reroll", "take the copies of a statement that was unrolled by hand as one"),
    Technique("join_strips", "take loops that were cut into strips by hand as the loops they were before"),
    Technique("quotients", "count quotients of sizes that bound loops (`n // 3`) once, as sizes of their own"),
    Technique(
        "extremes", "take a condition that keeps the smaller or larger of two values as a minimum or maximum"
    ),
    Technique(
        "substitute", "put the value of a temporary in its place, where one statement reads it"
    ),
    Technique("small_arrays", "write out the short loops over an array of a few cells, which become variables"),
    Technique("private_arrays", "give every iteration its own copy of an array that it fills anew"),
    Technique(
        "fuse_passes",
        "read a matrix once for all the loops that go through it, and update a vector from both ends without a copy",
    ),
    Technique(
        "strips", "run a parallel loop innermost, a strip at a time, where the loops inside it jump or only add up"
    ),
    Technique("array_sums", "let every thread add into its own copy of a small array"),
    Technique("accumulate", "keep the cell that a loop adds to in a register (target c)"),
    Technique(
        "outer_vectors", "run a parallel loop in vector lanes around short loops inside it (target c)"
    ),
    Technique(
        "periodic",
        "take the remainders of periodic subscripts, and decide conditions on the loop, at its ends only",
    ),
    Technique(
        "select",
        "choose between values instead of branching, in vector loops and where iterations run one by one (target c)",
    ),
    Technique(
        "versions", "test subscripts at the ends of an innermost loop instead of in each iteration (target c)"
    ),
    Technique(
        "factor", "take out of a sum the factor that terms have in common, where that saves work (target c)"
    ),
    Technique("reciprocal", "multiply by the reciprocal of a number instead of dividing by it (target c)"),
    Technique("late", "add last, in a sum, what the iteration before has computed (target c)"),
    Technique(
        "once_more", "compute what temporaries hold at the end apart from the loops, not inside (targets c, numba)"
    ),
    Technique(
        "rows_ahead", "ask for rows of a large array some steps before a strip of columns needs them (target c)"
    ),
    Technique("interleave", "run several chains of dependent iterations side by side (target c)"),
    Technique("lift", "keep a row that is swept again and again in stretches side by side (target c)"),
    Technique(
        "row_blocks", "run several rows, or steps over time, of a stencil together, in vector registers (target c)"
    ),
    Technique(
        "panels", "run rows of a recurrence side by side as far as they do not need each other (target c)"
    ),
    Technique(
        "jam", "run several rows of a matrix together, so that what they share is loaded once (target c)"
    ),
    Technique(
        "pipeline", "start a tile as soon as those that it needs are done, not front by front (target c)"
    ),
    Technique("collapse", "share two parallel loops as one, of which the first may be short (target c)"),
    Technique(
        "align", "copy the arrays of a stencil into rows that begin on cache lines, for many steps (target c)"
    ),
    Technique("simd", "run several iterations of a loop in one vector instruction (target c)"),
    Technique("threads", "share parallel loops between the cores", off=1, is_switch=False),
    Technique("tuned", "use what pv.tune found out about the same loops on this machine", is_switch=False),
    _device("stage", "copy what a block reads again, or reads across rows, to shared memory"),
    _device("elements", "compute several cells per thread, in registers", (1, 1)),
    _device("prefetch", "copy the next tile while this one is used"),
    _device("padding", "make rows of tiles longer where banks of shared memory would collide"),
    _device("vectors", "copy 16 bytes at once where addresses allow it"),
    _device("trees", "let threads share a sum and join its parts in a tree"),
)


def techniques() -> dict[str, str]:
    """Every technique that can be switched off, with what it does in one line.

    >>> techniques()["threads"]
    'share parallel loops between the cores'
    """
    return {technique.keyword: technique.meaning for technique in TECHNIQUES}


def techniques_for(*, device: bool) -> tuple[str, ...]:
    """The techniques that can matter for kernels of a device, or for a processor.

    >>> techniques_for(device=True)
    ('stage', 'elements', 'prefetch', 'padding', 'vectors', 'trees')
    """
    return tuple(technique.keyword for technique in TECHNIQUES if technique.on_device == device)


def switches() -> dict[str, bool]:
    """The techniques that ``make_plan`` switches by True and False, all of them on."""
    return {technique.keyword: True for technique in TECHNIQUES if technique.is_switch}


def switched_off(names: Iterable[str]) -> dict[str, Off]:
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

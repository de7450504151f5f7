"""Everything known about a loop nest in one place: the part, its dependences, its loops, its schedules."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from polyviz.analysis import dependences as find_dependences
from polyviz.analysis import instance_counts, parallelism
from polyviz.api.building import choose_schedule, signature_of
from polyviz.api.compiling import named_schedules
from polyviz.api.extracting import part_of
from polyviz.api.reach import out_of_range
from polyviz.errors import PolyvizError
from polyviz.model.display import Displayable
from polyviz.model.exclusion import exclusive
from polyviz.runtime.binding import Binder

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from polyviz.api.building import ScheduleChoice
    from polyviz.api.workbench import Workbench
    from polyviz.editing import Edit
    from polyviz.model.dependences import Dependences, LoopParallelism
    from polyviz.model.device_view import DeviceView
    from polyviz.model.schedule import Schedule
    from polyviz.model.scop import Scop


class LostMoves(NamedTuple):
    """The script of moves that cannot be made here, and why."""

    script: str
    problem: str


@dataclass(slots=True)
class Handiwork:
    """What a person has made of an inspector in its live view so far.

    ``emulated``: by the name of a schedule, the order that was run in the emulator and its kernels with the counts.
    ``lost``: moves that were made in an earlier kernel and could not be made again. ``workbench``: what all live views
    of the inspector show, so that what is asked for in one of them is seen in the others.
    """

    edit: Edit | None = None
    lost: LostMoves | None = None
    workbench: Workbench | None = None
    emulated: dict[str, tuple[Schedule, DeviceView]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, repr=False)
class Inspector(Displayable):
    """What ``inspect`` found; it shows itself in a notebook and prints as text.

    ``loops`` judges every source loop; ``schedules`` holds one value per scheduler that succeeded, ``refusals`` the
    reason of each that did not. ``sizes`` are the parameter values of the arguments, and ``counts`` how often each
    statement runs for them; both are empty without arguments. ``arguments`` and ``namespace`` are those given.
    ``warnings`` say what would go wrong if the loops ran on these arguments.
    ``edit`` and ``schedule`` are what was made by hand in the live view, to go on with in Python.
    """

    scop: Scop
    dependences: Dependences
    loops: tuple[LoopParallelism, ...]
    schedules: Mapping[str, Schedule]
    refusals: Mapping[str, str]
    sizes: Mapping[str, int] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    arguments: tuple[Any, ...] = ()
    namespace: Mapping[str, Any] | None = None
    warnings: tuple[str, ...] = ()
    handiwork: Handiwork = field(default_factory=Handiwork, compare=False)

    @property
    def edit(self) -> Edit | None:
        """The moves made in the live view, as one edit with its history and script; None while there are none."""
        return self.handiwork.edit

    @property
    def schedule(self) -> Schedule | None:
        """The order that these moves lead to, for ``compile``, ``compare`` and ``check``; None while there are none."""
        return None if self.edit is None else self.edit.schedule

    @property
    def element_bytes(self) -> dict[str, int]:
        """The size of an element, in bytes, of every array among the arguments."""
        names = (argument.name for argument in self.scop.arguments)
        sizes = (
            (name, getattr(value, "itemsize", 0)) for name, value in zip(names, self.arguments, strict=False)
        )
        return {name: size for name, size in sizes if size}

    def save(self, path: str | Path) -> None:
        """Write the linked views to a file; one that ends in ``.polyviz.json`` opens in JupyterLab without a kernel."""
        from polyviz.api.workbench import Workbench

        bench = Workbench(self)
        bench.explain_rest(_REASON_SECONDS)
        bench.save(path)


_REASON_SECONDS = 3.0
"""How long reasons may be looked for that nobody has asked for yet."""


@exclusive
def inspect(
    source: object,
    *arguments: Any,
    schedules: Sequence[ScheduleChoice] | Mapping[str, ScheduleChoice] = ("isl", "pluto"),
    namespace: Mapping[str, Any] | None = None,
) -> Inspector:
    """Look at a part, a function or text; with ``arguments``, pictures, examples and counts are those of their sizes.

    Pictures of large sizes are drawn for small ones, and say so. Raises ExtractionError when the loops cannot be
    handled, ArgumentError for arguments that they cannot take.

    >>> import numpy as np
    >>> text = "def f(A):\\n    for i in range(1, A.shape[0]):\\n        A[i] = A[i - 1]"
    >>> inspect(text, np.zeros(100)).counts
    {'S0': 99}
    """
    scop = part_of(source, namespace=namespace)
    binder = Binder(scop, signature_of(source), on_device=True)
    sizes = binder.bind(arguments, {}).parameters if arguments else {}
    found = find_dependences(scop)
    results: dict[str, Schedule] = {}
    refusals: dict[str, str] = {}
    for name, choice in named_schedules(schedules).items():
        try:
            results[name] = choose_schedule(scop, found, choice, {}, sizes)
        except PolyvizError as error:
            refusals[name] = error.message
    counts = instance_counts(scop, sizes) if arguments else {}
    loops = parallelism(scop, found, scop.schedule)
    warnings = out_of_range(scop, arguments, sizes) if arguments else ()
    return Inspector(scop, found, loops, results, refusals, sizes, counts, arguments, namespace, warnings)

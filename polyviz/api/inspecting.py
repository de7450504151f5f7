"""Everything known about a loop nest in one place: the part, its dependences, its loops, its schedules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from polyviz.analysis import dependences as find_dependences
from polyviz.analysis import parallelism
from polyviz.api.extracting import part_of
from polyviz.errors import PolyvizError
from polyviz.model.display import Displayable
from polyviz.model.exclusion import exclusive
from polyviz.scheduling import schedule as find_schedule

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from polyviz.model.dependences import Dependences, LoopParallelism
    from polyviz.model.schedule import Schedule
    from polyviz.model.scop import Scop


@dataclass(frozen=True, slots=True, repr=False)
class Inspector(Displayable):
    """What ``inspect`` found; it shows itself in a notebook and prints as text.

    ``loops`` judges every source loop; ``schedules`` holds one value per scheduler that succeeded, ``refusals`` the
    reason of each that did not.
    """

    scop: Scop
    dependences: Dependences
    loops: tuple[LoopParallelism, ...]
    schedules: Mapping[str, Schedule]
    refusals: Mapping[str, str]


@exclusive
def inspect(
    source: object,
    *arguments: Any,
    schedules: Sequence[str] = ("isl", "pluto"),
    namespace: Mapping[str, Any] | None = None,
) -> Inspector:
    """Look at a part, a function or text; with ``arguments``, their sizes are shown.

    Raises ExtractionError when the loops cannot be handled.
    """
    scop = part_of(source, namespace=namespace)
    found = find_dependences(scop)
    results: dict[str, Schedule] = {}
    refusals: dict[str, str] = {}
    for name in schedules:
        try:
            results[name] = find_schedule(scop, name, dependences=found)
        except PolyvizError as error:
            refusals[name] = error.message
    return Inspector(scop, found, parallelism(scop, found, scop.schedule), results, refusals)

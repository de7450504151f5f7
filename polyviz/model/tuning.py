"""What a search for better options tried, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from polyviz.model.display import Displayable

if TYPE_CHECKING:
    from collections.abc import Mapping

TrialStatus = Literal[
    "accepted", "level", "slower", "same", "wrong", "refused", "failed", "timeout", "crashed"
]
"""``accepted``: verified and clearly faster than the best before (or the defaults themselves); ``level``: no clear
difference; ``same``: the same program as one tried before; the rest as in comparisons."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One candidate: ``options`` are keywords of ``pv.compile``, ``name`` says them in words.

    ``seconds`` is the median of its timed runs, ``speedup`` that against the defaults from paired runs; None where it
    was not timed. ``elapsed`` is the second of the search at which it was decided.
    """

    options: Mapping[str, Any]
    name: str
    status: TrialStatus
    verified: bool | None = None
    seconds: float | None = None
    speedup: float | None = None
    note: str = ""
    elapsed: float = 0.0


@dataclass(frozen=True, slots=True, repr=False)
class Tuning(Displayable):
    """A search: its ``trials`` in order, the first of them the defaults, and why it ``ended``.

    ``remembered`` names the file that later compilations read, empty where nothing was kept.
    """

    name: str
    schedule: str
    target: str
    sizes: Mapping[str, int]
    strategy: str
    trials: tuple[Trial, ...]
    ended: str
    elapsed: float
    interrupted: bool = False
    remembered: str = ""
    notes: tuple[str, ...] = field(default=())

    @property
    def best(self) -> Trial | None:
        """The last accepted trial; None when not even the defaults were measured."""
        accepted = [trial for trial in self.trials if trial.status == "accepted"]
        return accepted[-1] if accepted else None

    @property
    def options(self) -> dict[str, Any]:
        """The keywords of the best trial, for ``pv.compile(…, **tuning.options)``; none where the defaults are best."""
        return {} if self.best is None else dict(self.best.options)

    @property
    def speedup(self) -> float:
        """How many times as fast as the defaults the best trial is; 1.0 where these are best."""
        return 1.0 if self.best is None or self.best.speedup is None else self.best.speedup

"""Strategies: each looks at what was tried and names the next candidate. One file each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from polyviz.errors import OptionError
from polyviz.model.registry import near
from polyviz.tuning.strategies.climb import Climb
from polyviz.tuning.strategies.sample import Sample

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyviz.model.tuning import Trial
    from polyviz.tuning.candidates import Candidate, Space


class Strategy(Protocol):
    """A way through the space."""

    def propose(self, space: Space, history: Sequence[Trial]) -> Candidate | None:
        """The next candidate after ``history``, whose first entry is the defaults; None to stop."""


_STRATEGIES: dict[str, type[Climb] | type[Sample]] = {"climb": Climb, "sample": Sample}


def strategies() -> dict[str, str]:
    """Every strategy with its summary.

    >>> list(strategies())
    ['climb', 'sample']
    """
    return {name: (kind.__doc__ or "").splitlines()[0] for name, kind in _STRATEGIES.items()}


def make_strategy(name: str) -> Strategy:
    """The strategy called ``name``; raises OptionError, in one line, for one that does not exist."""
    if name not in _STRATEGIES:
        hint = near(name, _STRATEGIES) or f"; there are {', '.join(_STRATEGIES)}"
        raise OptionError(f"Unknown strategy {name!r}{hint}.")
    return _STRATEGIES[name]()

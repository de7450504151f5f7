"""Neighbours in time, found statement by statement: what isl's own dataflow analysis leaves open is settled here.

For one reference, every certain source statement has a last instance before it, which is a lexicographic maximum. Of two
source statements the one whose last instance is later hides the other. Each of these steps is small and may fail by
itself; what it would have hidden then stays, so the result lies between the neighbours and all ordered pairs, and its
transitive closure is the same. (The last instance per source and the choice among them: Feautrier, *Dataflow analysis
of array and scalar references*, 1991, sections 4 and 5.)
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.model.conflicts import MOST, earlier_touches, without

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from polyviz.model.isl_limits import Allowance


@dataclass(frozen=True, slots=True)
class Sources:
    """Instances to cells by statement: all that count as a source, and those that certainly touch the cell."""

    all: Mapping[str, isl.Map]
    certain: Mapping[str, isl.Map]


@dataclass(slots=True)
class Search:
    """The neighbours before one reference after another; ``exact`` tells whether every step came to its end."""

    times: Mapping[str, isl.Map]
    sources: Sources
    allowance: Allowance
    exact: bool = field(default=True, init=False)

    def before(self, sink: isl.Map) -> list[isl.Map]:
        """The nearest sources before the instances of ``sink``, as relations from source to sink instances."""
        certain = self._touches(sink, self.sources.certain)
        latest = {name: self._latest(name, pairs) for name, pairs in certain.items()}
        known = {name: time for name, time in latest.items() if time is not None}
        candidates = {name: self._instances(name, known[name]) for name in known}
        candidates |= {name: pairs for name, pairs in certain.items() if name not in known}
        for name, pairs in self._touches(sink, self._uncertain()).items():
            candidates[name] = candidates[name].union(pairs) if name in candidates else pairs
        left = (self._not_hidden(name, pairs, known.values()) for name, pairs in candidates.items())
        return [_source_to_sink(pairs) for pairs in left if not pairs.plain_is_empty()]

    def unreached(self, sink: isl.Map) -> isl.Set:
        """The accesses of ``sink``, as ``[instance -> cell]``, that no certain source precedes."""
        return without(sink.wrap(), self._touches(sink, self.sources.certain).values(), self.allowance)

    def _uncertain(self) -> dict[str, isl.Map]:
        certain = self.sources.certain
        return {
            name: cells.subtract(certain[name]) if name in certain else cells
            for name, cells in self.sources.all.items()
        }

    def _touches(self, sink: isl.Map, sources: Mapping[str, isl.Map]) -> dict[str, isl.Map]:
        own = self.times[sink.get_tuple_name(isl.dim_type.in_)]
        found = {
            name: earlier_touches(sink, cells, own, self.times[name]) for name, cells in sources.items()
        }
        return {name: pairs for name, pairs in found.items() if not self._is_empty(pairs)}

    def _is_empty(self, pairs: isl.Map) -> bool:
        return bool(self.allowance.solve(pairs.is_empty, MOST))

    def _latest(self, name: str, pairs: isl.Map) -> isl.Map | None:
        """When the last instance of a source before each access runs."""
        return self._solved(lambda: pairs.apply_range(self.times[name]).lexmax().coalesce())

    def _instances(self, name: str, time: isl.Map) -> isl.Map:
        return time.apply_range(self.times[name].reverse())

    def _not_hidden(self, name: str, pairs: isl.Map, latest: Iterable[isl.Map]) -> isl.Map:
        """What is left of ``pairs`` without those before the latest instance of some certain source."""
        for time in latest:
            left = self._solved(partial(_without_earlier, pairs, self.times[name], time))
            pairs = pairs if left is None else left
        return pairs

    def _solved(self, compute: Callable[[], isl.Map]) -> isl.Map | None:
        result = self.allowance.solve(compute, MOST)
        self.exact = self.exact and result is not None
        return result


def _without_earlier(pairs: isl.Map, times: isl.Map, latest: isl.Map) -> isl.Map:
    hidden = pairs.intersect(latest.lex_gt_map(times))
    return pairs if hidden.is_empty() else pairs.subtract(hidden).coalesce()


def _source_to_sink(pairs: isl.Map) -> isl.Map:
    """``[sink -> cell] -> source`` as ``source -> sink``."""
    return pairs.domain_factor_domain().reverse()

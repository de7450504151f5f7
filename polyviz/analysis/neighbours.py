"""Neighbours in time, found statement by statement: what isl's own dataflow analysis leaves open is settled here.

For one reference, every certain source statement has a last instance before it, which is a lexicographic maximum. Of
two source statements the one whose last instance is later hides the other. Each of these steps is small and may fail
by itself; what it would have hidden then stays, so the result lies between the neighbours and all ordered pairs, and
its transitive closure is the same. (The last instance per source and the choice among them: Feautrier, *Dataflow
analysis of array and scalar references*, 1991, sections 4 and 5.)
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import islpy as isl

from polyviz.analysis.known_answers import known_or, whatever_array
from polyviz.model.isl_limits import with_known_quotients

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping

    from polyviz.analysis.order import Order
    from polyviz.model.isl_limits import Allowance

Result = TypeVar("Result")

_MOST = 200_000
"""Operations for one step."""


@dataclass(frozen=True, slots=True)
class Sources:
    """Instances to cells by statement: all that count as a source, and those that certainly touch the cell."""

    all: Mapping[str, isl.Map]
    certain: Mapping[str, isl.Map]

    def uncertain(self) -> dict[str, isl.Map]:
        """What is not certain."""
        certain = self.certain
        return {
            name: cells.subtract(certain[name]) if name in certain else cells
            for name, cells in self.all.items()
        }


@dataclass(slots=True)
class Search:
    """The neighbours before references; ``exact`` tells whether every step so far came to its end, for which it has
    ``most`` operations."""

    order: Order
    sources: Sources
    allowance: Allowance
    most: int = _MOST
    exact: bool = field(default=True, init=False)

    def before(self, sink: isl.Map) -> list[isl.Map]:
        """The nearest sources before the instances of ``sink``, as relations from source to sink instances."""
        found, exact = known_or(self._asked(sink), lambda: self._searched(sink), lambda answer: answer[1])
        self.exact = self.exact and exact
        return found

    def _asked(self, sink: isl.Map) -> Hashable:
        """What the nearest sources before ``sink`` depend on."""
        accesses = map(whatever_array, ([sink], self.sources.all.values(), self.sources.certain.values()))
        names = (sink.get_tuple_name(isl.dim_type.in_) or "", *self.sources.all)
        return "alone", *accesses, *((name, self.order.times[name]) for name in names)

    def _searched(self, sink: isl.Map) -> tuple[list[isl.Map], bool]:
        """The nearest sources before ``sink``, and whether every step of this search came to its end."""
        before, self.exact = self.exact, True
        found = self._nearest(sink)
        exact, self.exact = self.exact, before
        return found, exact

    def _nearest(self, sink: isl.Map) -> list[isl.Map]:
        certain = self._touches(sink, self.sources.certain)
        uncertain = self._touches(sink, self.sources.uncertain())
        found = {name: self._last(name, pairs) for name, pairs in certain.items()}
        last = {name: pairs for name, pairs in found.items() if pairs is not None}
        candidates = [(name, last.get(name, pairs), name in last) for name, pairs in certain.items()]
        candidates += [(name, pairs, False) for name, pairs in uncertain.items()]
        left = [
            self._not_hidden(
                name, pairs, {other: last[other] for other in last if other != name or not is_last}
            )
            for name, pairs, is_last in candidates
        ]
        return [source_to_sink(pairs) for pairs in left if not pairs.plain_is_empty()]

    def unreached(self, sink: isl.Map) -> isl.Set:
        """The accesses of ``sink``, as ``[instance -> cell]``, that no certain source precedes."""
        accesses = sink.wrap()
        for pairs in self._touches(sink, self.sources.certain).values():
            left = self._solved(partial(_less, accesses, pairs))
            accesses = accesses if left is None else left
        return accesses

    def _touches(self, sink: isl.Map, sources: Mapping[str, isl.Map]) -> dict[str, isl.Map]:
        own = sink.get_tuple_name(isl.dim_type.in_) or ""
        found = {
            name: self._tidy(earlier_touches(sink, cells, self.order.after(own, name)))
            for name, cells in sources.items()
        }
        return {name: pairs for name, pairs in found.items() if not pairs.plain_is_empty()}

    def _tidy(self, pairs: isl.Map) -> isl.Map:
        tidy = self.allowance.solve(pairs.coalesce, _MOST)
        return pairs if tidy is None else tidy

    def _last(self, name: str, pairs: isl.Map) -> isl.Map | None:
        """Of ``pairs`` those with the last instance of the source."""
        clock = self.order.clock(name)
        return self._solved(lambda: pairs.apply_range(clock).lexmax().apply_range(clock.reverse()).coalesce())

    def _not_hidden(self, name: str, pairs: isl.Map, last: Mapping[str, isl.Map]) -> isl.Map:
        """What is left of ``pairs`` without the instances that run before the last one of some other source."""
        for other, latest in last.items():
            left = self._solved(partial(_without_earlier, pairs, latest, self.order.after(other, name)))
            pairs = pairs if left is None else left
        return pairs

    def _solved(self, compute: Callable[[], Result]) -> Result | None:
        result = self.allowance.solve(compute, self.most)
        self.exact = self.exact and result is not None
        return result


def earlier_touches(sink: isl.Map, source: isl.Map, after: isl.Map) -> isl.Map:
    """The accesses of ``sink``, as ``[instance -> cell]``, to the instances of ``source`` that touch the cell before.

    ``sink`` and ``source`` map the instances of one statement each to cells; ``after`` holds the instances in order.

    >>> read, write = isl.Map("{ R[i] -> A[i] : 0 <= i < 9 }"), isl.Map("{ W[i] -> A[i + 1] : 0 <= i < 9 }")
    >>> print(earlier_touches(read, write, isl.Map("{ R[i] -> W[j] : j < i }")))
    { [R[i] -> A[i]] -> W[i' = -1 + i] : 0 < i <= 8 }
    """
    touching = sink.range_map().apply_range(source.reverse())
    return touching.intersect(sink.domain_map().apply_range(after))


def source_to_sink(pairs: isl.Map) -> isl.Map:
    """``[sink -> cell] -> source`` as ``source -> sink``."""
    return pairs.domain_factor_domain().reverse()


def _without_earlier(pairs: isl.Map, latest: isl.Map, after: isl.Map) -> isl.Map:
    earlier = with_known_quotients(latest.apply_range(after))
    left = with_known_quotients(pairs).subtract(earlier)
    return left if left.n_basic_map() <= pairs.n_basic_map() else left.coalesce()


def _less(accesses: isl.Set, pairs: isl.Map) -> isl.Set:
    return with_known_quotients(accesses).subtract(with_known_quotients(pairs.domain())).coalesce()

"""An execution order, asked statement by statement."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.analysis.times import union_of
from polyviz.model.isl_limits import coalesced

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Order:
    """When the instances of each statement run, as maps into one time space; what is derived is computed once."""

    times: Mapping[str, isl.Map]
    parameters: isl.Space
    _after: dict[tuple[str, str], isl.Map] = field(default_factory=dict, compare=False)
    _clocks: dict[str, isl.Map] = field(default_factory=dict, compare=False)
    _opposite: list[Order] = field(default_factory=list, compare=False, repr=False)

    def together(self) -> isl.UnionMap:
        """The times of all statements."""
        return union_of(self.times.values(), self.parameters)

    def backwards(self) -> Order:
        """The opposite order."""
        if not self._opposite:
            self._opposite.append(Order({name: time.neg() for name, time in self.times.items()}, self.parameters))
        return self._opposite[0]

    def after(self, later: str, earlier: str) -> isl.Map:
        """Instances of ``later`` to the instances of ``earlier`` that run before.

        >>> times = {"S": isl.Map("{ S[i] -> [i, 0] }"), "T": isl.Map("{ T[i] -> [i, 1] }")}
        >>> print(Order(times, isl.Space.params_alloc(isl.DEFAULT_CONTEXT, 0)).after("T", "S"))
        { T[i] -> S[i'] : i' <= i }
        """
        key = later, earlier
        if key not in self._after:
            self._after[key] = coalesced(self.times[later].lex_gt_map(self.times[earlier]))
        return self._after[key]

    def clock(self, statement: str) -> isl.Map:
        """The times of one statement without what is the same for all its instances.

        >>> times = {"S": isl.Map("{ S[i] -> [2, i, 0] }")}
        >>> print(Order(times, isl.Space.params_alloc(isl.DEFAULT_CONTEXT, 0)).clock("S"))
        { S[i] -> [i] }
        """
        if statement not in self._clocks:
            self._clocks[statement] = _without_constants(self.times[statement])
        return self._clocks[statement]


def _without_constants(time: isl.Map) -> isl.Map:
    for position in reversed(range(time.dim(isl.dim_type.out))):
        if not time.plain_get_val_if_fixed(isl.dim_type.out, position).is_nan():
            time = time.project_out(isl.dim_type.out, position, 1)
    return time

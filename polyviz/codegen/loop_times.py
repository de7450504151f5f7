"""Which loops of isl's syntax tree run over other values than the schedule gives.

Where statements share a loop of which each takes every other value, isl moves them onto the same values: the loop
variable is the time of some of them only.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import reduce

import islpy as isl

from polyviz.model.isl_limits import SMALL, solved
from polyviz.model.plan import POINTS
from polyviz.transform.tree import kind_of, walk


@dataclass(frozen=True)
class LoopTimes:
    """What was seen while isl wrote loops: at each mark of point loops, the loops around it for the instances below.

    ``handle`` keeps what isl calls alive.
    """

    seen: list[tuple[str, isl.UnionMap]] = field(default_factory=list)
    handle: list[object] = field(default_factory=list)

    def shifted(self, tree: isl.Schedule) -> frozenset[str]:
        """The marks around which some loop does not hold the values that ``tree`` gives."""
        if not self.seen:
            return frozenset()
        times = {
            str(node.mark_get_id().get_name()): node.get_prefix_schedule_union_map()
            for node in walk(tree)
            if kind_of(node) == "mark"
        }
        return frozenset(name for name, loops in self.seen if not _same(loops, times[name]))


def watch_times(build: isl.AstBuild) -> tuple[isl.AstBuild, LoopTimes]:
    """``build``, which from now on tells what its loops run over."""
    times = LoopTimes()

    def at_mark(mark: isl.Id, inside: isl.AstBuild) -> None:
        name = str(mark.get_name())
        if name.partition(":")[0] == POINTS:
            times.seen.append((name, inside.get_schedule()))

    build, handle = build.set_before_each_mark(at_mark)
    times.handle.append(handle)
    return build, times


def _same(loops: isl.UnionMap, times: isl.UnionMap) -> bool:
    """Whether the loops hold the ``times`` of all instances in them; no where isl cannot tell cheaply.

    Fewer loops than times are told apart by their number.
    """
    found, wanted = _flat(loops), _flat(times)
    return _length(found) < _length(wanted) or bool(solved(lambda: found.is_subset(wanted), SMALL))


def _length(times: isl.UnionMap) -> int:
    maps = times.get_map_list()
    return max((int(maps.get_at(place).dim(isl.dim_type.out)) for place in range(maps.n_map())), default=0)


def _flat(times: isl.UnionMap) -> isl.UnionMap:
    """The same in one tuple: isl nests them where it writes the children of a sequence."""
    maps = times.get_map_list()
    flat = (maps.get_at(place).flatten_range() for place in range(maps.n_map()))
    return reduce(isl.UnionMap.union, map(isl.UnionMap.from_map, flat), isl.UnionMap.empty(times.get_space()))

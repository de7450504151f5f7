"""How many iterations of its innermost loop a statement waits for its own values, operand by operand.

``y[i] = x[i] + b * y[i - 1] + c * y[i - 2]`` reads what it computed one iteration before, and two. Each iteration can
begin with everything but the former, so what is done with that decides how long it takes. Values may pass through other
statements on their way (``before = y; y = ...``).
"""

from __future__ import annotations

from functools import partial
from heapq import heappop, heappush
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.model.isl_limits import solved

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyviz.analysis.carried import Constraint
    from polyviz.model.dependences import Dependence, Dependences
    from polyviz.model.scop import Access, Scop, Statement

FARTHEST = 8
"""Iterations after which a value is there in any case."""


def waits_of(scop: Scop, dependences: Dependences, statement: Statement) -> tuple[tuple[Access, int], ...]:
    """For each read of ``statement`` that a value of its own reaches in the same innermost loop, after how many
    iterations the first one does.

    >>> import polyviz as pv
    >>> part = pv.extract('''
    ... def f(x, y):
    ...     for i in range(2, x.shape[0]):
    ...         y[i] = x[i] + 0.5 * y[i - 1] + 0.25 * y[i - 2]
    ... ''')
    >>> found = waits_of(part, pv.dependences(part), part.statements[0])
    >>> [(access.text, count) for access, count in found]
    [('y[i - 1]', 1), ('y[i - 2]', 2)]
    """
    flows = [found for found in dependences.relations if found.kind == "flow"]
    if not statement.iterators or statement.name not in reached(statement.name, flows):
        return ()
    near = [found for found in flows if _share_loops(scop, found, statement)]
    lengths = {id(found): _iterations(found.relation) for found in near}
    sooner = _shortest(statement.name, near, lengths)
    reaching = [found for found in near if found.sink == statement.name and found.source in sooner]
    result = []
    for access in statement.accesses:
        own = [found for found in reaching if found.array == access.array and access.kind == "read"]
        counts = [(sooner[found.source], _iterations(_through(scop, found, access))) for found in own]
        least = min((so_far + count for so_far, count in counts if count is not None), default=FARTHEST + 1)
        if least <= FARTHEST:
            result.append((access, least))
    return tuple(result)


def reached(start: str, flows: Sequence[Dependence | Constraint]) -> set[str]:
    """The statements that values of ``start`` reach, by way of others perhaps; itself only where they come back."""
    found: set[str] = set()
    frontier = [start]
    while frontier:
        name = frontier.pop()
        new = {flow.sink for flow in flows if flow.source == name} - found
        found |= new
        frontier += new
    return found


def _share_loops(scop: Scop, flow: Dependence, statement: Statement) -> bool:
    """Whether both ends of ``flow`` stand in the innermost loop of ``statement``."""
    ends = (scop.statement(name) for name in (flow.source, flow.sink))
    return all((one.iterators, one.loop_spans) == (statement.iterators, statement.loop_spans) for one in ends)


def _iterations(pairs: isl.Map) -> int | None:
    """The smallest number of iterations between instances of ``pairs`` in one run of the innermost loop."""
    if pairs.dim(isl.dim_type.in_) != pairs.dim(isl.dim_type.out):
        return None
    apart = pairs.reset_tuple_id(isl.dim_type.in_).reset_tuple_id(isl.dim_type.out).deltas()
    last = apart.dim(isl.dim_type.set) - 1
    for outer in range(last):
        apart = apart.fix_val(isl.dim_type.set, outer, isl.Val(0))
    if apart.is_empty():
        return None
    first, final = (solved(partial(end, last)) for end in (apart.dim_min_val, apart.dim_max_val))
    for nearest in (first, None if final is None else final.neg()):  # the loop may count down
        if nearest is not None and nearest.is_int() and not nearest.is_neg():
            return int(nearest.to_python())
    return None


def _through(scop: Scop, flow: Dependence, access: Access) -> isl.Map:
    """The pairs of ``flow`` whose value is read by ``access``."""
    source = scop.statement(flow.source)
    written = [one.relation for one in source.accesses if one.kind == "write" and one.array == flow.array]
    if len(written) != 1:
        return flow.relation
    return flow.relation.intersect(written[0].apply_range(access.relation.reverse()))


def _shortest(
    start: str, flows: Sequence[Dependence], lengths: dict[int, int | None]
) -> dict[str, int]:
    """How many iterations a value of ``start`` needs to each statement it reaches."""
    found = {start: 0}
    queue = [(0, start)]
    while queue:
        so_far, name = heappop(queue)
        for flow in flows:
            length = lengths[id(flow)]
            if flow.source != name or length is None or so_far > found[name]:
                continue
            if so_far + length < found.get(flow.sink, FARTHEST + 1):
                found[flow.sink] = so_far + length
                heappush(queue, (found[flow.sink], flow.sink))
    return found

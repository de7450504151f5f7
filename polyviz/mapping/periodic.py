"""Innermost loops over periodic subscripts, and with conditions on their variable, which compiled code runs in
three parts (``polyviz.codegen.periodic``).

``A[(j + 1) % n]`` is ``A[j + 1]`` but where it wraps around, and so is ``A[j + 1 if j < n - 1 else 0]``. A remainder
takes a division, and no vector loads from where either leads; so iterations in which nothing wraps around get plain
subscripts, and those at both ends keep theirs. A loop without others inside that threads share is one, too: each
thread runs its share in vectors, or adds it up in lanes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.analysis.strides import direction, statement_rows
from polyviz.mapping.inside import Insider, is_of_names
from polyviz.model.expression import Binary, Element, Expression, Name, children, walk
from polyviz.model.flat_places import by_numbers
from polyviz.model.plan import PARALLEL, REDUCED, VECTOR, Inside
from polyviz.model.schedule import Decision
from polyviz.transform.tree import bands, is_under_mark, marks_above, statements_under

if TYPE_CHECKING:
    from collections.abc import Iterator

    import islpy as isl

    from polyviz.analysis.strides import Row
    from polyviz.model.expression import Node
    from polyviz.model.plan import Plan
    from polyviz.model.scop import Scop, Statement


def find_periodic(scop: Scop, plan: Plan, *, serial: bool) -> tuple[Inside, ...]:
    """What the statements in innermost loops of ``plan`` have in them that is simpler but at the ends of these;
    ``serial``: in loops, too, that neither threads nor lanes run."""
    found: dict[str, list[Inside]] = {}
    sums = {one.statement for one in plan.accumulations}
    paths = [path for path, _ in bands(plan.tree)]
    for path, band in bands(plan.tree):
        inside = any(other != path and other[: len(path)] == path for other in paths)
        names = statements_under(band)
        if inside or not _has_parts(band, serial=serial, is_sum=sums.issuperset(names) and plan.target == "c"):
            continue
        rows = band.get_prefix_schedule_multi_union_pw_aff().flat_range_product(band.band_get_partial_schedule())
        for name in names:
            own = statement_rows(rows, scop.statement(name))
            along = direction(own, len(own) - 1)
            parts = _inside(scop, scop.statement(name), along) if along is not None else []
            if parts:
                found[name] = parts
    return tuple(one for parts in found.values() for one in parts)


def _has_parts(band: isl.ScheduleNode, *, serial: bool, is_sum: bool) -> bool:
    """Whether the last loop of ``band``, an innermost one, is written in parts where it has any."""
    marks = [name.partition(":")[0] for name in marks_above(band)]
    if is_under_mark(band, VECTOR):
        return True
    if VECTOR in marks:  # the compiler writes out what is in a vector loop
        return False
    if marks[:1] == [PARALLEL]:
        return bool(band.band_n_member() == 1)
    return is_sum if marks[:1] == [REDUCED] else serial


def _inside(scop: Scop, statement: Statement, along: Row) -> list[Inside]:
    """What is simpler in most iterations of the loop that moves ``along``; elements with a number take no remainder."""
    found: dict[Expression, Inside] = {}
    if Insider(statement, along).is_long():
        lines = [by_numbers(line, scop.arrays) for line in statement.body]
        for written, in_subscript in (pair for line in lines for pair in _of_names(line)):
            known = Insider(statement, along)
            inside = known.inside(written, remainders=in_subscript)
            if inside != written:
                found[written] = Inside(statement.name, written, inside, tuple(dict.fromkeys(known.holds)))
    return list(found.values())


def _of_names(node: Node, *, in_subscript: bool = False) -> Iterator[tuple[Expression, bool]]:
    """The largest parts of ``node`` that are made of iterators, sizes and numbers, and whether they are subscripts."""
    if isinstance(node, Expression) and is_of_names(node):
        yield node, in_subscript
        return
    for child in children(node):
        yield from _of_names(child, in_subscript=in_subscript or isinstance(node, Element))


def periodic_decision(scop: Scop, found: tuple[Inside, ...]) -> Decision:
    """What is said of the loops in parts, by what is ``found`` in their statements."""
    names = tuple(dict.fromkeys(one.statement for one in found))
    arrays = " and ".join(dict.fromkeys(array for one in found if _wraps(one) for array in _arrays(scop, one)))
    iterators = " and ".join(dict.fromkeys(name for one in found if not _wraps(one) for name in _iterators(scop, one)))
    wrapped = (
        f"the loop runs in three parts: subscripts of {arrays} wrap around in the first and the last one only, and "
        "are plain in between"
    )
    decided = f"iterations at the ends of the loop run apart: conditions on {iterators} are decided in between"
    text = "; ".join([wrapped] * bool(arrays) + [decided] * bool(iterators))
    return Decision("periodic", text, names)


def _wraps(one: Inside) -> bool:
    """Whether it is a remainder, or has some."""
    return any(isinstance(part, Binary) and part.operator == "%" for part in walk(one.written))


def _arrays(scop: Scop, one: Inside) -> Iterator[str]:
    """The arrays with subscripts that have it."""
    elements = (part for line in scop.statement(one.statement).body for part in walk(line) if isinstance(part, Element))
    for element in elements:
        if any(part == one.written for place in element.subscripts for part in walk(place)):
            yield element.array


def _iterators(scop: Scop, one: Inside) -> Iterator[str]:
    """The iterators that it depends on."""
    named = {part.name for hold in one.holds for part in walk(hold) if isinstance(part, Name)}
    return (name for name in scop.statement(one.statement).iterators if name in named)

"""How much one parallel region has to do, as a product of loop lengths over the parameters.

Starting threads costs microseconds, on a busy machine far more. The generated code compares this estimate with a
threshold and stays on one thread below it. An upper bound is enough: a triangle counts as its box, a band as wide as
it is at one place.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.analysis.strides import statement_row
from polyviz.model.expression import Binary, Call, Constant, Element, Loop, Name, While, children, walk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from polyviz.analysis.strides import Row
    from polyviz.model.expression import Node
    from polyviz.model.scop import Scop, Statement

_SET = isl.dim_type.set
MOST_PIECES = 2
"""Cases of a length that are told quickly enough to ask for them before a region."""
GUESSED_LENGTH = 10
"""Iterations of a loop inside a statement whose length depends on data: about the entries of a sparse matrix's row."""

FUNCTION_COST = 10
"""A call of ``exp``, ``erf`` and their like takes as long as so many instances of a statement without one."""
OPERATIONS = 6
"""Operators of an instance that take as long as reading and writing what a small one does."""
DIVISION_COST = 7
"""Operators that a division takes the time of, beside its own."""
_DIVISIONS = ("/", "//", "%", "**")
_FUNCTIONS = (
    "exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan arcsin arccos arctan atan2 arctan2 sinh cosh "
    "tanh asinh acosh atanh arcsinh arccosh arctanh hypot cbrt pow power erf erfc gamma lgamma"
)
_SLOW = frozenset(_FUNCTIONS.split())


def region_extents(
    scop: Scop, names: Sequence[str], serial: Sequence[isl.UnionPwAff], *, computes: bool = False
) -> tuple[isl.PwAff, ...]:
    """The lengths of the loops inside one iteration of the ``serial`` rows, for the deepest of the statements.

    An iterator that the serial rows move does not count. Behind the lengths stands as how many instances one of all
    these statements counts, where that is more than one: for the functions they call, and where the region does
    nothing but share a loop, for all that it ``computes``. To add up copies and to wait for one another takes threads
    time of its own, for which vector loops with a few operations more do not pay.
    """
    lengths, cost = _deepest(scop, names, serial, _cost if computes else _calls)
    return _with_cost(lengths, cost)


def _deepest(
    scop: Scop, names: Sequence[str], serial: Sequence[isl.UnionPwAff], cost_of: Callable[[Statement], float]
) -> tuple[tuple[isl.PwAff, ...], int]:
    """The lengths of the loops for the deepest of the statements, and as how many instances one of all these counts."""
    found: list[tuple[tuple[isl.PwAff, ...], float]] = []
    for name in names:
        statement = scop.statement(name)
        rows = [statement_row(row, statement) for row in serial]
        found.append((_extents(scop, statement, _moved(rows, len(statement.iterators))), cost_of(statement)))
    best = max((extents for extents, _ in found), key=_depth_and_size, default=())
    return best, round(sum(cost for extents, cost in found if len(extents) == len(best)))


def _with_cost(lengths: tuple[isl.PwAff, ...], cost: int) -> tuple[isl.PwAff, ...]:
    if not lengths or cost < 2:
        return lengths
    return (*lengths, lengths[0].scale_val(isl.Val(0)).add_constant_val(isl.Val(cost)))


def _depth_and_size(extents: Sequence[isl.PwAff]) -> tuple[int, int, float]:
    """What orders nests by their work: loops, how many of them have no known bound, iterations of the others.

    The border of an array has as many loops as its inside, one of which runs once.
    """
    # Two strides of one loop may give it ends that isl takes for fractions, of which it knows no greatest one.
    longest = [extent.ceil().max_val() for extent in extents]
    known = [value.to_python() for value in longest if value.is_int()]
    return len(longest), len(longest) - len(known), prod(known)


def _cost(statement: Statement) -> float:
    """As how many instances one of ``statement`` counts for all that it computes."""
    parts = [part for node in statement.body for part in _computed(node)]
    operations = [part.operator for part in parts if isinstance(part, Binary)]
    divisions = sum(operator in _DIVISIONS for operator in operations)
    return _calls(statement) + (len(operations) + DIVISION_COST * divisions) / OPERATIONS


def _calls(statement: Statement) -> float:
    """As how many instances one of ``statement`` counts for the functions that it calls."""
    parts = (part for node in statement.body for part in walk(node))
    return FUNCTION_COST * sum(isinstance(part, Call) and part.function.rpartition(".")[2] in _SLOW for part in parts)


def _computed(node: Node) -> Iterator[Node]:
    """``node`` and what is in it but for subscripts, which loops carry along."""
    yield node
    for child in () if isinstance(node, Element) else children(node):
        yield from _computed(child)


def lengths_of(scop: Scop, statement: Statement, positions: Sequence[int]) -> tuple[isl.PwAff, ...]:
    """The lengths of the loops at ``positions`` of ``statement``."""
    return _extents(scop, statement, set(range(len(statement.iterators))) - set(positions))


def tile_row_extents(
    scop: Scop, names: Sequence[str], serial: Sequence[isl.UnionPwAff], size: int
) -> tuple[isl.PwAff, ...]:
    """The same for ``size`` iterations of the last serial row, or for all of them where there are fewer."""
    inside, cost = _deepest(scop, names, serial, _calls)
    whole, _ = _deepest(scop, names, serial[:-1], _calls)
    for place, length in enumerate(whole):
        others = (*whole[:place], *whole[place + 1 :])
        if len(others) == len(inside) and all(map(isl.PwAff.plain_is_equal, others, inside)):
            steps = length.min(isl.PwAff.val_on_domain(length.domain(), isl.Val(size))).coalesce()
            return (*_with_cost(inside, cost), steps)
    return _with_cost(inside, cost)


def rows_of(prefix: isl.MultiUnionPwAff) -> list[isl.UnionPwAff]:
    """The rows of a partial schedule, outermost first."""
    return [prefix.get_at(position) for position in range(prefix.dim(isl.dim_type.out))]


def _moved(rows: Sequence[Row], count: int) -> set[int]:
    """One iterator per serial row: the first it moves that no other row has taken."""
    taken: set[int] = set()
    for row in rows:
        free = [position for position in range(count) if row[position] and position not in taken]
        taken.update(free[:1])
    return taken


def _extents(scop: Scop, statement: Statement, moved: set[int]) -> tuple[isl.PwAff, ...]:
    domain = statement.domain.intersect_params(scop.context)
    lengths = []
    for position in range(len(statement.iterators)):
        if position not in moved:
            length = domain.dim_max(position).sub(domain.dim_min(position)).add_constant_val(isl.Val(1))
            lengths.append(_narrower(domain, position, moved, length.coalesce()))
    inside = max((_lengths_inside(node, domain.params()) for node in statement.body), key=len, default=())
    return (*lengths, *inside)


def _narrower(domain: isl.Set, position: int, moved: set[int], length: isl.PwAff) -> isl.PwAff:
    """How long the loop at ``position`` is at most while those that are ``moved`` stand still, where that is told as
    briefly as its ``length`` from the first to the last value: a band along a diagonal is narrow everywhere."""
    others = [place for place in range(domain.dim(_SET)) if place not in (*moved, position)]
    for place in reversed(others):
        domain = domain.project_out(_SET, place, 1)
    place = position - sum(other < position for other in others)
    if not moved or domain.is_box():
        return length
    values = isl.Map.from_range(domain.reset_tuple_id()).move_dims(isl.dim_type.in_, 0, isl.dim_type.out, 0, place)
    values = values.move_dims(isl.dim_type.in_, place, isl.dim_type.out, 1, values.dim(isl.dim_type.out) - 1)
    here = values.dim_max(0).sub(values.dim_min(0)).add_constant_val(isl.Val(1))
    narrow = isl.Map.from_pw_aff(here).range().dim_max(0).coalesce()
    is_brief = narrow.n_piece() <= max(length.n_piece(), MOST_PIECES)
    return narrow if is_brief and not narrow.is_equal(length) else length


def _lengths_inside(node: Node, context: isl.Set) -> tuple[isl.PwAff, ...]:
    """The lengths of the loops of ``node`` that are inside one another, at the place where most of them are known."""
    deepest = max((_lengths_inside(child, context) for child in children(node)), key=len, default=())
    own = _length(node, context) if isinstance(node, Loop | While) else None
    return deepest if own is None else (own, *deepest)


def _length(loop: Loop | While, context: isl.Set) -> isl.PwAff | None:
    """The length of ``loop``: guessed where it depends on data, the parameter where it runs up to one; else None."""
    if isinstance(loop, While) or any(isinstance(one, Element) for one in (*walk(loop.start), *walk(loop.stop))):
        return isl.PwAff.val_on_domain(context, isl.Val(GUESSED_LENGTH))
    if loop.start != Constant(0) or loop.step != Constant(1) or not isinstance(loop.stop, Name):
        return None
    place = context.find_dim_by_name(isl.dim_type.param, loop.stop.name)
    if place < 0:
        return None
    space = isl.LocalSpace.from_space(context.get_space())
    return isl.PwAff.from_aff(isl.Aff.var_on_domain(space, isl.dim_type.param, place)).intersect_domain(context)

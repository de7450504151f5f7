"""How much one parallel region has to do, as a product of loop lengths over the parameters.

Starting threads costs microseconds, on a busy machine far more. The generated code compares this estimate with a
threshold and stays on one thread below it. An upper bound is enough: a triangle counts as its box.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import islpy as isl

from polyviz.analysis.strides import statement_row
from polyviz.model.expression import Call, Constant, Element, Loop, Name, While, children, walk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyviz.analysis.strides import Row
    from polyviz.model.expression import Node
    from polyviz.model.scop import Scop, Statement

GUESSED_LENGTH = 10
"""Iterations of a loop inside a statement whose length depends on data: about the entries of a sparse matrix's row."""


FUNCTION_COST = 10
"""A call of ``exp``, ``erf`` and their like takes as long as so many instances of a statement without one."""
_FUNCTIONS = (
    "exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan arcsin arccos arctan atan2 arctan2 sinh cosh "
    "tanh asinh acosh atanh arcsinh arccosh arctanh hypot cbrt pow power erf erfc gamma lgamma"
)
_SLOW = frozenset(_FUNCTIONS.split())


def region_extents(
    scop: Scop, names: Sequence[str], serial: Sequence[isl.UnionPwAff]
) -> tuple[isl.PwAff, ...]:
    """The lengths of the loops inside one iteration of the ``serial`` rows, for the deepest of the statements.

    An iterator that the serial rows move does not count. Behind the lengths stands what the functions that these
    statements call make of one instance, where they call any.
    """
    found: list[tuple[tuple[isl.PwAff, ...], int]] = []
    for name in names:
        statement = scop.statement(name)
        rows = [statement_row(row, statement) for row in serial]
        found.append((_extents(scop, statement, _moved(rows, len(statement.iterators))), _calls(statement)))
    best = max((extents for extents, _ in found), key=len, default=())
    calls = sum(count for extents, count in found if len(extents) == len(best))
    if not best or not calls:
        return best
    return (*best, best[0].scale_val(isl.Val(0)).add_constant_val(isl.Val(FUNCTION_COST * calls)))


def _calls(statement: Statement) -> int:
    """How many functions one instance of ``statement`` calls that take long."""
    parts = (part for node in statement.body for part in walk(node))
    return sum(isinstance(part, Call) and part.function.rpartition(".")[2] in _SLOW for part in parts)


def lengths_of(scop: Scop, statement: Statement, positions: Sequence[int]) -> tuple[isl.PwAff, ...]:
    """The lengths of the loops at ``positions`` of ``statement``."""
    return _extents(scop, statement, set(range(len(statement.iterators))) - set(positions))


def tile_row_extents(
    scop: Scop, names: Sequence[str], serial: Sequence[isl.UnionPwAff], size: int
) -> tuple[isl.PwAff, ...]:
    """The same for ``size`` iterations of the last serial row, or for all of them where there are fewer."""
    inside = region_extents(scop, names, serial)
    whole = region_extents(scop, names, serial[:-1])
    for place, length in enumerate(whole):
        others = (*whole[:place], *whole[place + 1 :])
        if len(others) == len(inside) and all(map(isl.PwAff.plain_is_equal, others, inside)):
            return (*inside, length.min(isl.PwAff.val_on_domain(length.domain(), isl.Val(size))).coalesce())
    return inside


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
            lengths.append(length.coalesce())
    inside = max((_lengths_inside(node, domain.params()) for node in statement.body), key=len, default=())
    return (*lengths, *inside)


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

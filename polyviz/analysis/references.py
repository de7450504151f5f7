"""Array references as linear functions: their subscripts, and which of them follow one pattern.

Two references to one array follow one *pattern* when all their subscripts are the same functions of the surrounding
loops, but for the constant of the last one: ``D[i, j]`` and ``D[i, j + 2]``. Source: Reddy, *Polyhedral Compilation
for Domain Specific Languages* (2019), section 5.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.analysis.accesses import all_accesses, restricted
from polyviz.analysis.strides import Row, access_rows
from polyviz.model.isl_callbacks import pieces_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyviz.model.scop import Access, AccessKind, Scop, Statement


@dataclass(frozen=True, slots=True)
class Reference:
    """A reference whose subscripts are known functions.

    ``relation`` maps the instances that exist to cells, ``subscripts`` holds the coefficients of the iterators, one
    row per subscript. References with equal ``pattern`` may share lines for many iterations; those with equal
    ``cell`` touch the same cell in every iteration. Both compare loops by their depth, so statements of one loop nest
    compare; ``label`` is the pattern for people.
    """

    statement: str
    array: str
    kind: AccessKind
    relation: isl.Map
    subscripts: tuple[Row, ...]
    pattern: tuple[str, ...]
    cell: tuple[str, ...]
    label: str


def references(scop: Scop) -> tuple[Reference, ...]:
    r"""The references of ``scop`` in the order of the text; those that are no functions of the loops are left out.

    >>> import polyviz as pv
    >>> part = pv.extract("def f(A, n):\n  for i in range(1, n):\n    A[i, 0] = A[i - 1, 2 * i + 3]")
    >>> [(one.kind, one.label, one.cell) for one in references(part)]
    [('read', 'A[-1 + i, 2i]', ('-1 + loop0', '3 + 2loop0')), ('write', 'A[i, 0]', ('loop0', '0'))]
    """
    found = (_reference(scop, statement, access) for statement, access in all_accesses(scop))
    return tuple(reference for reference in found if reference is not None)


def by_pattern(found: Sequence[Reference]) -> list[tuple[Reference, ...]]:
    """The references apart by array and pattern, in the order of the text."""
    groups: dict[tuple[str, tuple[str, ...]], list[Reference]] = {}
    for reference in found:
        groups.setdefault((reference.array, reference.pattern), []).append(reference)
    return [tuple(group) for group in groups.values()]


def _reference(scop: Scop, statement: Statement, access: Access) -> Reference | None:
    rows = access_rows(access, len(statement.iterators))
    relation = restricted(scop, statement, access)
    if rows is None or relation.is_empty():
        return None
    subscripts = [_function(access.relation, position) for position in range(len(rows))]
    cell = tuple(_by_depth(subscript) for subscript in subscripts)
    without_constant = [*subscripts[:-1], *map(_without_constant, subscripts[-1:])]
    label = ", ".join(map(_text, without_constant))
    return Reference(
        statement.name,
        access.array,
        access.kind,
        relation,
        tuple(rows),
        tuple(_by_depth(subscript) for subscript in without_constant),
        cell,
        f"{access.array}[{label}]" if rows else access.array,
    )


def _function(relation: isl.Map, position: int) -> isl.PwAff:
    return isl.PwMultiAff.from_map(relation).get_pw_aff(position)


def _without_constant(subscript: isl.PwAff) -> isl.PwAff:
    if subscript.n_piece() != 1:
        return subscript
    return isl.PwAff.from_aff(_only_piece(subscript).set_constant_val(isl.Val(0)))


def _only_piece(subscript: isl.PwAff) -> isl.Aff:
    return pieces_of(subscript)[0][1]


def _by_depth(subscript: isl.PwAff) -> str:
    """The function as text that does not tell how deep the nest is or what its loops are called."""
    if subscript.n_piece() != 1:
        return str(subscript)
    named = _only_piece(subscript)
    for position in range(named.dim(isl.dim_type.in_)):
        named = named.set_dim_name(isl.dim_type.in_, position, f"loop{position}")
    return _text(isl.PwAff.from_aff(named))


def _text(subscript: isl.PwAff) -> str:
    found = re.search(r"-> \[\((.*)\)\]", str(_only_piece(subscript)))
    return found.group(1) if found and subscript.n_piece() == 1 else "…"

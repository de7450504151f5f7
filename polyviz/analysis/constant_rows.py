"""Linearised subscripts whose strides are numbers: ``A[512 * i + j]`` with ``0 <= j < 512`` is ``A[i, j]`` in rows.

Such a subscript is affine, so that dependences are known exactly without further ado; but nobody sees that ``i`` and
``j`` walk along two dimensions. Each coefficient and each constant is divided by the strides, and what that gives holds
where isl finds every part but the first within its row.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from itertools import pairwise, product
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.analysis.affine_values import sum_of
from polyviz.model.expression import Constant, Element, walk
from polyviz.model.isl_callbacks import pieces_of
from polyviz.model.linear import linear_terms, written

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from polyviz.model.expression import Expression
    from polyviz.model.linear import Terms
    from polyviz.model.scop import Access, Array, Scop, Statement

_PARAMETER, _IN = isl.dim_type.param, isl.dim_type.in_
SHORTEST_ROW = 16
"""Shorter rows are cells with several values, which lie well as they are."""


@dataclass(frozen=True, slots=True)
class NumberedRows:
    """The ``strides`` of the parts of all subscripts of an array, the largest first and 1 at last."""

    strides: tuple[int, ...]
    scop: Scop
    count: isl.PwAff | None = None

    @property
    def extents(self) -> tuple[Expression, ...]:
        """The extents of the rows."""
        return tuple(Constant(large // small) for large, small in pairwise(self.strides))

    @property
    def sizes(self) -> tuple[isl.PwAff | None, ...]:
        """The extents of all dimensions, as far as they are known."""
        domain = isl.Set.universe(self.scop.context.get_space())
        row = (isl.Val(large // small) for large, small in pairwise(self.strides))
        return (self.count, *(isl.PwAff.val_on_domain(domain, extent) for extent in row))

    def subscripts(self, statement: Statement, subscript: Expression) -> tuple[Expression, ...]:
        """A subscript for each part of ``subscript`` of an element of ``statement``."""
        parts = self.parts(statement, linear_terms(subscript) or {})
        assert parts is not None
        return tuple(map(written, parts))

    def access(self, statement: Statement, access: Access) -> Access:
        """``access`` of ``statement`` in rows."""
        relation = self.relation(statement, access)
        assert relation is not None
        return replace(access, relation=relation)

    def parts(self, statement: Statement, terms: Terms) -> tuple[Terms, ...] | None:
        """The parts of a subscript in ``statement``; None where one may leave its row."""
        if not {name for name in terms if name} <= {*statement.iterators, *(one.name for one in self.scop.parameters)}:
            return None
        known = {name: factor for name, factor in terms.items() if name}
        for constants in _divisions(terms.get("", 0), self.strides):
            found = tuple(
                {**part, "": constant} for part, constant in zip(_divided(known, self.strides), constants, strict=True)
            )
            if self._stays(statement, found):
                return found
        return None

    def _stays(self, statement: Statement, parts: tuple[Terms, ...]) -> bool:
        domain = statement.domain.intersect_params(self.scop.context)
        for part, (large, small) in zip(parts[1:], pairwise(self.strides), strict=True):
            value = isl.PwAff.from_aff(_aff(part, statement)).intersect_domain(domain)
            least, most = value.min_val(), value.max_val()
            if domain.is_empty():
                continue
            if not (least.is_int() and most.is_int() and least.is_nonneg() and most.to_python() < large // small):
                return False
        return True

    def relation(self, statement: Statement, access: Access) -> isl.Map | None:
        """The cells of ``access`` in rows; None where its subscript is no sum with one meaning."""
        terms = _terms(access.relation, statement)
        parts = None if terms is None else self.parts(statement, terms)
        if parts is None:
            return None
        maps = [isl.Map.from_aff(_aff(part, statement)) for part in parts]
        cells = reduce(isl.Map.flat_range_product, maps).intersect_domain(access.relation.domain())
        return cells.set_tuple_name(isl.dim_type.out, access.array)


def numbered_rows(arrays: Iterable[Array], scop: Scop) -> dict[str, NumberedRows]:
    """The rows of numbers of those of ``arrays``, which have one dimension, that hold matrices.

    One that is swept from end to end in strips alone is none: it needs one loop, and no rows.

    >>> from polyviz.frontend import extract
    >>> part = extract("def f(A, n):\\n  for i in range(n):\\n    for j in range(99): A[i * 100 + j] += 1.0")
    >>> numbered_rows(part.arrays, part)["A"].strides
    (100, 1)
    """
    found = ((array.name, _rows(array, scop)) for array in arrays)
    told = {name: rows for name, rows in found if rows is not None}
    matrices: set[str] = set()
    for statement in sorted(scop.statements, key=lambda one: _only_sweeps(one, told)):
        together = {name for name in told if any(elements(name, statement))}
        if not _only_sweeps(statement, told) or together & matrices:
            matrices |= together
    return {name: rows for name, rows in told.items() if name in matrices}


def _only_sweeps(statement: Statement, told: Mapping[str, NumberedRows]) -> bool:
    """Whether ``statement`` goes through the arrays ``told`` from end to end, and has one subscript for all of them."""
    subscripts = {element.subscripts[0] for name in told for element in elements(name, statement)}
    ways = {tuple(sorted((linear_terms(subscript) or {}).items())) for subscript in subscripts}
    return len(ways) < 2 and all(_is_swept(statement, one) for one in statement.accesses if one.array in told)


def _is_swept(statement: Statement, access: Access) -> bool:
    """Whether ``access`` goes through all cells between its first and its last one."""
    cells = access.relation.intersect_domain(statement.domain).range()
    return bool(cells.remove_divs().is_subset(cells))


def _rows(array: Array, scop: Scop) -> NumberedRows | None:
    """The rows of numbers in which all subscripts of ``array`` can be told; None without."""
    strides = _strides(array.name, scop)
    for count in range(len(strides), 1, -1):
        rows = NumberedRows(strides[:count][::-1], scop, _count(array, strides[count - 1]))
        if all(_fit(rows, statement, array.name) for statement in scop.statements):
            return rows
    return None


def _count(array: Array, stride: int) -> isl.PwAff | None:
    """How many times ``stride`` goes into the length of ``array``, which the part makes; None where that is no sum."""
    length = array.extents[0]
    pieces = [] if length is None or array.creation is None else pieces_of(length)
    terms = _terms_of(pieces[0][1], ()) if len(pieces) == 1 else None
    if terms is None or any(factor % stride for factor in terms.values()):
        return None
    return None if length is None else length.scale_down_val(isl.Val(stride))


def _strides(name: str, scop: Scop) -> tuple[int, ...]:
    """One, and the coefficients of names that may be strides of rows, each a multiple of the one before."""
    terms = [linear_terms(element.subscripts[0]) for one in scop.statements for element in elements(name, one)]
    factors = {abs(factor) for found in terms if found for key, factor in found.items() if key}
    strides = [1]
    for factor in sorted(factors):
        if factor >= max(SHORTEST_ROW, 2 * strides[-1]) and factor % strides[-1] == 0:
            strides.append(factor)
    return tuple(strides) if None not in terms else (1,)


def elements(name: str, statement: Statement) -> Iterator[Element]:
    """The elements of the array called ``name`` in ``statement``."""
    nodes = (node for part in statement.body for node in walk(part))
    return (node for node in nodes if isinstance(node, Element) and node.array == name)


def _fit(rows: NumberedRows, statement: Statement, name: str) -> bool:
    subscripts = {element.subscripts[0]: linear_terms(element.subscripts[0]) for element in elements(name, statement)}
    if any(terms is None or rows.parts(statement, terms) is None for terms in subscripts.values()):
        return False
    accesses = (one for one in statement.accesses if one.array == name)
    return all(rows.relation(statement, access) is not None for access in accesses)


def _divided(terms: Terms, strides: tuple[int, ...]) -> list[Terms]:
    """What each stride has of ``terms``: as many times as it goes into a coefficient, rounded."""
    left, parts = dict(terms), []
    for stride in strides:
        times = {name: _rounded(factor, stride) for name, factor in left.items()}
        left = {name: factor - stride * times[name] for name, factor in left.items()}
        parts.append({name: factor for name, factor in times.items() if factor})
    return parts


def _divisions(constant: int, strides: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """The ways in which ``constant`` is divided by the strides, each of its parts rounded down or up."""
    for ups in product((0, 1), repeat=len(strides) - 1):
        left, parts = constant, []
        for stride, up in zip(strides, (*ups, 0), strict=True):
            parts.append(left // stride + up)
            left -= parts[-1] * stride
        yield tuple(parts)


def _rounded(number: int, divisor: int) -> int:
    return (2 * number + divisor) // (2 * divisor)


def _aff(terms: Terms, statement: Statement) -> isl.Aff:
    """``terms`` over the instances of ``statement``."""
    found = sum_of(terms, statement.domain.get_space(), statement.iterators)
    assert found is not None
    return found


def _terms(relation: isl.Map, statement: Statement) -> Terms | None:
    """The subscript that ``relation`` has in one dimension; None where it is no sum with one meaning everywhere."""
    if not relation.is_single_valued():
        return None
    pieces = pieces_of(isl.PwMultiAff.from_map(relation).get_pw_aff(0))
    return _terms_of(pieces[0][1], statement.iterators) if len(pieces) == 1 else None


def _terms_of(value: isl.Aff, iterators: tuple[str, ...]) -> Terms | None:
    if value.dim(isl.dim_type.div) or not value.get_denominator_val().is_one():
        return None
    names = [str(value.get_dim_name(_PARAMETER, place)) for place in range(value.dim(_PARAMETER))]
    factors = [value.get_coefficient_val(_PARAMETER, place) for place in range(len(names))]
    factors += [value.get_coefficient_val(_IN, place) for place in range(len(iterators))]
    terms = dict(zip((*names, *iterators), (int(factor.to_python()) for factor in factors), strict=True))
    return {"": int(value.get_constant_val().to_python()), **{name: one for name, one in terms.items() if one}}

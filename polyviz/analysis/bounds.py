"""Do all subscripts that are affine, or become so with the sizes at hand, stay inside their arrays?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.analysis.accesses import all_accesses, restricted
from polyviz.analysis.delinearisation import in_one_dimension
from polyviz.analysis.scalar_bounds import axes_inside_by_values
from polyviz.analysis.witness import cell_text, fixed, image, smallest_instance
from polyviz.errors import OutOfBoundsError
from polyviz.model.expression import Element, walk
from polyviz.model.linear import linear_terms

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from polyviz.errors import Span
    from polyviz.model.scop import Access, Scop, Starts, Statement

_SET = isl.dim_type.set


def check_bounds(
    scop: Scop, parameter_values: Mapping[str, int], shapes: Mapping[str, tuple[int, ...]]
) -> None:
    """Refuse sizes for which an exact access leaves ``[0, extent)`` of its array.

    ``parameter_values`` has every parameter of the part, ``shapes`` the arrays that are passed. A linearised subscript
    is affine once the strides are numbers. *May* accesses are left to the checks in the generated code. Raises
    ``OutOfBoundsError`` with the first iteration that does it and the access where it stands. What does not depend on
    the sizes is computed once per ``scop``.
    """
    scop = in_one_dimension(scop, parameter_values)
    shapes = {**shapes_made(scop, parameter_values), **shapes}
    touched = _touched_cells(_Identity(scop))
    leaving = {
        name
        for name, shape in shapes.items()
        if name in touched and _leaves(touched[name], parameter_values, shape)
    }
    for statement, access in all_accesses(scop):
        if access.array in leaving and access.exact:
            _refuse_outside(scop, statement, access, parameter_values, shapes[access.array])
    for statement, access in all_accesses(scop):
        if access.is_numbered and access.array in shapes:
            numbered = replace(access, relation=_numbered(access, parameter_values))
            if _leaves(restricted(scop, statement, numbered).range(), parameter_values, shapes[access.array]):
                _refuse_outside(scop, statement, numbered, parameter_values, shapes[access.array])


def access_stays_inside(
    scop: Scop,
    statement: Statement,
    access: Access,
    parameter_values: Mapping[str, int],
    shapes: Mapping[str, tuple[int, ...]],
) -> bool:
    """Whether for these sizes ``access`` stays inside its array in every instance, also where it does not happen.

    Subscripts that depend on data may lead anywhere, so an access with one of those is never sure.

    >>> import polyviz as pv
    >>> part = pv.extract("def f(A, M, n):\\n  for i in range(n):\\n    if M[i] > 0:\\n      A[i] = 0.0")
    >>> [write] = [found for found in all_accesses(part) if found[1].kind == "write"]
    >>> [access_stays_inside(part, *write, {"n": 4}, {"A": (extent,)}) for extent in (3, 4)]
    [False, True]
    """
    shapes = {**shapes_made(scop, parameter_values), **shapes}
    cells = restricted(scop, statement, access).range()
    return access.array in shapes and _stays_inside(cells, parameter_values, shapes[access.array])


def _stays_inside(cells: isl.Set, parameter_values: Mapping[str, int], shape: tuple[int, ...]) -> bool:
    here = fixed(cells, parameter_values)
    if here.is_empty():
        return True
    ends = [(here.dim_min_val(axis), here.dim_max_val(axis)) for axis in range(len(shape))]
    return all(
        low.is_int() and high.is_int() and low.is_nonneg() and high.to_python() < extent
        for (low, high), extent in zip(ends, shape, strict=True)
    )


def shapes_made(scop: Scop, parameter_values: Mapping[str, int]) -> dict[str, tuple[int, ...]]:
    """The shapes of the arrays that the part itself creates."""
    found = {}
    for array in scop.arrays:
        extents = [extent for extent in array.extents if extent is not None]
        if array.creation is not None and len(extents) == array.rank:
            found[array.name] = tuple(extent_value(extent, parameter_values) for extent in extents)
    return found


def extent_value(extent: isl.PwAff, parameter_values: Mapping[str, int]) -> int:
    """The extent of an array for these sizes: 0 where they leave it open, since no loop runs then that uses it."""
    found = isl.Set.from_pw_aff(extent)
    return 0 if fixed(found, parameter_values).is_empty() else _value(found, parameter_values)


def _numbered(access: Access, parameter_values: Mapping[str, int]) -> isl.Map:
    """The cells of ``access``, which is numbered, for these sizes: all of them, or the first and the last one where
    rows of growing length lie one behind the other."""
    assert access.apart is not None
    if access.starts is not None:
        return _ends_of_rows(access.array, access.apart, access.starts, parameter_values)
    digits = [f"d{place}" for place in range(access.apart.dim(isl.dim_type.out))]
    left, subscripts = iter(digits), []
    for strides in access.strides:
        numbers = [prod(_value(factor, parameter_values) for factor in stride) for stride in strides]
        subscripts.append(" + ".join(f"{number} * {next(left)}" for number in numbers))
    cells = isl.Map(f"{{ {access.array}[{', '.join(digits)}] -> {access.array}[{', '.join(subscripts)}] }}")
    return access.apart.apply_range(cells.align_params(access.apart.get_space()))


def _ends_of_rows(
    array: str, apart: isl.Map, starts: Starts, parameter_values: Mapping[str, int]
) -> isl.Map:
    """The first and the last cell of ``array`` that is touched in the rows and places that ``apart`` tells."""
    square, slope = (_value(number, parameter_values) for number in starts)
    touched, cells = fixed(apart.range(), parameter_values), [f"{array}[row, place] -> {array}[cell] : false"]
    for end in () if touched.is_empty() else (touched.lexmin(), touched.lexmax()):
        row, place = (end.dim_max_val(axis).to_python() for axis in range(2))
        cells.append(f"{array}[{row}, {place}] -> {array}[{(square * row * row + slope * row) // 2 + place}]")
    return apart.apply_range(isl.Map(f"{{ {'; '.join(cells)} }}").align_params(apart.get_space()))


def _value(number: isl.Set, parameter_values: Mapping[str, int]) -> int:
    return int(fixed(number, parameter_values).dim_max_val(0).to_python())


def may_leave(scop: Scop) -> frozenset[tuple[str, Span | None]]:
    """The affine accesses that are not exact and may leave their array for sizes that :func:`check_bounds` lets pass.

    Each is told by its statement and where it stands. On every axis the cells of all others lie below the known
    extent, or between cells that exact accesses touch, whether or not they happen.
    """
    return _may_leave(_Identity(scop))


def axes_inside(scop: Scop) -> frozenset[tuple[str, Span | None, int]]:
    """The axes with affine subscripts along which *may* accesses stay inside, told by statement, place, and axis.

    >>> import polyviz as pv
    >>> part = pv.extract("def f(A, B, k):\\n  for i in range(len(A)):\\n    A[i, k[i]] = A[i, 0] + B[i, k[i]]")
    >>> [(name, axis) for name, _, axis in axes_inside(part)]
    [('S0', 0)]
    """
    return _axes_inside(_Identity(scop))


def bounded_by_strides(scop: Scop) -> frozenset[tuple[str, Span | None]]:
    """The places, told in the same way, of linearised subscripts that :func:`check_bounds` looks at."""
    return _bounded_by_strides(_Identity(scop))


@lru_cache(maxsize=64)
def _bounded_by_strides(key: _Identity) -> frozenset[tuple[str, Span | None]]:
    found = [(statement.name, access) for statement, access in all_accesses(key.scop)]
    others = {(name, access.span) for name, access in found if not access.is_numbered}
    return frozenset((name, access.span) for name, access in found if access.span is not None) - others


@lru_cache(maxsize=64)
def _may_leave(key: _Identity) -> frozenset[tuple[str, Span | None]]:
    scop, touched = key.scop, _touched_cells(key)
    found: set[tuple[str, Span | None]] = set()
    for statement in scop.statements:
        leaving = [
            access
            for access in statement.accesses
            if not access.exact and not _stays(scop, statement, access, touched.get(access.array))
        ]
        spans = {*(access.span for access in leaving), *_read_back(statement, leaving)}
        found |= {(statement.name, span) for span in spans}
    return frozenset(found)


@lru_cache(maxsize=64)
def _axes_inside(key: _Identity) -> frozenset[tuple[str, Span | None, int]]:
    scop, touched = key.scop, _touched_cells(key)
    inside: set[tuple[str, Span | None, int]] = set()
    outside: set[tuple[str, Span | None, int]] = set()
    for statement, access in all_accesses(scop):
        if access.exact or access.is_numbered or access.span is None:
            continue
        affine = _affine_axes(statement, access)
        for axis, stays in enumerate(_along_axes(scop, statement, access, touched.get(access.array))):
            # The cells of an access are those it may have: what depends on data is always among them.
            (inside if stays and axis in affine else outside).add((statement.name, access.span, axis))

    def are_inside(array: str, axis: int, values: isl.Set) -> bool:
        known = touched.get(array)
        return _is_inside(values, scop.array(array).extents[axis], None if known is None else _axis(known, axis))

    return frozenset(inside - outside) | axes_inside_by_values(scop, are_inside)


def _affine_axes(statement: Statement, access: Access) -> set[int]:
    """The axes on which all that stands in the place of ``access`` has affine subscripts."""
    nodes = (node for instruction in statement.body for node in walk(instruction))
    here = [node for node in nodes if isinstance(node, Element) and node.span == access.span]
    found = [{axis for axis, one in enumerate(node.subscripts) if linear_terms(one) is not None} for node in here]
    return set.intersection(*found) if found else set()


def _read_back(statement: Statement, leaving: Sequence[Access]) -> set[Span | None]:
    """Where ``statement`` reads an array that one of the accesses ``leaving`` writes, and no access tells of it: what
    an instance reads of what it wrote itself is none, but leads to the same place."""
    told = {access.span for access in statement.accesses}
    written = {access.array for access in leaving if access.kind == "write"}
    nodes = (node for instruction in statement.body for node in walk(instruction))
    elements = [node for node in nodes if isinstance(node, Element) and node.array in written]
    return {element.span for element in elements} - told


def _stays(scop: Scop, statement: Statement, access: Access, touched: isl.Set | None) -> bool:
    return all(_along_axes(scop, statement, access, touched))


def _along_axes(
    scop: Scop, statement: Statement, access: Access, touched: isl.Set | None
) -> Iterator[bool]:
    """Whether ``access`` stays inside its array, axis by axis."""
    cells = restricted(scop, statement, access).range()
    for axis, extent in enumerate(scop.array(access.array).extents):
        yield _is_inside(_axis(cells, axis), extent, None if touched is None else _axis(touched, axis))


def _axis(cells: isl.Set, axis: int) -> isl.Set:
    rest = cells.project_out(_SET, axis + 1, cells.dim(_SET) - axis - 1)
    return rest.project_out(_SET, 0, axis).reset_tuple_id()


def _is_inside(values: isl.Set, extent: isl.PwAff | None, known: isl.Set | None) -> bool:
    """Whether ``values`` are at least 0 or one of those ``known`` to be inside, and below ``extent`` or one of them."""
    high_enough, low_enough = values.lower_bound_val(_SET, 0, isl.Val(0)), isl.Set.empty(values.get_space())
    if extent is not None:
        end = isl.Set.from_pw_aff(extent).reset_tuple_id()
        low_enough = end.lex_gt_set(values).range()
    if known is not None:
        high_enough = high_enough.union(known.lex_le_set(values).range())
        low_enough = low_enough.union(known.lex_ge_set(values).range())
    return bool(values.is_subset(high_enough.intersect(low_enough)))


@dataclass(frozen=True, slots=True, eq=False)
class _Identity:
    """A part as the key of a cache: the same object, because comparing its sets takes longer than the analysis."""

    scop: Scop

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Identity) and other.scop is self.scop

    def __hash__(self) -> int:
        return id(self.scop)


@lru_cache(maxsize=64)
def _touched_cells(key: _Identity) -> Mapping[str, isl.Set]:
    """Per array with subscripts the cells that its exact accesses touch, parametric."""
    touched: dict[str, isl.Set] = {}
    for statement, access in all_accesses(key.scop):
        cells = restricted(key.scop, statement, access).range()
        if access.exact and cells.dim(_SET) > 0:
            touched[access.array] = touched[access.array].union(cells) if access.array in touched else cells
    return {array: cells.coalesce() for array, cells in touched.items()}


def _leaves(cells: isl.Set, parameter_values: Mapping[str, int], shape: tuple[int, ...]) -> bool:
    here = fixed(cells, parameter_values)
    if here.is_empty():
        return False
    return any(
        here.dim_min_val(axis).to_python() < 0 or here.dim_max_val(axis).to_python() >= extent
        for axis, extent in enumerate(shape)
    )


def _refuse_outside(
    scop: Scop,
    statement: Statement,
    access: Access,
    parameter_values: Mapping[str, int],
    shape: tuple[int, ...],
) -> None:
    relation = restricted(scop, statement, access)
    for axis, extent in enumerate(shape):
        outside = fixed(_outside(relation, axis, extent), parameter_values)
        if outside.is_empty():
            continue
        _, instance = smallest_instance(outside)
        cell = cell_text(access.array, image(access.relation, instance, parameter_values))
        raise OutOfBoundsError(
            f"`{access.text}` leaves its array: {_iteration(statement, instance)} {access.kind}s {cell}, "
            f"but axis {axis} of `{access.array}` has {_elements(extent)}.",
            span=access.span or statement.span,
            text=scop.text,
            hint="Change the range of the loop, the subscript or the size of the array.",
        )


def _outside(relation: isl.Map, axis: int, extent: int) -> isl.Set:
    """The instances whose subscript on ``axis`` is negative or not below ``extent``."""
    below = relation.upper_bound_val(isl.dim_type.out, axis, isl.Val(-1))
    above = relation.lower_bound_val(isl.dim_type.out, axis, isl.Val(extent))
    return below.union(above).domain()


def _iteration(statement: Statement, instance: tuple[int, ...]) -> str:
    values = ", ".join(f"{name}={value}" for name, value in zip(statement.iterators, instance, strict=True))
    return f"iteration {values}" if values else "the statement"


def _elements(extent: int) -> str:
    return "1 element" if extent == 1 else f"{extent} elements"

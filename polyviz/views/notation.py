"""isl values as a person writes them: constraints, affine functions, relations and distance vectors."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import islpy as isl

from polyviz.views.instances import integer_points
from polyviz.views.sizes import PARAMETER, SET

INPUT = isl.dim_type.in_
OUTPUT = isl.dim_type.out
# More distances than this are summed up per loop.
LISTED_DISTANCES = 9
_LARGEST_BOX = 400


def constraints(domain: isl.Set, context: isl.Set | None = None) -> str:
    """The condition under which an instance exists, without what ``context`` already says; empty when always.

    >>> constraints(isl.Set("[n] -> { S[i, j] : 0 <= i < n and j = i + 1 }"))
    '0 <= i < n, j = 1 + i'
    """
    if context is not None:
        domain = domain.gist_params(context.align_params(domain.get_space().params()))
    if domain.is_params():
        return _condition(str(domain))
    # As parameters, all dimensions are written in the condition, constant and equal ones too.
    named = _named(domain)
    iterators = [str(named.get_dim_name(SET, axis)) for axis in range(named.dim(SET))]
    shifted = named.move_dims(PARAMETER, named.dim(PARAMETER), SET, 0, named.dim(SET)).params()
    return _condition(str(shifted), iterators)


def _named(domain: isl.Set) -> isl.Set:
    parameters = {domain.get_dim_name(PARAMETER, axis) for axis in range(domain.dim(PARAMETER))}
    for axis in range(domain.dim(SET)):
        name = domain.get_dim_name(SET, axis) if domain.has_dim_name(SET, axis) else None
        if name is None or name in parameters:
            domain = domain.set_dim_name(SET, axis, f"i{axis}")
    return domain


def _condition(text: str, iterators: Sequence[str] = ()) -> str:
    """What stands after the colon; a plain conjunction in the order of the loops."""
    condition = text.partition("{")[2].rpartition("}")[0].partition(":")[2].strip()
    if any(word in condition for word in (" or ", ";", "exists")):
        return condition

    def innermost(part: str) -> int:
        return max((iterators.index(word) for word in re.findall(r"\w+", part) if word in iterators), default=-1)

    return ", ".join(sorted(condition.split(" and "), key=innermost)) if condition else ""


def affine(function: isl.PwAff) -> str:
    """An affine function as text; pieces are joined with their conditions.

    >>> affine(isl.PwAff("[n] -> { S[i, j] -> [(n + i - 2j)] }"))
    'n + i - 2j'
    >>> affine(isl.PwAff("{ S[i] -> [(0)] : i < 5; S[i] -> [(i)] : i >= 5 }"))
    '0 if i <= 4; i if i >= 5'
    """
    found = re.findall(r"\[\(((?:[^\[\]])*)\)\](?: : ([^;}]*))?", str(function))
    if len(found) == 1:
        return str(found[0][0])
    return "; ".join(f"{value} if {condition.strip()}" for value, condition in found) or str(function)


def row_texts(row: isl.UnionPwAff) -> dict[str, str]:
    """The affine function of each statement in one row of a schedule.

    >>> row_texts(isl.UnionPwAff("{ S[i, j] -> [(i + j)]; T[i] -> [(2i)] }"))
    {'S': 'i + j', 'T': '2i'}
    """
    pieces: list[isl.PwAff] = []
    row.foreach_pw_aff(pieces.append)
    return dict(sorted((piece.domain().get_tuple_name() or "", affine(piece)) for piece in pieces))


def relation(dependence: isl.Map, context: isl.Set | None = None) -> str:
    """A relation as ``source → sink`` with its condition.

    >>> relation(isl.Map("[n] -> { S[i] -> T[i, 0] : 0 <= i < n }"))
    'S[i] → T[i, 0] when 0 <= i < n'
    """
    if context is not None:
        dependence = dependence.gist_params(context.align_params(dependence.get_space().params()))
    pieces: list[str] = []
    dependence.coalesce().foreach_basic_map(lambda piece: pieces.append(_arrow(piece)))
    return "; ".join(sorted(pieces)) or "never"


def _arrow(piece: isl.BasicMap) -> str:
    body = str(isl.Map.from_basic_map(piece)).partition("{")[2].rpartition("}")[0].strip()
    arrow, _, condition = body.partition(" : ")
    arrow = re.sub(r"[\w']+ = ([^,\]]+)", r"\1", arrow).replace(" -> ", " → ")
    condition = condition.replace(" and ", ", ") if " or " not in condition else condition
    return f"{arrow} when {condition}" if condition else arrow


def distances(dependence: isl.Map, depth: int) -> tuple[str, ...]:
    """Sink minus source over the ``depth`` outermost loops: every vector if they are few, else bounds per loop.

    >>> distances(isl.Map("[n] -> { S[i, j] -> S[i + 1, j'] : 0 <= i < n and -1 <= j' - j <= 1 }"), 2)
    ('(1, -1)', '(1, 0)', '(1, 1)')
    >>> distances(isl.Map("[n] -> { S[i, j] -> S[i', j'] : 0 <= i < i' < n }"), 2)
    ('(≥1, *)',)
    """
    if depth == 0 or dependence.is_empty():
        return ()
    vectors = _deltas(dependence, depth)
    box = [_bounds(vectors, axis) for axis in range(depth)]
    if _volume(box) <= _LARGEST_BOX:
        listed, _ = integer_points(vectors)
        if len(listed) <= LISTED_DISTANCES:
            return tuple(_vector(str(value) for value in vector) for vector in listed)
    return (_vector(_range(low, high) for low, high in box),)


def _deltas(dependence: isl.Map, depth: int) -> isl.Set:
    for side in (INPUT, OUTPUT):
        dependence = dependence.project_out(side, depth, dependence.dim(side) - depth)
        dependence = dependence.reset_tuple_id(side) if dependence.has_tuple_id(side) else dependence
    return dependence.deltas().project_out_all_params().coalesce()


def _bounds(vectors: isl.Set, axis: int) -> tuple[int | None, int | None]:
    low, high = vectors.dim_min_val(axis), vectors.dim_max_val(axis)
    return (
        low.to_python() if low.is_int() else None,
        high.to_python() if high.is_int() else None,
    )


def _volume(box: Sequence[tuple[int | None, int | None]]) -> float:
    volume = 1.0
    for low, high in box:
        volume *= float("inf") if low is None or high is None else high - low + 1
    return volume


def _range(low: int | None, high: int | None) -> str:
    if low is not None and low == high:
        return str(low)
    if low is None and high is None:
        return "*"
    if high is None:
        return f"≥{low}"
    return f"≤{high}" if low is None else f"{low}..{high}"


def _vector(parts: Iterable[str]) -> str:
    return f"({', '.join(parts)})"

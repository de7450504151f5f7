"""isl values as a person writes them: constraints, affine functions, relations and distance vectors."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.model.isl_text import plain_floor
from polyviz.model.recent import Recent
from polyviz.views.instances import integer_points
from polyviz.views.sizes import PARAMETER, SET

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyviz.model.scop import Scop, Statement

INPUT = isl.dim_type.in_
OUTPUT = isl.dim_type.out
# More distances than this are summed up per loop.
LISTED_DISTANCES = 9
# Nor is what is summed up told in more kinds than these.
_KINDS = 3
_LARGEST_BOX = 400


def constraints(domain: isl.Set, context: isl.Set | None = None) -> str:
    """The condition under which an instance exists, without what ``context`` already says; empty when always.

    >>> constraints(isl.Set("[n] -> { S[i, j] : 0 <= i < n and j = i + 1 }"))
    '0 <= i < n, j = i + 1'
    """
    if context is not None:
        domain = domain.gist_params(context.align_params(domain.get_space().params()))
    if domain.is_params():
        return _condition(str(domain))
    if domain.is_empty():
        return "false"
    named = _named(domain)
    loops = [text for text in _per_loop(named) if text]
    return _as_parameters(named) if any(_is_compound(text) for text in loops) else ", ".join(loops)


def assumptions(scop: Scop) -> str:
    """What holds for the sizes of ``scop``, beyond what is clear: that no array has fewer than 0 rows.

    >>> import polyviz as pv
    >>> source = "for i in range(n):\\n    for j in range(A.shape[0]):\\n        A[j] += B[i]"
    >>> assumptions(pv.extract(source, sizes={"n": 8}))
    'n = 8'
    """
    lengths = {parameter.name for parameter in scop.parameters if parameter.source.kind == "shape"}
    clear = isl.Set.universe(scop.context.get_space())
    for place in range(clear.dim(PARAMETER)):
        if clear.get_dim_name(PARAMETER, place) in lengths:
            clear = clear.lower_bound_val(PARAMETER, place, isl.Val(0, clear.get_ctx()))
    return constraints(scop.context.gist(clear))


def condition_of(statement: Statement, scop: Scop) -> str:
    """When an instance of a statement of ``scop`` exists, as :func:`constraints` says it."""
    known = _CONDITIONS.of(scop, None, dict)
    if statement.name not in known:
        known[statement.name] = constraints(statement.domain, scop.context)
    return known[statement.name]


_CONDITIONS: Recent[dict[str, str]] = Recent(8)


def _per_loop(domain: isl.Set) -> list[str]:
    """The bounds of each loop in terms of the loops around it, as a loop nest would state them."""
    rank = domain.dim(SET)
    # What holds of the outer loops; a projection that is only approximate would be compound, and then is not used.
    known = domain.params()
    outer = stated = isl.Set.universe(domain.get_space())
    texts = []
    for axis in range(rank):
        inner = domain.eliminate(SET, axis + 1, rank - axis - 1)
        bounds = inner.gist(outer).gist_params(known)
        texts.append(_as_parameters(bounds))
        stated = stated.intersect(bounds)
        outer = inner
    # That some instance exists goes without saying; other conditions on the parameters do not.
    return texts if stated.is_equal(domain) else [_as_parameters(known), *texts]


def _is_compound(text: str) -> bool:
    return any(word in text for word in (" or ", ";", "exists"))


def _as_parameters(domain: isl.Set) -> str:
    """The whole condition: as parameters, all dimensions are written there, constant and equal ones too."""
    shifted = (
        domain.move_dims(PARAMETER, domain.dim(PARAMETER), SET, 0, domain.dim(SET))
        if domain.dim(SET)
        else domain
    )
    return _condition(str(shifted))


def _named(domain: isl.Set) -> isl.Set:
    parameters = {domain.get_dim_name(PARAMETER, axis) for axis in range(domain.dim(PARAMETER))}
    for axis in range(domain.dim(SET)):
        name = domain.get_dim_name(SET, axis) if domain.has_dim_name(SET, axis) else None
        if name is None or name in parameters:
            domain = domain.set_dim_name(SET, axis, f"i{axis}")
    return domain


def _condition(text: str) -> str:
    """What stands after the colon, as a list when it is a plain conjunction."""
    condition = text.partition("{")[2].rpartition("}")[0].partition(":")[2].strip()
    condition = constant_last(re.sub(r"\((\w+)\) mod ", r"\1 mod ", condition))
    condition = _half_open(condition)
    return condition if _is_compound(condition) else condition.replace(" and ", ", ")


def _half_open(condition: str) -> str:
    """Bounds as ``range`` has them: the lower one included, the upper one not.

    >>> _half_open("0 < i <= n - 2 and j <= n - m - 1")
    '1 <= i < n - 1 and j < n - m'
    >>> _half_open("0 <= i <= 999")
    '0 <= i < 1000'
    """
    lower = re.sub(
        r"(?<![\w)] [+*-] )(?<![\w.-])(-?\d+) < ", lambda found: f"{int(found[1]) + 1} <= ", condition
    )

    def upper(found: re.Match[str]) -> str:
        less = int(found[2]) - 1
        return f"< {found[1]} - {less}" if less else f"< {found[1]}"

    symbolic = re.sub(r"<= (\w+(?: [+-] \w+)*?) - (\d+)(?= and | or |\)|$)", upper, lower)
    between = r"(<= [A-Za-z_]\w*) <= (-?\d+)(?= and | or |\)|$)"
    return re.sub(between, lambda found: f"{found[1]} < {int(found[2]) + 1}", symbolic)


@lru_cache(maxsize=4096)
def constant_last(text: str) -> str:
    """isl writes ``-2 + n`` and ``floor((n)/2)``; people write ``n - 2`` and ``floor(n/2)``.

    >>> constant_last("1 + i <= j <= -2 + n - m")
    'i + 1 <= j <= n - m - 2'
    """
    pattern = r"(^|[<>=,\[] |\[| and | or )(-?)(\d+) \+ (\w+(?: [+-] \w+)*)(?= [<>=!]|, | and | or |\]|$)"
    return re.sub(pattern, lambda found: f"{found[1]}{found[4]} {found[2] or '+'} {found[3]}", plain_floor(text))


def affine(function: isl.PwAff) -> str:
    """An affine function as text; pieces are joined with their conditions.

    >>> affine(isl.PwAff("[n] -> { S[i, j] -> [(n + i - 2j)] }"))
    'n + i - 2j'
    >>> affine(isl.PwAff("{ S[i] -> [(0)] : i < 5; S[i] -> [(i)] : i >= 5 }"))
    '0 if i <= 4; i if i >= 5'
    """
    found = re.findall(r"\[\(((?:[^\[\]])*)\)\](?: : ([^;}]*))?", str(function))
    if len(found) == 1:
        return constant_last(str(found[0][0]))
    return "; ".join(f"{constant_last(value)} if {condition.strip()}" for value, condition in found) or str(
        function
    )


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
    pieces: list[isl.BasicMap] = []
    dependence.coalesce().foreach_basic_map(pieces.append)
    return "; ".join(sorted(map(_arrow, pieces))) or "never"


def _arrow(piece: isl.BasicMap) -> str:
    body = str(isl.Map.from_basic_map(piece)).partition("{")[2].rpartition("}")[0].strip()
    arrow, _, condition = body.partition(" : ")
    arrow = constant_last(re.sub(r"[\w']+ = ([^,\]]+)", r"\1", arrow)).replace(" -> ", " → ")
    condition = constant_last(condition)
    condition = condition.replace(" and ", ", ") if " or " not in condition else condition
    return f"{arrow} when {condition}" if condition else arrow


def distances(dependence: isl.Map, depth: int, common: int | None = None) -> tuple[str, ...]:
    """Sink minus source over the ``depth`` outermost loops: every vector if they are few, else bounds per loop.

    Of these loops the statements share the ``common`` outermost (by default all); a bar stands before the others.

    >>> distances(isl.Map("[n] -> { S[i, j] -> S[i + 1, j'] : 0 <= i < n and -1 <= j' - j <= 1 }"), 2)
    ('(1, -1)', '(1, 0)', '(1, 1)')
    >>> distances(isl.Map("[n] -> { S[i, j] -> S[i', j'] : 0 <= i < i' < n }"), 2)
    ('(≥1, *)',)
    >>> distances(isl.Map("{ S[t, i] -> T[t + 1, i - 1] }"), 2, common=1)
    ('(1 | -1)',)
    >>> distances(isl.Map("[n] -> { S[i, j] -> S[i', j'] : (i' = i and j' > j) or (i' > i and j' = j) }"), 2)
    ('(0, ≥1)', '(≥1, 0)')
    """
    shared = depth if common is None else common
    if depth == 0 or dependence.is_empty():
        return ()
    vectors = _deltas(dependence, depth)
    box = [_bounds(vectors, axis) for axis in range(depth)]
    if _volume(box) <= _LARGEST_BOX:
        listed, _ = integer_points(vectors)
        if len(listed) <= LISTED_DISTANCES:
            return tuple(_vector([str(value) for value in vector], shared) for vector in listed)
    return _summaries(vectors, shared) or (_vector(_ranges(vectors), shared),)


def _summaries(vectors: isl.Set, shared: int) -> tuple[str, ...]:
    """Bounds per piece, so that one kind of distance does not hide another; nothing where there are many."""
    pieces: list[isl.BasicSet] = []
    vectors.foreach_basic_set(pieces.append)
    if len(pieces) > _KINDS:
        return ()
    return tuple(sorted({_vector(_ranges(isl.Set.from_basic_set(one)), shared) for one in pieces}))


def _ranges(vectors: isl.Set) -> list[str]:
    return [_range(*_bounds(vectors, axis)) for axis in range(vectors.dim(isl.dim_type.set))]


def runs_downwards(distance: str) -> bool:
    """Whether a distance tells of a loop that runs downwards: an earlier iteration never has a larger first value else.

    >>> runs_downwards("(0, -1)"), runs_downwards("(≤-1 | 2)"), runs_downwards("(1, -1)"), runs_downwards("(0 | -1)")
    (True, True, False, False)
    """
    return re.match(r"\((0, )*≤?-", distance) is not None


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


def _vector(parts: Sequence[str], shared: int) -> str:
    inner = f" | {', '.join(parts[shared:])}" if shared < len(parts) else ""
    return f"({', '.join(parts[:shared])}{inner})"

"""Which concrete parameter values a picture is drawn for, and the window of an iteration domain that fits into it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import islpy as isl

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

PARAMETER = isl.dim_type.param
SET = isl.dim_type.set
# Loop extents a reader takes in at a glance, by number of drawn dimensions, and the most that is drawn unclipped.
WANTED = {0: 1, 1: 7, 2: 7, 3: 5}
LARGEST = {0: 1, 1: 40, 2: 24, 3: 9}
CLIPPED = {0: 1, 1: 12, 2: 8, 3: 5}
_EMPTY = 1000.0
"""What an empty domain counts among the distances from what is wanted."""
_SINGLE = 10.0
"""What a loop with one iteration counts there: of blocks that are written by hand, at least two are to be seen."""
_CANDIDATES = (6, 7, 5, 8, 9, 4, 10, 12, 3, 16, 2, 24, 32, 1)


@dataclass(frozen=True, slots=True)
class Window:
    """A finite part of a domain: the bounds kept per dimension and one sentence per dimension that was cut."""

    domain: isl.Set
    cuts: tuple[str, ...]


def parameter_names(domains: Iterable[isl.Set]) -> tuple[str, ...]:
    """The parameters that occur in ``domains``, sorted.

    >>> parameter_names([isl.Set("[n] -> { S[i] : 0 <= i < n }")])
    ('n',)
    """
    names: set[str] = set()
    for domain in domains:
        names.update(str(domain.get_dim_name(PARAMETER, axis)) for axis in range(domain.dim(PARAMETER)))
    return tuple(sorted(names))


def binding(values: Mapping[str, int], context: isl.Context = isl.DEFAULT_CONTEXT) -> isl.Set:
    """The parameter set that holds exactly ``values``.

    >>> print(binding({"n": 4}))
    [n] -> {  : n = 4 }
    """
    space = isl.Space.params_alloc(context, len(values))
    for axis, name in enumerate(values):
        space = space.set_dim_name(PARAMETER, axis, name)
    bound = isl.Set.universe(space)
    for axis, value in enumerate(values.values()):
        bound = bound.fix_val(PARAMETER, axis, isl.Val(value, context))
    return bound


def choose(
    domains: Sequence[isl.Set], context: isl.Set, known: Mapping[str, int] | None = None
) -> dict[str, int]:
    """Parameter values for which every domain is non-empty, if possible, and some 5 to 8 points wide.

    ``known`` values are taken when the domains then fit into a picture; otherwise small ones are chosen that
    satisfy ``context``.

    >>> choose([isl.Set("[n] -> { S[i] : 1 <= i < n }")], isl.Set("[n] -> { : n > 0 }"))
    {'n': 8}
    >>> choose([isl.Set("[lo, hi] -> { S[i] : lo <= i < hi }")], isl.Set("[lo, hi] -> { : }"))
    {'hi': 8, 'lo': 1}
    """
    names = parameter_names(domains)
    if known is not None and set(names) <= set(known):
        given = {name: known[name] for name in names}
        if _fits(domains, binding(given, context.get_ctx())):
            return given
    for candidates in (_at_most(names, known or {}), _alike(names), _apart(names)):
        best = min(
            (values for values in candidates if _allowed(values, context)),
            key=lambda values: _distance(domains, binding(values, context.get_ctx())),
            default=None,
        )
        if best is not None and _distance(domains, binding(best, context.get_ctx())) < _EMPTY:
            return best
    return _sample(names, domains, context)


def _alike(names: Sequence[str]) -> Iterator[dict[str, int]]:
    return (dict.fromkeys(names, candidate) for candidate in _CANDIDATES)


def _at_most(names: Sequence[str], known: Mapping[str, int]) -> Iterator[dict[str, int]]:
    """All alike, but none larger than it is known to be: nobody asked for iterations that there are not."""
    for values in _alike(names):
        yield {name: min(known.get(name, value), value) for name, value in values.items()}


def _apart(names: Sequence[str]) -> Iterator[dict[str, int]]:
    """Values for loops that run from one parameter to another: one of them less."""
    for values in _alike(names):
        yield from ({**values, name: 1} for name in names)


def _allowed(values: Mapping[str, int], context: isl.Set) -> bool:
    return not binding(values, context.get_ctx()).intersect(context).is_empty()


def _sample(names: Sequence[str], domains: Sequence[isl.Set], context: isl.Set) -> dict[str, int]:
    wanted = context
    for domain in domains:
        narrower = wanted.intersect(domain.params())
        wanted = wanted if narrower.is_empty() else narrower
    point = wanted.sample_point()
    if point.is_void():
        return dict.fromkeys(names, _CANDIDATES[0])
    known = {
        point.get_space().get_dim_name(PARAMETER, axis): point.get_coordinate_val(PARAMETER, axis).to_python()
        for axis in range(point.get_space().dim(PARAMETER))
    }
    return {name: known.get(name, 0) for name in names}


def extents(domain: isl.Set) -> list[float]:
    """How many values each dimension takes at most, strides apart; infinity when unbounded, 0 when empty."""
    if domain.is_empty():
        return [0.0] * domain.dim(SET)
    spans = []
    for axis in range(domain.dim(SET)):
        low, high = domain.dim_min_val(axis), domain.dim_max_val(axis)
        finite = low.is_int() and high.is_int()
        spans.append(high.sub(low).to_python() // stride(domain, axis) + 1.0 if finite else float("inf"))
    return spans


def stride(domain: isl.Set, axis: int) -> int:
    """The distance between neighbouring values of a dimension that the constraints tell; at least 1."""
    return max(1, int(domain.get_stride(axis).to_python()))


def _fits(domains: Sequence[isl.Set], values: isl.Set) -> bool:
    for domain in domains:
        spans = extents(domain.intersect_params(values))
        if any(span > LARGEST[min(3, len(spans))] for span in spans):
            return False
    return True


def _distance(domains: Sequence[isl.Set], values: isl.Set) -> float:
    total = 0.0
    for domain in domains:
        spans = extents(domain.intersect_params(values))
        wanted = WANTED[min(3, len(spans))]
        if 0.0 in spans:
            total += _EMPTY
        total += sum(min(abs(span - wanted), 100.0) + (_SINGLE if span == 1.0 else 0.0) for span in spans)
    return total


def clip(domain: isl.Set, iterators: Sequence[str], shown: int | None = None) -> Window:
    """A finite window of a domain without free parameters; ``shown`` is the number of drawn dimensions.

    >>> window = clip(isl.Set("{ S[i, j] : 0 <= i < 1000 and j >= i }"), ("i", "j"))
    >>> window.cuts
    ('first 8 of 1000 values of i', 'first 8 values of j, which has no upper bound')
    """
    size = min(3, domain.dim(SET) if shown is None else shown)
    cuts = []
    for axis, iterator in enumerate(iterators):
        if domain.is_empty():
            break
        low, high = domain.dim_min_val(axis), domain.dim_max_val(axis)
        step = stride(domain, axis)
        count = high.sub(low).to_python() // step + 1 if low.is_int() and high.is_int() else None
        if count is not None and count <= LARGEST[size]:
            continue
        domain, sentence = _cut(domain, axis, CLIPPED[size], step)
        cuts.append(_describe(sentence, iterator, count, CLIPPED[size]))
    return Window(domain, tuple(cuts))


def _cut(domain: isl.Set, axis: int, keep: int, step: int) -> tuple[isl.Set, str]:
    low, high = domain.dim_min_val(axis), domain.dim_max_val(axis)
    context = domain.get_ctx()
    width = isl.Val((keep - 1) * step, context)
    if low.is_int():
        return domain.upper_bound_val(SET, axis, low.add(width)), "first"
    if high.is_int():
        return domain.lower_bound_val(SET, axis, high.sub(width)), "last"
    domain = domain.lower_bound_val(SET, axis, isl.Val(0, context))
    return domain.upper_bound_val(SET, axis, width), "some"


def _describe(end: str, iterator: str, count: int | None, keep: int) -> str:
    if count is not None:
        return f"{end} {keep} of {count} values of {iterator}"
    bound = {"first": "no upper bound", "last": "no lower bound", "some": "no bounds"}[end]
    return f"{end} {keep} values of {iterator}, which has {bound}"

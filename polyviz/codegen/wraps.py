"""Loops in three parts: the iterations in which ``A[(j + 1) % n]`` is ``A[j + 1]``, and those before and behind.

A remainder takes a division, and no vector loads from where it leads; nor from where a condition leads. So most
iterations run with what the plan knows to be simpler there, between those that run as they are written.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING

from polyviz.codegen.bodies import inner_iterators
from polyviz.codegen.loops import For, descendants, instances
from polyviz.model.expression import (
    Binary,
    Call,
    Constant,
    Element,
    Expression,
    Name,
    rebuild,
    substitute,
    walk,
)
from polyviz.model.linear import Terms, added, linear_terms, scaled, written

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from polyviz.model.expression import Instruction, Node
    from polyviz.model.plan import Inside
    from polyviz.model.scop import Scop


@dataclass(frozen=True, slots=True)
class Parts:
    """A loop as it runs: ``inside`` with ``values`` in each statement for what is written there, between iterations in
    which everything is as written; None where there are none of these."""

    first: For | None
    inside: For
    last: For | None
    values: Mapping[str, Mapping[Expression, Expression]]


def parts_of(scop: Scop, loop: For, known: Iterable[Inside]) -> Parts | None:
    """``loop`` in parts, of what is ``known`` of its statements; None where nothing is of use, or it has loops inside.

    >>> import polyviz as pv
    >>> from polyviz.codegen.loops import Instance
    >>> from polyviz.model.plan import Inside
    >>> scop = pv.extract("def f(A, n):\\n    for j in range(n):\\n        A[j] = A[(j - 1) % n]\\n")
    >>> loop = For("j", Constant(0), Name("n"), 1, Instance("S0", (Name("j"),)))
    >>> before = Binary("-", Name("j"), Constant(1))
    >>> parts = parts_of(scop, loop, [Inside("S0", Binary("%", before, Name("n")), before, (before,))])
    >>> parts.inside.start, parts.first.stop == parts.inside.start, parts.last
    (Call(function='min', arguments=(Constant(value=1), Name(name='n'))), True, None)
    """
    if loop.step != 1 or any(isinstance(node, For) for node in descendants(loop.body)):
        return None
    begins: dict[Expression, None] = {}
    ends: dict[Expression, None] = {}
    values: dict[str, dict[Expression, Expression]] = {}
    for one in known:
        borders = _borders(scop, loop, one)
        if borders is not None:
            begins |= dict.fromkeys(borders[0])
            ends |= dict.fromkeys(borders[1])
            values.setdefault(one.statement, {})[one.written] = one.inside
    return _divided(loop, [*begins], [*ends], values) if begins or ends else None


def _divided(
    loop: For, begins: Sequence[Expression], ends: Sequence[Expression], values: dict[str, dict[Expression, Expression]]
) -> Parts:
    begin = _extreme("min", [_extreme("max", [loop.start, *begins]), loop.stop]) if begins else loop.start
    end = _extreme("max", [_extreme("min", [loop.stop, *ends]), begin]) if ends else loop.stop
    alone = replace(loop, vector=False, parallel="")
    return Parts(
        replace(alone, stop=begin) if begins else None,
        replace(loop, start=begin, stop=end),
        replace(alone, start=end) if ends else None,
        values,
    )


def _borders(scop: Scop, loop: For, one: Inside) -> tuple[list[Expression], list[Expression]] | None:
    """From where on, and up to where, ``one`` holds in all its instances in ``loop``; None where that is not known."""
    begins, ends = [], []
    for instance in (node for node in instances(loop.body) if node.statement == one.statement):
        places = dict(zip(scop.statement(one.statement).iterators, instance.arguments, strict=True))
        for hold in one.holds:
            placed = substitute(hold, places)
            terms = linear_terms(placed) if isinstance(placed, Expression) else None
            motion = (terms or {}).get(loop.iterator, 0)
            if terms is None or abs(motion) != 1:
                return None
            rest: Terms = {name: value for name, value in terms.items() if name != loop.iterator}
            if motion == 1:
                begins.append(written(scaled(rest, -1) or {}))
            else:
                ends.append(written({**rest, "": rest.get("", 0) + 1}))
    return (begins, ends) if begins or ends else None


def fixed_remainders(
    scop: Scop, loop: For, bodies: Mapping[str, Sequence[Instruction]]
) -> dict[tuple[str, Expression], Expression]:
    """The remainders in subscripts of the statements in ``loop`` that are the same in all its iterations: what is
    written in a statement, and what that is at its place."""
    found: dict[tuple[str, Expression], Expression] = {}
    several: set[tuple[str, Expression]] = set()
    moving = {loop.iterator, *inner_iterators(scop)}
    for instance in instances(loop.body):
        places = dict(zip(scop.statement(instance.statement).iterators, instance.arguments, strict=True))
        for node in _parts_of_subscripts(bodies[instance.statement]):
            if not isinstance(node, Binary) or (placed := _fixed(substitute(node, places), moving)) is None:
                continue
            key = (instance.statement, node)
            if found.setdefault(key, placed) != placed:
                several.add(key)
    return {key: value for key, value in found.items() if key not in several}


def replaced(node: Node, values: Mapping[Expression, Expression]) -> Node:
    """``node`` with other expressions for those in ``values``."""
    if isinstance(node, Expression) and node in values:
        return values[node]
    return rebuild(node, lambda part: replaced(part, values))


def _parts_of_subscripts(body: Sequence[Instruction]) -> Iterator[Node]:
    for line in body:
        elements = (part for part in walk(line) if isinstance(part, Element))
        yield from (part for element in elements for place in element.subscripts for part in walk(place))


def _fixed(node: Node, moving: set[str]) -> Expression | None:
    """``node`` where it is a remainder of names and numbers, none of them in ``moving``."""
    match node:
        case Binary("%", value, Name(modulus)):
            terms = linear_terms(value)
            is_fixed = terms is not None and moving.isdisjoint({modulus, *terms})
            return Binary("%", written(terms), Name(modulus)) if terms is not None and is_fixed else None
    return None


def _extreme(function: str, values: Iterable[Expression]) -> Expression:
    """The smallest or largest of ``values``; of those that differ by a number only the one that counts is left."""
    left: list[Expression] = []
    for value in values:
        apart = [_difference(value, other) for other in left]
        place = next((place for place, number in enumerate(apart) if number is not None), None)
        if place is None:
            left.append(value)
        elif ((apart[place] or 0) < 0) == (function == "min"):
            left[place] = value
    constant = [value for value in left if isinstance(value, Constant)]
    others = [value for value in left if not isinstance(value, Constant)]
    return reduce(lambda one, other: Call(function, (one, other)), [*constant, *others])


def _difference(one: Expression, other: Expression) -> int | None:
    """By how much ``one`` is greater than ``other``, where that is a number."""
    terms = added(linear_terms(one), scaled(linear_terms(other), -1))
    return None if terms is None or any(value for name, value in terms.items() if name) else terms.get("", 0)

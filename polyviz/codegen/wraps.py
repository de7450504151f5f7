"""Vector loops over periodic subscripts: ``A[(j + 1) % n]`` is ``A[j + 1]`` but in the last iteration.

A remainder takes a division, and no vector loads from where it leads. So the loop runs in three parts: the iterations
in which nothing wraps around, with plain subscripts, between those before and those behind, as they are written.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING

from polyviz.codegen.index import written
from polyviz.codegen.loops import For, descendants, instances
from polyviz.model.expression import Binary, Call, Constant, Element, Expression, Name, Node, rebuild, walk
from polyviz.model.linear import Terms, linear_terms, scaled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from polyviz.codegen.loops import Instance
    from polyviz.model.expression import Instruction


@dataclass(frozen=True, slots=True)
class Wrap:
    """The remainder of ``value``, which moves with a loop one by one, and ``modulus``, which does not."""

    value: Expression
    modulus: str

    @property
    def remainder(self) -> Expression:
        """What the source says."""
        return Binary("%", self.value, Name(self.modulus))


def wraps_in(loop: For, body_of: Callable[[Instance], Sequence[Instruction]]) -> tuple[Wrap, ...]:
    """The periodic subscripts of the statements that are all of ``loop``; empty where there is another loop in it."""
    if loop.step != 1 or any(isinstance(node, For) for node in descendants(loop.body)):
        return ()
    found = (_wrap(part, loop.iterator) for part in _parts_of_subscripts(loop, body_of))
    return tuple(dict.fromkeys(filter(None, found)))


def parts_of(loop: For, wraps: Sequence[Wrap]) -> tuple[For, For, For]:
    """``loop`` up to where no subscript wraps around, the iterations in which none does, and those behind.

    >>> from polyviz.codegen.loops import Instance
    >>> loop = For("j", Constant(0), Name("n"), 1, Instance("S", (Name("j"),)))
    >>> first, inside, last = parts_of(loop, [Wrap(Binary("-", Name("j"), Constant(1)), "n")])
    >>> inside.start, first.stop == inside.start, last.start == inside.stop
    (Call(function='min', arguments=(Constant(value=1), Name(name='n'))), True, True)
    """
    rests = [_rest(linear_terms(wrap.value) or {}, loop.iterator) for wrap in wraps]
    begins = [written(scaled(rest, -1) or {}) for rest in rests]
    ends = [_distance(wrap.modulus, rest) for wrap, rest in zip(wraps, rests, strict=True)]
    begin = _extreme("min", [_extreme("max", [loop.start, *begins]), loop.stop])
    end = _extreme("max", [_extreme("min", [loop.stop, *ends]), begin])
    first = replace(loop, stop=begin, vector=False, parallel="")
    last = replace(loop, start=end, vector=False, parallel="")
    return first, replace(loop, start=begin, stop=end), last


def fixed_remainders(loop: For, body_of: Callable[[Instance], Sequence[Instruction]]) -> tuple[Expression, ...]:
    """The remainders in subscripts of the statements in ``loop`` that are the same in all its iterations."""
    found = (_fixed(part, loop.iterator) for part in _parts_of_subscripts(loop, body_of))
    return tuple(dict.fromkeys(one for one in found if one is not None))


def replaced(node: Node, values: Mapping[Expression, Expression]) -> Node:
    """``node`` with other expressions for those in ``values``."""
    if isinstance(node, Expression) and node in values:
        return values[node]
    return rebuild(node, lambda part: replaced(part, values))


def _parts_of_subscripts(loop: For, body_of: Callable[[Instance], Sequence[Instruction]]) -> Iterator[Node]:
    for one in instances(loop.body):
        for line in body_of(one):
            elements = (part for part in walk(line) if isinstance(part, Element))
            yield from (part for element in elements for place in element.subscripts for part in walk(place))


def _fixed(node: Node, iterator: str) -> Expression | None:
    """``node`` where it is a remainder of names and numbers, none of them ``iterator``."""
    match node:
        case Binary("%", value, Name(modulus)):
            terms = linear_terms(value)
            return node if terms is not None and iterator not in terms and modulus != iterator else None
    return None


def _wrap(node: Node, iterator: str) -> Wrap | None:
    match node:
        case Binary("%", value, Name(modulus)) if (linear_terms(value) or {}).get(iterator) == 1:
            return Wrap(value, modulus) if modulus != iterator else None
    return None


def _rest(terms: Terms, iterator: str) -> Terms:
    return {name: value for name, value in terms.items() if name != iterator}


def _distance(modulus: str, rest: Terms) -> Expression:
    """The value of the iterator at which ``modulus`` is reached."""
    terms = {modulus: 1}
    for name, value in rest.items():
        terms[name] = terms.get(name, 0) - value
    return written(terms)


def _extreme(function: str, values: Iterable[Expression]) -> Expression:
    """The smallest or largest of ``values``; constants are compared now."""
    distinct = list(dict.fromkeys(values))
    numbers = [value.value for value in distinct if isinstance(value, Constant) and isinstance(value.value, int)]
    others = [value for value in distinct if not isinstance(value, Constant)]
    constant = [Constant(min(numbers) if function == "min" else max(numbers))] if numbers else []
    return reduce(lambda left, right: Call(function, (left, right)), [*constant, *others])

"""Sums in which what has to be waited for is added last.

    x + b * before + c * long_before  ->  settled(x + c * long_before) + b * before

The sum of the others is there by the time the value before is; added in the order of the text each further term would
make the next iteration wait as long as an addition takes. ``settled`` keeps compilers from another order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.model.expression import Assign, Binary, Call, Element, Expression, Unary, rebuild, walk

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from polyviz.errors import Span
    from polyviz.model.expression import Instruction, Node

SETTLED = "settled"
"""The function that is called with what is to be added up by itself."""
NEVER = 1 << 30
"""How many iterations ago something was there that no iteration computes."""


def latest_last(instruction: Instruction, waits: Mapping[Span, int]) -> Instruction:
    """``instruction`` with the terms of its sums in the order in which they are there; itself where the sums do not
    wait. ``waits`` tells how many iterations ago the cell that stands somewhere was computed.

    >>> from polyviz.model.expression import Name
    >>> from polyviz.errors import Span
    >>> place = Span(1, 4, 1, 5)
    >>> x, before, other = Name("x"), Element("before", span=place), Name("other")
    >>> late = Assign(Element("y"), Binary("+", Binary("+", x, before), other))
    >>> latest_last(late, {place: 1}).value == Binary("+", Call("settled", (Binary("+", x, other),)), before)
    True
    """
    if not isinstance(instruction, Assign):
        return instruction
    value = _ordered(instruction.value, waits)
    return instruction if value == instruction.value else Assign(instruction.target, value, instruction.operator)


def _ordered(expression: Expression, waits: Mapping[Span, int]) -> Expression:
    def inside(node: Node) -> Node:
        return _ordered(node, waits) if isinstance(node, Expression) else node

    if isinstance(expression, Element):
        return expression
    terms = _terms(expression)
    since = [_since(term, waits) for _, term in terms]
    order = sorted(range(len(terms)), key=lambda place: -since[place])
    first = next((place for place in order if not terms[place][0]), order[0])
    order = [first, *(place for place in order if place != first)]
    if min(since) == NEVER or _latest(order, since) >= _latest(range(len(terms)), since):
        found = rebuild(expression, inside)
        assert isinstance(found, Expression)
        return found
    *others, last = [(terms[place][0], _ordered(terms[place][1], waits)) for place in order]
    return _sum([(False, Call(SETTLED, (_sum(others),))), last])


def _terms(expression: Expression, *, negative: bool = False) -> list[tuple[bool, Expression]]:
    """The terms of a sum, those of sums in parentheses among them; each with whether it is subtracted."""
    match expression:
        case Binary("+" | "-" as operator, left, right):
            other = negative != (operator == "-")
            return [*_terms(left, negative=negative), *_terms(right, negative=other)]
        case Unary("-", operand):
            return _terms(operand, negative=not negative)
    return [(negative, expression)]


def _since(term: Expression, waits: Mapping[Span, int]) -> int:
    """How many iterations ago the latest cell in ``term`` was computed."""
    cells = (part for part in walk(term) if isinstance(part, Element) and part.span is not None)
    return min((waits.get(cell.span, NEVER) for cell in cells if cell.span is not None), default=NEVER)


def _latest(order: Sequence[int], since: Sequence[int]) -> int:
    """How many additions the latest of the terms, added up in ``order``, goes through."""
    count, least = len(order), min(since)
    return max(count - max(position, 1) for position, place in enumerate(order) if since[place] == least)


def _sum(terms: Sequence[tuple[bool, Expression]]) -> Expression:
    negative, found = terms[0]
    if negative:
        found = Unary("-", found)
    for subtracted, term in terms[1:]:
        found = Binary("-" if subtracted else "+", found, term)
    return found

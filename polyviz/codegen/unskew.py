"""Loops over skewed values become loops over the source iterators themselves.

A schedule row ``2*t + i`` scans values from which each statement computes ``i`` again. Moving the loop by ``-2*t`` lets
it run over ``i``: ``for i in range(32*i_tile - 2*t, …)`` around ``B[i][j]``, not ``B[i_skew - 2*t][j_skew - 2*t]``.
The same instances run in the same order; people and compilers both read it more easily.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from polyviz.codegen.index import simplified
from polyviz.codegen.loops import Block, For, If, Instance, LoopNode, descendants, instances
from polyviz.codegen.naming import substituted
from polyviz.model.expression import Binary, Call, Expression
from polyviz.model.linear import Terms, added, linear_terms, scaled, written

if TYPE_CHECKING:
    from collections.abc import Iterator


def unskew(node: LoopNode) -> LoopNode:
    """``node`` with every loop moved to the values of the first statement iterator it carries."""
    match node:
        case Block(children):
            return replace(node, children=tuple(unskew(child) for child in children))
        case If(_, then, otherwise):
            return replace(node, then=unskew(then), otherwise=None if otherwise is None else unskew(otherwise))
        case For():
            moved = _moved(node)
            return replace(moved, body=unskew(moved.body))
    return node


def _moved(loop: For) -> For:
    offset = _offset(loop)
    # The places of tiles that wait for each other have to be counted alike in all rows.
    if not offset or loop.step != 1 or loop.waits:
        return loop
    variable: Terms = {loop.iterator: 1}
    value = written(added(variable, scaled(offset, -1)) or variable)
    return replace(
        loop,
        start=_shifted(loop.start, offset),
        stop=_shifted(loop.stop, offset),
        body=_simplified_loops(substituted(loop.body, {loop.iterator: value})),
    )


def _offset(loop: For) -> Terms | None:
    """What the first statement adds to the loop variable; None when some statement uses the variable as it is."""
    inner = {node.iterator for node in descendants(loop.body) if isinstance(node, For)}
    offsets = list(_offsets(loop, inner))
    if not offsets or any(not offset for offset in offsets):
        return None
    return offsets[0]


def _offsets(loop: For, inner: set[str]) -> Iterator[Terms]:
    for instance in instances(loop.body):
        for argument in instance.arguments:
            terms = linear_terms(argument)
            if terms is None or terms.get(loop.iterator) != 1 or terms.keys() & inner:
                continue
            yield {name: value for name, value in terms.items() if name != loop.iterator and value}


def _shifted(bound: Expression, offset: Terms) -> Expression:
    """``bound + offset``, entering minima and maxima."""
    if isinstance(bound, Call) and bound.function in ("min", "max"):
        return Call(bound.function, tuple(_shifted(argument, offset) for argument in bound.arguments))
    terms = added(linear_terms(bound), offset)
    return Binary("+", bound, written(offset)) if terms is None else written(terms)


def _simplified_loops(node: LoopNode) -> LoopNode:
    match node:
        case Block(children):
            return replace(node, children=tuple(_simplified_loops(child) for child in children))
        case If(condition, then, otherwise):
            other = None if otherwise is None else _simplified_loops(otherwise)
            return If(simplified(condition), _simplified_loops(then), other)
        case Instance(statement, arguments):
            return Instance(statement, tuple(simplified(argument) for argument in arguments))
        case For(_, start, stop, _, body):
            return replace(node, start=simplified(start), stop=simplified(stop), body=_simplified_loops(body))
    return node

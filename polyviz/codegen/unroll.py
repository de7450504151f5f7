"""Unrolled loops: several iterations in a row in the body, and a loop behind it for those that remain."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from polyviz.codegen.loops import Block, For, If, LoopNode, children_of, rewrite
from polyviz.codegen.naming import substituted
from polyviz.model.expression import Binary, Call, Compare, Constant, Expression, Name
from polyviz.model.linear import added, linear_terms, scaled, written

if TYPE_CHECKING:
    from collections.abc import Iterator

WRITTEN_OUT = 64
"""Copies of a body up to which a loop inside vector lanes is written out: lanes go around no more (outer_vectors)."""


def unrolled(node: LoopNode) -> LoopNode:
    """``node`` with every loop that asks for it unrolled, inner ones first.

    >>> from polyviz.codegen.loops import Instance
    >>> loop = For("i", Constant(0), Constant(2), 1, Instance("S", (Name("i"),)), unroll=4)
    >>> [copy.arguments for copy in unrolled(loop).children]
    [(Constant(value=0),), (Constant(value=1),)]
    """
    return rewrite(node, _unrolled)


def written_out(loop: For, most: int = WRITTEN_OUT) -> str:
    """What asks the compiler to write out ``loop``, and the loops in it, as up to ``most`` copies of the innermost
    body; nothing where there may be more. Without being asked, it may keep a loop where vector lanes need its body.

    >>> from polyviz.codegen.loops import Instance
    >>> written_out(For("q", Constant(0), Constant(9), 1, Instance("S", (Name("q"),))))
    '#pragma GCC unroll 9'
    >>> written_out(For("q", Constant(0), Name("n"), 1, Instance("S", (Name("q"),))))
    ''
    """
    count = _iterations(loop.start, loop.stop, loop.step) or 0
    return f"#pragma GCC unroll {count}" if count > 1 and 0 < _copies(loop) <= most else ""


def _copies(node: LoopNode) -> int:
    """How often the innermost body in ``node`` runs at most, 0 where that is no fixed number."""
    inside = [_copies(child) for child in children_of(node)]
    most = 0 if 0 in inside else max(inside, default=1)
    return most * (_iterations(node.start, node.stop, node.step) or 0) if isinstance(node, For) else most


def _unrolled(node: LoopNode) -> LoopNode:
    if not isinstance(node, For) or node.unroll < 2:
        return node
    loop = replace(node, unroll=1)
    longest = _longest(loop)
    exact = _iterations(loop.start, loop.stop, loop.step)
    if not longest or longest > node.unroll:
        main = _main_loop(loop, node.unroll)
        return (
            main
            if exact and exact % node.unroll == 0
            else Block((main, _remaining(loop, node.unroll, exact)))
        )
    copies = Block(tuple(_copy(loop, number) for number in range(longest)))
    return copies if exact == longest else If(_reaches(loop, longest), copies, loop)


def _main_loop(loop: For, factor: int) -> LoopNode:
    """The iterations that come in groups of ``factor``."""
    distance = (factor - 1) * loop.step
    copies = Block(tuple(_copy(replace(loop, start=Name(loop.iterator)), number) for number in range(factor)))
    return replace(
        loop, stop=_advanced(loop.stop, -distance), step=factor * loop.step, body=copies, vector=False
    )


def _remaining(loop: For, factor: int, exact: int | None) -> LoopNode:
    """The iterations behind the last whole group; ``exact`` is the number of all iterations where it is constant."""
    group = factor * loop.step
    if exact is not None:
        return replace(loop, start=_advanced(loop.start, exact // factor * group), parallel="")
    length = _advanced(_difference(loop.stop, loop.start), loop.step - 1)
    groups = Call("max", (Constant(0), Binary("//", length, Constant(group))))
    done = Binary("*", Constant(group), groups)
    start = done if loop.start == Constant(0) else Binary("+", loop.start, done)
    return replace(loop, start=start, parallel="")


def _copy(loop: For, number: int) -> LoopNode:
    """The body of the iteration ``number`` places after the first one."""
    return substituted(loop.body, {loop.iterator: _advanced(loop.start, number * loop.step)})


def _reaches(loop: For, longest: int) -> Expression:
    """Whether the loop has all its iterations; bounds that leave room for them in any case are not asked."""
    last = _advanced(loop.start, (longest - 1) * loop.step)
    open_ends = [stop for stop in _arguments(loop.stop, "min") if not _iterations(last, stop, 1)]
    return Compare(("<",), (last, open_ends[0] if len(open_ends) == 1 else loop.stop))


def _longest(loop: For) -> int | None:
    """The largest number of iterations, where one bound is a constant distance from the other."""
    found = [
        count
        for start in _arguments(loop.start, "max")
        for stop in _arguments(loop.stop, "min")
        for count in [_iterations(start, stop, loop.step)]
        if count is not None
    ]
    return min(found, default=None)


def _iterations(start: Expression, stop: Expression, step: int) -> int | None:
    difference = added(linear_terms(stop), scaled(linear_terms(start), -1))
    if difference is None:
        return None
    length = {name: value for name, value in difference.items() if value}
    return max(0, -(-length.get("", 0) // step)) if set(length) <= {""} else None


def _arguments(bound: Expression, function: str) -> Iterator[Expression]:
    if isinstance(bound, Call) and bound.function == function:
        for argument in bound.arguments:
            yield from _arguments(argument, function)
    else:
        yield bound


def _advanced(value: Expression, distance: int) -> Expression:
    """``value + distance``, entering minima and maxima."""
    if isinstance(value, Call) and value.function in ("min", "max"):
        return Call(value.function, tuple(_advanced(argument, distance) for argument in value.arguments))
    terms = added(linear_terms(value), {"": distance})
    if terms is None:
        return Binary("+", value, Constant(distance)) if distance else value
    return written(terms)


def _difference(last: Expression, first: Expression) -> Expression:
    terms = added(linear_terms(last), scaled(linear_terms(first), -1))
    if terms is None:
        return last if first == Constant(0) else Binary("-", last, first)
    return written(terms)

"""Parallel loops over strips that are as wide as the threads of a call want them, in C.

    const int64_t j_strip = even_strip(n, omp_get_max_threads());
    #pragma omp parallel for schedule(static)
    for (int64_t j_tile = 0; j_tile < n; j_tile += j_strip) {
        for (int64_t i = 0; i < m; i++) {
            for (int64_t j = j_tile; j < min_i64(n, j_tile + j_strip); j++) {

Strips of a constant width leave some threads with one more than others, or with none. Here each gets the same share in
one piece where it fits a cache: rows are read in long stretches, which is what the memory is fast at.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from polyviz.codegen.index import simplified
from polyviz.codegen.loops import Block, For, If, Instance
from polyviz.codegen.regularity import is_regular
from polyviz.model.expression import Binary, Call, Constant, Name, walk

if TYPE_CHECKING:
    from polyviz.codegen.arrays_c import ArrayPrinter
    from polyviz.codegen.expressions_c import CExpressionPrinter
    from polyviz.codegen.loops import LoopNode
    from polyviz.codegen.text import TextBuilder
    from polyviz.model.expression import Expression
    from polyviz.model.plan import Plan
    from polyviz.model.scop import Scop

WHOLE = 16
"""What the widths of ``even_strip`` are multiples of: loops with longer steps begin elsewhere in each strip."""


class StripPrinter:
    """Says how wide the strips of a loop are; ``used`` tells whether any was."""

    def __init__(
        self, scop: Scop, plan: Plan, arrays: ArrayPrinter, printer: CExpressionPrinter, text: TextBuilder
    ) -> None:
        self.scop = scop
        self.marks = plan.even_strips
        self.arrays = arrays
        self.printer = printer
        self.text = text
        self.count = 0

    @property
    def used(self) -> bool:
        """Whether something was printed that asks for the number of threads."""
        return self.count > 0

    def sized(self, loop: For, indent: int) -> For:
        """``loop`` with strips of the width that is printed before it; as it is where its strips have to stay, or where
        threads take them one by one, since some have more to do."""
        if loop.parallel not in self.marks or not is_regular(loop, self.scop):
            return loop
        name = self.arrays.added(f"strip{self.count + 1 if self.count else ''}")
        body = with_width(loop.body, loop, name)
        if body is None:
            return loop
        self.count += 1
        self.printer.helpers.add("even_strip")
        length = self.printer.expression(simplified(Binary("-", loop.stop, loop.start)))
        self.text.add(indent, f"const int64_t {name} = even_strip({length}, omp_get_max_threads());")
        return replace(loop, body=body, width=name)


def with_width(node: LoopNode, strips: For, width: str) -> LoopNode | None:
    """``node`` inside the loop ``strips``, with ``width`` for its step; None where something else is made of the strips
    than loops from where one begins to where it ends, or all of them do.

    Other loops need not be cut in other places: they may go on behind the last strip, or go through several of them.

    >>> end = Call("min", (Name("n"), Binary("+", Name("b"), Constant(256))))
    >>> strips = For("b", Constant(0), Name("n"), 256, For("j", Name("b"), end, 1, Block(())))
    >>> with_width(strips.body, strips, "w").stop == Call("min", (Name("n"), Binary("+", Name("b"), Name("w"))))
    True
    >>> with_width(replace(strips.body, stop=Binary("+", Name("b"), Constant(256))), strips, "w") is None
    True
    """
    return with_end(node, strips, Binary("+", Name(strips.iterator), Name(width)))


def with_end(node: LoopNode, strips: For, end: Expression) -> LoopNode | None:
    """``node`` inside the loop ``strips``, where each of them ends at ``end``; None as for ``with_width``."""
    match node:
        case Block(nodes):
            children = [with_end(child, strips, end) for child in nodes]
            found = tuple(child for child in children if child is not None)
            return replace(node, children=found) if len(found) == len(nodes) else None
        case For():
            body = with_end(node.body, strips, end)
            moves = any(_mentions(bound, strips.iterator) for bound in (node.start, node.stop))
            stop = _stop(node, strips, end) if moves else node.stop
            return None if body is None or stop is None else replace(node, stop=stop, body=body)
        case If(condition, then, None) if not _mentions(condition, strips.iterator):
            inside = with_end(then, strips, end)
            return None if inside is None else replace(node, then=inside)
        case Instance() if not any(_mentions(argument, strips.iterator) for argument in node.arguments):
            return node
    return None


def _stop(loop: For, strips: For, other: Expression) -> Expression | None:
    """Where ``loop``, from the start of a strip to its end or that of all strips, stops if it ends at the ``other``."""
    begin, end = Name(strips.iterator), Binary("+", Name(strips.iterator), Constant(strips.step))
    starts, stops = bound_parts(loop.start, "max"), bound_parts(loop.stop, "min")
    others = (*(part for part in starts if part != begin), *(part for part in stops if part != end))
    is_cut = begin in starts and end in stops and strips.stop in stops and WHOLE % loop.step == 0
    if not is_cut or any(_mentions(part, strips.iterator) for part in others):
        return None
    return _replaced(loop.stop, end, other)


def bound_parts(bound: Expression, function: str) -> tuple[Expression, ...]:
    """What the least (``function`` is ``min``) or greatest (``max``) of is taken for ``bound``, or ``bound`` itself."""
    if not isinstance(bound, Call) or bound.function != function:
        return (bound,)
    return tuple(part for argument in bound.arguments for part in bound_parts(argument, function))


def _replaced(bound: Expression, end: Expression, other: Expression) -> Expression:
    if bound == end:
        return other
    if not isinstance(bound, Call):
        return bound
    return replace(bound, arguments=tuple(_replaced(part, end, other) for part in bound.arguments))


def _mentions(expression: Expression, name: str) -> bool:
    return Name(name) in walk(expression)

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

from polyviz.codegen.index import simplified, written
from polyviz.codegen.loops import Block, For, If, Instance
from polyviz.codegen.regularity import is_regular
from polyviz.model.expression import Binary, Call, Name, walk
from polyviz.model.linear import linear_terms

if TYPE_CHECKING:
    from polyviz.codegen.arrays_c import ArrayPrinter
    from polyviz.codegen.expressions_c import CExpressionPrinter
    from polyviz.codegen.loops import LoopNode
    from polyviz.codegen.text import TextBuilder
    from polyviz.model.expression import Expression
    from polyviz.model.plan import Plan
    from polyviz.model.scop import Scop

NEAR = 32
"""How far a bound may lie from where a strip begins, or from where it ends, to be told for that."""


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
        body = with_width(loop.body, loop.iterator, loop.step, name)
        if body is None:
            return loop
        self.count += 1
        self.printer.helpers.add("even_strip")
        length = self.printer.expression(simplified(Binary("-", loop.stop, loop.start)))
        self.text.add(indent, f"const int64_t {name} = even_strip({length}, omp_get_max_threads());")
        return replace(loop, body=body, width=name)


def with_width(node: LoopNode, strip: str, step: int, width: str) -> LoopNode | None:
    """``node``, in which strips begin at ``strip`` and end ``step`` behind it, with ``width`` for ``step``; None where
    something else is made of them than the bounds of loops.

    >>> from polyviz.model.expression import Constant
    >>> inner = For("j", Name("b"), Binary("+", Name("b"), Constant(256)), 1, Block(()))
    >>> with_width(inner, "b", 256, "w").stop == Binary("+", Name("b"), Name("w"))
    True
    """
    match node:
        case Block(nodes):
            children = [with_width(child, strip, step, width) for child in nodes]
            found = tuple(child for child in children if child is not None)
            return replace(node, children=found) if len(found) == len(nodes) else None
        case For():
            start = _bound(node.start, strip, 0, None)
            stop = _bound(node.stop, strip, step, width)
            body = with_width(node.body, strip, step, width)
            if start is None or stop is None or body is None:
                return None
            return replace(node, start=start, stop=stop, body=body)
        case If(condition, then, None) if not _mentions(condition, strip):
            inside = with_width(then, strip, step, width)
            return None if inside is None else replace(node, then=inside)
        case Instance() if not any(_mentions(argument, strip) for argument in node.arguments):
            return node
    return None


def _bound(bound: Expression, strip: str, from_start: int, width: str | None) -> Expression | None:
    """``bound``, which lies about ``from_start`` behind the start of the strip, with ``width`` for that; None where it
    lies somewhere else."""
    if not _mentions(bound, strip):
        return bound
    if isinstance(bound, Call) and bound.function in ("min", "max"):
        parts = [_bound(part, strip, from_start, width) for part in bound.arguments]
        found = tuple(part for part in parts if part is not None)
        return replace(bound, arguments=found) if len(found) == len(parts) else None
    terms = dict(linear_terms(bound) or {})
    rest = terms.pop("", 0) - from_start
    if terms != {strip: 1} or abs(rest) > NEAR:
        return None  # Loops that move with others besides are longer in some strips than in others.
    return bound if width is None else written({strip: 1, width: 1, "": rest})


def _mentions(expression: Expression, name: str) -> bool:
    return Name(name) in walk(expression)

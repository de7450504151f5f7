"""Innermost loops in two versions, in C: one without tests of subscripts, for where all of them are in range.

    if ((uint64_t)(i * n) < (uint64_t)A_extent0 && (uint64_t)(i * n + m - 1) < (uint64_t)A_extent0) {
        for (int64_t j = 0; j < m; j++) {
            A[i * n + j] = 0.0;
        }
    } else {
        for (int64_t j = 0; j < m; j++) {
            A[checked_index(i * n + j, A_extent0, &failure, 1)] = 0.0;
        }
    }

A subscript that moves by the same number in every iteration is in range throughout if it is at both ends of the loop.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.codegen.bodies import placed_body
from polyviz.codegen.calling import is_checked
from polyviz.codegen.loops import Block, Instance
from polyviz.model.expression import Binary, Constant, Element, Loop, Name, walk

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from polyviz.codegen.arrays_c import ArrayPrinter
    from polyviz.codegen.expressions_c import CExpressionPrinter
    from polyviz.codegen.loops import For, LoopNode
    from polyviz.codegen.text import TextBuilder
    from polyviz.model.expression import Expression, Instruction
    from polyviz.model.plan import Plan
    from polyviz.model.scop import Scop

MOST = 16
"""Comparisons before a loop that its iterations have to win back."""


class VersionPrinter:
    """Knows which loops have a version without tests, and how to find out whether it may run."""

    def __init__(
        self,
        scop: Scop,
        plan: Plan,
        arrays: ArrayPrinter,
        printer: CExpressionPrinter,
        text: TextBuilder,
        loop: Callable[[For, int], None],
    ) -> None:
        self.scop = scop
        self.wanted = plan.two_versions
        self.arrays = arrays
        self.printer = printer
        self.text = text
        self.loop = loop

    def condition(self, loop: For, bodies: Mapping[str, Sequence[Instruction]]) -> str:
        """When all subscripts of the innermost ``loop`` are in range; empty where that is not known before it."""
        if not self.wanted or self.arrays.in_range is not None or loop.collapsed:
            return ""
        tests: dict[str, None] = {}
        for element in self._tested(loop, bodies):
            found = self._tests(element, loop)
            if found is None:
                return ""
            tests |= dict.fromkeys(found)
        return " && ".join(tests) if len(tests) <= MOST else ""

    def _tested(self, loop: For, bodies: Mapping[str, Sequence[Instruction]]) -> list[Element]:
        """The references in ``loop`` whose subscripts are tested; none where it is not innermost."""
        found = []
        for instance in _instances(loop.body) or ():
            if instance.statement not in bodies:
                return []
            statement = self.scop.statement(instance.statement)
            for line in placed_body(statement, bodies[instance.statement], instance.arguments):
                parts = list(walk(line))
                if any(isinstance(part, Loop) for part in parts):
                    return []
                elements = [part for part in parts if isinstance(part, Element)]
                found += [one for one in elements if is_checked(self.scop, one, statement)]
        return found

    def write(self, loop: For, condition: str, indent: int) -> None:
        """Both versions of ``loop``."""
        self.text.add(indent, f"if ({condition}) {{")
        for self.arrays.in_range in (True, False):
            self.loop(loop, indent + 1)
            self.text.add(indent, "} else {" if self.arrays.in_range else "}")
        self.arrays.in_range = None

    def _tests(self, element: Element, loop: For) -> list[str] | None:
        """What holds where the subscripts of ``element`` are in range; None where the ends of ``loop`` do not tell."""
        if element.array not in self.arrays.shaped:
            return None
        last = Binary("-", loop.stop, Constant(1))
        found = []
        for axis, subscript in enumerate(element.subscripts):
            step = _step(subscript, loop.iterator)
            if step is None:
                return None
            extent = self.arrays.tested_extent(element.array, axis)
            for end in (loop.start, last) if step else (loop.start,):
                place = self.printer.expression(_at(subscript, loop.iterator, end))
                found.append(f"(uint64_t)({place}) < (uint64_t){extent}")
        return found


def _instances(node: LoopNode) -> list[Instance] | None:
    """The instances that are all of ``node``; None where there are loops in it, or something is decided or declared."""
    if isinstance(node, Instance):
        return [node]
    if not isinstance(node, Block) or node.declares:
        return None
    inside = [_instances(child) for child in node.children]
    return None if None in inside else [one for found in inside for one in found or ()]


def _at(subscript: Expression, iterator: str, end: Expression) -> Expression:
    """``subscript`` where ``iterator`` is ``end``."""
    match subscript:
        case Binary("+", left, Name(name)) if name == iterator and end == Constant(0):
            return _at(left, iterator, end)
        case Name(name):
            return end if name == iterator else subscript
        case Binary(operator, left, right):
            return Binary(operator, _at(left, iterator, end), _at(right, iterator, end))
    return subscript


def _step(subscript: Expression, iterator: str) -> int | None:
    """By how much ``subscript`` moves from one iteration to the next; None where that is no fixed number.

    >>> _step(Binary("+", Binary("*", Name("i"), Name("n")), Name("j")), "j")
    1
    """
    match subscript:
        case Constant(int()):
            return 0
        case Name(name):
            return int(name == iterator)
        case Binary("+" | "-" | "*" as operator, left, right):
            return _joined(operator, (left, _step(left, iterator)), (right, _step(right, iterator)))
    return None


def _joined(
    operator: str, left: tuple[Expression, int | None], right: tuple[Expression, int | None]
) -> int | None:
    """The step of two operands together, each with its own."""
    (one, first), (other, second) = left, right
    if first is None or second is None:
        return None
    if operator != "*":
        return first + (second if operator == "+" else -second)
    if not first and not second:
        return 0
    for factor, step in ((one, second), (other, first)):
        if isinstance(factor, Constant) and isinstance(factor.value, int):
            return factor.value * step
    return None

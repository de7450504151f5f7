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

A subscript that moves by the same number in every iteration is in range throughout if it is at both ends of the loop,
one that was clamped if the numbers between which it lies are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.codegen.bodies import placed_body
from polyviz.codegen.calling import is_checked
from polyviz.codegen.loops import Block, Instance
from polyviz.codegen.subscript_bounds import bounds_of, written_out_subscripts
from polyviz.codegen.typing import infer
from polyviz.codegen.values_c import SUM
from polyviz.errors import CodegenError
from polyviz.model.expression import Assign, Binary, Constant, Element, Loop, Name, While, walk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from polyviz.codegen.arrays_c import ArrayPrinter
    from polyviz.codegen.dtypes import Type
    from polyviz.codegen.expressions_c import CExpressionPrinter
    from polyviz.codegen.loops import For, LoopNode
    from polyviz.codegen.subscript_bounds import Bounds
    from polyviz.codegen.text import TextBuilder
    from polyviz.model.expression import Expression, Instruction
    from polyviz.model.plan import Plan
    from polyviz.model.scop import Scop, Statement

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
        self.wanted = plan.two_versions and not plan.untested
        self.arrays = arrays
        self.printer = printer
        self.text = text
        self.loop = loop

    def condition(self, loop: For, bodies: Mapping[str, Sequence[Instruction]]) -> str:
        """When all subscripts of the innermost ``loop`` are in range; empty where that is not known before it."""
        if not self.wanted or self.arrays.in_range is not None or loop.collapsed:
            return ""
        tests: dict[str, None] = {}
        fixed = self._fixed(loop, bodies)
        if fixed:  # Where the loop is empty they may not even exist.
            start, stop = (self.printer.value(bound).within(SUM) for bound in (loop.start, loop.stop))
            tests[f"{start} < {stop}"] = None
        for element in self._tested(loop, bodies):
            found = tests_of(self.arrays, self.printer, element, (loop,), fixed)
            if found is None:
                return ""
            tests |= dict.fromkeys(found)
        return " && ".join(tests) if bool(fixed) < len(tests) <= MOST else ""

    def _fixed(self, loop: For, bodies: Mapping[str, Sequence[Instruction]]) -> frozenset[Expression]:
        """The whole numbers in subscripts of ``loop`` that are loaded, and are the same in every iteration."""
        inside = [one for one in _instances(loop.body) or () if one.statement in bodies]
        bodies_here = [
            (one, placed_body(self.scop.statement(one.statement), bodies[one.statement], one.arguments))
            for one in inside
        ]
        nodes = [node for _, body in bodies_here for line in body for node in walk(line)]
        written = {node.target.array for node in nodes if isinstance(node, Assign)}
        found = set()
        for one, body in bodies_here:
            statement = self.scop.statement(one.statement)
            elements = {node for line in body for node in walk(line) if isinstance(node, Element)}
            for element in {part for other in elements for part in _loaded_in(other)}:
                if is_steady(self.scop, self.printer, element, statement, loop.iterator, written):
                    found.add(element)
        return frozenset(found)

    def _tested(self, loop: For, bodies: Mapping[str, Sequence[Instruction]]) -> list[Element]:
        """The references in ``loop`` whose subscripts are tested; none where it is not innermost."""
        found = []
        defined: dict[Expression, Expression] = {}
        for instance in _instances(loop.body) or ():
            if instance.statement not in bodies:
                return []
            statement = self.scop.statement(instance.statement)
            body = placed_body(statement, bodies[instance.statement], instance.arguments)
            if any(isinstance(part, Loop | While) for line in body for part in walk(line)):
                return []
            elements = written_out_subscripts(body, defined)
            found += [written for one, written in elements if is_checked(self.scop, one, statement)]
        return found

    def write(self, loop: For, condition: str, indent: int) -> None:
        """Both versions of ``loop``."""
        self.text.add(indent, f"if ({condition}) {{")
        for self.arrays.in_range in (True, False):
            self.loop(loop, indent + 1)
            self.text.add(indent, "} else {" if self.arrays.in_range else "}")
        self.arrays.in_range = None


def tests_of(
    arrays: ArrayPrinter,
    printer: CExpressionPrinter,
    element: Element,
    loops: Sequence[For | Loop],
    fixed: frozenset[Expression],
) -> list[str] | None:
    """What holds where the subscripts of ``element`` are in range; None where the ends of ``loops`` do not tell."""
    if element.array not in arrays.shaped:
        return None
    found = []
    for axis, subscript in enumerate(element.subscripts):
        extent = arrays.tested_extent(element.array, axis)
        places = _places(subscript, loops, fixed)
        if places is not None:
            found += [f"(uint64_t)({printer.expression(place)}) < (uint64_t){extent}" for place in places]
            continue
        ends = {loop.iterator: (loop.start, _last(loop)) for loop in loops}
        bounds = bounds_of(subscript, ends, fixed, lambda part: _type_of(part, printer))
        if not bounds.known:
            return None
        found += _tests_of_bounds(bounds, printer, extent)
    return found


def _places(
    subscript: Expression, loops: Sequence[For | Loop], fixed: frozenset[Expression]
) -> list[Expression] | None:
    """``subscript`` at the ends of ``loops``; None where it does not move by the same number in every iteration."""
    places = [subscript]
    for loop in loops:
        step = step_of(subscript, loop.iterator, fixed)
        if step is None:
            return None
        ends = (loop.start, _last(loop)) if step else (loop.start,)
        places = [_at(place, loop.iterator, end) for place in places for end in ends]
    return places


def _tests_of_bounds(bounds: Bounds, printer: CExpressionPrinter, extent: str) -> list[str]:
    """What holds where all between ``bounds`` is in range: one comparison for what bounds both sides."""
    both = [value for value in bounds.least if value in bounds.greatest]
    found = [f"(uint64_t)({printer.expression(value)}) < (uint64_t){extent}" for value in both]
    below = [value for value in bounds.least if value not in both and not _is_natural(value)]
    found += [f"{printer.expression(value)} >= 0" for value in below]
    found += [f"{printer.expression(value)} < {extent}" for value in bounds.greatest if value not in both]
    return found


def _is_natural(value: Expression) -> bool:
    return isinstance(value, Constant) and isinstance(value.value, int) and value.value >= 0


def _type_of(element: Element, printer: CExpressionPrinter) -> Type | None:
    try:
        return infer(element, printer.environment)
    except CodegenError:
        return None


def _last(loop: For | Loop) -> Expression:
    """The value of the variable of ``loop`` in its last iteration."""
    if isinstance(loop.stop, Constant) and isinstance(loop.stop.value, int):
        return Constant(loop.stop.value - 1)
    return Binary("-", loop.stop, Constant(1))


def _instances(node: LoopNode) -> list[Instance] | None:
    """The instances that are all of ``node``; None where there are loops in it, or something is decided."""
    if isinstance(node, Instance):
        return [node]
    if not isinstance(node, Block):
        return None
    inside = [_instances(child) for child in node.children]
    return None if None in inside else [one for found in inside for one in found or ()]


def is_steady(
    scop: Scop,
    printer: CExpressionPrinter,
    element: Element,
    statement: Statement,
    iterator: str,
    written: set[str],
) -> bool:
    """Whether ``element`` of ``statement`` is a whole number in range that can be loaded before the loop over
    ``iterator``, in which the arrays in ``written`` change."""
    nodes = [node for subscript in element.subscripts for node in walk(subscript)]
    moves = any(isinstance(node, Element) or node == Name(iterator) for node in nodes)
    loaded = element.array not in written and not is_checked(scop, element, statement)
    return loaded and not moves and infer(element, printer.environment).kind == "i"


def _loaded_in(element: Element) -> Iterator[Element]:
    """The elements in the subscripts of ``element``."""
    nodes = (node for subscript in element.subscripts for node in walk(subscript))
    return (node for node in nodes if isinstance(node, Element))


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


def step_of(subscript: Expression, iterator: str, fixed: frozenset[Expression] = frozenset()) -> int | None:
    """By how much ``subscript`` moves from one iteration to the next, while what is ``fixed`` does not; None where that
    is no fixed number.

    >>> step_of(Binary("+", Binary("*", Name("i"), Name("n")), Name("j")), "j")
    1
    """
    match subscript:
        case Constant(int()):
            return 0
        case Name(name):
            return int(name == iterator)
        case Binary("+" | "-" | "*" as operator, left, right):
            first, second = (step_of(side, iterator, fixed) for side in (left, right))
            return _joined(operator, (left, first), (right, second))
    return 0 if subscript in fixed else None


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

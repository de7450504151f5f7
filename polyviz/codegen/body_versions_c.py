"""Loops inside a statement that stays whole, in two versions: one without tests of subscripts, as in ``versions_c``.

    for (int64_t p = row[i], p_stop = row[i + 1]; p < p_stop; p++) {
        if (0 < m && (uint64_t)(p) < (uint64_t)val_extent0 && … && (uint64_t)(m - 1) < (uint64_t)X_extent1) {
            #pragma omp simd
            for (int64_t k = 0; k < m; k++) {
                Y[i][k] += val[p] * X[col[p]][k];
            }
        } else {
            …
        }
    }

Only the innermost loops are of this kind: of those around them the ends do not say what their data asks for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.codegen.calling import is_checked
from polyviz.codegen.instructions_c import INDENT
from polyviz.codegen.typing import infer
from polyviz.codegen.values_c import SUM
from polyviz.codegen.versions_c import MOST, step_of, tests_of
from polyviz.model.expression import (
    Assign,
    Branch,
    Break,
    Conditional,
    Constant,
    Element,
    Logical,
    Loop,
    Name,
    While,
    walk,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from polyviz.codegen.arrays_c import ArrayPrinter
    from polyviz.codegen.expressions_c import CExpressionPrinter
    from polyviz.model.expression import Expression, Node
    from polyviz.model.plan import Plan
    from polyviz.model.scop import Scop


class BodyVersions:
    """Knows which loops of the statement that is printed have a version without tests."""

    def __init__(self, scop: Scop, plan: Plan, arrays: ArrayPrinter, printer: CExpressionPrinter) -> None:
        self.scop = scop
        self.wanted = plan.two_versions
        self.scalar = plan.scalar
        self.arrays = arrays
        self.printer = printer

    def lines(self, loop: Loop, indent: int, lines: Callable[[int], list[str]]) -> list[str]:
        """The text of ``loop``, of which ``lines`` makes one version at an indentation."""
        condition = self._condition(loop)
        if not condition:
            return lines(indent)
        pad = INDENT * indent
        in_lanes = _is_parallel(loop) and not self.scalar
        if self.arrays.untested:
            return [*([f"{pad}#pragma omp simd"] if in_lanes else []), *lines(indent)]
        lanes = [f"{pad}{INDENT}#pragma omp simd"] if in_lanes else []
        self.arrays.in_range = True
        plain = lines(indent + 1)
        self.arrays.in_range = None
        tested = lines(indent + 1)
        return [f"{pad}if ({condition}) {{", *lanes, *plain, f"{pad}}} else {{", *tested, f"{pad}}}"]

    def _condition(self, loop: Loop) -> str:
        """When all subscripts in ``loop`` are in range; empty where that is not known before it."""
        statement = self.arrays.statement
        if not self.wanted or self.arrays.in_range is not None or statement is None or not _is_plain(loop):
            return ""
        checked = [one for one in _elements(loop.body) if is_checked(self.scop, one, statement)]
        moving = {loop.iterator, *_written(loop)}
        fixed = frozenset(one for one in _elements(loop.body) if one.subscripts and self._is_fixed(one, moving))
        bounds = [node for bound in (loop.start, loop.stop) for node in walk(bound)]
        if not checked or any(isinstance(node, Element) for node in bounds):
            return ""
        tests = self._tests(checked, loop, fixed)
        return " && ".join([*self._runs(loop), *tests]) if 0 < len(tests) < MOST else ""

    def _runs(self, loop: Loop) -> list[str]:
        """That ``loop`` has an iteration, where that is a question."""
        match loop.start, loop.stop:
            case Constant(int() as first), Constant(int() as end) if first < end:
                return []
        start, stop = (self.printer.value(bound).within(SUM) for bound in (loop.start, loop.stop))
        return [f"{start} < {stop}"]

    def _tests(self, checked: Iterable[Element], loop: Loop, fixed: frozenset[Expression]) -> list[str]:
        """What holds where all elements ``checked`` are in range; nothing where that is not known before ``loop``."""
        tests: dict[str, None] = {}
        for element in sorted(dict.fromkeys(checked), key=_depth):
            self.arrays.in_range = True  # What is loaded for a subscript was tested before it.
            found = tests_of(self.arrays, self.printer, element, loop, fixed)
            self.arrays.in_range = None
            if found is None:
                return []
            tests |= dict.fromkeys(found)
        return list(tests)

    def _is_fixed(self, element: Element, moving: set[str]) -> bool:
        """Whether ``element`` is a whole number that stays the same while what is ``moving`` changes."""
        nodes = (node for node in walk(element) if isinstance(node, Element | Name))
        if any((node.array if isinstance(node, Element) else node.name) in moving for node in nodes):
            return False
        return infer(element, self.printer.environment).kind == "i"


def _is_plain(loop: Loop) -> bool:
    """Whether ``loop`` counts by one, and all of it happens in every iteration."""
    decides = (Loop, While, Break, Branch, Conditional, Logical)
    nodes = [node for instruction in loop.body for node in walk(instruction)]
    return loop.step == Constant(1) and not any(isinstance(node, decides) for node in nodes)


def _elements(body: Sequence[Node]) -> list[Element]:
    return [node for instruction in body for node in walk(instruction) if isinstance(node, Element)]


def _written(loop: Loop) -> set[str]:
    return {line.target.array for line in loop.body if isinstance(line, Assign)}


def _depth(element: Element) -> int:
    """How many subscripts have to be loaded one after the other before ``element`` is."""
    inside = (node for subscript in element.subscripts for node in walk(subscript))
    return max((_depth(node) + 1 for node in inside if isinstance(node, Element)), default=0)


def _is_parallel(loop: Loop) -> bool:
    """Whether each iteration has cells of its own: no two of them touch what one of them writes."""
    lines = [line for line in loop.body if isinstance(line, Assign)]
    targets = {line.target.array: line.target for line in lines}
    own = all(
        target.subscripts and target.subscripts[-1] == Name(loop.iterator) and not _moves(target.subscripts[:-1], loop)
        for target in targets.values()
    )
    return own and all(one == targets.get(one.array, one) for one in _elements(lines))


def _moves(subscripts: Sequence[Expression], loop: Loop) -> bool:
    """Whether ``subscripts`` may differ from one iteration of ``loop`` to the next."""
    return any(step_of(subscript, loop.iterator) != 0 for subscript in subscripts)

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

Innermost loops are of this kind whose bounds are in no array, and loops around those whose bounds do not change; of
others the ends do not say what their data asks for.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from polyviz.codegen.body_sums_c import BodySums
from polyviz.codegen.calling import is_checked
from polyviz.codegen.instructions_c import INDENT
from polyviz.codegen.typing import infer
from polyviz.codegen.values_c import SUM
from polyviz.codegen.versions_c import MOST, step_of, tests_of
from polyviz.model.expression import (
    Assign,
    Constant,
    Element,
    Loop,
    Name,
    While,
    children,
    walk,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from polyviz.codegen.arrays_c import ArrayPrinter
    from polyviz.codegen.expressions_c import CExpressionPrinter
    from polyviz.model.expression import Expression, Node
    from polyviz.model.plan import Plan
    from polyviz.model.scop import Scop

    _Used = tuple[Element, tuple[Loop, ...]]


class BodyVersions:
    """Knows which loops of the statement that is printed have a version without tests."""

    def __init__(
        self, scop: Scop, plan: Plan, dtypes: dict[str, str], arrays: ArrayPrinter, printer: CExpressionPrinter
    ) -> None:
        self.scop = scop
        self.sums = BodySums(scop, plan, dtypes, arrays, printer)
        self.wanted = plan.two_versions
        self.scalar = plan.scalar
        self.arrays = arrays
        self.printer = printer

    def lines(self, loop: Loop, indent: int, plain: Callable[[int], list[str]]) -> list[str]:
        """The text of ``loop``, of which ``plain`` makes one version at an indentation."""

        def lines(deeper: int) -> list[str]:
            return self.sums.lines(loop, deeper) or plain(deeper)

        condition = self._condition(loop)
        if not condition:
            return lines(indent)
        # OpenMP wants one variable in the head of such a loop; a bound that is a variable is kept in another.
        kept = any(isinstance(node, Element) for node in walk(loop.stop))
        lanes = ["#pragma omp simd"] if _is_parallel(loop) and not kept and not self.scalar else []
        pad, inside = INDENT * indent, INDENT * (indent + 1)
        if self.arrays.untested or self.arrays.in_range:
            return [*(pad + line for line in lanes), *lines(indent)]
        with self._in_range():
            untested = [*(inside + line for line in lanes), *lines(indent + 1)]
        tested = lines(indent + 1)
        return [f"{pad}if ({condition}) {{", *untested, f"{pad}}} else {{", *tested, f"{pad}}}"]

    @contextmanager
    def _in_range(self) -> Iterator[None]:
        before, self.arrays.in_range = self.arrays.in_range, True
        yield
        self.arrays.in_range = before

    def _condition(self, loop: Loop) -> str:
        """When all subscripts in ``loop`` are in range; empty where that is not known before it."""
        statement = self.arrays.statement
        loops = _nest(loop)
        if not self.wanted or self.arrays.in_range is False or statement is None or not loops:
            return ""
        checked = [one for one in _used(loop) if is_checked(self.scop, one[0], statement)]
        moving = {*(one.iterator for one in loops), *_written(loop)}
        fixed = frozenset(one for one in _elements(loop.body) if self._is_fixed(one, moving))
        tests = self._tests(checked, fixed)
        runs = dict.fromkeys(run for one in loops for run in self._runs(one))
        return " && ".join([*runs, *tests]) if 0 < len(tests) < MOST else ""

    def _runs(self, loop: Loop) -> list[str]:
        """That ``loop`` has an iteration, where that is a question."""
        match loop.start, loop.stop:
            case Constant(int() as first), Constant(int() as end) if first < end:
                return []
        start, stop = (self.printer.value(bound).within(SUM) for bound in (loop.start, loop.stop))
        return [f"{start} < {stop}"]

    def _tests(self, checked: Iterable[_Used], fixed: frozenset[Expression]) -> list[str]:
        """What holds where all elements ``checked`` are in range; nothing where that is not known before the loops."""
        tests: dict[str, None] = {}
        for element, loops in sorted(dict.fromkeys(checked), key=lambda one: _depth(one[0])):
            with self._in_range():  # What is loaded for a subscript was tested before it.
                found = tests_of(self.arrays, self.printer, element, loops, fixed)
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


def _nest(loop: Loop) -> list[Loop]:
    """``loop``, which counts by one, and the loops right inside, all with the same bounds whenever they start; none
    where there is more. What they do in some iterations only is tested at their ends like all else: where that asks for
    too much, the other version runs."""
    nodes = [node for instruction in loop.body for node in walk(instruction)]
    inside = [node for node in nodes if isinstance(node, Loop)]
    deeper = [node for one in inside for part in one.body for node in walk(part) if isinstance(node, Loop)]
    bounds = [node for one in (loop, *inside) for bound in (one.start, one.stop) for node in walk(bound)]
    moving = {loop.iterator, *_written(loop)}
    known = all(one.step == Constant(1) for one in (loop, *inside))
    known = known and not any(_varies(node, moving) for node in bounds)
    return [loop, *inside] if known and not deeper and not any(isinstance(node, While) for node in nodes) else []


def _varies(bound: Node, moving: set[str]) -> bool:
    """Whether ``bound`` is loaded from an array, or changes with what is ``moving``; a variable may stay as it is."""
    match bound:
        case Element(name, subscripts):
            return bool(subscripts) or name in moving
        case Name(name):
            return name in moving
    return False


def _used(loop: Loop, around: tuple[Loop, ...] = ()) -> Iterator[_Used]:
    """The elements in ``loop``, each with the loops around it."""
    around = (*around, loop)
    pending: list[Node] = [*loop.body]
    while pending:
        node = pending.pop(0)
        if isinstance(node, Loop):
            yield from _used(node, around)
            continue
        if isinstance(node, Element):
            yield node, around
        pending = [*children(node), *pending]


def _elements(body: Sequence[Node]) -> list[Element]:
    return [node for instruction in body for node in walk(instruction) if isinstance(node, Element)]


def _written(loop: Loop) -> set[str]:
    nodes = (node for instruction in loop.body for node in walk(instruction))
    return {node.target.array for node in nodes if isinstance(node, Assign)}


def _depth(element: Element) -> int:
    """How many subscripts have to be loaded one after the other before ``element`` is."""
    inside = (node for subscript in element.subscripts for node in walk(subscript))
    return max((_depth(node) + 1 for node in inside if isinstance(node, Element)), default=0)


def _is_parallel(loop: Loop) -> bool:
    """Whether each iteration has cells of its own: no two of them touch what one of them writes."""
    lines = [line for line in loop.body if isinstance(line, Assign)]
    if len(lines) < len(loop.body):
        return False
    targets = {line.target.array: line.target for line in lines}
    own = all(
        target.subscripts and target.subscripts[-1] == Name(loop.iterator) and not _moves(target.subscripts[:-1], loop)
        for target in targets.values()
    )
    return own and all(one == targets.get(one.array, one) for one in _elements(lines))


def _moves(subscripts: Sequence[Expression], loop: Loop) -> bool:
    """Whether ``subscripts`` may differ from one iteration of ``loop`` to the next."""
    return any(step_of(subscript, loop.iterator) != 0 for subscript in subscripts)

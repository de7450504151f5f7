"""Steps over time that run together, in C: one vector loop for some steps of a stencil along a line.

    for (; i < i_last; i += 32) {
        const vector_float64 B_0_0 = 0.5 * (A[i - 1 …] + A[i + 1 …]);  // the first step …
        const vector_float64 A_1_0 = 0.5 * (shifted_6_float64(B_0, B_0_0) + B_0_0);  // … and what reads it
    }

Columns in which not all stages of the steps have something to do run before and behind that loop, step by step: those
on the left first, since nothing there waits for what lies farther to the right.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from polyviz.codegen.expressions_c import CExpressionPrinter
from polyviz.codegen.index import simplified
from polyviz.codegen.local_names import LocalNames
from polyviz.codegen.loops import Block, For
from polyviz.codegen.naming import substituted
from polyviz.codegen.row_blocks import is_along, moved_along
from polyviz.codegen.time_steps import bound_in_stage, stages_of, sweeps_of
from polyviz.model.expression import Binary, Call, Constant, Element, Expression, Name, rebuild
from polyviz.model.linear import linear_terms, written

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from polyviz.codegen.arrays_c import ArrayPrinter
    from polyviz.codegen.loops import LoopNode
    from polyviz.codegen.row_blocks import Types
    from polyviz.codegen.text import TextBuilder
    from polyviz.codegen.time_steps import Stage, Stages
    from polyviz.codegen.vectors_c import VectorFunctions
    from polyviz.model.expression import Instruction, Node
    from polyviz.model.plan import Plan
    from polyviz.model.scop import Scop

VECTORS = 4
"""Vectors of a stretch: stages wait for each other in chains, of which so many run side by side."""
NOWHERE = 2**62
"""A column behind all others."""


class TimeStepPrinter:
    """Prints the steps of a plan that run together; ``print_loop`` writes a loop as it is, ``notes`` tells why
    steps are left to run one at a time."""

    def __init__(
        self,
        scop: Scop,
        plan: Plan,
        types: Types,
        arrays: ArrayPrinter,
        printer: CExpressionPrinter,
        text: TextBuilder,
        print_loop: Callable[[For, int], None],
        vectors: VectorFunctions,
    ) -> None:
        self.scop = scop
        self.steps = {found.statements: found for found in plan.time_steps}
        self.types = types
        self.arrays = arrays
        self.printer = printer
        self.text = text
        self.print_loop = print_loop
        self.vectors = vectors
        self.notes: list[str] = []

    def stages(self, time: For, bodies: Mapping[str, Sequence[Instruction]]) -> Stages | None:
        """``time`` in stages, where its plan and the types of this call let its steps run together."""
        names = tuple(instance.statement for _, instance in sweeps_of(time)) if self.steps else ()
        steps = self.steps.get(names)
        if steps is None or self.vectors.processor is None or time.step != 1 or time.parallel:
            return None
        lanes = {dtype: self.vectors.lanes(dtype) for dtype in ("float64", "float32")}
        found = stages_of(self.scop, time, steps, bodies, self.types, lanes, VECTORS)
        if not isinstance(found, str):
            return found
        note = f"steps of {' and '.join(names)} run one at a time, not several in one vector loop: {found}"
        if note not in self.notes:
            self.notes.append(note)
        return None

    def write(self, stages: Stages, indent: int) -> None:
        """The loop over the time: what is left of all stages, the stages together, and what is right of them."""
        self.vectors.use(stages.dtype)
        names = _Names(self.arrays, stages)
        time, count = stages.time.iterator, stages.steps.count
        start, stop = self.printer.expression(stages.time.start), self.printer.bound(stages.time.stop)
        self._line(indent, f"/* {count} steps run together where all of them have columns. */")
        self._line(indent, f"for (int64_t {time} = {start}; {time} < {stop}; {time} += {count}) {{")
        self._bounds(stages, names, indent + 1)
        self._beside(stages, names, indent + 1, left=True)
        self._line(indent + 1, f"if ({names.first} < {names.last}) {{")
        self._together(stages, names, indent + 2)
        self._line(indent + 1, "}")
        self._beside(stages, names, indent + 1, left=False)
        self._line(indent, "}")

    def _bounds(self, stages: Stages, names: _Names, indent: int) -> None:
        """The columns that all stages have, in whole stretches; without any, all columns count as left of them."""
        time, length, first, last = stages.time.iterator, stages.length, names.first, names.last
        after = Binary("+", Name(time), Constant(stages.steps.count))
        ends = {
            names.stop: Call("min", (simplified(after), stages.time.stop)),
            first: _extreme("max", [bound_in_stage(stages, one, one.loop.start) for one in stages.stages]),
            last: _extreme("min", [bound_in_stage(stages, one, one.loop.stop) for one in stages.stages]),
        }
        for name, bound in ends.items():
            constant = "const " if name == names.stop else ""
            self._line(indent, f"{constant}int64_t {name} = {self.printer.expression(bound)};")
        enough = f"{names.stop} - {time} == {stages.steps.count} && {last} - {first} >= {length}"
        self._line(indent, f"if ({enough})")
        self._line(indent + 1, f"{last} -= ({last} - {first}) % {length};")
        self._line(indent, "else")
        self._line(indent + 1, f"{first} = {last} = {NOWHERE};")

    def _beside(self, stages: Stages, names: _Names, indent: int, *, left: bool) -> None:
        """Step by step, the columns on one side of those that all stages have."""
        loops: list[LoopNode] = []
        step = Name(names.step)
        for stage in stages.stages[: len(stages.steps.statements)]:
            passed = Binary("*", Constant(stages.steps.skew), Binary("-", step, Name(stages.time.iterator)))
            end = Name(names.first if left else names.last)
            edge = simplified(Binary("-", Binary("-", end, passed), Constant(stage.lag)))
            loop = _renamed(stage.loop, stages.time.iterator, names.step)
            if left:
                loops.append(replace(loop, stop=_extreme("min", [loop.stop, edge])))
            else:
                loops.append(replace(loop, start=_extreme("max", [loop.start, edge])))
        around = For(names.step, Name(stages.time.iterator), Name(names.stop), 1, Block(tuple(loops)))
        self.print_loop(around, indent)

    def _together(self, stages: Stages, names: _Names, indent: int) -> None:
        """All stages, a stretch of columns after the other."""
        column, vector = stages.column, f"vector_{stages.dtype}"
        lanes = self.vectors.lanes(stages.dtype)
        self._line(indent, f"int64_t {column} = {names.first};")
        for number, stage in enumerate(stages.stages):
            distance = stages.farthest(number)
            if distance:
                load = self._load(stages, moved_along(stage.update.target, -distance))
                # What is needed of it goes to the end of the register.
                ends = f"{self.vectors.shift(stages.dtype, distance)}({load}, {load})" if distance < lanes else load
                self._line(indent, f"{vector} {names.kept(number)} = {ends};")
        self._line(indent, f"for (; {column} < {names.last}; {column} += {stages.length}) {{")
        for number in range(len(stages.stages)):
            self._stage(stages, number, names, indent + 1)
        for number in range(len(stages.stages)):
            if stages.farthest(number):
                self._line(indent + 1, f"{names.kept(number)} = {names.value(number, VECTORS - 1)};")
        self._line(indent, "}")

    def _stage(self, stages: Stages, number: int, names: _Names, indent: int) -> None:
        """The vectors of one stage: all are computed, then they are stored."""
        stage, lanes = stages.stages[number], self.vectors.lanes(stages.dtype)
        self.arrays.enter(stage.statement)
        for vector in range(VECTORS):
            values: dict[str, str] = {}
            value = self._with_registers(stage.update.value, stages, number, vector, names, values)
            for name, text in values.items():
                self._line(indent, f"const vector_{stages.dtype} {name} = {text};")
            computed = self._inner(stages, names, values).expression(value)
            kept = f"const vector_{stages.dtype} {names.value(number, vector)} = {computed};"
            self.text.add(indent, f"{kept}{_comment(stage)}", stage.statement)
        for vector in range(VECTORS):
            cell = self.printer.expression(moved_along(stage.update.target, vector * lanes))
            store = f"*(loose_{stages.dtype} *)&{cell} = {names.value(number, vector)};"
            self.text.add(indent, store, stage.statement)

    def _inner(self, stages: Stages, names: _Names, values: Mapping[str, str]) -> CExpressionPrinter:
        """The printer of values in vector registers."""
        every = [names.value(number, vector) for number in range(len(stages.stages)) for vector in range(VECTORS)]
        known = dict.fromkeys([*every, *values], stages.dtype)
        return CExpressionPrinter(
            {**self.printer.environment.types, **known}, self.printer.names, self.printer.element
        )

    def _with_registers(
        self, node: Expression, stages: Stages, number: int, vector: int, names: _Names, values: dict[str, str]
    ) -> Expression:
        """``node`` with registers in place of elements along memory; ``values`` gets those to be loaded or shifted."""

        def named(part: Node) -> Node:
            if not isinstance(part, Element):
                return rebuild(part, named)
            if not is_along(part, stages.column):
                return part
            held = stages.held.get((number, part))
            if held is not None and held.distance == 0:
                return Name(names.value(held.stage, vector))
            lanes = self.vectors.lanes(stages.dtype)
            if held is None:
                text = self._load(stages, moved_along(part, vector * lanes))
            else:
                before = names.value(held.stage, vector - 1) if vector else names.kept(held.stage)
                shift = self.vectors.shift(stages.dtype, lanes - held.distance)
                text = f"{shift}({before}, {names.value(held.stage, vector)})"
            known = next((name for name, other in values.items() if other == text), None)
            name = known or names.operand(number, vector, len(values))
            values[name] = text
            return Name(name)

        found = named(node)
        assert isinstance(found, Expression)
        return found

    def _load(self, stages: Stages, element: Element) -> str:
        return f"*(const loose_{stages.dtype} *)&{self.printer.expression(element)}"

    def _line(self, indent: int, line: str) -> None:
        self.text.add(indent, line)


class _Names(LocalNames):
    """What the variables of one loop over the time are called."""

    def __init__(self, arrays: ArrayPrinter, stages: Stages) -> None:
        loops = [stages.time, *(stage.loop for stage in stages.stages)]
        bounds = [bound for loop in loops for bound in (loop.start, loop.stop)]
        super().__init__(arrays, (*bounds, *(stage.update for stage in stages.stages)))
        time, column = stages.time.iterator, stages.column
        self.step, self.stop = self.of(f"{time}_step"), self.of(f"{time}_stop")
        self.first, self.last = self.of(f"{column}_first"), self.of(f"{column}_last")
        self._targets = [stage.update.target.array for stage in stages.stages]
        self._known: dict[str, str] = {}

    def kept(self, stage: int) -> str:
        """The last vector of the stretch before, as a stage computed it."""
        return self._one(f"{self._targets[stage]}_stage{stage}")

    def value(self, stage: int, vector: int) -> str:
        """A vector that a stage computes."""
        return self._one(f"{self._targets[stage]}_stage{stage}_{vector}")

    def operand(self, stage: int, vector: int, number: int) -> str:
        """A vector that a stage loads or shifts."""
        return self._one(f"operand{number}_stage{stage}_{vector}")

    def _one(self, name: str) -> str:
        """The same name each time."""
        if name not in self._known:
            self._known[name] = self.of(name)
        return self._known[name]


def _renamed(loop: For, name: str, other: str) -> For:
    """``loop`` with another name for a variable around it."""
    found = substituted(loop, {name: Name(other)})
    assert isinstance(found, For)
    return found


def _extreme(function: str, bounds: Sequence[Expression]) -> Expression:
    """The largest or the smallest of ``bounds``; of those that differ by a number, only one is named."""
    better = max if function == "max" else min
    constants: dict[tuple[tuple[str, int], ...], int] = {}
    others: dict[Expression, None] = {}
    for bound in bounds:
        for part in bound.arguments if isinstance(bound, Call) and bound.function == function else (bound,):
            terms = linear_terms(part)
            if terms is None:
                others[part] = None
                continue
            constant = terms.pop("", 0)
            names = tuple(sorted((name, value) for name, value in terms.items() if value))
            constants[names] = better(constant, constants.get(names, constant))
    found = (*(written({**dict(names), "": constant}) for names, constant in constants.items()), *others)
    return Call(function, found) if len(found) > 1 else found[0]


def _comment(stage: Stage) -> str:
    return f"  // line {stage.statement.span.line}: {stage.statement.headline}"

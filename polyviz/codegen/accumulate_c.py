"""Innermost loops that fold values into one cell, in C: the cell in a variable, and sums in lanes beside each other.

    double y_sum = y[i];
    for (int64_t j = 0; j < n; j++) {
        y_sum += A[i][j] * x[j];
    }
    y[i] = y_sum;

The variable has the type of the array, so every step rounds as it does in memory: the strict contract allows it. With
lanes the loop runs over groups of iterations, each lane with a partial sum or product of its own, or with the least or
greatest of its values; compilers make vectors of them. Several updates of one cell share its variable and its lanes.
What goes through temporaries of an iteration (``d = x[i] - y[i]; s += d * d``) does so in each lane.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from polyviz.codegen.bodies import placed_body, private_name
from polyviz.codegen.dtypes import C_TYPE_NAMES, type_named
from polyviz.codegen.expressions_c import never_free
from polyviz.codegen.folds import (
    Fold,
    Update,
    Value,
    are_apart,
    instances_only,
    is_choice,
    is_tested,
    jumps,
    may_always_run,
    may_join,
    mentions,
    values_of,
)
from polyviz.codegen.index import simplify_subscripts
from polyviz.codegen.loops import Block, For, Instance, descendants
from polyviz.codegen.redirect import redirected
from polyviz.codegen.row_blocks import Types
from polyviz.codegen.short_lanes import SHORT, short_steps
from polyviz.codegen.typing import infer
from polyviz.codegen.values_c import SUM
from polyviz.codegen.vector_folds_c import VectorFoldPrinter
from polyviz.model.expression import Assign, Binary, Call, Element, Name, substitute, walk

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from polyviz.codegen.arrays_c import ArrayPrinter
    from polyviz.codegen.expressions_c import CExpressionPrinter
    from polyviz.codegen.text import TextBuilder
    from polyviz.codegen.vectors_c import VectorFunctions
    from polyviz.model.expression import Expression, Instruction
    from polyviz.model.plan import Plan
    from polyviz.model.program import ArrayType, FloatingPoint
    from polyviz.model.scop import Scop

ENDINGS = {"+": "sum", "*": "product", "min": "minimum", "max": "maximum"}
"""What the variable is called behind the name of the array; ``value`` for other operators."""


class AccumulationPrinter:
    """Prints the loops of a plan's accumulations; ``dtypes`` gets the types of the variables it adds.
    ``declarations`` are those of the temporaries of a block, ``vectors`` what vector registers can do."""

    def __init__(
        self,
        scop: Scop,
        plan: Plan,
        types: Mapping[str, ArrayType],
        private: frozenset[str],
        dtypes: dict[str, str],
        arrays: ArrayPrinter,
        printer: CExpressionPrinter,
        text: TextBuilder,
        floating_point: FloatingPoint,
        bodies: Mapping[str, Sequence[Instruction]],
        declarations: Callable[[Block], list[str]],
        vectors: VectorFunctions,
    ) -> None:
        self.scop = scop
        self.vectors = VectorFoldPrinter(Types(types, private), dtypes, arrays, printer, text, vectors)
        self.declarations = declarations
        self.dtypes = dtypes
        self.arrays = arrays
        self.printer = printer
        self.text = text
        self.reorders = floating_point == "reassociate"
        self.accumulations = {found.statement: found for found in plan.accumulations}
        # All names are asked for now, so that no loop variable gets them.
        self.lane = arrays.added("lane") if any(found.lanes for found in plan.accumulations) else ""
        self.outside = arrays.added("outside") if plan.accumulations else ""
        self.part = arrays.added("part") if plan.accumulations else ""
        for found in plan.accumulations:
            assign = bodies[found.statement][0]
            if isinstance(assign, Assign):
                update = Update(scop.statement(found.statement), assign, found)
                self.variable(update)
                self._lanes(update)
                self._added_value(update)

    def fold(self, loop: For, bodies: Mapping[str, Sequence[Instruction]]) -> Fold | None:
        """What ``loop`` folds, where its plan says so and nothing else happens in it."""
        if loop.parallel or loop.reduced or loop.vector:
            return None
        instances = instances_only(loop.body)
        if not instances:
            return self._from_values(loop, bodies)
        updates = [self.update_of(instance, loop.iterator, bodies) for instance in instances]
        found = tuple(update for update in updates if update is not None)
        return Fold(loop, found) if len(found) == len(updates) and are_apart(found) else None

    def _from_values(self, loop: For, bodies: Mapping[str, Sequence[Instruction]]) -> Fold | None:
        """What ``loop`` folds in lanes from temporaries of each iteration, which its body declares."""
        instances = instances_only(loop.body, declares=True)
        updates = [self.update_of(instance, loop.iterator, bodies) for instance in instances]
        found = tuple(update for update in updates if update is not None)
        rest = [one for one, update in zip(instances, updates, strict=True) if update is None]
        feeds = {name for update in found for name in update.accumulation.values}
        if not found or not all(one.statement in feeds for one in rest):
            return None
        blocks = tuple(node for node in descendants(loop.body) if isinstance(node, Block))
        names = [private_name(self.scop, name) for block in blocks for name in block.declares]
        values = values_of(self.scop, rest, names, bodies)
        if values is None or not are_apart(found, values):
            return None
        fold = Fold(loop, found, values, blocks)
        return fold if fold.is_light and self._lanes_of(fold) else None

    def write(self, fold: Fold, indent: int) -> None:
        """The loop of ``fold``, and what stands before and behind it."""
        lanes = self._lanes_of(fold)
        # Copies of one update in an unrolled loop have one cell, and several updates may.
        own = {update.assign.target: update for update in fold.updates}
        kept = [update for update in own.values() if update.assign.target.subscripts]
        if not kept and not lanes:
            self._loop(fold, fold.updates, indent)
            return
        start, stop = (self.printer.value(bound).within(SUM) for bound in (fold.loop.start, fold.loop.stop))
        # Where the loop is empty the cells may not even exist.
        self._line(indent, f"if ({start} < {stop}) {{")
        cells = [self._cell(update) for update in kept]
        for update, cell in zip(kept, cells, strict=True):
            self._line(indent + 1, f"{self._kind(update)} {self.variable(update)} = {cell};")
        updates = tuple(self._in_variable(update, own[update.assign.target]) for update in fold.updates)
        tested = self.reorders and not jumps(updates) and is_tested(fold, self.scop, self.arrays)
        if tested:
            self._line(indent + 1, f"int64_t {self.outside} = 0;  // lanes go on, and say so behind the loop")
            self.arrays.noted_in = self.outside
        if lanes:
            self.printer.is_free = self.arrays.is_free
            self._in_lanes(fold, updates, lanes, indent + 1)
        else:
            self._loop(fold, updates, indent + 1)
        self.arrays.noted_in, self.printer.is_free = "", never_free
        if tested:
            self._line(indent + 1, f"if ({self.outside} && !failure)")
            self._line(indent + 2, f"failure = {self.outside};")
        for update, cell in zip(kept, cells, strict=True):
            self._line(indent + 1, f"{cell} = {self.variable(update)};")
        self._line(indent, "}")

    def update_of(
        self, instance: Instance, iterator: str, bodies: Mapping[str, Sequence[Instruction]]
    ) -> Update | None:
        """What ``instance`` folds into a cell that the loop over ``iterator`` leaves in place; None where nothing."""
        accumulation = self.accumulations.get(instance.statement)
        if accumulation is None:
            return None
        statement = self.scop.statement(instance.statement)
        body = placed_body(statement, bodies[instance.statement], instance.arguments)
        if len(body) != 1 or not isinstance(body[0], Assign) or mentions(body[0].target, iterator):
            return None
        return Update(statement, body[0], accumulation)

    def _lanes_of(self, fold: Fold) -> int:
        """How many results grow beside each other; 0 where one of the updates is not made for that."""
        real = all(type_named(self.dtypes[update.assign.target.array]).is_real for update in fold.updates)
        allowed = self.reorders and real and fold.loop.step == 1 and may_join(fold)
        allowed = allowed and may_always_run(fold, self.arrays)
        return min(update.accumulation.lanes for update in fold.updates) if allowed else 0

    def _cell(self, update: Update) -> str:
        self.arrays.enter(update.statement)
        return self.printer.expression(update.assign.target)

    def _in_variable(self, update: Update, cell: Update) -> Update:
        """``update`` of the variable that is named after ``cell``, perhaps another update of the same cell."""
        if not update.assign.target.subscripts:
            return update
        return replace(update, assign=redirected(update.assign, Element(self.variable(cell))))

    def _in_lanes(self, fold: Fold, updates: Sequence[Update], lanes: int, indent: int) -> None:
        """Groups of iterations first, then those that remain."""
        iterator = fold.loop.iterator
        start, stop = (self.printer.value(bound) for bound in (fold.loop.start, fold.loop.stop))
        self._line(indent, f"int64_t {iterator} = {start.text};")
        count = self.vectors.count(fold)
        least = 2 * (self.vectors.group(fold, count) if count else lanes)
        self._line(indent, f"if ({stop.within(SUM)} - {iterator} >= {least}) {{")
        if count:
            targets = [update.assign.target for update in updates]
            self.vectors.write(fold, targets, count, stop.within(SUM), indent + 1)
        else:
            self._groups(fold, updates, lanes, stop.within(SUM), indent + 1)
        if not count and not fold.values:
            self._line(indent, "}")
            self._remainder(fold, updates, stop.within(SUM), indent)
            return
        if not count:
            # Of short loops compilers make more when they see all of them, not what others left.
            self._remainder(fold, updates, stop.within(SUM), indent + 1)
        self._line(indent, "} else {")
        self._remainder(fold, updates, stop.within(SUM), indent + 1)
        self._line(indent, "}")

    def _remainder(self, fold: Fold, updates: Sequence[Update], stop: str, indent: int) -> None:
        """The iterations of ``fold`` from here on, one by one."""
        iterator = fold.loop.iterator
        self._line(indent, f"for (; {iterator} < {stop}; {iterator}++) {{")
        self._print_values(fold, fold.values, indent + 1)
        for update in updates:
            self._print(update, indent + 1)
        self._line(indent, "}")

    def _groups(self, fold: Fold, updates: Sequence[Update], lanes: int, stop: str, indent: int) -> None:
        """As many iterations of ``fold`` at a time as there are ``lanes``."""
        iterator = fold.loop.iterator
        header = f"for (int64_t {self.lane} = 0; {self.lane} < {lanes}; {self.lane}++)"
        partial = [self._lanes(update) for update in fold.updates]
        own = dict(zip(partial, updates, strict=True))
        plain = not fold.values and not is_tested(fold, self.scop, self.arrays)
        steps = short_steps(fold.updates, self.dtypes, self.printer) if plain else 0
        end = f"{stop} - {lanes - 1}"
        if steps:
            self.dtypes.update(dict.fromkeys(own, SHORT.name))
            self.printer.helpers.add("min_i64")
            self._line(indent, f"while ({iterator} < {end}) {{")
            part = f"min_i64({end}, {iterator} + {steps * lanes})"
            self._line(indent + 1, f"const int64_t {self.part} = {part};  // no lane gets too large before that")
            indent, end = indent + 1, self.part
        for name, update in own.items():
            self._first_lanes(update, name, lanes, header, indent)
        self._line(indent, f"for (; {iterator} < {end}; {iterator} += {lanes}) {{")
        inside = [self._in_lane(update, name, iterator) for update, name in zip(updates, partial, strict=True)]
        if fold.values:
            self._print_together(fold, inside, header, indent + 1)
        else:
            # A loop of its own for each keeps all its sums in registers.
            for update in inside:
                self._print_lanes(update, header, indent + 1)
        self._line(indent, "}")
        for name, update in own.items():
            self._line(indent, header)
            self._line(indent + 1, self._joined(update, self._at_lane(name)))
        if steps:
            self._line(indent - 1, "}")

    def _print_together(self, fold: Fold, updates: Sequence[Update], header: str, indent: int) -> None:
        """One group of iterations with values that all updates may take; those which choose what they add come last."""
        iterator = fold.loop.iterator
        values = [replace(value, assign=self._beside(value.assign, iterator)) for value in fold.values]
        chosen = []
        for update in updates:
            if (added := self._added_value(update)) is not None:
                self._declare_lanes(added[0], update, indent)
                chosen.append((update, *added))
        self._line(indent, f"{header} {{")
        self._print_values(fold, values, indent + 1)
        for update in updates:
            if self._added_value(update) is None:
                self._print(update, indent + 1)
        for update, name, value in chosen:
            self._print(replace(update, assign=Assign(self._at_lane(name), value)), indent + 1)
        self._line(indent, "}")
        for update, name, _ in chosen:
            self._add_chosen(update, name, header, indent)

    def _print_values(self, fold: Fold, values: Sequence[Value], indent: int) -> None:
        """The temporaries of one iteration."""
        for line in (line for block in fold.blocks for line in self.declarations(block)):
            self._line(indent, line)
        for value in values:
            self._print(value, indent)

    def _print_lanes(self, update: Update, header: str, indent: int) -> None:
        """One group of iterations; what is chosen is there for all lanes before it is added.

        Where no fraction is chosen to be added, compilers would branch around the addition, and make no vectors.
        """
        added = self._added_value(update)
        if added is None:
            self._line(indent, header)
            self._print(update, indent + 1)
            return
        name, value = added
        self._declare_lanes(name, update, indent)
        self._line(indent, header)
        self._print(replace(update, assign=Assign(self._at_lane(name), value)), indent + 1)
        self._add_chosen(update, name, header, indent)

    def _declare_lanes(self, name: str, update: Update, indent: int) -> None:
        self._line(indent, f"{C_TYPE_NAMES[self.dtypes[name]]} {name}[{update.accumulation.lanes}];")

    def _at_lane(self, name: str) -> Element:
        return Element(name, (Name(self.lane),))

    def _add_chosen(self, update: Update, name: str, header: str, indent: int) -> None:
        self._line(indent, header)
        (line,) = self.printer.instructions([replace(update.assign, value=self._at_lane(name))], 0)
        self._line(indent + 1, line)

    def _added_value(self, update: Update) -> tuple[str, Expression] | None:
        """What ``update`` adds (or multiplies with) and the name for that in all lanes, where it is chosen."""
        value, target = update.assign.value, type_named(self.dtypes[update.assign.target.array])
        is_chosen = update.assign.operator in ("+", "-", "*") and any(map(is_choice, walk(value)))
        if not is_chosen or target.kind != "f":
            return None
        name = self.arrays.added(f"{update.statement.name}_added")
        self.dtypes[name] = infer(value, self.printer.environment).name
        return name, value

    def _first_lanes(self, update: Update, name: str, lanes: int, header: str, indent: int) -> None:
        """Nothing yet in each lane of a sum, 1 in those of a product; the value so far in those of the least and
        greatest."""
        if update.accumulation.operator == "+":
            self._line(indent, f"{C_TYPE_NAMES[self.dtypes[name]]} {name}[{lanes}] = {{0}};")
            return
        is_product = update.accumulation.operator == "*"
        self._line(indent, f"{self._kind(update)} {name}[{lanes}];")
        self._line(indent, header)
        first = "1" if is_product else self.printer.expression(update.assign.target)
        self._line(indent + 1, f"{name}[{self.lane}] = {first};")

    def _joined(self, update: Update, lane: Element) -> str:
        """The result of one ``lane`` taken into the whole."""
        target, value = update.assign.target, update.assign.value
        if update.accumulation.operator in ("+", "*"):
            (line,) = self.printer.instructions([Assign(target, lane, update.accumulation.operator)], 0)
            return line
        assert isinstance(value, Call)
        (line,) = self.printer.instructions([Assign(target, Call(value.function, (target, lane)))], 0)
        return line

    def _in_lane(self, update: Update, name: str, iterator: str) -> Update:
        own = redirected(update.assign, self._at_lane(name))
        return replace(update, assign=self._beside(own, iterator))

    def _beside(self, assign: Assign, iterator: str) -> Assign:
        """``assign`` in one lane of a group that begins at ``iterator``."""
        beside = Binary("+", Name(iterator), Name(self.lane))
        moved = simplify_subscripts(substitute(assign, {iterator: beside}))
        assert isinstance(moved, Assign)
        return moved

    def _loop(self, fold: Fold, updates: Sequence[Update], indent: int) -> None:
        loop = fold.loop
        if self.reorders and jumps(updates):
            # Left alone, compilers gather the jumping elements into vectors, which is slower than to load them singly.
            self._line(indent, "#pragma omp simd safelen(1)")
        advance = f"{loop.iterator}++" if loop.step == 1 else f"{loop.iterator} += {loop.step}"
        start, stop = self.printer.expression(loop.start), self.printer.bound(loop.stop)
        self._line(indent, f"for (int64_t {loop.iterator} = {start}; {loop.iterator} < {stop}; {advance}) {{")
        for update in updates:
            self._print(update, indent + 1)
        self._line(indent, "}")

    def _print(self, update: Update | Value, indent: int) -> None:
        statement = update.statement
        self.arrays.enter(statement)
        (line,) = self.printer.instructions([update.assign], 0)
        comment = f"  // line {statement.span.line}: {statement.headline}"
        self.text.add(indent, line + comment, statement)

    def variable(self, update: Update) -> str:
        """The name of the variable that stands for the cell of ``update``."""
        ending = ENDINGS.get(update.accumulation.operator, "value")
        return self._named(update.assign.target.array, ending)

    def _lanes(self, update: Update) -> str:
        return self._named(update.assign.target.array, "lanes")

    def _named(self, array: str, ending: str) -> str:
        name = self.arrays.added(f"{array}_{ending}")
        self.dtypes[name] = self.dtypes[array]
        return name

    def _kind(self, update: Update) -> str:
        return C_TYPE_NAMES[self.dtypes[update.assign.target.array]]

    def _line(self, indent: int, line: str) -> None:
        self.text.add(indent, line)

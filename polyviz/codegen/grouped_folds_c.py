"""Innermost loops in C that fold values into cells and do more than that: the cells are in variables all the same.

    double y_sum = y[i];
    for (int64_t j = 0; j < n; j++) {
        double w;
        w = A[i][j] - x[j];
        y_sum += w * w;
    }
    y[i] = y_sum;

A compiler that runs the loop on several threads forgets that arrays do not overlap, stores the cell in every iteration,
and can then make no vectors of sums.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from polyviz.codegen.dtypes import C_TYPE_NAMES
from polyviz.codegen.folds import mentions
from polyviz.codegen.loops import Block, For, Instance, instances
from polyviz.codegen.redirect import redirected
from polyviz.codegen.values_c import SUM
from polyviz.model.expression import Assign, Element, walk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence

    from polyviz.codegen.accumulate_c import AccumulationPrinter
    from polyviz.codegen.arrays_c import ArrayPrinter
    from polyviz.codegen.expressions_c import CExpressionPrinter
    from polyviz.codegen.folds import Update
    from polyviz.codegen.loops import LoopNode
    from polyviz.codegen.text import TextBuilder
    from polyviz.model.expression import Instruction


@dataclass(frozen=True, slots=True)
class GroupedFold:
    """A loop with ``updates`` of cells that stay where they are and that nothing else in the loop touches."""

    loop: For
    updates: tuple[Update, ...]


class GroupedFoldPrinter:
    """Prints such loops; ``print_loop`` prints the loop itself, with the bodies that it finds changed."""

    def __init__(
        self,
        folds: AccumulationPrinter,
        arrays: ArrayPrinter,
        printer: CExpressionPrinter,
        text: TextBuilder,
        print_loop: Callable[[For, int], None],
    ) -> None:
        self.folds = folds
        self.arrays = arrays
        self.printer = printer
        self.text = text
        self.print_loop = print_loop

    def fold(self, loop: For, bodies: Mapping[str, Sequence[Instruction]]) -> GroupedFold | None:
        """The cells that ``loop`` folds values into, where nothing but statements is in it."""
        if loop.parallel or loop.reduced or loop.vector or not is_straight(loop.body):
            return None
        inside = tuple(instances(loop.body))
        found = [self.folds.update_of(instance, loop.iterator, bodies) for instance in inside]
        alone = [update for update in found if update is not None and _stays(update, loop, inside, bodies)]
        return GroupedFold(loop, tuple(alone)) if alone else None

    def write(self, fold: GroupedFold, bodies: MutableMapping[str, Sequence[Instruction]], indent: int) -> None:
        """The loop of ``fold``, and what stands before and behind it."""
        start, stop = (self.printer.value(bound).within(SUM) for bound in (fold.loop.start, fold.loop.stop))
        # Where the loop is empty the cells may not even exist.
        self.text.add(indent, f"if ({start} < {stop}) {{")
        cells = [self._cell(update) for update in fold.updates]
        variables = [self.folds.variable(update) for update in fold.updates]
        for variable, cell in zip(variables, cells, strict=True):
            kind = C_TYPE_NAMES[self.folds.dtypes[variable]]
            self.text.add(indent + 1, f"{kind} {variable} = {cell};")
        names = [update.statement.name for update in fold.updates]
        with _in_variables(dict(zip(names, variables, strict=True)), bodies):
            self.print_loop(fold.loop, indent + 1)
        for variable, cell in zip(variables, cells, strict=True):
            self.text.add(indent + 1, f"{cell} = {variable};")
        self.text.add(indent, "}")

    def _cell(self, update: Update) -> str:
        self.arrays.enter(update.statement)
        return self.printer.expression(update.assign.target)


@contextmanager
def _in_variables(
    variables: Mapping[str, str], bodies: MutableMapping[str, Sequence[Instruction]]
) -> Iterator[None]:
    """While this lasts, the updates named in ``variables`` change a variable in place of a cell."""
    before = {name: bodies[name] for name in variables}
    for name, variable in variables.items():
        (assign,) = before[name]
        assert isinstance(assign, Assign)
        bodies[name] = (redirected(assign, Element(variable)),)
    yield
    bodies.update(before)


def is_straight(node: LoopNode) -> bool:
    """Whether all of ``node`` happens in every iteration: no condition and no further loop is in it."""
    if isinstance(node, Block):
        return not node.team and all(map(is_straight, node.children))
    return isinstance(node, Instance)


def _stays(
    update: Update, loop: For, inside: Sequence[Instance], bodies: Mapping[str, Sequence[Instruction]]
) -> bool:
    """Whether ``update`` is of an array's cell that can be told before the loop, whose array is mentioned nowhere else
    in it."""
    target = update.assign.target
    known = not any(isinstance(part, Element) for subscript in target.subscripts for part in walk(subscript))
    others = [one.statement for one in inside if one.statement != update.statement.name]
    if not (target.subscripts and known) or len(inside) - len(others) > 1 or mentions(target, loop.iterator):
        return False
    touched = (part for name in others for instruction in bodies[name] for part in walk(instruction))
    rest = (part for part in walk(update.assign) if part != target)
    return not any(
        isinstance(part, Element) and part.array == target.array for parts in (touched, rest) for part in parts
    )

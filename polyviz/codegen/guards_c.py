"""Conditions on data that several statements have in common, in C: asked once, around all of them.

    if (mask[i]) {
        total = 0.0;
        for (int64_t j = 0; j < n; j++) {
            total += A[i][j];
        }
        y[i] = total;
    }
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.codegen.guards import granted, guard_of_loop, guard_of_row
from polyviz.codegen.loops import Block

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from polyviz.codegen.arrays_c import ArrayPrinter
    from polyviz.codegen.expressions_c import CExpressionPrinter
    from polyviz.codegen.guards import Changing, Guard
    from polyviz.codegen.loops import For, LoopNode
    from polyviz.codegen.text import TextBuilder
    from polyviz.model.scop import Scop


class GuardPrinter:
    """Prints nodes with a condition in common; ``print_node`` prints them, with the bodies that it finds changed."""

    def __init__(
        self,
        scop: Scop,
        arrays: ArrayPrinter,
        printer: CExpressionPrinter,
        text: TextBuilder,
        print_node: Callable[[LoopNode, int], None],
    ) -> None:
        self.scop = scop
        self.arrays = arrays
        self.printer = printer
        self.text = text
        self.print_node = print_node

    def write_loop(self, loop: For, bodies: Changing, indent: int) -> bool:
        """Print ``loop`` below the condition that everything in it has, if there is one."""
        guard = guard_of_loop(self.scop, loop, bodies)
        if guard is not None:
            self._write(guard, (loop,), bodies, indent)
        return guard is not None

    def write_row(self, nodes: Sequence[LoopNode], bodies: Changing, indent: int) -> int:
        """Print the first ``nodes`` that have a condition in common, if there are several; how many these are."""
        found = guard_of_row(self.scop, nodes, bodies)
        if found is None:
            return 0
        guard, count = found
        self._write(guard, nodes[:count], bodies, indent)
        return count

    def _write(self, guard: Guard, nodes: Sequence[LoopNode], bodies: Changing, indent: int) -> None:
        statement = self.scop.statement(guard.statement)
        self.arrays.enter(statement)
        self.text.add(indent, f"if ({self.printer.truth(guard.asked).text}) {{", statement)
        with granted(nodes, bodies):
            self.print_node(Block(tuple(nodes)), indent + 1)
        self.text.add(indent, "}")

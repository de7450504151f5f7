"""Parallel loops inside serial ones, in C: a region of threads only where it pays.

    for (int64_t k = 0; k < n; k++) {
        if (1.0 * n * n > 50000) {
            #pragma omp parallel for schedule(static)
            for (int64_t i = 0; i < n; i++) {
                …
            }
        } else {
            for (int64_t i = 0; i < n; i++) {
                …
            }
        }
    }
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from polyviz.codegen.bodies import work_of
from polyviz.codegen.regions import SMALLEST_PARALLEL_WORK, Regions

if TYPE_CHECKING:
    from collections.abc import Callable

    from polyviz.codegen.expressions_c import CExpressionPrinter
    from polyviz.codegen.loops import For
    from polyviz.codegen.text import TextBuilder
    from polyviz.model.plan import Plan

MOST = 8
"""Statements in a loop up to which it is written twice."""


class RegionPrinter(Regions):
    """Writes such loops; knows what else is said of when the threads begin."""

    def __init__(self, plan: Plan, printer: CExpressionPrinter, text: TextBuilder) -> None:
        super().__init__(plan, MOST)
        self.printer = printer
        self.text = text

    def write(self, loop: For, indent: int, print_loop: Callable[[For, int], None]) -> bool:
        """Print the parallel ``loop`` twice, for threads and for one, if another one is around it; ``print_loop``
        prints it once."""
        work = self.work_to_ask_for(loop, loop.parallel)
        if work is None:
            return False
        with self.deciding(loop.parallel):
            self.text.add(indent, f"if ({self.printer.expression(work)} > {SMALLEST_PARALLEL_WORK}) {{")
            print_loop(loop, indent + 1)
            self.text.add(indent, "} else {")
            print_loop(replace(loop, parallel=""), indent + 1)
            self.text.add(indent, "}")
        return True

    def clause(self, mark: str) -> str:
        """What keeps a region with little work on one thread; empty where that was decided before."""
        work = None if mark == self.decided else work_of(self.plan, mark)
        return "" if work is None else f" if ({self.printer.expression(work)} > {SMALLEST_PARALLEL_WORK})"

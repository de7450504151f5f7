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

A region takes a third of a microsecond to begin and to end, also where its ``if`` clause leaves it to one thread. That
is nothing once; in every iteration of a loop around it may be more than the work.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from polyviz.codegen.bodies import work_of
from polyviz.codegen.loops import instances

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from polyviz.codegen.expressions_c import CExpressionPrinter
    from polyviz.codegen.loops import For
    from polyviz.codegen.text import TextBuilder
    from polyviz.model.plan import Plan

SMALLEST_PARALLEL_WORK = 50_000
"""Statement instances below which starting threads costs more than they save: some tens of microseconds of work."""

MOST = 4
"""Statements in a loop up to which it is written twice."""


class RegionPrinter:
    """Writes such loops; knows what else is said of when the threads begin."""

    def __init__(self, plan: Plan, printer: CExpressionPrinter, text: TextBuilder) -> None:
        self.plan = plan
        self.printer = printer
        self.text = text
        self.around = 0
        self.decided = ""

    @contextmanager
    def inside(self, loop: For) -> Iterator[None]:
        """While this lasts, what is printed is the body of ``loop``."""
        self.around += 1
        yield
        self.around -= 1

    def write(self, loop: For, indent: int, print_loop: Callable[[For, int], None]) -> bool:
        """Print the parallel ``loop`` twice, for threads and for one, if another one is around it; ``print_loop``
        prints it once."""
        work = work_of(self.plan, loop.parallel)
        if work is None or not self.around or loop.parallel == self.decided or len(list(instances(loop.body))) > MOST:
            return False
        self.decided, before = loop.parallel, self.decided
        self.text.add(indent, f"if ({self.printer.expression(work)} > {SMALLEST_PARALLEL_WORK}) {{")
        print_loop(loop, indent + 1)
        self.text.add(indent, "} else {")
        print_loop(replace(loop, parallel=""), indent + 1)
        self.text.add(indent, "}")
        self.decided = before
        return True

    def clause(self, mark: str) -> str:
        """What keeps a region with little work on one thread; empty where that was decided before."""
        work = None if mark == self.decided else work_of(self.plan, mark)
        return "" if work is None else f" if ({self.printer.expression(work)} > {SMALLEST_PARALLEL_WORK})"

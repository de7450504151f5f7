"""When the threads of a parallel loop begin: not for work that takes less time than they need to begin.

A region of threads takes a third of a microsecond to begin and to end in C, also where its ``if`` clause leaves it to
one thread, and three microseconds under numba. That is nothing once; in every iteration of a loop around it may be
more than the work. Such loops are written twice: for threads and for one.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from polyviz.codegen.bodies import work_of
from polyviz.codegen.loops import instances

if TYPE_CHECKING:
    from collections.abc import Iterator

    from polyviz.codegen.loops import For
    from polyviz.model.expression import Expression
    from polyviz.model.plan import Plan

SMALLEST_PARALLEL_WORK = 50_000
"""Statement instances below which starting threads costs more than they save: some tens of microseconds of work."""


class Regions:
    """Knows which loops are around what is printed, and which loop is being printed twice.

    Loops with more than ``most`` statements are not: the compiler takes its time for both versions.
    """

    def __init__(self, plan: Plan, most: int) -> None:
        self.plan = plan
        self.most = most
        self.around = 0
        self.decided = ""

    @contextmanager
    def inside(self, loop: For) -> Iterator[None]:
        """While this lasts, what is printed is the body of ``loop``."""
        self.around += 1
        yield
        self.around -= 1

    @contextmanager
    def deciding(self, mark: str) -> Iterator[None]:
        """While this lasts, what is printed is one of the two versions of the loop under ``mark``."""
        self.decided, before = mark, self.decided
        yield
        self.decided = before

    def work_to_ask_for(self, loop: For, mark: str) -> Expression | None:
        """The work that decides between threads and one; None where ``loop``, parallel by ``mark``, is written once.

        That is one without a loop around it, or with too many statements; or one whose work nobody knows.
        """
        if not self.around or mark == self.decided or len(list(instances(loop.body))) > self.most:
            return None
        return work_of(self.plan, mark)
